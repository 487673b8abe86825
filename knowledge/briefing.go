package knowledge

import (
	"context"
	"slices"
	"strings"

	"leanctx/formats"
	"leanctx/internal/refusal"
	"leanctx/knowledge/briefing"
	"leanctx/knowledge/ledger"
	"leanctx/knowledge/reminder"
)

// Moment asks for the briefing.
type Moment struct {
	Budget int    `json:"budget,omitempty" jsonschema:"most tokens, estimated as bytes/4 (default 800)"`
	AsOf   string `json:"as_of,omitempty" jsonschema:"what was true then: RFC 3339, a day or an age"`
}

// Briefing is what an agent should know when it begins.
type Briefing = briefing.Selection

// Wakeup selects the facts worth knowing at once and renders them as AAAK:
// pinned ones first, then by salience, whole facts only, within the budget.
func (s *Store) Wakeup(ctx context.Context, q Moment) (Briefing, error) {
	if q.Budget < 0 {
		return Briefing{}, refusal.Argument("budget", "budget %d is negative", q.Budget)
	}
	o := s.occasion(ctx)
	o.Budget = q.Budget
	return s.briefed(ctx, Question{AsOf: q.AsOf}, o)
}

// Outset is the beginning of a piece of work.
type Outset struct {
	Task   string   // what is to be done, in a sentence; empty: not known
	Files  []string // what it is about, from the project's root, with / between the parts
	Budget int      // most tokens, estimated as bytes/4; 0: the default of [Moment]
}

// Begin is the briefing for one who begins a piece of work. The selection is
// that of [Store.Wakeup]; the task decides between facts that matter the same,
// and the reminders begin with those whose keyword stands in the task or whose
// path is that of a file.
func (s *Store) Begin(ctx context.Context, b Outset) (Briefing, error) {
	if strings.TrimSpace(b.Task) != "" {
		s = s.On(b.Task)
	}
	o := s.occasion(ctx)
	o.Budget, o.Meets = b.Budget, b.meets
	return s.briefed(ctx, Question{}, o)
}

// meets reports whether a reminder is about the work.
func (b Outset) meets(r formats.Reminder) bool {
	return reminder.AtWords(r, b.Task) || slices.ContainsFunc(b.Files, func(file string) bool { return reminder.AtFile(r, file) })
}

func (s *Store) briefed(ctx context.Context, q Question, o briefing.Occasion) (r Briefing, err error) {
	err = s.view(ctx, func(st *ledger.State, m moment) error {
		f, err := q.frame(m, s.clock())
		if err != nil {
			return err
		}
		r = o.Select(st, &f.held)
		return nil
	})
	return r, err
}
