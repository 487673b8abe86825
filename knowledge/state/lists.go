package state

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"maps"
	"slices"

	"leanctx/formats"
	"leanctx/knowledge/fact"
)

// Lists is what a project knows beside its facts. They are only to be read.
type Lists struct {
	Relations []formats.Relation
	Reminders []formats.Reminder
	Judged    []formats.JudgedPair
	Disputed  []formats.Dispute // assertions against believed versions, settled ones too
	Renames   []formats.Rename  // in order; none of erased facts
	History   []formats.Insight // the store's own log, the oldest first
	Commits   []formats.Commit  // each author's last one of the last day
	Replica   *formats.Replica  // nil: nothing is shared through the repository
	Extra     formats.Unknown   // members of the file that we do not know

	tombstones map[fact.ID]formats.Tombstone // of facts that were erased
}

// Last is the newest note of a kind in the store's own log.
func (l *Lists) Last(kind string) (h formats.Insight, ok bool) {
	for _, h := range slices.Backward(l.History) {
		if h.Kind == kind {
			return h, true
		}
	}
	return h, false
}

// Erased returns what is left of a fact that was erased; ok: it was. What somebody who is not
// trusted here erased does not count.
func (l *Lists) Erased(n fact.ID) (t formats.Tombstone, ok bool) {
	if t, ok = l.tombstones[n]; (!ok || t.TakenIn) && len(l.tombstones) > 0 {
		t, ok = l.tombstones[fact.IDOf("", ErasedName(n))]
	}
	return t, ok && !t.TakenIn
}

// ErasedName is by what the repository names an erased fact: it tells nobody what the
// name was who does not know it. It is the key of a tombstone that came from there.
func ErasedName(n fact.ID) string {
	if n.Category == "" {
		return n.Key // it is one already
	}
	sum := sha256.Sum256([]byte(n.Category + "\x00" + n.Key))
	return "sha256:" + hex.EncodeToString(sum[:16])
}

// Tombstones are what is left of the facts that were erased, in no order.
func (l *Lists) Tombstones() iter.Seq[formats.Tombstone] { return maps.Values(l.tombstones) }

// erase leaves a tombstone of a fact. Its former names go with it.
func (l *Lists) erase(n fact.ID, t formats.Tombstone) {
	trail := l.Trail(n)
	l.tombstones = maps.Clone(l.tombstones)
	if l.tombstones == nil {
		l.tombstones = map[fact.ID]formats.Tombstone{}
	}
	l.tombstones[n] = t
	l.unlink(n, trail, t.Versions)
	l.Renames = slices.DeleteFunc(slices.Clone(l.Renames), func(r formats.Rename) bool { return slices.Contains(trail, r) })
}

func (l *Lists) revive(n fact.ID) {
	l.tombstones = maps.Clone(l.tombstones)
	delete(l.tombstones, n)
}

// unlink drops the relations and the disputes of a fact, and what commits keep of it, also of the time
// before it was renamed.
func (l *Lists) unlink(n fact.ID, trail []formats.Rename, versions []string) {
	l.Relations = slices.DeleteFunc(slices.Clone(l.Relations), func(r formats.Relation) bool {
		return fact.IDOf(r.From.Category, r.From.Key) == n || fact.IDOf(r.To.Category, r.To.Key) == n
	})
	l.Disputed = slices.DeleteFunc(slices.Clone(l.Disputed), func(d formats.Dispute) bool {
		return fact.IDOf(d.Category, d.Key) == n || d.Rival != nil && fact.IDOf(d.Rival.Category, d.Rival.Key) == n
	})
	l.Commits = slices.Clone(l.Commits)
	keys := []string{"fact " + docID(n)}
	for _, r := range trail {
		keys = append(keys, keyOf(r.From.Category, r.From.Key))
	}
	for i, c := range l.Commits { // they hold values
		if slices.ContainsFunc(c.Touched, func(key string) bool { return slices.Contains(keys, key) }) ||
			slices.ContainsFunc(c.Facts, func(v *fact.Version) bool { return slices.Contains(versions, v.ID) }) {
			l.Commits[i] = final(c, "something that it changed was erased")
		}
	}
}

