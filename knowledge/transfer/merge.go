package transfer

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/formats/foreign"
	"leanctx/internal/journal"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/reminder"
	"leanctx/knowledge/state"
	"leanctx/knowledge/verdict"
)

// merger works out what an import changes. A file's facts are merged a name at a time. All
// versions that the file has of a fact are merged with what is known of it here.
type merger struct {
	store *knowledge.Store
	in    Incoming
	r     Imported
	whole bool // a store is taken over as it is: nothing of it is refused, and its facts keep their standing

	// What the file brings.
	taken    Imported // the answer before anything is decided
	order    []fact.ID
	facts    map[fact.ID]*incoming
	document *formats.Document // of a fact file, without the facts
	rooms    rooms             // of a directory that an export wrote
	reading  *reading          // the files whose lines its facts are; nil: none
	labeled  []bool            // of each record; see foreign.Memory
	all      int               // how many facts or records it has
	told     int               // of them; see progress

	st      *state.State
	now     time.Time // the recorded time
	present time.Time // see [fact.Present]
	over    *state.Overlay
	nothing *state.State      // on which records are asserted
	spelled map[string]string // the spellings of categories that are new here
	brought map[fact.ID]bool  // facts that the file brought
	former  former            // what imports of the files asserted before
	events  []state.Event
	ended   func() error // why the caller no longer waits; nil while it does
}

// maxPlaced is how many times an import compares a value with others of its fact: other writers wait as long, and a
// comparison takes some 10 µs. Facts with few values are not counted.
const (
	maxPlaced = 200_000
	fewValues = 20
)

// tooMany refuses an import that has too many values of a few facts.
func (m *merger) tooMany() error {
	work, most, of := 0, 0, fact.ID{}
	for _, n := range m.order {
		in := m.facts[n]
		there := len(m.st.Versions(n))
		placed := len(in.records)
		if there > 0 && m.in.Merge != mergeSkip {
			placed = max(placed, len(in.versions))
		}
		if placed+there <= fewValues {
			continue
		}
		cost := placed * (placed/2 + there)
		if work += cost; cost > most {
			most, of = cost, n
		}
	}
	if work <= maxPlaced || m.whole {
		return nil
	}
	in := m.facts[of]
	category, key := "", ""
	if len(in.records) > 0 {
		category, key = in.records[0].Category, in.records[0].Key
	} else {
		category, key = in.versions[0].Category, in.versions[0].Key
	}
	return &refusal.HintError{
		Problem: fmt.Sprintf("%s has too many values of a few facts, the most of %s/%s (%s): nothing was imported", m.in.name(), prose.Name(category), prose.Name(key), prose.Number(max(len(in.records), len(in.versions)))),
		Hint:    "give each value a key of its own, or import the file in parts",
	}
}

// decide gives the commit of the import. It gives up when ctx ends: of a million facts it takes
// seconds.
func (m *merger) decide(ctx context.Context, st *state.State, now time.Time) ([]state.Event, error) {
	m.ended = ctx.Err
	m.st, m.now, m.present = st, now, fact.Present(m.store.Now(), now)
	m.r, m.events, m.spelled, m.brought = m.taken, nil, map[string]string{}, map[fact.ID]bool{}
	m.over, m.nothing = state.NewOverlay(st, m.spelled), state.New()
	if m.document != nil {
		m.tombstones(m.document)
	}
	if err := m.edited(); err != nil {
		return nil, err
	}
	m.takeAgain()
	if err := m.tooMany(); err != nil {
		return nil, err
	}
	for i, n := range m.order {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		m.progress(m.all + i)
		n, in := m.brings(n)
		if done, err := m.again(n, in); done || err != nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		if err := m.fact(n, in); err != nil {
			return nil, err
		}
	}
	m.endRest()
	if m.document != nil {
		m.lists(m.document)
		m.disputes(m.document)
		if !m.proposes() {
			m.log(m.document)
			m.names(m.document)
		}
	}
	if len(m.events) == 0 {
		return nil, nil
	}
	return append(m.events, state.Note(state.NoteImport, fmt.Sprintf("Imported %s from %s", prose.Count(m.r.Added+m.r.Replaced, "fact"), m.in.name()), now)), nil
}

