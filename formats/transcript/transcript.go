// Package transcript reads the transcripts that clients keep of their sessions: what the user said, what the agent
// answered, and what tools did.
//
// A transcript is another program's file. Its form is not promised and changes between versions, so what is known is
// read, and the rest is skipped and counted. It may be huge, cut in the middle of a line, rewritten, shorter than it
// was, or no file at all; [Read] never fails on its content.
//
// # A client
//
// A client is one file of this package, and a row of [clients]: its name, how one line becomes turns, and where its
// transcripts lie. testdata has transcripts as the real clients wrote them, with the version in the name.
//
// # From a place on
//
// [Read] begins at a [Place] and returns the next one. A place holds a checksum of the bytes before it. If they are
// others now, the file was rewritten and is read from its beginning; who takes turns in knows them again by their
// ids, which are the source's own. A call of a tool and its result are two lines; a call that still waits for its
// result is part of the place.
//
// # What is left out
//
// Thinking, images, the content of files that were read, reminders that a client puts beside a prompt, and what our
// own tools and hooks gave: of a call to ours only action, category and key are kept. Nothing is redacted here, and
// nothing is cut but a line of more than [maxLine] bytes.
package transcript

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// The roles of a turn.
const (
	User  = "user"
	Agent = "agent"
	Tool  = "tool"

	// Program is what stands where the user speaks and a program said: a script, or an agent that runs the client.
	Program = "program"
)

// Turn is one message of a session.
type Turn struct {
	ID   string    // the source's own id; one message has the same in a fork, after a resume, and when it is written again
	At   time.Time // zero: the source does not tell
	Role string
	Text string // what was said; of a tool, what it gave

	// Of a tool.
	Tool    string
	Input   string   // what it was asked: the command, the path, the query
	Files   []string // that the call names, as it names them
	Edits   bool     // it changes Files
	OK      *bool    // it succeeded; nil: not known
	LeftOut int      // bytes of content that Text does not hold
	Todos   *Todos   // it changed the client's own list of what is to do

	Ended time.Time // of a tool: when it gave its result; zero: the source does not tell

	Offset int64 // where its line begins in the transcript
}

// Todos is a change of a client's list of what is to do.
type Todos struct {
	Items []Todo
	All   bool // Items are the whole list, else they are added or changed by their ids
}

// Todo is one item of it.
type Todo struct {
	ID    string `json:"id,omitempty"`
	Text  string `json:"text"`
	State string `json:"state,omitempty"` // as the client calls it: pending, in_progress, completed
}

// Done reports whether nothing is left to do.
func (t Todo) Done() bool {
	return slices.Contains([]string{"completed", "complete", "done", "cancelled", "canceled", "deleted"}, t.State)
}

// Session is what a transcript tells of its session.
type Session struct {
	ID      string    `json:"id,omitempty"`
	Parent  string    `json:"parent,omitempty"` // the session that it was forked from, or whose subagent it is
	Dir     string    `json:"dir,omitempty"`    // where it began
	Branch  string    `json:"branch,omitempty"`
	Version string    `json:"version,omitempty"` // of the client
	Began   time.Time `json:"began,omitzero"`
	Context int       `json:"context,omitempty"` // tokens in use, when last told
	Window  int       `json:"window,omitempty"`  // tokens that fit; 0: the transcript does not tell

	// Subagent says that another agent began the session. What stands there as the user's is that agent's.
	Subagent bool `json:"subagent,omitempty"`
	// Program says that a program ran the client. What stands there as the user's is the program's.
	Program bool `json:"program,omitempty"`
}

// Place is how far a transcript was read.
type Place struct {
	Offset  int64  `json:"offset"`
	Sum     string `json:"sum,omitempty"`   // of the bytes before Offset
	Skips   bool   `json:"skips,omitempty"` // Offset is within a line that is too long
	Calls   []Call `json:"calls,omitempty"` // that wait for their results
	Session `json:"session"`
}

// Call is a call of a tool that waits for its result.
type Call struct {
	ID     string    `json:"id"`
	At     time.Time `json:"at,omitzero"`
	Tool   string    `json:"tool"`
	Input  string    `json:"input,omitempty"`
	Files  []string  `json:"files,omitempty"`
	Edits  bool      `json:"edits,omitempty"`
	Reads  bool      `json:"reads,omitempty"` // its result is the content of a file
	Own    bool      `json:"own,omitempty"`   // it is a call of ours
	OK     *bool     `json:"ok,omitempty"`
	Todos  *Todos    `json:"todos,omitempty"`
	Offset int64     `json:"at_byte"`
}

