package transfer

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
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

// exportRooms writes a directory with a file for each room. Files of rooms that are
// gone are removed unless somebody edited them.
func exportRooms(ctx context.Context, s *knowledge.Store, dir string) (Exported, error) {
	if err := refusal.Required("file", dir); err != nil {
		return Exported{}, refusal.Missing("file", "a directory for the Markdown files")
	}
	r := Exported{Format: formatMarkdown, File: dir}
	files := map[string][]byte{}
	err := s.View(ctx, func(st *state.State, now time.Time) error {
		clear(files)
		rooms, facts := roomsOf(st, now)
		r.Facts = facts
		var index bytes.Buffer
		fmt.Fprintf(&index, "---\ntype: index\nokf_version: %q\n---\n\n# What is known\n\n", okf.Version)
		for _, room := range rooms {
			name := fileName(room.Category, files)
			var b bytes.Buffer
			if err := okf.Write(&b, room); err != nil {
				return err
			}
			files[name] = b.Bytes()
			fmt.Fprintf(&index, "- [%s](%s): %s\n", prose.Name(room.Category), name, prose.Count(len(room.Facts), "fact"))
		}
		if len(st.Relations)+len(st.Reminders) > 0 {
			index.WriteString("\nRelations, reminders and the history are in an export as JSON alone.\n")
		}
		files[indexName] = index.Bytes()
		return nil
	})
	if err != nil {
		return r, err
	}
	if err := insideProject(s, dir); err != nil {
		return r, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return r, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		// A link that bears the name of a room is replaced: nobody named where it leads.
		if err := atomicfile.WriteFile(filepath.Join(dir, name), files[name], atomicfile.Options{Sync: true}); err != nil {
			return r, err
		}
	}
	return r, removeRooms(dir, files)
}

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
			rooms[i].Facts = append(rooms[i].Facts, okf.Fact{Key: v.Key, Value: v.Value, ID: v.ID})
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

// removeRooms removes the files of rooms that are no longer there, as they were written.
func removeRooms(dir string, exported map[string][]byte) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, ok := exported[e.Name()]; ok || !e.Type().IsRegular() || filepath.Ext(e.Name()) != ".md" {
			continue
		}
		text, err := args.File("", filepath.Join(dir, e.Name()), maxRoom)
		if err != nil {
			continue // no export wrote what cannot be read
		}
		if room, err := okf.Parse(text); okf.IsRoom(text) && err == nil && len(room.Missing) == 0 && !slices.ContainsFunc(room.Facts, func(f okf.Fact) bool { return f.Edited }) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// isRoom reports whether a file is one that an export wrote.
func isRoom(f foreign.File) bool {
	return strings.EqualFold(path.Ext(f.Name), ".md") && okf.IsRoom(bytes.ReplaceAll(f.Text, []byte("\r\n"), []byte("\n")))
}

// importRooms asserts what was edited in the files, in the name of whoever imports them,
// in one commit. What stands in a file as it was exported says nothing to a store that knows
// that version, or a fact of that name. Any other takes it in, also one that came back from
// an older backup. A fact that was erased under a later name has its old one in the file. So
// of its own files a store that erased something takes in only what was edited. A fact whose
// item was deleted stays: that is what remove is for.
func importRooms(ctx context.Context, s *knowledge.Store, in Incoming, files []foreign.File) (Imported, error) {
	var assertions []knowledge.Checked
	asExported := map[int]string{} // ids by index in assertions
	var ids []string
	r := Imported{File: in.name(), Kind: formatMarkdown, DryRun: in.DryRun}
	for _, file := range files {
		room, err := okf.Parse(file.Text)
		if err != nil {
			return Imported{}, refusal.Argument("file", "%s: %v", path.Base(file.Name), err)
		}
		for _, f := range room.Missing {
			r.Missing = append(r.Missing, room.Category+"/"+f.Key)
			ids = append(ids, f.ID)
		}
		values := map[string]int{}
		for _, f := range room.Facts {
			r.Parsed++
			ids = append(ids, f.ID)
			if !f.Edited {
				asExported[len(assertions)] = f.ID
			}
			values[f.Key]++
			c, err := s.Check(knowledge.Assertion{Category: room.Category, Key: f.Key, Value: f.Value, Also: values[f.Key] > 1})
			if err != nil {
				return Imported{}, refusal.Argument("file", "%s: line %d: %v", file.Name, f.Line, err)
			}
			r.Redacted += len(c.Redacted)
			assertions = append(assertions, c)
		}
	}
	before := r
	decide := func(st *state.State, now time.Time) ([]state.Event, error) {
		r = before
		r.Missing = slices.Clone(before.Missing)
		over := state.NewOverlay(st, nil)
		knows := func(id string) bool { return st.ByID(id) != nil }
		careful := len(slices.Collect(st.Tombstones())) > 0 && slices.ContainsFunc(ids, knows)
		var all []state.Event
		for i, c := range assertions {
			n := fact.IDOf(c.Category, c.Key)
			_, erased := st.Erased(n)
			if id, as := asExported[i]; as && (careful || erased || knows(id) || len(st.Versions(n)) > 0) {
				r.Skipped++
				continue
			}
			events, got, err := knowledge.Assert(over, c, now)
			if err != nil {
				return nil, err
			}
			switch got.Outcome {
			case knowledge.Confirmed:
				r.Skipped++
				continue // somebody else has asserted it meanwhile
			case knowledge.Disputed:
				r.Disputed++
			case knowledge.Created, knowledge.Added:
				r.Added++
				r.First = append(r.First, formats.Record{Category: c.Category, Key: c.Key, Value: c.Value})
			default:
				r.Replaced++
				r.First = append(r.First, formats.Record{Category: c.Category, Key: c.Key, Value: c.Value})
			}
			over.Fold(events...)
			all = append(all, events...)
		}
		if len(all) == 0 {
			return nil, nil
		}
		return append(all, state.Note(state.NoteImport, fmt.Sprintf("Imported %s from %s", prose.Count(r.Added+r.Replaced, "fact"), in.name()), now)), nil
	}
	var err error
	if in.DryRun {
		err = s.View(ctx, func(st *state.State, now time.Time) error { _, err := decide(st, now); return err })
	} else {
		err = s.Update(ctx, decide)
	}
	r.First = r.First[:min(len(r.First), maxFirst)]
	return r, err
}
