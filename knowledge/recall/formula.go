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
	shareAbbreviation = .7 // db for database, and the other way: from a list
	sharePrefix       = .6 // a word that begins with it
	shareOneEdit      = .6 // a word one edit away
	shareClipped      = .4 // a word that it begins with
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
	pair pair
}

// pair is whether a newer fact b has taken the place of a: log odds, fitted on the pairs that the projects name.
type pair struct {
	share    float64 // times the share of a's words that b has, each weighed by how few candidates have it
	cosine   float64 // times the cosine of the two
	category float64 // same category
	marker   float64 // b says that something is different now
	constant float64
}

// weakest says from where on a first line may answer: from a probability, or where the nearest fact is so near by meaning.
// Of the two, the cosine tells better whether a question has to do with the store at all. behind is the least cosine of a
// line behind such a first one.
type weakest struct{ probability, cosine, behind float64 }

const neverCosine = 2 // no cosine is that high

var (
	// The optimum of the cosine's weight is flat: between 5 and 11 the result is the same.
	byTable = constants{
		formula{words: .25, coverage: 2, cosine: 7}, 1.7,
		decision{formula{words: 5, cosine: 4.2}, 1.4, -6.15}, weakest{.25, .20, .15},
		pair{share: 20, cosine: 9, category: 2.8, marker: 2, constant: -12.1},
	}
	// A transformer's cosines tell more, and lie otherwise than the table's.
	byTransformer = constants{
		formula{words: .28, coverage: .6, cosine: 10}, 0,
		decision{formula{words: 3.65, cosine: 7.4}, 1, -6.5}, weakest{.04, neverCosine, 0}, byTable.pair,
	}
	byWords = constants{
		formula{words: .20, coverage: 1}, 0,
		decision{formula{words: 4.1, coverage: 2.2}, 1.6, -5.7}, weakest{.10, neverCosine, 0},
		pair{share: 37, category: 3.8, marker: 3.7, constant: -12.8},
	}
	byMeaning = constants{formula{cosine: 9}, 0, decision{formula{cosine: 8.7}, 0, -3.3}, weakest{.10, neverCosine, 0}, byTable.pair}
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
	sizePenalty = .25 // taken off the log odds for each e-fold of facts
	sizeCosine  = .02 // so much nearer a fact must be that may answer
	sizeFitted  = 90  // facts of the projects that the constants were fitted on
	minSize     = 20  // fewer tell nothing more
)

func (f formula) of(words, coverage, cosine float64) float64 {
	return f.words*words + f.coverage*coverage + f.cosine*cosine
}

// efolds says how much larger than usual a store is.
func (s *Size) efolds() float64 { return math.Log(float64(max(s.Facts, minSize)) / sizeFitted) }

// probability is that of a fact to answer the question.
func (q *Question) probability(x *features, d *decision) float64 {
	z := d.of(x.words/max(q.mass, 1e-9), x.coverage, x.cosine) + d.terms*math.Log1p(float64(len(q.terms))) + d.constant
	return 1 / (1 + math.Exp(-z+sizePenalty*q.size.efolds()))
}

const (
	questionsPenalty = .03 // off a cosine to stored questions, so that facts without them do not stand back
	dormantPenalty   = .1  // off the rank of a dormant fact: breaks near-ties only
)

const (
	minFirm        = .50  // probability of a first line that is an answer
	minFurther     = .04  // of an answer behind it
	minShown       = .015 // of any line: it is printed as 2%
	minRelated     = .05  // probability of what may help with a task
	maxMaybe       = 3    // lines that may answer
	maxTaskAnswers = 3    // answers to a task, which asks about several things
	maxSharing     = 10   // lines that share the probability of a firm first one
)

// If the first line is only a maybe, words said little. Then the lines behind it are chosen with more weight on meaning,
// and their ranks count for less. A large store always has something near, so the added weight falls with its size.
const (
	weakCosine = 10 // added to the cosine's weight in a store of the usual size
	weakEfolds = 2  // a store so much larger adds nothing
	weakRank   = .5 // times the rank
)

// share gives the lines behind the first their probabilities to answer. The weights of the ranks were fitted as those of a
// choice among all candidates, so e^rank is the odds of a line against another. The probability p that there is an answer
// at all is shared in these odds among the first lines, so many as sharing says.
func share(answers []Answer, p, ranks float64, sharing int) {
	var sum float64
	odds := func(a *Answer) float64 { return math.Exp(ranks * (a.rank - answers[0].rank)) }
	for i := range answers[:min(len(answers), sharing)] {
		sum += odds(&answers[i])
	}
	for i := range answers {
		if i > 0 {
			answers[i].Score = min(p*odds(&answers[i])/sum, answers[i-1].Score)
		}
	}
}