// progress tells how far the import is: each fact is read, merged and indexed.
func (m *merger) progress(done int) {
	if m.told = max(m.told, done); m.in.Progress != nil && m.all > 0 {
		m.in.Progress(m.told, 3*m.all)
	}
}

// fromFile is what the file says of one fact.
type fromFile struct {
	versions []*fact.Version
	records  int // how many entries of the file it is: the count that people see
	from     []source
}

// source is a record of a file and the version that it made.
type source struct {
	at      formats.Position
	version string
}

// resolve gives the versions that a file has of a fact. Its records are asserted one after another
// on nothing, as the file tells it.
func (m *merger) resolve(n fact.ID, in *incoming) (fromFile, error) {
	if len(in.records) == 0 {
		return fromFile{versions: m.settle(in.versions), records: 1}, nil
	}
	x := fromFile{records: len(in.records)}
	alone := state.NewOverlay(m.nothing, m.spelled)
	for _, r := range in.records {
		if err := m.ended(); err != nil {
			return x, err
		}
		events, got, err := knowledge.Assert(alone, r.Checked, m.now)
		if err != nil {
			return x, err
		}
		stamp(events, got.ID, r.confirmations, r.confirmed)
		alone.Fold(events...)
		x.from = append(x.from, source{r.at, got.ID})
	}
	x.versions = alone.Versions(n)
	return x, nil
}

// stamp keeps what a record says of its own past: when it was last confirmed
// and how often. Its recorded time is ours.
func stamp(events []state.Event, version string, confirmations int, confirmed *time.Time) {
	for _, e := range events {
		if e.Put == nil || e.Put.ID != version {
			continue
		}
		e.Put.ConfirmationCount = max(e.Put.ConfirmationCount, confirmations)
		if confirmed != nil && confirmed.Before(e.Put.LastConfirmed) {
			e.Put.LastConfirmed = *confirmed
		}
	}
}

func (m *merger) add(events ...state.Event) {
	m.events = append(m.events, events...)
	m.over.Fold(events...)
}

// fact merges one name by the mode of the import.
func (m *merger) fact(n fact.ID, brought *incoming) error {
	in, err := m.resolve(n, brought)
	if err != nil {
		return err
	}
	m.r.Parsed += in.records
	existing := slices.ContainsFunc(m.over.Versions(n), func(v *fact.Version) bool { return fact.Believed(v) || v.RetractedAt != nil }) // not if all was undone
	tombstone, erased := m.st.Erased(n)
	if !m.replaces() && m.refuseErased(n, &in) {
		m.r.Skipped += in.records
		m.r.Removed += in.records
		return nil
	}
	if erased && !existing && m.replaces() {
		t := tombstone // only one that is taken away outlives this call
		m.add(state.Event{Revive: &t})
		erased = false
	}
	if erased && m.in.DisputeOutdated && knowledge.RememberedAfter(tombstone, in.versions) {
		erased = false
	}
	switch {
	case existing && len(several(in.versions, m.present)) > 0:
		return m.several(n, in)
	case existing && m.in.DisputeOutdated && m.outdated(n, in):
		return m.update(n, in)
	case erased && !existing, existing && m.in.Merge == mergeSkip:
		m.r.Skipped += in.records
		if erased || withdrawn(m.over.Versions(n), m.present) {
			m.r.Removed += in.records
		}
		if m.in.DisputeOutdated {
			m.disputeOutdated(n, in)
		}
	case !existing:
		first := len(m.events)
		for _, v := range in.versions {
			m.events = append(m.events, state.Event{Put: m.unique(v)})
		}
		if m.document != nil && len(m.document.Disputes) > 0 { // nothing else of a file builds on its facts
			m.over.Fold(m.events[first:]...)
		}
		m.brought[n] = true
		m.counted(in, false)
	case m.in.Merge == mergeReplace:
		return m.replace(in)
	default:
		return m.append(n, in)
	}
	return nil
}

