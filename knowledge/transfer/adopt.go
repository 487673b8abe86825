package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/knowledge"
	"leanctx/knowledge/state"
)

// Adopt takes over the project's store of the existing program, once. dataDirs are the data
// directories of that program. They are only read.
func Adopt(ctx context.Context, s *knowledge.Store, dataDirs []string) error {
	root := s.Options().ProjectRoot
	if len(dataDirs) == 0 || root == "" {
		return nil
	}
	taken := false
	err := s.ViewSome(ctx, func(k state.Reader, _ time.Time) error { _, taken = k.Last(state.NoteAdopt); return nil })
	if err != nil || taken {
		return err
	}
	dir := findLegacy(dataDirs, root)
	if dir == "" {
		return nil
	}
	if err := adopt(ctx, s, dir); err != nil {
		return fmt.Errorf("the store of the existing program in %s could not be taken over: %w", dir, err)
	}
	return nil
}

func adopt(ctx context.Context, s *knowledge.Store, dir string) error {
	d, err := formats.ReadLeanCtxDir(os.DirFS(dir))
	if err != nil {
		return err
	}
	m := &merger{store: s, in: Incoming{File: dir, Merge: mergeSkip}, whole: true}
	versions, patterns, gotchas, took := len(d.Facts), len(d.Patterns), len(d.Gotchas), false
	if err := m.take(ctx, formats.Parsed{Kind: formats.LeanCtx, Document: d}); err != nil {
		return err
	}
	err = s.Update(ctx, func(st *state.State, now time.Time) ([]state.Event, error) {
		if _, taken := st.Last(state.NoteAdopt); taken {
			return nil, nil // another process was first
		}
		took = true
		events, err := m.decide(ctx, st, now)
		return append(events, state.Note(state.NoteAdopt, "Took over "+dir, now)), err
	})
	if err == nil && took {
		s.Warn("took over %s, %s, %s and %s from %s, which is left as it was", prose.Count(versions, "version"),
			prose.Count(patterns, "pattern"), prose.Count(gotchas, "gotcha"), prose.Count(len(d.Relations), "relation"), dir)
	}
	return err
}

// findLegacy returns the directory of the existing program's store for a
// project, "" if there is none.
func findLegacy(dataDirs []string, root string) string {
	for _, data := range dataDirs {
		files, _ := fs.Glob(os.DirFS(data), "knowledge/*/knowledge.json") // the pattern is valid
		for _, name := range files {
			if file := filepath.Join(data, filepath.FromSlash(name)); isLegacy(file, root) {
				return filepath.Dir(file)
			}
		}
	}
	return ""
}

// isLegacy reads the beginning of a file: lean-ctx writes project_root first,
// and no schema.
func isLegacy(file, root string) bool {
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() { // opening a pipe would wait
		return false
	}
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 4<<10))
	if err != nil {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(head))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil || name == "schema" || name == "facts" {
			return false
		}
		var value any
		if d.Decode(&value) != nil {
			return false
		}
		if text, ok := value.(string); ok && name == "project_root" {
			return samePath(text, root)
		}
	}
	return false
}

func samePath(a, b string) bool {
	clean := func(p string) string {
		p = filepath.Clean(p)
		if real, err := filepath.EvalSymlinks(p); err == nil {
			p = real
		}
		return strings.TrimSuffix(filepath.ToSlash(p), "/")
	}
	return clean(a) == clean(b)
}
