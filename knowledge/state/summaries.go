package state

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"leanctx/knowledge/fact"
)

// errEarlier says that the present lies before the commit of an index, so that what
// ended in between is not in its summaries.
var errEarlier = errors.New("the clock is before the commit of the index")

// Summaries yields, in no order, the fact and the summary of every version that is believed and not over at now, the
// present. The period is that of [fact.Timeline]. Patterns and gotchas have none.
func (k Known) Summaries(now time.Time) iter.Seq2[fact.ID, fact.Summary] {
	return func(yield func(fact.ID, fact.Summary) bool) {
		s := k.state
		for n, vs := range s.facts {
			for _, v := range vs {
				p, ok := fact.PeriodNow(v, vs, now)
				if !ok || !fact.Before(now, p.Until) {
					continue
				}
				x := fact.Summarize(v)
				if x.Period = p; !yield(n, x) {
					return
				}
			}
		}
		if s.base == nil {
			return
		}
		if now.Before(s.began) {
			s.base.fail(errEarlier)
			return
		}
		s.base.summaries(func(n fact.ID, x fact.Summary) bool {
			_, changed := s.facts[n]
			return changed || !fact.Before(now, x.Period.Until) || yield(n, x)
		})
	}
}

// Ended lists, in no order, the facts of which a version ended, or was taken back, after
// since and by now, the present. They may have another value since then.
func (k Known) Ended(since, now time.Time) (out []fact.ID) {
	s := k.state
	within := func(until *time.Time) bool { return until != nil && until.After(since) && !until.After(now) }
	for n, vs := range s.facts {
		if slices.ContainsFunc(vs, func(v *fact.Version) bool {
			return within(v.RetractedAt) || fact.Believed(v) && within(v.ValidUntil)
		}) {
			out = append(out, n)
		}
	}
	if s.base != nil {
		s.base.summaries(func(n fact.ID, x fact.Summary) bool {
			if _, changed := s.facts[n]; !changed && (within(x.Period.Until) || within(&x.Withdrawn)) {
				out = append(out, n)
			}
			return true
		})
	}
	return out
}

// summaries gives those of the index.
func (b *base) summaries(visit func(fact.ID, fact.Summary) bool) {
	var failed error
	err := b.index.Summaries(func(id string, all []byte) bool {
		n, _ := factOf(id)
		for len(all) > 0 {
			var x fact.Summary
			if x, all, failed = fact.ParseSummary(all); failed != nil {
				failed = fmt.Errorf("%q: %w", id, failed)
				return false
			}
			if !visit(n, x) {
				return false
			}
		}
		return true
	})
	if err := errors.Join(err, failed); err != nil {
		b.fail(err)
	}
}

// Version is the version of a fact with an id, nil if there is none.
func Version(facts Facts, n fact.ID, id string) *fact.Version {
	return fact.WithID(facts.Versions(n), id)
}
