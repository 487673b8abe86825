package recall

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// BM25F has three parts. boost is how much a word counts in a field. b is how much the length of the field matters. k1
// is how soon more of the same word counts no more. The usual values; a key names what its fact is about.
const k1 = 1.2

var (
	fieldBoost = [fieldCount]float64{keyField: 2.5, questionsField: 1, valueField: 1, categoryField: 1.2}
	fieldB     = [fieldCount]float64{keyField: .3, questionsField: .3, valueField: .6, categoryField: .3}
)

// priorFacts is added to the number of facts: in a store of five every word is rare, and that tells little.
const priorFacts = 300

// Shares of what stands for a word of the question. Each is less certain than the word itself.
const (
	shareShort = .7 // db for database, and the other way: from a list
	shareBegin = .6 // a word that begins with it
	shareSlip  = .6 // a word one edit away
	shareClip  = .4 // a word that it begins with
)

// formula is linear.
type formula struct{ words, coverage, cosine float64 }

// decision is the probability that the first three hold an answer, by the features of the first. Its words are BM25F
// divided by the question's weight. So they mean the same in short and long questions, and in small and large stores.
type decision struct {
	formula
	terms    float64 // times ln(1 + words of the question): a long question is covered less by what answers it
	constant float64
}

// constants are those of one way to compare. They are fitted by cross-validation over projects; see MEASURED.md.
type constants struct {
	rank   formula
	name   float64 // times the cosine to the name alone
	answer decision
	weakest
}

// weakest says from where on a first line may answer: from a probability, or where the nearest fact is so near by meaning.
// Of the two, the cosine tells better whether a question has to do with the store at all.
type weakest struct{ probability, cosine float64 }

const never = 2 // no cosine is that high

var (
	// The optimum of the cosine's weight is flat: between 5 and 11 the result is the same.
	byTable = constants{formula{words: .25, coverage: 2, cosine: 7}, 1.5, decision{formula{words: 5, cosine: 4.2}, 1.4, -6.15}, weakest{.25, .20}}
	// A transformer's cosines tell more, and lie otherwise than the table's.
	byTransformer = constants{formula{words: .23, coverage: .6, cosine: 12}, 0, decision{formula{words: 3.65, cosine: 7.4}, 1, -6.5}, weakest{.06, never}}
	byWords       = constants{formula{words: .20, coverage: 1}, 0, decision{formula{words: 4.1, coverage: 2.2}, 1.6, -5.7}, weakest{.10, never}}
	byMeaning     = constants{formula{cosine: 9}, 0, decision{formula{cosine: 8.7}, 0, -3.3}, weakest{.10, never}}
)

// by says which constants count.
func (m *Meaning) by() *constants {
	switch {
	case m == nil || len(m.Vectors) == 0:
		return &byWords
	case m.Only:
		return &byMeaning
	case m.Transformer:
		return &byTransformer
	}
	return &byTable
}

// Chance finds something like the question the sooner, the more facts there are.
const (
	sizeLess   = .25 // taken off the log odds for each e-fold of facts
	sizeNearer = .02 // so much nearer a fact must be that may answer
	sizeUsual  = 90  // facts of the projects that the constants were fitted on
	sizeLeast  = 20  // fewer tell nothing more
)

func (f formula) of(words, coverage, cosine float64) float64 {
	return f.words*words + f.coverage*coverage + f.cosine*cosine
}

// efolds says how much larger than usual a store is.
func (s *Size) efolds() float64 { return math.Log(float64(max(s.Facts, sizeLeast)) / sizeUsual) }

// probability is that of a fact to answer the question.
func (q *Question) probability(x *features, d *decision) float64 {
	z := d.of(x.words/max(q.mass, 1e-9), x.coverage, x.cosine) + d.terms*math.Log1p(float64(len(q.terms))) + d.constant
	return 1 / (1 + math.Exp(-z+sizeLess*q.size.efolds()))
}

const (
	askedLess   = .03 // off a cosine to stored questions, so that facts without them do not stand back
	dormantLess = .1  // off the rank of a dormant fact: breaks near-ties only
)

const (
	leastFirm    = .50  // probability of a first line that is an answer
	leastBehind  = .04  // of an answer behind it
	leastWeak    = .005 // of a line that may answer behind another
	leastRelated = .05  // probability of what may help with a task
	mostMaybe    = 3    // so many lines that may answer
	mostLong     = 3    // answers to a task, which asks about several things
	shared       = 10   // so many lines share the probability of the first
)

