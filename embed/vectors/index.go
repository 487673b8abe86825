package vectors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"leanctx/internal/atomicfile"
)

// Text is a text to be encoded, and the id that its vector is found by.
type Text struct {
	ID   string // of a version of a fact, say; it holds no line feed
	Text string
	Sum  uint64 // what [Text.Hash] gave; 0: it is not known
}

// Hash is the 64-bit FNV-1a hash of the text, the same on every machine. A text
// that changed under its id is encoded again.
func (t Text) Hash() uint64 {
	if t.Sum != 0 {
		return t.Sum
	}
	h := fnv.New64a()
	io.WriteString(h, t.Text)
	return h.Sum64()
}

// Index holds the vectors of a project's facts, of one or several encoders, in a
// folder. Several goroutines and processes may use one folder at once: an Index
// looks before each operation whether the file was replaced.
//
// An error of a method that is not explained says that the file cannot be read now.
type Index struct {
	dir string

	writing sync.Mutex // held while the files are written

	mu       sync.Mutex
	stamp    os.FileInfo // of the file whose beginning was read; nil: there was none
	contents contents    // of that file
	memory   *memory     // nil: what is in the file
	most     int64       // bytes of a file that are kept in memory
	kept     []byte      // that file's blocks, whose checksums are right; nil: they are read from it

	described atomic.Pointer[readDescription] // what embeddings.json said last
}

// memory is vectors that could not be written, or must not be: they serve this process.
type memory struct {
	contents
	body     []byte
	complete map[string]time.Time
}

// Open returns the index in a folder, which need not exist. Nothing is read
// before the first operation.
func Open(dir string) *Index { return &Index{dir: dir} }

// Keep has the index keep a file in memory if it has no more bytes than that. A server then reads and checks
// a file once, and not at each question.
func (x *Index) Keep(most int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.most = most
}

// The limits of what is kept.
const (
	maxName = 255
	maxDim  = 8192
)