// Counts say what a read met.
type Counts struct {
	Bytes   int64 // that were read
	Turns   int   // that were given
	Skipped int   // lines that are not known, or are no JSON
	Long    int   // lines that are too long
	Again   bool  // the file was rewritten, and was read from its beginning
	More    bool  // there is more than was to be read
}

const (
	// maxLine is the longest line that is read, in bytes. A longer one is skipped.
	maxLine = 8 << 20
	// maxDocument is the largest transcript that is one JSON document.
	maxDocument = 64 << 20
	// maxCalls is how many calls may wait for a result. The oldest is given without one.
	maxCalls = 64
	// sumSize is how many bytes before a place its checksum covers.
	sumSize = 4 << 10
)

// ErrNoFile says that a transcript is not a regular file: a link, a pipe, a directory.
var ErrNoFile = errors.New("is not a regular file")

// Read gives each the turns of a client's transcript after a place, in the file's order. most is how many bytes are
// read, at least a line; 0: all. It returns the next place. A file that does not exist is fs.ErrNotExist. After an
// error of each, the place is that of the line before.
func Read(ctx context.Context, client, path string, from Place, most int64, each func(Turn) error) (Place, Counts, error) {
	c, ok := clientOf(client)
	if !ok {
		return from, Counts{}, fmt.Errorf("no transcripts of %q are known", client)
	}
	file, size, err := open(path)
	if err != nil {
		return from, Counts{}, err
	}
	defer file.Close()
	var f io.ReaderAt = file
	if IsCompressed(path) {
		text, err := decompressed(file)
		if err != nil {
			return from, Counts{}, fmt.Errorf("%s: %w", path, err)
		}
		f, size = bytes.NewReader(text), int64(len(text))
	}
	r := &reading{client: c, path: path, place: from, each: each}
	if !r.same(f, size) {
		r.place, r.counts.Again = Place{}, true
	}
	if c.document != nil && strings.EqualFold(filepath.Ext(path), ".json") {
		err = r.document(f, size, most)
	} else {
		err = r.lines(ctx, f, size, most)
	}
	if e := r.sum(f); err == nil {
		err = e
	}
	return r.place, r.counts, err
}

// Head is what a transcript tells of its session at its beginning.
func Head(ctx context.Context, client, path string) (Session, error) {
	var place Place
	for range 16 {
		var counts Counts
		var err error
		place, counts, err = Read(ctx, client, path, place, 64<<10, func(Turn) error { return nil })
		if err != nil || place.Dir != "" && place.ID != "" || !counts.More {
			return place.Session, err
		}
	}
	return place.Session, nil
}

// open opens a regular file. A link is not followed, and the other end of a pipe is not waited for.
func open(path string) (*os.File, int64, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: %w", path, ErrNoFile)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, 0, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path, ErrNoFile)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// compressed is the ending of a transcript that its client has compressed, since it is old. Its text is the same.
const compressed = ".zst"

// IsCompressed reports whether a client has compressed a transcript. Nothing is added to one.
func IsCompressed(path string) bool { return strings.HasSuffix(path, compressed) }

// Plain is the path of a transcript before it was compressed.
func Plain(path string) string { return strings.TrimSuffix(path, compressed) }

// maxDecompressed is the longest text of a compressed transcript that is read, in bytes: it is held in memory.
const maxDecompressed = 256 << 20

// decompressed is the text of a compressed transcript.
func decompressed(f io.Reader) ([]byte, error) {
	in, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDecompressed))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxDecompressed+1))
	if err == nil && len(text) > maxDecompressed {
		err = fmt.Errorf("more than %d MiB when decompressed", maxDecompressed>>20)
	}
	return text, err
}

// reading is one call of Read.
type reading struct {
	client *client
	path   string
	place  Place
	counts Counts
	each   func(Turn) error
	offset int64 // where the line begins
	err    error // of each
}

