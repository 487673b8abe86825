// Package vectors keeps the vectors of a project's facts in a cache of two
// files, and scans all of them for each question.
//
// # Exact
//
// The scan looks at every vector. An approximate index was rejected: at 100,000
// facts the scan takes some ten milliseconds on two processors, and the graphs
// that were tried found a fifth of what is there. So was a first look at one bit
// a value: among real texts its best 2,000 of 70,000 hold all of the ten nearest,
// among texts that resemble each other nine of them. Assembly and the simd
// experiment were rejected for now: they gain a factor of four at a size that is
// rare.
//
// # Cold and warm
//
// A process that lives on keeps all values in memory, and a table by which a
// vector is found by its ID. A command has one question: it reads what the vectors
// are of, and lets the values run through a small buffer for each processor, since
// to get 26 MB of memory from the system takes longer than to read as much from
// its cache. Of IDs it only has to know which stand there twice, which a bitmap of
// their hashes tells: the table took 8 of the 77 ms of a question at 100,000 facts.
// Its scan begins before the words are looked for and goes on beside that, see
// [Index.Compare].
//
// To leave most vectors after a part of their values, with the rest bounded by its
// length, was rejected: of the facts that bench makes, the first 64 of 256 values hold
// .41 of the square length, so that the bound of the rest is wider than what
// tells near from far.
package vectors

import (
	"context"
	"fmt"
	"math"
	"sync"

	"leanctx/embed"
)

// Key says what a vector is of: a version of a fact, and the words that were
// encoded for it. A version whose words changed, by a new alias say, has no
// vector until it is encoded again.
type Key struct {
	ID   string // the version's, as the store gave it
	Text uint64 // HashText of what was encoded
}

// HashText is the 64-bit FNV-1a hash of a text, the same on every machine.
func HashText(text string) uint64 {
	hash := uint64(14695981039346656037)
	for i := range len(text) {
		hash = (hash ^ uint64(text[i])) * 1099511628211
	}
	return hash
}

// Index holds the vectors of a project's facts, of one or several encoders, in
// a folder: embeddings.bin, and embeddings.json, which says what is in it.
//
// It is a cache. What cannot be read counts as absent: a file that is missing,
// cut off, damaged, of a newer version, or of other encoders. Vectors are found
// under the name of the encoder that made them only, so that no cosine is ever
// taken across two. The file may be deleted at any time, and any number of
// processes may read and write it at once: an Index looks at the file before
// each operation and reads what is new. Nothing is held open between.
//
// We append blocks that carry a checksum each, and write without a lock: two
// blocks appended at once stand one after the other, and bytes that are no
// block are skipped. A rewrite, by rename, may lose what another process
// appended meanwhile; it is encoded again. A database or a lock was rejected:
// nothing here is worth waiting for.
//
// An Index may be used by several goroutines.
type Index struct {
	dir     string
	lasting bool // all values are kept in memory

	mu    sync.RWMutex
	stamp stamp             // of the file as it was read
	newer bool              // a newer version wrote the files: they are left alone
	waste int               // bytes of the file that are no block
	sets  map[string]*shelf // by the encoder's name
	local []*block          // what could not be written
}

// Options tunes Open. Nil and the zero value work.
type Options struct {
	// LongLived is for a process that asks many questions: it reads all vectors
	// for the first one and keeps them in memory. Otherwise the values of a
	// large index stay in the file, and each question lets them run through a
	// buffer: to ask for that much memory takes longer than to read it.
	LongLived bool
}

// Open gives the index in a folder, which need not exist. Nothing is read
// before the first operation.
func Open(dir string, o *Options) *Index {
	return &Index{dir: dir, lasting: o != nil && o.LongLived, sets: map[string]*shelf{}}
}

// Put stores the vectors of an encoder, one a key, which replace what its
// earlier vectors of these IDs were. A vector is kept as whole numbers from
// -127 to 127 and a scale, which costs no measurable precision.
//
// An error says that a vector does not fit the encoder, and nothing was
// stored; or that the file could not be written: then they serve this process.
func (x *Index) Put(ctx context.Context, e embed.Encoder, keys []Key, vectors [][]float32) error {
	if err := checkVectors(e, keys, vectors); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.refresh()
	var failed error
	for from := 0; from < len(keys); from += blockRows {
		to := min(from+blockRows, len(keys))
		b := newBlock(e.Name(), e.Dim(), keys[from:to])
		for i, v := range vectors[from:to] {
			b.set(i, v)
		}
		data := b.seal()
		if err := ctx.Err(); err != nil {
			return err
		}
		if failed == nil && !x.newer {
			failed = x.append(data)
		}
		if failed != nil || x.newer {
			x.local = append(x.local, b)
			x.add(b)
		}
	}
	if failed == nil && !x.newer {
		x.refresh()
		if x.crowded() {
			failed = x.rewrite(func(string, Key) bool { return true })
		} else {
			failed = x.writeHeader()
		}
	}
	if failed != nil {
		return fmt.Errorf("vectors in %s: %w", x.path(), failed)
	}
	return nil
}

