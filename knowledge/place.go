package knowledge

import (
	"slices"

	"leanctx/formats"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// How a decision on an assertion is carried out: what becomes of the versions of its fact. The
// policy is in remember.go.

// carryOut gives the events that follow from a decision, and the answer.
func (d *decision) carryOut() ([]state.Event, Remembered) {
	p := &placement{decision: d, after: slices.Clone(d.versions), changed: d.settled}
	switch {
	case d.confirms != nil:
		return p.confirm()
	case d.keeps != nil:
		p.changed = nil
		r := p.remembered(d.keeps)
		var events []state.Event
		events, r.DisputeNote = openDispute(d.facts, d.asserted.dispute(), d.keeps, d.present)
		return events, r
	}
	for _, v := range d.ends {
		p.cut(v)
	}
	v := p.put()
	r := p.remembered(v)
	p.compared(v, &r)
	events := make([]state.Event, len(p.changed))
	for i, w := range p.changed {
		events[i] = state.Event{Put: w}
	}
	if d.doubt != nil {
		var opened []state.Event
		opened, r.DisputeNote = openDispute(d.facts, *d.doubt, v, d.present)
		events = append(events, opened...)
	}
	return events, r
}

// placement is a fact's versions while an assertion takes its place among them.
type placement struct {
	*decision
	after   []*fact.Version // as they will be
	changed []*fact.Version // those that differ from what is stored, in the order of the changes
	left    []string        // what a confirmation may not change: see [decision.permitted]
}

// set adds a version, or replaces the one with its id.
func (p *placement) set(v *fact.Version) {
	for _, list := range []*[]*fact.Version{&p.after, &p.changed} {
		if i := fact.PlaceOf(*list, v.ID); i >= 0 {
			(*list)[i] = v
		} else {
			*list = append(*list, v)
		}
	}
}

// cut makes room for the assertion's period in a version. The parts before and after it keep
// their value. A version that is covered whole is no longer believed.
func (p *placement) cut(v *fact.Version) {
	whole, from, until := fact.PeriodOf(v), p.period.From, p.period.Until
	starts := whole.From.Before(from)
	resumes := until != nil && fact.Before(*until, whole.Until)
	switch {
	case starts:
		p.set(fact.Reperiod(v, fact.Period{From: whole.From, Until: &from}, p.now))
		if resumes {
			p.set(p.resumed(v, fact.Period{From: *until, Until: whole.Until}))
		}
	case resumes:
		p.set(fact.Reperiod(v, fact.Period{From: *until, Until: whole.Until}, p.now))
	default:
		p.set(fact.Disbelieve(v, p.now))
	}
}

// resumed is the rest of a version that a shorter period interrupts.
func (p *placement) resumed(v *fact.Version, remainder fact.Period) *fact.Version {
	w := *v
	w.ID = p.newID(v.Value)
	w.ValidFrom, w.ValidUntil, w.RecordedFrom, w.CreatedAt = remainder.From, remainder.Until, p.now, p.now
	w.Beliefs, w.Supersedes, w.Outcome = nil, formats.Optional(v.ID), "resumed"
	w.Sources = slices.Clip(v.Sources) // the two go on apart: neither may write into the other's array
	return &w
}

// put gives the assertion its place: in the version that moves, in one made of those with the
// same value, or in a new one.
func (p *placement) put() (v *fact.Version) {
	if p.moves {
		v = p.confirmed(fact.Reperiod(p.wrong, p.period, p.now))
		p.set(v)
		return v
	}
	p.markSeveral()
	if len(p.same) == 0 {
		v = p.create()
	} else {
		v = p.confirmed(p.join())
		v.Also = p.several
	}
	p.set(v)
	return v
}

// markSeveral marks what holds now or later as one of several values.
func (p *placement) markSeveral() {
	if !p.several {
		return
	}
	for _, v := range slices.Clone(p.after) {
		if fact.Believed(v) && !v.Also && fact.Before(p.present, v.ValidUntil) {
			w := *v
			w.Also = true
			p.set(&w)
		}
	}
}

// join makes one version of those with the asserted value.
func (p *placement) join() *fact.Version {
	one := *p.same[0]
	whole := p.period.Union(fact.PeriodOf(&one))
	for _, v := range p.same[1:] {
		whole = whole.Union(fact.PeriodOf(v))
		one.ConfirmationCount += v.ConfirmationCount
		one.Confidence = max(one.Confidence, v.Confidence)
		one.Sources = slices.Concat(one.Sources, v.Sources)
		p.set(fact.Disbelieve(v, p.now))
	}
	if whole.Equal(fact.PeriodOf(&one)) {
		return &one
	}
	return fact.Reperiod(&one, whole, p.now)
}

// create makes a new version. Tags, aliases, pin and privacy are the fact's, not
// the value's: they carry over from the version before. Questions do where the
// new value refines the old one.
func (p *placement) create() *fact.Version {
	a := &p.asserted
	v := &fact.Version{
		ID:       p.newID(a.Value),
		Category: a.Category, Key: a.Key, Value: a.Value, SourceSession: a.Session,
		Confidence: a.Confidence, CreatedAt: p.present, LastConfirmed: p.now,
		ValidFrom: p.period.From, ValidUntil: p.period.Until, ConfirmationCount: 1, RevisionCount: p.revision + 1,
		Privacy: PrivacyShared, Archetype: formats.Archetype(a.Category), RecordedFrom: p.now,
		AssertedBy: a.Source.By, Sources: []Source{p.source()}, Tags: []string{}, Aliases: []string{}, Also: p.several,
		Outcome: string(p.outcome),
	}
	if n := len(p.ends); n > 0 {
		v.Supersedes = formats.Optional(p.ends[n-1].ID)
	}
	if m := p.model(); m != nil && !m.TakenIn {
		v.Tags, v.Aliases, v.Pinned, v.Privacy = m.Tags, m.Aliases, m.Pinned, m.Privacy
		if fact.ArchetypeGiven(m) && !outranks(p.facts, a.kind(), m) {
			v.Archetype = m.Archetype
		}
	}
	if p.refines() && !p.old.TakenIn {
		v.Questions, v.QuestionsAt = p.old.Questions, p.old.QuestionsAt
		if !outranks(p.facts, a.kind(), p.old) {
			v.Examples = p.old.Examples
		}
	}
	a.describe(v)
	return v
}

// model is the version that a new one takes tags, aliases, pin and privacy from:
// the current one, else the last.
func (d *decision) model() *fact.Version {
	if v := fact.CurrentAt(d.open, d.present); v != nil {
		return v
	}
	for _, v := range slices.Backward(d.versions) {
		if fact.Believed(v) {
			return v
		}
	}
	return nil
}

// newID is a new version's id.
func (p *placement) newID(value string) string {
	return fact.NewVersionID(p.asserted.Category, p.asserted.Key, value, p.now, func(id string) bool {
		return slices.ContainsFunc(p.after, func(v *fact.Version) bool { return v.RecordedFrom.Equal(p.now) && v.ID == id }) // the time is in it
	})
}

func (p *placement) source() Source {
	s := p.asserted.Source
	s.At = p.now
	return s
}

// confirming is the source of an assertion that confirms v. Where it names no file
// those behind v are taken again.
func (p *placement) confirming(v *fact.Version) Source {
	s := p.source()
	if len(s.Files) == 0 && !v.TakenIn {
		s.Files = reread(p.facts, v)
	}
	return s
}

// confirmed is a copy of v with one assertion more.
func (p *placement) confirmed(v *fact.Version) *fact.Version {
	w := *v
	w.ConfirmationCount++
	w.RevisionCount++
	w.Confidence = max(v.Confidence, p.asserted.Confidence)
	w.LastConfirmed, w.ArchivedAt, w.TakenIn = p.now, nil, false
	w.Sources = append(slices.Clip(v.Sources), p.confirming(v))
	a, left := p.permitted(v)
	a.describe(&w)
	p.left = left
	return &w
}

// confirm is the common case: nothing changes but the count and its evidence.
func (p *placement) confirm() ([]state.Event, Remembered) {
	v := p.confirms
	w := p.confirmed(v)
	a, _ := p.permitted(v)
	e := &state.Confirmation{Category: v.Category, Key: v.Key, ID: v.ID, Confidence: w.Confidence, Source: p.confirming(v), Questions: a.Questions, Pinned: a.Pinned, Privacy: a.Privacy, Archetype: a.Archetype}
	if !slices.Equal(w.Tags, v.Tags) {
		e.Tags = w.Tags
	}
	if !slices.Equal(w.Examples, v.Examples) {
		e.Examples = w.Examples
	}
	if len(w.Aliases) > len(v.Aliases) {
		e.Aliases = w.Aliases
	}
	p.changed = []*fact.Version{w}
	return []state.Event{{Confirm: e}}, p.remembered(w)
}

// remembered is the answer about a version.
func (p *placement) remembered(v *fact.Version) Remembered {
	r := Remembered{
		Outcome: p.outcome, ID: v.ID, Category: v.Category, Key: v.Key, Value: v.Value, Confidence: v.Confidence,
		Confirmations: v.ConfirmationCount, ValidFrom: v.ValidFrom, ValidUntil: v.ValidUntil,
		RecordedAt: p.now, Touched: ids(p.changed), dated: p.asserted.dated(), Left: p.left,
	}
	if p.keeps == nil {
		r.Displaced = p.displacements()
	}
	if p.several {
		r.held = fact.AllCurrentAt(p.after, p.present)
		r.Values = valuesOf(r.held)
	}
	return r
}

// compared adds to the answer what the assertion says of what was believed before.
func (p *placement) compared(v *fact.Version, r *Remembered) {
	switch p.outcome {
	case Confirmed:
		if !p.period.Equal(fact.PeriodOf(v)) {
			r.Requested = &p.period
		}
	case Superseded, Refined, Backdated:
		old := p.old
		if old == nil {
			return
		}
		if at := fact.PlaceOf(p.after, old.ID); at < 0 || fact.CurrentAt(p.after[at:at+1], p.present) == nil {
			r.Was = &PreviousValue{Value: old.Value, Since: old.ValidFrom, AssertedBy: AssertedBy(old), Trust: fact.TrustIn(old)}
			if len(p.ends) > 1 && p.asserted.Replaces == AllValues {
				r.Was.held, r.Was.All = p.ends, valuesOf(p.ends)
			}
		}
		if p.severity != "" {
			r.Contradiction = p.contradiction(v)
		}
	}
}

// contradiction is what the new version v says against the old one.
func (p *placement) contradiction(v *fact.Version) *Contradiction {
	old := p.old
	c := &Contradiction{
		Category: v.Category, Key: v.Key, OldValue: old.Value, NewValue: v.Value, OldConfidence: old.Confidence,
		Confirmations: old.ConfirmationCount, OldAssertedBy: AssertedBy(old), Severity: p.severity, rival: p.rival, Trust: fact.TrustIn(old),
	}
	if q := fact.PeriodOf(v); q.Until != nil || !q.Contains(p.present) {
		c.Within = &q
	}
	return c
}

// displacements tell what became of the versions that made room.
func (p *placement) displacements() (out []Displacement) {
	for _, old := range p.ends {
		d := Displacement{ID: old.ID, Value: old.Value, Was: fact.PeriodOf(old), Trust: fact.TrustIn(old)}
		for _, w := range p.after {
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
