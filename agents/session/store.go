// Package session keeps what was said and done: the sessions of clients in a project, each with its turns.
//
// Facts say what is true; sessions say what happened. Nobody has to do anything for it: the hooks of a client take in
// what its transcript has since the last time. No model is called, and nothing leaves the machine.
//
// # On disk
//
// A session is one file of the project's folder, CLIENT-NAME.jsonl, mode 0600, only appended to and not synced: what is
// lost can be read again. The first line is the [Header]. Each further line is a [Turn], or a mark: how far the
// transcript was read, and from time to time the [Fold] of all turns so far. The file ids has the ids of all turns of
// the project, eight bytes each, in no order; it can be made again from the sessions, as can the file words, by which
// searches find turns. erased.jsonl names the sessions that were erased, so that they do not come back. One process takes
// in at a time; the lock is not waited for.
//
// A take-in is one write, with the mark last. What a killed process left behind the last mark is read again, and known
// by its ids.
//
// # What always holds
//
// Nothing is kept without consent ([Consent]). Everything is redacted before it is written, and what stands between
// <private> and </private> is not written. A message is taken in once: not again after a fork, a resume, a compaction
// or from a rewritten file. A session of another project is refused.
package session

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"leanctx/formats/transcript"
	"leanctx/internal/journal"
	"leanctx/internal/refusal"
)

// Options are those of a store. Nil and zero work.
type Options struct {
	Clean   func(text string) string         // takes secrets out; nil: nothing is taken out
	Within  func(dir string) bool            // a session that began in dir is of this project; nil: all are
	Rel     func(path string) (string, bool) // a path from the project's root; nil, or false: as it is
	Own     func(client, path string) bool   // a transcript lies where its client keeps them; nil: all do
	Prompts bool                             // keep only what users said
	Days    int                              // for how long a session is kept after its last turn; 0: until it is erased
	Now     func() time.Time                 // nil: time.Now
}

// Store is the sessions of one project. It holds no file open, and may be used by several goroutines at once.
type Store struct {
	dir     string
	options Options
	since   time.Time // what was said before it is not taken in
}

// Dir is the folder of a project's sessions in the data directory.
func Dir(data, project string) string { return filepath.Join(data, folder, project) }

const folder = "sessions"

// Open returns the sessions kept in dir, which need not exist.
func Open(dir string, o *Options) *Store {
	s := &Store{dir: dir}
	if o != nil {
		s.options = *o
	}
	if s.options.Now == nil {
		s.options.Now = time.Now
	}
	return s
}

// Close does nothing: no file is open.
func (s *Store) Close() error { return nil }

// Header is the first line of a session.
type Header struct {
	Version int       `json:"v"`
	ID      string    `json:"session"` // s-7c1e22a0
	Client  string    `json:"client"`
	Name    string    `json:"name"`            // the client's, where the transcript tells it
	Parent  string    `json:"parent,omitzero"` // the client's name of the session that it was forked from, or whose subagent it is
	Dir     string    `json:"dir,omitzero"`
	Branch  string    `json:"branch,omitzero"`
	File    string    `json:"file,omitzero"` // the transcript
	Began   time.Time `json:"began,omitzero"`

	// Imported says that a person had a file taken in which does not lie where its client keeps transcripts.
	Imported bool `json:"imported,omitempty"`
}

const headerVersion = 1

// Turn is one message of a session as it is kept.
type Turn struct {
	N       int       `json:"n"`  // from 1 on
	ID      string    `json:"id"` // 8 hex digits of the source's own id
	At      time.Time `json:"at,omitzero"`
	Role    string    `json:"role"` // user, agent, tool
	Text    string    `json:"text,omitempty"`
	Tool    string    `json:"tool,omitempty"`
	Input   string    `json:"input,omitempty"`
	Files   []string  `json:"files,omitempty"`
	Edits   bool      `json:"edits,omitempty"` // it changed Files
	OK      *bool     `json:"ok,omitempty"`
	LeftOut int       `json:"left_out,omitempty"` // bytes of what the source has
	From    *From     `json:"from,omitempty"`     // where they stand

	Todos *transcript.Todos `json:"todos,omitempty"` // it changed the client's list of what is to do
}

// From is a place in a transcript.
type From struct {
	File string `json:"file"`
	At   int64  `json:"at"` // byte
}

