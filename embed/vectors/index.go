package vectors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// An Encoder turns texts into vectors whose dot product says how close two
// texts are in meaning.
//
// A vector is a function of its text alone: the same text gives the same vector
// whatever stands beside it in the call, and whichever process asks. Texts may
// hold anything, invalid UTF-8 included; a text without meaning to the encoder
// (empty, only unknown characters) gives the zero vector, whose cosine to
// everything is 0.
type Encoder interface {
	// Encode gives one vector a text, in order, each of Dim values and of
	// length 1, or the zero vector. The context is checked between texts; when
	// it ends, its error is given and no vector.
	Encode(ctx context.Context, texts []string) ([][]float32, error)
	// Knows reports whether a text holds a word that means something to the encoder.
	Knows(text string) bool
	// Name tells vectors of one encoder from those of another: model, size and
	// a part of the checksum of its weights. Vectors of two names must never
	// meet in one cosine.
	Name() string
	// Dim is the number of values of a vector.
	Dim() int
}

// Text is a text to be encoded, and the id that its vector is found by.
type Text struct {
	ID   string // of a version of a fact, say; it holds no line feed
	Text string
}

// hash is the 64-bit FNV-1a hash of the text, the same on every machine. A text
// that changed under its id is encoded again.
func (t Text) hash() uint64 {
	h := fnv.New64a()
	io.WriteString(h, t.Text)
	return h.Sum64()
}

// Index holds the vectors of a project's facts, of one or several encoders, in a
// folder. Several goroutines and processes may use one folder at once: an Index
// looks before each operation whether the file was replaced.
type Index struct {
	dir string

	writing sync.Mutex   // held while the files are written
	files   sync.RWMutex // held by readers while the file is open: Windows replaces and deletes no open file

	mu        sync.Mutex
	stamp     os.FileInfo          // of the file whose beginning was read; nil: there was none
	contents  contents             // of the file, or of unwritten
	unwritten []byte               // a file that could not be written: it serves this process
	complete  map[string]time.Time // what belongs to unwritten
}

// Open returns the index in a folder, which need not exist. Nothing is read
// before the first operation.
func Open(dir string) *Index { return &Index{dir: dir} }

// The limits of what is kept.
const (
	maxName = 255
	maxDim  = 8192
)

// open opens the file. What cannot be read counts as absent.
func (x *Index) open() *opened {
	x.files.RLock()
	x.mu.Lock()
	defer x.mu.Unlock()
	var file *os.File
	if at, err := os.Stat(x.path(vectorFile)); err == nil && at.Mode().IsRegular() { // opening a pipe waits until somebody writes to it
		file, _ = os.Open(x.path(vectorFile))
	}
	var info os.FileInfo
	if file != nil {
		info, _ = file.Stat()
	}
	switch old := x.stamp; {
	case info == nil && old != nil:
		x.stamp, x.contents, x.unwritten = nil, contents{}, nil
	case info != nil && !sameFile(old, info):
		x.stamp, x.unwritten = info, nil
		x.contents, _ = readContents(file, info.Size())
	}
	f := &opened{contents: x.contents, from: file, stamp: info, close: sync.OnceFunc(func() {
		_ = file.Close() // it was only read; there may be none
		x.files.RUnlock()
	})}
	if x.unwritten != nil {
		f.from = bytes.NewReader(x.unwritten)
	}
	return f
}

// read opens the file for f. If f finds it damaged, the file counts as absent.
func (x *Index) read(f func(*opened) error) error {
	file := x.open()
	defer file.close()
	err := f(file)
	if errors.Is(err, ErrDamaged) {
		file.close()
		x.discard(file)
	}
	return err
}

// discard has a damaged file, which is closed, count as absent. It is deleted, because other processes
// may not read the damaged part before they find the file complete.
func (x *Index) discard(damaged *opened) {
	x.mu.Lock()
	if x.contents.first == damaged.first {
		x.contents, x.unwritten = contents{}, nil
	}
	x.mu.Unlock()
	x.files.Lock()
	defer x.files.Unlock()
	if info, err := os.Stat(x.path(vectorFile)); err == nil && sameFile(damaged.stamp, info) {
		_ = os.Remove(x.path(vectorFile)) // else this process alone knows
	}
}

