package overview

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"leanctx/overview/source"
	"leanctx/overview/tree"
)

// maxRead is the size in bytes up to which a file is read. A larger one was not written by
// hand.
const maxRead = 1 << 20

// maxTotal is the most bytes that one overview reads: about ten times a large project. Further
// files are known by name alone. Without a limit an overview of a home directory would take
// minutes.
const maxTotal = 1 << 30

// maxReading is how long one overview reads. Text that was made to be slow to read, in a repository of
// somebody else, must not take both cores for minutes. The next overview reads on.
const maxReading = 15 * time.Second

// maxHead is the part that is read of a file without definitions.
const maxHead = 8 << 10

// entry describes one file of a project, as the cache keeps it.
type entry struct {
	tree.File
	ReadAt   int64 // when it was read, nanoseconds since 1970
	Skip     bool  // never listed: no text, generated, third-party code, over maxRead, or unreadable
	More     int   // definitions beside Names
	Pkg      string
	Doc      string
	Names    []string
	Imports  []string
	Terms    string // as packed
	Weight   int    // of all terms
	Language source.Language

	unopened bool // not read, since there is too much to read; not cached
}

// packedTerm is the size of a term: its hash, big-endian, and its weight.
const packedTerm = 5

func pack(list []source.Term) (packed string, weight int) {
	b := make([]byte, 0, len(list)*packedTerm)
	for _, t := range list {
		b = append(binary.BigEndian.AppendUint32(b, t.Hash), t.Weight)
		weight += int(t.Weight)
	}
	return string(b), weight
}

// termWeight is how much a term counts in an entry; 0 if it is not there.
func (e *entry) termWeight(hash uint32) int {
	lo, hi := 0, len(e.Terms)/packedTerm
	for lo < hi {
		mid := (lo + hi) / 2
		t := e.Terms[mid*packedTerm:]
		switch h := uint32(t[0])<<24 | uint32(t[1])<<16 | uint32(t[2])<<8 | uint32(t[3]); {
		case h == hash:
			return int(t[4])
		case h < hash:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0
}

// scanner reads the files of a tree that the cache does not know.
type scanner struct {
	root     *os.Root
	now      func() time.Time
	progress func(done, total int)
	clean    func(string) string // takes secrets out
	maxTotal int64               // bytes; see [maxTotal]
	reading  time.Duration       // see [maxReading]; 0: no limit
	opened   atomic.Int64        // files that were opened; tests count them
}

// scan returns an entry for each file, in order. An entry of old is valid while size and time
// of its file are the same and its time is final (timeIsFinal).
func (s *scanner) scan(ctx context.Context, files []tree.File, old map[string]*entry) ([]*entry, bool, error) {
	out := make([]*entry, len(files))
	var todo []int
	left := s.maxTotal
	for i, f := range files {
		// It does not depend on the cache, so that the same tree gives the same answer.
		if left -= cost(&f); left < 0 && cost(&f) > 0 {
			out[i] = nameOnly(f)
			continue
		}
		if e := old[f.Path]; e != nil && e.Size == f.Size && e.ModTime == f.ModTime && e.timeIsFinal() {
			out[i] = e
		} else {
			todo = append(todo, i)
		}
	}
	var late <-chan time.Time
	if s.reading > 0 {
		late = time.After(s.reading)
	}
	var over atomic.Bool
	var next, done atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(todo)) {
		wg.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(todo) || ctx.Err() != nil {
					return
				}
				select {
				case <-late:
					over.Store(true)
				default:
				}
				if over.Load() {
					out[todo[n]] = nameOnly(files[todo[n]])
				} else {
					out[todo[n]] = s.read(files[todo[n]])
				}
				if d := done.Add(1); s.progress != nil && (d%64 == 0 || int(d) == len(todo)) {
					mu.Lock()
					s.progress(int(done.Load()), len(todo))
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return out, len(todo) > 0 || len(old) != len(files), ctx.Err()
}

// timeIsFinal reports whether a later change must have changed the file's time. File systems
// have ticks of up to ten milliseconds, or two seconds if times have no fraction.
func (e *entry) timeIsFinal() bool {
	tick := 10 * time.Millisecond
	if e.ModTime%int64(time.Second) == 0 {
		tick = 2 * time.Second
	}
	return e.ModTime < e.ReadAt-int64(tick)
}

// cost is the number of bytes that would be read of a file.
func cost(f *tree.File) int64 {
	if _, foreign := tree.Vendored(f.Path); foreign || binaryName(f.Path) || f.Size > maxRead {
		return 0
	}
	return min(f.Size, share(source.Of(f.Path), f.Size))
}

// share is the most bytes that are read of a file.
func share(l source.Language, size int64) int64 {
	if l.Code() || l != "" && size < 64<<10 {
		return maxRead
	}
	return maxHead
}

// nameOnly is the entry of a file that was not read. Its time is never final.
func nameOnly(f tree.File) *entry {
	e := &entry{File: f, ReadAt: math.MinInt64 / 2, unopened: true, Language: source.Of(f.Path)}
	e.Terms, e.Weight = pack(source.Read(f.Path, "", nil).Terms)
	return e
}

// read reads one file.
func (s *scanner) read(f tree.File) *entry {
	e := &entry{File: f, ReadAt: s.now().UnixNano(), Language: source.Of(f.Path)}
	if _, foreign := tree.Vendored(f.Path); foreign || binaryName(f.Path) || f.Size > maxRead {
		e.Skip = true
		return e
	}
	data, err := s.content(e.Path, min(share(e.Language, e.Size), e.Size))
	if err != nil || bytes.IndexByte(data[:min(len(data), maxHead)], 0) >= 0 {
		e.Skip = true
		return e
	}
	src := source.Read(e.Path, string(data), s.clean)
	e.Skip, e.Pkg, e.Doc, e.Names, e.More, e.Imports = src.Generated, src.Package, src.Doc, src.Names, src.More, src.Imports
	e.Terms, e.Weight = pack(src.Terms)
	return e
}

// content reads the beginning of a file.
func (s *scanner) content(name string, most int64) ([]byte, error) {
	s.opened.Add(1)
	f, err := s.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buf := make([]byte, most)
	n, err := io.ReadFull(f, buf)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return buf[:n], nil
}

// binaryName reports whether a file's name says that it is no text.
func binaryName(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".bmp", ".tiff", ".pdf", ".zip", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".tar", ".jar", ".war",
		".class", ".o", ".a", ".so", ".dylib", ".dll", ".exe", ".obj", ".lib", ".pyc", ".wasm", ".woff", ".woff2", ".ttf", ".otf", ".eot", ".mp3", ".mp4", ".avi",
		".mov", ".mkv", ".wav", ".ogg", ".flac", ".db", ".sqlite", ".sqlite3", ".bin", ".dat", ".pb", ".parquet", ".npy", ".npz", ".onnx", ".safetensors", ".syso":
		return true
	}
	return false
}
