package search

import (
	"context"
	"math/bits"
	"slices"
	"sync"

	"leanctx/knowledge/search/index"
	"leanctx/knowledge/search/segment"
	"leanctx/knowledge/words"
)

// scores is what a search found in one source, by fact.
type scores struct {
	source index.Source
	slab   *slab
	rank   []float32 // BM25F
	cover  []float32 // weight of the query's words that the fact holds
	part   []float32 // of the word at hand
	words  []uint64  // the query's words that the fact holds, a bit each
	tier   []uint8   // 2: its name is the query; 1: its name has the query's words; 0: neither
	seen   []uint32  // facts of which anything is not 0
	hits   []uint32  // facts of which part is not 0
	names  int       // how many of hits, the first ones, hold it in a name
	sorted int       // how many of seen are known to be in order
	notes  map[uint32]map[string]float64
}

// slab is the memory of scores, all zero while it waits to be used again.
type slab struct {
	floats []float32
	words  []uint64
	tier   []uint8
	fresh  bool // no page of it need have been written yet
}

func newScores(s index.Source) *scores {
	n := s.Slots()
	b := slabFor(n, s.Scratch())
	return &scores{
		source: s, slab: b,
		rank: b.floats[:n:n], cover: b.floats[n : 2*n : 2*n], part: b.floats[2*n : 3*n],
		words: b.words[:n], tier: b.tier[:n],
	}
}

// free gives the memory back, zeroed where it was written.
func (r *search) free() {
	for _, s := range r.found {
		for _, d := range s.seen {
			s.rank[d], s.cover[d], s.part[d], s.words[d], s.tier[d] = 0, 0, 0, 0, 0
		}
		for _, d := range s.hits {
			s.part[d] = 0
		}
		s.source.Scratch().Put(s.slab)
	}
	r.found = nil
}

// touch notes that something will be known of a fact.
func (s *scores) touch(d uint32) {
	if s.words[d] == 0 && s.rank[d] == 0 && s.tier[d] == 0 {
		s.seen = append(s.seen, d)
	}
}

// run notes whose name the query is and scores its words one after another.
func (r *search) run(ctx context.Context, q *parsed, wide bool) error {
	r.query, r.wide = q, wide
	terms, err := r.plan(q)
	if err != nil {
		return err
	}
	df := 0.0
	for _, t := range terms {
		df += t.df
	}
	r.warm(df)
	if err := r.names(); err != nil {
		return err
	}
	mass, left, trail := r.mass, r.words, r.share(r.tune.trail)
	for _, t := range terms {
		if err := ctx.Err(); err != nil {
			return err
		}
		// A fact that holds none of the words so far, however many of the rest, is no answer.
		settled := mass > 0 && r.scaled(mass, left) < trail
		if err := r.term(t, settled); err != nil {
			return err
		}
		if t.kind != words.Whole {
			mass, left = mass-t.weight, left-1
		}
	}
	return nil
}

