package knowledge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/ledger"
)

// merger works out what an import changes. A file's facts are merged a name at
// a time: what the file says of one, all its versions together, against what
// is known of it here.
type merger struct {
	store *Store
	in    Incoming
	r     Imported
	whole bool // a store is taken over as it is: nothing of it is refused

	before Imported          // what the batches before did
	rooms  map[string]string // the spellings of categories in the file, the first ones

	st     *ledger.State
	now    time.Time
	over   *ledger.Overlay
	events []ledger.Event
}

// incoming is what a file says of one fact.
type incoming struct {
	versions []*fact.Version
	records  int // how many entries of the file it is: the count that people see
}

// decide is one commit of the import; mostly it has no other. It gives up when
// ctx ends: of tens of thousands of facts it takes seconds.
func (m *merger) decide(ctx context.Context, st *ledger.State, p formats.Parsed, now time.Time) ([]ledger.Event, error) {
	m.st, m.now, m.events = st, now, nil
	m.over = ledger.Over(st, nil)
	b := &m.before
	m.r.Parsed, m.r.Added, m.r.Skipped, m.r.Replaced, m.r.Lessons, m.r.First = b.Parsed, b.Added, b.Skipped, b.Replaced, b.Lessons, slices.Clip(b.First)
	grouped, order, err := m.group(ctx, p)
	if err != nil {
		return nil, err
	}
	if p.Document != nil {
		m.tombstones(p.Document)
	}
	for _, n := range order {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		m.r.Parsed += grouped[n].records
		if err := m.fact(n, grouped[n]); err != nil {
			return nil, err
		}
	}
	if p.Document != nil {
		m.lessons(p.Document)
		m.log(p.Document)
	}
	if len(m.events) == 0 {
		return nil, nil
	}
	return append(m.events, ledger.Note(ledger.NoteImport, fmt.Sprintf("Imported %s from %s", prose.Count(m.r.Added+m.r.Replaced-b.Added-b.Replaced, "fact"), m.in.name()), now)), nil
}

// group collects a file's facts by name, in the file's order.
func (m *merger) group(ctx context.Context, p formats.Parsed) (map[fact.ID]incoming, []fact.ID, error) {
	grouped := map[fact.ID]incoming{}
	var order []fact.ID
	add := func(n fact.ID, versions []*fact.Version, records int) {
		if _, ok := grouped[n]; !ok {
			order = append(order, n)
		}
		grouped[n] = incoming{versions, records}
	}
	if d := p.Document; d != nil {
		byName := map[fact.ID][]*fact.Version{}
		for _, v := range d.Facts {
			n := fact.IDOf(v.Category, v.Key)
			byName[n] = append(byName[n], v)
			add(n, nil, 0)
		}
		for n, vs := range byName {
			grouped[n] = incoming{m.settle(vs, d.Schema == 0), 1}
		}
	}
	// Records are asserted one after another on nothing, as the file tells it.
	if m.rooms == nil {
		m.rooms = map[string]string{}
	}
	alone := ledger.Over(ledger.New(), m.rooms)
	for _, r := range p.Records {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		c, err := m.claim(r)
		if err != nil {
			return nil, nil, err
		}
		events, got, err := assert(alone, c, m.now)
		if err != nil {
			return nil, nil, err
		}
		stamp(events, got.ID, r)
		alone.Fold(events...)
		n := fact.IDOf(got.Category, got.Key)
		add(n, alone.Versions(n), grouped[n].records+1)
	}
	return grouped, order, nil
}

// stamp keeps what a record says of its own past: when it was last confirmed
// and how often. Its recorded time is ours.
func stamp(events []ledger.Event, version string, r formats.Record) {
	for _, e := range events {
		if e.Put == nil || e.Put.ID != version {
			continue
		}
		e.Put.ConfirmationCount = max(e.Put.ConfirmationCount, r.Confirmations)
		if r.Timestamp != nil && r.Timestamp.Before(e.Put.LastConfirmed) {
			e.Put.LastConfirmed = *r.Timestamp
		}
	}
}

func (m *merger) add(events ...ledger.Event) {
	m.events = append(m.events, events...)
	m.over.Fold(events...)
}

