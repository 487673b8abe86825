package index

import (
	"context"
	"runtime"
	"strings"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"

	"leanctx/knowledge/search/segment"
	"leanctx/knowledge/words"
)

// batch is an index of many facts, made at once: every word with the facts that hold it, the words in order. It
// is searched as it stands, and written as a segment without another look at the facts. It costs a fifth of what
// the memory does, which takes facts one by one.
type batch struct {
	segment.Content // of the fields of allFields, external ids stored
	lengths         Lengths
	dead            *roaring.Bitmap // facts that were replaced or removed
	pool            *sync.Pool
}

// newBatch indexes facts, each ID once.
func newBatch(docs []Doc) *batch {
	b := &batch{Content: segment.Content{Stored: make([]string, len(docs)), Fields: make([]segment.Field, len(allFields))}, dead: roaring.New(), pool: new(sync.Pool)}
	lexicon := words.NewLexicon()
	fields := make([]segment.Collector, len(allFields))
	for i := range docs {
		d, n := &docs[i], uint32(i)
		var sizes [FieldCount]int
		for f, text := range d.Texts() {
			c := &fields[f]
			lexicon.Scan(text, func(t words.Token) {
				c.Add(n, t.Term)
				if t.Kind != words.Stop {
					sizes[f]++
				}
			})
			c.Long(sizes[f])
			b.lengths.Sum[f] += sizes[f]
		}
		exact := &fields[exactNumber]
		exact.Add(n, byID+d.ID)
		for _, name := range exactNames(lexicon, d) {
			exact.Add(n, name)
		}
		b.Stored[i] = externalID(identOf(d), sizes)
	}
	b.lengths.Docs = len(docs)
	for f := range fields {
		b.Fields[f] = fields[f].Sort()
		fields[f] = segment.Collector{}
	}
	return b
}

// contents are those of batches.
func contents(batches []*batch) []segment.Part {
	out := make([]segment.Part, len(batches))
	for i, b := range batches {
		out[i] = &b.Content
	}
	return out
}

// batchSize is how many facts are made a batch of.
const batchSize = 10_000

// newBatches indexes facts on all processors.
func newBatches(ctx context.Context, docs []Doc) ([]*batch, error) {
	out := make([]*batch, (len(docs)+batchSize-1)/batchSize)
	var each sync.WaitGroup
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range out {
		limit <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		each.Go(func() {
			defer func() { <-limit }()
			out[i] = newBatch(docs[i*batchSize : min((i+1)*batchSize, len(docs))])
		})
	}
	each.Wait()
	return out, context.Cause(ctx)
}

// hide makes facts as if they were not there.
func (b *batch) hide(ids []string) error {
	for _, id := range ids {
		for _, p := range b.Fields[exactNumber].Of(byID + id) {
			if !b.dead.CheckedAdd(p.Doc) {
				continue
			}
			_, sizes, err := parseExternalID(b.Stored[p.Doc])
			if err != nil {
				return err
			}
			b.lengths.subtract(sizes)
		}
	}
	return nil
}

// compact is the batch without what is hidden.
func (b *batch) compact() *batch {
	if b.dead.IsEmpty() {
		return b
	}
	out := &batch{lengths: b.lengths, dead: roaring.New(), pool: b.pool}
	out.Fields = make([]segment.Field, len(b.Fields))
	number := make([]uint32, len(b.Stored))
	for n, text := range b.Stored {
		if !b.dead.Contains(uint32(n)) {
			number[n] = uint32(len(out.Stored))
			out.Stored = append(out.Stored, text)
		}
	}
	for f := range b.Fields {
		from, to := &b.Fields[f], &out.Fields[f]
		for i, term := range from.Terms {
			begin := len(to.Posts)
			for _, p := range from.Posts[from.From[i]:from.From[i+1]] {
				if !b.dead.Contains(p.Doc) {
					p.Doc = number[p.Doc]
					to.Posts = append(to.Posts, p)
				}
			}
			if len(to.Posts) > begin {
				to.Terms, to.From = append(to.Terms, term), append(to.From, uint32(begin))
			}
		}
		to.From = append(to.From, uint32(len(to.Posts)))
	}
	return out
}

// ids are those of the facts that are not hidden.
func (b *batch) ids() []string {
	out := make([]string, 0, b.lengths.Docs)
	for n, text := range b.Stored {
		if !b.dead.Contains(uint32(n)) {
			id, _, _ := strings.Cut(text, "\x00")
			out = append(out, id)
		}
	}
	return out
}

// unique are docs without those that a later one of the same ID replaces.
func unique(docs []Doc) []Doc {
	last := make(map[string]int, len(docs))
	for i := range docs {
		last[docs[i].ID] = i
	}
	if len(last) == len(docs) {
		return docs
	}
	out := make([]Doc, 0, len(last))
	for i := range docs {
		if last[docs[i].ID] == i {
			out = append(out, docs[i])
		}
	}
	return out
}
