package replica

import (
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
	told := map[string]bool{}
	if st.Replica != nil && len(all.Tombstones) > 0 {
		lines, err := readCopy(dir, st.Replica.Lines)
		if err != nil {
			return nil, err
		}
		for _, l := range lines {
			told[l.Name] = l.Op == opErase || told[l.Name]
		}
	}
	for _, t := range all.Tombstones {
		if name := state.ErasedName(fact.IDOf(t.Category, t.Key)); st.Replica == nil || told[name] {
			d.Tombstones = append(d.Tombstones, formats.Tombstone{Key: name, ErasedAt: t.ErasedAt})
		}
	}
	return d, nil
}