// fact merges one name by the mode of the import.
func (m *merger) fact(n fact.ID, in incoming) error {
	existing := len(m.st.Versions(n)) > 0
	tombstone, erased := m.st.Erased(n)
	if erased && !existing && m.in.Merge == mergeReplace {
		t := tombstone // only one that is taken away outlives this call
		m.add(ledger.Event{Revive: &t})
		erased = false
	}
	switch {
	case erased && !existing, existing && m.in.Merge == mergeSkip:
		m.r.Skipped += in.records
	case !existing:
		for _, v := range in.versions {
			m.add(ledger.Event{Put: m.unique(v)})
		}
		m.counted(in, false)
	case m.in.Merge == mergeReplace:
		return m.replace(in)
	default:
		m.append(n, in)
	}
	return nil
}

// replace lets the file's current value supersede ours.
func (m *merger) replace(in incoming) error {
	theirs := fact.CurrentAt(in.versions, m.now)
	if theirs == nil {
		m.r.Skipped += in.records
		return nil
	}
	c := restated(theirs)
	c.from, c.until = nil, nil
	events, got, err := assert(m.over, c, m.now)
	if err != nil {
		return err
	}
	if got.Outcome == Confirmed {
		m.r.Skipped += in.records // it says nothing new, and saying it in a file does not confirm it
		return nil
	}
	m.resemble(events, got.ID, theirs)
	m.add(events...)
	m.counted(in, true)
	return nil
}

// append puts the file's versions only where nothing of ours is believed, so
// that there are never two values at one time. What was withdrawn here is not
// brought back.
func (m *merger) append(n fact.ID, in incoming) {
	added := false
	if vs := m.st.Versions(n); vs[len(vs)-1].RetractedAt == nil || fact.CurrentAt(vs, m.now) != nil {
		for _, v := range in.versions {
			added = fact.Believed(v) && m.fill(n, v) || added
		}
	}
	if !added {
		m.r.Skipped += in.records
		return
	}
	m.counted(in, false)
}

// fill reports whether there was any room for v.
func (m *merger) fill(n fact.ID, v *fact.Version) bool {
	p := fact.PeriodOf(v)
	for _, w := range m.over.Versions(n) {
		q := fact.PeriodOf(w)
		if !fact.Believed(w) || !q.Overlaps(p) {
			continue
		}
		if !p.From.Before(q.From) {
			return false // ours holds where theirs begins
		}
		p.Until = fact.EarlierEnd(p.Until, &q.From)
	}
	d := newDraft(restated(v), m.over.Versions(n), m.now)
	d.claim.name(m.over)
	events, got, err := d.finish(d.place(p), p)
	if err != nil {
		return false
	}
	m.resemble(events, got.ID, v)
	m.add(events...)
	return true
}

// resemble keeps the count and the last confirmation of the version that a new
// one was made after.
func (m *merger) resemble(events []ledger.Event, version string, after *fact.Version) {
	stamp(events, version, formats.Record{Confirmations: after.ConfirmationCount, Timestamp: &after.LastConfirmed})
}

// restated is a version of a file as an assertion.
func restated(v *fact.Version) claim {
	c := claim{
		category: v.Category, key: v.Key, value: v.Value, confidence: v.Confidence, from: &v.ValidFrom, until: v.ValidUntil,
		session: v.SourceSession, tags: v.Tags, aliases: v.Aliases,
		source: Source{Kind: KindImport, By: v.AssertedBy, Confidence: v.Confidence},
	}
	if len(v.Sources) > 0 {
		c.source.Ref = v.Sources[0].Ref
	}
	if v.Pinned {
		c.pinned = new(true)
	}
	return c
}

// unique gives a version another id when ours has it for another fact.
func (m *merger) unique(v *fact.Version) *fact.Version {
	if m.st.ByID(v.ID) == nil {
		return v
	}
	w := *v
	for n := 0; m.st.ByID(w.ID) != nil; n++ {
		w.ID = formats.VersionID(v.Category, v.Key, v.Value, m.now, n)
	}
	return &w
}

func (m *merger) counted(in incoming, replaced bool) {
	if replaced {
		m.r.Replaced += in.records
	} else {
		m.r.Added += in.records
	}
	if v := in.versions[len(in.versions)-1]; len(m.r.First) < 10 {
		m.r.First = append(m.r.First, formats.Record{Category: v.Category, Key: v.Key, Value: v.Value})
	}
}

// identical reports whether two entries of a fact file read the same.
func identical(a, b any) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}

// known looks an entry up: whether there is one, and whether it is just the same.
func known[T any](list []T, x T, same func(a, b T) bool) (there, equal bool) {
	i := slices.IndexFunc(list, func(y T) bool { return same(x, y) })
	return i >= 0, i >= 0 && identical(x, list[i])
}
