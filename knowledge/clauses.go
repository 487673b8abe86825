package knowledge

import (
	"context"
	"slices"

	"leanctx/internal/language"
	"leanctx/knowledge/recall"
)

// maxJoined is how many clauses of a question are asked for themselves.
const maxJoined = 8

// join brings what each clause of a question finds into the answer to the whole: somebody who names several things wants a
// fact for each. The first answer to the whole stays first, since it is right where the clauses belong together. Then comes
// the first firm answer to each clause, then the rest. A question that has no firm answer as a whole stays as it is.
func (l *lookup) join(ctx context.Context, r *Recalled) error {
	q := l.question
	if len(r.Facts) == 0 || r.Facts[0].Maybe || q.Prompt || q.Mode == modeSemantic || l.parsed.Past || r.DateRead != "" {
		return nil
	}
	clauses := language.Clauses(q.Query)
	if len(clauses) < 2 {
		return nil
	}
	joined := r.Facts[:1:1]
	for _, clause := range clauses[:min(len(clauses), maxJoined)] {
		one := lookup{store: l.store, question: q, archived: l.archived, parsed: recall.Parse(clause, &recall.Options{NoDates: true})}
		one.question.Query, one.question.Limit = clause, 1
		found, _, err := one.rank(ctx)
		if err != nil {
			return err
		}
		if len(found.Facts) == 0 || found.Facts[0].Maybe || slices.ContainsFunc(joined, func(f Found) bool { return f.ID == found.Facts[0].ID }) {
			continue
		}
		joined = append(joined, found.Facts[0])
		if r.Encoder == "" {
			r.Encoder = found.Encoder
		}
		r.compared = append(r.compared, found.Facts[0].Version)
	}
	if len(joined) == 1 {
		return nil
	}
	r.Total += len(joined) - 1
	for _, f := range r.Facts[1:] {
		if !slices.ContainsFunc(joined, func(x Found) bool { return x.ID == f.ID }) {
			joined = append(joined, f)
		} else if !f.Maybe {
			r.Total-- // it was counted
		}
	}
	// The order is that of the scores.
	for i := 1; i < len(joined); i++ {
		joined[i].Score = min(joined[i].Score, joined[i-1].Score)
	}
	r.Facts = joined
	r.cut()
	return nil
}
