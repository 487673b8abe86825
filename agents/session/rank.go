package session

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"leanctx/formats/transcript"
	"leanctx/knowledge/words"
)

// hit is a turn that holds words of a query.
type hit struct {
	ref     *turnRef
	turn    *Turn // see [Store.load]
	score   float64
	share   float64 // of what the query's words weigh, words that nobody said among them
	matched int     // of the query's words that the turn has
}

// found is a session with such turns, the best first.
type found struct {
	id, file string
	order    int // among all sessions, the newest first
	score    float64
	hits     []hit
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

// The bounds of a search.
const (
	maxRead   = 512 << 20 // bytes of sessions that are read, the newest first
	maxDecode = 1500      // turns that are scored exactly
	maxHits   = 50        // turns kept of a session

	maxUnlisted = 2 << 20 // bytes that a search scans without the word list, and leaves so
	maxIndexing = 200 * time.Millisecond
)

// search is what is looked for in sessions.
type search struct {
	query string
	user  bool   // only what users said
	said  bool   // not what tools did
	not   string // a client's name of a session that is left out
	most  int64  // bytes to read, the newest sessions first; 0: maxRead
}

// turnRef is a turn that may hold words of a query.
type turnRef struct {
	n, at, length int
	counts        []uint8 // how often it has each of them
	tool          bool
	exact         bool // counts are those of terms, and not of their beginnings

	turn    *Turn   // nil: it was not decoded
	share   float64 // as of a hit
	matched int
}

// rank finds the sessions and turns that match a query, the best first: of the sessions given, or of all. unread is how many
// older sessions were not read.
//
// What the word list does not cover is scanned for the words' beginnings, and the turns that promise most are decoded.
func (s *Store) rank(ctx context.Context, records []*Record, q search) (list []found, unread int, err error) {
	var targets []target
	if records == nil {
		if targets, err = s.targets(); err != nil {
			return nil, 0, err
		}
	}
	for _, r := range records {
		targets = append(targets, target{file: r.file, id: r.ID, size: r.size})
	}
	targets = slices.DeleteFunc(targets, func(t target) bool { return t.named(q.not) })
	if q.most <= 0 {
		q.most = maxRead
	}
	read := int64(0)
	for i, t := range targets {
		if read += t.size; read > q.most && i > 0 {
			unread, targets = len(targets)-i, targets[:i]
			break
		}
	}
	terms := queryTerms(q.query)
	scans, err := s.scan(ctx, targets, terms, q)
	if err != nil || len(terms) == 0 {
		return nil, unread, err
	}
	list, err = s.score(ctx, scans, terms, q)
	unlisted := int64(0)
	for _, x := range scans {
		unlisted += x.size - x.covered
	}
	if err == nil && unlisted > maxUnlisted && q.most == maxRead {
		_ = s.Index(ctx, time.Now().Add(maxIndexing)) // without it the next search scans that too
	}
	return list, unread, err
}

func idf(n, with int) float64 {
	return math.Log(1 + (float64(n)-float64(with)+0.5)/(float64(with)+0.5))
}

func tf(times, length int, average, b float64) float64 {
	t := float64(times)
	return t * (k1 + 1) / (t + k1*(1-b+b*float64(length)/max(1, average)))
}

// score scores what a scan found.
func (s *Store) score(ctx context.Context, scans []*scanned, terms []string, q search) (list []found, err error) {
	with := make([]int, len(terms)) // turns that have a term
	turns, bytes := 0, 0
	for _, x := range scans {
		turns, bytes = turns+x.turns, bytes+x.bytes
		for _, t := range x.refs {
			for i, n := range t.counts {
				with[i] += int(min(1, n))
			}
		}
	}
	// Of a long question the rarest words count.
	rarest := make([]int, 0, len(terms))
	for i := range terms {
		if with[i] > 0 {
			rarest = append(rarest, i)
		}
	}
	slices.SortStableFunc(rarest, func(a, b int) int { return cmp.Compare(with[a], with[b]) })
	rarest = rarest[:min(len(rarest), maxTerms)]
	if len(rarest) == 0 {
		return nil, nil
	}
	turnAverage := float64(bytes) / float64(max(1, turns))
	sessionAverage := float64(bytes) / float64(max(1, len(scans)))

	if err := s.decode(ctx, scans, rarest, with, turns, turnAverage); err != nil {
		return nil, err
	}
	lexicon := words.NewLexicon()
	for _, x := range scans {
		for _, t := range x.refs {
			if t.turn == nil || t.exact {
				continue
			}
			counts, _ := lexicon.Count(searched(t.turn))
			for i := range t.counts {
				t.counts[i] = uint8(min(255, counts[terms[i]]))
			}
		}
	}
	weights, sessionWeights := make([]float64, len(terms)), make([]float64, len(terms))
	for _, i := range rarest {
		n, sessions := 0, 0
		for _, x := range scans {
			x.times[i] = 0
			for _, t := range x.refs {
				n += int(min(1, t.counts[i]))
				x.times[i] += int(t.counts[i])
			}
			sessions += min(1, x.times[i])
		}
		weights[i], sessionWeights[i] = idf(turns, n), idf(len(scans), sessions)
	}
	asked := askedWords(q.query)
	whole := 0.0
	for i, term := range terms {
		switch {
		case !asked[term]:
			// It is a compound whose parts are asked for too.
		case slices.Contains(rarest, i):
			whole += weights[i]
		case with[i] == 0:
			whole += idf(turns, 0)
		}
	}
	for _, x := range scans {
		for _, t := range x.refs {
			t.ask(terms, rarest, asked, weights, whole)
		}
		if f := x.found(rarest, weights, sessionWeights, turnAverage, sessionAverage); len(f.hits) > 0 {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.order, b.order))
	})
	return list, nil
}

