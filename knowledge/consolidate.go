package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
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

	// Written lists all that was written in a period, both ends included, tasks that are at work among it, the oldest first.
	Written(ctx context.Context, from, until time.Time) ([]Finding, error)
}

// Finding is one such entry.
type Finding struct {
	Kind string    // decision, insight, blocker, finding, result, progress, task
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

	// Unasked says that a session ended, or that it is time: what nobody asked for counts as unconfirmed.
	Unasked bool `json:"-"`
}

// Promoted is what a consolidation made.
type Promoted struct {
	Facts    []Remembered    `json:"facts"`
	Archived int             `json:"archived"`
	Woken    int             `json:"woken,omitempty"`  // dormant facts that recall gave, and that came back
	Moved    []ArchiveChange `json:"moved,omitempty"`  // the first hundred of both, by name
	Left     int             `json:"left"`             // over the budget, for the next time
	Unsure   int             `json:"unsure,omitempty"` // questions and guesses, which do not become facts
	Closed   []ClosedBlocker `json:"closed,omitempty"` // blockers that a later entry says are solved
	DryRun   bool            `json:"dry_run"`
}

// ClosedBlocker is a blocker that is solved.
type ClosedBlocker struct {
	Category string `json:"category"`
	Key      string `json:"key"`
	Value    string `json:"value"`
	By       string `json:"by"`  // who says so
	Ref      string `json:"ref"` // and where
	fact.Trust
}

var confidenceOf = map[string]float64{"decision": 0.85, "insight": 0.75, "blocker": 0.75, "finding": 0.7, discovery: 0.7, "result": 0.8}

// discovery is the kind of a diary entry that becomes a fact of the room of findings.
const discovery = "discovery"

// Consolidate promotes what agents wrote down to facts, the newest first, within its budget, and
// with the source of each. An entry that was promoted once is not promoted again. Nor is one
// whose fact was retracted or erased. A finding that says what is known confirms it, one that
// says more refines it, and a question or a guess becomes no fact. A blocker ends when a later
// entry says that it is solved. Then it runs the maintenance pass, which it also does where what
// they wrote cannot be read. It writes no prose of its own.
func Consolidate(ctx context.Context, s *Store, p Promotion) (Promoted, error) {
	allowed, err := p.allowance()
	if err != nil {
		return Promoted{}, err
	}
	found, err := findings(ctx, s, time.Time{})
	if err != nil {
		if ctx.Err() != nil {
			return Promoted{}, err
		}
		s.Warn("diaries and findings could not be read: %v", err)
	}
	if p.Unasked && len(found) == 0 {
		return Promoted{}, nil // and no file is made
	}
	near := map[string][]string{} // by finding: the versions that may say the same
	if err := s.View(ctx, func(st *state.State, _ time.Time) error {
		some, _, _ := allowed.of(unpromoted(st, found))
		for _, f := range some {
			near[f.Ref] = nil
		}
		return nil
	}); err != nil {
		return Promoted{}, err
	}
	for _, f := range found {
		if _, wanted := near[f.Ref]; !wanted {
			continue
		}
		if near[f.Ref], err = Related(ctx, s, f.Text); err != nil {
			return Promoted{}, err
		}
	}
	var r Promoted
	decide := func(st *state.State, now time.Time) (events []state.Event, err error) {
		some, over, unsure := allowed.of(unpromoted(st, found))
		r = Promoted{DryRun: p.DryRun, Left: over, Unsure: unsure}
		known := st.Reader()
		known.Files = s.files.Now
		w := state.NewOverlay(known, nil)
		events, r.Facts, err = promoteAll(s, some, near, st, w, now)
		if p.Unasked {
			leaveMarks(st, events, now)
		}
		if err == nil {
			var closed []state.Event
			closed, r.Closed = closeBlockers(s, st, found, now)
			events = append(events, closed...)
		}
		if len(events) > 0 {
			events = append(events, state.Note(state.NoteConsolidate, fmt.Sprintf("Consolidated %s", prose.Count(len(r.Facts), "finding")), now))
		}
		return events, err
	}
	pass := maintenance{s, !p.Unasked}
	if p.DryRun {
		err := s.View(ctx, func(st *state.State, now time.Time) error { _, err := decide(st, now); return err })
		if err != nil {
			return r, err
		}
		_, would, err := pass.due(ctx)
		r.moved(would)
		return r, err
	}
	if err := s.Update(ctx, decide); err != nil {
		return Promoted{}, err
	}
	done, err := pass.run(ctx)
	r.moved(done)
	return r, err
}

func (p *Promoted) moved(m Maintained) { p.Archived, p.Woken, p.Moved = m.Archived, m.Woken, m.first }

