package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"leanctx/knowledge/search/blocks"
	"leanctx/knowledge/search/segment"
)

// Slice is the facts that come next into a generation in the making.
type Slice struct {
	Generation        // what the facts are complete to, all of them
	Docs       []Doc  // in an order that stays
	Last       string // where in it they end
	Done       bool   // nothing comes after them
}

// growEach is how many facts are written at a time: what is lost when it is ended in the middle.
const growEach = 8_000

// partName is the generation in the making.
var partName = fmt.Sprintf("part-m%d", mappingVersion)

// growing is its header. At is the recorded time of the first slice: what later slices have beyond it comes once more
// from what was recorded since.
type growing struct {
	header
	Last string `json:"last"` // where the last slice ended
	Done bool   `json:"done"`
	Made int    `json:"made"` // the number of the last segment
}

// Grow makes a generation of all facts, a slice at a time, and goes on where another Grow ended, of this or any other
// process; one that is killed leaves what it had written. more gives the facts that come after a place, at most so
// many; a place of "" is before all. done tells that there is a generation of all facts, also one that another process made.
// It is false when ctx ended before, and while another process is at it; neither is an error.
func (x *Index) Grow(ctx context.Context, more func(after string, most int) (Slice, error)) (done bool, err error) {
	t := x.Begin(Generation{})
	if t == nil {
		return false, nil
	}
	defer x.end()
	defer guard(&err)
	if err := os.MkdirAll(x.dir, 0o700); err != nil {
		return false, err
	}
	unlock, held, err := lock(filepath.Join(x.dir, lockName))
	if err != nil || !held {
		return false, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	p, err := x.part()
	if err != nil {
		return false, err
	}
	var took time.Duration // by the last slice
	for !p.grown.Done {
		if end, ok := ctx.Deadline(); ctx.Err() != nil || ok && time.Until(end) < took {
			return false, nil
		}
		began := time.Now()
		s, err := more(p.grown.Last, growEach)
		if err != nil {
			return false, err
		}
		if g, _ := openNewest(x.dir); g != nil && g.header.Epoch == s.Epoch {
			return true, x.take(g)
		}
		if p.grown.Epoch != s.Epoch && p.grown.Last != "" {
			if p, err = x.newPart(); err != nil {
				return false, err
			}
			continue
		}
		if err := p.add(context.WithoutCancel(ctx), s); err != nil {
			return false, err
		}
		took = time.Since(began)
	}
	g, err := x.ripen(ctx, p)
	if err != nil {
		return false, err
	}
	err = x.take(g)
	x.sweep(g.number)
	return true, err
}

// take reads from a generation that holds all facts from now on; what is in memory goes on hiding what it has of it.
func (x *Index) take(g *generation) error {
	return x.adopt(g, &Tail{index: x})
}

// part is the generation in the making, a new one where there is none that is good.
func (x *Index) part() (*partial, error) {
	p := &partial{index: x, dir: filepath.Join(x.dir, partName)}
	body, err := readSummed(filepath.Join(p.dir, headerName))
	if err == nil && json.Unmarshal(body, &p.grown) == nil && p.open() == nil {
		return p, nil
	}
	return x.newPart()
}

func (x *Index) newPart() (*partial, error) {
	p := &partial{index: x, dir: filepath.Join(x.dir, partName)}
	if err := os.RemoveAll(p.dir); err != nil {
		return nil, err
	}
	if err := x.fails("mkdir", p.dir); err != nil {
		return nil, err
	}
	return p, os.Mkdir(p.dir, 0o700)
}

// partial is a generation in the making.
type partial struct {
	index *Index
	dir   string
	grown growing
}

// open looks at what is there: the lengths of the segments at least must be right; the rest is seen when a
// search reads it.
func (p *partial) open() error {
	for _, f := range p.grown.Segments {
		info, err := os.Stat(filepath.Join(p.dir, f.Name))
		if err != nil {
			return err
		}
		if info.Size() != int64(f.Size) {
			return ErrDamaged
		}
	}
	return nil
}

// add writes a slice as a segment.
func (p *partial) add(ctx context.Context, s Slice) error {
	g := &p.grown
	if g.Last == "" && len(g.Segments) == 0 {
		g.header = header{Mapping: mappingVersion, At: s.At, Epoch: s.Epoch}
	}
	b := p.write(ctx, s.Docs)
	if b.err != nil {
		return fmt.Errorf("write an index generation: %w", b.err)
	}
	g.Lengths.Add(b.header.Lengths)
	g.Segments = append(g.Segments, b.header.Segments...)
	g.Last, g.Done, g.Made = s.Last, s.Done, b.made
	return p.note()
}

type written struct {
	*builder
	err error
}

func (p *partial) write(ctx context.Context, docs []Doc) written {
	b := &builder{dir: p.dir, made: p.grown.Made, fails: p.index.fails}
	// What a writer left that was ended before it noted it.
	if err := os.Remove(b.path(segmentName(b.made + 1))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return written{b, err}
	}
	m := newMaker()
	for from := 0; from < len(docs); from += growEach / 2 {
		m.start(docs[from:min(from+growEach/2, len(docs))])
	}
	err := b.add(ctx, m.finish())
	if err == nil {
		err = b.finish()
	}
	return written{b, err}
}

// note writes down what there is. It needs no fsync: files that did not reach the disk are found out by their checksums.
func (p *partial) note() error {
	body, err := json.Marshal(p.grown)
	if err != nil {
		return err
	}
	path := filepath.Join(p.dir, headerName)
	if err := p.index.fails("create", path); err != nil {
		return err
	}
	if err := writeSummed(path+".new", body); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// ripen makes a generation of what has grown; until it has its name the parts stay.
func (x *Index) ripen(ctx context.Context, p *partial) (*generation, error) {
	b, err := x.builder(p.grown.header)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(b.dir)
	b.header.Segments = nil
	if err := b.gather(ctx, p); err != nil {
		if lost(err) { // what was written is not there: from the beginning, the next time
			err = errors.Join(err, os.RemoveAll(p.dir))
		}
		return nil, err
	}
	return x.place(b)
}

// gather takes over the segments that were made, and merges as many as ctx has time for.
func (b *builder) gather(ctx context.Context, p *partial) (err error) {
	defer guard(&err)
	for _, f := range p.grown.Segments {
		from := filepath.Join(p.dir, f.Name)
		file, err := blocks.New(from, 0, f.Size, f.sums())
		if err != nil {
			return err
		}
		old, err := segment.Open(file)
		if err != nil {
			return err
		}
		f.Name = b.next()
		if err := b.link(from, b.path(f.Name)); err != nil {
			return err
		}
		b.segments = append(b.segments, &part{docs: old.Docs(), deleted: roaring.New(), file: f})
	}
	if _, err := b.merge(ctx); err != nil {
		return err
	}
	return b.finish()
}