// rename has relations, verdicts and disputes follow a fact to another name. A
// relation of a fact with itself is dropped, and so is one that is there already.
func (l *Lists) rename(r *formats.Rename) {
	from := fact.IDOf(r.From.Category, r.From.Key)
	if from != fact.IDOf(r.To.Category, r.To.Key) && !slices.Contains(l.Renames, *r) {
		l.Renames = append(l.Renames, *r)
	}
	follow := func(n *formats.Name) {
		if fact.IDOf(n.Category, n.Key) == from {
			*n = r.To
		}
	}
	relations := make([]formats.Relation, 0, len(l.Relations))
	for _, x := range l.Relations {
		follow(&x.From.Name)
		follow(&x.To.Name)
		if fact.IDOf(x.From.Category, x.From.Key) != fact.IDOf(x.To.Category, x.To.Key) && Relations.index(relations, x) < 0 {
			relations = append(relations, x)
		}
	}
	l.Relations, l.Judged, l.Disputed = relations, slices.Clone(l.Judged), slices.Clone(l.Disputed)
	before, after := formats.FoldName(r.From.Category+"/"+r.From.Key), r.To.Category+"/"+r.To.Key
	for i := range l.Judged {
		for _, key := range []*string{&l.Judged[i].KeyA, &l.Judged[i].KeyB} {
			if formats.FoldName(*key) == before {
				*key = after
			}
		}
	}
	for i := range l.Disputed {
		d := &l.Disputed[i]
		if fact.IDOf(d.Category, d.Key) == from {
			d.Category, d.Key = r.To.Category, r.To.Key
		}
		if d.Rival != nil {
			rival := *d.Rival
			follow(&rival)
			d.Rival = &rival
		}
	}
}

// clipped is for a clone: what is appended to either is not seen in the other.
func (l Lists) clipped() Lists {
	for _, x := range lists {
		x.clip(&l)
	}
	l.Renames, l.History, l.Commits = slices.Clip(l.Renames), slices.Clip(l.History), slices.Clip(l.Commits)
	return l
}

// List is one of the lists, and what its events, their undoing and the sync of them need.
type List[T any] struct {
	Of     func(*Lists) *[]T          // its entries
	Former func(*formats.Commit) *[]T // those that a commit changed, as they were; nil: see final
	Whole  func(*Replacement) **[]T   // the whole list instead

	Same  func(a, b T) bool
	Keys  func(T) []string // the name of an entry among those that a commit touched, then those of its facts
	Set   func(*T) Event
	Unset func(*T) Event // nil: no entry is ever dropped

	local func(Facts, T) bool // it stays on this machine; nil: none does
	final string              // why a commit that sets an entry cannot be taken back
}