// same reports whether the bytes before the place are those that were read.
func (r *reading) same(f io.ReaderAt, size int64) bool {
	if r.place.Offset == 0 {
		return true
	}
	sum, err := sumBefore(f, r.place.Offset)
	return err == nil && r.place.Offset <= size && sum == r.place.Sum
}

func (r *reading) sum(f io.ReaderAt) (err error) {
	r.place.Sum, err = sumBefore(f, r.place.Offset)
	return err
}

// sumBefore is the checksum of the bytes before an offset.
func sumBefore(f io.ReaderAt, offset int64) (string, error) {
	if offset == 0 {
		return "", nil
	}
	b := make([]byte, min(offset, sumSize))
	if _, err := f.ReadAt(b, offset-int64(len(b))); err != nil {
		return "", err
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:8]), nil
}

// lines reads a file of one JSON object a line.
func (r *reading) lines(ctx context.Context, f io.ReaderAt, size, most int64) error {
	began := r.place.Offset
	in := bufio.NewReaderSize(io.NewSectionReader(f, began, size-began), 256<<10)
	var line []byte
	for r.err == nil {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if r.counts.Bytes = r.place.Offset - began; most > 0 && r.counts.Bytes >= most && r.place.Offset < size {
			r.counts.More = true
			return nil
		}
		r.offset = r.place.Offset
		var n int64
		var whole bool
		var err error
		if line, n, whole, err = r.line(in, line[:0], most); err != nil {
			return err
		}
		switch {
		case n == 0, !whole && !r.place.Skips && !complete(line):
			return nil // a line that is still being written, or was cut, waits for its end
		case r.place.Skips:
			r.place.Skips = !whole
			r.place.Offset += n
		case len(bytes.TrimSpace(line)) == 0:
			r.place.Offset += n
		default:
			r.client.line(r, line)
			if r.err == nil {
				r.place.Offset += n
			}
		}
	}
	return r.err
}

// line reads a line and says how many bytes it took. A line that is too long is not kept: its rest is skipped, as far
// as the bytes that may be read reach.
func (r *reading) line(in *bufio.Reader, line []byte, most int64) (_ []byte, n int64, whole bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		n += int64(len(part))
		if !r.place.Skips {
			line = append(line, part...)
		}
		if len(line) > maxLine {
			r.place.Skips, line = true, line[:0]
			r.counts.Long++
		}
		switch {
		case err == nil:
			return line, n, true, nil
		case errors.Is(err, io.EOF):
			return line, n, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, n, false, err
		case r.place.Skips && most > 0 && n >= max(most, maxLine):
			return line, n, false, nil
		}
	}
}

// give gives a turn that says something.
func (r *reading) give(t Turn) {
	if r.err != nil || t.Role != Tool && strings.TrimSpace(t.Text) == "" {
		return
	}
	switch {
	case t.Role != User && t.Role != Program:
	case r.place.Subagent:
		t.Role = Agent
	case r.place.Program:
		t.Role = Program
	}
	t.Offset = r.offset
	r.counts.Turns++
	r.err = r.each(t)
}

// call notes a call of a tool, until its result comes.
func (r *reading) call(c Call) {
	if len(r.place.Calls) >= maxCalls {
		r.give(r.place.Calls[0].turn(""))
		r.place.Calls = r.place.Calls[1:]
	}
	c.Offset = r.offset
	r.place.Calls = append(slices.Clip(r.place.Calls), c)
}

// waiting is the call of an id that waits for its result; nil if there is none.
func (r *reading) waiting(id string) *Call {
	for i := range r.place.Calls {
		if r.place.Calls[i].ID == id {
			return &r.place.Calls[i]
		}
	}
	return nil
}

// result gives the turn of a call whose result has come. A result without a call is skipped: its call stands before
// the place from which a rewritten file was kept.
func (r *reading) result(id, text string, at time.Time) {
	i := slices.IndexFunc(r.place.Calls, func(c Call) bool { return c.ID == id })
	if i < 0 {
		r.counts.Skipped++
		return
	}
	c := r.place.Calls[i]
	t := c.turn(text)
	t.Ended = at
	if t.At.IsZero() {
		t.At = at
	}
	if r.give(t); r.err == nil {
		r.place.Calls = slices.Delete(slices.Clone(r.place.Calls), i, i+1)
	}
}

