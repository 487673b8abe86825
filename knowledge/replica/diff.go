package replica

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// diff returns the lines that make the shared part of st, the state of s, of what was folded. They have
// no id yet, and stand in the order of their times, none before least. Afterwards f has
// them folded in. renamed are the renames of st that are among them.
func (f *Folded) diff(s *knowledge.Store, st *state.State, least time.Time) (lines []*Line, renamed []formats.Rename) {
	d := differ{s: s, f: f, st: st, earliest: least}
	d.erasures()
	d.renames()
	for _, n := range names(d.st, d.f.State) {
		d.fact(n)
	}
	for _, l := range lists {
		l.diff(&d)
	}
	slices.SortStableFunc(d.lines, func(a, b *Line) int { return a.At.Compare(b.At) })
	return d.lines, d.renamed
}

// differ finds what was done in a store since its lines were folded.
type differ struct {
	s        *knowledge.Store
	f        *Folded
	st       *state.State
	earliest time.Time // before any time that a line may have
	lines    []*Line
	renamed  []formats.Rename // of which lines tell now
}

// add adds a line and folds it.
func (d *differ) add(l *Line) {
	d.fold(l)
	d.lines = append(d.lines, l)
}

// fold replays a line of this store. It knows all lines before it.
func (d *differ) fold(l *Line) {
	l.At = d.after(l.At)
	l.order, l.all = l.At, true
	if rule := operations[l.Op].rule; rule.kinds && l.SourceKind == "" {
		// What was done here was done by who was allowed to: the line says the least kind that is.
		for _, l.SourceKind = range []string{knowledge.KindAgent, knowledge.KindTool, knowledge.KindUser} {
			if rule.may(d.f, l, formats.Source{Kind: l.SourceKind, By: l.By, Confidence: 1}) {
				break
			}
		}
	}
	d.f.apply(l)
}

// after is a time that a line may have: its own, unless the store had read later ones.
func (d *differ) after(at time.Time) time.Time {
	if at.After(d.earliest) {
		return at
	}
	return d.earliest.Add(time.Nanosecond)
}

// erasures finds which facts were erased, or revived by an import.
func (d *differ) erasures() {
	shared := slices.Collect(d.f.State.Tombstones())
	there := map[string]bool{}
	var own []formats.Tombstone
	for e := range d.st.Tombstones() {
		there[hashed(formats.Name{Category: e.Category, Key: e.Key})] = true
		known := false
		for _, t := range shared {
			same := sameErasure(e, t)
			known, there[t.Key] = known || same, there[t.Key] || same
		}
		if !known && !e.TakenIn {
			own = append(own, e)
		}
	}
	slices.SortFunc(own, func(a, b formats.Tombstone) int {
		return cmp.Or(a.ErasedAt.Compare(b.ErasedAt), cmp.Compare(a.Category+a.Key, b.Category+b.Key))
	})
	for _, e := range own {
		if l := d.f.erasing(e); l != nil {
			d.add(l)
			d.f.forgetFacts(l, e)
		}
	}
	var revived []string
	for _, t := range shared {
		if !there[t.Key] {
			revived = append(revived, t.Key)
		}
	}
	for _, name := range slices.Sorted(slices.Values(revived)) {
		d.add(&Line{Op: opRevive, At: d.st.At(), Name: name})
	}
}

