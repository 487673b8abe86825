package session

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"leanctx/internal/atomicfile"
)

const (
	idsName    = "ids"
	erasedName = "erased.jsonl"
)

// key is how a message is known again: its id, and the second of its time. Of the id alone, four bytes, one turn of
// 100,000 would pass for another.
type key [8]byte

func keyOf(id string, at time.Time) (k key) {
	if b, err := hex.DecodeString(id); err == nil {
		copy(k[:4], b)
	}
	if !at.IsZero() {
		binary.BigEndian.PutUint32(k[4:], uint32(at.Unix()))
	}
	return k
}

func (t *Turn) key() key { return keyOf(t.ID, t.At) }

// markKnown marks the messages that a session of the project holds, or an erased one held.
func (s *Store) markKnown(ctx context.Context, r *Record, wanted map[key]bool) error {
	all, err := os.ReadFile(filepath.Join(s.dir, idsName))
	if errors.Is(err, fs.ErrNotExist) || err == nil && (len(all) == 0 || len(all)%len(key{}) != 0 || !r.noted(all)) {
		// It is gone, or a process was killed before it wrote to it.
		all, err = s.makeIDs(ctx)
	}
	if err != nil {
		return err
	}
	for b := range slices.Chunk(all, len(key{})) {
		if k := key(b); !wanted[k] {
			if _, ok := wanted[k]; ok {
				wanted[k] = true
			}
		}
	}
	return nil
}

// noted reports whether the last turn of a session is among the keys.
func (r *Record) noted(all []byte) bool {
	if r.Fold.LastID == "" || len(r.extra) > 0 {
		return true
	}
	last, err := hex.DecodeString(r.Fold.LastID)
	for b := range slices.Chunk(all, len(key{})) {
		if err != nil || bytes.Equal(b[:4], last) {
			return true
		}
	}
	return false
}

// addKeys adds those of turns that were written.
func (s *Store) addKeys(keys []key) error {
	if len(keys) == 0 {
		return nil
	}
	var b []byte
	for _, k := range keys {
		b = append(b, k[:]...)
	}
	f, err := os.OpenFile(filepath.Join(s.dir, idsName), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// makeIDs makes the file of ids again from all sessions and from what was erased.
func (s *Store) makeIDs(ctx context.Context) (all []byte, err error) {
	erased, err := s.erased()
	if err != nil {
		return nil, err
	}
	all = erased.turns
	names, err := s.files()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		r, err := s.read(name)
		if err != nil {
			continue
		}
		err = s.Each(ctx, r, func(t *Turn) bool {
			k := t.key()
			all = append(all, k[:]...)
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return all, atomicfile.WriteFile(filepath.Join(s.dir, idsName), all, atomicfile.Options{})
}

// tombstone is a session that was erased. It holds no word of it.
type tombstone struct {
	ID  string    `json:"session"`
	At  time.Time `json:"at"`
	IDs string    `json:"ids,omitempty"` // keys of its turns, in hexadecimal
}

type erasedSessions struct {
	ids   map[string]bool
	turns []byte
}

// erased reads which sessions were erased.
func (s *Store) erased() (e erasedSessions, err error) {
	e.ids = map[string]bool{}
	f, _, err := openRegular(filepath.Join(s.dir, erasedName))
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return e, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	for {
		text, err := in.ReadBytes('\n')
		var x tombstone
		if json.Unmarshal(text, &x) == nil && x.ID != "" {
			e.ids[x.ID] = true
			e.turns, _ = hex.AppendDecode(e.turns, []byte(x.IDs))
		}
		if err != nil {
			return e, nil
		}
	}
}
