package search

import (
	"math"
	"math/bits"

	"leanctx/knowledge/search/index"
)

// tuning holds what was found by measurement: see the package's doc.
type tuning struct {
	k1           float64                   // how soon the repetition of a word stops counting
	boost        [index.FieldCount]float64 // a field's weight
	b            [index.FieldCount]float64 // how much a field's length matters
	long         float64                   // of values: the average length at which theirs matters half
	bonus        float64                   // of the whole of a compound, beside its parts
	prefix       float64                   // what a word counts that only begins like the one asked for
	fuzzy        float64                   // and one that is one edit away
	clipped      float64                   // and one, of a name, that the word asked for begins with
	short        float64                   // and one that is short for it, or that it is short for
	like         float64                   // what a word alike by five letters adds to relevance
	letter       float64                   // and each letter more
	leastLike    float64                   // but never less than this
	mostLike     float64                   // nor more
	named        float64                   // and one in a name beside
	slip         int                       // letters that an edit, or a missing ending, costs
	ideograph    int                       // letters that a sign of an unspaced script is worth
	minClipped   int                       // letters a name needs before it stands for the longer words it begins
	prior        float64                   // facts assumed beside those there are: idf means little in a small store
	chance       float64                   // what an unrelated fact of a store of 250 may cover of a query
	slope        float64                   // and how that grows with the logarithm of the store
	floor, trail float64
}

func defaultTuning() tuning {
	return tuning{
		k1:         1.2,
		boost:      [index.FieldCount]float64{2.5, 2, 1.2, 1},
		b:          [index.FieldCount]float64{.3, .3, .3, 1},
		long:       15,
		bonus:      .5,
		prefix:     .7,
		fuzzy:      .6,
		clipped:    .5,
		short:      .5,
		like:       .3,
		letter:     .1,
		leastLike:  .22,
		mostLike:   .6,
		named:      .1,
		slip:       2,
		ideograph:  5,
		minClipped: 6,
		prior:      300,
		chance:     .18,
		slope:      .03,
		floor:      Floor,
		trail:      Trail,
	}
}

// search is one query being run.
type search struct {
	tune    *tuning
	query   *parsed
	wide    bool // words that the index has are expanded too
	found   []*scores
	docs    float64
	average [index.FieldCount]float64
	b       [index.FieldCount]float64
	mass    float64 // weight of all the query's words
	words   float64 // how many they are
	least   float64 // what the commonest of those that the index has adds to a score; 0 where it has none

	weightOf [maxTerms]float64 // of a word, by its bit
}

func newSearch(sources []index.Source, t *tuning) *search {
	r := &search{tune: t}
	var all index.Lengths
	for _, s := range sources {
		r.found = append(r.found, newScores(s))
		all.Add(s.Sizes())
	}
	r.docs = float64(all.Docs)
	r.b = t.b
	for f, sum := range all.Sum {
		r.average[f] = max(1, float64(sum)/max(1, r.docs))
	}
	// In a store of short facts a longer one says more; in one of long texts it is only wordier.
	r.b[index.FieldValue] *= r.average[index.FieldValue] / (r.average[index.FieldValue] + t.long)
	return r
}

func (r *search) sources() []index.Source {
	out := make([]index.Source, len(r.found))
	for i, s := range r.found {
		out[i] = s.source
	}
	return out
}

// count is how many facts hold a word, in that of the fields before end where most do.
func (r *search) count(word string, end index.Field) (df float64, err error) {
	for f := range end {
		n := 0
		for _, s := range r.found {
			k, err := s.source.Count(word, f)
			if err != nil {
				return 0, err
			}
			n += k
		}
		df = max(df, float64(n))
	}
	return df, nil
}

// idf is BM25's, never negative.
func (r *search) idf(df float64) float64 {
	return math.Log(1 + (r.docs-min(df, r.docs)+.5)/(df+.5))
}

// weight is how much of a query's meaning a word carries: the rarer the more. A word the index does not have
// weighs like the rarest it has.
func (r *search) weight(df float64) float64 {
	return math.Log((r.docs + r.tune.prior + 1) / (max(df, 1) + 1))
}

// covered is the share of the query's weight that the fact covers.
func (r *search) covered(s *scores, d uint32) float64 {
	if s.tier[d] > 0 {
		return 1
	}
	if r.mass == 0 {
		return 0
	}
	return r.scaled(float64(s.cover[d]), float64(bits.OnesCount64(s.words[d])))
}

// scaled is a weight as a share of the whole, less where it is that of few of several words: one rare word in
// common is an accident.
func (r *search) scaled(weight, words float64) float64 {
	return min(1, weight/r.mass*words/(words+1)*(r.words+1)/r.words)
}

// chance is the share that an unrelated fact may cover in a store of this size.
func (r *search) chance() float64 {
	return r.tune.chance + r.tune.slope*math.Log(min(max(r.docs, 100), 100_000)/250)
}

// relevance is the share covered, bent so that what chance covers lies at Floor.
func (r *search) relevance(s *scores, d uint32) float64 {
	return math.Pow(r.covered(s, d), math.Log(Floor)/math.Log(r.chance()))
}

// share is the share covered at a relevance.
func (r *search) share(relevance float64) float64 {
	return math.Pow(relevance, math.Log(r.chance())/math.Log(Floor))
}
