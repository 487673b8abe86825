package knowledge

import (
	"context"
	"strings"

	"leanctx/knowledge/history"
	"leanctx/knowledge/ledger"
)

// What is asked of a fact's history, and the answers.
type (
	Span       = history.Span       // asks for a timeline
	Chronicle  = history.Chronicle  // a timeline
	Entry      = history.Entry      // one version in it
	Interval   = history.Interval   // asks what changed
	Diff       = history.Difference // what became true, false, corrected, retracted or archived
	Change     = history.Change     // one of those
	Subject    = history.Subject    // names a fact
	Provenance = history.Provenance // everything behind it
	Behind     = history.Behind     // one version with who stands behind it
)

// Timeline lists every version of a room or of a fact, by valid time.
func (s *Store) Timeline(ctx context.Context, q Span) (r Chronicle, err error) {
	if err := required("category", strings.TrimSpace(q.Category)); err != nil {
		return r, err
	}
	if q.Limit, err = checkLimit(q.Limit, 100); err != nil {
		return r, err
	}
	err = s.view(ctx, func(st *ledger.State, m moment) error {
		r = history.Timeline(st, q, m.now)
		return nil
	})
	return r, err
}

// Diff compares what was true at two instants, by what is known now, and lists
// what was corrected, retracted or archived between them.
func (s *Store) Diff(ctx context.Context, q Interval) (r Diff, err error) {
	if err := required("from", strings.TrimSpace(q.From)); err != nil {
		return r, err
	}
	if q.Limit, err = checkLimit(q.Limit, 100); err != nil {
		return r, err
	}
	err = s.view(ctx, func(st *ledger.State, m moment) (err error) {
		r, err = history.Diff(st, q, m.now, s.clock())
		return err
	})
	return r, err
}

// Why tells every assertion behind a fact: who, when, from where, how often,
// and what it replaced.
func (s *Store) Why(ctx context.Context, q Subject) (r Provenance, err error) {
	if err := required("category", strings.TrimSpace(q.Category), "key", strings.TrimSpace(q.Key)); err != nil {
		return r, err
	}
	err = s.view(ctx, func(st *ledger.State, m moment) error {
		there := false
		if r, there = history.Why(st, q, m.now); !there {
			return notFound(q.Category, q.Key)
		}
		return nil
	})
	return r, err
}
