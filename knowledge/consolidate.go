package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Findings is what agents wrote down elsewhere: diaries, the scratchpad,
// results of tasks. It is all that this package needs to know of them.
type Findings interface {
	// Findings lists what was written since an instant, the oldest first.
	Findings(ctx context.Context, since time.Time) ([]Finding, error)
}

// Finding is one such entry.
type Finding struct {
	Kind string    // decision, insight, blocker, finding, result
	Text string    // what was found, in the agent's words
	By   string    // agent id
	Ref  string    // names the entry for good, e.g. diary:cursor-a3f8/12
	At   time.Time // when it was written
}

// Promotion bounds a consolidation.
type Promotion struct {
	MaxDecisions *int `json:"max_decisions,omitempty" jsonschema:"most decisions to promote (default 5)"`
	MaxFindings  *int `json:"max_findings,omitempty" jsonschema:"most findings, insights, blockers and results to promote (default 8)"`
	DryRun       bool `json:"dry_run,omitempty" jsonschema:"show what would be promoted, change nothing"`
}

// Promoted is what a consolidation made.
type Promoted struct {
	Facts    []Remembered `json:"facts"`
	Archived int          `json:"archived"`
	Woken    int          `json:"woken,omitempty"` // dormant facts that recall gave, and that came back
	Left     int          `json:"left"`            // over the budget, for the next time
	DryRun   bool         `json:"dry_run"`
}

var confidenceOf = map[string]float64{"decision": 0.85, "insight": 0.75, "blocker": 0.75, "finding": 0.7, "result": 0.8}

// Consolidate promotes what agents wrote down to facts, newest first within
// its budget, with where each comes from; what was promoted once, or whose
// fact was retracted or erased, is not promoted again. Then it runs the
// maintenance pass, which it also does where what they wrote cannot be read. It writes no prose of its own.
func (s *Store) Consolidate(ctx context.Context, p Promotion) (Promoted, error) {
	allowed, err := p.allowance()
	if err != nil {
		return Promoted{}, err
	}
	found, err := s.findings(ctx, time.Time{})
	if err != nil {
		if ctx.Err() != nil {
			return Promoted{}, err
		}
		s.Warn("what agents wrote down was not looked at: %v", err)
	}
	var r Promoted
	decide := func(st *state.State, now time.Time) (events []state.Event, err error) {
		some, over := allowed.of(unpromoted(st, found))
		r = Promoted{DryRun: p.DryRun, Left: over}
		events, r.Facts, err = s.promoteAll(some, state.Over(st, nil), now)
		return events, err
	}
	if p.DryRun {
		if err := s.View(ctx, func(st *state.State, now time.Time) error { _, err := decide(st, now); return err }); err != nil {
			return r, err
		}
		_, counts, err := s.due(ctx, true)
		r.Archived, r.Woken = counts.Archived, counts.Woken
		return r, err
	}
	if err := s.Update(ctx, decide); err != nil {
		return Promoted{}, err
	}
	done, err := s.Maintain(ctx, true)
	r.Archived, r.Woken = done.Archived, done.Woken
	return r, err
}

// budget is how many are promoted at most: none if 0 was asked for.
func budget(argument string, given *int, standard int) (int, error) {
	switch {
	case given == nil:
		return standard, nil
	case *given < 0:
		return 0, refusal.Argument(argument, "%s %d is negative", argument, *given)
	}
	return *given, nil
}

// allowance is how many findings may be promoted.
type allowance struct{ decisions, others int }

func (p Promotion) allowance() (a allowance, err error) {
	if a.decisions, err = budget("max_decisions", p.MaxDecisions, 5); err != nil {
		return a, err
	}
	a.others, err = budget("max_findings", p.MaxFindings, 8)
	return a, err
}

// of takes the first findings that there is room for, and counts the others.
func (a allowance) of(found []Finding) (some []Finding, over int) {
	for _, f := range found {
		left := &a.others
		if f.Kind == "decision" {
			left = &a.decisions
		}
		if *left == 0 {
			over++
			continue
		}
		*left--
		some = append(some, f)
	}
	return some, over
}

// promoteAll decides on findings one upon another.
func (s *Store) promoteAll(found []Finding, w *state.Overlay, now time.Time) (events []state.Event, facts []Remembered, err error) {
	facts = []Remembered{}
	for _, f := range found {
		made, x, err := Assert(w, s.promote(f), now)
		if err != nil {
			return nil, nil, err
		}
		w.Fold(made...)
		events, facts = append(events, made...), append(facts, x)
	}
	if len(events) > 0 {
		events = append(events, state.Note(state.NoteConsolidate, fmt.Sprintf("Consolidated %s", prose.Count(len(facts), "finding")), now))
	}
	return events, facts, nil
}

func (s *Store) findings(ctx context.Context, since time.Time) ([]Finding, error) {
	if s.opts.Findings == nil {
		return nil, nil
	}
	return s.opts.Findings.Findings(ctx, since)
}

// unpromoted lists what no fact stems from yet, the newest first.
func unpromoted(st *state.State, found []Finding) []Finding {
	if len(found) == 0 {
		return nil // and every fact would be read for it
	}
	taken := map[string]bool{}
	for _, v := range st.Each() {
		for _, src := range v.Sources {
			taken[src.Ref] = true
		}
	}
	var out []Finding
	for _, f := range found {
		withdrawn := gone(st, fact.IDOf(f.Kind, fact.Slug(f.Text))) || gone(st, fact.IDOf(f.Kind, fact.FirstWords(f.Text)))
		if !taken[f.Ref] && !withdrawn && confidenceOf[f.Kind] > 0 && strings.TrimSpace(f.Text) != "" {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Ref, b.Ref)) })
	return out
}

// gone tells whether a fact was withdrawn or erased.
func gone(st *state.State, n fact.ID) bool {
	vs := st.Versions(n)
	withdrawn := len(vs) > 0 && !slices.ContainsFunc(vs, func(v *fact.Version) bool { return v.RetractedAt == nil })
	_, erased := st.Erased(n)
	return withdrawn || erased
}

func (s *Store) promote(f Finding) Checked {
	text, _ := s.Redact(strings.TrimSpace(f.Text))
	return Checked{
		Category: f.Kind, Value: prose.Clip(text, MaxValue/4), Confidence: confidenceOf[f.Kind], Session: f.By,
		Source: Source{Kind: KindAgent, Ref: f.Ref, By: f.By, Confidence: confidenceOf[f.Kind]},
	}
}

// Text gives the answer's lines.
func (p Promoted) Text() string {
	var b strings.Builder
	verb := "Consolidated"
	if p.DryRun {
		verb = "[DRY RUN] Would consolidate"
	}
	fmt.Fprintf(&b, "%s %s, %d left over the budget", verb, prose.Count(len(p.Facts), "finding"), p.Left)
	archived := "archived"
	if p.DryRun {
		archived = "archive"
	}
	fmt.Fprintf(&b, ", %s %s", archived, prose.Count(p.Archived, "fact"))
	if p.Woken > 0 {
		woken := "woke"
		if p.DryRun {
			woken = "wake"
		}
		fmt.Fprintf(&b, ", %s %s", woken, prose.Count(p.Woken, "dormant fact"))
	}
	for _, f := range p.Facts {
		fmt.Fprintf(&b, "\n  [%s/%s]: %s (conf: %s)", prose.Line(f.Category), prose.Line(f.Key), prose.Brief(f.Value), prose.Percent(f.Confidence))
	}
	return b.String()
}
