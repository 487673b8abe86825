package replica

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"leanctx/formats"
	"leanctx/internal/atomicfile"
)

// The copy is the file shared.jsonl beside the facts: every line that the store's state
// is made of, its own and those of others. It is needed on a branch that lacks some of
// them, and when the repository's files are lost. The state says how many lines count:
// more were written by a sync that did not end.

const copyName = "shared.jsonl"

// readCopy reads the first most lines of the copy. Damaged lines are left out. own is the writer of
// this store's lines, as far as they are signed.
func readCopy(dir string, most int, own ed25519.PublicKey) ([]*Line, error) {
	if most == 0 {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Join(dir, copyName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var lines []*Line
	for t := range bytes.Lines(text) {
		if most--; most < 0 {
			break
		}
		if l, err := parseLine(bytes.TrimRight(t, "\r\n"), maxOwnLine, true); err == nil {
			if !l.foreign && l.sig != nil && own != nil {
				l.writer.key = Fingerprint(own)
			}
			lines = append(lines, l)
		}
	}
	return lines, nil
}

// writeCopy rewrites the copy. It is on disk when writeCopy returns.
func writeCopy(dir string, lines []*Line) error {
	var b bytes.Buffer
	for _, l := range lines {
		text := l.text
		if l.foreign {
			how := fromNow
			switch {
			case l.former && l.redacted:
				how = fromBoth
			case l.redacted:
				how = fromRedacted
			case l.former:
				how = fromFormer
			case l.erasedHere:
				how = fromErased
			}
			text = l.tail(how + cmp.Or(l.writer.key, fromNobody))
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	return atomicfile.WriteFile(filepath.Join(dir, copyName), b.Bytes(), atomicfile.Options{Sync: true})
}

func join(lines []*Line) []byte {
	var b bytes.Buffer
	for _, l := range lines {
		b.Write(l.text)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// Purge takes what lines say of facts that are gone out of the copy in a store's directory. Each
// line keeps its place. r says whose lines count: of what a stranger erased nothing else goes.
func Purge(dir string, r *formats.Replica, gone []formats.Tombstone) error {
	key, err := readKey(dir)
	if err != nil {
		return err
	}
	lines, err := readCopy(dir, math.MaxInt, publicOf(key))
	if err != nil || len(lines) == 0 {
		return err
	}
	var t *trust // a former version trusted all
	if r != nil && key != nil {
		t = trustOf(r, Fingerprint(publicOf(key)))
	}
	f, erased := Fold(lines, t, home{}), map[ref]string{}
	for l, name := range f.Erased {
		erased[l.ref()] = name
	}
	for _, t := range gone {
		if t.TakenIn {
			continue
		}
		for _, l := range f.about(t) {
			erased[l.ref()] = hashed(formats.Name{Category: t.Category, Key: t.Key})
		}
	}
	changed := false
	for i, l := range lines {
		if name, ok := erased[l.ref()]; ok && l.Op != opGone {
			lines[i], changed = l.gone(name, key), true
			lines[i].erasedHere = l.foreign
		}
	}
	if !changed {
		return nil
	}
	return writeCopy(dir, lines)
}

// memo is what the last sync found in the repository, so that the next one knows at once that
// nothing is new. It is a cache.
type memo struct {
	Files map[string]string `json:"sums"`  // by name; see sumOf
	Facts int               `json:"facts"` // that are shared
}

const memoName = "shared.seen.json"

func readMemo(dir string) (m memo) {
	text, err := os.ReadFile(filepath.Join(dir, memoName))
	if err != nil || json.Unmarshal(text, &m) != nil {
		return memo{}
	}
	return m
}

func (m memo) write(dir string) {
	if text, err := json.Marshal(m); err == nil {
		_ = os.WriteFile(filepath.Join(dir, memoName), text, 0o600) // a cache
	}
}

// sumOf reports whether a file is what it was.
func sumOf(f logFile) string { return fmt.Sprintf("%d-%s", len(f.text), checksum(f.text)) }
