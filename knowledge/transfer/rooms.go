package transfer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/formats/foreign"
	"leanctx/formats/okf"
	"leanctx/internal/args"
	"leanctx/internal/atomicfile"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// formatMarkdown is one readable file a room; see [okf].
const formatMarkdown = "md"

// indexName is the file that lists the rooms.
const indexName = "index.md"

// exportRooms writes a directory with a file for each room, and the index last. Files of rooms that
// are gone are removed. No text of a person is lost unless force is set: neither an edit that was not
// imported nor a file that no export wrote. Each file is written whole, with its own checksum. So a
// directory that was written in part is one of two exports, and not one that somebody edited.
func exportRooms(ctx context.Context, s *knowledge.Store, o Outgoing) (Exported, error) {
	dir := o.File
	if err := refusal.Required("file", dir); err != nil {
		return Exported{}, refusal.Missing("file", "a directory for the Markdown files")
	}
	if err := insideProject(s, dir); err != nil {
		return Exported{}, err
	}
	there, err := readFolder(dir)
	if err != nil {
		return Exported{}, err
	}
	r := Exported{Format: formatMarkdown, File: dir}
	files := map[string][]byte{}
	var edited, gone []string
	err = s.View(ctx, func(st *state.State, now time.Time) error {
		clear(files)
		edited, gone = nil, nil
		rooms, facts := roomsOf(st, now)
		r.Facts, r.LeftOut = facts, otherThanFacts(st, now)
		index := bytes.NewBufferString(indexHead)
		for _, room := range rooms {
			name := fileName(room.Category, files)
			var b bytes.Buffer
			if err := okf.Write(&b, room); err != nil {
				return err
			}
			files[name] = b.Bytes()
			fmt.Fprintf(index, "- [%s](%s): %s\n", prose.Name(room.Category), name, prose.Count(len(room.Facts), "fact"))
		}
		if len(st.Relations)+len(st.Reminders) > 0 {
			index.WriteString(indexEnd)
		}
		files[indexName] = okf.Seal(index.Bytes())
		for _, name := range slices.Sorted(maps.Keys(there)) {
			room, own := unedited(st, now, there[name])
			_, written := files[name]
			written = written || sameAsOne(dir, name, files)
			switch {
			case written && !own:
				edited = append(edited, name)
			case written, room == nil, room.At.After(st.At()): // the last is of a newer export
			case own:
				gone = append(gone, name)
			default:
				r.Kept = append(r.Kept, name)
			}
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	if len(edited) > 0 && !o.Force {
		return r, &EditedError{dir, edited}
	}
	write := func(file string, data []byte) error {
		return atomicfile.WriteFile(file, data, atomicfile.Options{Sync: true})
	}
	if o.Below != "" {
		write = o.write
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return r, err
	}
	for _, name := range append(slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(name string) bool { return name == indexName }), indexName) {
		// A link that bears the name of a room is replaced: nobody named where it leads.
		if err := write(filepath.Join(dir, name), files[name]); err != nil {
			return r, err
		}
	}
	for _, name := range gone {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return r, err
		}
	}
	return r, nil
}

// EditedError says that an export would destroy what somebody wrote.
type EditedError struct {
	Dir   string
	Files []string
}

func (e *EditedError) Error() string { return e.TextIn(prose.MCP) }

// TextIn is the error in the caller's syntax.
func (e *EditedError) TextIn(call prose.Syntax) string {
	return fmt.Sprintf("nothing was exported: %s in %s would be overwritten, with text that no export wrote; take it in with %s, or overwrite it with %s",
		listed(e.Files), prose.Line(e.Dir), call("import", "file", e.Dir), call("export", "format", formatMarkdown, "file", e.Dir, "force", true))
}

// listed names the first few of a list.
func listed(names []string) string {
	const most = 10
	text := prose.Line(strings.Join(names[:min(most, len(names))], ", "))
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// readFolder reads the Markdown files of a directory, by name. Links are no such files: what they
// lead to is never changed.
func readFolder(dir string) (map[string][]byte, error) {
	there := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if !strings.EqualFold(filepath.Ext(e.Name()), ".md") || !e.Type().IsRegular() {
			continue
		}
		there[e.Name()] = nil
		// What cannot be read, or is too large, no export wrote: it stays empty.
		if text, err := args.File("", filepath.Join(dir, e.Name()), maxRoom); err == nil {
			there[e.Name()] = text
		}
	}
	return there, nil
}

// unedited reports whether nothing is lost with a file: an export wrote it as it stands, or the
// store holds what was edited in it. room is nil where it is none that can be read.
func unedited(st *state.State, now time.Time, text []byte) (room *okf.Room, own bool) {
	same, sealed := okf.Sealed(text)
	if okf.IsIndex(text) {
		return nil, same || !sealed && formerIndex().Match(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
	}
	x, err := okf.Parse(text)
	if err != nil {
		return nil, false
	}
	return &x, same || len(x.Mistakes) == 0 && !x.Loose &&
		!slices.ContainsFunc(x.Facts, func(f okf.Fact) bool { return f.Edited && !current(st, now, x.Category, f.Key, f.Value) }) &&
		!slices.ContainsFunc(x.Missing, func(f okf.Fact) bool { return currentID(st, now, f.ID) })
}

// current reports whether a value is one that is believed of a fact.
func current(st *state.State, now time.Time, category, key, value string) bool {
	return slices.ContainsFunc(fact.AllCurrent(st.Versions(fact.IDOf(category, key)), now), func(v *fact.Version) bool { return v.Value == value })
}

// currentID reports whether a version is believed.
func currentID(st *state.State, now time.Time, id string) bool {
	v := st.ByID(id)
	return v != nil && slices.ContainsFunc(fact.AllCurrent(st.Versions(fact.IDOf(v.Category, v.Key)), now), func(w *fact.Version) bool { return w.ID == id })
}

// sameAsOne reports whether a file is one of those that an export wrote, where the file system
// does not tell two spellings of a name apart.
func sameAsOne(dir, name string, files map[string][]byte) bool {
	a, err := os.Lstat(filepath.Join(dir, name))
	return err == nil && slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(other string) bool {
		b, err := os.Lstat(filepath.Join(dir, other))
		return err == nil && formats.FoldName(other) == formats.FoldName(name) && os.SameFile(a, b)
	})
}

// The parts of an index beside its list.
const (
	indexHead = "---\ntype: index\nokf_version: \"" + okf.Version + "\"\n---\n\n# What is known\n\n"
	indexEnd  = "\nRelations, reminders and the history are in an export as JSON alone.\n"
)

// formerIndex is an index as former versions of the program wrote it, without a checksum.
var formerIndex = formats.Regexp(`^---\ntype: index\nokf_version: "0\.2"\n---\n\n# What is known\n\n(- \[.*\]\(.+\.md\): [\d,]+ facts?\n)*(\n[A-Z][a-z, ]+ are in an export as JSON alone\.\n)?\s*$`)

// roomsOf is the current facts by category, dormant ones too, and how many there are.
func roomsOf(st *state.State, now time.Time) (rooms []okf.Room, facts int) {
	place := map[string]int{}
	for _, vs := range st.Sorted() {
		for _, v := range fact.AllCurrent(vs, now) {
			i, ok := place[v.Category]
			if !ok {
				i = len(rooms)
				place[v.Category] = i
				rooms = append(rooms, okf.Room{Category: v.Category, At: st.At()})
			}
			f := okf.Fact{Key: v.Key, Value: v.Value, ID: v.ID, From: v.ValidFrom.UTC().Format(time.RFC3339Nano)}
			if v.ValidUntil != nil {
				f.Until = v.ValidUntil.UTC().Format(time.RFC3339Nano)
			}
			rooms[i].Facts = append(rooms[i].Facts, f)
			facts++
		}
	}
	return rooms, facts
}

// instructed are names of files that agents take for instructions, wherever they lie. No room's
// file has one, in any case of letters.
var instructed = []string{"claude.md", "agents.md", "gemini.md", "conventions.md", indexName}

// fileName is the name of a room's file that no other room has.
func fileName(category string, taken map[string][]byte) string {
	base := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_', r > 127:
			return r
		}
		return '-'
	}, strings.ToLower(category))
	base = cmp.Or(strings.Trim(prose.Clip(base, 60), "-…"), "room")
	for n := 1; ; n++ {
		name := base + ".md"
		if n > 1 {
			name = fmt.Sprintf("%s-%d.md", base, n)
		}
		if _, ok := taken[name]; !ok && !slices.Contains(instructed, name) {
			return name
		}
	}
}

