package transfer

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
	"leanctx/knowledge/verdict"
)

// merger works out what an import changes. A file's facts are merged a name at a time. All
// versions that the file has of a fact are merged with what is known of it here.
type merger struct {
	store *knowledge.Store
	in    Incoming
	r     Imported
	all   int  // facts in the file, counted as [Imported] counts them
	whole bool // a store is taken over as it is: nothing of it is refused, and its facts keep their standing

	before Imported          // what the batches before did
	rooms  map[string]string // the spellings of categories in the file, the first ones

	disputed map[fact.ID]bool // facts with disputes in the file; true: the file brought the fact

	st      *state.State
	now     time.Time // the recorded time
	present time.Time // see [fact.Present]
	over    *state.Overlay
	events  []state.Event
}

// incoming is what a file says of one fact.
type incoming struct {
	versions []*fact.Version
	records  int // how many entries of the file it is: the count that people see
	from     []source
}

// source is a record of a file and the version that it made.
type source struct {
	at      formats.Position
	version string
}

// decide is one commit of the import; mostly it has no other. It gives up when
// ctx ends: of tens of thousands of facts it takes seconds.
func (m *merger) decide(ctx context.Context, st *state.State, p formats.Parsed, now time.Time) ([]state.Event, error) {
	m.st, m.now, m.present, m.events = st, now, fact.Present(m.store.Now(), now), nil
	m.over = state.NewOverlay(st, nil)
	b := &m.before
	m.r.Parsed, m.r.Added, m.r.Skipped, m.r.Removed, m.r.Disputed, m.r.Replaced, m.r.Lessons, m.r.First = b.Parsed, b.Added, b.Skipped, b.Removed, b.Disputed, b.Replaced, b.Lessons, slices.Clip(b.First)
	m.r.NotAdded, m.r.InPart = slices.Clip(b.NotAdded), slices.Clip(b.InPart)
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
		m.progress(b.Parsed + len(p.Records) + m.r.Parsed)
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
	return append(m.events, state.Note(state.NoteImport, fmt.Sprintf("Imported %s from %s", prose.Count(m.r.Added+m.r.Replaced-b.Added-b.Replaced, "fact"), m.in.name()), now)), nil
}

// group collects a file's facts by name, in the file's order.
func (m *merger) group(ctx context.Context, p formats.Parsed) (map[fact.ID]incoming, []fact.ID, error) {
	grouped := map[fact.ID]incoming{}
	var order []fact.ID
	add := func(n fact.ID, versions []*fact.Version, records int) {
		if _, ok := grouped[n]; !ok {
			order = append(order, n)
		}
		grouped[n] = incoming{versions, records, grouped[n].from}
	}
	if d := p.Document; d != nil {
		byName := map[fact.ID][]*fact.Version{}
		for _, v := range d.Facts {
			n := fact.IDOf(v.Category, v.Key)
			byName[n] = append(byName[n], v)
			add(n, nil, 0)
		}
		for n, vs := range byName {
			grouped[n] = incoming{versions: m.settle(vs, d.Schema == 0), records: 1}
		}
	}
	// Records are asserted one after another on nothing, as the file tells it.
	if m.rooms == nil {
		m.rooms = map[string]string{}
	}
	alone := state.NewOverlay(state.New(), m.rooms)
	for i, r := range p.Records {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		m.progress(2*m.before.Parsed + i)
		c, err := m.check(r)
		if err != nil {
			return nil, nil, err
		}
		if m.r.Program != "" && r.Source != "" {
			c.Source.Files = m.store.Source(r.Source, c.Confidence).Files // so that a changed rule is marked
		}
		events, got, err := knowledge.Assert(alone, c, m.now)
		if err != nil {
			return nil, nil, err
		}
		stamp(events, got.ID, r)
		alone.Fold(events...)
		n := fact.IDOf(got.Category, got.Key)
		add(n, alone.Versions(n), grouped[n].records+1)
		in := grouped[n]
		in.from = append(in.from, source{p.Lines[i], got.ID})
		grouped[n] = in
	}
	return grouped, order, nil
}