// The lists. An entry is there once.
var (
	Relations = List[formats.Relation]{
		Of:     func(l *Lists) *[]formats.Relation { return &l.Relations },
		Former: func(c *formats.Commit) *[]formats.Relation { return &c.Relations },
		Whole:  func(r *Replacement) **[]formats.Relation { return &r.Relations },
		Same: func(a, b formats.Relation) bool { // the same facts, linked in the same way
			return a.Kind == b.Kind && fact.IDOf(a.From.Category, a.From.Key) == fact.IDOf(b.From.Category, b.From.Key) &&
				fact.IDOf(a.To.Category, a.To.Key) == fact.IDOf(b.To.Category, b.To.Key)
		},
		Keys: func(r formats.Relation) []string { // who links a fact builds on it
			from, to := keyOf(r.From.Category, r.From.Key), keyOf(r.To.Category, r.To.Key)
			return []string{"relation " + r.Kind + " " + from + " " + to, from, to}
		},
		local: func(f Facts, r formats.Relation) bool { return onlyLocal(f, r.From.Name) || onlyLocal(f, r.To.Name) },
		Set:   func(r *formats.Relation) Event { return Event{Relate: r} },
		Unset: func(r *formats.Relation) Event { return Event{Unrelate: r} },
	}
	Reminders = List[formats.Reminder]{
		Of:     func(l *Lists) *[]formats.Reminder { return &l.Reminders },
		Former: func(c *formats.Commit) *[]formats.Reminder { return &c.Reminders },
		Whole:  func(r *Replacement) **[]formats.Reminder { return &r.Reminders },
		Same:   func(a, b formats.Reminder) bool { return a.ID == b.ID },
		Keys:   func(r formats.Reminder) []string { return []string{"reminder " + r.ID} },
		Set:    func(r *formats.Reminder) Event { return Event{Remind: r} },
	}
	Disputes = List[formats.Dispute]{
		Of:     func(l *Lists) *[]formats.Dispute { return &l.Disputed },
		Former: func(c *formats.Commit) *[]formats.Dispute { return &c.Disputes },
		Whole:  func(r *Replacement) **[]formats.Dispute { return &r.Disputed },
		Same:   func(a, b formats.Dispute) bool { return a.ID == b.ID },
		Keys:   func(d formats.Dispute) []string { return []string{"dispute " + d.ID, keyOf(d.Category, d.Key)} },
		Set:    func(d *formats.Dispute) Event { return Event{Dispute: d} },
		local:  localDispute,
	}
	Judged = List[formats.JudgedPair]{
		Of:    func(l *Lists) *[]formats.JudgedPair { return &l.Judged },
		Whole: func(r *Replacement) **[]formats.JudgedPair { return &r.Judged },
		Same: func(a, b formats.JudgedPair) bool {
			return a.KeyA == b.KeyA && a.KeyB == b.KeyB && a.Verdict == b.Verdict && a.JudgedAt.Equal(b.JudgedAt)
		},
		Keys:  func(formats.JudgedPair) []string { return nil },
		Set:   func(p *formats.JudgedPair) Event { return Event{Judge: p} },
		local: localPair,
		final: "it judged two facts; judge them again",
	}

	lists = []interface {
		replace(*State, *Replacement)
		clip(*Lists)
	}{&Relations, &Reminders, &Disputes, &Judged}
)

// Find looks an entry up that is the same as x.
func (l *List[T]) Find(of *Lists, x T) (found T, ok bool) {
	all := *l.Of(of)
	if i := l.index(all, x); i >= 0 {
		return all[i], true
	}
	return found, false
}

func (l *List[T]) index(all []T, x T) int {
	return slices.IndexFunc(all, func(y T) bool { return l.Same(x, y) })
}

// with and without leave the old slice as it was.
func (l *List[T]) with(all []T, x T) []T {
	if i := l.index(all, x); i >= 0 {
		all = slices.Clone(all)
		all[i] = x
		return all
	}
	return append(all, x)
}

func (l *List[T]) without(all []T, x T) []T {
	return slices.DeleteFunc(slices.Clone(all), func(y T) bool { return l.Same(x, y) })
}

func (l *List[T]) replace(s *State, r *Replacement) {
	if to := *l.Whole(r); to != nil {
		l.change(s, *to)
	}
}

func (l *List[T]) change(s *State, to []T) {
	*l.Of(&s.Lists) = to
}

func (l *List[T]) clip(of *Lists) { *l.Of(of) = slices.Clip(*l.Of(of)) }

// set is the kind of an event that sets an entry.
func (l *List[T]) set(x T) kind {
	return l.kind(x, func(all []T) []T { return l.with(all, x) })
}

// unset is the kind of an event that drops an entry.
func (l *List[T]) unset(x T) kind {
	return l.kind(x, func(all []T) []T { return l.without(all, x) })
}

func (l *List[T]) kind(x T, to func([]T) []T) kind {
	return kind{
		touches: l.Keys(x), final: l.final,
		keep: func(s *State, c *former) string {
			list := l.Former(c.Commit)
			if old, ok := l.Find(&s.Lists, x); ok && l.index(*list, x) < 0 {
				*list = append(*list, old)
			}
			return ""
		},
		fold: func(s *State) { l.change(s, to(*l.Of(&s.Lists))) },
	}
}