// maxRoom is the size of a file that may be one of an export.
const maxRoom = 64 << 20

// instructs reports whether agents take a file for instructions by its name. What it holds is the
// repository's, whatever it looks like.
func instructs(name string) bool {
	return slices.Contains(instructed, strings.ToLower(path.Base(filepath.ToSlash(name))))
}

// isRoom reports whether a file is one that an export wrote.
func isRoom(f foreign.File) bool {
	return !instructs(f.Name) && strings.EqualFold(path.Ext(f.Name), ".md") && okf.IsRoom(f.Text)
}

// rooms is what the files of an export say that somebody edited.
type rooms struct {
	items   []item
	ids     []string   // of all versions that the files name
	byFile  [][]string // the same, by file
	missing []okf.Fact // whose item was deleted; Key is category/key
	deleted []string   // rooms of the index whose file is gone, as the index names them
}

// item is one value in a room's file.
type item struct {
	knowledge.Checked
	okf.Fact
	file int // in byFile
}

// indexLine is a line of the index.
var indexLine = formats.Regexp(`(?m)^- \[(.*)\]\((.+\.md)\): [\d,]+ facts?$`)

// takeRooms reads the rooms of a directory, and what its index says of it.
func (m *merger) takeRooms(x input) {
	there := map[string]bool{} // rooms, and their files
	for _, file := range x.rooms {
		name := path.Base(file.Name)
		bad := func(err error) { m.r.Bad = append(m.r.Bad, BadLine{Problem: name + ": " + err.Error()}) }
		there[name] = true
		room, err := okf.Parse(file.Text)
		if err != nil {
			bad(err)
			continue
		}
		there[prose.Name(room.Category)], there[prose.Line(room.Category)] = true, true // the latter as former versions wrote it
		for _, mistake := range room.Mistakes {
			bad(mistake)
		}
		var ids []string
		for _, f := range slices.Concat(room.Missing, room.Facts) {
			ids = append(ids, f.ID)
		}
		m.rooms.ids, m.rooms.byFile = append(m.rooms.ids, ids...), append(m.rooms.byFile, ids)
		for _, f := range room.Missing {
			m.rooms.missing = append(m.rooms.missing, okf.Fact{Key: room.Category + "/" + f.Key, ID: f.ID})
		}
		for _, f := range room.Facts {
			m.r.Parsed++
			c, err := m.store.Check(knowledge.Assertion{Category: room.Category, Key: f.Key, Value: f.Value, ValidFrom: f.From, ValidUntil: f.Until})
			if err != nil {
				bad(okf.Mistake{Line: f.Line, Problem: err.Error()})
				continue
			}
			m.r.Redacted += len(c.Redacted)
			m.rooms.items = append(m.rooms.items, item{c, f, len(m.rooms.byFile) - 1})
		}
	}
	for _, line := range indexLine().FindAllSubmatch(bytes.ReplaceAll(x.index, []byte("\r\n"), []byte("\n")), -1) {
		if !there[string(line[1])] && !there[string(line[2])] {
			m.rooms.deleted = append(m.rooms.deleted, string(line[1]))
		}
	}
	if same, sealed := okf.Sealed(x.index); sealed && !same {
		m.r.LeftOut = append(m.r.LeftOut, foreign.LeftOut{What: "edited " + indexName + ": an export makes it anew", Count: 1})
	}
}

