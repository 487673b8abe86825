package replica

import (
	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Document is the shared part of a state: without local facts, and without what belongs
// to one machine. It is the same wherever the same lines were taken in.
func Document(st *state.State) *formats.Document {
	all := st.Document(journal.Header{})
	d := &formats.Document{Schema: formats.Schema, Facts: sharedOf(all.Facts), Patterns: all.Patterns, Gotchas: all.Gotchas, Reminders: all.Reminders}
	for _, r := range all.Relations {
		if !home(st, r.From.Category, r.From.Key) && !home(st, r.To.Category, r.To.Key) {
			d.Relations = append(d.Relations, r)
		}
	}
	for _, j := range all.JudgedPairs {
		if !localPair(st, j) {
			d.JudgedPairs = append(d.JudgedPairs, j)
		}
	}
	for _, x := range all.Disputes {
		if !localDispute(st, x) {
			d.Disputes = append(d.Disputes, x)
		}
	}
	for _, t := range all.Tombstones {
		d.Tombstones = append(d.Tombstones, formats.Tombstone{Key: state.ErasedName(fact.IDOf(t.Category, t.Key)), ErasedAt: t.ErasedAt})
	}
	return d
}
