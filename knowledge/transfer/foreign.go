package transfer

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"leanctx/formats/foreign"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// A directory of notes is read up to these limits. A vault of years is smaller.
const (
	mostNotes     = 5_000
	mostNoteBytes = 64 << 20
)

// parseForeign reads the memory of another program from a file's text. It gives
// nil for any other text. root is the project's.
func (in Incoming) parseForeign(root string, text []byte) (*foreign.Memory, error) {
	if filepath.Base(in.File) == "MEMORY.md" {
		return in.parseNotes(root, filepath.Dir(in.File)) // it points to the files beside it
	}
	m, err := foreign.Parse([]foreign.File{{Name: within(root, in.File), Text: text}}, filepath.Base(root))
	switch {
	case errors.Is(err, foreign.ErrUnknown):
		return nil, nil
	case errors.Is(err, foreign.ErrTasks):
		return nil, refusal.Argument("file", "%s: %v: lean-ctx task import %s", in.name(), err, in.name())
	case err != nil:
		return nil, refusal.Argument("file", "%s: %v", in.name(), err)
	}
	return m, nil
}

// parseNotes reads a directory of Markdown notes.
func (in Incoming) parseNotes(root, dir string) (*foreign.Memory, error) {
	files, err := notes(root, dir)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, refusal.NotFound("No Markdown files in %s", dir)
	}
	m, err := foreign.Parse(files, filepath.Base(root))
	if err != nil {
		return nil, refusal.Argument("file", "%s: %v", in.name(), err)
	}
	return m, nil
}

// notes reads the Markdown files below a directory, in the order of their
// names. Hidden directories and what is no ordinary file are passed over.
func notes(root, dir string) (files []foreign.File, err error) {
	tree, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	total := 0
	err = fs.WalkDir(tree.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !d.Type().IsRegular() || !strings.EqualFold(path.Ext(name), ".md"):
			return nil
		case len(files) == mostNotes:
			return refusal.Argument("file", "%s has more than %s Markdown files", dir, prose.Number(mostNotes))
		}
		f, err := tree.Open(filepath.FromSlash(name))
		if err != nil {
			return err
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, int64(mostNoteBytes-total)+1))
		if err != nil {
			return err
		}
		if total += len(text); total > mostNoteBytes {
			return refusal.Argument("file", "the Markdown files in %s have more than %d MiB", dir, mostNoteBytes>>20)
		}
		files = append(files, foreign.File{Name: within(root, filepath.Join(dir, filepath.FromSlash(name))), Text: text})
		return nil
	})
	return files, err
}

// within is a file's path from the root of the project, with slashes, so that a
// record's source can be checked there; a file outside it is named by its last part.
func within(root, file string) string {
	if file == "" || file == "-" {
		return ""
	}
	if abs, err := filepath.Abs(file); err == nil && root != "" {
		if rel, err := filepath.Rel(root, abs); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.Base(file)
}
