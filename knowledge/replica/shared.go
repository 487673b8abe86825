package replica

import (
	"slices"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Document is the shared part of a state: without local facts, and without what belongs to one
// machine. It is the same wherever the same lines were taken in. dir is the store's. An erased
// fact that no line tells of belongs to this machine.
func Document(st *state.State, dir string) (*formats.Document, error) {
	all := st.Document(journal.Header{})
	d := &formats.Document{Schema: formats.Schema, Facts: sharedOf(all.Facts), Reminders: all.Reminders}
	d.Relations, _ = state.Relations.Part(st, all.Relations)
	d.JudgedPairs, _ = state.Judged.Part(st, all.JudgedPairs)
	d.Disputes, _ = state.Disputes.Part(st, all.Disputes)
	d.Disputes = slices.Clone(d.Disputes)
	for i := range d.Disputes {
		d.Disputes[i] = disputeOf(d.Disputes[i], "", "")
	}
	d.Reminders = slices.Clone(d.Reminders)
	for i := range d.Reminders {
		d.Reminders[i].TakenIn, d.Reminders[i].Replica = false, ""
	}
	d.Relations = slices.Clone(d.Relations)
	for i := range d.Relations {
		d.Relations[i].TakenIn = false
	}
	if st.Replica == nil {
		for _, t := range all.Tombstones {
			d.Tombstones = append(d.Tombstones, formats.Tombstone{Key: state.ErasedName(fact.IDOf(t.Category, t.Key)), ErasedAt: t.ErasedAt, Names: t.Names})
		}
		return d, nil
	}
	if len(all.Tombstones) > 0 {
		lines, err := readCopy(dir, st.Replica.Lines, nil)
		if err != nil {
			return nil, err
		}
		d.Tombstones = tombstones(lines)
	}
	return d, nil
}
