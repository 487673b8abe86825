package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
	index "github.com/blevesearch/bleve_index_api"
	zap "github.com/blevesearch/zapx/v17"
)

// builder writes the files of a generation.
type builder struct {
	dir      string
	header   header
	segments []*segment
	paths    []string // where the segments are
	made     int
}

// batchSize is how many facts are made a segment of at once when all are indexed.
const batchSize = 5000

// build indexes all docs.
func (b *builder) build(ctx context.Context, docs iter.Seq[Doc]) error {
	m := &maker{limit: make(chan struct{}, runtime.GOMAXPROCS(0))}
	batch := make([]Doc, 0, batchSize)
	for d := range docs {
		if err := ctx.Err(); err != nil {
			m.Wait()
			return err
		}
		if batch = append(batch, d); len(batch) == batchSize {
			m.start(batch)
			batch = make([]Doc, 0, batchSize)
		}
	}
	if len(batch) > 0 {
		m.start(batch)
	}
	m.Wait()
	if m.err != nil {
		return m.err
	}
	for i, base := range m.bases {
		b.header.Lengths.add(m.lengths[i])
		b.segments = append(b.segments, &segment{SegmentBase: base, deleted: roaring.New()})
	}
	if len(b.segments) > 0 {
		if err := b.mergeFrom(0); err != nil {
			return err
		}
	}
	return b.finish()
}

// maker makes segments on all processors.
type maker struct {
	sync.WaitGroup
	limit   chan struct{}
	mu      sync.Mutex
	bases   []*zap.SegmentBase
	lengths []lengths
	err     error
}

func (m *maker) start(docs []Doc) {
	m.mu.Lock()
	n := len(m.bases)
	m.bases, m.lengths = append(m.bases, nil), append(m.lengths, lengths{})
	m.mu.Unlock()
	m.limit <- struct{}{}
	m.Go(func() {
		defer func() { <-m.limit }()
		base, sizes, err := indexBatch(docs)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.bases[n], m.lengths[n] = base, sizes
		if err != nil {
			m.err = err
		}
	})
}

// indexBatch makes one segment of docs and sums their lengths.
func indexBatch(docs []Doc) (base *zap.SegmentBase, sizes lengths, err error) {
	defer guard(&err)
	made := make([]index.Document, len(docs))
	for i := range docs {
		d := newDocument(&docs[i])
		made[i] = d
		sizes.add(d.lengths())
	}
	base, err = newSegment(made)
	return base, sizes, err
}

// extend makes a generation of an older one and the tail that came after it.
func (b *builder) extend(base *generation, t tailSnapshot) error {
	gone := slices.Clone(t.removed)
	for _, d := range t.docs {
		gone = append(gone, d.ID)
	}
	o, err := newOverlay(base).mask(gone)
	if err != nil {
		return err
	}
	b.header.Lengths = o.lengths
	for i, s := range base.segments {
		kept := &segment{SegmentBase: s.SegmentBase, deleted: o.masked[i]}
		if kept.live() == 0 {
			continue
		}
		path := b.next()
		if err := link(filepath.Join(base.dir, base.files[i]), path); err != nil {
			return err
		}
		b.segments, b.paths = append(b.segments, kept), append(b.paths, path)
	}
	if len(t.docs) > 0 {
		docs := make([]Doc, len(t.docs))
		for i, d := range t.docs {
			docs[i] = *d
		}
		added, sizes, err := indexBatch(docs)
		if err != nil {
			return err
		}
		path := b.next()
		if err := writeSegment(added, path); err != nil {
			return err
		}
		b.header.Lengths.add(sizes)
		b.segments = append(b.segments, &segment{SegmentBase: added, deleted: roaring.New()})
		b.paths = append(b.paths, path)
	}
	if n := b.tooMany(); n < len(b.segments) {
		if err := b.mergeFrom(n); err != nil {
			return err
		}
	}
	return b.finish()
}

// writeSegment writes a segment to its file. There is no fsync: a file that a crash left short or empty has
// not its checksum, and the index is made anew.
func writeSegment(s *zap.SegmentBase, path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = s.WriteTo(f)
	return errors.Join(err, f.Close())
}

// tooMany returns from which segment on they are to be made one: each kept segment is at least twice as
// large as all after it, so their number grows with the logarithm of the facts and so does what a fact costs
// to be carried along. One that is more than half deleted is merged with what follows.
func (b *builder) tooMany() int {
	after, from := 0, len(b.segments)
	for i, s := range slices.Backward(b.segments) {
		live := s.live()
		small := i < len(b.segments)-1 && live < 2*after
		if small || 2*live < int(s.Count()) {
			from = i
		}
		after += live
	}
	return from
}

// mergeFrom makes one of the segments from the n-th on.
func (b *builder) mergeFrom(n int) error {
	path := b.next()
	base, err := merge(b.segments[n:], path)
	if err != nil {
		return err
	}
	for _, old := range b.paths[min(n, len(b.paths)):] {
		if err := os.Remove(old); err != nil {
			return err
		}
	}
	b.segments = append(b.segments[:n], &segment{SegmentBase: base, deleted: roaring.New()})
	b.paths = append(b.paths[:min(n, len(b.paths))], path)
	return nil
}

// next is the path of a new segment.
func (b *builder) next() string {
	b.made++
	return filepath.Join(b.dir, fmt.Sprintf("%d.zap", b.made))
}

// finish describes the files in the header.
func (b *builder) finish() error {
	for i, s := range b.segments {
		data, err := os.ReadFile(b.paths[i])
		if err != nil {
			return err
		}
		f := segmentFile{Name: filepath.Base(b.paths[i]), Size: len(data), Checksum: checksum(data)}
		if !s.deleted.IsEmpty() {
			var buf bytes.Buffer
			if _, err := s.deleted.WriteTo(&buf); err != nil {
				return err
			}
			f.Deleted = buf.Bytes()
		}
		b.header.Segments = append(b.header.Segments, f)
	}
	return nil
}

// link gives a file a second name, or makes a copy where the file system has no links. A segment is never
// written again, so the two are as good as each other.
func link(from, to string) error {
	if err := os.Link(from, to); err == nil {
		return nil
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}
