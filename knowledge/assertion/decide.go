package assertion

import (
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/ledger"
)

// Decide is the whole policy of remember: given what is believed, a claim and
// the recorded time, it says what changes. It is pure.
//
//   - The value that is current, asserted again without a period: a
//     confirmation. The count goes up, the confidence to the higher of the
//     two, the source is added; the first spelling stays.
//   - Another value, correct set: a correction. In the period the claim is
//     about (that of the version it corrects, unless given) the old value
//     never was true.
//   - Anything else takes its place in valid time: see [draft.place].
func Decide(f ledger.Facts, c Claim, now time.Time) ([]ledger.Event, Remembered, error) {
	c.name(f)
	d := newDraft(c, f.Versions(fact.IDOf(c.Category, c.Key)), now)
	if err := c.checkLists(d.model()); err != nil {
		return nil, Remembered{}, err
	}
	current := fact.CurrentAt(d.versions, now)
	switch {
	case !c.dated() && current != nil && fact.SameValue(current.Value, c.Value):
		return d.confirm(current)
	case c.Correct:
		return d.correct()
	}
	p, err := d.period(fact.Period{From: now})
	if err != nil {
		return nil, Remembered{}, err
	}
	return d.finish(d.place(p), p)
}

// Place gives a claim its place in exactly the period that it names; it needs
// From. Unlike [Decide] it never confirms by the value alone.
func Place(f ledger.Facts, c Claim, now time.Time) ([]ledger.Event, Remembered, error) {
	p := fact.Period{From: *c.From, Until: c.Until}
	c.name(f)
	d := newDraft(c, f.Versions(fact.IDOf(c.Category, c.Key)), now)
	return d.finish(d.place(p), p)
}

// Retract ends what is valid now and withdraws whole what would begin later.
func Retract(f ledger.Facts, n fact.ID, now time.Time) []ledger.Event {
	var out []ledger.Event
	for _, v := range f.Versions(n) {
		if !fact.Believed(v) || !fact.Before(now, v.ValidUntil) {
			continue
		}
		w := fact.Disbelieve(v, now)
		if v.ValidFrom.Before(now) {
			w = fact.Reperiod(v, fact.Period{From: v.ValidFrom, Until: &now}, now)
		}
		w.RetractedAt = &now
		out = append(out, ledger.Event{Put: w})
	}
	return out
}

// correct replaces what was wrong. With the same value and another period it
// is the period that is put right; this is how a fact is given an end.
func (d *draft) correct() ([]ledger.Event, Remembered, error) {
	at := d.now
	if d.claim.From != nil {
		at = *d.claim.From
	}
	wrong := fact.CurrentAt(d.versions, at)
	if wrong == nil {
		wrong = fact.CurrentAt(d.versions, d.now)
	}
	if wrong == nil {
		p, err := d.period(fact.Period{From: d.now})
		if err != nil {
			return nil, Remembered{}, err
		}
		return d.finish(d.place(p), p)
	}
	p, err := d.period(fact.PeriodOf(wrong))
	if err != nil {
		return nil, Remembered{}, err
	}
	d.correcting = true
	if fact.SameValue(wrong.Value, d.claim.Value) {
		d.cutAround(p, wrong.ID)
		w := d.asserted(fact.Reperiod(wrong, p, d.now))
		d.put(w)
		return d.finish(w, p)
	}
	return d.finish(d.place(p), p)
}

// place gives the claim its place in valid time, period p.
//
// Versions with another value are cut where p covers them: the part before
// keeps the old value, and so does the part after; one that is covered whole
// is no longer believed. Versions with the same value that p overlaps or
// touches become one with it, and that counts as a confirmation.
func (d *draft) place(p fact.Period) *fact.Version {
	var same []*fact.Version
	for _, v := range d.versions {
		if fact.Believed(v) && fact.SameValue(v.Value, d.claim.Value) && touches(v, p) {
			same = append(same, v)
		}
	}
	d.cutAround(p, fact.IDs(same)...)
	if len(same) == 0 {
		v := d.create(p)
		d.put(v)
		return v
	}
	base := *same[0]
	whole := p.Union(fact.PeriodOf(&base))
	for _, v := range same[1:] {
		whole = whole.Union(fact.PeriodOf(v))
		base.ConfirmationCount += v.ConfirmationCount
		base.Sources = slices.Concat(base.Sources, v.Sources)
		d.put(fact.Disbelieve(v, d.now))
	}
	v := &base
	if !whole.Equal(fact.PeriodOf(v)) {
		v = fact.Reperiod(v, whole, d.now)
	}
	v = d.asserted(v)
	d.put(v)
	return v
}