// refuseErased takes out of what the file has what was erased here under this name: it began before
// the erased fact left the name, or nobody knows when it began. all: nothing else is in it.
func (m *merger) refuseErased(n fact.ID, in *fromFile) (all bool) {
	until, ok := m.st.ErasedUntil(n)
	if !ok {
		return false
	}
	began := map[string]*time.Time{}
	for i, r := range m.facts[n].records { // see resolve: in.from has one for each
		began[in.from[i].version] = cmp.Or(r.confirmed, r.From)
	}
	left := slices.DeleteFunc(slices.Clone(in.versions), func(v *fact.Version) bool {
		at, record := began[v.ID]
		if !record {
			at = &v.CreatedAt
		}
		return at == nil || !at.After(until)
	})
	if len(left) > 0 {
		in.versions = left
	}
	return len(left) == 0
}

// outdated reports whether what is believed here is a version of the file that it has replaced or
// withdrawn since.
func (m *merger) outdated(n fact.ID, in fromFile) bool {
	theirs, ours := fact.Current(in.versions, m.present), fact.Current(m.over.Versions(n), m.present)
	if ours == nil || theirs != nil && (theirs.ID == ours.ID || m.st.ByID(theirs.ID) != nil) {
		return false
	}
	return slices.ContainsFunc(in.versions, func(v *fact.Version) bool {
		return v.ID == ours.ID && v.Value == ours.Value && (theirs != nil || v.RetractedAt != nil)
	})
}

// update does here what the file did after the version that is believed here.
func (m *merger) update(n fact.ID, in fromFile) error {
	if fact.Current(in.versions, m.present) != nil {
		return m.replace(in)
	}
	m.r.Skipped += in.records
	events, x := knowledge.End(m.over, n, knowledge.Removal("", m.store.Source("", 1)), m.now, m.present)
	m.add(events...)
	if x.Warned() {
		m.r.Disputed++
	}
	return nil
}

// disputeOutdated has the file's current value stand against ours. Two people gave the fact different
// values, each without the other's. A value that was believed here before is no news.
func (m *merger) disputeOutdated(n fact.ID, in fromFile) {
	theirs, ours := fact.Current(in.versions, m.present), fact.Current(m.over.Versions(n), m.present)
	if theirs == nil || ours == nil || m.st.ByID(theirs.ID) != nil || verdict.Compare(ours.Key, ours.Value, theirs.Value) == verdict.Equal {
		return
	}
	d := formats.Dispute{Value: theirs.Value, Confidence: theirs.Confidence, Source: formats.Source{Kind: knowledge.KindImport, By: theirs.AssertedBy, Confidence: theirs.Confidence}}
	if len(theirs.Sources) > 0 {
		d.Source = theirs.Sources[len(theirs.Sources)-1]
	}
	events := knowledge.OpenDispute(m.over, d, ours, m.present)
	m.add(events...)
	m.r.Disputed += min(len(events), 1)
}

// replace lets the file's current value supersede ours.
func (m *merger) replace(in fromFile) error {
	theirs := fact.Current(in.versions, m.present)
	if theirs == nil {
		m.r.Skipped += in.records
		return nil
	}
	c := m.restated(theirs)
	c.From, c.Until = nil, nil
	if len(several(m.over.Versions(fact.IDOf(theirs.Category, theirs.Key)), m.present)) > 0 {
		c.Replaces = knowledge.AllValues
	}
	c.Authority = m.store.Actor().Authority() // whoever runs it, whatever the file says of itself
	events, got, err := knowledge.Assert(m.over, c, m.now)
	if err != nil {
		return err
	}
	if got.Outcome == knowledge.Disputed {
		m.add(events...)
		m.r.Skipped += in.records
		m.r.Disputed += in.records
		return nil
	}
	if got.Outcome == knowledge.Confirmed {
		m.r.Skipped += in.records // it says nothing new, and saying it in a file does not confirm it
		return nil
	}
	m.keepCounts(events, got.ID, theirs)
	m.add(events...)
	m.counted(in, true)
	return nil
}

// several are the current values of a fact that has several; none of another fact.
func several(vs []*fact.Version, now time.Time) []*fact.Version {
	return slices.DeleteFunc(fact.AllCurrent(vs, now), func(v *fact.Version) bool { return !v.Also })
}

