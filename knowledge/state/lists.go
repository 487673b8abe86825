package state

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/verdict"
)

// Lists is what a project knows beside its facts. They are only to be read.
type Lists struct {
	Patterns  []formats.Pattern
	Gotchas   []formats.Gotcha
	Relations []formats.Relation
	Reminders []formats.Reminder
	Judged    []formats.JudgedPair
	Disputed  []formats.Dispute // assertions against believed versions, settled ones too
	History   []formats.Insight // the store's own log, the oldest first
	Commits   []formats.Commit  // each author's last one of the last day
	Replica   *formats.Replica  // nil: nothing is shared through the repository
	Extra     formats.Unknown   // members of the file that we do not know

	tombstones map[fact.ID]formats.Tombstone // of facts that were erased
}

// The categories that patterns and gotchas are found by and removed with.
const (
	RoomPattern = "pattern"
	RoomGotcha  = "gotcha"
)

// Last is the newest note of a kind in the store's own log.
func (l *Lists) Last(kind string) (h formats.Insight, ok bool) {
	for _, h := range slices.Backward(l.History) {
		if h.Kind == kind {
			return h, true
		}
	}
	return h, false
}

// Erased returns what is left of a fact that was erased; ok: it was.
func (l *Lists) Erased(n fact.ID) (t formats.Tombstone, ok bool) {
	if t, ok = l.tombstones[n]; !ok && len(l.tombstones) > 0 {
		t, ok = l.tombstones[fact.IDOf("", ErasedName(n))]
	}
	return t, ok
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

// Lessons are the patterns and gotchas as versions, so that they are found,
// listed and shown like facts.
func (l *Lists) Lessons() []*fact.Version {
	out := make([]*fact.Version, 0, len(l.Patterns)+len(l.Gotchas))
	for i := range l.Patterns {
		out = append(out, PatternVersion(&l.Patterns[i]))
	}
	for i := range l.Gotchas {
		out = append(out, GotchaVersion(&l.Gotchas[i]))
	}
	return out
}

// PatternVersion is a pattern as a version: its type is the key, and its
// examples stand in the value.
func PatternVersion(p *formats.Pattern) *fact.Version {
	value := p.Description
	if len(p.Examples) > 0 {
		value += " (e.g. " + strings.Join(p.Examples, ", ") + ")"
	}
	return &fact.Version{
		ID: "p-" + formats.VersionID(RoomPattern, p.Type, p.Description, time.Time{}, 0)[2:], Category: RoomPattern, Key: p.Type, Value: value,
		Confidence: 1, ConfirmationCount: 1, CreatedAt: p.CreatedAt, LastConfirmed: p.CreatedAt, ValidFrom: p.CreatedAt,
		RecordedFrom: p.CreatedAt, Archetype: "pattern", Privacy: fact.PrivacyShared, Questions: p.Questions,
	}
}

// GotchaVersion is a gotcha as a version: its key is made of the trigger, and
// each occurrence is a confirmation.
func GotchaVersion(g *formats.Gotcha) *fact.Version {
	return &fact.Version{
		ID: "g-" + strings.TrimPrefix(g.ID, "g-"), Category: RoomGotcha, Key: fact.Slug(g.Trigger), Value: g.Trigger + " → " + g.Resolution,
		Confidence: g.Confidence, ConfirmationCount: max(g.Occurrences, 1), CreatedAt: g.FirstSeen, LastConfirmed: g.LastSeen,
		ValidFrom: g.FirstSeen, RecordedFrom: g.FirstSeen, Archetype: "gotcha", Privacy: fact.PrivacyShared, Tags: []string{g.Severity}, Questions: g.Questions,
	}
}

// fold applies what an event says beside a fact's versions.
func (l *Lists) fold(e Event) {
	switch {
	case e.Judge != nil:
		l.Judged = append(l.Judged, *e.Judge)
	case e.Dispute != nil:
		l.Disputed = upsert(l.Disputed, *e.Dispute, SameDispute)
	case e.Note != nil:
		l.History = append(l.History, *e.Note)
	case e.Extra != nil:
		l.Extra = e.Extra
	case e.Pattern != nil:
		l.Patterns = upsert(l.Patterns, *e.Pattern, SamePattern)
	case e.Unpattern != nil:
		l.Patterns = without(l.Patterns, *e.Unpattern, SamePattern)
	case e.Gotcha != nil:
		l.Gotchas = upsert(l.Gotchas, *e.Gotcha, SameGotcha)
	case e.Ungotcha != "":
		l.Gotchas = without(l.Gotchas, formats.Gotcha{ID: e.Ungotcha}, SameGotcha)
	case e.Relate != nil:
		l.Relations = upsert(l.Relations, *e.Relate, SameRelation)
	case e.Unrelate != nil:
		l.Relations = without(l.Relations, *e.Unrelate, SameRelation)
	case e.Revive != nil:
		l.tombstones = maps.Clone(l.tombstones)
		delete(l.tombstones, fact.IDOf(e.Revive.Category, e.Revive.Key))
	case e.Erase != nil:
		n := fact.IDOf(e.Erase.Category, e.Erase.Key)
		l.tombstones = maps.Clone(l.tombstones)
		if l.tombstones == nil {
			l.tombstones = map[fact.ID]formats.Tombstone{}
		}
		l.tombstones[n] = *e.Erase
		l.unlink(n)
	case e.Remind != nil:
		l.Reminders = upsert(l.Reminders, *e.Remind, SameReminder)
	case e.Replica != nil:
		l.Replica = e.Replica
	case e.Replace != nil:
		l.replace(e.Replace)
	}
}

func (l *Lists) replace(r *Replacement) {
	set(&l.Patterns, r.Patterns)
	set(&l.Gotchas, r.Gotchas)
	set(&l.Relations, r.Relations)
	set(&l.Reminders, r.Reminders)
	set(&l.Judged, r.Judged)
	set(&l.Disputed, r.Disputed)
}

func set[T any](list *[]T, to *[]T) {
	if to != nil {
		*list = *to
	}
}

// unlink drops the relations and the disputes of a fact.
func (l *Lists) unlink(n fact.ID) {
	l.Relations = slices.DeleteFunc(slices.Clone(l.Relations), func(r formats.Relation) bool {
		return fact.IDOf(r.From.Category, r.From.Key) == n || fact.IDOf(r.To.Category, r.To.Key) == n
	})
	l.Disputed = slices.DeleteFunc(slices.Clone(l.Disputed), func(d formats.Dispute) bool {
		return fact.IDOf(d.Category, d.Key) == n || d.Rival != nil && fact.IDOf(d.Rival.Category, d.Rival.Key) == n
	})
	l.Commits = slices.Clone(l.Commits)
	for i, c := range l.Commits { // they hold values
		if slices.Contains(c.Touched, factKey(n)) {
			l.Commits[i] = final(c, "something that it changed was erased")
		}
	}
}

// rename has relations, verdicts and disputes follow a fact to another name. A
// relation of a fact with itself is dropped, and so is one that is there already.
func (l *Lists) rename(r *formats.Renaming) {
	from := fact.IDOf(r.From.Category, r.From.Key)
	follow := func(n *formats.Name) {
		if fact.IDOf(n.Category, n.Key) == from {
			*n = r.To
		}
	}
	relations := make([]formats.Relation, 0, len(l.Relations))
	for _, x := range l.Relations {
		follow(&x.From)
		follow(&x.To)
		same := func(y formats.Relation) bool { return SameRelation(x, y) }
		if fact.IDOf(x.From.Category, x.From.Key) != fact.IDOf(x.To.Category, x.To.Key) && !slices.ContainsFunc(relations, same) {
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
	l.Patterns, l.Gotchas, l.Relations = slices.Clip(l.Patterns), slices.Clip(l.Gotchas), slices.Clip(l.Relations)
	l.Reminders, l.Judged, l.Disputed, l.History = slices.Clip(l.Reminders), slices.Clip(l.Judged), slices.Clip(l.Disputed), slices.Clip(l.History)
	l.Commits = slices.Clip(l.Commits)
	return l
}

// SamePattern reports whether two patterns have one type and one description.
func SamePattern(a, b formats.Pattern) bool {
	return formats.FoldName(a.Type) == formats.FoldName(b.Type) && verdict.Compare("", a.Description, b.Description) == verdict.Equal
}

// SameGotcha reports whether two gotchas are one.
func SameGotcha(a, b formats.Gotcha) bool { return a.ID == b.ID }

// SameRelation reports whether two relations link the same facts in the same
// way.
func SameRelation(a, b formats.Relation) bool {
	return a.Kind == b.Kind && fact.IDOf(a.From.Category, a.From.Key) == fact.IDOf(b.From.Category, b.From.Key) &&
		fact.IDOf(a.To.Category, a.To.Key) == fact.IDOf(b.To.Category, b.To.Key)
}

// SameDispute reports whether two disputes are one.
func SameDispute(a, b formats.Dispute) bool { return a.ID == b.ID }

// SameReminder reports whether two reminders are one.
func SameReminder(a, b formats.Reminder) bool { return a.ID == b.ID }

// upsert and without leave the old slice as it was.
func upsert[T any](list []T, x T, same func(a, b T) bool) []T {
	if i := slices.IndexFunc(list, func(y T) bool { return same(x, y) }); i >= 0 {
		list = slices.Clone(list)
		list[i] = x
		return list
	}
	return append(list, x)
}

func without[T any](list []T, x T, same func(a, b T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), func(y T) bool { return same(x, y) })
}
