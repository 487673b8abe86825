package ledger

import (
	"encoding/json"
	"slices"

	"leanctx/formats"
	"leanctx/knowledge/fact"
)

// Beside is what a project knows beside its facts. The lists are only to be
// read.
type Beside struct {
	Patterns  []formats.Pattern
	Gotchas   []formats.Gotcha
	Relations []formats.Relation
	Reminders []formats.Reminder
	Judged    []formats.JudgedPair
	History   []formats.Insight          // the store's own log, the oldest first
	Extra     map[string]json.RawMessage // members of the file that we do not know
}

// Last is the newest note of a kind in the store's own log.
func (b *Beside) Last(kind string) (h formats.Insight, ok bool) {
	for _, h := range slices.Backward(b.History) {
		if h.Kind == kind {
			return h, true
		}
	}
	return h, false
}

// fold applies an event that is about no fact.
func (b *Beside) fold(e Event) {
	switch {
	case e.Judge != nil:
		b.Judged = append(b.Judged, *e.Judge)
	case e.Note != nil:
		b.History = append(b.History, *e.Note)
	case e.Extra != nil:
		b.Extra = e.Extra
	case e.Pattern != nil:
		b.Patterns = upsert(b.Patterns, *e.Pattern, SamePattern)
	case e.Unpattern != nil:
		b.Patterns = without(b.Patterns, *e.Unpattern, SamePattern)
	case e.Gotcha != nil:
		b.Gotchas = upsert(b.Gotchas, *e.Gotcha, SameGotcha)
	case e.Ungotcha != "":
		b.Gotchas = without(b.Gotchas, formats.Gotcha{ID: e.Ungotcha}, SameGotcha)
	case e.Relate != nil:
		b.Relations = upsert(b.Relations, *e.Relate, SameRelation)
	case e.Unrelate != nil:
		b.Relations = without(b.Relations, *e.Unrelate, SameRelation)
	case e.Remind != nil:
		b.Reminders = upsert(b.Reminders, *e.Remind, SameReminder)
	}
}

// unlink drops the relations of a fact.
func (b *Beside) unlink(n fact.ID) {
	b.Relations = slices.DeleteFunc(slices.Clone(b.Relations), func(r formats.Relation) bool {
		return fact.IDOf(r.From.Category, r.From.Key) == n || fact.IDOf(r.To.Category, r.To.Key) == n
	})
}

// clipped is for a clone: what is appended to either is not seen in the other.
func (b Beside) clipped() Beside {
	b.Patterns, b.Gotchas, b.Relations = slices.Clip(b.Patterns), slices.Clip(b.Gotchas), slices.Clip(b.Relations)
	b.Reminders, b.Judged, b.History = slices.Clip(b.Reminders), slices.Clip(b.Judged), slices.Clip(b.History)
	return b
}

// SamePattern reports whether two patterns are one: of one type, with the same
// description.
func SamePattern(a, b formats.Pattern) bool {
	return formats.FoldName(a.Type) == formats.FoldName(b.Type) && fact.SameValue(a.Description, b.Description)
}

// SameGotcha reports whether two gotchas are one.
func SameGotcha(a, b formats.Gotcha) bool { return a.ID == b.ID }

// SameRelation reports whether two relations link the same facts in the same
// way.
func SameRelation(a, b formats.Relation) bool {
	return a.Kind == b.Kind && fact.IDOf(a.From.Category, a.From.Key) == fact.IDOf(b.From.Category, b.From.Key) &&
		fact.IDOf(a.To.Category, a.To.Key) == fact.IDOf(b.To.Category, b.To.Key)
}

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
