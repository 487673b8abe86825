package knowledge

import (
	"context"
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/ledger"
)

// Assertion is one claim about the project: what somebody holds true, since
// when, how sure they are and where they have it from.
type Assertion struct {
	Category   string   `json:"category" short:"c" jsonschema:"room the fact belongs to, e.g. architecture"`
	Key        string   `json:"key,omitempty" short:"k" jsonschema:"name of the fact within its category; made from the value's first words when missing"`
	Value      string   `json:"value" arg:"1" jsonschema:"what is true, up to 64 KiB"`
	Confidence *float64 `json:"confidence,omitempty" jsonschema:"how sure you are, 0 to 1 (default 0.8)"`
	ValidFrom  string   `json:"valid_from,omitempty" jsonschema:"since when it is true: RFC 3339, a day, or an age such as 3d (default now)"`
	ValidUntil string   `json:"valid_until,omitempty" jsonschema:"when it stops being true (default open)"`
	Source     string   `json:"source,omitempty" jsonschema:"where it comes from, e.g. src/auth.ts:12 or user"`
	Correct    bool     `json:"correct,omitempty" jsonschema:"true when the old value was wrong all along, not when the world changed"`
	Tags       []string `json:"tags,omitempty" jsonschema:"words to group facts by, 20 at most"`
	Aliases    []string `json:"aliases,omitempty" jsonschema:"other names the key is found by, 20 at most"`
	Pinned     *bool    `json:"pinned,omitempty" jsonschema:"always in the briefing"`
	Privacy    string   `json:"privacy,omitempty" enum:"shared,project_only" jsonschema:"project_only keeps it out of searches from other projects"`
}

// Remember asserts a fact and is on disk when it returns. It fails with an
// [ArgumentError] that names what is wrong, or with an error of the journal;
// then nothing has changed. A contradiction is part of the result, not an error.
func (s *Store) Remember(ctx context.Context, a Assertion) (Remembered, error) {
	near := s.glance(a.Value)
	c, err := s.claim(a)
	if err != nil {
		return Remembered{}, err
	}
	var r Remembered
	err = s.update(ctx, func(st *ledger.State, now time.Time) ([]ledger.Event, error) {
		var events []ledger.Event
		events, r, err = assert(st, c, now)
		return events, err
	})
	if err != nil {
		return Remembered{}, err
	}
	r.Redacted = c.redacted
	r.Similar = s.similar(ctx, near, r)
	return r, nil
}

// assert is the whole policy of remember: given what is believed, a claim and
// the recorded time, it says what changes. It is pure.
//
//   - The value that is current, asserted again without a period: a
//     confirmation. The count goes up, the confidence to the higher of the
//     two, the source is added; the first spelling stays.
//   - Another value, correct set: a correction. In the period the claim is
//     about (that of the version it corrects, unless given) the old value
//     never was true.
//   - Anything else takes its place in valid time: see [draft.place].
func assert(f ledger.Facts, c claim, now time.Time) ([]ledger.Event, Remembered, error) {
	c.name(f)
	d := newDraft(c, f.Versions(fact.IDOf(c.category, c.key)), now)
	if err := c.checkLists(d.model()); err != nil {
		return nil, Remembered{}, err
	}
	current := fact.CurrentAt(d.versions, now)
	switch {
	case !c.dated() && current != nil && fact.SameValue(current.Value, c.value):
		return d.confirm(current)
	case c.correct:
		return d.correct()
	}
	p, err := d.period(fact.Period{From: now})
	if err != nil {
		return nil, Remembered{}, err
	}
	return d.finish(d.place(p), p)
}

// correct replaces what was wrong. With the same value and another period it
// is the period that is put right; this is how a fact is given an end.
func (d *draft) correct() ([]ledger.Event, Remembered, error) {
	at := d.now
	if d.claim.from != nil {
		at = *d.claim.from
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
	if fact.SameValue(wrong.Value, d.claim.value) {
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
		if fact.Believed(v) && fact.SameValue(v.Value, d.claim.value) && touches(v, p) {
			same = append(same, v)
		}
	}
	d.cutAround(p, ids(same)...)
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
	if d.claim.from != nil {
		p.From = *d.claim.from
	}
	if d.claim.until != nil {
		p.Until = d.claim.until
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
		ID:       d.id(c.value),
		Category: c.category, Key: c.key, Value: c.value, SourceSession: c.session,
		Confidence: c.confidence, CreatedAt: d.now, LastConfirmed: d.now,
		ValidFrom: p.From, ValidUntil: p.Until, ConfirmationCount: 1, RevisionCount: 1,
		Privacy: PrivacyShared, Archetype: formats.Archetype(c.category), RecordedFrom: d.now,
		AssertedBy: c.source.By, Sources: []Source{d.source()}, Tags: []string{}, Aliases: []string{},
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
