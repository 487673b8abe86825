package replica

import (
	"slices"
	"strings"
	"unicode/utf8"

	"leanctx/formats"
	"leanctx/knowledge"
	"leanctx/knowledge/reminder"
	"leanctx/knowledge/state"
)

// The operations of a line.
const (
	opAssert    = "assert"
	opRetract   = "retract"
	opFact      = "fact" // all versions of a fact as they are
	opRename    = "rename"
	opErase     = "erase"
	opRevive    = "revive"
	opPattern   = "pattern" // this and the next three: see former.go
	opUnpattern = "unpattern"
	opGotcha    = "gotcha"
	opUngotcha  = "ungotcha"
	opRelate    = "relate"
	opUnrelate  = "unrelate"
	opRemind    = "remind"
	opJudge     = "judge"
	opDispute   = "dispute"
	opProject   = "project" // to which project the file belongs
	opGone      = "gone"    // what is left of a line about an erased fact
	opKey       = "key"     // the key that verifies the lines of a replica; the first line of its file
	opAccept    = "accept"  // lines of others that count from now on
)

// operation is what the lines of one operation are. A new one is a row of [operations].
type operation struct {
	sound func(*Line) bool           // it has what it needs, within the limits of an assertion
	facts func(*Line) []formats.Name // the facts that it is about
	about func(*Line) string         // what it changes, under a name for Folded.linesAbout
	rule  rule                       // who may do it
	apply func(*Folded, *Line)

	asserts bool // it says what a fact is: who confirms the fact has taken it in
}

func (o operation) asserting() operation {
	o.asserts = true
	return o
}

// rule says who may do an operation: by is in whose name the line speaks. Who may not does nothing, or
// what instead does.
type rule struct {
	may     func(f *Folded, l *Line, by formats.Source) bool
	instead func(*Folded, *Line) // may be nil
	kinds   bool                 // a line of it says the least kind that may: see [differ.fold]
}

// Most operations on facts go through the policy of package knowledge. It decides by the kind of source,
// and records as a dispute what may not be done.
var byPolicy = rule{may: allowed}

// An entry of some lists has no author. What it says of facts is no more than advice.
var byAnybody = rule{may: allowed}

// Some lines change nothing.
var changesNothing = rule{may: allowed}

func allowed(*Folded, *Line, formats.Source) bool { return true }

// ranks reports whether somebody has the authority of a kind.
func ranks(by formats.Source, kind string) bool {
	return knowledge.Authority(by.Kind) >= knowledge.Authority(kind)
}

// An erasure is for who may change all that it erases. Otherwise it stands as the wish to remove the fact.
var byEraser = rule{kinds: true, may: (*Folded).mayErase, instead: (*Folded).wishErased}

// An erased name comes back by who could have erased it.
var byReviver = rule{kinds: true, may: func(f *Folded, l *Line, by formats.Source) bool { return ranks(by, f.erasedBy[l.Name]) }}

// Anybody may have others reminded, and say of what is not the user's that it is done. Another text, another
// condition, and the reminding anew, are the user's. For what other replicas have reminded, the limits of this store hold.
var byReminder = rule{kinds: true, may: func(f *Folded, l *Line, by formats.Source) bool {
	x := *l.Reminder
	old, there := state.Reminders.Find(&f.State.Lists, x)
	if f.other(l.writer) != "" && (len(x.Text) > knowledge.MaxReminder || (!there || old.State != reminder.StateOpen) && x.State == reminder.StateOpen && f.openElsewhere() >= knowledge.MaxOpenReminders) {
		return false
	}
	return !there || ranks(by, knowledge.KindUser) || sameReminder(old, x) && (x.State == old.State || x.State == reminder.StateDone && old.CreatedBy != "")
}}

// openElsewhere counts the open reminders that other replicas made.
func (f *Folded) openElsewhere() (n int) {
	for _, r := range f.State.Reminders {
		if r.State == reminder.StateOpen && f.remindedBy[r.ID] != "" {
			n++
		}
	}
	return n
}

