// Package foreign reads what other programs remember about a project and turns
// it into records that an import can assert. It decides nothing: it imports
// formats alone.
//
// A program is recognised by the content of its files:
//
//	MCP memory server   JSON lines of type entity and relation (memory.jsonl)
//	engram              a JSON object with observations and sessions
//	mem0                a JSON object with results, or an array of {id, memory}
//	Claude Code         MEMORY.md and notes with name, description and type
//	basic-memory        Markdown with front matter and "- [category] text" lines
//	Open Knowledge      Markdown with front matter that gives a type
//	instructions        CLAUDE.md, AGENTS.md, GEMINI.md and their like
//	Markdown            any other
//
// What has no place in a record is counted in [Memory.LeftOut], never dropped
// silently.
//
// # Names
//
// A record needs a category and a key that are the same at the next import. The
// key of an entity's observation is the entity's name and a number. The key of
// a line of text is its heading and its label. "Database: PostgreSQL" has the
// label Database. A line without a label takes its first words. Two values that
// would share a key get a number.
package foreign

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"leanctx/formats"
)

// File is one file of a program. Name is relative to the project where the file
// is in it; it becomes part of a record's source.
type File struct {
	Name string
	Text []byte
}

// Memory is what the files of a program hold.
type Memory struct {
	Program string // for people: "MCP memory server"
	Records []formats.Record
	Lines   []int    // where each record begins in its file, 1 is the first; 0: not known
	Labeled []bool   // the record's key is a label that the value does not repeat: "Database: PostgreSQL"
	Files   []string // that name their lines as sources
	Bad     []formats.BadLine
	LeftOut []LeftOut
}

// LeftOut is what a record has no place for.
type LeftOut struct {
	What  string `json:"what"` // for people, in the plural: "sessions"
	Count int    `json:"count"`
}

// ErrUnknown says that the content is of no program that this package knows.
var ErrUnknown = errors.New("not the memory of a known program")

// ErrTasks says that the content is beads' issues, which are tasks.
var ErrTasks = errors.New("these are issues of beads, which become tasks")

// ProjectError says that a file holds several projects, but not the wanted one.
type ProjectError struct {
	Want string
	Have []string
}

func (e *ProjectError) Error() string {
	return fmt.Sprintf("the file holds the projects %s, and none is %s", strings.Join(e.Have, ", "), e.Want)
}

// Parse reads the files of one program. project is the name of the project that
// the facts are for; of a file with several projects only its facts are taken.
// Errors are [ErrUnknown], [ErrTasks], a [*ProjectError], and what makes a file
// of a known program unreadable.
func Parse(files []File, project string) (*Memory, error) {
	b := &builder{project: project, keys: map[string]bool{}, values: map[string]bool{}, next: map[string]int{}}
	names := map[string]bool{}
	for _, f := range files {
		names[path.Base(f.Name)] = true
	}
	for _, f := range files {
		text := bytes.TrimPrefix(f.Text, []byte("\uFEFF"))
		read := reader(f.Name, text)
		switch {
		case read == nil && len(files) == 1:
			return nil, ErrUnknown
		case read == nil && len(bytes.TrimSpace(text)) == 0:
			b.leave("empty files", 1)
			continue
		case read == nil:
			b.bad(0, fmt.Errorf("%s: %w", f.Name, ErrUnknown))
			continue
		}
		b.file, b.files = f.Name, names
		err := read(b, text)
		if err == nil && len(b.m.Bad) > formats.MaxBad {
			err = formats.TooManyBad(0)
		}
		if _, note := errors.AsType[noteError](err); note {
			if err = fmt.Errorf("%s: %w", f.Name, err); len(files) > 1 {
				b.bad(0, err)
				continue
			}
		}
		if err != nil {
			return nil, err
		}
	}
	b.m.Program = strings.Join(b.programs, " and ")
	b.m.LeftOut = b.left
	return &b.m, nil
}

// reader is how a text is read, or nil.
func reader(name string, text []byte) func(*builder, []byte) error {
	start := bytes.TrimLeft(text, " \t\r\n")
	switch {
	case len(start) == 0:
		return nil
	case start[0] == '{' || start[0] == '[':
		return jsonReader(start)
	case isMarkdown(name, start):
		return (*builder).markdown
	}
	return lineReader(start)
}

// builder collects the records of a memory.
type builder struct {
	m        Memory
	project  string
	file     string
	files    map[string]bool // base names of all files
	keys     map[string]bool // category and key, folded
	values   map[string]bool // and the value
	next     map[string]int  // the number that is tried first for a key that is taken
	programs []string
	left     []LeftOut
}

func (b *builder) program(name string) {
	if !slices.Contains(b.programs, name) {
		b.programs = append(b.programs, name)
	}
}

func (b *builder) leave(what string, n int) {
	if n == 0 {
		return
	}
	for i := range b.left {
		if b.left[i].What == what {
			b.left[i].Count += n
			return
		}
	}
	b.left = append(b.left, LeftOut{what, n})
}

// add keeps a record under a key that no other value of the files has. line is
// where it stands, or 0. labeled: see [Memory.Labeled].
func (b *builder) add(r formats.Record, line int, labeled bool) {
	r.Category, r.Key, r.Value = strings.TrimSpace(r.Category), strings.TrimSpace(r.Key), strings.TrimSpace(r.Value)
	if r.Value == "" {
		b.leave("empty texts", 1)
		return
	}
	r.Key = cmp.Or(r.Key, slug(r.Value))
	named := func() string { return formats.FoldName(r.Category) + "\x00" + formats.FoldName(r.Key) }
	base, first := r.Key, named()
	if b.values[first+"\x00"+r.Value] {
		return
	}
	b.values[first+"\x00"+r.Value] = true
	for n := max(2, b.next[first]); b.keys[named()]; n++ {
		r.Key, b.next[first] = fmt.Sprintf("%s-%d", base, n), n+1
	}
	b.keys[named()] = true
	b.m.Records, b.m.Lines, b.m.Labeled = append(b.m.Records, r), append(b.m.Lines, line), append(b.m.Labeled, labeled)
}

// maxSlugged is how much of a text is looked at for its first words.
const maxSlugged = 1 << 10

// slug is the first five words of each text, joined by hyphens, at most 48 runes;
// "note" if there are none.
func slug(texts ...string) string {
	var words []string
	for _, text := range texts {
		all := formats.Words(text[:min(len(text), maxSlugged)])
		words = append(words, all[:min(5, len(all))]...)
	}
	for len(words) > 1 && len([]rune(strings.Join(words, "-"))) > 48 {
		words = words[:len(words)-1]
	}
	out := []rune(strings.Join(words, "-"))
	return cmp.Or(string(out[:min(48, len(out))]), "note")
}
