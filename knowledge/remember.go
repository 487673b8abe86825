package knowledge

import (
	"context"
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
	"leanctx/knowledge/verdict"
)

// Remember asserts a fact and is on disk when it returns. It fails with an
// [ArgumentError] that names what is wrong, or with an error of the journal;
// then nothing has changed. A contradiction is part of the result, not an error.
func (s *Store) Remember(ctx context.Context, a Assertion) (Remembered, error) {
	c, err := s.Check(a)
	if err != nil {
		return Remembered{}, err
	}
	s.advice.writers.Add(1)
	defer s.advice.writers.Add(-1)
	var r Remembered
	err = s.Decide(ctx, func(st state.Known, now time.Time) ([]state.Event, error) {
		var events []state.Event
		events, r, err = s.assert(st, c, now)
		if r.Outcome != Confirmed {
			r.Similar = sameElsewhere(st, r, s.present(now))
		}
		return events, err
	})
	if err != nil {
		return Remembered{}, err
	}
	r.Redacted, r.Unchecked = c.Redacted, c.unchecked
	s.weighRival(ctx, r.Contradiction)
	s.advice.conflicts(ctx, &r, s.present(r.RecordedAt))
	return r, nil
}

// Assert is the whole policy of remember. Given what is believed, an assertion
// and the recorded time, it returns the events that follow. It is pure.
//
//   - The current value again, without a period, is a confirmation. The count
//     goes up, the higher confidence counts, the source is added, and the first
//     spelling stays. Package verdict says which values are equal.
//   - Another value with Correct is a correction: the old value never was true in
//     the period of the assertion, which is that of the old version unless given.
//   - What has not the authority to replace a version that would make room for it
//     is disputed: nothing changes but the list of disputes. See [mayReplace].
//     A value that goes back and forth between two authors is believed, and what
//     it replaced is disputed. See [timeline.flipFlop].
//   - Of a fact with several values an assertion ends none but the one that it
//     replaces or refines; see [timeline.findLine].
//   - Anything else takes its place in valid time: see [timeline.place]. What it
//     says about the value that it replaces is in [timeline.judge].
func Assert(f state.Facts, c Checked, now time.Time) ([]state.Event, Remembered, error) {
	c.name(f)
	t := newTimeline(c, f.Versions(fact.IDOf(c.Category, c.Key)), now)
	t.facts = f
	if err := c.checkLists(t.model()); err != nil {
		return nil, Remembered{}, err
	}
	if err := t.findLine(); err != nil {
		return nil, Remembered{}, err
	}
	t.followWithinDay()
	t.beginUnknown()
	held := valuesAt(t.versions, t.present)
	same := slices.IndexFunc(held, t.equals)
	switch {
	case same >= 0 && !c.dated() && (c.Replaces == "" || t.line == held[same]):
		return t.confirm(held[same])
	case c.Correct:
		return t.correct()
	}
	p, err := t.period(fact.Period{From: t.present})
	if err != nil {
		return nil, Remembered{}, err
	}
	return t.finish(t.place(p), p)
}

// followWithinDay puts a beginning that was given as a day after the last version
// that began on that day. A day means some time that day, so the order of recording
// decides, and that version was true. A correction takes that version's place, and
// the same value begins with it.
func (t *timeline) followWithinDay() {
	if !t.said.FromDay {
		return
	}
	day := fact.Period{From: *t.said.From, Until: new(t.said.From.AddDate(0, 0, 1))}
	if day.Contains(t.present) {
		day.Until = new(t.present.Add(1)) // what is planned for later that day is no predecessor
	}
	var last *fact.Version
	for _, v := range t.before {
		if fact.Believed(v) && (t.inLine(v) || t.equals(v)) && day.Contains(v.ValidFrom) && (last == nil || v.ValidFrom.After(last.ValidFrom)) {
			last = v
		}
	}
	if last == nil {
		return
	}
	from := last.ValidFrom
	switch end := last.ValidUntil; {
	case t.said.Correct || t.equals(last):
	case end != nil && end.Before(*day.Until):
		from = *end // it was over on the same day
	default:
		from = from.Add(time.Nanosecond)
	}
	if fact.Before(from, t.said.Until) {
		t.said.From = &from
	}
}

