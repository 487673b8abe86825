package state

import (
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/verdict"
)

// FileNow is [Facts.FileNow]. A state by itself knows no files.
func (s *State) FileNow(formats.FileState) (now formats.FileState, there bool) { return now, false }

// FileNow is [Facts.FileNow].
func (k Reader) FileNow(was formats.FileState) (now formats.FileState, there bool) {
	if k.Files == nil {
		return now, false
	}
	return k.Files(was)
}

// Disputes is [Facts.Disputes].
func (l *Lists) Disputes(n fact.ID) []formats.Dispute { return disputesOf(l.Disputed, n) }

// Disputes is [Facts.Disputes].
func (k Reader) Disputes(n fact.ID) []formats.Dispute { return k.Lists.Disputes(n) }

// Dispute is [Facts.Dispute].
func (k Reader) Dispute(id string) (formats.Dispute, bool) { return k.Lists.Dispute(id) }

func disputesOf(list []formats.Dispute, n fact.ID) (out []formats.Dispute) {
	for _, d := range list {
		if fact.IDOf(d.Category, d.Key) == n {
			out = append(out, d)
		}
	}
	return out
}

// Dispute is [Facts.Dispute].
func (l *Lists) Dispute(id string) (d formats.Dispute, ok bool) {
	for _, d := range l.Disputed {
		if d.ID == id {
			return d, true
		}
	}
	return d, false
}

// OpenDisputes lists those of some disputes that are to be settled at an instant,
// the oldest first.
func OpenDisputes(f Facts, list []formats.Dispute, at time.Time) (out []formats.Dispute) {
	for _, d := range list {
		if !d.At.After(at) && DisputeState(f, d, at) == formats.DisputeOpen {
			out = append(out, d)
		}
	}
	return out
}

// DisputeState is the state of a dispute at an instant. An open one closes by itself, also
// by the mere passing of time, in one of three cases:
//
//   - its value, or the end that it gives, is believed;
//   - its opponent has ended;
//   - its rival no longer says the same.
func DisputeState(f Facts, d formats.Dispute, at time.Time) string {
	if d.State != formats.DisputeOpen {
		return d.State
	}
	vs := f.Versions(fact.IDOf(d.Category, d.Key))
	i := slices.IndexFunc(vs, func(v *fact.Version) bool { return v.ID == d.Against })
	if i < 0 {
		return formats.DisputeClosed
	}
	p, ok := fact.PeriodNow(vs[i], vs, at)
	if !ok || !fact.Before(at, p.Until) {
		return formats.DisputeClosed
	}
	held := func(vs []*fact.Version) bool {
		return slices.ContainsFunc(fact.AllCurrent(vs, at), func(v *fact.Version) bool { return verdict.Compare(v.Key, v.Value, d.Value) == verdict.Equal })
	}
	switch {
	case d.Rename != nil && fact.IDOf(d.Rename.Category, d.Rename.Key) == fact.IDOf(d.Category, d.Key),
		d.Removal && d.ValidUntil != nil && p.Until != nil && !p.Until.After(*d.ValidUntil),
		d.Rival != nil && !held(f.Versions(fact.IDOf(d.Rival.Category, d.Rival.Key))),
		!d.Removal && d.Rename == nil && !d.Correct && d.ValidUntil == nil && held(vs):
		return formats.DisputeClosed
	}
	return formats.DisputeOpen
}
