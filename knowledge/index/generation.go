package index

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/blevesearch/bleve/v2"
)

// Position is the commit of the journal that an index stands at.
type Position struct {
	Seq        uint64    `json:"seq"`
	Checksum   string    `json:"checksum"`   // of that commit's line
	Generation uint64    `json:"generation"` // of the journal
	At         time.Time `json:"at,omitzero"`
}

// ErrDamaged says that a generation on disk could not be read. It has been set aside.
var ErrDamaged = errors.New("the index on disk is damaged")

const (
	manifestName = "generation.json"
	extraName    = "extra"
	lockName     = "index.lock"
	temporary    = "tmp-"
	aside        = ".damaged"
)

// manifest is generation.json: what a generation holds and which files it consists of.
type manifest struct {
	Mapping  int             `json:"mapping"`
	Position Position        `json:"position"`
	Size     statistics      `json:"size"`
	Replaced int             `json:"replaced"` // documents that still take space, since the last full build or merge
	Files    map[string]file `json:"files"`
}

// file is what a file must be. Its parts are checked on all processors at once: a command does it at its start.
type file struct {
	Size int64    `json:"size"`
	CRCs []uint32 `json:"crcs"` // of each partSize bytes
}

const partSize = 4 << 20

// generation is one that is open for reading.
type generation struct {
	manifest
	path  string
	extra []byte
	all   *os.File // the summaries; open, so that they can be read when another process has removed the generation
	bleve bleve.Index

	checked map[string]fs.FileInfo // the files whose checksums are right

	forks atomic.Int32 // how many indexes use it beside the first
}

// A generation of another mapping is whole, but not for this version of the program.
var (
	errOlder = errors.New("made by an earlier version of the program")
	errNewer = errors.New("made by a newer version of the program")
)

// openGeneration checks the files of a generation and opens it.
func openGeneration(path string) (*generation, error) {
	if _, err := factMapping(); err != nil {
		return nil, err
	}
	g := &generation{path: path}
	if err := g.readManifest(); err != nil {
		return nil, err
	}
	switch {
	case g.Mapping > mappingVersion:
		return nil, errNewer
	case g.Mapping < mappingVersion:
		return nil, errOlder
	}
	err := g.check()
	if err != nil {
		return nil, err
	}
	if g.extra, err = os.ReadFile(filepath.Join(path, extraName)); err != nil {
		return nil, err
	}
	if g.all, err = os.Open(filepath.Join(path, summariesName)); err != nil {
		return nil, err
	}
	err = guard(func() (err error) {
		g.bleve, err = bleve.OpenUsing(path, map[string]any{"read_only": true, "bolt_timeout": "1s"})
		return err
	})
	if err != nil {
		return nil, errors.Join(err, g.all.Close())
	}
	if err := g.unchanged(); err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

// unchanged returns an error if another file took the place of one after it was checked: bleve opens
// files by their names. One that is gone was removed by another process, and is open here.
func (g *generation) unchanged() error {
	for name, before := range g.checked {
		now, err := os.Stat(g.file(name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case !os.SameFile(before, now) || !before.ModTime().Equal(now.ModTime()):
			return fmt.Errorf("%s was replaced while it was opened", name)
		}
	}
	return nil
}

// check compares the files with what generation.json says of them. What it finds, and nothing else, is damage.
func (g *generation) check() error {
	type part struct {
		name string
		at   int
	}
	var parts []part
	g.checked = make(map[string]fs.FileInfo, len(g.Files))
	for name, want := range g.Files {
		info, err := os.Stat(g.file(name))
		if err != nil {
			return err
		}
		if size := info.Size(); size != want.Size || int64(len(want.CRCs)) != (size+partSize-1)/partSize {
			return fmt.Errorf("%s has %d bytes, should have %d", name, size, want.Size)
		}
		g.checked[name] = info
		for i := range want.CRCs {
			parts = append(parts, part{name, i})
		}
	}
	failed := make([]error, len(parts))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(parts)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(parts)); i = next.Add(1) - 1 {
				p := parts[i]
				got, err := checksum(g.file(p.name), p.at)
				if want := g.Files[p.name].CRCs[p.at]; err == nil && got != want {
					err = fmt.Errorf("%s has checksum %08x from byte %d on, should have %08x", p.name, got, p.at*partSize, want)
				}
				failed[i] = err
			}
		})
	}
	wg.Wait()
	return cmp.Or(failed...)
}