// mark is a line that is no turn.
type mark struct {
	Place *transcript.Place `json:"place,omitempty"`
	Fold  *Fold             `json:"fold,omitempty"`
}

// line is any line but the first.
type line struct {
	Turn
	mark
}

// idOf is the id of a session: of its client and the name of its file.
func idOf(client, name string) string {
	h := sha256.Sum256([]byte(client + "\x00" + name))
	return "s-" + hex.EncodeToString(h[:4])
}

// named matches a name that no other session has: a client puts a random number into it.
var named = regexp.MustCompile(`[0-9a-f]{8}`)

// transcriptName is the name of the file of the session in a transcript. One that lies elsewhere than where its client keeps
// them is a session of its own: anybody can give a file the name of another session's.
func (s *Store) transcriptName(client, path string) (file string, own bool) {
	file = fileName(client, path)
	if s.options.Own == nil || s.options.Own(client, path) {
		return file, true
	}
	h := sha256.Sum256([]byte(path))
	return file + "-file-" + hex.EncodeToString(h[:4]), false
}

// fileName is the name of the file of a session, without its ending. given is the transcript's path, or else the
// client's name of the session. Two names are never one file, not where case does not count either.
func fileName(client, given string) string {
	name := transcript.Plain(filepath.Base(filepath.FromSlash(given)))
	for _, ending := range []string{".jsonl", ".json"} {
		name = strings.TrimSuffix(name, ending)
	}
	plain := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		if 'A' <= r && r <= 'Z' {
			return r | 0x20
		}
		return '-'
	}, name)
	plain = strings.TrimLeft(plain[:min(len(plain), 100)], ".")
	// A rollout's name has its time in capitals; it is unique in any case.
	if folded := strings.ToLower(name); plain != folded || name != folded && client != "codex" || !named.MatchString(plain) {
		h := sha256.Sum256([]byte(given))
		plain += "-" + hex.EncodeToString(h[:4])
	}
	return client + "-" + plain
}

// path is the path of a session's file.
func (s *Store) path(file string) string { return filepath.Join(s.dir, file+".jsonl") }

// Record is a session that is kept.
type Record struct {
	Header
	Fold Fold

	file  string // its name without the ending
	size  int64
	place transcript.Place
	extra []key // of turns behind the last mark
	torn  bool  // the file does not end with a line feed

	foreign bool // its transcript does not lie where its client keeps them
}

// tailSize is how much is read first of the end of a session's file. A fold is written at least each foldEvery bytes.
const (
	tailSize  = 64 << 10
	foldEvery = 48 << 10
)

var errNoSession = errors.New("is no session")

// read reads the head and the end of a session's file.
func (s *Store) read(file string) (*Record, error) {
	f, size, err := openRegular(s.path(file))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := &Record{file: file, size: size}
	head, err := bufio.NewReaderSize(io.NewSectionReader(f, 0, size), 64<<10).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if json.Unmarshal(head, &r.Header) != nil || r.ID == "" {
		return nil, fmt.Errorf("%s %w", file, errNoSession)
	}
	if r.Header.Version > headerVersion {
		return nil, fmt.Errorf("%s is of a newer version of the program", file)
	}
	start := int64(len(head))
	for n := int64(tailSize); ; n *= 4 {
		from := max(start, size-n)
		found, err := r.tail(f, from, size, from == start)
		if err != nil || found || from == start {
			return r, err
		}
	}
}

// tail reads the lines from an offset on. found: a fold of this version stands among them, or all lines were read.
func (r *Record) tail(f *os.File, from, size int64, all bool) (found bool, err error) {
	r.Fold, r.extra, r.place, r.torn = Fold{Version: foldVersion}, nil, transcript.Place{}, false
	text := make([]byte, size-from)
	if _, err := f.ReadAt(text, from); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if !all {
		_, text, _ = bytes.Cut(text, []byte{'\n'}) // the end of a line
	}
	if at := lastFold(text); at >= 0 {
		text = text[at:] // what stands before it is in it
	} else if !all {
		return false, nil
	}
	placed := false
	for len(text) > 0 {
		before, after, whole := bytes.Cut(text, []byte{'\n'})
		if !whole {
			r.torn = true
			break
		}
		text = after
		r.Fold.since += int64(len(before)) + 1
		var x line
		if json.Unmarshal(before, &x) != nil {
			continue // it was torn
		}
		switch {
		case x.mark.Fold != nil && x.mark.Fold.Version == foldVersion:
			r.Fold = *x.mark.Fold
		case x.N > 0:
			if x.N > r.Fold.Turns {
				r.Fold.add(&x.Turn)
			}
			r.extra = append(r.extra, x.Turn.key())
		}
		if x.Place != nil {
			r.place, r.extra, placed = *x.Place, nil, true
		}
	}
	return placed || all, nil
}