// beginUnknown gives a beginning to a value that has ended if nobody knows when it began. The
// least that can be said is that it was true just before its end. So what was believed before
// stays.
func (t *timeline) beginUnknown() {
	c := &t.said
	corrects := c.Correct && fact.CurrentAt(t.before, t.present) != nil // that version's end
	if c.From == nil && c.Until != nil && !corrects && !c.Until.After(t.present) {
		c.From = new(c.Until.Add(-time.Nanosecond))
	}
}

// correct replaces what was wrong. With the same value and another period it
// is the period that is put right; this is how a fact is given an end.
func (t *timeline) correct() ([]state.Event, Remembered, error) {
	at := t.present
	if t.said.From != nil {
		at = *t.said.From
	}
	wrong := t.wrongAt(at)
	if wrong == nil {
		// A period that begins after the present version's end is not about it.
		if wrong = t.wrongAt(t.present); wrong != nil && !fact.Before(at, wrong.ValidUntil) {
			wrong = nil
		}
	}
	if wrong == nil {
		p, err := t.period(fact.Period{From: t.present})
		if err != nil {
			return nil, Remembered{}, err
		}
		return t.finish(t.place(p), p)
	}
	was := fact.PeriodOf(wrong)
	if t.said.Replaces == AllValues {
		for _, v := range valuesAt(t.versions, at) {
			was = was.Union(fact.PeriodOf(v))
		}
	}
	p, err := t.period(was)
	if err != nil {
		return nil, Remembered{}, err
	}
	t.correcting = true
	if t.equals(wrong) {
		if !p.Equal(fact.PeriodOf(wrong)) && !t.mayReplace(wrong) {
			return t.disputed(wrong)
		}
		t.cutAround(p, wrong.ID)
		w := t.asserted(fact.Reperiod(wrong, p, t.now))
		t.put(w)
		return t.finish(w, p)
	}
	return t.finish(t.place(p), p)
}

// wrongAt is the version that a correction is about, of those valid at t.
func (t *timeline) wrongAt(at time.Time) (wrong *fact.Version) {
	for _, v := range valuesAt(t.versions, at) {
		if t.inLine(v) || t.line == nil && t.equals(v) {
			wrong = v
		}
	}
	return wrong
}

// place gives the assertion its place in valid time, period p.
//
// Versions with another value are cut where p covers them. The parts before and after keep the
// old value. A version that is covered whole is no longer believed. Versions with the same value
// that p overlaps or touches become one with it, and that counts as a confirmation.
func (t *timeline) place(p fact.Period) *fact.Version {
	var same []*fact.Version
	for _, v := range t.versions {
		if fact.Believed(v) && t.equals(v) && touches(v, p) {
			same = append(same, v)
		}
	}
	t.cutAround(p, ids(same)...)
	t.markSeveral()
	if len(same) == 0 {
		v := t.create(p)
		t.put(v)
		return v
	}
	base := *same[0]
	whole := p.Union(fact.PeriodOf(&base))
	for _, v := range same[1:] {
		whole = whole.Union(fact.PeriodOf(v))
		base.ConfirmationCount += v.ConfirmationCount
		base.Confidence = max(base.Confidence, v.Confidence)
		base.Sources = slices.Concat(base.Sources, v.Sources)
		t.put(fact.Disbelieve(v, t.now))
	}
	v := &base
	if !whole.Equal(fact.PeriodOf(v)) {
		v = fact.Reperiod(v, whole, t.now)
	}
	v = t.asserted(v)
	v.Also = t.several
	t.put(v)
	return v
}

// equals reports whether a version has the asserted value.
func (t *timeline) equals(v *fact.Version) bool { return t.compare(v) == verdict.Equal }

// compare tells how the asserted value relates to that of a version.
func (t *timeline) compare(v *fact.Version) verdict.Kind {
	kind, known := t.kinds[v.Value]
	if !known {
		kind = verdict.Canonical(v.Key, v.Value).Compare(t.form)
		t.kinds[v.Value] = kind
	}
	return kind
}