// edited asserts what was edited in the files of an export, in the name of whoever imports them.
// What stands in a file as it was exported says nothing to a store that knows that version, or a
// fact of that name. Any other takes it in, also one that came back from an older backup. A fact
// that was erased under a later name has its old one in the file. So of its own files a store that
// erased something takes in only what was edited. A fact whose item or file was deleted stays:
// that is what remove is for.
func (m *merger) edited() error {
	knows := func(id string) bool { return m.st.ByID(id) != nil }
	careful := len(slices.Collect(m.st.Tombstones())) > 0 && slices.ContainsFunc(m.rooms.ids, knows)
	for _, x := range m.rooms.items {
		n := fact.IDOf(x.Category, x.Checked.Key)
		_, erased := m.st.Erased(n)
		moved := knows(x.ID) && !m.hadName(x.ID, n)
		if !x.Edited && !moved && (careful || erased || knows(x.ID) || len(m.st.Versions(n)) > 0) {
			m.r.Skipped++
			continue
		}
		if m.fromRepository() && !slices.ContainsFunc(m.rooms.byFile[x.file], knows) {
			x.Source.Kind, x.Source.Ref = knowledge.KindImport, m.r.File
			m.r.Proposed = true
		}
		c, now := x.Checked, fact.AllCurrent(m.over.Versions(n), m.present)
		switch i := slices.IndexFunc(now, func(v *fact.Version) bool { return v.ID == x.ID }); {
		case i >= 0 && len(now) > 1:
			c.Replaces = now[i].Value
		case i < 0 && x.Several && len(m.over.Versions(n)) > 0: // one that begins later counts too
			c.Also = true
		}
		beside := c.Also || len(m.over.Versions(n)) == 0 // whatever its period
		events, got, err := knowledge.Assert(m.over, c, m.now)
		if err != nil {
			return err
		}
		switch {
		case got.Outcome == knowledge.Confirmed:
			m.r.Skipped++
			continue // somebody else has asserted it meanwhile
		case got.Outcome == knowledge.Disputed:
			m.r.Disputed++
		case got.Outcome == knowledge.Created, got.Outcome == knowledge.Added, beside:
			m.r.Added++
			m.first(c.Category, c.Key, c.Value)
		default:
			m.r.Replaced++
			m.first(c.Category, c.Key, c.Value)
		}
		m.add(events...)
	}
	for _, f := range m.rooms.missing {
		if currentID(m.st, m.now, f.ID) {
			m.r.Missing = append(m.r.Missing, f.Key)
		}
	}
	if len(m.rooms.deleted) > 0 {
		for _, vs := range m.st.Sorted() {
			if v := fact.Current(vs, m.present); v != nil && (slices.Contains(m.rooms.deleted, prose.Name(v.Category)) || slices.Contains(m.rooms.deleted, prose.Line(v.Category))) {
				m.r.Missing = append(m.r.Missing, v.Category+"/"+v.Key)
			}
		}
	}
	return nil
}

// hadName reports whether the fact of a version has a name, or had it once.
func (m *merger) hadName(version string, n fact.ID) bool {
	v := m.st.ByID(version)
	now := fact.IDOf(v.Category, v.Key)
	return now == n || slices.ContainsFunc(m.st.Trail(now), func(r formats.Rename) bool { return fact.IDOf(r.From.Category, r.From.Key) == n })
}