// several merges a fact that has several values in the file. Values that are not here are added,
// as whoever runs the import might, but never as a user. With replace ours that are not in the
// file end, and it is done as a user if one runs it.
func (m *merger) several(n fact.ID, in fromFile) error {
	theirs, ours := several(in.versions, m.present), fact.AllCurrent(m.over.Versions(n), m.present)
	replace, added, removed, ended := m.in.Merge == mergeReplace, 0, 0, 0
	kind := m.store.Actor().Authority()
	if kind == knowledge.KindUser && !replace {
		kind = knowledge.KindTool
	}
	if replace {
		by := m.store.Source("", 1)
		for _, v := range ours {
			if !holdsValue(theirs, v.Value) {
				events, disputed := knowledge.End(m.over, n, knowledge.Removal(v.Value, by), m.now, m.present)
				m.add(events...)
				if disputed.Warned() {
					m.r.Disputed++
				} else {
					ended++
				}
			}
		}
	}
	for _, v := range theirs {
		if holdsValue(ours, v.Value) {
			continue
		}
		if !replace && slices.ContainsFunc(m.over.Versions(n), func(w *fact.Version) bool { return w.RetractedAt != nil && holdsValue([]*fact.Version{w}, v.Value) }) {
			removed++
			continue
		}
		if err := m.ended(); err != nil {
			return err
		}
		c := m.restated(v)
		c.Also, c.Authority = true, kind
		if replace {
			c.From, c.Until = nil, nil
		}
		events, got, err := knowledge.Assert(m.over, c, m.now)
		if err != nil {
			return err
		}
		if got.Outcome != knowledge.Disputed {
			m.keepCounts(events, got.ID, v)
			added++
		} else {
			m.r.Disputed++
		}
		m.add(events...)
	}
	if len(in.from) > 0 { // each record counts by itself
		m.r.Skipped += in.records - added
		in.records = added
		m.r.Removed += removed
	} else if added+ended == 0 {
		m.r.Skipped += in.records
		m.r.Removed += min(removed, in.records)
	}
	if added+ended > 0 {
		m.counted(in, replace)
	}
	return nil
}

func holdsValue(vs []*fact.Version, value string) bool {
	return slices.ContainsFunc(vs, func(v *fact.Version) bool { return verdict.Compare(v.Key, v.Value, value) == verdict.Equal })
}

// append puts the file's versions only where nothing of ours is believed, so
// that there are never two values at one time. What was withdrawn here is not
// brought back. Each record counts by itself; one that is not in, or only for a
// part of its period, is named.
func (m *merger) append(n fact.ID, in fromFile) error {
	if withdrawn(m.over.Versions(n), m.present) {
		m.r.Skipped += in.records
		m.r.Removed += in.records
		return nil
	}
	fates := map[string]mergeOutcome{} // by the id of the version that a record made
	var filled []*fact.Version
	for _, v := range in.versions {
		if err := m.ended(); err != nil {
			return err
		}
		x := mergeOutcome{missing: naming(v) + ": the file itself holds it for wrong, or has another value for its whole period"}
		if fact.Believed(v) {
			x = m.fill(n, v)
		}
		if x.added {
			filled = append(filled, v)
		}
		made := v.ID
		if v.Outcome == "resumed" {
			made = string(v.Supersedes) // a later part of one record
		}
		before := fates[made]
		fates[made] = mergeOutcome{x.added || before.added, cmp.Or(before.missing, x.missing), cmp.Or(before.partly, x.partly)}
	}
	added, left := 0, 0
	report := func(x mergeOutcome, at formats.Position) {
		if x.added {
			added++
		} else {
			left++
		}
		switch {
		case x.added && cmp.Or(x.partly, x.missing) != "":
			m.r.InPart = append(m.r.InPart, badLine(at, cmp.Or(x.partly, x.missing)))
		case x.missing != "":
			m.r.NotAdded = append(m.r.NotAdded, badLine(at, x.missing))
		}
	}
	for _, r := range in.from {
		report(fates[r.version], r.at)
	}
	if len(in.from) == 0 { // a fact file: what it says of the fact counts once, and each version is named
		for _, v := range in.versions {
			if x, ok := fates[v.ID]; ok {
				report(x, formats.Position{})
			}
		}
		added, left = min(added, 1), 0
		if added == 0 {
			left = 1
		}
	}
	m.r.Skipped += left
	if added > 0 {
		m.counted(fromFile{versions: filled, records: added}, false)
	}
	return nil
}