// judge says what the new version v means for the one that was believed at an
// instant, where the asserted period begins. A value that says all that the old one said and more
// refines it. Any other value changes it, and that is worth a warning when the
// old value was well founded or somebody else's: see [severity].
func (t *timeline) judge(v *fact.Version, at time.Time, r *Remembered) {
	old := t.replacedAt(at)
	if old == nil {
		return
	}
	if !slices.Contains(ids(valuesAt(t.versions, t.present)), old.ID) {
		r.Was = &Was{Value: old.Value, Since: old.ValidFrom, AssertedBy: old.AssertedBy}
		if len(t.displaced) > 1 && t.said.Replaces == AllValues {
			r.Was.All = valuesOf(t.displaced)
		}
	}
	if t.compare(old) == verdict.Refined {
		if r.Outcome == Superseded {
			r.Outcome = Refined
		}
		return
	}
	r.Contradiction = t.contradiction(old, v)
}

// touches reports whether a version and a period of the same value are one
// stretch of time. A retracted version is not joined at the instant it was
// withdrawn, or withdrawing would have no effect.
func touches(v *fact.Version, p fact.Period) bool {
	q := fact.PeriodOf(v)
	return q.Overlaps(p) || p.Meets(q) || q.Meets(p) && v.RetractedAt == nil
}

// cutAround makes room for p among the versions not named in keep.
func (t *timeline) cutAround(p fact.Period, keep ...string) {
	for _, v := range slices.Clone(t.versions) {
		q := fact.PeriodOf(v)
		if !fact.Believed(v) || slices.Contains(keep, v.ID) || !q.Overlaps(p) || !t.inLine(v) {
			continue
		}
		t.displaced = append(t.displaced, v)
		starts := q.From.Before(p.From)
		resumes := p.Until != nil && fact.Before(*p.Until, q.Until)
		switch {
		case starts && resumes:
			t.put(fact.Reperiod(v, fact.Period{From: q.From, Until: &p.From}, t.now))
			t.put(t.resume(v, fact.Period{From: *p.Until, Until: q.Until}))
		case starts:
			t.put(fact.Reperiod(v, fact.Period{From: q.From, Until: &p.From}, t.now))
		case resumes:
			t.put(fact.Reperiod(v, fact.Period{From: *p.Until, Until: q.Until}, t.now))
		default:
			t.put(fact.Disbelieve(v, t.now))
		}
	}
}

// period is the assertion's valid period: what it gives, else that of p. Without
// an end it runs to the start of the next version.
func (t *timeline) period(p fact.Period) (fact.Period, error) {
	if t.said.From != nil {
		p.From = *t.said.From
	}
	if t.said.Until != nil {
		p.Until = t.said.Until
		if !p.From.Before(*p.Until) {
			return p, refusal.Argument("valid_until", "valid_until %s is not after valid_from %s", p.Until.Format(time.RFC3339), p.From.Format(time.RFC3339))
		}
		return p, nil
	}
	for _, v := range t.versions {
		if t.several || t.said.Replaces == AllValues && v.Also {
			continue // it has a timeline of its own, or ends
		}
		if fact.Believed(v) && v.ValidFrom.After(p.From) && fact.Before(v.ValidFrom, p.Until) {
			p.Until = new(v.ValidFrom)
			break
		}
	}
	if p.Until != nil && !p.From.Before(*p.Until) {
		p.Until = nil
	}
	return p, nil
}

// outcome names what an assertion turned out to be.
func (t *timeline) outcome(v *fact.Version, p fact.Period) Outcome {
	switch {
	case t.correcting:
		return Corrected
	case t.joined && (t.said.Replaces == "" || len(t.displaced) == 0):
		return Confirmed
	case p.From.After(t.present):
		return Planned
	case p.Contains(t.present) && len(t.displaced) > 0:
		return Superseded
	case p.Contains(t.present) && t.several && len(valuesAt(t.versions, t.present)) > 1:
		return Added
	case p.Contains(t.present) || !slices.ContainsFunc(t.before, fact.Believed):
		return Created
	}
	return Backdated
}

