package vectors

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"leanctx/embed"
)

// Text is a text to be encoded, and the id that its vector is found by.
type Text struct {
	ID   string // of a version of a fact, say
	Text string
}

// hash is the 64-bit FNV-1a hash of the text, the same on every machine. A text
// that changed under its id is encoded again.
func (t Text) hash() uint64 {
	h := uint64(14695981039346656037)
	for i := range len(t.Text) {
		h = (h ^ uint64(t.Text[i])) * 1099511628211
	}
	return h
}

// Index holds the vectors of a project's facts, of one or several encoders, in a
// folder. Several goroutines and processes may use one folder at once: an Index
// looks before each operation whether the file was replaced.
type Index struct {
	dir      string
	inMemory bool

	mu    sync.Mutex
	stamp os.FileInfo        // of the file as it was read; nil: there was none
	newer bool               // a newer version wrote the file: it is left alone
	sets  map[string]*matrix // by the encoder's name; a matrix is never changed
}

// Options of Open. Nil and the zero value work.
type Options struct {
	// LongLived is for a process that asks many questions: the vectors are kept
	// in memory. Otherwise those of a large file stay there.
	LongLived bool
}

// Open returns the index in a folder, which need not exist. Nothing is read
// before the first operation.
func Open(dir string, o *Options) *Index {
	return &Index{dir: dir, inMemory: o != nil && o.LongLived, sets: map[string]*matrix{}}
}

// The limits of what is kept.
const (
	maxName = 255
	maxDim  = 8192
)

// Missing returns the places in texts of those that have no vector of this
// encoder.
func (x *Index) Missing(encoder string, texts []Text) (missing []int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.load()
	m := x.sets[encoder]
	for i, t := range texts {
		if _, ok := m.find(t); !ok {
			missing = append(missing, i)
		}
	}
	return missing
}

// Vector returns the vector of a text, if it has one of this encoder.
func (x *Index) Vector(encoder string, t Text) ([]float32, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.loadWhole()
	m := x.sets[encoder]
	i, ok := m.find(t)
	if !ok {
		return nil, false
	}
	v := make([]float32, m.dim)
	for j, b := range m.row(i) {
		v[j] = float32(int8(b)) * m.scale(i)
	}
	return v, true
}

// Fill encodes those of texts that have no vector of this encoder, one at a time
// and in their order, and stores them. It returns how many it encoded. When the
// context ends, what was encoded is stored, so that the next call goes on from
// there. progress, if not nil, is called after each text.
//
// An error is the encoder's or the context's, or says that the file could not be
// written; then the vectors serve this process.
func (x *Index) Fill(ctx context.Context, e embed.Encoder, texts []Text, progress func(done, missing int)) (int, error) {
	if e.Name() == "" || len(e.Name()) > maxName || e.Dim() < 1 || e.Dim() > maxDim {
		return 0, fmt.Errorf("encoder %.40q with %d values: need a name of 1 to %d bytes and 1 to %d values", e.Name(), e.Dim(), maxName, maxDim)
	}
	missing := x.Missing(e.Name(), texts)
	added := map[string]entry{}
	// A killed process loses a second's work, or fifty times what a write takes.
	last, wait := time.Now(), time.Second
	store := func() error {
		start := time.Now()
		err := x.change(e.Name(), e.Dim(), added, nil)
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
				_ = store() // the encoder's error says more
			}
			return done, err
		}
		added[texts[i].ID] = one
		if time.Since(last) >= wait || done == len(missing)-1 {
			if err := store(); err != nil {
				return done + 1, err
			}
		}
		if progress != nil {
			progress(done+1, len(missing))
		}
	}
	return len(missing), nil
}

// quantise makes a vector one of whole numbers.
func quantise(t Text, v []float32, e embed.Encoder) (entry, error) {
	if len(t.ID) == 0 || len(t.ID) > maxName {
		return entry{}, fmt.Errorf("text %.40q: need an id of 1 to %d bytes", t.ID, maxName)
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
	gone := map[string]bool{}
	for _, id := range ids {
		gone[id] = true
	}
	return x.change("", 0, nil, gone)
}

// Reset deletes the files, those of a newer version too.
func (x *Index) Reset() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.remove()
}

// Status is what an index holds.
type Status struct {
	Path     string // of embeddings.json
	Bytes    int64  // of embeddings.bin
	Encoders []EncoderEntries
	Newer    bool // a newer version wrote the file: nothing is read or written
}

// Count counts the vectors of an encoder whose id is counted.
func (x *Index) Count(encoder string, counts func(id string) bool) (n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.load()
	if m := x.sets[encoder]; m != nil {
		for i := range m.n {
			if counts(string(m.id(i))) {
				n++
			}
		}
	}
	return n
}

// EncoderEntries counts the vectors of one encoder.
type EncoderEntries struct {
	Name    string `json:"name"`
	Dim     int    `json:"dim"`
	Entries int    `json:"entries"`
}

// Status says what is in the file.
func (x *Index) Status() Status {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.load()
	s := Status{Path: filepath.Join(x.dir, describingFile), Encoders: x.entries(), Newer: x.newer}
	if x.stamp != nil {
		s.Bytes = x.stamp.Size()
	}
	return s
}