// ask counts which of the words that were asked for a turn has.
func (t *turnRef) ask(terms []string, rarest []int, asked map[string]bool, weights []float64, whole float64) {
	for _, i := range rarest {
		if t.counts[i] > 0 && asked[terms[i]] {
			t.matched++
			t.share += weights[i] / whole
		}
	}
}

// found scores a session and its turns.
func (x *scanned) found(rarest []int, weights, sessionWeights []float64, turnAverage, sessionAverage float64) found {
	f := found{id: x.id, file: x.file, order: x.order}
	scores := make([]float64, len(x.refs)*len(rarest)) // of each turn and term
	scoresOf := func(i int) []float64 { return scores[i*len(rarest) : (i+1)*len(rarest)] }
	for j, t := range x.refs {
		for k, i := range rarest {
			if t.counts[i] > 0 {
				scoresOf(j)[k] = weights[i] * tf(int(t.counts[i]), t.length, turnAverage, bTurn)
			}
		}
	}
	best := 0.0
	for i, t := range x.refs { // they are in their order
		if t.matched == 0 && !slices.ContainsFunc(scoresOf(i), func(score float64) bool { return score > 0 }) || t.turn == nil && !t.exact {
			continue // it counts for its neighbours alone
		}
		weight := 1.0
		if t.tool {
			weight = toolWeight
		}
		alone, window := 0.0, 0.0
		for k, score := range scoresOf(i) {
			most := score
			if i > 0 && x.refs[i-1].n == t.n-1 {
				most = max(most, decay*scoresOf(i - 1)[k])
			}
			if i+1 < len(x.refs) && x.refs[i+1].n == t.n+1 {
				most = max(most, decay*scoresOf(i + 1)[k])
			}
			alone += score
			window += most
		}
		best = max(best, weight*window)
		f.hits = append(f.hits, hit{t, t.turn, weight * (alone + nextShare*(window-alone)), t.share, t.matched})
	}
	slices.SortFunc(f.hits, byScore)
	f.hits = f.hits[:min(maxHits, len(f.hits))]
	whole := 0.0
	for _, i := range rarest {
		whole += sessionWeights[i] * tf(x.times[i], x.bytes, sessionAverage, bSession)
	}
	f.score = best + sessionShare*whole
	return f
}

// decode reads the turns that promise most.
func (s *Store) decode(ctx context.Context, scans []*scanned, rarest, with []int, turns int, average float64) error {
	type promise struct {
		ref   *turnRef
		score float64
	}
	var all []promise
	for _, x := range scans {
		for _, t := range x.refs {
			if t.exact {
				continue
			}
			p := promise{ref: t}
			for _, i := range rarest {
				if t.counts[i] > 0 {
					p.score += idf(turns, with[i]) * tf(int(t.counts[i]), t.length, average, bTurn)
				}
			}
			if t.tool {
				p.score *= toolWeight
			}
			if p.score > 0 {
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, func(a, b promise) int { return cmp.Compare(b.score, a.score) })
	chosen := make(map[*turnRef]bool, min(len(all), maxDecode))
	for _, p := range all[:min(len(all), maxDecode)] {
		chosen[p.ref] = true
	}
	return parallel(ctx, scans, func(x *scanned) error { return s.readTurns(x, chosen) })
}

// turnLine is a turn that is shown by itself.
type turnLine struct {
	session, file string
	hit
}

// lines are the best turns of all sessions.
func lines(list []found, most int) (best []turnLine) {
	for _, f := range list {
		for _, h := range f.hits[:min(most, len(f.hits))] {
			best = append(best, turnLine{f.id, f.file, hit{h.ref, h.turn, h.score + lineShare*f.score, h.share, h.matched}})
		}
	}
	slices.SortStableFunc(best, func(a, b turnLine) int { return cmp.Compare(b.score, a.score) })
	return best[:min(most, len(best))]
}

// load decodes the turn of a hit; false: it is gone.
func (s *Store) load(file string, h *hit) bool {
	if h.turn == nil {
		x := &scanned{target: target{file: file}, refs: []*turnRef{h.ref}}
		if err := s.readTurns(x, map[*turnRef]bool{h.ref: true}); err == nil {
			h.turn = h.ref.turn
		}
	}
	return h.turn != nil
}

// searched is the text by which a turn is found.
func searched(t *Turn) string {
	if t.Role != transcript.Tool {
		return t.Text
	}
	return t.Input + "\n" + strings.Join(t.Files, " ") + "\n" + t.Text
}

// askedWords are the words of a query, without the wholes of compounds and without stop words.
func askedWords(query string) map[string]bool {
	asked := map[string]bool{}
	words.Scan(query, func(t words.Token) {
		if t.Kind == words.Word {
			asked[t.Term] = true
		}
	})
	return asked
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