// create makes a new version. Tags, aliases, pin and privacy are the fact's, not
// the value's: they carry over from the version before. Questions do where the
// new value refines the old one.
func (t *timeline) create(p fact.Period) *fact.Version {
	c := t.said
	v := &fact.Version{
		ID:       t.id(c.Value),
		Category: c.Category, Key: c.Key, Value: c.Value, SourceSession: c.Session,
		Confidence: c.Confidence, CreatedAt: t.present, LastConfirmed: t.now,
		ValidFrom: p.From, ValidUntil: p.Until, ConfirmationCount: 1, RevisionCount: 1,
		Privacy: PrivacyShared, Archetype: formats.Archetype(c.Category), RecordedFrom: t.now,
		AssertedBy: c.Source.By, Sources: []Source{t.source()}, Tags: []string{}, Aliases: []string{}, Also: t.several,
	}
	if len(t.displaced) > 0 {
		v.Supersedes = formats.Optional(t.displaced[len(t.displaced)-1].ID)
	}
	for _, w := range t.before {
		v.RevisionCount = max(v.RevisionCount, w.RevisionCount+1)
	}
	if m := t.model(); m != nil {
		v.Tags, v.Aliases, v.Pinned, v.Privacy = m.Tags, m.Aliases, m.Pinned, m.Privacy
	}
	if old := t.replacedAt(p.From); old != nil && t.compare(old) == verdict.Refined {
		v.Questions, v.QuestionsAt = old.Questions, old.QuestionsAt
	}
	c.describe(v)
	return v
}

// resume is the rest of a version that a shorter period interrupts.
func (t *timeline) resume(v *fact.Version, p fact.Period) *fact.Version {
	w := *v
	w.ID = t.id(v.Value)
	w.ValidFrom, w.ValidUntil, w.RecordedFrom, w.CreatedAt = p.From, p.Until, t.now, t.now
	w.Beliefs, w.Supersedes, w.Outcome = nil, formats.Optional(v.ID), "resumed"
	w.Sources = slices.Clip(v.Sources) // the two go on apart: neither may write into the other's array
	return &w
}

// timeline is a fact's versions while an assertion takes its place among them.
type timeline struct {
	facts   state.Facts
	said    Checked
	form    verdict.Form            // of the asserted value
	kinds   map[string]verdict.Kind // how it relates to other values
	now     time.Time               // the recorded time
	present time.Time               // now, or the wall clock if the recorded time is far ahead of it

	edits

	joined     bool // the assertion became one with a version of the same value
	correcting bool

	several bool          // the assertion is one of several values
	line    *fact.Version // the one of them that makes room for it; nil: none
}

// newTimeline is that of an assertion about a fact with these versions.
func newTimeline(c Checked, versions []*fact.Version, now time.Time) *timeline {
	t := &timeline{said: c, form: verdict.Canonical(c.Key, c.Value), kinds: map[string]verdict.Kind{}, now: now, present: now}
	if !c.At.IsZero() {
		t.present = fact.Present(c.At, now)
	}
	t.before, t.changed = fact.Settle(versions, t.present, now)
	t.versions = slices.Clone(t.before)
	return t
}

// model is the version that a new one takes tags, aliases, pin and privacy from:
// the current one, else the last.
func (t *timeline) model() *fact.Version {
	if v := fact.CurrentAt(t.before, t.present); v != nil {
		return v
	}
	for _, v := range slices.Backward(t.before) {
		if fact.Believed(v) {
			return v
		}
	}
	return nil
}

// id is a new version's id.
func (t *timeline) id(value string) string {
	return fact.NewVersionID(t.said.Category, t.said.Key, value, t.now, func(id string) bool {
		return fact.WithID(t.versions, id) != nil || fact.WithID(t.before, id) != nil
	})
}

func (t *timeline) source() Source {
	s := t.said.Source
	s.At = t.now
	return s
}

// confirming is the source of an assertion that confirms v. Where it names no file
// those behind v are taken anew.
func (t *timeline) confirming(v *fact.Version) Source {
	s := t.source()
	if len(s.Files) == 0 {
		s.Files = reread(t.facts, v)
	}
	return s
}

// asserted is a copy of v with one assertion more.
func (t *timeline) asserted(v *fact.Version) *fact.Version {
	w := *v
	w.ConfirmationCount++
	w.RevisionCount++
	w.Confidence = max(v.Confidence, t.said.Confidence)
	w.LastConfirmed, w.ArchivedAt, w.TakenIn = t.now, nil, false
	w.Sources = append(slices.Clip(v.Sources), t.confirming(v))
	said := t.permitted(v)
	said.describe(&w)
	t.joined = true
	return &w
}

