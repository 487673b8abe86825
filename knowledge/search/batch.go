package search

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"

	"leanctx/knowledge/search/words"
)

// batch is an index of many facts, made at once: every word with the facts that hold it, the words in order. It
// is searched as it stands, and written as a segment without another look at the facts. It costs a fifth of what
// the memory does, which takes facts one by one.
type batch struct {
	idents  []string // external ids, by fact
	fields  [exactNumber + 1]inverted
	lengths lengths
	dead    *roaring.Bitmap // facts that were replaced or removed
	pool    *slabs
}

// exactNumber is the place of the whole names among a batch's fields.
const exactNumber = fieldCount

// inverted is a field's words.
type inverted struct {
	terms []string  // in order
	from  []uint32  // where the postings of each begin, and where those of the last end
	posts []posting // in the order of terms, then of facts
}

// of are the postings of a word.
func (v *inverted) of(term string) []posting {
	i, ok := slices.BinarySearch(v.terms, term)
	if !ok {
		return nil
	}
	return v.posts[v.from[i]:v.from[i+1]]
}

// collector takes a field's words in, in the order of the facts.
type collector struct {
	number map[string]uint32
	terms  []string
	last   []uint32 // by word: one more than the place of what was met last
	count  []uint32 // by word: facts
	met    []occurrence
}

type occurrence struct {
	posting
	word uint32
}

func (c *collector) add(doc uint32, term string) {
	n, ok := c.number[term]
	if !ok {
		n = uint32(len(c.terms))
		c.number[term] = n
		c.terms, c.last, c.count = append(c.terms, term), append(c.last, 0), append(c.count, 0)
	}
	if i := c.last[n]; i > 0 && c.met[i-1].doc == doc {
		c.met[i-1].freq++
		return
	}
	c.met = append(c.met, occurrence{posting{doc, 1, 1}, n})
	c.last[n] = uint32(len(c.met))
	c.count[n]++
}

// long notes the length of the field of the fact whose words were met from from on.
func (c *collector) long(from, length int) {
	for i := range c.met[from:] {
		c.met[from+i].len = uint32(max(1, length))
	}
}

// sort puts the words in order.
func (c *collector) sort() inverted {
	order := make([]uint32, len(c.terms))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return strings.Compare(c.terms[a], c.terms[b]) })
	out := inverted{terms: make([]string, len(order)), from: make([]uint32, len(order)+1), posts: make([]posting, len(c.met))}
	at := uint32(0)
	for i, n := range order {
		out.terms[i], out.from[i] = c.terms[n], at
		at, c.count[n] = at+c.count[n], at // from here on, where the next goes
	}
	out.from[len(order)] = at
	for _, o := range c.met {
		out.posts[c.count[o.word]] = o.posting
		c.count[o.word]++
	}
	return out
}

// newBatch indexes facts, each ID once.
func newBatch(docs []Doc) *batch {
	b := &batch{idents: make([]string, len(docs)), dead: roaring.New(), pool: new(slabs)}
	lexicon := words.NewLexicon()
	var fields [exactNumber + 1]collector
	for f := range fields {
		fields[f].number = map[string]uint32{}
	}
	for i := range docs {
		d, n := &docs[i], uint32(i)
		var sizes [fieldCount]int
		for f, text := range d.texts() {
			c := &fields[f]
			from := len(c.met)
			lexicon.Scan(text, func(t words.Token) {
				c.add(n, t.Term)
				if t.Kind != words.Stop {
					sizes[f]++
				}
			})
			c.long(from, sizes[f])
			b.lengths.Sum[f] += sizes[f]
		}
		exact := &fields[exactNumber]
		exact.add(n, byID+d.ID)
		for _, name := range exactNames(lexicon, d) {
			exact.add(n, name)
		}
		b.idents[i] = externalID(identOf(d), sizes)
	}
	b.lengths.Docs = len(docs)
	for f := range fields {
		b.fields[f] = fields[f].sort()
		fields[f] = collector{}
	}
	return b
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
		for _, p := range b.fields[exactNumber].of(byID + id) {
			if !b.dead.CheckedAdd(p.doc) {
				continue
			}
			_, sizes, err := parseExternalID(b.idents[p.doc])
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
	number := make([]uint32, len(b.idents))
	for n, text := range b.idents {
		if !b.dead.Contains(uint32(n)) {
			number[n] = uint32(len(out.idents))
			out.idents = append(out.idents, text)
		}
	}
	for f := range b.fields {
		from, to := &b.fields[f], &out.fields[f]
		for i, term := range from.terms {
			begin := len(to.posts)
			for _, p := range from.posts[from.from[i]:from.from[i+1]] {
				if !b.dead.Contains(p.doc) {
					p.doc = number[p.doc]
					to.posts = append(to.posts, p)
				}
			}
			if len(to.posts) > begin {
				to.terms, to.from = append(to.terms, term), append(to.from, uint32(begin))
			}
		}
		to.from = append(to.from, uint32(len(to.posts)))
	}
	return out
}

// ids are those of the facts that are not hidden.
func (b *batch) ids() []string {
	out := make([]string, 0, b.lengths.Docs)
	for n, text := range b.idents {
		if !b.dead.Contains(uint32(n)) {
			id, _, _ := strings.Cut(text, "\x00")
			out = append(out, id)
		}
	}
	return out
}

// The methods of source.

func (b *batch) slotCount() int { return len(b.idents) }

func (b *batch) sizes() lengths { return b.lengths }

func (b *batch) slabs() *slabs { return b.pool }

func (b *batch) count(term string, f field) (int, error) {
	posts := b.fields[f].of(term)
	if b.dead.IsEmpty() {
		return len(posts), nil
	}
	n := 0
	for _, p := range posts {
		if !b.dead.Contains(p.doc) {
			n++
		}
	}
	return n, nil
}

func (b *batch) visit(term string, f field, _ []uint32, use func(posting)) error {
	whole := b.dead.IsEmpty()
	for _, p := range b.fields[f].of(term) {
		if whole || !b.dead.Contains(p.doc) {
			use(p)
		}
	}
	return nil
}

func (b *batch) named(name string, use func(doc uint32)) error {
	return b.visit(name, exactNumber, nil, func(p posting) { use(p.doc) })
}

// similar looks at the words that begin as term does: with all of it, or with its first letter.
func (b *batch) similar(term string, how words.Likeness, use func(string)) error {
	start := how.Start(term)
	for f := range fieldCount {
		terms := b.fields[f].terms
		i, _ := slices.BinarySearch(terms, start)
		for ; i < len(terms) && strings.HasPrefix(terms[i], start); i++ {
			if how.Holds(term, terms[i]) {
				use(terms[i])
			}
		}
	}
	return nil
}

func (b *batch) identify(doc uint32) (ident, error) {
	who, _, err := parseExternalID(b.idents[doc])
	return who, err
}

func (b *batch) id(doc uint32) (string, error) {
	id, _, _ := strings.Cut(b.idents[doc], "\x00")
	return id, nil
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
