package vectors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"leanctx/internal/atomicfile"
)

// change is what becomes of the file.
type change struct {
	encoder  string           // whose vectors are added; empty: nobody's
	dim      int              // of its vectors
	added    map[string]entry // by id; they replace those with the same ids
	removed  map[string]bool  // ids, of any encoder
	complete Span             // what they are complete of, if each of texts has one
	texts    []Text
	doubt    bool // it is not known to what any encoder's are complete
}

// apply writes the file with a change, if that changes anything.
func (x *Index) apply(c change) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	f := x.open()
	old, err := f.entries()
	f.close() // Windows replaces no file that is open
	if err != nil {
		x.discard(f)
		f.contents = contents{}
	}
	if c.encoder == "" && len(old) == 0 {
		return x.remove()
	}
	complete, changed := x.completeness(f.contents), len(c.added) > 0
	if s := f.sets[c.encoder]; c.encoder != "" && (s == nil || s.Dim != c.dim) {
		old[c.encoder], complete[c.encoder] = nil, time.Time{}
	}
	var sets []*set
	var entries [][]entry
	for _, name := range slices.Sorted(maps.Keys(old)) {
		left := slices.DeleteFunc(slices.Clone(old[name]), func(e entry) bool {
			_, again := c.added[e.id]
			return c.removed[e.id] || again && name == c.encoder
		})
		changed = changed || len(left) < len(old[name])
		dim := c.dim
		if name == c.encoder {
			left = slices.AppendSeq(left, maps.Values(c.added))
		} else {
			dim = f.sets[name].Dim
		}
		if len(left) > 0 {
			sets, entries = append(sets, &set{EncoderEntries: EncoderEntries{Name: name, Dim: dim}}), append(entries, left)
		}
	}
	if c.doubt {
		clear(complete)
	}
	switch {
	case !changed && c.doubt:
		return x.describe(f.contents, complete)
	case !changed:
		return nil
	case len(sets) == 0:
		return x.remove()
	}
	data, made, err := encode(sets, entries)
	if err != nil {
		return err
	}
	if c.complete.follows(complete[c.encoder]) {
		n := &opened{contents: made, from: bytes.NewReader(data)}
		if missing, err := n.missing(c.encoder, c.texts); err == nil && len(missing) == 0 {
			complete[c.encoder] = c.complete.To
		}
	}
	return x.write(data, made, complete)
}

// entries are all vectors, by encoder.
func (f *opened) entries() (map[string][]entry, error) {
	all := map[string][]entry{}
	for name, s := range f.sets {
		if err := f.each(s, func(b block) {
			for i := range b.count {
				all[name] = append(all[name], entry{b.id(i), b.text(i), b.scale(i), b.row(i)})
			}
		}); err != nil {
			return map[string][]entry{}, err
		}
	}
	return all, nil
}

// write writes both files. There is no fsync: after a crash of the system the
// vectors are made again.
func (x *Index) write(data []byte, c contents, complete map[string]time.Time) error {
	err := os.MkdirAll(x.dir, 0o700)
	if err == nil {
		x.files.Lock()
		err = atomicfile.WriteFile(x.path(vectorFile), data, atomicfile.Options{})
		x.files.Unlock()
	}
	x.mu.Lock()
	if x.contents, x.unwritten, x.complete = c, data, complete; err == nil {
		x.stamp, x.contents, x.unwritten, x.complete = nil, contents{}, nil, nil // the file is read when it is needed
	}
	x.mu.Unlock()
	if err != nil {
		return fmt.Errorf("vectors in %s: %w", x.dir, err)
	}
	return x.describe(c, complete)
}

const describingFile = "embeddings.json"

// description is the file that says for people what there is, and to what it is complete. It is
// small, so that moving that instant does not write all vectors.
type description struct {
	Schema   int         `json:"schema"`
	Of       string      `json:"of"` // the first line of the file of vectors: it says nothing of another one
	Encoders []described `json:"encoders"`
}

type described struct {
	EncoderEntries
	Complete time.Time `json:"complete,omitzero"`
}

// describe writes the description of a file of vectors.
func (x *Index) describe(c contents, complete map[string]time.Time) error {
	x.mu.Lock()
	inMemory := x.unwritten != nil
	if inMemory {
		x.complete = complete
	}
	x.mu.Unlock()
	if inMemory {
		return nil
	}
	d := description{Schema: 3, Of: c.first}
	for _, name := range slices.Sorted(maps.Keys(c.sets)) {
		d.Encoders = append(d.Encoders, described{c.sets[name].EncoderEntries, complete[name]})
	}
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(x.path(describingFile), append(data, '\n'), atomicfile.Options{})
}

// completeness is to what the vectors of each encoder are complete, as far as that is known of
// a file with these contents.
func (x *Index) completeness(c contents) map[string]time.Time {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.unwritten != nil {
		return maps.Clone(x.complete)
	}
	all := map[string]time.Time{}
	var d description
	data, err := os.ReadFile(x.path(describingFile))
	if err != nil || json.Unmarshal(data, &d) != nil || d.Of != c.first {
		return all
	}
	for _, e := range d.Encoders {
		all[e.Name] = e.Complete
	}
	return all
}

// remove deletes the files.
func (x *Index) remove() error {
	x.mu.Lock()
	x.stamp, x.contents, x.unwritten = nil, contents{}, nil
	x.mu.Unlock()
	x.files.Lock()
	defer x.files.Unlock()
	var errs []error
	for _, name := range []string{vectorFile, describingFile} {
		if err := os.Remove(x.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
