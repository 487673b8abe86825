package vectors

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
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

	mu    sync.Mutex
	stamp os.FileInfo        // of the file as it was read; nil: there was none
	sets  map[string]*matrix // by the encoder's name
}

// Open returns the index in a folder, which need not exist. Nothing is read
// before the first operation.
func Open(dir string) *Index { return &Index{dir: dir, sets: map[string]*matrix{}} }

// The limits of what is kept.
const (
	maxName = 255
	maxDim  = 8192
)

// of returns the vectors of an encoder, nil if there are none.
func (x *Index) of(encoder string) *matrix {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.load()
	return x.sets[encoder]
}

// Missing returns the places in texts of those that have no vector of this
// encoder.
func (x *Index) Missing(encoder string, texts []Text) (missing []int) {
	return x.of(encoder).missing(texts)
}

// Complete is the instant to which the vectors of an encoder are complete, as who
// filled them said: of all that there was by then, none lacks one. Zero: nobody said
// so of the vectors that there are.
func (x *Index) Complete(encoder string) time.Time {
	if m := x.of(encoder); m != nil {
		return m.complete
	}
	return time.Time{}
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
	m := x.of(encoder)
	if missing = len(m.missing(texts)); missing == 0 && m != nil {
		_ = x.apply(change{encoder: encoder, dim: m.dim, complete: of, texts: texts})
	}
	return missing
}

// Vector returns the vector of a text of this encoder; nil if it has none.
func (x *Index) Vector(encoder string, t Text) []float32 {
	m := x.of(encoder)
	i, ok := m.find(t)
	if !ok {
		return nil
	}
	v := make([]float32, m.dim)
	for j, b := range m.row(i) {
		v[j] = float32(int8(b)) * m.scales[i]
	}
	return v
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
	return x.apply(change{gone: set(ids)})
}

// Prune is Forget, after which nobody knows to what the vectors are complete.
func (x *Index) Prune(ids ...string) error {
	return x.apply(change{gone: set(ids), doubt: true})
}

func set(ids []string) map[string]bool {
	all := make(map[string]bool, len(ids))
	for _, id := range ids {
		all[id] = true
	}
	return all
}

// Reset deletes the files.
func (x *Index) Reset() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.remove()
}

// IDs are the ids of all vectors, of any encoder.
func (x *Index) IDs() map[string]bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.load()
	ids := map[string]bool{}
	for _, m := range x.sets {
		for _, id := range m.ids {
			ids[id] = true
		}
	}
	return ids
}

// Count counts the vectors of an encoder whose id is counted.
func (x *Index) Count(encoder string, counts func(id string) bool) (n int) {
	if m := x.of(encoder); m != nil {
		for _, id := range m.ids {
			if counts(id) {
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

// Entries counts the vectors in the file, by encoder.
func (x *Index) Entries() []EncoderEntries {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.load()
	return x.entries()
}

// Path is the file that says for people what there is.
func (x *Index) Path() string { return x.path(describingFile) }