func (g *generation) file(name string) string { return filepath.Join(g.path, filepath.FromSlash(name)) }

func (g *generation) close() error {
	if g == nil || g.forks.Add(-1) >= 0 {
		return nil
	}
	return errors.Join(g.bleve.Close(), g.all.Close())
}

// readManifest reads generation.json: one line, "crc32 SP json LF".
func (g *generation) readManifest() error {
	line, err := os.ReadFile(filepath.Join(g.path, manifestName))
	if err != nil {
		return err
	}
	sum, text, ok := bytes.Cut(bytes.TrimSuffix(line, []byte{'\n'}), []byte{' '})
	if !ok || string(sum) != fmt.Sprintf("%08x", crc32.ChecksumIEEE(text)) {
		return fmt.Errorf("%s: the checksum is wrong", manifestName)
	}
	return json.Unmarshal(text, &g.manifest)
}

// seal writes the extra file and generation.json. known are checksums of linked files, which need no second reading.
func (m *manifest) seal(path string, extra []byte, known map[string]file) error {
	if err := os.WriteFile(filepath.Join(path, extraName), extra, 0o600); err != nil {
		return err
	}
	m.Mapping, m.Files = mappingVersion, map[string]file{}
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if err := private(p); err != nil { // the library makes index_meta.json for everybody
			return err
		}
		name, err := filepath.Rel(path, p)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		of, ok := known[name]
		if !ok {
			of, err = measure(p)
		}
		m.Files[name] = of
		return err
	})
	if err != nil {
		return err
	}
	return m.write(path)
}

// write writes generation.json.
func (m *manifest) write(path string) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(path, manifestName), fmt.Appendf(nil, "%08x %s\n", crc32.ChecksumIEEE(text), text), 0o600)
}

// private takes a file away from everybody but its owner.
func private(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return os.Chmod(path, 0o600)
}

// measure reads a whole file.
func measure(path string) (f file, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return f, err
	}
	f.Size = info.Size()
	for at := 0; int64(at)*partSize < f.Size; at++ {
		sum, err := checksum(path, at)
		if err != nil {
			return f, err
		}
		f.CRCs = append(f.CRCs, sum)
	}
	return f, nil
}

// checksum is that of a part of a file.
func checksum(path string, at int) (uint32, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	h := crc32.NewIEEE()
	part := io.NewSectionReader(f, int64(at)*partSize, partSize)
	_, err = io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{part}, make([]byte, 128<<10))
	return h.Sum32(), err
}

// guard runs a call of the library that reads data from disk. Damaged data may make it panic; that becomes an error.
// So does a mapped file that another process has cut short. Without SetPanicOnFault the fault ends this process. The
// call must run nothing of ours but the call itself.
func guard(call func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("reading panicked: %v", p)
		}
	}()
	return call()
}

// generations lists the generations in dir by name, the newest first. A directory that is none, or
// that cannot be read, has none: an index is a cache.
func generations(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		if info, _ := os.Stat(dir); info == nil || info.IsDir() {
			return nil, err
		}
	}
	var names []string
	for _, e := range entries {
		if _, ok := seqOf(e.Name()); ok && e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		i, _ := seqOf(a)
		j, _ := seqOf(b)
		return cmp.Or(cmp.Compare(j, i), strings.Compare(b, a))
	})
	return names, nil
}