// mergeOutcome is what happened to a record in an append. Neither missing nor
// partly is set where ours says the same.
type mergeOutcome struct {
	added   bool
	missing string // why it is not in
	partly  string // why it is in for a shorter period
}

func naming(v *fact.Version) string {
	return fmt.Sprintf("[%s/%s] '%s'", prose.Name(v.Category), prose.Name(v.Key), prose.Brief(v.Value))
}

// withdrawn reports whether the last version of a fact was retracted, with
// nothing in its place.
func withdrawn(vs []*fact.Version, now time.Time) bool {
	return vs[len(vs)-1].RetractedAt != nil && fact.Current(vs, now) == nil
}

// fill adds v where nothing of ours is believed, from its beginning up to the next
// version of ours.
func (m *merger) fill(n fact.ID, v *fact.Version) mergeOutcome {
	p, x := fact.PeriodOf(v), mergeOutcome{added: true}
	for _, w := range fact.Timeline(m.over.Versions(n), m.present) {
		q := w.Period
		if !q.Overlaps(p) {
			continue
		}
		holds := fmt.Sprintf("%s holds %v here", fact.TrustIn(w.Version).Quote(w.Value), q)
		switch same := verdict.Compare(v.Key, w.Value, v.Value) == verdict.Equal; {
		case p.From.Before(q.From):
			p.Until = fact.EarlierEnd(p.Until, &q.From)
			if x.partly == "" && !same {
				x.partly = fmt.Sprintf("%s until %s: %s", naming(v), fact.Day(*p.Until), holds)
			}
		case same && q.Union(p).Equal(q):
			return mergeOutcome{}
		default:
			return mergeOutcome{missing: naming(v) + ": " + holds}
		}
	}
	c := m.restated(v)
	c.From, c.Until = &p.From, p.Until
	events, got, err := knowledge.Assert(m.over, c, m.now)
	if err != nil {
		return mergeOutcome{missing: naming(v) + ": " + err.Error()}
	}
	m.keepCounts(events, got.ID, v)
	m.add(events...)
	return x
}

// keepCounts keeps the count and the last confirmation of the version that a new
// one was made after.
func (m *merger) keepCounts(events []state.Event, version string, after *fact.Version) {
	stamp(events, version, after.ConfirmationCount, &after.LastConfirmed)
}

// restated is a version of a file as an assertion.
func (m *merger) restated(v *fact.Version) knowledge.Checked {
	c := knowledge.Restated(v)
	c.At = m.store.Now()
	if len(v.Sources) > 0 {
		c.Source.Ref = v.Sources[0].Ref
	}
	return c
}

// unique gives a version another id when ours has it for another fact.
func (m *merger) unique(v *fact.Version) *fact.Version {
	if m.st.ByID(v.ID) == nil {
		return v
	}
	w := *v
	w.ID = fact.NewVersionID(v.Category, v.Key, v.Value, m.now, func(id string) bool { return m.st.ByID(id) != nil })
	return &w
}

func (m *merger) counted(in fromFile, replaced bool) {
	if replaced {
		m.r.Replaced += in.records
	} else {
		m.r.Added += in.records
	}
	v := cmp.Or(fact.Current(in.versions, m.present), in.versions[len(in.versions)-1])
	m.first(v.Category, v.Key, v.Value)
}

// first names what a dry run shows.
func (m *merger) first(category, key, value string) {
	if len(m.r.First) < maxFirst {
		m.r.First = append(m.r.First, formats.Record{Category: category, Key: key, Value: value})
	}
}

