package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	indexapi "github.com/blevesearch/bleve_index_api"

	"leanctx/knowledge/words"
)

// Options are the options of an index. Nil and zero work.
type Options struct {
	Log *slog.Logger // nil: slog.Default()

	// Most is how many bytes of a value are looked through in memory; 0: all. What is on disk has all.
	Most int
}

// Index answers from the newest generation on disk and from what Apply brought since. It may be used by several
// goroutines at once.
type Index struct {
	dir     string
	options Options
	syncing sync.Mutex   // held by the one call of Sync
	users   atomic.Int32 // beside the one who opened it

	mu       sync.RWMutex
	disk     *generation // nil: there is none
	tail     tail
	size     statistics // of both
	position Position
}

// Open opens the newest generation in dir. Without one, or without dir, the index is empty and at the zero Position.
// A damaged generation is logged, set aside, and as if it were not there.
func Open(dir string, o *Options) (*Index, error) {
	x := &Index{dir: dir, tail: tail{}}
	if o != nil {
		x.options = *o
	}
	if x.options.Log == nil {
		x.options.Log = slog.Default()
	}
	g, err := newest(dir, &x.options)
	if err != nil {
		return nil, err
	}
	if g != nil {
		x.disk, x.position, x.size = g, g.Position, g.Size
	}
	return x, nil
}

// Exists reports whether there is a generation in dir.
func Exists(dir string) bool {
	names, err := generations(dir)
	return err == nil && len(names) > 0
}

// Blocked says what keeps an index from being kept in a directory that is there: it is none, or cannot be read.
func Blocked(dir string) error {
	if _, err := os.Lstat(dir); err != nil {
		return nil // it is made when it is needed
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return &fs.PathError{Op: "open", Path: dir, Err: errors.New("not a directory")}
	}
	f, err := os.Open(dir)
	if err == nil {
		err = f.Close()
	}
	return err
}

// Fork is an index of its own on the generation that x has on disk, without what Apply brought.
func (x *Index) Fork() *Index {
	x.mu.RLock()
	defer x.mu.RUnlock()
	y := &Index{dir: x.dir, options: x.options, tail: tail{}, disk: x.disk}
	if y.disk != nil {
		y.disk.forks.Add(1)
		y.position, y.size = y.disk.Position, y.disk.Size
	}
	return y
}

// Share is x for one more user, who closes it as well.
func (x *Index) Share() *Index {
	x.users.Add(1)
	return x
}

// Close closes the files after the last user. Who has called it must not use the index any more.
func (x *Index) Close() error {
	if x.users.Add(-1) >= 0 {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	g := x.disk
	x.disk = nil
	return g.close()
}

// Position is the commit that the index stands at: later commits are to be applied.
func (x *Index) Position() Position {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.position
}

// Extra is what is stored beside the facts of the generation on disk; nil if there is none.
func (x *Index) Extra() []byte {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.disk == nil {
		return nil
	}
	return x.disk.extra
}

// OnDisk reports whether there is a generation on disk, and at which commit.
func (x *Index) OnDisk() (Position, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.disk == nil {
		return Position{}, false
	}
	return x.disk.Position, true
}

// Pending is how many facts are held in memory only.
func (x *Index) Pending() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.tail)
}