// stamp keeps what a record says of its own past: when it was last confirmed
// and how often. Its recorded time is ours.
func stamp(events []state.Event, version string, r formats.Record) {
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

func (m *merger) add(events ...state.Event) {
	m.events = append(m.events, events...)
	m.over.Fold(events...)
}

// fact merges one name by the mode of the import.
func (m *merger) fact(n fact.ID, in incoming) error {
	existing := len(m.st.Versions(n)) > 0
	if _, ok := m.disputed[n]; ok {
		m.disputed[n] = !existing
	}
	tombstone, erased := m.st.Erased(n)
	if erased && !existing && m.in.Merge == mergeReplace {
		t := tombstone // only one that is taken away outlives this call
		m.add(state.Event{Revive: &t})
		erased = false
	}
	if erased && m.in.Contest && knowledge.RememberedAfter(tombstone, in.versions) {
		erased = false
	}
	switch {
	case existing && len(several(in.versions, m.present)) > 0:
		return m.several(n, in)
	case existing && m.in.Contest && m.outdated(n, in):
		return m.update(n, in)
	case erased && !existing, existing && m.in.Merge == mergeSkip:
		m.r.Skipped += in.records
		if erased || withdrawn(m.st.Versions(n), m.present) {
			m.r.Removed += in.records
		}
		if m.in.Contest {
			m.contest(n, in)
		}
	case !existing:
		for _, v := range in.versions {
			m.add(state.Event{Put: m.unique(v)})
		}
		m.counted(in, false)
	case m.in.Merge == mergeReplace:
		return m.replace(in)
	default:
		m.append(n, in)
	}
	return nil
}

// outdated reports whether what is believed here is a version of the file that it has replaced or
// withdrawn since.
func (m *merger) outdated(n fact.ID, in incoming) bool {
	theirs, ours := fact.Current(in.versions, m.present), fact.Current(m.over.Versions(n), m.present)
	if ours == nil || theirs != nil && (theirs.ID == ours.ID || m.st.ByID(theirs.ID) != nil) {
		return false
	}
	return slices.ContainsFunc(in.versions, func(v *fact.Version) bool {
		return v.ID == ours.ID && v.Value == ours.Value && (theirs != nil || v.RetractedAt != nil)
	})
}

// update does here what the file did after the version that is believed here.
func (m *merger) update(n fact.ID, in incoming) error {
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
func (m *merger) contest(n fact.ID, in incoming) {
	theirs, ours := fact.Current(in.versions, m.present), fact.Current(m.over.Versions(n), m.present)
	if theirs == nil || ours == nil || m.st.ByID(theirs.ID) != nil || verdict.Compare(ours.Key, ours.Value, theirs.Value) == verdict.Equal {
		return
	}
	claim := formats.Dispute{Value: theirs.Value, Confidence: theirs.Confidence, Source: formats.Source{Kind: knowledge.KindImport, By: theirs.AssertedBy, Confidence: theirs.Confidence}}
	if len(theirs.Sources) > 0 {
		claim.Source = theirs.Sources[len(theirs.Sources)-1]
	}
	events := knowledge.OpenDispute(m.over, claim, ours, m.present)
	m.add(events...)
	m.r.Disputed += min(len(events), 1)
}

// replace lets the file's current value supersede ours.
func (m *merger) replace(in incoming) error {
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
	c.Authority = cmp.Or(m.store.Actor().Kind, knowledge.KindAgent) // whoever runs it, whatever the file says of itself
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
func (m *merger) several(n fact.ID, in incoming) error {
	theirs, ours := several(in.versions, m.present), fact.AllCurrent(m.over.Versions(n), m.present)
	replace, added, removed, ended := m.in.Merge == mergeReplace, 0, 0, 0
	kind := cmp.Or(m.store.Actor().Kind, knowledge.KindAgent)
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
func (m *merger) append(n fact.ID, in incoming) {
	if withdrawn(m.st.Versions(n), m.present) {
		m.r.Skipped += in.records
		m.r.Removed += in.records
		return
	}
	fates := map[string]fate{} // by the id of the version that a record made
	var filled []*fact.Version
	for _, v := range in.versions {
		x := fate{missing: naming(v) + ": the file itself holds it for wrong, or has another value for its whole period"}
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
		fates[made] = fate{x.added || before.added, cmp.Or(before.missing, x.missing), cmp.Or(before.partly, x.partly)}
	}
	added, left := 0, 0
	report := func(x fate, at formats.Position) {
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
		m.counted(incoming{versions: filled, records: added}, false)
	}
}

// mergeOutcome is what happened to a record in an append. Neither missing nor
// partly is set where ours says the same.
type fate struct {
	added   bool
	missing string // why it is not in
	partly  string // why it is in for a shorter period
}

func naming(v *fact.Version) string {
	return fmt.Sprintf("[%s/%s] '%s'", prose.Line(v.Category), prose.Line(v.Key), prose.Brief(v.Value))
}

// withdrawn reports whether the last version of a fact was retracted, with
// nothing in its place.
func withdrawn(vs []*fact.Version, now time.Time) bool {
	return vs[len(vs)-1].RetractedAt != nil && fact.Current(vs, now) == nil
}

// fill adds v where nothing of ours is believed, from its beginning up to the next
// version of ours.
func (m *merger) fill(n fact.ID, v *fact.Version) fate {
	p, x := fact.PeriodOf(v), fate{added: true}
	for _, w := range fact.Timeline(m.over.Versions(n), m.present) {
		q := w.Period
		if !q.Overlaps(p) {
			continue
		}
		holds := fmt.Sprintf("'%s' holds %v here", prose.Brief(w.Value), q)
		switch same := verdict.Compare(v.Key, w.Value, v.Value) == verdict.Equal; {
		case p.From.Before(q.From):
			p.Until = fact.EarlierEnd(p.Until, &q.From)
			if x.partly == "" && !same {
				x.partly = fmt.Sprintf("%s until %s: %s", naming(v), fact.Day(*p.Until), holds)
			}
		case same && q.Union(p).Equal(q):
			return fate{}
		default:
			return fate{missing: naming(v) + ": " + holds}
		}
	}
	c := m.restated(v)
	c.From, c.Until = &p.From, p.Until
	events, got, err := knowledge.Assert(m.over, c, m.now)
	if err != nil {
		return fate{missing: naming(v) + ": " + err.Error()}
	}
	m.keepCounts(events, got.ID, v)
	m.add(events...)
	return x
}

// keepCounts keeps the count and the last confirmation of the version that a new
// one was made after.
func (m *merger) keepCounts(events []state.Event, version string, after *fact.Version) {
	stamp(events, version, formats.Record{Confirmations: after.ConfirmationCount, Timestamp: &after.LastConfirmed})
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

func (m *merger) counted(in incoming, replaced bool) {
	if replaced {
		m.r.Replaced += in.records
	} else {
		m.r.Added += in.records
	}
	if len(m.r.First) < firstMost {
		v := cmp.Or(fact.Current(in.versions, m.present), in.versions[len(in.versions)-1])
		m.r.First = append(m.r.First, formats.Record{Category: v.Category, Key: v.Key, Value: v.Value})
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

// clean redacts everything a file brings and takes out what cannot be stored.
func (m *merger) clean(p *formats.Parsed) {
	for _, bad := range p.Bad {
		m.r.Bad = append(m.r.Bad, badLine(bad.Position, bad.Err.Error()))
	}
	if d := p.Document; d != nil {
		m.cleanDocument(d)
	}
	good, lines := p.Records[:0], p.Lines[:0]
	for i, r := range p.Records {
		formats.Texts(&r, m.text)
		if _, err := m.check(r); err != nil {
			m.r.Bad = append(m.r.Bad, badLine(p.Lines[i], err.Error()))
			continue
		}
		good, lines = append(good, r), append(lines, p.Lines[i])
	}
	p.Records, p.Lines = good, lines
	slices.SortStableFunc(m.r.Bad, func(a, b BadLine) int { return cmp.Or(a.Line-b.Line, a.Element-b.Element) })
}

// text redacts one text of a file, and counts the secrets in it.
func (m *merger) text(s string) string {
	clean, found := m.store.Redact(s)
	m.r.Redacted += len(found)
	return clean
}

func (m *merger) cleanDocument(d *formats.Document) {
	formats.Texts(d, m.text)
	if !m.whole {
		d.Facts = slices.DeleteFunc(d.Facts, m.refused)
	}
	d.Disputes = slices.DeleteFunc(d.Disputes, m.refusedDispute)
	m.disputed = map[fact.ID]bool{}
	for _, x := range d.Disputes {
		m.disputed[fact.IDOf(x.Category, x.Key)] = false
	}
}

// disputeForm is how the ids of disputes look.
var disputeForm = formats.Regexp(`^d-[0-9a-f]{4,32}$`)

// refusedDispute reports whether a dispute of a fact file is none that this
// program writes.
func (m *merger) refusedDispute(x formats.Dispute) bool {
	c := knowledge.Checked{Category: x.Category, Key: x.Key, Value: x.Value, Confidence: x.Confidence}
	if x.Removal && x.Rival == nil || x.Rename != nil {
		c.Value = "-" // it has none
	}
	err := c.Validate()
	kinds := []string{knowledge.KindUser, knowledge.KindFile, knowledge.KindTool, knowledge.KindAgent, knowledge.KindImport}
	judged := x.State == formats.DisputeAccepted || x.State == formats.DisputeRejected
	switch {
	case err != nil:
	case !disputeForm().MatchString(x.ID):
		err = refusal.Argument("id", "%q is no id of a dispute", prose.Clip(x.ID, 40))
	case !judged && x.State != formats.DisputeOpen && x.State != formats.DisputeClosed:
		err = refusal.Argument("state", "state %q is none of a dispute", prose.Clip(x.State, 40))
	case judged != (x.Settled != nil):
		err = refusal.Argument("settled", "a dispute is judged by somebody, or not at all")
	case !slices.Contains(kinds, x.Source.Kind), x.Settled != nil && !slices.Contains(kinds, x.Settled.Kind):
		err = refusal.Argument("source", "its source is of no known kind")
	case x.Rename != nil && (formats.FoldName(x.Rename.Category) == "" || formats.FoldName(x.Rename.Key) == ""):
		err = refusal.Argument("rename", "the name that it asks for is empty")
	case x.Rival != nil && (!x.Removal || formats.FoldName(x.Rival.Category) == "" || formats.FoldName(x.Rival.Key) == ""):
		err = refusal.Argument("rival", "its rival is no fact")
	}
	if err != nil {
		m.r.Bad = append(m.r.Bad, BadLine{Problem: fmt.Sprintf("dispute about [%s/%s]: %v", prose.Line(prose.Clip(x.Category, 40)), prose.Line(prose.Clip(x.Key, 40)), err)})
	}
	return err != nil
}

// dispute takes over a dispute of a file. One about a fact that was here before is an import's
// claim and not yet judged, whatever the file says. It is otherwise only if a user has theirs
// replace ours.
func (m *merger) dispute(x formats.Dispute) {
	n := fact.IDOf(x.Category, x.Key)
	_, taken := m.over.Dispute(x.ID)
	if taken || state.Version(m.over, n, x.Against) == nil {
		return
	}
	if !m.disputed[n] && !(m.in.Merge == mergeReplace && m.store.Actor().Kind == knowledge.KindUser) {
		if x.State != formats.DisputeOpen || len(state.OpenDisputes(m.over, m.over.Disputes(n), m.now)) >= knowledge.MaxDisputes {
			return
		}
		x.Source.Kind = knowledge.KindImport
	}
	m.add(state.Event{Dispute: &x})
}

// refused reports whether a version of a fact file breaks a rule that every
// assertion obeys. Such a file has no lines to name; the fact is named.
func (m *merger) refused(v *fact.Version) bool {
	c := knowledge.Checked{Category: v.Category, Key: v.Key, Value: v.Value, Confidence: v.Confidence, Questions: v.Questions}
	err := c.Validate()
	if err == nil && formats.FoldName(v.Key) == "" {
		err = refusal.Argument("key", "key is empty")
	}
	if err != nil {
		m.r.Bad = append(m.r.Bad, BadLine{Problem: fmt.Sprintf("[%s/%s]: %v", prose.Line(prose.Clip(v.Category, 40)), prose.Line(prose.Clip(v.Key, 40)), err)})
	}
	return err != nil
}

// check is a record as an assertion, checked like any other.
func (m *merger) check(r formats.Record) (knowledge.Checked, error) {
	c, err := m.store.Check(knowledge.Assertion{Category: r.Category, Key: r.Key, Value: r.Value, Confidence: r.Confidence, Questions: r.Questions, Privacy: r.Privacy, Tags: r.Tags})
	if err != nil {
		return c, err
	}
	c.Source.Kind, c.Source.Ref, c.Also = knowledge.KindImport, r.Source, r.Also
	c.From, c.Until = r.ValidFrom, r.ValidUntil
	if c.From == nil {
		c.From = r.Timestamp
	}
	c.FromDay = c.From != nil && c.From.Equal(fact.StartOfDay(*c.From)) // a record does not tell a day from its first instant
	if c.From != nil && c.Until != nil && !c.From.Before(*c.Until) {
		return c, refusal.Argument("valid_until", "valid_until %s is not after valid_from %s", c.Until.Format(time.RFC3339), c.From.Format(time.RFC3339))
	}
	return c, nil
}

// settle makes the versions of a file's fact obey our rule that no two
// overlap: the later one ends the earlier. What is in order stays as it is.
func (m *merger) settle(vs []*fact.Version, foreign bool) []*fact.Version {
	out := slices.Clone(vs)
	slices.SortStableFunc(out, fact.ByPeriod)
	var held []fact.Held
	for i, v := range out {
		if foreign {
			v = m.adopted(v)
			out[i] = v
		}
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

// tombstones come before the facts: a name that was erased may have been
// remembered again since.
func (m *merger) tombstones(d *formats.Document) {
	for _, t := range d.Tombstones {
		n := fact.IDOf(t.Category, t.Key)
		if _, erased := m.st.Erased(n); !erased && len(m.st.Versions(n)) == 0 {
			m.events = append(m.events, state.Event{Erase: &t})
		}
	}
}

// lessons merges the lists of a fact file that people fill.
func (m *merger) lessons(d *formats.Document) {
	mergeList(m, &state.Patterns, d.Patterns, state.Patterns.Same)
	mergeList(m, &state.Gotchas, d.Gotchas, func(a, b formats.Gotcha) bool {
		return a.ID == b.ID || formats.FoldName(a.Trigger) == formats.FoldName(b.Trigger)
	})
	mergeList(m, &state.Relations, d.Relations, state.Relations.Same)
	mergeList(m, &state.Reminders, d.Reminders, state.Reminders.Same)
}

// mergeList merges one list. What is there already stays, unless merge is replace.
func mergeList[T any](m *merger, l *state.List[T], theirs []T, same func(a, b T) bool) {
	for _, x := range theirs {
		there, equal := known(*l.Of(&m.st.Lists), x, same)
		if !there || !equal && m.in.Merge == mergeReplace {
			m.events = append(m.events, l.Set(&x))
		}
		if !there {
			m.r.Lessons++
		}
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
	for _, x := range d.Disputes {
		m.dispute(x)
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