// identical reports whether two entries of a fact file read the same.
func identical(a, b any) bool {
	x, errA := journal.Encode(a)
	y, errB := journal.Encode(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}

// known looks an entry up: whether there is one, and whether it is just the same.
func known[T any](list []T, x T, same func(a, b T) bool) (there, equal bool) {
	i := slices.IndexFunc(list, func(y T) bool { return same(x, y) })
	return i >= 0, i >= 0 && identical(x, list[i])
}

// dispute takes over a dispute of a file. One about a fact that was here before, or in a file that
// only proposes, is an import's claim and not yet judged, whatever the file says. It is otherwise only
// if a user has theirs replace ours.
func (m *merger) dispute(x formats.Dispute) {
	n := fact.IDOf(x.Category, x.Key)
	_, taken := m.over.Dispute(x.ID)
	if taken || state.Version(m.over, n, x.Against) == nil {
		return
	}
	if m.proposes() || !m.brought[n] && !(m.in.Merge == mergeReplace && m.store.Actor().Kind == knowledge.KindUser) {
		if x.State != formats.DisputeOpen || len(state.OpenDisputes(m.over, m.over.Disputes(n), m.now)) >= knowledge.MaxDisputes {
			return
		}
		x.Source.Kind = knowledge.KindImport
	}
	m.add(state.Event{Dispute: &x})
}

// settle makes the versions of a file's fact obey our rule that no two
// overlap: the later one ends the earlier. What is in order stays as it is.
func (m *merger) settle(vs []*fact.Version) []*fact.Version {
	out := slices.Clone(vs)
	slices.SortStableFunc(out, fact.ByPeriod)
	var held []fact.Held
	for i, v := range out {
		switch {
		case m.document.Schema == 0:
			v = m.adopted(v)
		case m.proposes():
			v = proposed(v)
		}
		out[i] = v
		if fact.Believed(v) {
			held = append(held, fact.Held{Version: v, Period: fact.PeriodOf(v)})
		}
	}
	held = fact.Separate(held) // in the order of out
	for i, v := range out {
		switch {
		case !fact.Believed(v):
		case len(held) == 0 || held[0].Version != v:
			out[i] = fact.Disbelieve(v, m.now)
		default:
			if p := held[0].Period; !p.Equal(fact.PeriodOf(v)) {
				w := *v
				w.ValidUntil = p.Until
				out[i] = &w
			}
			held = held[1:]
		}
	}
	return out
}

// adopted gives a version of the existing program what ours have beside. In a store
// that is taken over, who asserted it were the user's own agents; in a file that is
// imported, nobody knows.
func (m *merger) adopted(v *fact.Version) *fact.Version {
	w := *v
	if w.Privacy == knowledge.PrivacyProjectOnly && !m.in.KeepPrivacy {
		w.Privacy = knowledge.PrivacyShared
	}
	kind := knowledge.KindImport
	if m.whole {
		kind = knowledge.KindAgent
	}
	if len(w.Sources) == 0 {
		w.Sources = []formats.Source{{Kind: kind, By: w.SourceSession, At: w.RecordedFrom, Confidence: w.Confidence}}
	}
	w.Sources = slices.Clone(w.Sources)
	for i := range w.Sources {
		w.Sources[i].Kind = kind
	}
	w.Pinned = false // the existing program has no pins, and a pin is the user's to give
	return &w
}

// proposes reports whether a fact file only proposes. Anybody can write one, under any name, and an
// agent reads what it is told to. A program without a terminal may be an agent's shell: there a file
// of the project proposes too, since it may be the repository's, and so does its text on standard
// input. A backup outside of the project and what a person at a terminal names count for what they say.
func (m *merger) proposes() bool {
	if m.in.moved {
		return false
	}
	if m.in.Data == nil && instructs(m.in.File) {
		return true
	}
	switch m.store.Actor().Kind {
	case knowledge.KindAgent:
		return true
	case knowledge.KindTool:
		return m.inProject()
	}
	return false
}

// inProject reports whether the file may be the repository's.
func (m *merger) inProject() bool {
	file, err := filepath.Abs(m.in.File)
	_, inside := formats.PathIn(m.store.Options().ProjectRoot, file)
	return inside || err != nil || m.in.Data != nil
}

// fromRepository reports whether rooms of which this store knows no version may be the repository's: then
// they are no edits of whoever imports them.
func (m *merger) fromRepository() bool {
	return !m.in.moved && (m.store.Actor().Kind == knowledge.KindAgent || m.inProject())
}

// replaces reports whether the file takes the place of what a person decided here: what was erased, and
// the entries of a list. What only proposes does not.
func (m *merger) replaces() bool { return m.in.Merge == mergeReplace && !m.proposes() }

// setAside names what a file that only proposes may not bring: what it says of names, of erasures and of
// what was judged is about facts that it did not make.
func (m *merger) setAside(d *formats.Document) {
	for _, x := range []struct {
		count int
		what  string
	}{
		{len(d.Renames), "renames"}, {len(d.Tombstones), "erasures"}, {len(d.JudgedPairs), "judged pairs"},
		{len(d.History), "notes of its log"}, {len(d.Extra), "unknown members"},
	} {
		m.leftOut(x.count, x.what+": a person imports them")
	}
}

// proposed is a version of a fact file that bears a mark until somebody confirms it. How sure its writer
// was, and how often it was confirmed elsewhere, counts for nothing here.
func proposed(v *fact.Version) *fact.Version {
	w := *v
	w.Confidence, w.ConfirmationCount = min(w.Confidence, knowledge.DefaultConfidence), min(w.ConfirmationCount, 1)
	w.Sources = slices.Clone(w.Sources)
	if len(w.Sources) == 0 {
		w.Sources = []formats.Source{{By: w.AssertedBy, At: w.RecordedFrom, Confidence: w.Confidence}}
	}
	w.Sources = w.Sources[max(0, len(w.Sources)-maxSources):]
	for i := range w.Sources {
		x := &w.Sources[i]
		x.Kind, x.Extra = knowledge.KindImport, nil
		x.Ref, x.By, x.Person = prose.Clip(x.Ref, knowledge.MaxName), prose.Clip(x.By, knowledge.MaxName), prose.Clip(x.Person, knowledge.MaxName)
	}
	w.Tags, w.Aliases = ofOurSize(w.Tags), ofOurSize(w.Aliases)
	w.Beliefs = w.Beliefs[max(0, len(w.Beliefs)-maxSources):]
	w.AssertedBy, w.SourceSession, w.ImportedFrom = prose.Clip(w.AssertedBy, knowledge.MaxName), prose.Clip(w.SourceSession, knowledge.MaxName), formats.Optional(prose.Clip(string(w.ImportedFrom), knowledge.MaxName))
	w.Pinned, w.Extra = false, nil
	return &w
}

// ofOurSize are as many names as a fact may have, without those that are longer than a name may be.
func ofOurSize(names []string) []string {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return len(name) > knowledge.MaxName })
	return names[:min(len(names), knowledge.MaxNames)]
}