// shown keeps what is shown of the answers in order. p is the probability that there is one.
func (q *Question) shown(answers []Answer, p float64, from weakest) []Answer {
	nearest := from.cosine + sizeCosine*q.size.efolds()
	switch {
	case len(answers) == 0 || answers[0].Score < minShown:
	case answers[0].Score >= minFirm:
		return q.firm(answers, p)
	case answers[0].Score >= from.probability || slices.ContainsFunc(answers, func(a Answer) bool { return a.Cosine >= nearest }):
		return weak(answers, p, weakCosine*max(0, 1-q.size.efolds()/weakEfolds), from.behind)
	}
	return nil
}

// firm keeps the answers, and behind them some lines that may be.
func (q *Question) firm(answers []Answer, p float64) []Answer {
	for i := range answers { // what is outdated shares its odds with what took its place
		if x := &answers[i]; i > 0 && x.Outdated == answers[i-1].Index {
			x.rank = max(x.rank, answers[i-1].rank-max(0, x.outdated))
		}
	}
	share(answers, p, 1, maxSharing)
	most := len(answers)
	if q.Long {
		most = min(most, maxTaskAnswers)
	}
	n, maybe := 1, 0
	for ; n < most && maybe < maxMaybe && answers[n].Score >= minShown; n++ {
		if answers[n].Score < minFurther {
			answers[n].Maybe = true
			maybe++
		}
	}
	return answers[:n]
}

// weak keeps lines that may be answers: the first, and of the others the best by rank with so much more weight on meaning.
func weak(answers []Answer, p, meaning, least float64) []Answer {
	place := func(index int) int { return slices.IndexFunc(answers, func(a Answer) bool { return a.Index == index }) }
	byMeaning := slices.Clone(answers[1:])
	slices.SortStableFunc(byMeaning, func(a, b Answer) int {
		return cmp.Compare(b.rank+meaning*b.Cosine, a.rank+meaning*a.Cosine)
	})
	keep := map[int]bool{0: true}
	for _, a := range byMeaning {
		if len(keep) == maxMaybe {
			break
		}
		if a.Cosine < least {
			continue
		}
		at := place(a.Index)
		if a.Outdated >= 0 && !keep[place(a.Outdated)] {
			at = place(a.Outdated)
		}
		keep[at] = true
	}
	var out []Answer
	for i, a := range answers {
		if keep[i] {
			a.Maybe = true
			out = append(out, a)
		}
	}
	share(out, p, weakRank, maxMaybe)
	return slices.DeleteFunc(out, func(a Answer) bool { return a.Score < minShown })
}

// minPair is the log odds (probability .3) from which a newer fact is put before an older one. It is below one half,
// because an outdated fact in first place costs more than a current one in second place.
const minPair = -.85

// priorCandidates is added to the number of candidates, so that a word that all have still counts a little.
const priorCandidates = 5

// minBetween is the least time between two facts of which one may supersede the other. Facts recorded together do not
// contradict each other.
const minBetween = time.Hour

// MaxRead is the number of bytes of all candidates that are cut into words. What follows is not looked at.
const MaxRead = 512 << 10

// Bounds of the work.
const (
	maxQuestionBytes = 64 << 10 // of a longer question the beginning is read
	maxLookedUp      = 512      // distinct words whose rarity is looked up
	maxTerms         = 24       // words of a question that count: the rarest. 16 cost prompts .10 of R@3, 64 gain nothing
	maxSentences     = 12       // sentences of a task that are compared by meaning
	maxEncoded       = 2 << 10  // bytes of a text that are encoded
	maxName          = 256      // bytes of a question or key that is compared as a name
	maxKept          = 1 << 14  // different words of all candidates up to which a matcher is used again
	maxPaired        = 200      // words of a fact that are compared with another one's
	maxSuperseded    = 6        // answers for which a newer fact is looked for
	maxTwins         = 2        // facts that are alike: of more none takes another's place
	maxChain         = 3        // facts that took each other's place
	maxNaming        = 4        // words of a question in which one of them may be a name
	minAlike         = 4        // letters of a word that others may be like
	minClip          = 5        // letters that are left of a word cut at its end
	maxClipped       = 24       // bytes of a word that is misspelled or cut
	maxAlike         = 32       // words that one may stand for
)
