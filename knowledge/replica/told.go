package replica

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// tell returns the lines that make the shared part of st of what was folded. They have
// no id yet, and stand in the order of their times, none before least. Afterwards f has
// them folded in.
func (f *Folded) tell(st *state.State, least time.Time) []*Line {
	t := teller{f: f, st: st, least: least}
	t.erasures()
	t.renames()
	for _, n := range t.names() {
		t.fact(n)
	}
	t.lists()
	slices.SortStableFunc(t.lines, func(a, b *Line) int { return a.At.Compare(b.At) })
	return t.lines
}

// teller finds out what was said.
type teller struct {
	f     *Folded
	st    *state.State
	least time.Time // before any time that a line may have
	lines []*Line
}

// add tells a line and folds it.
func (t *teller) add(l *Line) {
	t.fold(l)
	t.lines = append(t.lines, l)
}

// fold replays a line of this store. It knows all lines before it.
func (t *teller) fold(l *Line) {
	l.At = t.after(l.At)
	l.order, l.all = l.At, true
	t.f.apply(l)
}

// after is a time that a line may have: its own, unless the store had read later ones.
func (t *teller) after(at time.Time) time.Time {
	if at.After(t.least) {
		return at
	}
	return t.least.Add(time.Nanosecond)
}

// erasures tells which facts were erased, or revived by an import.
func (t *teller) erasures() {
	there := map[string]bool{}
	for e := range t.st.Tombstones() {
		name := hashed(formats.Name{Category: e.Category, Key: e.Key})
		told, again := t.f.State.Erased(fact.IDOf("", name))
		if there[name] = true; !(again && !e.ErasedAt.After(told.ErasedAt)) && !t.stays(e) {
			t.add(&Line{Op: opErase, At: e.ErasedAt, Name: name})
		}
	}
	for e := range t.f.State.Tombstones() {
		if !there[e.Key] {
			t.add(&Line{Op: opRevive, At: t.st.At(), Name: e.Key})
		}
	}
	slices.SortFunc(t.lines, func(a, b *Line) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Name, b.Name)) })
}

// stays reports whether an erased fact was never told, so that nobody needs to know.
func (t *teller) stays(e formats.Tombstone) bool {
	return len(t.f.State.Versions(fact.IDOf(e.Category, e.Key))) == 0 && !t.f.mentions(e)
}

// mentions reports whether a line is about a fact.
func (f *Folded) mentions(e formats.Tombstone) bool {
	return len(f.touched[factKey(fact.IDOf(e.Category, e.Key))])+len(f.touched["gone "+hashed(formats.Name{Category: e.Category, Key: e.Key})]) > 0
}

// renames tells which facts have another name: their versions are there under it.
func (t *teller) renames() {
	for n, vs := range maps.Collect(t.f.State.All()) {
		if len(t.st.Versions(n)) > 0 || len(vs) == 0 {
			continue
		}
		now := t.st.ByID(vs[0].ID)
		if now == nil || now.RenamedAt == nil || fact.IDOf(now.Category, now.Key) == n || now.Privacy == knowledge.PrivacyLocal {
			continue
		}
		to := formats.Name{Category: now.Category, Key: now.Key}
		t.add(&Line{
			Op: opRename, At: *now.RenamedAt, Category: vs[0].Category, Key: vs[0].Key, To: &to,
			Merge: len(t.f.State.Versions(fact.IDOf(to.Category, to.Key))) > 0,
		})
	}
	slices.SortStableFunc(t.lines, func(a, b *Line) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Category+a.Key, b.Category+b.Key))
	})
}