// sameReminder reports whether two reminders are one, whatever has become of it.
func sameReminder(old, x formats.Reminder) bool {
	old.State, old.DoneAt, old.TakenIn, old.Replica, old.Extra = x.State, x.DoneAt, x.TakenIn, x.Replica, x.Extra
	return equal(old, x)
}

// A dispute is opened in the name of its source, and settled by who has the authority of those who opened
// it and settled it before. Who accepts it against a version could have changed that.
var byJudge = rule{kinds: true, may: func(f *Folded, l *Line, by formats.Source) bool {
	d := *l.Dispute
	old, there := state.Disputes.Find(&f.State.Lists, d)
	if !there {
		old = d
		old.Settled = nil
	}
	if old.Settled != nil && d.State != old.State && !ranks(by, old.Settled.Kind) || d.Settled != nil && !ranks(by, d.Settled.Kind) {
		return false
	}
	if there && d.State == old.State {
		return true
	}
	switch d.State {
	case formats.DisputeAccepted:
		v := f.State.ByID(old.Against)
		return v == nil || knowledge.MayReplace(portableFacts{f.State}, by, v)
	case formats.DisputeOpen:
		return there || ranks(by, d.Source.Kind)
	}
	return ranks(by, old.Source.Kind)
}}

var operations = map[string]operation{
	opAssert:  ofFact((*Line).soundAssertion, (*Folded).assert).asserting(),
	opRetract: ofFact(func(l *Line) bool { return knowledge.ValidReason(l.Reason) }, (*Folded).retract),
	opFact:    ofFact((*Line).soundVersions, (*Folded).whole).asserting(),
	opRename:  ofFact(func(l *Line) bool { return l.To != nil && validNames(*l.To) }, (*Folded).rename),
	opErase: ofErased(byEraser, func(f *Folded, l *Line) {
		f.commit(l, state.Event{Erase: l.tombstone()})
		f.erasedBy[l.Name] = l.by().Kind
	}),
	opRevive: ofErased(byReviver, func(f *Folded, l *Line) {
		f.commit(l, state.Event{Revive: &formats.Tombstone{Key: l.Name}})
		delete(f.erasedBy, l.Name)
	}),
	opPattern:   ofFormer(false, true).asserting(),
	opUnpattern: ofFormer(false, false),
	opGotcha:    ofFormer(true, true).asserting(),
	opUngotcha:  ofFormer(true, false),
	opRelate:    relations.set(),
	opUnrelate:  relations.unset(),
	opRemind:    reminders.set(),
	opJudge:     judged.set(),
	opDispute:   disputes.set(),
	opProject:   inert(func(l *Line) bool { return l.Project != nil }),
	opGone:      inert(func(*Line) bool { return true }),
	opKey:       inert(func(l *Line) bool { _, ok := decodeKey(l.Public); return ok }),
	opAccept:    inert(func(l *Line) bool { return len(l.Lines) > 0 }),
}

// ofFact is an operation on one fact.
func ofFact(sound func(*Line) bool, apply func(*Folded, *Line)) operation {
	return operation{
		sound: func(l *Line) bool { return validNames(l.fact()) && sound(l) },
		facts: func(l *Line) []formats.Name { return []formats.Name{l.fact()} },
		about: func(l *Line) string { return factKey(l.fact()) },
		rule:  byPolicy,
		apply: apply,
	}
}

// ofErased is an operation on a fact that is known by its hashed name alone.
func ofErased(who rule, apply func(*Folded, *Line)) operation {
	o := inert(func(l *Line) bool { return strings.HasPrefix(l.Name, "sha256:") })
	o.rule, o.apply = who, apply
	return o
}

// inert is an operation that changes nothing.
func inert(sound func(*Line) bool) operation {
	return operation{
		sound: sound,
		facts: func(*Line) []formats.Name { return nil },
		about: func(l *Line) string { return l.Op + " " + l.Name },
		rule:  changesNothing,
		apply: func(*Folded, *Line) {},
	}
}

