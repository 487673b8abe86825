package vectors

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"leanctx/internal/atomicfile"
)

// change is vectors by id, which replace those of the same ids. nil: one that goes.
type change map[string]*entry

// newFile is a file of vectors while it is made.
type newFile struct {
	body    []byte
	sets    []*set
	changed bool
}

// rewrite makes a file of the old one, with changes of some encoders' vectors. Blocks that do not change
// are copied as they are.
func rewrite(f *opened, changes map[string]change) (*newFile, error) {
	n, buffer := &newFile{}, []byte(nil)
	names := slices.Collect(maps.Keys(f.sets))
	for name := range changes {
		if f.sets[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		c, old := changes[name], f.sets[name]
		if old == nil {
			old = &set{}
		}
		s := &set{EncoderEntries: EncoderEntries{Name: name, Dim: old.Dim}}
		ids := slices.Sorted(maps.Keys(c))
		for i := range max(1, len(old.Blocks)) {
			var b block
			if len(old.Blocks) > 0 {
				var err error
				if b, err = f.block(old, i, buffer); err != nil {
					return nil, err
				}
				buffer = b.data
			}
			in := len(ids) // how many of them belong into this block
			if i+1 < len(old.Blocks) {
				in, _ = slices.BinarySearch(ids, old.Blocks[i+1].First)
			}
			if in == 0 && b.count > 0 {
				n.put(s, b.id(0), b.count, b.data)
				continue
			}
			var entries []*entry
			for j := range b.count {
				if id := b.id(j); !c.has(id) {
					entries = append(entries, &entry{id, b.text(j), b.scale(j), b.row(j)})
				}
			}
			n.changed = n.changed || len(entries) < b.count
			for _, id := range ids[:in] {
				if e := c[id]; e != nil {
					entries, n.changed, s.Dim = append(entries, e), true, len(e.row)
				}
			}
			n.add(s, entries)
			ids = ids[in:]
		}
		if old.Dim != 0 && old.Dim != s.Dim {
			return nil, ErrDamaged // a name stands for a number of values
		}
		if s.Entries > 0 {
			n.sets = append(n.sets, s)
		}
	}
	return n, nil
}

// add adds entries to a set, in blocks of about the same size.
func (n *newFile) add(s *set, entries []*entry) {
	slices.SortFunc(entries, func(a, b *entry) int { return strings.Compare(a.id, b.id) })
	blocks := max(1, (len(entries)+maxBlock-1)/maxBlock)
	for part := range slices.Chunk(entries, max(1, (len(entries)+blocks-1)/blocks)) {
		n.put(s, part[0].id, len(part), appendBlock(nil, part))
	}
}

func (c change) has(id string) bool { _, ok := c[id]; return ok }

// put adds a block to a set.
func (n *newFile) put(s *set, first string, count int, data []byte) {
	s.Blocks = append(s.Blocks, place{First: first, Count: count, Size: int64(len(data)), CRC: crc32.ChecksumIEEE(data), offset: int64(len(n.body))})
	s.Entries += count
	n.body = append(n.body, data...)
}

// head is what begins the file.
func (n *newFile) head() (c contents, lines []byte) {
	line, _ := json.Marshal(n.sets) // names and numbers
	line = append(line, '\n')
	c = contents{first: firstLine(line), sets: map[string]*set{}}
	lines = append([]byte(c.first+"\n"), line...)
	c.body = int64(len(lines))
	for _, s := range n.sets {
		c.sets[s.Name] = s
	}
	return c, lines
}

// add adds vectors to those that are kept. With changes, these are all of them: then vectors of texts that no longer hold go,
// and it is noted to what the vectors are complete.
func (x *Index) add(e Encoder, added change, c *Changes) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	var n *newFile
	var old contents
	var complete map[string]time.Time
	do := func(f *opened) (err error) {
		old, complete = f.contents, x.completeness(f)
		if f.sets[e.Name()] == nil {
			complete[e.Name()] = time.Time{}
		}
		changed := maps.Clone(added)
		if c != nil && c.follow(complete[e.Name()]) {
			places, err := f.missing(e.Name(), c.Texts)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(places, func(i int) bool { return !added.has(c.Texts[i].ID) }) {
				complete[e.Name()] = c.To
				for _, id := range c.Over { // only now: who set the former instant may need them
					changed[id] = nil
				}
			}
		}
		n, err = rewrite(f, map[string]change{e.Name(): changed})
		return err
	}
	err := x.read(do)
	if errors.Is(err, ErrDamaged) {
		err = x.read(do) // which is absent now
	}
	switch {
	case err != nil:
		return err
	case n.changed:
		return x.write(n, complete)
	case len(n.sets) > 0:
		return x.describe(old, complete)
	}
	return nil
}