// budget is how many are promoted at most; 0 means none.
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

// of takes the first findings that there is room for, and counts the others, and those
// that are questions or guesses.
func (a allowance) of(found []Finding) (some []Finding, over, unsure int) {
	for _, f := range found {
		if isUnsure(f.Text) {
			unsure++
			continue
		}
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
	return some, over, unsure
}

// leaveMarks marks as unconfirmed what nobody asked for: a new fact, and one that only others have said until
// now. An agent that notes what it read in a stranger's fact has not confirmed it.
func leaveMarks(st *state.State, events []state.Event, now time.Time) {
	marked := map[string]bool{} // versions
	theirs := func(category, key, id string) bool {
		vs := st.Versions(fact.IDOf(category, key))
		if v := fact.WithID(vs, id); v != nil {
			return v.TakenIn
		}
		return marked[id] || len(vs) > 0 && !slices.ContainsFunc(vs, func(v *fact.Version) bool { return !v.TakenIn })
	}
	for _, e := range events {
		switch {
		case e.Put != nil:
			v := e.Put
			if v.RecordedFrom.Equal(now) && v.Outcome == string(Created) || theirs(v.Category, v.Key, v.ID) {
				v.TakenIn, marked[v.ID] = true, true
			}
		case e.Confirm != nil:
			e.Confirm.Unasked = theirs(e.Confirm.Category, e.Confirm.Key, e.Confirm.ID)
		}
	}
}

// promoteAll decides on findings one upon another.
func promoteAll(s *Store, found []Finding, near map[string][]string, st *state.State, w *state.Overlay, now time.Time) (events []state.Event, facts []Remembered, err error) {
	facts = []Remembered{}
	for _, f := range found {
		c := promote(s, f)
		var like []*fact.Version // what may say the same, as it is by now
		for _, id := range near[f.Ref] {
			if v := st.ByID(id); v != nil {
				like = append(like, fact.Current(w.Versions(fact.IDOf(v.Category, v.Key)), now))
			}
		}
		for _, r := range facts { // and what this consolidation made
			like = append(like, fact.Current(w.Versions(fact.IDOf(r.Category, r.Key)), now))
		}
		made, x, err := assertFinding(w, c, like, now)
		if err != nil {
			return nil, nil, err
		}
		w.Fold(made...)
		events, facts = append(events, made...), append(facts, x)
	}
	return events, facts, nil
}

// assertFinding asserts a finding, or confirms or refines the first fact that says the
// same. What it has not the authority to refine it confirms.
func assertFinding(w *state.Overlay, c Checked, like []*fact.Version, now time.Time) ([]state.Event, Remembered, error) {
	for _, v := range like {
		if v == nil {
			continue
		}
		kind := compareFinding(v, c.Value)
		if kind == unlike {
			continue
		}
		known := c
		known.Category, known.Key = v.Category, v.Key
		if kind == refines {
			if events, r, err := Assert(w, known, now); err != nil || r.Outcome != Disputed {
				return events, r, err
			}
		}
		known.Value = v.Value
		return Assert(w, known, now)
	}
	return Assert(w, c, now)
}

// closeBlockers ends the blockers that a later entry says are solved, unless whoever
// asserted one has more authority.
func closeBlockers(s *Store, st *state.State, found []Finding, now time.Time) (events []state.Event, closed []ClosedBlocker) {
	var blockers []*fact.Version
	for n, vs := range st.Sorted() {
		if n.Category == kindBlocker || n.Category == kindBlocker+"s" {
			if v := fact.Current(vs, now); v != nil {
				blockers = append(blockers, v)
			}
		}
	}
	for _, v := range blockers {
		f := solution(found, v.Value, v.LastConfirmed)
		if f == nil {
			continue
		}
		ended, x := End(st, fact.IDOf(v.Category, v.Key), Removal("", Source{Kind: KindAgent, By: f.By, Ref: f.Ref, Confidence: 1}), now, s.at(now))
		if x.Warned() {
			continue
		}
		for _, e := range ended {
			e.Put.Retraction = formats.Retraction{} // it was true, and is over
		}
		events, closed = append(events, ended...), append(closed, ClosedBlocker{v.Category, v.Key, v.Value, f.By, f.Ref, fact.TrustIn(v)})
	}
	return events, closed
}

// kindBlocker is the kind of an entry, and the room of the facts that it becomes.
const kindBlocker = "blocker"

// solution is the first entry after an instant that says that a blocker is solved; nil
// if there is none.
func solution(found []Finding, blocker string, after time.Time) *Finding {
	for i := range found {
		if f := &found[i]; f.At.After(after) && f.Kind != kindBlocker && saysSolved(f.Text) && isAbout(f.Text, blocker) {
			return f
		}
	}
	return nil
}

func findings(ctx context.Context, s *Store, since time.Time) ([]Finding, error) {
	if s.opts.Findings == nil {
		return nil, nil
	}
	return s.opts.Findings.Findings(ctx, since)
}

// LoggedDecisions lists decisions of diaries that are no facts yet, the newest first, at most so many: those
// that were logged since the last consolidation. It leaves out what is believed, withdrawn or unsure.
func LoggedDecisions(ctx context.Context, s *Store, most int) (out []Finding, err error) {
	if s.opts.Findings == nil {
		return nil, nil
	}
	var since time.Time
	err = s.ViewSome(ctx, func(k state.Reader, _ time.Time) error {
		last, _ := k.Last(state.NoteConsolidate)
		since = last.Timestamp
		return nil
	})
	if err != nil {
		return nil, err
	}
	found, err := findings(ctx, s, since)
	found = slices.DeleteFunc(found, func(f Finding) bool {
		return f.Kind != "decision" || !strings.HasPrefix(f.Ref, diaryRef) || !f.At.After(since) || isUnsure(f.Text) || strings.TrimSpace(f.Text) == ""
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	err = s.ViewSome(ctx, func(k state.Reader, now time.Time) error {
		out = nil
		for _, f := range slices.Backward(found) {
			believed := slices.ContainsFunc(k.Valued(f.Text), func(n fact.ID) bool {
				return slices.ContainsFunc(fact.AllCurrent(k.Versions(n), now), func(v *fact.Version) bool { return hasValue(v, f.Text) })
			})
			if len(out) < most && !believed && !withdrawn(k, f) {
				out = append(out, f)
			}
		}
		return nil
	})
	return out, err
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
		if f.Kind == discovery {
			f.Kind = "finding"
		}
		solved := f.Kind == kindBlocker && solution(found, f.Text, f.At) != nil
		if !taken[f.Ref] && !withdrawn(st.Reader(), f) && !solved && confidenceOf[f.Kind] > 0 && strings.TrimSpace(f.Text) != "" {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Ref, b.Ref)) })
	return out
}

