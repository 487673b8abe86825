package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"leanctx/formats/transcript"
)

// target is a session's file that is searched.
type target struct {
	file, id string
	size     int64
	modified time.Time
}

// named reports whether a client calls the session by a name. Gemini CLI puts the name's first 8 characters into the file's.
func (t *target) named(name string) bool {
	name = strings.ToLower(name)
	if len(name) < 8 {
		return false
	}
	return strings.Contains(t.file, name) || strings.HasPrefix(t.file, "gemini-") && strings.HasSuffix(t.file, "-"+name[:8])
}

// targets are the sessions' files, the newest first.
func (s *Store) targets() (list []target, err error) {
	names, err := s.files()
	for _, name := range names {
		info, e := os.Lstat(s.path(name))
		if e != nil || !info.Mode().IsRegular() {
			continue
		}
		client, rest := split(name)
		list = append(list, target{file: name, id: idOf(client, rest), size: info.Size(), modified: info.ModTime()})
	}
	slices.SortFunc(list, func(a, b target) int { return cmp.Or(b.modified.Compare(a.modified), cmp.Compare(a.file, b.file)) })
	return list, err
}

// scanned is what a scan found in a session.
type scanned struct {
	target
	order, turns, bytes int
	covered             int64      // up to there the word list told
	refs                []*turnRef // turns with a pattern
	times               []int      // how often the session has each term
}

// pattern is the beginning of a word, as bytes in lower case.
type pattern struct {
	begin []byte
	other []byte // its beginning as it may stand in the text too; nil: none
	any   bool   // it may stand within a word: a script without spaces
}

// patternsOf are the beginnings that words of these terms have. A term is a stem: what an ending may change of it is left out.
func patternsOf(terms []string) (list []pattern) {
	for _, term := range terms {
		begin := strings.TrimRight(term, "ie")
		if len(begin) < 2 {
			begin = term
		}
		p := pattern{begin: []byte(begin)}
		first, size := utf8.DecodeRuneInString(begin)
		if first >= utf8.RuneSelf {
			p.any = !unicode.In(first, unicode.Latin, unicode.Cyrillic, unicode.Greek)
			p.other = []byte(string(unicode.ToUpper(first)) + begin[size:])
		}
		list = append(list, p)
	}
	return list
}

// scan looks for terms in sessions: in the word list, and in the text of what that does not cover.
func (s *Store) scan(ctx context.Context, targets []target, terms []string, q search) ([]*scanned, error) {
	patterns := patternsOf(terms)
	scans := make([]*scanned, len(targets))
	for i, t := range targets {
		scans[i] = &scanned{target: t, order: i, times: make([]int, len(patterns))}
	}
	if err := s.wordList(scans, newWordSet(terms), q); err != nil {
		return nil, err
	}
	err := parallel(ctx, scans, func(x *scanned) error {
		if x.covered >= x.size {
			return nil
		}
		text, err := s.part(x.file, x.covered, 1<<62)
		if err == nil {
			x.scan(text, int(x.covered), patterns, q)
		}
		return err
	})
	return scans, err
}

// whole is all of a session's file; nothing if it is gone.
func (s *Store) whole(file string) ([]byte, error) { return s.part(file, 0, 1<<62) }

// part is what a session's file has from an offset on, at most so many bytes; nothing if it is gone.
func (s *Store) part(file string, from, most int64) ([]byte, error) {
	f, size, err := openRegular(s.path(file))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return nil, err
	}
	text := make([]byte, max(0, min(size-from, most)))
	n, err := f.ReadAt(text, from)
	if n > 0 || len(text) == 0 {
		err = nil // it may be shorter by now
	}
	return text[:n], errors.Join(err, f.Close())
}

// parallel does something with each session, on all processors.
func parallel(ctx context.Context, scans []*scanned, do func(*scanned) error) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	failed := make([]error, len(scans))
	for range min(runtime.GOMAXPROCS(0), len(scans)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(scans)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				failed[i] = do(scans[i])
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return errors.Join(failed...)
}

var (
	roleMember = []byte(`"role":"`)
	fromMember = []byte(`,"from":{"file":`)
)

// textLine is a turn in a session's file.
type textLine struct {
	n, at int
	whole []byte
	body  []byte // from its role on, without the path of the transcript
}