// confirm is the common case: nothing changes but the count and its evidence.
func (t *timeline) confirm(v *fact.Version) ([]state.Event, Remembered, error) {
	w, said := t.asserted(v), t.permitted(v)
	e := &state.Confirmation{Category: v.Category, Key: v.Key, ID: v.ID, Confidence: w.Confidence, Source: t.confirming(v), Questions: said.Questions, Pinned: said.Pinned, Privacy: said.Privacy}
	if len(w.Tags) > len(v.Tags) {
		e.Tags = w.Tags
	}
	if len(w.Aliases) > len(v.Aliases) {
		e.Aliases = w.Aliases
	}
	t.changed = []*fact.Version{w}
	return []state.Event{{Confirm: e}}, t.remembered(w, Confirmed), nil
}

// finish turns the timeline into events and the answer.
func (t *timeline) finish(v *fact.Version, wanted fact.Period) ([]state.Event, Remembered, error) {
	if old := t.protected(v); old != nil {
		return t.disputed(old)
	}
	r := t.remembered(v, t.outcome(v, wanted))
	switch r.Outcome {
	case Superseded, Backdated:
		t.judge(v, wanted.From, &r)
	case Confirmed:
		if !wanted.Equal(fact.PeriodOf(v)) {
			r.Asked = &wanted
		}
	}
	if !t.joined {
		v.Outcome = string(r.Outcome) // create made it just now
	}
	events := make([]state.Event, len(t.changed))
	for i, w := range t.changed {
		events[i] = state.Event{Put: w}
	}
	if opened, x := t.flipFlop(v); x.Warned() {
		events, r.Contested = append(events, opened...), x
	} else if opened, x := t.apart(v); x.Warned() {
		events, r.Contested = append(events, opened...), x
	}
	return events, r, nil
}

func (t *timeline) remembered(v *fact.Version, o Outcome) Remembered {
	r := Remembered{
		Outcome: o, ID: v.ID, Category: v.Category, Key: v.Key, Value: v.Value, Confidence: v.Confidence,
		Confirmations: v.ConfirmationCount, ValidFrom: v.ValidFrom, ValidUntil: v.ValidUntil,
		RecordedAt: t.now, Touched: ids(t.changed), dated: t.said.dated(),
	}
	r.Displaced = t.displacements()
	if t.several {
		r.Values = valuesOf(valuesAt(t.versions, t.present))
	}
	return r
}

// edits are a fact's versions while some of them change.
type edits struct {
	before    []*fact.Version // as they are believed before: see [fact.Settle]
	versions  []*fact.Version // as they will be
	changed   []*fact.Version // the ones that differ from those stored, in the order of the changes
	displaced []*fact.Version // other values that had to make room, as they were
}

// put adds a version, or replaces the one with its id.
func (e *edits) put(v *fact.Version) {
	for _, list := range []*[]*fact.Version{&e.versions, &e.changed} {
		if i := slices.IndexFunc(*list, func(w *fact.Version) bool { return w.ID == v.ID }); i >= 0 {
			(*list)[i] = v
		} else {
			*list = append(*list, v)
		}
	}
}

// replacedAt is the version, valid at an instant, that had to make room; the last one of several.
func (e *edits) replacedAt(at time.Time) *fact.Version {
	for _, v := range slices.Backward(e.displaced) {
		if fact.PeriodOf(v).Contains(at) {
			return v
		}
	}
	return nil
}

// displacements tell what became of the versions that made room.
func (e *edits) displacements() (out []Displacement) {
	for _, old := range e.displaced {
		d := Displacement{ID: old.ID, Value: old.Value, Was: fact.PeriodOf(old)}
		for _, w := range e.versions {
			if fact.Believed(w) && (w.ID == old.ID || string(w.Supersedes) == old.ID && w.Outcome == "resumed") {
				d.Now = append(d.Now, fact.PeriodOf(w))
			}
		}
		out = append(out, d)
	}
	return out
}

func ids(vs []*fact.Version) []string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = v.ID
	}
	return out
}