// sameFile reports whether a file was not replaced. old may be nil.
func sameFile(old, now os.FileInfo) bool {
	return old != nil && os.SameFile(old, now) && old.Size() == now.Size() && old.ModTime().Equal(now.ModTime())
}

func (x *Index) path(name string) string { return filepath.Join(x.dir, name) }

// Missing returns the places in texts of those that have no vector of this
// encoder.
func (x *Index) Missing(encoder string, texts []Text) (missing []int) {
	_ = x.read(func(f *opened) (err error) {
		missing, err = f.missing(encoder, texts) // of a damaged file all
		return err
	})
	return missing
}

// Vectors returns the vectors of texts of this encoder, each nil if it has none.
func (x *Index) Vectors(encoder string, texts []Text) [][]float32 {
	list := make([][]float32, len(texts))
	err := x.read(func(f *opened) error {
		return f.find(encoder, texts, func(i int, b block, at int) {
			list[i] = make([]float32, b.dim)
			for j, value := range b.row(at) {
				list[i][j] = float32(int8(value)) * b.scale(at)
			}
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
func (x *Index) Complete(encoder string) time.Time {
	f := x.open()
	defer f.close()
	if f.sets[encoder] == nil {
		return time.Time{}
	}
	return x.completeness(f.contents)[encoder]
}

// Span says which texts are given: all that there are at an instant, or those of them
// that came after an earlier one.
type Span struct {
	Since time.Time // zero: all
	To    time.Time // zero: it is not known which
}

// follows reports whether vectors that are complete to an instant are complete to the
// end of the span with those of its texts. They may have been reset since it was found.
func (s Span) follows(complete time.Time) bool {
	return !s.To.IsZero() && !complete.Before(s.Since)
}

// SetComplete notes to what the vectors of an encoder are complete, if none of texts
// lacks one. It returns how many do. Where that cannot be written, the next process
// looks at all texts again.
func (x *Index) SetComplete(encoder string, texts []Text, of Span) (missing int) {
	x.writing.Lock()
	defer x.writing.Unlock()
	_ = x.read(func(f *opened) error {
		places, err := f.missing(encoder, texts)
		if missing = len(places); missing > 0 || f.sets[encoder] == nil {
			return err
		}
		complete := x.completeness(f.contents)
		if at := complete[encoder]; of.follows(at) && !of.To.Equal(at) {
			complete[encoder] = of.To
			return x.describe(f.contents, complete)
		}
		return nil
	})
	return missing
}

// Fill encodes those of texts that have no vector of this encoder, one at a time
// and in their order, and stores them. It returns how many it encoded. When the
// context ends, what was encoded is stored, so that the next call goes on from
// there. Else the vectors are complete to the end of a span (see [Index.Complete]).
// progress, if not nil, is called after each text.
//
// An error is the encoder's or the context's, or says that the file could not be
// written; then the vectors serve this process.
func (x *Index) Fill(ctx context.Context, e Encoder, texts []Text, of Span, progress func(done, missing int)) (int, error) {
	if e.Name() == "" || len(e.Name()) > maxName || e.Dim() < 1 || e.Dim() > maxDim {
		return 0, fmt.Errorf("encoder %.40q with %d values: need a name of 1 to %d bytes and 1 to %d values", e.Name(), e.Dim(), maxName, maxDim)
	}
	missing := x.Missing(e.Name(), texts)
	added := map[string]entry{}
	// A killed process loses a second's work, or fifty times what a write takes.
	last, wait := time.Now(), time.Second
	store := func(complete Span) error {
		start := time.Now()
		err := x.apply(change{encoder: e.Name(), dim: e.Dim(), added: added, complete: complete, texts: texts})
		clear(added)
		last, wait = time.Now(), max(time.Second, 50*time.Since(start))
		return err
	}
	for done, i := range missing {
		v, err := e.Encode(ctx, []string{texts[i].Text})
		var one entry
		if err == nil {
			one, err = quantise(texts[i], v[0], e)
		}
		if err != nil {
			if len(added) > 0 {
				_ = store(Span{}) // the encoder's error says more
			}
			return done, err
		}
		added[texts[i].ID] = one
		if done == len(missing)-1 {
			err = store(of)
		} else if time.Since(last) >= wait {
			err = store(Span{})
		}
		if err != nil {
			return done + 1, err
		}
		if progress != nil {
			progress(done+1, len(missing))
		}
	}
	return len(missing), nil
}

// quantise makes a vector one of whole numbers.
func quantise(t Text, v []float32, e Encoder) (entry, error) {
	if len(t.ID) == 0 || len(t.ID) > maxName || strings.Contains(t.ID, "\n") {
		return entry{}, fmt.Errorf("text %.40q: need an id of 1 to %d bytes on one line", t.ID, maxName)
	}
	if len(v) != e.Dim() {
		return entry{}, fmt.Errorf("vector of %s has %d values, those of %s have %d", t.ID, len(v), e.Name(), e.Dim())
	}
	most := 0.0
	for _, f := range v {
		if most = max(most, math.Abs(float64(f))); math.IsNaN(most) || math.IsInf(most, 0) {
			return entry{}, fmt.Errorf("vector of %s holds %v", t.ID, f)
		}
	}
	out := entry{id: t.ID, text: t.hash(), scale: float32(most / 127), row: make([]byte, len(v))}
	if out.scale > 0 {
		for i, f := range v {
			out.row[i] = byte(int8(math.RoundToEven(float64(f) / float64(out.scale))))
		}
	}
	return out, nil
}

// Forget takes the vectors with these ids out of the file and of memory, whatever
// encoder made them. When it returns no error, no byte of them is in the file. A
// file that cannot be read is deleted: it might hold them.
func (x *Index) Forget(ids ...string) error {
	return x.apply(change{removed: idSet(ids)})
}

// Prune is Forget, after which nobody knows to what the vectors are complete.
func (x *Index) Prune(ids ...string) error {
	return x.apply(change{removed: idSet(ids), doubt: true})
}

func idSet(ids []string) map[string]bool {
	all := make(map[string]bool, len(ids))
	for _, id := range ids {
		all[id] = true
	}
	return all
}

// Reset deletes the files.
func (x *Index) Reset() error {
	x.writing.Lock()
	defer x.writing.Unlock()
	return x.remove()
}

// IDs are the ids of all vectors, of any encoder.
func (x *Index) IDs() map[string]bool {
	ids := map[string]bool{}
	_ = x.read(func(f *opened) error {
		for _, s := range f.sets {
			if err := f.each(s, func(b block) {
				for i := range b.count {
					ids[b.id(i)] = true
				}
			}); err != nil {
				return err
			}
		}
		return nil
	})
	return ids
}

// Count counts the vectors of an encoder whose id is counted.
func (x *Index) Count(encoder string, counts func(id string) bool) (n int) {
	err := x.read(func(f *opened) error {
		return f.each(f.sets[encoder], func(b block) {
			for i := range b.count {
				if counts(b.id(i)) {
					n++
				}
			}
		})
	})
	if err != nil {
		return 0
	}
	return n
}

// EncoderEntries counts the vectors of one encoder.
type EncoderEntries struct {
	Name    string `json:"name"`
	Dim     int    `json:"dim"`
	Entries int    `json:"entries"`
}

// Entries counts the vectors in the file, by encoder.
func (x *Index) Entries() (list []EncoderEntries) {
	f := x.open()
	defer f.close()
	for _, name := range slices.Sorted(maps.Keys(f.sets)) {
		list = append(list, f.sets[name].EncoderEntries)
	}
	return list
}

// Path is the file that says for people what there is.
func (x *Index) Path() string { return x.path(describingFile) }