// seqOf is the commit in a generation's name.
func seqOf(name string) (uint64, bool) {
	seq, random, ok := strings.Cut(name, "-")
	if !ok || strings.HasSuffix(random, aside) {
		return 0, false
	}
	n, err := strconv.ParseUint(seq, 10, 64)
	return n, err == nil
}

func newName(seq uint64) string { return fmt.Sprintf("%d-%s", seq, strings.ToLower(rand.Text()[:8])) }

// newest opens the newest generation in dir that is whole; nil if there is none. Damaged ones, and those of an
// earlier mapping, are set aside.
func newest(dir string, o *Options) (*generation, error) {
	for range 10 {
		g, again, err := o.newest(dir)
		if !again {
			return g, err
		}
	}
	return nil, nil // others write one generation after another: this caller does without
}

// newest is one look at dir. again: a generation was removed while it was opened.
func (o *Options) newest(dir string) (g *generation, again bool, err error) {
	names, err := generations(dir)
	if err != nil {
		return nil, false, err
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		g, err := openGeneration(path)
		switch {
		case err == nil:
			return g, false, nil
		case errors.Is(err, errNewer):
			o.Log.Info("the index is not used", slog.String("path", path), slog.Any("error", err))
		case !exists(path):
			return nil, true, nil
		default:
			o.setAside(path, err)
		}
	}
	return nil, false, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// setAside renames a generation, so that nobody opens it again. In a read-only directory it stays.
func (o *Options) setAside(path string, why error) {
	what := "the index is damaged"
	if errors.Is(why, errOlder) {
		what = "the index is of an earlier version of the program"
	}
	o.Log.Warn(what+"; it is set aside and will be built again", slog.String("path", path+aside), slog.Any("error", why))
	old := matching(filepath.Dir(path), "*"+aside)
	if err := os.Rename(path, path+aside); err != nil {
		o.Log.Warn("the index cannot be set aside", slog.Any("error", err))
		return
	}
	for _, p := range old {
		_ = os.RemoveAll(p) // one is enough to look at
	}
}

// publish renames a finished generation into place and removes what is older.
func publish(dir, made string, seq uint64) error {
	name := newName(seq)
	names, err := generations(dir)
	if err != nil {
		return err
	}
	if err := os.Rename(made, filepath.Join(dir, name)); err != nil {
		return err
	}
	for _, n := range names {
		// Renamed first: who is opening it must see that it is gone, not that files are missing.
		trash := filepath.Join(dir, temporary+n)
		if os.Rename(filepath.Join(dir, n), trash) == nil {
			_ = os.RemoveAll(trash) // else the next writer does it
		}
	}
	return nil
}

// Newer reports whether a newer version of the program wrote the index in dir. Then nothing is written there.
func Newer(dir string) bool {
	names, _ := generations(dir) // of a directory that cannot be read, the writer is told
	return slices.ContainsFunc(names, func(name string) bool {
		g := generation{path: filepath.Join(dir, name)}
		return g.readManifest() == nil && g.Mapping > mappingVersion
	})
}

// clearTemporary removes what writers left behind that did not finish. The caller holds the lock.
func clearTemporary(dir string) {
	for _, p := range matching(dir, temporary+"*") {
		_ = os.RemoveAll(p)
	}
}

// matching lists the paths in a directory whose names match a pattern. The directory's own name may hold any character.
func matching(dir, pattern string) []string {
	names, _ := fs.Glob(os.DirFS(dir), pattern) // the patterns are valid
	for i, name := range names {
		names[i] = filepath.Join(dir, name)
	}
	return names
}

// clone copies a generation to a new path: segments by hard link, since they are never written again.
func (g *generation) clone(to string) error {
	for name := range g.Files {
		from, to := g.file(name), filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if strings.HasSuffix(name, ".zap") && os.Link(from, to) == nil {
			continue
		}
		data, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.WriteFile(to, data, 0o600); err != nil {
			return err
		}
	}
	return nil
}