// tombstones come before the facts: a name that was erased may have been
// remembered again since.
func (m *merger) tombstones(d *formats.Document) {
	if m.proposes() {
		m.setAside(d)
		return
	}
	for _, t := range d.Tombstones {
		n := fact.IDOf(t.Category, t.Key)
		if _, erased := m.st.Erased(n); !erased && len(m.st.Versions(n)) == 0 {
			m.events = append(m.events, state.Event{Erase: &t})
		}
	}
}

// names takes over which names the facts had that the file brought. A name under which something is
// known here is no former name of another fact.
func (m *merger) names(d *formats.Document) {
	theirs := state.Lists{Renames: d.Renames}
	all := slices.Clone(m.st.Renames)
	for n := range m.brought {
		for _, r := range theirs.Trail(n) {
			if !slices.Contains(all, r) && len(m.over.Versions(fact.IDOf(r.From.Category, r.From.Key))) == 0 {
				all = append(all, r)
			}
		}
	}
	if len(all) > len(m.st.Renames) {
		slices.SortStableFunc(all, func(a, b formats.Rename) int { return a.At.Compare(b.At) })
		m.events = append(m.events, state.Event{Replace: &state.Replacement{Renames: &all}})
	}
}

// lists merges the lists of a fact file that people fill.
func (m *merger) lists(d *formats.Document) {
	relations, reminders := d.Relations, d.Reminders
	if m.proposes() {
		for i := range relations {
			relations[i].TakenIn = true
		}
		for i := range reminders {
			reminders[i].TakenIn = true
		}
		relations = m.boundedRelations(relations)
	}
	if !m.in.moved {
		reminders = m.boundedReminders(reminders)
	}
	mergeList(m, &state.Relations, relations, state.Relations.Same)
	mergeList(m, &state.Reminders, reminders, state.Reminders.Same)
}

// How many entries of a list may be in a store that nobody has confirmed: hooks read the lists.
const (
	maxForeignReminders = 50
	maxForeignRelations = 1000
	maxForeignDisputes  = 100 // of a file
	maxSources          = 20  // of a version, the last ones
)