// foldMember is how a fold of this version begins in a line.
var foldMember = fmt.Appendf(nil, `"fold":{"v":%d,`, foldVersion)

// lastFold is where the last line begins that has a fold of this version; negative: there is none.
func lastFold(text []byte) int {
	for end := len(text); ; {
		i := bytes.LastIndex(text[:end], foldMember)
		if i < 0 {
			return -1
		}
		begin := bytes.LastIndexByte(text[:i], '\n') + 1
		// In a turn somebody may have said so.
		if line, _, whole := bytes.Cut(text[begin:], []byte{'\n'}); whole && !bytes.HasPrefix(line, []byte(`{"n":`)) {
			return begin
		}
		end = begin
	}
}

// openRegular opens a file for reading that is one.
func openRegular(path string) (*os.File, int64, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// files lists the names of the sessions' files.
func (s *Store) files() (names []string, err error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".jsonl"); ok && e.Type().IsRegular() && e.Name() != erasedName {
			names = append(names, name)
		}
	}
	return names, err
}

// Records lists the sessions, the newest first. What is no session is left out.
func (s *Store) Records(ctx context.Context) (list []*Record, err error) {
	names, err := s.files()
	for _, name := range names {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if r, e := s.read(name); e == nil {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b *Record) int { return cmp.Or(b.last().Compare(a.last()), cmp.Compare(a.ID, b.ID)) })
	return list, err
}

// last is when something last happened in a session.
func (r *Record) last() time.Time {
	if r.Fold.Last.IsZero() {
		return r.Began
	}
	return r.Fold.Last
}

// Find is the session of an id, or of one that begins so.
func (s *Store) Find(id string) (*Record, error) {
	names, err := s.files()
	if err != nil {
		return nil, err
	}
	id = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(id)), "s-")
	var found []*Record
	for _, name := range names {
		client, rest := split(name)
		if client == "" || !strings.HasPrefix(strings.TrimPrefix(idOf(client, rest), "s-"), id) {
			continue
		}
		r, err := s.read(name)
		if err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, refusal.Argument("id", "%d sessions begin with s-%s: give more of it", len(found), id)
	}
	return nil, &refusal.NotFoundError{What: fmt.Sprintf("there is no session %q", "s-"+id), Subject: id}
}

// split parts the name of a file into client and name.
func split(file string) (client, name string) {
	for _, c := range knownClients() {
		if rest, ok := strings.CutPrefix(file, c+"-"); ok {
			return c, rest
		}
	}
	client, name, _ = strings.Cut(file, "-")
	return client, name
}

// knownClients are those whose names have a dash, and those with transcripts.
func knownClients() []string { return transcript.Names() }

// Each gives do the turns of a session in order, until it reports false.
func (s *Store) Each(ctx context.Context, r *Record, do func(*Turn) bool) error {
	f, size, err := openRegular(s.path(r.file))
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(io.NewSectionReader(f, 0, size), 256<<10)
	for n := 0; ; n++ {
		text, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n%100 == 0 {
			if err := context.Cause(ctx); err != nil {
				return err
			}
		}
		if !bytes.HasPrefix(text, []byte(`{"n":`)) {
			continue // the head, or a mark
		}
		var t Turn
		if json.Unmarshal(text, &t) == nil && t.N > 0 && !do(&t) {
			return nil
		}
	}
}

// lock takes the project's lock, which is not waited for.
func (s *Store) lock() (unlock func(), err error) {
	root, err := journal.OpenDir(s.dir)
	if err != nil {
		return nil, err
	}
	l, ok, err := journal.TryLock(root, "lock")
	if err != nil || !ok {
		return nil, errors.Join(cmp.Or(err, ErrBusy), root.Close())
	}
	return func() { _ = errors.Join(l.Unlock(), root.Close()) }, nil
}

// ErrBusy says that another process takes sessions in. What it does not take in waits for the next time.
var ErrBusy = errors.New("another process is taking in sessions")