// withdrawn reports whether the fact that an entry would become was withdrawn or erased.
func withdrawn(k state.Reader, f Finding) bool {
	return isWithdrawn(k, fact.IDOf(f.Kind, fact.Slug(f.Text))) || isWithdrawn(k, fact.IDOf(f.Kind, fact.FirstWords(f.Text)))
}

// isWithdrawn reports whether a fact was withdrawn or erased.
func isWithdrawn(st state.Reader, n fact.ID) bool {
	vs := st.Versions(n)
	withdrawn := len(vs) > 0 && !slices.ContainsFunc(vs, func(v *fact.Version) bool { return v.RetractedAt == nil })
	_, erased := st.Erased(n)
	return withdrawn || erased
}

func promote(s *Store, f Finding) Checked {
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
	act := func(did, would string, n int, noun string, always bool) {
		if p.DryRun {
			did = would
		}
		if n > 0 || always {
			fmt.Fprintf(&b, ", %s %s", did, prose.Count(n, noun))
		}
	}
	act("archived", "archive", p.Archived, "fact", true)
	act("woke", "wake", p.Woken, "dormant fact", false)
	act("closed", "close", len(p.Closed), "blocker", false)
	act("left out", "leave out", p.Unsure, "unsure entry", false)
	for _, f := range p.Facts {
		outcome := ""
		if f.Outcome == Confirmed || f.Outcome == Refined {
			outcome = ", " + string(f.Outcome)
		}
		fmt.Fprintf(&b, "\n  [%s/%s]: %s (conf: %s%s)", prose.Name(f.Category), prose.Name(f.Key), prose.Brief(f.Value), prose.Percent(f.Confidence), outcome)
	}
	for _, c := range p.Closed {
		fmt.Fprintf(&b, "\n  closed [%s/%s]: %s (solved: %s)", prose.Name(c.Category), prose.Name(c.Key), c.Brief(c.Value), prose.Line(c.Ref))
	}
	shown := p.Moved[:min(len(p.Moved), movedShown)]
	for _, m := range shown {
		verb := "archived"
		if m.Woken {
			verb = "woke"
		}
		fmt.Fprintf(&b, "\n  %s [%s/%s]: %s", verb, prose.Name(m.Category), prose.Name(m.Key), m.Brief(m.Value))
	}
	if more := p.Archived + p.Woken - len(shown); more > 0 {
		fmt.Fprintf(&b, "\n  … %d more", more)
		if len(p.Moved) > len(shown) {
			b.WriteString(" (output=json shows more)")
		}
	}
	return b.String()
}