// list is one of the lists beside the facts: how lines and a sync treat it.
type list[T any] struct {
	*state.List[T]
	onSet, onUnset string // the operations that set an entry, and drop one; "": none is dropped

	of    func(*Line) **T
	rule  rule
	sound func(T) bool           // may be nil
	facts func(T) []formats.Name // the facts that an entry is about; may be nil
	keep  func(old, x T) T       // an entry that is there with what x changes of it; nil: x
	join  func(old, x T) T       // what holds of two that were written apart, x later; nil: x
	known func(all []T, x T) T   // x as those know it who have all; nil: as it is

	locate func(*knowledge.Store, T) T // an entry with paths as they are kept now; nil: it has none

	// told is an entry as a line of this store says it, and whether one does: what others proposed stays in
	// their lines. before reports whether lines tell of it, and proposed whether none that is confirmed does. nil: as it is.
	told func(d *differ, x T, before, proposed bool) (T, bool)

	tell func(*Folded, *T) // has an entry say which other replica it is of; nil: none does
	mark func(*T) *bool    // the mark of an entry that nobody has confirmed here; nil: none has one
}

var (
	relations = list[formats.Relation]{
		List: &state.Relations, onSet: opRelate, onUnset: opUnrelate,
		of:   func(l *Line) **formats.Relation { return &l.Relation },
		rule: byAnybody,
		mark: func(r *formats.Relation) *bool { return &r.TakenIn },
		sound: func(r formats.Relation) bool {
			return validNames(r.From.Name, r.To.Name) && knowledge.ValidName(r.Kind)
		},
		facts: func(r formats.Relation) []formats.Name { return []formats.Name{r.From.Name, r.To.Name} },
		join: func(old, x formats.Relation) formats.Relation {
			x.Count = max(x.Count, old.Count+1)
			return x
		},
	}
	reminders = list[formats.Reminder]{
		List: &state.Reminders, onSet: opRemind,
		of:   func(l *Line) **formats.Reminder { return &l.Reminder },
		rule: byReminder,
		locate: func(s *knowledge.Store, r formats.Reminder) formats.Reminder {
			r.Path = s.Relative(r.Path)
			return r
		},
		mark: func(r *formats.Reminder) *bool { return &r.TakenIn },
		sound: func(r formats.Reminder) bool {
			return r.Replica == "" && len(r.Text) <= knowledge.MaxValue && len(r.ID)+len(r.Path)+len(r.Keyword)+len(r.Task) <= 16<<10
		},
		join: func(old, x formats.Reminder) formats.Reminder {
			if old.DoneAt != nil {
				x.State, x.DoneAt = old.State, old.DoneAt
			}
			return x
		},
		tell: func(f *Folded, r *formats.Reminder) { r.Replica = f.remindedBy[r.ID] },
		known: func(_ []formats.Reminder, r formats.Reminder) formats.Reminder {
			r.Replica = ""
			return r
		},
	}
	judged = list[formats.JudgedPair]{
		List: &state.Judged, onSet: opJudge,
		of:   func(l *Line) **formats.JudgedPair { return &l.Pair },
		rule: byAnybody,
	}
	disputes = list[formats.Dispute]{
		List: &state.Disputes, onSet: opDispute, locate: (*knowledge.Store).LocatedDispute,
		of:   func(l *Line) **formats.Dispute { return &l.Dispute },
		rule: byJudge,
		sound: func(d formats.Dispute) bool {
			return d.ID != "" && validNames(formats.Name{Category: d.Category, Key: d.Key})
		},
		facts: func(d formats.Dispute) []formats.Name {
			out := []formats.Name{{Category: d.Category, Key: d.Key}}
			if d.Rival != nil {
				out = append(out, *d.Rival)
			}
			return out
		},
		keep: func(old, x formats.Dispute) formats.Dispute {
			old.Category, old.Key, old.State, old.Settled = x.Category, x.Key, x.State, x.Settled
			return old
		},
		join: func(old, x formats.Dispute) formats.Dispute {
			if x.State == formats.DisputeOpen {
				return old // it was settled meanwhile
			}
			return x
		},
		told: func(d *differ, x formats.Dispute, before, proposed bool) (formats.Dispute, bool) {
			if x.Value == "" || !d.proposes(formats.Name{Category: x.Category, Key: x.Key}, x.Value) && !(before && proposed) {
				return x, true
			}
			x.Value, x.Reason = "", "" // a line tells of its end alone
			return x, before
		},
		tell: func(f *Folded, d *formats.Dispute) { *d = disputeOf(*d, f.disputedBy[d.ID], f.settledBy[d.ID]) },
		known: func(all []formats.Dispute, d formats.Dispute) formats.Dispute {
			d = disputeOf(d, "", "")
			if i := slices.IndexFunc(all, func(x formats.Dispute) bool { return sameDispute(d, x) }); i >= 0 {
				d.ID = all[i].ID
			} else {
				d.ID = longID(d)
			}
			return d
		},
	}

	lists = []interface {
		diff(*differ)
		replace(to *state.Replacement, f *Folded, st *state.State, always bool)
		changes(now, then *state.State, tell func(subject, name, what string))
		ofUser(now *state.State, subject string) bool
	}{&relations, &reminders, &judged, &disputes}
)