// touches reports whether a version and a period of the same value are one
// stretch of time. A retracted version is not joined at the instant it was
// withdrawn, or withdrawing would have no effect.
func touches(v *fact.Version, p fact.Period) bool {
	q := fact.PeriodOf(v)
	return q.Overlaps(p) || p.Meets(q) || q.Meets(p) && v.RetractedAt == nil
}

// cutAround makes room for p among the versions not named in keep.
func (d *draft) cutAround(p fact.Period, keep ...string) {
	for _, v := range slices.Clone(d.versions) {
		q := fact.PeriodOf(v)
		if !fact.Believed(v) || slices.Contains(keep, v.ID) || !q.Overlaps(p) {
			continue
		}
		d.displaced = append(d.displaced, v)
		starts := q.From.Before(p.From)
		resumes := p.Until != nil && fact.Before(*p.Until, q.Until)
		switch {
		case starts && resumes:
			d.put(fact.Reperiod(v, fact.Period{From: q.From, Until: &p.From}, d.now))
			d.put(d.resume(v, fact.Period{From: *p.Until, Until: q.Until}))
		case starts:
			d.put(fact.Reperiod(v, fact.Period{From: q.From, Until: &p.From}, d.now))
		case resumes:
			d.put(fact.Reperiod(v, fact.Period{From: *p.Until, Until: q.Until}, d.now))
		default:
			d.put(fact.Disbelieve(v, d.now))
		}
	}
}

// period is the claim's valid period: what it gives, else the default's. A
// claim without an end runs to the start of the next version.
func (d *draft) period(p fact.Period) (fact.Period, error) {
	if d.claim.From != nil {
		p.From = *d.claim.From
	}
	if d.claim.Until != nil {
		p.Until = d.claim.Until
		if !p.From.Before(*p.Until) {
			return p, refusal.Argument("valid_until", "valid_until %s is not after valid_from %s", p.Until.Format(time.RFC3339), p.From.Format(time.RFC3339))
		}
		return p, nil
	}
	for _, v := range d.versions {
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

// outcome names what a placed claim turned out to be.
func (d *draft) outcome(v *fact.Version, p fact.Period) Outcome {
	switch {
	case d.correcting:
		return Corrected
	case d.joined:
		return Confirmed
	case p.From.After(d.now):
		return Planned
	case p.Contains(d.now) && len(d.displaced) > 0:
		return Superseded
	case p.Contains(d.now) || !slices.ContainsFunc(d.before, fact.Believed):
		return Created
	}
	return Backdated
}

// create makes the first or a further version for the claim. What is said
// about the fact itself, not about its value, goes on from the version it
// takes the place of.
func (d *draft) create(p fact.Period) *fact.Version {
	c := d.claim
	v := &fact.Version{
		ID:       d.id(c.Value),
		Category: c.Category, Key: c.Key, Value: c.Value, SourceSession: c.Session,
		Confidence: c.Confidence, CreatedAt: d.now, LastConfirmed: d.now,
		ValidFrom: p.From, ValidUntil: p.Until, ConfirmationCount: 1, RevisionCount: 1,
		Privacy: fact.PrivacyShared, Archetype: formats.Archetype(c.Category), RecordedFrom: d.now,
		AssertedBy: c.Source.By, Sources: []formats.Source{d.source()}, Tags: []string{}, Aliases: []string{},
	}
	if len(d.displaced) > 0 {
		v.Supersedes = formats.Optional(d.displaced[len(d.displaced)-1].ID)
	}
	for _, w := range d.before {
		v.RevisionCount = max(v.RevisionCount, w.RevisionCount+1)
	}
	if m := d.model(); m != nil {
		v.Tags, v.Aliases, v.Pinned, v.Privacy = m.Tags, m.Aliases, m.Pinned, m.Privacy
	}
	c.describe(v)
	return v
}

// resume is the rest of a version that a shorter period interrupts.
func (d *draft) resume(v *fact.Version, p fact.Period) *fact.Version {
	w := *v
	w.ID = d.id(v.Value)
	w.ValidFrom, w.ValidUntil, w.RecordedFrom, w.CreatedAt = p.From, p.Until, d.now, d.now
	w.Beliefs, w.Supersedes, w.Outcome = nil, formats.Optional(v.ID), "resumed"
	w.Sources = slices.Clip(v.Sources) // the two go on apart: neither may write into the other's array
	return &w
}
