package state

import (
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/knowledge/fact"
)

// The names that facts had
//
// A rename moves a fact with its history, so nothing under the former name tells of it. The list of
// renames does. A fact that takes a former name over has nothing to do with those before: only what
// moved onto a name after the last move away from it belongs to the fact that has the name.

// Trail lists the renames that led a fact to the name that it has, the last one first. Merges are
// renames too.
func (l *Lists) Trail(n fact.ID) []formats.Rename { return l.trailUntil(n, len(l.Renames)) }

// trailUntil is Trail as of the first most renames.
func (l *Lists) trailUntil(n fact.ID, most int) (out []formats.Rename) {
	for i, r := range slices.Backward(l.Renames[:most]) {
		switch {
		case fact.IDOf(r.From.Category, r.From.Key) == n:
			return out // what had the name until then is another fact
		case fact.IDOf(r.To.Category, r.To.Key) == n:
			out = append(append(out, r), l.trailUntil(fact.IDOf(r.From.Category, r.From.Key), i)...)
		}
	}
	return out
}

// FormerNames are the names that a fact had, hashed, each with the time until which it had it.
func (l *Lists) FormerNames(n fact.ID) (out []formats.FormerName) {
	for _, r := range l.Trail(n) {
		out = append(out, formats.FormerName{Name: ErasedName(fact.IDOf(r.From.Category, r.From.Key)), Until: r.At})
	}
	return out
}

// Became returns the name of the fact that went by a name last, and when it left that name. ok is false
// if no fact did.
func (l *Lists) Became(n fact.ID) (now formats.Name, left time.Time, ok bool) {
	for _, r := range l.Renames {
		switch fact.IDOf(r.From.Category, r.From.Key) {
		case n:
			now, left, ok = r.To, r.At, true
		case fact.IDOf(now.Category, now.Key):
			if ok {
				now = r.To
			}
		}
	}
	if fact.IDOf(now.Category, now.Key) == n {
		ok = false // it has the name again
	}
	return now, left, ok
}

// ErasedUntil returns until when a name was that of a fact that was erased; ok: it was.
func (l *Lists) ErasedUntil(n fact.ID) (until time.Time, ok bool) {
	later := func(t time.Time) {
		if ok = true; t.After(until) {
			until = t
		}
	}
	if t, erased := l.Erased(n); erased {
		later(t.ErasedAt)
	}
	name := ErasedName(n)
	for t := range l.Tombstones() {
		if t.TakenIn {
			continue
		}
		for _, x := range t.Names {
			if x.Name == name {
				later(x.Until)
			}
		}
	}
	return until, ok
}