// names marks the facts that the query names.
func (r *search) names() error {
	for tier, name := range []string{1: index.ByWords + r.query.canonical, 2: index.AsWritten + r.query.folded} {
		if len(name) <= len(index.ByWords) {
			continue
		}
		for _, s := range r.found {
			err := s.source.Named(name, func(d uint32) {
				s.touch(d)
				s.tier[d] = max(s.tier[d], uint8(tier))
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// term scores one word. settled: only of facts that were seen before.
func (r *search) term(t planned, settled bool) error {
	if t.df > 0 {
		if err := r.gather([]string{t.term}, index.FieldCount, settled); err != nil {
			return err
		}
		r.apply(gain{idf: t.idf, words: t.words, gives: strength{1, 1}})
	}
	if t.kind == words.Whole || t.df > 0 && !r.wide {
		return nil
	}
	return r.alike(t, settled)
}

// alike scores what stands for a word.
func (r *search) alike(t planned, settled bool) error {
	like, err := r.expansions(t.asked)
	if err != nil {
		return err
	}
	df := 0.0
	for _, w := range like.words {
		n, err := r.count(w, like.fields)
		if err != nil {
			return err
		}
		df += n
	}
	r.warm(df)
	if err := r.gather(like.words, like.fields, settled); err != nil {
		return err
	}
	idf := r.idf(df)
	if like.guess && r.least > 0 {
		idf = min(idf, r.least)
	}
	r.apply(gain{idf: idf * like.discount, words: t.words, once: true, gives: like.likeness})
	return nil
}

// gather finds the facts that hold some of words in one of the fields before end, and how much of them, into
// part. Facts that hold them in a name come first in hits.
func (r *search) gather(words []string, end index.Field, settled bool) error {
	for _, s := range r.found {
		var only []uint32
		if settled {
			only = s.inOrder()
			if len(only) == 0 {
				continue
			}
		}
		for f := range end {
			for _, w := range words {
				if err := r.read(s, w, f, only); err != nil {
					return err
				}
			}
			if f+1 <= index.NameFields {
				s.names = len(s.hits)
			}
		}
	}
	return nil
}

// read finds the facts that hold a word in a field; where only is not nil, those of them that were seen before.
func (r *search) read(s *scores, w string, f index.Field, only []uint32) error {
	boost, b, average := r.tune.boost[f], r.b[f], r.average[f]
	return s.source.Visit(w, f, only, func(p segment.Posting) {
		if only != nil && s.words[p.Doc] == 0 && s.tier[p.Doc] == 0 {
			return
		}
		tf := boost * float64(p.Freq) / (1 - b + b*float64(p.Len)/average)
		if s.part[p.Doc] == 0 {
			s.hits = append(s.hits, p.Doc)
		}
		s.part[p.Doc] += float32(tf)
		if s.notes != nil {
			s.note(p.Doc, index.FieldNames[f]+":"+w, tf)
		}
	})
}

// inOrder are the facts seen, in order.
func (s *scores) inOrder() []uint32 {
	if s.sorted != len(s.seen) {
		slices.Sort(s.seen)
		s.sorted = len(s.seen)
	}
	return s.seen
}

// saturation is how fast coverage comes to the full: a word said once in an average fact is all of it.
const saturation = .5

// gain is what a word at hand gives the facts that hold it.
type gain struct {
	idf   float64
	words uint64   // the words of the query that it covers, a bit each
	once  bool     // only facts that were not given any of them yet
	gives strength // the part of their weight that it covers
}

// apply adds the word at hand to every fact that holds it: its gain in score, and such a part of their weight
// for those of the words that the fact has not been given yet.
func (r *search) apply(g gain) {
	k1 := r.tune.k1
	for _, s := range r.found {
		for i, d := range s.hits {
			tf := float64(s.part[d])
			s.part[d] = 0
			if g.once && s.words[d]&g.words != 0 {
				s.forget(d)
				continue
			}
			s.touch(d)
			each := g.idf * (k1 + 1) / (tf + k1)
			s.rank[d] += float32(each * tf)
			s.settle(d, each)
			part := g.gives.value
			if i < s.names {
				part = g.gives.name
			}
			if fresh := g.words &^ s.words[d]; fresh != 0 {
				s.words[d] |= fresh
				s.cover[d] += float32(r.weigh(fresh) * part * min(1, (1+saturation)*tf/(tf+saturation)))
			}
		}
		s.hits, s.names = s.hits[:0], 0
	}
}

// weigh sums the weights of words.
func (r *search) weigh(words uint64) float64 {
	sum := 0.0
	for ; words != 0; words &= words - 1 {
		sum += r.weightOf[bits.TrailingZeros64(words)]
	}
	return sum
}

// slabFor gives a slab for n facts.
func slabFor(n int, pool *sync.Pool) *slab {
	if b, ok := pool.Get().(*slab); ok && len(b.tier) >= n {
		return b
	}
	n += n / 8
	return &slab{make([]float32, 3*n), make([]uint64, n), make([]uint8, n), true}
}

// warm is asked before anything is known of the facts that have one of so many words: where those are on most pages
// of a new slab, all its pages are written to at once. A page that is read first is one of zeros that all share, and the
// write after it changes the mapping under every thread: with 100,000 facts that took 8 ms of a command's 60.
func (r *search) warm(df float64) {
	for _, s := range r.found {
		if b := s.slab; b.fresh && len(s.seen) == 0 && df >= float64(len(b.tier))/warmFrom {
			b.fresh = false
			write(b.floats, 4)
			write(b.words, 8)
			write(b.tier, 1)
		}
	}
}

const (
	warmFrom = 512 // facts that a page has a part of
	page     = 4 << 10
)

// write writes to each page of what is all zero.
func write[T any](zeros []T, size int) {
	var zero T
	for i := 0; i < len(zeros); i += page / size {
		zeros[i] = zero
	}
}
