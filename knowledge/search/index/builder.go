package index

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"

	"leanctx/knowledge/search/blocks"
	"leanctx/knowledge/search/segment"
)

// builder writes the files of a generation.
type builder struct {
	dir      string
	header   header
	segments []*part
	made     int
	fails    func(op, name string) error // of the index
}

// part is a segment of the generation to be.
type part struct {
	made    []*batch // just now; nil: of an older one, or merged
	docs    int
	deleted *roaring.Bitmap
	file    segmentFile // the checksums are empty until they are known
}

func (p *part) live() int { return p.docs - int(p.deleted.GetCardinality()) }

// inputs are what is left of the part, to be written with others. A file is opened for it alone: what has been read of
// it goes when it is written.
func (b *builder) inputs(p *part) ([]segment.Part, error) {
	if p.made != nil {
		return contents(p.made), nil
	}
	file, err := blocks.New(b.path(p.file.Name), 0, p.file.Size, p.file.sums())
	if err != nil {
		return nil, err
	}
	s, err := segment.Open(file)
	if err != nil {
		return nil, err
	}
	return []segment.Part{segment.NewRest(s, p.deleted)}, nil
}

// build indexes all docs: as many at once as make a segment, so that a store of any size takes the same memory.
func (b *builder) build(ctx context.Context, docs iter.Seq[Doc]) error {
	m := newMaker()
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
		if len(m.batches)*batchSize >= full {
			if err := b.add(ctx, m.finish()); err != nil {
				return err
			}
		}
	}
	if len(batch) > 0 {
		m.start(batch)
	}
	if err := b.add(ctx, m.finish()); err != nil {
		return err
	}
	return b.finish()
}

// maker makes batches on all processors.
type maker struct {
	sync.WaitGroup
	limit   chan struct{}
	batches []**batch
}

func newMaker() *maker { return &maker{limit: make(chan struct{}, runtime.GOMAXPROCS(0))} }

func (m *maker) start(docs []Doc) {
	made := new(*batch)
	m.batches = append(m.batches, made)
	m.limit <- struct{}{}
	m.Go(func() {
		defer func() { <-m.limit }()
		*made = newBatch(docs)
	})
}

// finish waits for what was started, and begins anew.
func (m *maker) finish() []*batch {
	m.Wait()
	out := make([]*batch, len(m.batches))
	for i, made := range m.batches {
		out[i] = *made
	}
	m.batches = nil
	return out
}

// add writes batches, of which nothing is hidden, as one segment, none as none.
func (b *builder) add(ctx context.Context, batches []*batch) error {
	if len(batches) == 0 {
		return nil
	}
	p := &part{made: batches, deleted: roaring.New(), file: segmentFile{Name: b.next()}}
	for _, made := range batches {
		b.header.Lengths.Add(made.lengths)
		p.docs += len(made.Stored)
	}
	b.segments = append(b.segments, p)
	return b.write(ctx, p.file.Name, contents(batches))
}

// write writes a segment's file.
func (b *builder) write(ctx context.Context, name string, parts []segment.Part) error {
	path := b.path(name)
	if err := b.fails("create", path); err != nil {
		return err
	}
	return segment.Write(ctx, path, allFields, parts)
}

// extend makes a generation of an older one, nil: of none, and the tail that came after it.
func (b *builder) extend(ctx context.Context, base *generation, t *Tail) (err error) {
	defer guard(&err)
	if base != nil {
		if err := b.keep(base, t); err != nil {
			return err
		}
	}
	var batches []*batch
	for _, made := range t.batches {
		if made = made.compact(); len(made.Stored) > 0 {
			batches = append(batches, made)
		}
	}
	if len(t.docs) > 0 {
		docs := make([]Doc, len(t.docs))
		for i, d := range t.docs {
			docs[i] = *d
		}
		batches = append(batches, newBatch(docs))
	}
	for len(batches) > 0 {
		n, docs := 0, 0
		for n < len(batches) && docs < full {
			docs += len(batches[n].Stored)
			n++
		}
		if err := b.add(ctx, batches[:n]); err != nil {
			return err
		}
		batches = batches[n:]
	}
	if _, err := b.merge(ctx); err != nil {
		return err
	}
	return b.finish()
}

// keep takes over what is left of an older generation.
func (b *builder) keep(base *generation, t *Tail) error {
	gone := slices.Clone(t.removed)
	for _, d := range t.docs {
		gone = append(gone, d.ID)
	}
	for _, made := range t.batches {
		gone = append(gone, made.ids()...)
	}
	o, err := newOverlay(base).mask(gone)
	if err != nil {
		return err
	}
	b.header.Lengths = o.lengths
	for i, s := range base.segments {
		left := &part{docs: s.Docs(), deleted: o.masked[i], file: base.header.Segments[i]}
		if left.live() == 0 {
			continue
		}
		left.file.Name = b.next()
		if err := b.link(filepath.Join(base.dir, base.header.Segments[i].Name), b.path(left.file.Name)); err != nil {
			return err
		}
		b.segments = append(b.segments, left)
	}
	return nil
}

// next names a new segment.
func (b *builder) next() string {
	b.made++
	return segmentName(b.made)
}

func segmentName(n int) string { return fmt.Sprintf("%d.zap", n) }

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