// renames finds which facts got another name since the last sync. Only those are written of which a
// line tells, and which bear the new name here: what still stands under the old one was not renamed.
func (d *differ) renames() {
	var synced time.Time
	if d.st.Replica != nil {
		synced = d.st.Replica.Synced
	}
	told := slices.Clone(d.f.State.Renames) // their times are those of the lines, which may be ahead of this clock
	for _, r := range d.st.Renames {
		there := d.f.State.Versions(fact.IDOf(r.From.Category, r.From.Key))
		if !r.At.After(synced) || len(there) == 0 || slices.ContainsFunc(told, func(x formats.Rename) bool { return sameRename(x, r) }) {
			continue
		}
		now := d.st.ByID(there[0].ID)
		if now == nil || now.Privacy == knowledge.PrivacyLocal || !slices.ContainsFunc(d.st.Trail(fact.IDOf(now.Category, now.Key)), func(x formats.Rename) bool { return sameRename(x, r) }) {
			continue
		}
		d.renamed = append(d.renamed, r)
		d.add(&Line{
			Op: opRename, At: r.At, Category: there[0].Category, Key: there[0].Key, To: &r.To,
			SourceKind: permittedKind(slices.Concat(there, d.f.State.Versions(fact.IDOf(r.To.Category, r.To.Key)))),
			Merge:      len(d.f.State.Versions(fact.IDOf(r.To.Category, r.To.Key))) > 0,
		})
	}
}

// permittedKind is the kind of source that may change some versions. What was done here was done by
// who was allowed to, and the store does not say who it was.
func permittedKind(vs []*fact.Version) string {
	kind := knowledge.KindAgent
	for _, v := range vs {
		if v.Pinned || fact.ByUser(v) {
			return knowledge.KindUser
		}
		for _, s := range v.Sources {
			if s.Kind == knowledge.KindFile || s.Kind == knowledge.KindTool {
				kind = knowledge.KindTool
			}
		}
	}
	return kind
}

// names are those of all facts of two states, in order.
func names(a, b *state.State) []fact.ID {
	all := map[fact.ID]bool{}
	for _, st := range []*state.State{a, b} {
		for n := range st.All() {
			all[n] = true
		}
	}
	return slices.SortedFunc(maps.Keys(all), fact.ID.Compare)
}

// sharedOf are the versions of a fact that others may know, as they may know them.
func sharedOf(vs []*fact.Version) (out []*fact.Version) {
	for _, v := range vs {
		if v.Privacy != knowledge.PrivacyLocal {
			out = append(out, shared(v))
		}
	}
	return out
}

// fact finds what was asserted of one fact.
func (d *differ) fact(n fact.ID) {
	now, before := sharedOf(d.st.Versions(n)), d.f.State.Versions(n)
	for i, v := range now {
		now[i] = d.s.Located(v)
	}
	switch {
	case len(now) == 0 && len(d.st.Versions(n)) > 0:
		d.withdraw(n, before)
		return
	case len(now) == 0:
		return // erased, or moved
	case len(before) == len(now) && sameVersions(now, before):
		return
	}
	// What others proposed stays in their lines: a line of this store says it in its own name.
	proposed := map[string]bool{}
	for _, v := range d.st.Versions(n) {
		proposed[v.ID] = v.TakenIn
	}
	said := slices.DeleteFunc(slices.Clone(now), func(v *fact.Version) bool { return proposed[v.ID] })
	lines := assertions(now, before, proposed)
	if len(said) == 0 {
		// Nobody has said any of it here: it is as the lines have it, or they are held. It may have been
		// ended here.
		for _, l := range lines {
			if l.Op == opRetract {
				d.add(l)
			}
		}
		return
	}
	undone := slices.Clone(d.f.State.Disputed)
	late := false
	for _, l := range lines {
		late = late || !l.At.After(d.earliest)
		d.fold(l)
	}
	after := d.f.State.Versions(n)
	if len(lines) > 0 && (sameVersions(now, after) || late && len(said) == len(now) && sameValues(now, after)) {
		d.lines = append(d.lines, lines...)
		return
	}
	d.f.State.Commit(d.f.State.At(), state.Event{Replace: &state.Replacement{
		Facts: []state.Replaced{{Category: now[0].Category, Key: now[0].Key, Versions: before}}, Disputed: &undone,
	}})
	l := Line{Op: opFact, Category: said[0].Category, Key: said[0].Key, At: said[0].RecordedFrom, SourceKind: permittedKind(before)}
	for _, v := range said {
		if at := lastChange(v); at.After(l.At) {
			l.At, l.By = at, v.AssertedBy
		}
	}
	for part, rest := range parts(said) {
		one := l
		one.Versions, one.Rest = part, rest
		d.add(&one)
		l.More = true
	}
}