// checkVectors says what is wrong with the arguments of Put.
func checkVectors(e embed.Encoder, keys []Key, vectors [][]float32) error {
	if len(keys) != len(vectors) {
		return fmt.Errorf("%d keys and %d vectors", len(keys), len(vectors))
	}
	if len(e.Name()) == 0 || len(e.Name()) > maxName || e.Dim() <= 0 || e.Dim() > maxDim {
		return fmt.Errorf("encoder %.40q with %d values: need a name of 1 to %d bytes and 1 to %d values", e.Name(), e.Dim(), maxName, maxDim)
	}
	for i, v := range vectors {
		if len(keys[i].ID) == 0 || len(keys[i].ID) > maxName {
			return fmt.Errorf("key %.40q: need an id of 1 to %d bytes", keys[i].ID, maxName)
		}
		if len(v) != e.Dim() {
			return fmt.Errorf("vector of %s has %d values, those of %s have %d", keys[i].ID, len(v), e.Name(), e.Dim())
		}
		for _, f := range v {
			if f != f || math.IsInf(float64(f), 0) {
				return fmt.Errorf("vector of %s holds %v", keys[i].ID, f)
			}
		}
	}
	return nil
}

// Missing gives the places in keys whose vector of this encoder is not here, in
// order.
func (x *Index) Missing(encoder string, keys []Key) []int {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.whole()
	var missing []int
	for i, k := range keys {
		if _, _, ok := x.sets[encoder].find(k); !ok {
			missing = append(missing, i)
		}
	}
	return missing
}

// Vector gives the vector of an encoder for a key, to compare a fact with
// others.
func (x *Index) Vector(encoder string, k Key) ([]float32, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.whole()
	b, i, ok := x.sets[encoder].find(k)
	if !ok {
		return nil, false
	}
	v := make([]float32, b.dim)
	for j := range v {
		v[j] = float32(float32(int8(b.row(i)[j])) * b.scale(i))
	}
	return v, true
}

// Forget takes the vectors of these IDs out of the file and of memory, whatever
// encoder made them. When it gives no error, no byte of them is left there. A
// file that cannot be read is deleted: it might hold them. A process that is
// putting them at the same moment may put them back; Prune takes those out.
func (x *Index) Forget(ids ...string) error {
	gone := make(map[string]bool, len(ids))
	for _, id := range ids {
		gone[id] = true
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.whole()
	if x.newer || len(x.sets) == 0 {
		return x.reset()
	}
	held := x.waste > 0
	for _, s := range x.sets {
		for _, b := range s.blocks {
			for i := range b.n {
				held = held || gone[string(b.idBytes(i))]
			}
		}
	}
	if !held {
		return nil
	}
	if err := x.rewrite(func(_ string, k Key) bool { return !gone[k.ID] }); err != nil {
		return fmt.Errorf("vectors in %s: %w", x.path(), err)
	}
	return nil
}

// Prune takes out what keep refuses, such as facts that are no more and
// encoders that were replaced, and joins what was appended bit by bit.
func (x *Index) Prune(keep func(encoder string, k Key) bool) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.whole()
	if x.newer {
		return nil
	}
	if err := x.rewrite(keep); err != nil {
		return fmt.Errorf("vectors in %s: %w", x.path(), err)
	}
	return nil
}

// Reset deletes the files, those of a newer version too. A missing folder is
// fine.
func (x *Index) Reset() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.reset()
}

// Status is what an index holds.
type Status struct {
	Path     string           // of embeddings.json
	Bytes    int64            // of embeddings.bin
	Encoders []EncoderEntries // by name
	Newer    bool             // a newer version wrote the files: nothing is read or written
	Waste    int              // bytes of the file that are no vectors
}

// EncoderEntries counts the vectors of one encoder.
type EncoderEntries struct {
	Name    string `json:"name"`
	Dim     int    `json:"dim"`
	Entries int    `json:"entries"`
}

// Status looks at the files and says what is there.
func (x *Index) Status() Status {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.refresh()
	return Status{Path: x.path(), Bytes: x.stamp.size, Encoders: x.entries(), Newer: x.newer, Waste: x.waste}
}