// Prune takes the vectors out of the file and of memory whose ids are not kept, whatever encoder made
// them. Then nobody knows to what the others are complete. When it returns no error, no byte of them is
// in the file. A file that cannot be read or written is deleted: it may hold them.
func (x *Index) Prune(keep func(id string) bool) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	x.removeTemporary(0)
	var n *newFile
	err := x.read(func(f *opened) (err error) {
		gone := map[string]change{}
		for name, s := range f.sets {
			gone[name] = change{}
			if err := f.each(s, func(b block) {
				for i := range b.count {
					if id := b.id(i); !keep(id) {
						gone[name][id] = nil
					}
				}
			}); err != nil {
				return err
			}
		}
		if n, err = rewrite(f, gone); err != nil {
			return err
		}
		if n.changed = n.changed || f.memory != nil; !n.changed { // the file may hold more than memory
			return x.describe(f.contents, nil)
		}
		return nil
	})
	if err == nil && len(n.sets) > 0 && (!n.changed || x.write(n, nil) == nil) {
		return nil
	}
	return x.remove()
}

// Reset deletes the files.
func (x *Index) Reset() error {
	x.writing.Lock()
	defer x.writing.Unlock()
	return x.remove()
}

// ErrNewer says that a newer version of the program wrote the file of vectors.
var ErrNewer = errors.New("a newer version of the program wrote them")

// write writes both files. There is no fsync: after a crash of the system the
// vectors are made again.
func (x *Index) write(n *newFile, complete map[string]time.Time) error {
	c, lines := n.head()
	x.mu.Lock()
	newer := x.contents.newer
	x.mu.Unlock()
	err := ErrNewer
	if !newer {
		x.removeTemporary(time.Minute)
		if err = os.MkdirAll(x.dir, 0o700); err == nil {
			err = atomicfile.Write(x.path(vectorFile), atomicfile.Options{}, func(w io.Writer) error {
				_, err := w.Write(lines)
				if err == nil {
					_, err = w.Write(n.body)
				}
				return err
			})
		}
	}
	x.mu.Lock()
	if x.memory = nil; err == nil {
		x.stamp, x.contents, x.kept = nil, contents{}, nil // the file is read when it is needed
	} else {
		c.body = 0
		x.memory = &memory{c, n.body, complete}
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

// readDescription is what a file said.
type readDescription struct {
	stamp os.FileInfo
	description
}

// description reads the description, if it has changed. One that cannot be read says nothing.
func (x *Index) description() (d description) {
	at, err := os.Stat(x.path(describingFile))
	if err != nil {
		return description{}
	}
	if last := x.described.Load(); last != nil && atomicfile.Unchanged(last.stamp, at) {
		return last.description
	}
	data, err := os.ReadFile(x.path(describingFile))
	if err != nil || json.Unmarshal(data, &d) != nil {
		return description{}
	}
	if atomicfile.Settled(at, time.Now()) {
		x.described.Store(&readDescription{at, d})
	}
	return d
}

// describe writes the description of vectors.
func (x *Index) describe(c contents, complete map[string]time.Time) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.memory != nil {
		x.memory.complete = complete
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

// completeness is to what the vectors of each encoder are complete, as far as that is known.
func (x *Index) completeness(f *opened) map[string]time.Time {
	all := map[string]time.Time{}
	if f.memory != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		maps.Copy(all, f.memory.complete)
	} else if d := x.description(); d.Of == f.first {
		for _, e := range d.Encoders {
			all[e.Name] = e.Complete
		}
	}
	return all
}

// remove deletes the files.
func (x *Index) remove() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stamp, x.contents, x.memory, x.kept = nil, contents{}, nil, nil
	x.removeTemporary(0)
	var errs []error
	for _, name := range []string{vectorFile, describingFile} {
		if err := atomicfile.RetryBusy(func() error { return os.Remove(x.path(name)) }); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// removeTemporary removes what writers left behind that were killed so long ago.
func (x *Index) removeTemporary(age time.Duration) {
	root := os.DirFS(x.dir)
	names, _ := fs.Glob(root, atomicfile.Temporary("embeddings.*")) // the pattern is valid
	for _, name := range names {
		if at, err := fs.Stat(root, name); err == nil && time.Since(at.ModTime()) >= age {
			_ = os.Remove(x.path(name)) // else the next writer does it
		}
	}
}
