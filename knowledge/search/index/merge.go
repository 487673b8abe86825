package index

import (
	"context"
	"math"
	"os"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"leanctx/knowledge/search/segment"
)

// full is how many facts a segment has at most that is merged of others: one that grows for ever would be read and
// written whole again and again.
const full = 200_000

// mergeEach is how long merging takes for each fact, at most: 20 µs of a processor that others want too.
const mergeEach = 50 * time.Microsecond

// room is how many facts may be merged before ctx ends: what cannot end in its time is not begun.
func room(ctx context.Context) int {
	if ctx.Err() != nil {
		return 0
	}
	if end, ok := ctx.Deadline(); ok {
		return max(0, int(time.Until(end)/mergeEach))
	}
	return math.MaxInt
}

// size is how many facts a segment has, and how many of them are left.
type size struct{ docs, live int }

// run is segments that follow one another.
type run struct{ from, to int }

// worth returns the runs of segments that are to be made one each, the last first, of at most so many facts together.
// Each segment that stays is at least twice as large as all after it, or would be more than a full one with them, so
// their number grows with the logarithm of the facts and so does what a fact costs to be carried along. One that is
// more than half deleted is written anew.
func worth(sizes []size, most int) (runs []run) {
	for to := len(sizes); to > 0; {
		after, from, i := 0, to, to-1
		for ; i >= 0; i-- {
			s := sizes[i]
			if after+s.live > most || after > 0 && after+s.live > full {
				break
			}
			if s.live < 2*after || 2*s.live < s.docs {
				from = i
			}
			after += s.live
		}
		if from < to {
			runs = append(runs, run{from, to})
			for _, s := range sizes[from:to] {
				most -= s.live
			}
		}
		to = min(i+1, to-1)
	}
	return runs
}

// scattered reports whether some of the segments would be merged before ctx ends.
func (g *generation) scattered(ctx context.Context) bool {
	sizes := make([]size, len(g.segments))
	for i, s := range g.segments {
		sizes[i] = size{s.Docs(), s.Docs() - int(s.deleted.GetCardinality())}
	}
	return len(worth(sizes, room(ctx))) > 0
}

// Scattered reports whether the generation on disk has more segments than it should, and a [Index.Sync], with nothing
// in memory to be written either, would merge some of them before ctx ends.
func (x *Index) Scattered(ctx context.Context) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.dir != "" && x.stored != nil && x.stored.generation.scattered(ctx)
}

// merge makes fewer segments of those there are, as many as ctx has time for. The others stay as they are, to be
// merged in another generation; any tells whether some were.
func (b *builder) merge(ctx context.Context) (any bool, err error) {
	sizes := make([]size, len(b.segments))
	for i, s := range b.segments {
		sizes[i] = size{s.docs, s.live()}
	}
	for _, r := range worth(sizes, room(ctx)) { // the last first, so that the places of the others stay
		if err := b.join(ctx, r); err != nil {
			if ctx.Err() != nil {
				return any, nil
			}
			return any, err
		}
		any = true
	}
	return any, nil
}

// join makes one segment of several, without what was deleted. If it fails they stay.
func (b *builder) join(ctx context.Context, r run) error {
	old := b.segments[r.from:r.to]
	one := &part{deleted: roaring.New(), file: segmentFile{Name: b.next()}}
	var inputs []segment.Part
	for _, p := range old {
		of, err := b.inputs(p)
		if err != nil {
			return err
		}
		inputs, one.docs = append(inputs, of...), one.docs+p.live()
	}
	if err := b.write(ctx, one.file.Name, inputs); err != nil {
		return err
	}
	for _, p := range old {
		if err := os.Remove(b.path(p.file.Name)); err != nil {
			return err
		}
	}
	b.segments = slices.Replace(b.segments, r.from, r.to, one)
	return nil
}