// Apply brings the index to a later commit: changed are the facts that changed up to there, removed the IDs of those
// that are gone.
func (x *Index) Apply(to Position, changed []Doc, removed []string) error {
	cut := make([]*tailDoc, len(changed))
	for i := range changed {
		cut[i] = analyse(&changed[i], x.options.Most)
	}
	for _, id := range removed {
		cut = append(cut, &tailDoc{Doc: Doc{ID: id}, removed: true})
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	err := x.read(func() (err error) {
		for _, d := range cut {
			if d.onDisk, err = x.disk.holds(d.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, d := range cut {
		d.seq = to.Seq
		x.tail[d.ID] = d
	}
	x.position = to
	x.count()
	return nil
}

// count counts what disk and memory hold together.
func (x *Index) count() {
	x.size = statistics{}
	if x.disk != nil {
		x.size = x.disk.Size
	}
	for _, d := range x.tail {
		if d.onDisk {
			x.size.replace()
		}
		if !d.removed {
			x.size.add(d)
		}
	}
}

// Reload switches to the newest generation on disk. What that holds is dropped from memory.
func (x *Index) Reload() error {
	g, err := newest(x.dir, &x.options)
	if err != nil || g == nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	old := x.disk
	if old != nil && old.Position.Seq > g.Position.Seq {
		return g.close() // the newer one was damaged meanwhile; the one in use is as new
	}
	x.disk = g
	err = x.read(func() (err error) {
		for id, d := range x.tail {
			if d.seq <= g.Position.Seq {
				delete(x.tail, id)
			} else if d.onDisk, err = g.holds(id); err != nil {
				return err
			}
		}
		return nil
	})
	if x.position.Seq < g.Position.Seq {
		x.position = g.Position
	}
	x.count()
	return errors.Join(err, old.close())
}

// Count is how many facts there are.
func (x *Index) Count() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.size.Docs
}

// Length is how many terms a field of a fact has on average, stop words left out.
func (x *Index) Length(f Field) float64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return float64(x.size.Content[f]) / float64(max(1, x.size.Docs))
}

// Fact is what is stored of the fact with a name, category/key, folded; nil if there is none.
func (x *Index) Fact(_ context.Context, id string) (text []byte, err error) {
	err = x.view(func() (err error) {
		text, err = x.fact(id)
		return err
	})
	return text, err
}

func (x *Index) fact(id string) ([]byte, error) {
	if d, ok := x.tail[id]; ok {
		return d.stored()
	}
	return x.disk.stored(id, storedField)
}

// Named lists the IDs of the facts with a key, category/key or alias, folded, in order.
func (x *Index) Named(ctx context.Context, name string) ([]string, error) {
	return x.exactly(ctx, nameField, name, func(d *tailDoc) bool { return slices.Contains(d.names, name) })
}

// Hashed lists the IDs of the facts with a current value of this hash, in order.
func (x *Index) Hashed(ctx context.Context, hash string) ([]string, error) {
	return x.exactly(ctx, hashField, hash, func(d *tailDoc) bool { return slices.Contains(d.hashes(), hash) })
}

// Holding lists the IDs of the facts with a current version of this id: one, or none.
func (x *Index) Holding(ctx context.Context, version string) ([]string, error) {
	return x.exactly(ctx, hashField, versionTerm(version), func(d *tailDoc) bool { return slices.Contains(d.Versions, version) })
}

// InRoom lists the IDs of the facts of a category, folded, in order.
func (x *Index) InRoom(ctx context.Context, category string) ([]string, error) {
	return x.exactly(ctx, categoryField, category, func(d *tailDoc) bool { return words.FoldName(d.Category) == category })
}

// exactly lists the IDs of the facts that hold a term in a keyword field.
func (x *Index) exactly(ctx context.Context, field, term string, holds func(*tailDoc) bool) (ids []string, err error) {
	err = x.view(func() error {
		for id, d := range x.tail {
			if !d.removed && holds(d) {
				ids = append(ids, id)
			}
		}
		err := x.disk.each(ctx, field, term, func(id string) {
			if _, replaced := x.tail[id]; !replaced {
				ids = append(ids, id)
			}
		})
		slices.Sort(ids)
		return err
	})
	return ids, err
}

// view runs f while nothing changes.
func (x *Index) view(f func() error) error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.read(f)
}

// read runs f, under either lock. If f fails, the files are checked again: only if they changed is the generation
// damaged.
func (x *Index) read(f func() error) error {
	err := f()
	if err == nil || x.disk == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	why := x.disk.check()
	if why == nil || !exists(x.disk.path) {
		return err
	}
	x.options.setAside(x.disk.path, why)
	return fmt.Errorf("%w: %w", ErrDamaged, why)
}

// view gives call a reader of the generation. Nothing but calls of the library runs in it.
func (g *generation) view(call func(r indexapi.IndexReader) error) error {
	return guard(func() (err error) {
		x, err := g.bleve.Advanced()
		if err != nil {
			return err
		}
		r, err := x.Reader()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		return call(r)
	})
}

// holds reports whether a generation has a document with this ID.
func (g *generation) holds(id string) (held bool, err error) {
	if g == nil {
		return false, nil
	}
	err = g.view(func(r indexapi.IndexReader) error {
		got, err := r.InternalID(id)
		held = len(got) > 0
		return err
	})
	return held, err
}

// stored is a stored field of a document; nil if there is none.
func (g *generation) stored(id, field string) (value []byte, err error) {
	if g == nil {
		return nil, nil
	}
	err = guard(func() error {
		d, err := g.bleve.Document(id)
		if err != nil || d == nil {
			return err
		}
		d.VisitFields(func(f indexapi.Field) {
			if f.Name() == field {
				value = slices.Clone(f.Value())
			}
		})
		return nil
	})
	return value, err
}

// each gives do the IDs of the documents that hold a term in a field.
func (g *generation) each(ctx context.Context, field, term string, do func(id string)) error {
	if g == nil {
		return nil
	}
	var ids []string
	err := g.view(func(r indexapi.IndexReader) (err error) {
		t, err := r.TermFieldReader(ctx, []byte(term), field, false, false, false)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, t.Close()) }()
		for {
			d, err := t.Next(nil)
			if err != nil || d == nil {
				return err
			}
			id, err := r.ExternalID(d.ID)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
	})
	for _, id := range ids {
		do(id)
	}
	return err
}

// frequency is how many documents hold a term in a field.
func frequency(ctx context.Context, r indexapi.IndexReader, field, term string) (int, error) {
	t, err := r.TermFieldReader(ctx, []byte(term), field, false, false, false)
	if err != nil {
		return 0, err
	}
	n := t.Count()
	return int(n), t.Close()
}