// share gives the lines behind the first their probabilities to answer. The weights of the ranks were fitted as those of a
// choice among all candidates, so e^rank is the odds of a line against another. The probability that there is an answer at
// all is shared in these odds among the first ten.
func share(answers []Answer, p float64) {
	var sum float64
	for _, a := range answers[:min(len(answers), shared)] {
		sum += math.Exp(a.rank - answers[0].rank)
	}
	for i := range answers {
		a := &answers[i]
		if i > 0 {
			a.Score = min(p*math.Exp(a.rank-answers[0].rank)/sum, answers[i-1].Score)
		}
	}
}

// told keeps the answers, and of what is too weak to be one the lines that may be. These are not simply the next ones.
// Words and meaning miss different things, so each second line is the nearest by meaning alone that was not told yet.
func (q *Question) told(answers []Answer, from weakest) []Answer {
	nearest := from.cosine + sizeNearer*q.size.efolds()
	if len(answers) == 0 || answers[0].Score < from.probability && !slices.ContainsFunc(answers, func(a Answer) bool { return a.Cosine >= nearest }) {
		return nil
	}
	n, most := 0, mostMaybe
	if answers[0].Score >= leastFirm {
		for n = 1; n < len(answers) && answers[n].Score >= leastBehind; n++ {
		}
	} else {
		n, most = 1, most-1
		answers[0].Maybe = true
	}
	if q.Long {
		n = min(n, mostLong)
		most = min(most, mostLong-n)
	}
	keep := make([]bool, len(answers))
	for i := range n {
		keep[i] = true
	}
	near := slices.Clone(answers[n:])
	slices.SortStableFunc(near, func(a, b Answer) int { return cmp.Compare(b.Cosine, a.Cosine) })
	place := func(index int) int { return slices.IndexFunc(answers, func(a Answer) bool { return a.Index == index }) }
	next := func(list []Answer) {
		for _, a := range list {
			at := place(a.Index)
			if a.Outdated >= 0 && !keep[place(a.Outdated)] {
				at = place(a.Outdated)
			}
			if !keep[at] && answers[at].Score >= leastWeak {
				keep[at], answers[at].Maybe = true, true
				return
			}
		}
	}
	for i := range most {
		if i%2 == 0 && !q.Long {
			next(near)
		} else {
			next(answers)
		}
	}
	out := answers[:0]
	for i, a := range answers {
		if keep[i] {
			out = append(out, a)
		}
	}
	return out
}

// Whether a newer fact b has taken the place of a: log odds, fitted on the pairs that the projects name.
const (
	pairConstant    = -12.1
	pairShare       = 20   // times the share of a's words that b has, each weighed by how few candidates have it
	pairCosine      = 9    // times the cosine of the two
	pairCategory    = 2.8  // same category
	pairMarker      = 2    // b says that something is different now
	priorCandidates = 5    // added to their number: a word that all have still tells a little
	pairLeast       = -.85 // probability .3: an older fact told second costs less than one told first
)

// leastBetween is the time between two facts of which one may take the other's place: what is told in one go does not
// contradict itself.
const leastBetween = time.Hour

// Bounds of the work.
const (
	maxQuestionBytes = 64 << 10  // of a longer question the beginning is read
	maxLookedUp      = 512       // distinct words whose rarity is looked up
	maxTerms         = 24        // words of a question that count: the rarest. 16 cost prompts .10 of R@3, 64 gain nothing
	maxSentences     = 12        // sentences of a task that are compared by meaning
	maxEncoded       = 2 << 10   // bytes of a text that are encoded
	maxName          = 256       // bytes of a question or key that is compared as a name
	maxRead          = 512 << 10 // bytes of all candidates that are cut into words
	maxPaired        = 200       // words of a fact that are compared with another one's
	maxSuperseded    = 6         // answers for which a newer fact is looked for
	maxTwins         = 2         // facts that are alike: of more none takes another's place
	maxChain         = 3         // facts that took each other's place
	mostNaming       = 4         // words of a question in which one of them may be a name
	minAlike         = 4         // letters of a word that others may be like
	minClip          = 5         // letters that are left of a word cut at its end
	maxClipped       = 24        // bytes of a word that is misspelled or cut
	maxAlike         = 32        // words that one may stand for
)