// set sets an entry. Of two that were written apart the later one counts, but what can be joined is.
func (k *list[T]) set() operation {
	return operation{
		sound: func(l *Line) bool { x := *k.of(l); return x != nil && (k.sound == nil || k.sound(*x)) },
		facts: func(l *Line) []formats.Name {
			if k.facts == nil {
				return nil
			}
			return k.facts(**k.of(l))
		},
		about: func(l *Line) string { return k.about(l) },
		rule:  k.rule,
		apply: func(f *Folded, l *Line) {
			x := **k.of(l)
			if old, ok := k.Find(&f.State.Lists, x); ok {
				if k.keep != nil {
					x = k.keep(old, x)
				}
				if k.join != nil && l.apart(f.linesAbout[k.about(l)]) {
					x = k.join(old, x)
				}
			}
			f.commit(l, k.Set(&x))
		},
	}
}

// unset drops an entry, unless it was set by a line that the writer had not seen.
func (k *list[T]) unset() operation {
	o := k.set()
	o.apply = func(f *Folded, l *Line) {
		if !l.apart(f.linesAbout[k.about(l)]) {
			f.commit(l, k.Unset(*k.of(l)))
		}
	}
	return o
}

func (k *list[T]) about(l *Line) string {
	return k.aboutEntry(**k.of(l))
}

func (k *list[T]) aboutEntry(x T) string {
	if keys := k.Keys(x); len(keys) > 0 {
		return keys[0]
	}
	return ""
}

// diff writes a line for each entry that differs, and for each that is gone.
func (k *list[T]) diff(d *differ) {
	before := slices.Clone(*k.Of(&d.f.State.Lists))
	now, _ := k.Part(d.st, *k.Of(&d.st.Lists))
	write := func(op string, x T) {
		l := &Line{Op: op, At: d.st.At()}
		*k.of(l) = &x
		d.add(l)
	}
	now = slices.Clone(now)
	for i, x := range now {
		confirmed := false
		if k.mark != nil {
			if *k.mark(&x) {
				continue // nobody has said it here: it is as the lines have it, or they are held
			}
			confirmed = d.f.takenIn(k.aboutEntry(x))
		}
		if k.locate != nil {
			x = k.locate(d.s, x)
		}
		now[i] = x
		if k.known != nil {
			x = k.known(before, x)
			now[i] = x
		}
		if j := slices.IndexFunc(before, func(y T) bool { return k.Same(x, y) }); j < 0 || confirmed || !equal(x, before[j]) {
			if k.told != nil {
				var ok bool
				if x, ok = k.told(d, x, j >= 0, d.f.takenIn(k.aboutEntry(x))); !ok {
					continue
				}
			}
			write(k.onSet, x)
		}
	}
	before, _ = k.Part(d.st, before)
	for _, y := range before {
		if k.onUnset != "" && !slices.ContainsFunc(now, func(x T) bool { return k.Same(x, y) }) {
			write(k.onUnset, y)
		}
	}
}