// proposes reports whether a value of a fact is only proposed here.
func (d *differ) proposes(n formats.Name, value string) (only bool) {
	for _, v := range d.st.Versions(fact.IDOf(n.Category, n.Key)) {
		if v.Value == value {
			if !v.TakenIn {
				return false
			}
			only = true
		}
	}
	return only
}

// maxPart is about how many bytes of versions a line has. Colleagues read no line of more than maxLine.
const maxPart = maxLine / 2

// parts are versions in lists that have room in a line. A version of thousands of sources stands in several:
// rest says that the first one of a list goes on with further sources.
func parts(vs []*fact.Version) iter.Seq2[[]*fact.Version, bool] {
	return func(yield func([]*fact.Version, bool) bool) {
		var part []*fact.Version
		size, rest := 0, false
		next := func() bool {
			ok := yield(part, rest)
			part, size, rest = nil, 0, false
			return ok
		}
		for _, v := range vs {
			n := encodedSize(v)
			if size+n > maxPart && len(part) > 0 && !next() {
				return
			}
			for n > maxPart && len(v.Sources) > 1 {
				some, left := *v, *v
				sources := 0
				for i, s := range v.Sources {
					if sources += encodedSize(s); sources > maxPart/2 && i > 0 || i == len(v.Sources)-1 {
						some.Sources, left.Sources = v.Sources[:i:i], v.Sources[i:]
						break
					}
				}
				if part = append(part, &some); !next() {
					return
				}
				v, rest = &left, true
				n = encodedSize(v)
			}
			part, size = append(part, v), size+n
		}
		next()
	}
}

// encodedSize is how many bytes a value takes in a line. What cannot be encoded takes none: the line says
// what is wrong with it.
func encodedSize(x any) int {
	text, _ := journal.Encode(x)
	return len(text)
}

// withdraw writes that a fact stays with its writer from now on.
func (d *differ) withdraw(n fact.ID, before []*fact.Version) {
	if fact.Current(before, d.after(d.st.At())) != nil {
		d.add(&Line{Op: opRetract, At: d.st.At(), Category: before[0].Category, Key: before[0].Key, By: knowledge.PrivacyLocal, Reason: knowledge.PrivacyLocal, SourceKind: permittedKind(before)})
	}
}

// lastChange is when a version was last changed, as far as it tells.
func lastChange(v *fact.Version) time.Time {
	last := v.RecordedFrom
	for _, at := range []*time.Time{&v.LastConfirmed, v.RecordedUntil, v.RetractedAt, v.LastFeedback, v.RestoredAt, v.QuestionsAt, v.RenamedAt} {
		if at != nil && at.After(last) {
			last = *at
		}
	}
	for _, b := range v.Beliefs {
		if b.RecordedUntil.After(last) {
			last = b.RecordedUntil
		}
	}
	return last
}

// sameVersions reports whether two lists of versions are written the same.
func sameVersions(a, b []*fact.Version) bool {
	if len(a) != len(b) {
		return false
	}
	for i, v := range a {
		w := b[i]
		if v.ID != w.ID || v.RevisionCount != w.RevisionCount || v.ConfirmationCount != w.ConfirmationCount || v.Value != w.Value || !equal(v, w) {
			return false
		}
	}
	return true
}

