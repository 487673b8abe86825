package session

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"leanctx/formats/transcript"
	"leanctx/knowledge/words"
)

// hit is a turn that holds words of a query.
type hit struct {
	turn  *Turn
	score float64
}

// found is a session with such turns, the best first.
type found struct {
	record *Record
	score  float64
	hits   []hit
}

// The constants of the ranking; MEASURED.md has how they were chosen.
const (
	k1           = 0.8
	bTurn        = 0.4  // how much a turn's length counts
	bSession     = 0.5  // how much a session's does, so that giant ones do not answer everything
	maxTerms     = 8    // of a long question, the rarest
	toolWeight   = 0.6  // what a tool gave counts less than what somebody said
	sessionShare = 2.0  // of the whole session beside its best passage
	nextShare    = 0.4  // of the turns beside one: a question and its answer are two turns
	decay        = 0.5  // of a word that stands in the turn before or after
	lineShare    = 0.75 // of its session in the score of a turn that is shown by itself
)

// maxRead is how many bytes of sessions a search reads, the newest first.
const maxRead = 64 << 20

const maxHits = 50 // turns kept of a session

// corpus is the turns of sessions, cut into terms.
type corpus struct {
	sessions                         []*sessionTerms
	turns, turnLength, sessionLength int
	postings                         map[string][]posting
	unread                           int // older sessions that were not read
}

type sessionTerms struct {
	record *Record
	turns  []*turnTerms
	length int
}

type turnTerms struct {
	turn   *Turn
	length int
}

type posting struct{ session, turn, times int }

// corpus reads all turns of sessions; of all that are kept if none are given.
func (s *Store) corpus(ctx context.Context, records []*Record) (*corpus, error) {
	if records == nil {
		var err error
		if records, err = s.Records(ctx); err != nil {
			return nil, err
		}
	}
	c := &corpus{postings: map[string][]posting{}}
	lexicon := words.NewLexicon()
	read := int64(0)
	for i, r := range records {
		x := &sessionTerms{record: r}
		err := s.Each(ctx, r, func(t *Turn) bool {
			terms, length := lexicon.Count(searched(t))
			for term, n := range terms {
				c.postings[term] = append(c.postings[term], posting{i, len(x.turns), n})
			}
			x.turns = append(x.turns, &turnTerms{new(*t), length})
			x.length += length
			return true
		})
		if err != nil {
			return nil, err
		}
		c.sessions = append(c.sessions, x)
		if read += r.size; read > maxRead {
			c.unread = len(records) - i - 1
			break
		}
		c.turns += len(x.turns)
		c.turnLength += x.length
	}
	c.sessionLength = c.turnLength
	return c, nil
}

// rank finds the sessions and turns that match a query, the best first.
func (s *Store) rank(ctx context.Context, records []*Record, query string) (list []found, unread int, err error) {
	c, err := s.corpus(ctx, records)
	if err != nil {
		return nil, 0, err
	}
	return c.rank(query), c.unread, nil
}

func idf(n, with int) float64 {
	return math.Log(1 + (float64(n)-float64(with)+0.5)/(float64(with)+0.5))
}

func tf(times, length int, average, b float64) float64 {
	t := float64(times)
	return t * (k1 + 1) / (t + k1*(1-b+b*float64(length)/max(1, average)))
}

func (c *corpus) rank(query string) (list []found) {
	terms := queryTerms(query)
	slices.SortStableFunc(terms, func(a, b string) int { return cmp.Compare(len(c.postings[a]), len(c.postings[b])) })
	terms = slices.DeleteFunc(terms, func(t string) bool { return len(c.postings[t]) == 0 })
	terms = terms[:min(len(terms), maxTerms)]
	turnAverage := float64(c.turnLength) / float64(max(1, c.turns))
	sessionAverage := float64(c.sessionLength) / float64(max(1, len(c.sessions)))
	turnScores := make([]map[int][]float64, len(c.sessions)) // of each term
	sessionScores := make([]float64, len(c.sessions))
	for i, term := range terms {
		list := c.postings[term]
		weight := idf(c.turns, len(list))
		times, with := map[int]int{}, 0
		for _, p := range list {
			x := c.sessions[p.session]
			if turnScores[p.session] == nil {
				turnScores[p.session] = map[int][]float64{}
			}
			if times[p.session] == 0 {
				with++
			}
			times[p.session] += p.times
			scores := turnScores[p.session][p.turn]
			if scores == nil {
				scores = make([]float64, len(terms))
				turnScores[p.session][p.turn] = scores
			}
			scores[i] = weight * tf(p.times, x.turns[p.turn].length, turnAverage, bTurn)
		}
		weight = idf(len(c.sessions), with)
		for i, n := range times {
			sessionScores[i] += weight * tf(n, c.sessions[i].length, sessionAverage, bSession)
		}
	}
	for i, scores := range turnScores {
		if scores == nil {
			continue
		}
		x := c.sessions[i]
		f := found{record: x.record}
		best := 0.0
		for n, own := range scores {
			t := x.turns[n].turn
			weight := 1.0
			if t.Role == transcript.Tool {
				weight = toolWeight
			}
			alone, window := 0.0, 0.0
			for i, score := range own {
				most := score
				for _, m := range []int{n - 1, n + 1} {
					if other := scores[m]; other != nil {
						most = max(most, decay*other[i])
					}
				}
				alone += score
				window += most
			}
			best = max(best, weight*window)
			f.hits = append(f.hits, hit{t, weight * (alone + nextShare*(window-alone))})
		}
		slices.SortFunc(f.hits, byScore)
		f.score = best + sessionShare*sessionScores[i]
		f.hits = f.hits[:min(maxHits, len(f.hits))]
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.record.last().Compare(a.record.last()), cmp.Compare(a.record.ID, b.record.ID))
	})
	return list
}

// turnLine is a turn that is shown by itself.
type turnLine struct {
	session string
	turn    *Turn
	score   float64
}

// lines are the best turns of all sessions.
func lines(list []found, most int) (best []turnLine) {
	for _, f := range list {
		for _, h := range f.hits[:min(most, len(f.hits))] {
			best = append(best, turnLine{f.record.ID, h.turn, h.score + lineShare*f.score})
		}
	}
	slices.SortStableFunc(best, func(a, b turnLine) int { return cmp.Compare(b.score, a.score) })
	return best[:min(most, len(best))]
}

// searched is the text by which a turn is found.
func searched(t *Turn) string {
	if t.Role != transcript.Tool {
		return t.Text
	}
	return t.Input + "\n" + strings.Join(t.Files, " ") + "\n" + t.Text
}

// queryTerms are the terms of a query, without stop words unless there are no others.
func queryTerms(query string) (terms []string) {
	var all []string
	words.Scan(query, func(t words.Token) {
		if t.Kind != words.Stop && !slices.Contains(terms, t.Term) {
			terms = append(terms, t.Term)
		}
		if !slices.Contains(all, t.Term) {
			all = append(all, t.Term)
		}
	})
	if len(terms) == 0 {
		return all
	}
	return terms
}
