package search

import (
	"context"
	"iter"
	"math"
	"math/bits"
	"slices"
	"strings"

	"leanctx/knowledge/search/index"
	"leanctx/knowledge/words"
)

// Unindexed searches facts of which there is no index: it reads the bytes of all, and takes only those apart that may
// be among the best. 100,000 facts take a tenth of a second, their index several.
//
// The answer is close to what an index would give, and not the same: of words that very many facts have it is
// estimated in how many, only the likeliest facts are ranked, and total is estimated from those. The first hit is the
// same in nearly all cases.
type Unindexed struct {
	Docs iter.Seq[*Doc]              // every fact, good until the next is yielded; ID, names and value
	Doc  func(id string) (Doc, bool) // one of them
}

// siftMost is how many facts are taken apart and ranked, 40 µs each.
const siftMost = 1000

// Search is [Index.Search].
func (u *Unindexed) Search(ctx context.Context, q Query, keep func(id string) bool) (hits []Hit, total int, err error) {
	p := parse(q.Text)
	if len(p.terms) == 0 && p.folded == "" {
		return nil, 0, nil
	}
	p.exact = q.Exact
	tune := defaultTuning()
	s := &sifting{from: u, sieve: newSieve(p), tune: &tune, keep: keep}
	if err := s.run(ctx); err != nil {
		return nil, 0, err
	}
	if missing := s.missing(); missing != 0 && !q.Exact {
		s.sieve.widen(missing)
		if err := s.run(ctx); err != nil {
			return nil, 0, err
		}
	}
	try := attempt{[]index.Source{s.source()}, &tune, p, q}
	hits, total, more, err := try.run(ctx, false, keep)
	if err != nil || total > 0 || !more {
		return hits, s.all(total), err
	}
	s.sieve.widen(math.MaxUint64)
	if err := s.run(ctx); err != nil {
		return nil, 0, err
	}
	try.sources = []index.Source{s.source()}
	hits, total, _, err = try.run(ctx, true, keep)
	return hits, s.all(total), err
}

// sifting is a search of facts that are not indexed.
type sifting struct {
	from  *Unindexed
	sieve *sieve
	tune  *tuning
	keep  func(id string) bool

	docs  int
	bytes [index.FieldCount]int
	df    [maxTerms]int // facts that have a word
	let   []speck       // of those that keep does not refuse
}

// speck is a fact that the sieve let through.
type speck struct {
	trace
	id    string
	size  int32 // of its value, in bytes
	named bool
	score float32
}

// run reads all facts.
func (s *sifting) run(ctx context.Context) error {
	s.docs, s.let = 0, s.let[:0]
	clear(s.bytes[:])
	clear(s.df[:])
	for d := range s.from.Docs {
		if s.docs++; s.docs&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for f, text := range d.Texts() {
			s.bytes[f] += len(text)
		}
		x := speck{trace: s.sieve.trace(d), size: int32(len(d.Value)), named: s.sieve.named(d)}
		for any := x.name | x.value; any != 0; any &= any - 1 {
			s.df[bits.TrailingZeros64(any)]++
		}
		if (x.named || x.name|x.value != 0) && (s.keep == nil || s.keep(d.ID)) {
			x.id = strings.Clone(d.ID)
			s.let = append(s.let, x)
		}
	}
	return nil
}

// all is about how many answers there are, so many being among the best. Where not nearly all of those are answers
// there are none behind them.
func (s *sifting) all(answers int) int {
	best := min(len(s.let), siftMost)
	if 10*answers < 9*best {
		return answers
	}
	return answers * len(s.let) / max(1, best)
}

// missing is the words that no fact has.
func (s *sifting) missing() (none uint64) {
	for i, t := range s.sieve.words {
		if t.kind != words.Whole && s.df[i] == 0 {
			none |= 1 << i
		}
	}
	return none
}

// best are the facts let through that are likely to come first.
func (s *sifting) best() []speck {
	idf := make([]float64, len(s.sieve.words))
	for i, t := range s.sieve.words {
		idf[i] = math.Log(1 + (float64(s.docs-s.df[i])+.5)/(float64(s.df[i])+.5))
		if t.kind == words.Whole {
			idf[i] = 0
		}
	}
	average := max(1, float64(s.bytes[index.FieldValue])/max(1, float64(s.docs)))
	for i := range s.let {
		x := &s.let[i]
		for any := x.name | x.value; any != 0; any &= any - 1 {
			w := bits.TrailingZeros64(any)
			tf := 0.0
			if x.value&(1<<w) != 0 {
				tf = 1 / (.5 + .5*float64(x.size)/average)
			}
			if x.name&(1<<w) != 0 {
				tf += s.tune.boost[index.FieldKey]
			}
			x.score += float32(idf[w] * tf / (tf + s.tune.k1))
		}
		if x.named {
			x.score += math.MaxInt16
		}
	}
	// A stable order of equals: the same facts give the same answer.
	slices.SortStableFunc(s.let, func(a, b speck) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	return s.let[:min(len(s.let), siftMost)]
}

// source takes the best apart.
func (s *sifting) source() index.Source {
	var docs []Doc
	var taken [maxTerms]int
	var size [index.FieldCount]int
	for _, x := range s.best() {
		d, ok := s.from.Doc(x.id)
		if !ok {
			continue
		}
		docs = append(docs, d)
		for any := x.name | x.value; any != 0; any &= any - 1 {
			taken[bits.TrailingZeros64(any)]++
		}
		for f, text := range d.Texts() {
			size[f] += len(text)
		}
	}
	out := &excerpt{Source: index.NewSource(docs), all: index.Lengths{Docs: s.docs}}
	for f, n := range out.Source.Sizes().Sum {
		if size[f] > 0 {
			out.all.Sum[f] = int(float64(s.bytes[f]) * float64(n) / float64(size[f]))
		}
	}
	for i, n := range s.sieve.needles {
		if taken[i] > 0 && s.df[i] > taken[i] {
			out.more = append(out.more, share{n.text, float64(s.df[i]) / float64(taken[i])})
		}
	}
	return out
}

// excerpt is some of very many facts, which counts as if it were all of them.
type excerpt struct {
	index.Source
	all  index.Lengths
	more []share
}

// share is how many times as many facts as there are in the excerpt have the words that begin so.
type share struct {
	word  string
	times float64
}

func (s *excerpt) Sizes() index.Lengths { return s.all }

func (s *excerpt) Count(term string, f index.Field) (int, error) {
	n, err := s.Source.Count(term, f)
	for _, x := range s.more {
		if strings.HasPrefix(term, x.word) {
			return int(float64(n) * x.times), err
		}
	}
	return n, err
}