// turnLines gives the turns in a part of a session's file.
func turnLines(text []byte) iter.Seq[textLine] {
	return func(yield func(textLine) bool) {
		for at := 0; at < len(text); {
			end := bytes.IndexByte(text[at:], '\n')
			if end < 0 {
				return // it is being written
			}
			line := textLine{at: at, whole: text[at : at+end]}
			at += end + 1
			rest, ok := bytes.CutPrefix(line.whole, []byte(`{"n":`))
			if !ok {
				continue // the head, or a mark
			}
			comma := bytes.IndexByte(rest, ',')
			n, err := strconv.Atoi(string(rest[:max(0, comma)]))
			role := bytes.Index(rest[:min(len(rest), 200)], roleMember)
			if err != nil || role < 0 {
				continue
			}
			line.n, line.body = n, rest[role+len(roleMember):]
			if body := line.body; bytes.HasSuffix(body, []byte("}}")) {
				if i := bytes.LastIndex(body[max(0, len(body)-2000):], fromMember); i >= 0 {
					line.body = body[:max(0, len(body)-2000)+i]
				}
			}
			if !yield(line) {
				return
			}
		}
	}
}

// scan looks for patterns in a part of a session's file, which begins at an offset.
func (x *scanned) scan(text []byte, offset int, patterns []pattern, q search) {
	var lower []byte
	for line := range turnLines(text) {
		body := line.body
		isTool := bytes.HasPrefix(body, []byte(transcript.Tool+`"`))
		if q.said && isTool || q.user && !bytes.HasPrefix(body, []byte(transcript.User+`"`)) {
			continue
		}
		lower = lowered(lower, body)
		ref := turnRef{n: line.n, at: offset + line.at, length: len(body), tool: isTool}
		x.turns++
		x.bytes += len(body)
		for i := range patterns {
			if count := patterns[i].count(lower, body); count > 0 {
				if ref.counts == nil {
					ref.counts = make([]uint8, len(patterns))
				}
				ref.counts[i] = uint8(min(255, count))
			}
		}
		if ref.counts != nil {
			x.refs = append(x.refs, new(ref))
		}
	}
}

// lowered is a text with ASCII letters in lower case, in a buffer.
func lowered(buffer, text []byte) []byte {
	buffer = append(buffer[:0], text...)
	for i, b := range buffer {
		if 'A' <= b && b <= 'Z' {
			buffer[i] = b | 0x20
		}
	}
	return buffer
}

// count is how often words begin with a pattern.
func (p *pattern) count(lower, text []byte) (n int) {
	for _, begin := range [][]byte{p.begin, p.other} {
		if len(begin) == 0 {
			continue
		}
		for at := 0; ; {
			i := bytes.Index(lower[at:], begin)
			if i < 0 {
				break
			}
			i += at
			at = i + len(begin)
			if p.any || beginsWord(text, i) && !isName(lower, at) {
				n++
			}
		}
	}
	return n
}

// beginsWord reports whether a word, or a part of one such as userName, begins at a place of a JSON text.
func beginsWord(text []byte, at int) bool {
	if at == 0 {
		return true
	}
	now, before := text[at], text[at-1]
	switch {
	case before >= utf8.RuneSelf:
		return now < utf8.RuneSelf // a word does not change its script
	case before >= '0' && before <= '9':
		return now < '0' || now > '9'
	case before|0x20 < 'a' || before|0x20 > 'z':
		return true
	case now >= 'A' && now <= 'Z':
		return true
	}
	return at > 1 && text[at-2] == '\\' // \n
}

// isName reports whether the word that goes on at a place is the name of a member of the JSON object.
func isName(text []byte, at int) bool {
	for at < len(text) && (text[at] >= 'a' && text[at] <= 'z' || text[at] == '_') {
		at++
	}
	return bytes.HasPrefix(text[at:], []byte(`":`))
}

// readTurns decodes those turns of a session that are chosen.
func (s *Store) readTurns(x *scanned, chosen map[*turnRef]bool) error {
	if !slices.ContainsFunc(x.refs, func(t *turnRef) bool { return chosen[t] }) {
		return nil
	}
	f, _, err := openRegular(s.path(x.file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was erased meanwhile
	}
	if err != nil {
		return err
	}
	defer f.Close()
	for _, t := range x.refs {
		if !chosen[t] {
			continue
		}
		line := make([]byte, t.length+4<<10)
		n, _ := f.ReadAt(line, int64(t.at)) // what is not read is not decoded
		line, _, whole := bytes.Cut(line[:n], []byte{'\n'})
		var turn Turn
		if whole && json.Unmarshal(line, &turn) == nil && turn.N == t.n {
			t.turn = &turn
		}
	}
	return nil
}
