package transfer

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"leanctx/formats"
	"leanctx/formats/foreign"
	"leanctx/formats/okf"
	"leanctx/internal/args"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// A directory of notes is read up to these limits. A vault of years is smaller.
const (
	maxNotes     = 5_000
	maxNoteBytes = 64 << 20
)

// maxImport is how many MiB a file may have, unless a call says otherwise.
const maxImport = 256

// most is how many bytes an import may have.
func (in Incoming) most() (int64, error) {
	if in.MaxMiB < 0 || in.MaxMiB > 1<<20 {
		return 0, refusal.Argument("max_mib", "max_mib %d is not between 1 and %d", in.MaxMiB, 1<<20)
	}
	return int64(cmp.Or(in.MaxMiB, maxImport)) << 20, nil
}

// wrong is the error about a file that is not read. Errors of the file system name it themselves.
func (in Incoming) wrong(err error) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok || err == nil {
		return err
	}
	return refusal.Argument("file", "%s %v", in.name(), err)
}

// input is what an import reads.
type input struct {
	text  []byte         // of a file
	files []foreign.File // that file, or the Markdown files of a directory
	rooms []foreign.File // those of them that are rooms
	notes bool           // it is a directory, or the file that points to those beside it

	dir    string   // that was read
	index  []byte   // of an exported directory
	passed []string // other files of a directory
}

// read reads the file or the directory of an import. root is the project's.
func (in Incoming) read(root string) (x input, err error) {
	most, err := in.most()
	if err != nil {
		return x, err
	}
	if in.Data != nil {
		x.text, err = args.Bounded(in.Data, most)
		x.files = []foreign.File{{Name: named(root, in.File), Text: x.text}}
		return x, in.wrong(err)
	}
	if err := refusal.Required("file", in.File); err != nil {
		return x, err
	}
	info, err := os.Stat(in.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return x, refusal.NotFound("No such file: %s", in.File)
	case err != nil:
		return x, err
	case info.IsDir():
		if err := args.Inside(root, in.File); err != nil {
			return x, in.wrong(err)
		}
		return x, x.readNotes(root, in.File)
	}
	x.text, err = args.File(root, in.File, most)
	err = in.wrong(err)
	switch f := (foreign.File{Name: named(root, in.File), Text: x.text}); {
	case err != nil:
	case isRoom(f):
		x.rooms = []foreign.File{f}
	case filepath.Base(in.File) == "MEMORY.md":
		err = x.readNotes(root, filepath.Dir(in.File))
		x.files, x.rooms, x.passed = append(x.rooms, x.files...), nil, nil
	default:
		x.files = []foreign.File{f}
	}
	return x, err
}

// foreign reads the memory of another program. It gives nil for the text of any other
// file. root is the project's.
func (in Incoming) foreign(root string, x input) (*foreign.Memory, error) {
	if len(x.files) == 0 {
		return nil, refusal.NotFound("No Markdown files in %s", in.File)
	}
	m, err := foreign.Parse(x.files, filepath.Base(root))
	switch {
	case errors.Is(err, foreign.ErrUnknown) && !x.notes:
		return nil, nil
	case errors.Is(err, foreign.ErrTasks) && !x.notes:
		return nil, refusal.Argument("file", "%s: %v: lean-ctx task import %s", in.name(), err, in.name())
	case err != nil:
		return nil, refusal.Argument("file", "%s: %v", in.name(), err)
	}
	return m, nil
}

// readNotes reads the Markdown files below a directory, in the order of their names. Hidden files
// and directories are passed over.
func (x *input) readNotes(root, dir string) error {
	x.notes, x.dir = true, dir
	tree, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer tree.Close()
	total := 0
	return fs.WalkDir(tree.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || strings.HasPrefix(d.Name(), "."):
			return nil
		case !d.Type().IsRegular() || !strings.EqualFold(path.Ext(name), ".md"):
			x.passed = append(x.passed, name)
			return nil
		}
		f, err := tree.Open(filepath.FromSlash(name))
		if err != nil {
			return err
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, int64(maxNoteBytes-total)+1))
		if err != nil {
			return err
		}
		file := foreign.File{Name: named(root, filepath.Join(dir, filepath.FromSlash(name))), Text: text}
		if total += len(text); total > maxNoteBytes {
			return refusal.Argument("file", "the Markdown files in %s have more than %d MiB", dir, maxNoteBytes>>20)
		}
		switch {
		case isRoom(file):
			x.rooms = append(x.rooms, file)
		case name == indexName && okf.IsIndex(text):
			x.index = text
		case len(x.files) == maxNotes:
			return refusal.Argument("file", "%s has more than %s Markdown files", dir, prose.Number(maxNotes))
		default:
			x.files = append(x.files, file)
		}
		return nil
	})
}

// named is a file's path from the root of the project, so that a record's source can be
// checked there. A file outside it is named by its last part, and as such.
func named(root, file string) string {
	if file == "" || file == "-" {
		return ""
	}
	if path, ok := formats.PathIn(root, file); ok {
		return path
	}
	return outside + filepath.Base(file)
}