// replace has the list hold what the lines make, and what stays on this machine.
func (k *list[T]) replace(to *state.Replacement, f *Folded, st *state.State, always bool) {
	want, have := slices.Clone(*k.Of(&f.State.Lists)), *k.Of(&st.Lists)
	if k.mark != nil {
		for i := range want {
			*k.mark(&want[i]) = f.takenIn(k.aboutEntry(want[i]))
		}
	}
	if k.tell != nil {
		for i := range want {
			k.tell(f, &want[i])
		}
	}
	_, local := k.Part(st, have)
	for _, x := range local {
		// What is about a fact that is local here may have come with the lines too.
		if !slices.ContainsFunc(want, func(y T) bool { return k.Same(x, y) }) {
			want = append(want, x)
		}
	}
	if always || !slices.EqualFunc(want, have, equal[T]) {
		*k.Whole(to) = &want
	}
}

func validNames(names ...formats.Name) bool {
	return !slices.ContainsFunc(names, func(n formats.Name) bool { return !knowledge.ValidName(n.Category) || !knowledge.ValidName(n.Key) })
}

// sound reports whether a line has what its operation needs. A file of a repository may hold
// anything.
func (l *Line) sound() bool {
	y := l.At.Year()
	return y >= 1970 && y <= 9000 && operations[l.Op].sound(l)
}

func (l *Line) soundAssertion() bool {
	c := l.checked()
	return utf8.ValidString(l.Value) && c.Validate() == nil && (l.ValidFrom == nil || l.ValidUntil == nil || l.ValidFrom.Before(*l.ValidUntil))
}

func (l *Line) soundVersions() bool {
	return !slices.ContainsFunc(l.Versions, func(v *formats.Fact) bool {
		return v == nil || v.ID == "" || !validNames(formats.Name{Category: v.Category, Key: v.Key}) || !soundTexts(v) || !knowledge.ValidReason(v.RetractedReason) ||
			formats.FoldName(v.Category) != formats.FoldName(l.Category) || formats.FoldName(v.Key) != formats.FoldName(l.Key)
	})
}

// soundTexts reports whether what a version says is within the limits of an assertion.
func soundTexts(v *formats.Fact) bool {
	size := 0
	for _, x := range v.Examples {
		size += len(x)
	}
	return len(v.Value) <= knowledge.MaxValue && size <= knowledge.MaxValue
}

// fact is the name of the one fact that a line is about.
func (l *Line) fact() formats.Name { return formats.Name{Category: l.Category, Key: l.Key} }

// names are the hashed names of the facts that a line is about.
func (l *Line) names() (out []string) {
	for _, n := range operations[l.Op].facts(l) {
		out = append(out, hashed(n))
	}
	return out
}

func factKey(n formats.Name) string {
	return "fact " + formats.FoldName(n.Category) + "\x00" + formats.FoldName(n.Key)
}

// sameDispute reports whether two disputes are one. Their ids may have another length.
func sameDispute(a, b formats.Dispute) bool {
	return a.ID == b.ID || a.At.Equal(b.At) && a.Value == b.Value && a.Against == b.Against && a.Removal == b.Removal && (a.Rename == nil) == (b.Rename == nil)
}

// disputeOf is a dispute that users of some replicas opened and settled; empty: of this store.
func disputeOf(d formats.Dispute, opened, settled string) formats.Dispute {
	if d.Source.Replica = opened; d.Settled != nil {
		s := *d.Settled
		s.Replica = settled
		d.Settled = &s
	}
	return d
}

// longID is the id of a dispute that others may know: long enough that nobody else makes
// the same one. It begins with the short one, unless the fact was renamed.
func longID(d formats.Dispute) string {
	return "d-" + formats.VersionID(d.Category, d.Key, d.Value, d.At, 0)[len("f-"):][:disputeDigits]
}
