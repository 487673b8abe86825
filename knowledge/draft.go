package knowledge

import (
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/ledger"
)

// draft is a fact's versions while a decision is worked out on them.
type draft struct {
	claim claim
	now   time.Time

	before     []*fact.Version // as they are stored
	versions   []*fact.Version // as they will be
	changed    []*fact.Version // the ones that differ, in the order of the changes
	displaced  []*fact.Version // other values that had to make room, as they were
	joined     bool            // the claim became one with a version of the same value
	correcting bool
}

func newDraft(c claim, versions []*fact.Version, now time.Time) *draft {
	return &draft{claim: c, now: now, before: versions, versions: slices.Clone(versions)}
}

// put adds a version, or replaces the one with its id.
func (d *draft) put(v *fact.Version) {
	same := func(w *fact.Version) bool { return w.ID == v.ID }
	if i := slices.IndexFunc(d.versions, same); i >= 0 {
		d.versions[i] = v
	} else {
		d.versions = append(d.versions, v)
	}
	if i := slices.IndexFunc(d.changed, same); i >= 0 {
		d.changed[i] = v
	} else {
		d.changed = append(d.changed, v)
	}
}

// model is the version whose tags, aliases, pin and privacy a new one goes on
// with: the current one, else the last.
func (d *draft) model() *fact.Version {
	if v := fact.CurrentAt(d.before, d.now); v != nil {
		return v
	}
	for _, v := range slices.Backward(d.before) {
		if fact.Believed(v) {
			return v
		}
	}
	return nil
}

// id is a new version's id, which depends on nothing but what is recorded.
// Several versions of one value may be recorded at one instant, by an import.
func (d *draft) id(value string) string {
	for n := 0; ; n++ {
		id := formats.VersionID(d.claim.category, d.claim.key, value, d.now, n)
		if !slices.ContainsFunc(d.versions, func(v *fact.Version) bool { return v.ID == id }) {
			return id
		}
	}
}

func (d *draft) source() Source {
	s := d.claim.source
	s.At = d.now
	return s
}

// asserted is a copy of v with one assertion more.
func (d *draft) asserted(v *fact.Version) *fact.Version {
	w := *v
	w.ConfirmationCount++
	w.RevisionCount++
	w.Confidence = max(v.Confidence, d.claim.confidence)
	w.LastConfirmed, w.ArchivedAt = d.now, nil
	w.Sources = append(slices.Clip(v.Sources), d.source())
	d.claim.describe(&w)
	d.joined = true
	return &w
}

// confirm is the common case: nothing changes but the count and its evidence.
func (d *draft) confirm(v *fact.Version) ([]ledger.Event, Remembered, error) {
	w := d.asserted(v)
	e := &ledger.Confirmation{Category: v.Category, Key: v.Key, ID: v.ID, Confidence: w.Confidence, Source: d.source(), Pinned: d.claim.pinned, Privacy: d.claim.privacy}
	if len(w.Tags) > len(v.Tags) {
		e.Tags = w.Tags
	}
	if len(w.Aliases) > len(v.Aliases) {
		e.Aliases = w.Aliases
	}
	d.changed = append(d.changed, w)
	return []ledger.Event{{Confirm: e}}, d.remembered(w, Confirmed), nil
}

// finish turns the draft into events and the answer.
func (d *draft) finish(v *fact.Version, asked fact.Period) ([]ledger.Event, Remembered, error) {
	outcome := d.outcome(v, asked)
	if !d.joined {
		v.Outcome = string(outcome) // create made it for this draft alone
	}
	events := make([]ledger.Event, len(d.changed))
	for i, w := range d.changed {
		events[i] = ledger.Event{Put: w}
	}
	r := d.remembered(v, outcome)
	if p := fact.PeriodOf(v); outcome == Confirmed && !asked.Equal(p) {
		r.Asked = &asked
	}
	if outcome == Superseded || outcome == Backdated {
		r.Contradiction = contradiction(d.displaced, v, d.now)
	}
	return events, r, nil
}

func (d *draft) remembered(v *fact.Version, o Outcome) Remembered {
	r := Remembered{
		Outcome: o, ID: v.ID, Category: v.Category, Key: v.Key, Value: v.Value, Confidence: v.Confidence,
		Confirmations: v.ConfirmationCount, ValidFrom: v.ValidFrom, ValidUntil: v.ValidUntil,
		RecordedAt: d.now, Touched: ids(d.changed), dated: d.claim.dated(),
	}
	for _, w := range d.displaced {
		r.Displaced = append(r.Displaced, d.displacement(w))
	}
	return r
}

// displacement tells what became of a version that made room.
func (d *draft) displacement(old *fact.Version) Displacement {
	c := Displacement{ID: old.ID, Value: old.Value, Was: fact.PeriodOf(old)}
	for _, w := range d.versions {
		if fact.Believed(w) && (w.ID == old.ID || string(w.Supersedes) == old.ID && w.Outcome == "resumed") {
			c.Now = append(c.Now, fact.PeriodOf(w))
		}
	}
	return c
}

func ids(vs []*fact.Version) []string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = v.ID
	}
	return out
}
