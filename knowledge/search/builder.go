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
	api "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"
)

// builder writes the files of a generation.
type builder struct {
	dir      string
	header   header
	segments []*part
	made     int
	fault    func(op, name string) error
}

// part is a segment of the generation to be: of an older one, or made just now.
type part struct {
	old     *segment
	made    *zap.SegmentBase
	docs    int
	deleted *roaring.Bitmap
	file    segmentFile // the name is empty until it is written, the checksums until they are known
}

func (p *part) live() int { return p.docs - int(p.deleted.GetCardinality()) }

// base is the part as bleve has it.
func (p *part) base() (*zap.SegmentBase, error) {
	if p.made != nil {
		return p.made, nil
	}
	return p.old.base()
}

func newPart(base *zap.SegmentBase) *part {
	return &part{made: base, docs: int(base.Count()), deleted: roaring.New()}
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
		b.segments = append(b.segments, newPart(base))
	}
	m.bases = nil
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
	made, words := make([]index.Document, len(docs)), newLexicon()
	for i := range docs {
		d := words.document(&docs[i])
		made[i] = d
		sizes.add(d.lengths())
	}
	base, err = newSegment(made)
	return base, sizes, err
}

// extend makes a generation of an older one and the tail that came after it.
func (b *builder) extend(base *generation, t *Tail) (err error) {
	defer guard(&err)
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
		kept := &part{old: s, docs: s.docs, deleted: o.masked[i], file: base.header.Segments[i]}
		if kept.live() == 0 {
			continue
		}
		kept.file.Name = b.next()
		if err := b.link(filepath.Join(base.dir, base.header.Segments[i].Name), b.path(kept.file.Name)); err != nil {
			return err
		}
		b.segments = append(b.segments, kept)
	}
	if len(t.docs) > 0 {
		docs := make([]Doc, len(t.docs))
		for i, d := range t.docs {
			docs[i] = *d
		}
		base, sizes, err := indexBatch(docs)
		if err != nil {
			return err
		}
		added := newPart(base)
		added.file.Name = b.next()
		if err := b.writeSegment(base, b.path(added.file.Name)); err != nil {
			return err
		}
		b.header.Lengths.add(sizes)
		b.segments = append(b.segments, added)
	}
	if n := b.tooMany(); n < len(b.segments) {
		if err := b.mergeFrom(n); err != nil {
			return err
		}
	}
	return b.finish()
}

// newSegment makes a segment of facts.
func newSegment(docs []index.Document) (*zap.SegmentBase, error) {
	for _, d := range docs {
		d.AddIDField()
	}
	made, _, err := new(zap.ZapPlugin).New(docs)
	if err != nil {
		return nil, err
	}
	base, ok := made.(*zap.SegmentBase)
	if !ok {
		return nil, errSegment
	}
	return base, nil
}

// writeSegment writes a segment to its file. There is no fsync: what a crash left short or empty has not its
// checksums, and the index is made anew.
func (b *builder) writeSegment(s *zap.SegmentBase, path string) error {
	if err := b.fails("create", path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = s.WriteTo(f)
	return errors.Join(err, f.Close())
}

// fails is the error of a file operation that a test has fail.
func (b *builder) fails(op, path string) error {
	if b.fault == nil {
		return nil
	}
	return b.fault(op, path)
}

// tooMany returns from which segment on they are to be made one: each kept segment is at least twice as
// large as all after it, so their number grows with the logarithm of the facts and so does what a fact costs
// to be carried along. One that is more than half deleted is merged with what follows.
func (b *builder) tooMany() int {
	after, from := 0, len(b.segments)
	for i, s := range slices.Backward(b.segments) {
		live := s.live()
		small := i < len(b.segments)-1 && live < 2*after
		if small || 2*live < s.docs {
			from = i
		}
		after += live
	}
	return from
}

// mergeFrom makes one of the segments from the n-th on, without what was deleted.
func (b *builder) mergeFrom(n int) error {
	var bases []api.Segment
	var drops []*roaring.Bitmap
	docs := 0
	for _, s := range b.segments[n:] {
		base, err := s.base()
		if err != nil {
			return err
		}
		bases, drops, docs = append(bases, base), append(drops, s.deleted), docs+s.live()
	}
	one := &part{docs: docs, deleted: roaring.New(), file: segmentFile{Name: b.next()}}
	path := b.path(one.file.Name)
	if err := b.fails("create", path); err != nil {
		return err
	}
	if _, _, err := new(zap.ZapPlugin).Merge(bases, drops, path, nil, nil); err != nil {
		return err
	}
	for _, old := range b.segments[n:] {
		if old.file.Name == "" {
			continue
		}
		if err := os.Remove(b.path(old.file.Name)); err != nil {
			return err
		}
	}
	clear(b.segments[n:])
	b.segments = append(b.segments[:n], one)
	return nil
}

// next is the name of a new segment.
func (b *builder) next() string {
	b.made++
	return fmt.Sprintf("%d.zap", b.made)
}

func (b *builder) path(name string) string { return filepath.Join(b.dir, name) }

// finish describes the files in the header.
func (b *builder) finish() error {
	for _, s := range b.segments {
		f := s.file
		if f.Sums == nil {
			if err := b.fails("sum", b.path(f.Name)); err != nil {
				return err
			}
			if err := f.sum(b.path(f.Name)); err != nil {
				return err
			}
		}
		f.Deleted = nil
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
func (b *builder) link(from, to string) error {
	err := b.fails("link", to)
	if err == nil {
		err = os.Link(from, to)
	}
	if err == nil {
		return nil
	}
	if err := b.fails("create", to); err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}