// turn is a call with what it gave.
func (c *Call) turn(text string) Turn {
	t := Turn{ID: c.ID, At: c.At, Role: Tool, Tool: c.Tool, Input: c.Input, Files: c.Files, Edits: c.Edits, OK: c.OK, Todos: c.Todos, Text: text}
	if c.Own || c.Reads && (c.OK == nil || *c.OK) {
		t.LeftOut, t.Text = len(text), ""
	}
	return t
}

// begin notes what a line tells of the session. What was known stays.
func (r *reading) begin(s Session) {
	p := &r.place.Session
	first := func(to *string, from string) {
		if *to == "" {
			*to = from
		}
	}
	first(&p.ID, s.ID)
	first(&p.Parent, s.Parent)
	first(&p.Dir, s.Dir)
	first(&p.Branch, s.Branch)
	first(&p.Version, s.Version)
	p.Subagent, p.Program = p.Subagent || s.Subagent, p.Program || s.Program
	if p.Began.IsZero() {
		p.Began = s.Began
	}
	if s.Context > 0 {
		p.Context = s.Context
	}
	if s.Window > 0 {
		p.Window = s.Window
	}
}

// client is a row of the table.
type client struct {
	name     string
	line     func(*reading, []byte)
	document func(*reading, []byte) // of a transcript that is one JSON document; nil: there are none
	folder   string                 // where transcripts lie, in the home directory
	below    string                 // the same, in the folder that a variable of the client names
	matches  func(rel string) bool  // a path in the folder is a transcript
}

// clients are those whose transcripts are known.
func clients() []*client { return []*client{claude(), codex(), gemini()} }

// Names lists the clients whose transcripts are known.
func Names() (names []string) {
	for _, c := range clients() {
		names = append(names, c.name)
	}
	return names
}

func clientOf(name string) (*client, bool) {
	all := clients()
	i := slices.IndexFunc(all, func(c *client) bool { return c.name == name })
	if i < 0 {
		return nil, false
	}
	return all[i], true
}

// File is a transcript that was found.
type File struct {
	Client   string
	Path     string
	Size     int64
	Modified time.Time
}

// Folder is where a client keeps its transcripts: in a home directory, or in the folder that a variable of the client names
// instead, if that is not empty. It is empty for a client whose transcripts are not known.
func Folder(client, home, instead string) string {
	c, ok := clientOf(client)
	switch {
	case !ok:
		return ""
	case instead != "" && c.below != "":
		return filepath.Join(instead, c.below)
	}
	return filepath.Join(home, filepath.FromSlash(c.folder))
}

// Find lists the transcripts that a client keeps in its folder, the oldest first. A folder that cannot be read is
// left out, and reported in the error beside what was found.
func Find(client, root string) (list []File, err error) {
	c, ok := clientOf(client)
	if !ok {
		return nil, fmt.Errorf("no transcripts of %q are known", client)
	}
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, failed error) error {
		if failed != nil {
			if !errors.Is(failed, fs.ErrNotExist) {
				err = errors.Join(err, failed)
			}
			return nil
		}
		rel, e := filepath.Rel(root, path)
		if e != nil || !d.Type().IsRegular() || !c.matches(filepath.ToSlash(rel)) {
			return nil
		}
		if info, e := d.Info(); e == nil {
			list = append(list, File{Client: client, Path: path, Size: info.Size(), Modified: info.ModTime()})
		}
		return nil
	})
	slices.SortStableFunc(list, func(a, b File) int { return a.Modified.Compare(b.Modified) })
	return list, err
}

// ClientOf is the client that wrote a transcript, by its path or else by its first line; empty if neither tells.
func ClientOf(path string) string {
	slashed := filepath.ToSlash(path)
	for _, c := range clients() {
		if strings.Contains(slashed, "/"+c.folder+"/") {
			return c.name
		}
	}
	if IsCompressed(path) {
		return "codex" // no other client compresses
	}
	f, _, err := open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 64<<10)
	n, _ := io.ReadFull(f, head)
	switch head = head[:n]; {
	case bytes.Contains(head, []byte(`"session_meta"`)):
		return "codex"
	case bytes.Contains(head, []byte(`"projectHash"`)):
		return "gemini"
	case bytes.Contains(head, []byte(`"sessionId"`)) && bytes.Contains(head, []byte(`"uuid"`)):
		return "claude-code"
	}
	return ""
}
