package recall

import (
	"math"
	"time"
)

// BM25F: how much a word counts in a field (boost), how much the length of the field matters (b), and how soon more of
// the same word counts no more (k1). The usual values; a key names what its fact is about.
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

// formula is linear. Fitted by cross-validation over projects; see MEASURED.md.
type formula struct{ words, coverage, cosine float64 }

// rank orders the facts. The optimum is flat: cosines weigh between 5 and 11 with the same result.
var rank = formula{words: .27, coverage: 1.2, cosine: 9}

// decision is the probability that a fact answers. Its words are BM25F over the question's weight, so that they mean the
// same in a short question and in a long one, in a small store and in a large one.
type decision struct {
	formula
	terms    float64 // times ln(1 + words of the question): a long question is covered less by what answers it
	constant float64
}

var (
	byBoth    = decision{formula{words: 5, cosine: 4.2}, 1.4, -6.15}
	byWords   = decision{formula{words: 4.1, coverage: 2.2}, 1.6, -5.7}
	byMeaning = decision{formula{cosine: 8.7}, 0, -3.3}
)

// Chance finds something like the question the sooner, the more facts there are.
const (
	sizeLess  = .25 // taken off for each e-fold of facts
	sizeUsual = 90  // facts of the projects that the constants were fitted on
	sizeLeast = 20  // fewer tell nothing more
)

func (f formula) of(words, coverage, cosine float64) float64 {
	return f.words*words + f.coverage*coverage + f.cosine*cosine
}

// probability is that of a fact to answer the question.
func (q *Question) probability(x *features, d *decision) float64 {
	if x.named {
		return 1
	}
	facts := float64(max(q.size.Facts, sizeLeast))
	z := d.of(x.words/max(q.mass, 1e-9), x.coverage, x.cosine) + d.terms*math.Log1p(float64(len(q.terms))) + d.constant
	return 1 / (1 + math.Exp(-z+sizeLess*math.Log(facts/sizeUsual)))
}

const (
	askedLess   = .05 // off a cosine to stored questions, so that facts without them do not stand back
	dormantLess = .1  // off the rank of a dormant fact: breaks near-ties only
	namedMore   = 100 // on the rank of a fact whose name the question is: it comes first
)

// What is told.
const (
	leastFirm    = .50 // an answer
	leastMaybe   = .15 // what a reader may want to look at: below, a stranger is as likely
	leastRelated = .05 // what may help with a task
	mostMaybe    = 3   // so many of these
	mostFall     = 4   // a firm answer's log odds may be less than the first one's by so much, so that weak ones do not trail behind a right one
	mostLong     = 3   // answers to a task, which asks about several things
)

// told cuts the answers where they are too weak.
func (q *Question) told(answers []Answer) []Answer {
	maybe := 0
	for i := range answers {
		a := &answers[i]
		a.Maybe = a.Score < leastFirm || maybe > 0 || logOdds(answers[0].Score)-logOdds(a.Score) > mostFall
		if a.Maybe {
			maybe++
		}
		if a.Score < leastMaybe || maybe > mostMaybe || q.Long && i >= mostLong {
			return answers[:i]
		}
	}
	return answers
}

func logOdds(p float64) float64 { return math.Log(max(p, 1e-3) / max(1-p, 1e-3)) }

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