// sameValues reports whether two histories end with the same values, those among them that have an end
// of their own. What ended before the time of its line got the last nanosecond before its end: it is lost.
func sameValues(a, b []*fact.Version) bool {
	values := func(vs []*fact.Version) (out []string) {
		for _, v := range vs {
			if !fact.Believed(v) {
				continue
			}
			if end := v.ValidUntil; end == nil {
				out = append(out, v.Value)
			} else if end.Sub(v.ValidFrom) > time.Nanosecond && !slices.ContainsFunc(vs, func(w *fact.Version) bool { return w.ValidFrom.Equal(*end) }) && (v.RetractedAt == nil || !v.RetractedAt.Equal(*end)) {
				out = append(out, v.Value+" until "+end.String())
			}
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(values(a), values(b))
}

// assertions are the statements behind the versions of a fact, in the order in which they were
// recorded. Statements behind the versions that it had before are left out. Whether they lead to
// these versions is for the caller to find out. Of what others proposed here only the ends are told.
func assertions(now, before []*fact.Version, proposed map[string]bool) (lines []*Line) {
	for _, v := range now {
		old := fact.WithID(before, v.ID)
		if v.Outcome == outcomeResumed {
			continue // it follows from what interrupted it
		}
		known := 0
		if old != nil {
			known = len(old.Sources)
		}
		var l *Line
		for i := known; i < len(v.Sources) && !proposed[v.ID]; i++ {
			s := v.Sources[i]
			l = &Line{
				Op: opAssert, At: s.At, By: s.By, Person: s.Person, Category: v.Category, Key: v.Key, Value: v.Value, Confidence: new(s.Confidence),
				Source: s.Ref, SourceKind: s.Kind, Files: s.Files,
			}
			if i == 0 {
				l.created(v)
			}
			lines = append(lines, l)
		}
		if l != nil {
			l.describe(v, old)
		}
		if v.RetractedAt != nil && (old == nil || old.RetractedAt == nil || !old.RetractedAt.Equal(*v.RetractedAt)) {
			r := &Line{Op: opRetract, At: *v.RetractedAt, By: v.RetractedBy, Person: v.RetractedPerson, Category: v.Category, Key: v.Key, Reason: v.RetractedReason}
			if fact.Believed(v) && v.ValidUntil != nil && !v.ValidUntil.Equal(r.At) {
				r.ValidUntil = v.ValidUntil
			}
			if r.SourceKind = permittedKind([]*fact.Version{v}); v.RetractedBy == knowledge.KindUser {
				r.SourceKind = knowledge.KindUser
			}
			if v.Also {
				r.Value = v.Value
			}
			if !slices.ContainsFunc(lines, func(x *Line) bool { return x.Op == opRetract && x.At.Equal(r.At) && x.Value == r.Value }) {
				lines = append(lines, r)
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b *Line) int { return a.At.Compare(b.At) })
	return lines
}

// created has a line make a version: with the period that it had at first.
func (l *Line) created(v *fact.Version) {
	p := fact.PeriodOf(v)
	if len(v.Beliefs) > 0 {
		p = fact.Period{From: v.Beliefs[0].ValidFrom, Until: v.Beliefs[0].ValidUntil}
	}
	if !p.From.Equal(l.At) {
		l.ValidFrom = &p.From
	}
	if p.Until != nil && !p.Until.Equal(l.At) {
		l.ValidUntil = p.Until
	}
	l.Session, l.Correct, l.Also = v.SourceSession, v.Outcome == string(knowledge.Corrected), v.Also
}

// describe has a line say what a version has beside its value.
func (l *Line) describe(v, old *fact.Version) {
	if old == nil {
		old = &fact.Version{Privacy: knowledge.PrivacyShared}
	}
	if !slices.Equal(v.Tags, old.Tags) {
		l.Tags = v.Tags
	}
	if !slices.Equal(v.Aliases, old.Aliases) {
		l.Aliases = v.Aliases
	}
	if !slices.Equal(v.Questions, old.Questions) && v.QuestionsAt == nil {
		l.Questions = v.Questions
	}
	if !slices.Equal(v.Examples, old.Examples) {
		l.Examples = v.Examples
	}
	if v.Pinned != old.Pinned {
		l.Pinned = &v.Pinned
	}
	if v.Privacy != old.Privacy {
		l.Privacy = v.Privacy
	}
	if v.Archetype != old.Archetype && fact.ArchetypeGiven(v) {
		l.Archetype = v.Archetype
	}
}
