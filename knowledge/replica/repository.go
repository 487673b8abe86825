package replica

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"leanctx/internal/atomicfile"
	"leanctx/internal/prose"
)

// The directory of a work tree that holds the lines.
const (
	Directory  = ".lean-ctx"
	logDir     = Directory + "/log"
	attributes = Directory + "/.gitattributes"
	unionMerge = "log/*.jsonl merge=union -text\n"
)

// What is read of a repository: anybody may have written it. A year of a busy team is under 10 MB.
const (
	maxLog   = 64 << 20  // bytes of the file of one replica
	maxLogs  = 256 << 20 // bytes of all files
	maxFiles = 1000

	maxAttributes = 64 << 10 // bytes of the file with git's attributes
)

var errTooMany = fmt.Errorf("%s holds more than %d files", logDir, maxFiles)

// repository is the work tree of a project. No path leads out of it, and no symbolic
// link is followed.
type repository struct{ root *os.Root }

func openRepository(dir string) (*repository, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &repository{root}, nil
}

func (r *repository) close() { _ = r.root.Close() } // it was only read, or its files are closed

// logFile is the file of one replica.
type logFile struct {
	name string // in the log directory
	text []byte
}

func (f logFile) path() string { return logDir + "/" + f.name }

// list lists the directory of the files. Its error is errTooMany where there are more than are read.
func (r *repository) list() ([]fs.DirEntry, error) {
	for _, dir := range []string{Directory, logDir} {
		info, err := r.root.Lstat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, err
		case !info.IsDir():
			return nil, fmt.Errorf("%s is not a directory", dir)
		case !atomicfile.Owned(info):
			return nil, fmt.Errorf("%s belongs to another user", dir)
		}
	}
	dir, err := r.root.Open(logDir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(maxFiles + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	if len(entries) > maxFiles {
		return entries[:maxFiles], errTooMany
	}
	return entries, nil
}

// open opens an ordinary file of this user or root. Devices and FIFOs are not waited for.
func (r *repository) open(name string) (*os.File, error) {
	in, err := r.root.OpenFile(name, readFlags, 0)
	if err != nil {
		return nil, err
	}
	info, err := in.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not an ordinary file", name)
	case !atomicfile.Owned(info):
		err = fmt.Errorf("%s belongs to another user", name)
	default:
		return in, nil
	}
	return nil, errors.Join(err, in.Close())
}

// read reads the files of all replicas, in the order of their names. What is no ordinary
// file, or too large, is passed over, with a warning.
func (r *repository) read() (files []logFile, warnings []string, err error) {
	entries, err := r.list()
	if errors.Is(err, errTooMany) {
		warnings, err = append(warnings, err.Error()+"; the others were not read"), nil
	}
	if err != nil {
		return nil, nil, err
	}
	total := int64(0)
	for _, e := range entries {
		f := logFile{name: e.Name()}
		if path.Ext(f.name) != ".jsonl" {
			continue
		}
		if !e.Type().IsRegular() {
			warnings = append(warnings, prose.Line(f.path())+" is not an ordinary file and was not read")
			continue
		}
		if f.text, err = r.readFile(f.path(), min(maxLog, maxLogs-total)); err != nil {
			warnings = append(warnings, prose.Line(err.Error())+"; it was not read")
			continue
		}
		total += int64(len(f.text))
		files = append(files, f)
	}
	return files, warnings, nil
}

func (r *repository) readFile(name string, most int64) ([]byte, error) {
	in, err := r.open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	tooLarge := fmt.Errorf("%s is larger than is read: %d MiB of a replica, %d MiB of all", name, maxLog>>20, maxLogs>>20)
	if info, err := in.Stat(); err != nil || info.Size() > most {
		return nil, cmp.Or(err, tooLarge)
	}
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(text)) > most {
		err = tooLarge
	}
	return text, err
}

// conflict reports whether a line is a marker that git left at a conflict.
func conflict(text []byte) bool {
	for _, mark := range []string{"<<<<<<<", "|||||||", "=======", ">>>>>>>"} {
		if bytes.HasPrefix(text, []byte(mark)) {
			return true
		}
	}
	return false
}

// parse reads the lines of a file, each by itself: one that is damaged is left out. damaged
// counts them. newer are lines of a newer version of the program: what they lead to is not known. Of
// what is not read skip says so.
func (f logFile) parse(skip func(text []byte) bool) (lines, newer []*Line, damaged int) {
	for text := range bytes.Lines(f.text) {
		text = bytes.TrimRight(text, "\r\n")
		if len(bytes.TrimSpace(text)) == 0 || conflict(text) || skip(text) {
			continue
		}
		l, err := parse(text)
		switch {
		case err == nil:
			lines = append(lines, l)
		case l != nil:
			newer = append(newer, l)
		default:
			damaged++
		}
	}
	return lines, newer, damaged
}

// complete has the file of a replica hold lines. It returns the file, and how many statements
// it lacked. Lines at the end are appended; otherwise the file is rewritten, but only by its
// owner.
func (r *repository) complete(name string, lines []*Line, owner bool) (file logFile, added int, err error) {
	file.name = name
	info, err := r.root.Lstat(file.path())
	if err == nil && !info.Mode().IsRegular() {
		return file, 0, fmt.Errorf("%s is not an ordinary file", file.path())
	}
	if err == nil {
		file.text, err = r.readFile(file.path(), maxLog)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return file, 0, err
	}
	there := map[string]bool{}
	for text := range bytes.Lines(file.text) {
		there[string(bytes.TrimRight(text, "\r\n"))] = true
	}
	var missing []*Line
	for _, l := range lines {
		if !there[string(l.text)] {
			missing = append(missing, l)
		}
	}
	was := file.text
	want := join(lines)
	switch {
	case bytes.Equal(was, want) || !owner && len(missing) == 0:
		return file, 0, nil
	case bytes.HasPrefix(want, was):
		file.text, err = want, r.append(file.path(), want[len(was):])
	case !owner:
		more := append([]byte("\n"), join(missing)...)
		file.text, err = slices.Concat(was, more), r.append(file.path(), more)
	default:
		file.text, err = want, r.replace(file.path(), want)
	}
	return file, statements(missing), err
}

// prepare makes the directory and has git merge the files line by line.
func (r *repository) prepare() error {
	for _, dir := range []string{Directory, logDir} {
		if err := r.root.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	text, err := r.readFile(attributes, maxAttributes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil // it is nothing that git or a person wrote, and the lines are written all the same
	}
	if slices.ContainsFunc(strings.Split(string(text), "\n"), func(s string) bool { return strings.HasPrefix(s, "log/*.jsonl") }) {
		return nil
	}
	return r.append(attributes, []byte(unionMerge))
}

func (r *repository) append(name string, text []byte) error {
	return r.write(name, os.O_APPEND, text)
}

// replace writes a file beside its place and renames it there.
func (r *repository) replace(name string, text []byte) error {
	if err := r.write(name+".tmp", os.O_TRUNC, text); err != nil {
		return err
	}
	return r.root.Rename(name+".tmp", name)
}

func (r *repository) write(name string, how int, text []byte) error {
	if info, err := r.root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not an ordinary file", name)
	}
	f, err := r.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|how, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync() // the line was acknowledged as shared
	}
	return errors.Join(err, f.Close())
}