// openFile opens the file of vectors; nil where there is none. A file that is there but cannot be
// opened, for its permissions or because too many are open, is an error: made again, it would
// lose what took hours.
func (x *Index) openFile() (file *os.File, err error) {
	err = atomicfile.RetryBusy(func() error {
		at, err := os.Lstat(x.path(vectorFile))
		if err == nil && at.Mode().IsRegular() { // opening a pipe waits until somebody writes to it
			file, err = os.OpenInRoot(x.dir, vectorFile) // so that Windows can replace it meanwhile
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return file, err
}

// open opens the vectors. A damaged file counts as absent.
func (x *Index) open() (*opened, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.kept != nil { // a look at the file is enough
		if at, err := os.Lstat(x.path(vectorFile)); err == nil && atomicfile.Unchanged(x.stamp, at) {
			return x.opened(nil, at), nil
		}
	}
	file, err := x.openFile()
	f := &opened{file: file}
	if file != nil {
		f.stamp, err = file.Stat()
	}
	if err == nil && !atomicfile.Unchanged(x.stamp, f.stamp) {
		var c contents
		if file != nil {
			c, err = readContents(file, f.stamp.Size())
		}
		if c.newer && x.description().Of != c.first {
			c = contents{} // damage, which made the version another
		}
		if errors.Is(err, ErrDamaged) {
			err = nil
		}
		if err == nil {
			x.stamp, x.contents, x.kept = f.stamp, c, nil
			if len(c.sets) > 0 && f.stamp.Size() <= x.most {
				x.kept = c.read(file, f.stamp.Size())
			}
			if !c.newer {
				x.memory = nil
			}
		}
	}
	if err != nil {
		f.close()
		return nil, fmt.Errorf("the vectors cannot be read: %w", err)
	}
	return x.opened(file, f.stamp), nil
}

// opened is the vectors of the file whose beginning was read. mu is held.
func (x *Index) opened(file *os.File, stamp os.FileInfo) *opened {
	f := &opened{contents: x.contents, memory: x.memory, from: file, kept: x.kept, file: file, stamp: stamp}
	if f.memory != nil {
		f.contents, f.from, f.kept = f.memory.contents, bytes.NewReader(f.memory.body), nil
	}
	return f
}

// read opens the vectors for f. If f finds the file damaged, it is deleted and counts as absent.
func (x *Index) read(f func(*opened) error) error {
	file, err := x.open()
	if err != nil {
		return err
	}
	defer file.close()
	if err = f(file); errors.Is(err, ErrDamaged) {
		x.mu.Lock()
		defer x.mu.Unlock()
		if atomicfile.Unchanged(file.stamp, x.stamp) {
			x.contents, x.kept = contents{}, nil
		}
		if at, err := os.Lstat(x.path(vectorFile)); err == nil && atomicfile.Unchanged(file.stamp, at) {
			_ = os.Remove(x.path(vectorFile)) // else this process alone knows
		}
	}
	return err
}

func (x *Index) path(name string) string { return filepath.Join(x.dir, name) }

// Vectors returns the vectors of texts of this encoder, each nil if it has none, or if
// the file cannot be read now.
func (x *Index) Vectors(encoder string, texts []Text) [][]float32 {
	return x.vectors(encoder, texts, &Space{}, func(*opened) bool { return true })
}

// InMemory is Vectors for an index that [Index.Keep] holds in memory, and gives none otherwise. The vectors are
// in a space.
func (x *Index) InMemory(encoder string, texts []Text, in *Space) [][]float32 {
	return x.vectors(encoder, texts, in, func(f *opened) bool { return f.kept != nil })
}

func (x *Index) vectors(encoder string, texts []Text, in *Space, may func(*opened) bool) [][]float32 {
	list := make([][]float32, len(texts))
	err := x.read(func(f *opened) error {
		if !may(f) {
			return nil
		}
		return f.find(encoder, texts, func(i int, b block, at int) {
			v, scale := in.Vector(b.dim), b.scale(at)
			for j, value := range b.row(at) {
				v[j] = float32(int8(value)) * scale
			}
			list[i] = v
		})
	})
	if err != nil {
		clear(list)
	}
	return list
}

// Complete is the instant to which the vectors of an encoder are complete, as who
// filled them said: of all that there was by then, none lacks one. Zero: nobody said
// so of the vectors that there are.
func (x *Index) Complete(encoder string) (at time.Time, err error) {
	err = x.read(func(f *opened) error {
		if f.sets[encoder] != nil {
			at = x.completeness(f)[encoder]
		}
		return nil
	})
	return at, err
}

// Newer reports whether a newer version of the program wrote the file. Then it is left alone, and
// vectors are kept in memory.
func (x *Index) Newer() bool {
	_ = x.read(func(*opened) error { return nil }) // of a file that cannot be read, the next operation tells
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.contents.newer
}

// Changes are what shall have vectors at an instant: all texts, or those that came after an
// earlier instant.
type Changes struct {
	Texts []Text
	Over  []string  // ids that need no vectors any more
	Since time.Time // zero: Texts are all
	To    time.Time // zero: not known
}

// follow reports whether vectors that are complete to an instant are complete to To, with those of
// Texts. Since the instant was asked for, another process may have reset or replaced them, or have
// brought them to a later instant and removed what was over by then.
func (c *Changes) follow(complete time.Time) bool {
	return !c.To.IsZero() && (c.Since.IsZero() || complete.Equal(c.Since))
}

// SetComplete notes to what the vectors of an encoder are complete, if none of the texts
// lacks one and nothing is over. It returns how many do. Where that cannot be written, the next process
// looks at all texts again.
func (x *Index) SetComplete(encoder string, c Changes) (missing int, err error) {
	x.writing.Lock()
	defer x.writing.Unlock()
	err = x.read(func(f *opened) error {
		places, err := f.missing(encoder, c.Texts)
		if missing = len(places); err != nil || missing > 0 || len(c.Over) > 0 || f.sets[encoder] == nil {
			return err
		}
		complete := x.completeness(f)
		if at := complete[encoder]; c.follow(at) && !c.To.Equal(at) {
			complete[encoder] = c.To
			_ = x.describe(f.contents, complete)
		}
		return nil
	})
	if errors.Is(err, ErrDamaged) {
		return len(c.Texts), nil
	}
	return missing, err
}

// Fill encodes those texts that have no vector of this encoder, one at a time and in
// their order, and stores them. It returns how many it encoded. When the context ends,
// what was encoded is stored, so that the next call goes on from there. Else those that
// are over are removed, and the vectors are complete (see [Index.Complete]).
// progress, if not nil, is called after each text.
//
// An error is the encoder's or the context's, or says that the file cannot be read now or
// could not be written. What could not be written serves this process.
func (x *Index) Fill(ctx context.Context, e Encoder, c Changes, progress func(done, missing int)) (int, error) {
	if e.Name() == "" || len(e.Name()) > maxName || e.Dim() < 1 || e.Dim() > maxDim {
		return 0, fmt.Errorf("encoder %.40q with %d values: need a name of 1 to %d bytes and 1 to %d values", e.Name(), e.Dim(), maxName, maxDim)
	}
	var missing []int
	if err := x.read(func(f *opened) (err error) {
		missing, err = f.missing(e.Name(), c.Texts)
		return err
	}); err != nil && !errors.Is(err, ErrDamaged) {
		return 0, err
	}
	added := change{}
	// A killed process loses a second's work, or fifty times what a write takes.
	last, wait := time.Now(), time.Second
	store := func(c *Changes) error {
		start := time.Now()
		err := x.add(e, added, c)
		if err == nil {
			clear(added)
		}
		last, wait = time.Now(), max(time.Second, 50*time.Since(start))
		return err
	}
	for done, i := range missing {
		v, err := e.Encode(ctx, []string{c.Texts[i].Text})
		var one *entry
		if err == nil {
			one, err = quantise(c.Texts[i], v[0], e)
		}
		if err != nil {
			if len(added) > 0 {
				_ = store(nil) // the encoder's error says more
			}
			return done, err
		}
		added[c.Texts[i].ID] = one
		if done < len(missing)-1 && time.Since(last) >= wait {
			_ = store(nil) // else the next time, or in the end
		}
		if progress != nil {
			progress(done+1, len(missing))
		}
	}
	return len(missing), store(&c)
}

// quantise makes a vector one of whole numbers.
func quantise(t Text, v []float32, e Encoder) (*entry, error) {
	if len(t.ID) == 0 || len(t.ID) > maxName || strings.Contains(t.ID, "\n") {
		return nil, fmt.Errorf("text %.40q: need an id of 1 to %d bytes on one line", t.ID, maxName)
	}
	if len(v) != e.Dim() {
		return nil, fmt.Errorf("vector of %s has %d values, those of %s have %d", t.ID, len(v), e.Name(), e.Dim())
	}
	most := 0.0
	for _, f := range v {
		if most = max(most, math.Abs(float64(f))); math.IsNaN(most) || math.IsInf(most, 0) {
			return nil, fmt.Errorf("vector of %s holds %v", t.ID, f)
		}
	}
	out := &entry{id: t.ID, text: t.Hash(), scale: float32(most / 127), row: make([]byte, len(v))}
	if out.scale > 0 {
		for i, f := range v {
			out.row[i] = byte(int8(math.RoundToEven(float64(f) / float64(out.scale))))
		}
	}
	return out, nil
}

// IDs are the ids of all vectors of an encoder.
func (x *Index) IDs(encoder string) (ids map[string]bool, err error) {
	err = x.read(func(f *opened) error {
		ids = map[string]bool{}
		return f.each(f.sets[encoder], func(b block) {
			for i := range b.count {
				ids[b.id(i)] = true
			}
		})
	})
	if errors.Is(err, ErrDamaged) {
		return nil, nil
	}
	return ids, err
}

// EncoderEntries counts the vectors of one encoder.
type EncoderEntries struct {
	Name    string `json:"name"`
	Dim     int    `json:"dim"`
	Entries int    `json:"entries"`
}

// Entries counts the vectors in the file, by encoder.
func (x *Index) Entries() (list []EncoderEntries, err error) {
	err = x.read(func(f *opened) error {
		for _, name := range slices.Sorted(maps.Keys(f.sets)) {
			list = append(list, f.sets[name].EncoderEntries)
		}
		return nil
	})
	return list, err
}

// Path is the file that says for people what there is.
func (x *Index) Path() string { return x.path(describingFile) }