// names are those of all facts, here and among the lines, in order.
func (t *teller) names() []fact.ID {
	all := map[fact.ID]bool{}
	for _, seq := range []iter.Seq2[fact.ID, []*fact.Version]{t.st.All(), t.f.State.All()} {
		for n := range seq {
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

// fact tells what was said of one fact.
func (t *teller) fact(n fact.ID) {
	now, before := sharedOf(t.st.Versions(n)), t.f.State.Versions(n)
	switch {
	case len(now) == 0 && len(t.st.Versions(n)) > 0:
		t.leave(n, before)
		return
	case len(now) == 0:
		return // erased, or moved
	case len(before) == len(now) && sameVersions(now, before):
		return
	}
	told := assertions(now, before)
	undone := slices.Clone(t.f.State.Disputed)
	late := false
	for _, l := range told {
		late = late || !l.At.After(t.least)
		t.fold(l)
	}
	after := t.f.State.Versions(n)
	if len(told) > 0 && (sameVersions(now, after) || late && sameValues(now, after)) {
		t.lines = append(t.lines, told...)
		return
	}
	t.f.State.Commit(t.f.State.At(), state.Event{Replace: &state.Replacement{
		Facts: []state.Replaced{{Category: now[0].Category, Key: now[0].Key, Versions: before}}, Disputed: &undone,
	}})
	l := &Line{Op: opFact, Category: now[0].Category, Key: now[0].Key, Versions: now, At: now[0].RecordedFrom}
	for _, v := range now {
		if at := lastChange(v); at.After(l.At) {
			l.At, l.By = at, v.AssertedBy
		}
	}
	t.add(l)
}

// leave tells that a fact stays with its writer from now on.
func (t *teller) leave(n fact.ID, before []*fact.Version) {
	if fact.Current(before, t.after(t.st.At())) != nil {
		t.add(&Line{Op: opRetract, At: t.st.At(), Category: before[0].Category, Key: before[0].Key, By: knowledge.PrivacyLocal, Reason: knowledge.PrivacyLocal})
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

// sameValues reports whether two histories end with the same values.
func sameValues(a, b []*fact.Version) bool {
	values := func(vs []*fact.Version) (out []string) {
		for _, v := range vs {
			if fact.Believed(v) && v.ValidUntil == nil {
				out = append(out, v.Value)
			}
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(values(a), values(b))
}

// assertions are the statements behind the versions of a fact, in the order in which they were
// recorded. Statements behind the versions that it had before are left out. Whether they lead to
// these versions is for the caller to find out.
func assertions(now, before []*fact.Version) (lines []*Line) {
	for _, v := range now {
		old := fact.WithID(before, v.ID)
		if v.Outcome == "resumed" {
			continue // it follows from what interrupted it
		}
		known := 0
		if old != nil {
			known = len(old.Sources)
		}
		var l *Line
		for i := known; i < len(v.Sources); i++ {
			s := v.Sources[i]
			l = &Line{
				Op: opAssert, At: s.At, By: s.By, Category: v.Category, Key: v.Key, Value: v.Value, Confidence: new(s.Confidence),
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
			r := &Line{Op: opRetract, At: *v.RetractedAt, By: v.RetractedBy, Category: v.Category, Key: v.Key, Reason: v.RetractedReason}
			if fact.Believed(v) && v.ValidUntil != nil && !v.ValidUntil.Equal(r.At) {
				r.ValidUntil = v.ValidUntil
			}
			if v.RetractedBy == knowledge.KindUser {
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
	if v.Pinned != old.Pinned {
		l.Pinned = &v.Pinned
	}
	if v.Privacy != old.Privacy {
		l.Privacy = v.Privacy
	}
}

// lists tells what was said beside the facts.
func (t *teller) lists() {
	st, f := t.st, t.f.State
	at := st.At()
	entries(st.Patterns, f.Patterns, state.SamePattern, func(p formats.Pattern, there bool) {
		t.add(&Line{Op: either(there, opPattern, opUnpattern), At: at, Pattern: &p})
	})
	entries(st.Gotchas, f.Gotchas, state.SameGotcha, func(g formats.Gotcha, there bool) {
		t.add(&Line{Op: either(there, opGotcha, opUngotcha), At: at, Gotcha: &g})
	})
	entries(t.relations(st.Relations), t.relations(f.Relations), state.SameRelation, func(r formats.Relation, there bool) {
		t.add(&Line{Op: either(there, opRelate, opUnrelate), At: at, Relation: &r})
	})
	entries(st.Reminders, f.Reminders, state.SameReminder, func(r formats.Reminder, there bool) {
		if there {
			t.add(&Line{Op: opRemind, At: at, Reminder: &r})
		}
	})
	for _, p := range st.Judged {
		if !slices.ContainsFunc(f.Judged, func(q formats.JudgedPair) bool { return equal(p, q) }) && !t.localPair(p) {
			t.add(&Line{Op: opJudge, At: at, Pair: &p})
		}
	}
	for _, d := range st.Disputed {
		if localDispute(t.st, d) {
			continue
		}
		same := func(x formats.Dispute) bool { return sameDispute(d, x) }
		if i := slices.IndexFunc(f.Disputed, same); i >= 0 {
			d.ID = f.Disputed[i].ID
			if equal(d, f.Disputed[i]) {
				continue
			}
		} else {
			d.ID = longID(d)
		}
		t.add(&Line{Op: opDispute, At: at, Dispute: &d})
	}
}

func either(there bool, set, unset string) string {
	if there {
		return set
	}
	return unset
}

// entries calls tell for each entry that differs, and for each that is gone.
func entries[T any](now, before []T, same func(a, b T) bool, tell func(x T, there bool)) {
	before = slices.Clone(before)
	for _, x := range now {
		i := slices.IndexFunc(before, func(y T) bool { return same(x, y) })
		if i < 0 || !equal(x, before[i]) {
			tell(x, true)
		}
	}
	for _, y := range before {
		if !slices.ContainsFunc(now, func(x T) bool { return same(x, y) }) {
			tell(y, false)
		}
	}
}

// home reports whether nobody else knows a fact.
func (t *teller) home(category, key string) bool { return home(t.st, category, key) }

func home(st *state.State, category, key string) bool {
	vs := st.Versions(fact.IDOf(category, key))
	return len(vs) > 0 && !slices.ContainsFunc(vs, func(v *fact.Version) bool { return v.Privacy != knowledge.PrivacyLocal })
}

// localDispute reports whether a dispute stays on this machine: its value does, or what
// it stands against.
func localDispute(st *state.State, d formats.Dispute) bool {
	return d.Privacy == knowledge.PrivacyLocal || slices.ContainsFunc(st.Versions(fact.IDOf(d.Category, d.Key)), func(v *fact.Version) bool {
		return v.ID == d.Against && v.Privacy == knowledge.PrivacyLocal
	})
}

// relations are those between facts that others may know.
func (t *teller) relations(all []formats.Relation) (out []formats.Relation) {
	for _, r := range all {
		if !t.home(r.From.Category, r.From.Key) && !t.home(r.To.Category, r.To.Key) {
			out = append(out, r)
		}
	}
	return out
}

func (t *teller) localPair(p formats.JudgedPair) bool { return localPair(t.st, p) }

// localPair reports whether a verdict is about a fact that stays on this machine. A
// category may hold slashes.
func localPair(st *state.State, p formats.JudgedPair) bool {
	for _, key := range []string{p.KeyA, p.KeyB} {
		for i, r := range key {
			if r == '/' && home(st, key[:i], key[i+1:]) {
				return true
			}
		}
	}
	return false
}

// sameDispute reports whether two disputes are one. Their ids may have another length.
func sameDispute(a, b formats.Dispute) bool {
	return a.ID == b.ID || a.At.Equal(b.At) && a.Value == b.Value && a.Against == b.Against && a.Removal == b.Removal && (a.Rename == nil) == (b.Rename == nil)
}

// longID is the id of a dispute that others may know: long enough that nobody else makes
// the same one. It begins with the short one, unless the fact was renamed.
func longID(d formats.Dispute) string {
	return "d-" + formats.VersionID(d.Category, d.Key, d.Value, d.At, 0)[len("f-"):][:disputeDigits]
}
