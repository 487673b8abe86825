package hook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// edit puts a text in at a place and takes out what stood there.
type edit struct {
	At   int    `json:"at"` // in bytes, in the text as it is then
	Put  string `json:"put,omitempty"`
	Took string `json:"took,omitempty"`
}

// text is a file while it is edited.
type text struct {
	data []byte
	done []edit
	made [][]string // what holds our entries and was not there before
}

const bom = "\ufeff"

// body is where the text begins behind a byte order mark.
func (t *text) body() int {
	if bytes.HasPrefix(t.data, []byte(bom)) {
		return len(bom)
	}
	return 0
}

func (t *text) replace(from, to int, put string) {
	e := edit{At: from, Put: put, Took: string(t.data[from:to])}
	t.data = e.on(t.data)
	t.done = append(t.done, e)
}

func (e edit) on(data []byte) []byte {
	return bytes.Join([][]byte{data[:e.At], data[e.At+len(e.Took):]}, []byte(e.Put))
}

// undo takes edits back, the last one first. It reports whether the text is
// one that they were made on.
func undo(data []byte, done []edit) ([]byte, bool) {
	for i := len(done) - 1; i >= 0; i-- {
		e := done[i]
		if e.At < 0 || e.At > len(data) || !bytes.HasPrefix(data[e.At:], []byte(e.Put)) {
			return nil, false
		}
		data = edit{At: e.At, Put: e.Took, Took: e.Put}.on(data)
	}
	return data, true
}

// newline is how lines end in the text.
func (t *text) newline() string {
	if i := bytes.IndexByte(t.data, '\n'); i > 0 && t.data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineStart is where the line of an offset begins.
func (t *text) lineStart(at int) int {
	return max(t.body(), bytes.LastIndexByte(t.data[:at], '\n')+1)
}

// lineEnd is where the line of an offset ends, its line feed included.
func (t *text) lineEnd(at int) int {
	if i := bytes.IndexByte(t.data[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(t.data)
}

// indent is what the line of an offset begins with.
func (t *text) indent(at int) string {
	start := t.lineStart(at)
	line := t.data[start:at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

func (t *text) blank() bool { return len(bytes.TrimSpace(t.data[t.body():])) == 0 }

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// FileError says why a file is left as it is.
type FileError struct {
	Path    string
	Line    int // from 1; 0: the whole file
	Column  int
	Problem string
	shape   bool // it can be read, and what would hold our entries cannot
}

// noHolder tells whether there is no place where something of ours could be.
func noHolder(err error) bool {
	e, ok := errors.AsType[*FileError](err)
	return ok && e.shape
}

func (e *FileError) Error() string {
	at := e.Path
	if e.Line > 0 {
		at += fmt.Sprintf(":%d:%d", e.Line, max(e.Column, 1))
	}
	return at + ": " + e.Problem
}

// position is the line and column of an offset.
func position(data []byte, at int) (line, column int) {
	before := string(data[:min(max(at, 0), len(data))])
	return 1 + strings.Count(before, "\n"), len(before) - strings.LastIndexByte(before, '\n')
}