// boundedRelations are those of a file that only proposes that are of the form which this program makes, and not too many.
func (m *merger) boundedRelations(list []formats.Relation) (fit []formats.Relation) {
	unconfirmed := 0
	for _, r := range m.st.Relations {
		if r.TakenIn {
			unconfirmed++
		}
	}
	for _, r := range list {
		names := []string{r.From.Category, r.From.Key, r.To.Category, r.To.Key}
		if !knowledge.ValidRelation(r.Kind) || slices.ContainsFunc(names, func(name string) bool { return len(name) > knowledge.MaxName }) || unconfirmed >= maxForeignRelations {
			continue
		}
		r.Extra, r.From.Extra, r.To.Extra, r.SourceSession = nil, nil, nil, ""
		fit, unconfirmed = append(fit, r), unconfirmed+1
	}
	m.leftOut(len(list)-len(fit), fmt.Sprintf("links: over the %d that nobody has confirmed, or of another form", maxForeignRelations))
	return fit
}

// boundedReminders are those of a file that have the size of ours, and of which no more are open than may be.
func (m *merger) boundedReminders(list []formats.Reminder) (fit []formats.Reminder) {
	open, unconfirmed := 0, 0
	for _, r := range m.st.Reminders {
		switch {
		case r.TakenIn:
			unconfirmed++
		case r.State == reminder.StateOpen:
			open++
		}
	}
	for _, r := range list {
		if len(r.Text) > knowledge.MaxReminder || max(len(r.Path), len(r.Keyword), len(r.Task)) > knowledge.MaxTrigger {
			continue
		}
		if there, _ := known(m.st.Reminders, r, state.Reminders.Same); !there {
			switch {
			case r.TakenIn:
				if unconfirmed++; unconfirmed > maxForeignReminders || !reminder.ValidID(r.ID) || len(r.CreatedBy)+len(r.Replica) > knowledge.MaxName {
					continue
				}
				r.Extra = nil
			case r.State == reminder.StateOpen:
				if open++; open > knowledge.MaxOpenReminders {
					continue
				}
			}
		}
		fit = append(fit, r)
	}
	m.leftOut(len(list)-len(fit), fmt.Sprintf("reminders: over %d bytes, or more than %d that are open or %d that nobody has confirmed", knowledge.MaxReminder, knowledge.MaxOpenReminders, maxForeignReminders))
	return fit
}

// leftOut tells of n entries that are not taken in.
func (m *merger) leftOut(n int, what string) {
	if n > 0 {
		m.r.LeftOut = append(slices.Clip(m.r.LeftOut), foreign.LeftOut{Count: n, What: what})
	}
}

// mergeList merges one list. What is there already stays, unless merge is replace and a person's.
func mergeList[T any](m *merger, l *state.List[T], theirs []T, same func(a, b T) bool) {
	for _, x := range theirs {
		there, equal := known(*l.Of(&m.st.Lists), x, same)
		if !there || !equal && m.replaces() {
			m.events = append(m.events, l.Set(&x))
		}
		if !there {
			m.r.Lists++
		}
	}
}

func (m *merger) disputes(d *formats.Document) {
	list := d.Disputes
	if more := len(list) - maxForeignDisputes; more > 0 && m.proposes() {
		list = list[:maxForeignDisputes]
		m.leftOut(more, fmt.Sprintf("disputes over %d", maxForeignDisputes))
	}
	for _, x := range list {
		m.dispute(x)
	}
}

// log merges verdicts, notes and members we do not know. They are records of
// what happened: there is nothing to replace.
func (m *merger) log(d *formats.Document) {
	for _, p := range d.JudgedPairs {
		if _, equal := known(m.st.Judged, p, func(a, b formats.JudgedPair) bool { return identical(a, b) }); !equal {
			m.events = append(m.events, state.Event{Judge: &p})
		}
	}
	for _, h := range d.History {
		if _, equal := known(m.st.History, h, func(a, b formats.Insight) bool { return identical(a, b) }); !equal {
			m.events = append(m.events, state.Event{Note: &h})
		}
	}
	if len(d.Extra) > 0 && len(m.st.Extra) == 0 && d.Schema > 0 {
		m.events = append(m.events, state.Event{Extra: d.Extra})
	}
}
