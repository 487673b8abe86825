package ledger

import (
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/internal/journal"
	"leanctx/knowledge/fact"
)

// Document is the state as a fact file, as of a commit.
func (s *State) Document(h journal.Header) *formats.Document {
	d := s.around(h)
	for _, v := range s.Each() {
		d.Facts = append(d.Facts, v)
	}
	return d
}

// around is the fact file without its facts.
func (s *State) around(h journal.Header) *formats.Document {
	d := &formats.Document{
		Schema: formats.Schema, ProjectRoot: s.root, ProjectHash: s.hash,
		Seq: h.Seq, Generation: h.Generation, UpdatedAt: h.At.UTC(), Checksum: h.Checksum,
		Patterns: s.Patterns, Gotchas: s.Gotchas, Relations: s.Relations, Reminders: s.Reminders,
		JudgedPairs: s.Judged, History: s.History, Extra: s.Extra,
	}
	for _, t := range s.tombstones {
		d.Tombstones = append(d.Tombstones, t)
	}
	return d
}

// fromDocument is the state that a fact file holds.
func fromDocument(d *formats.Document) *State {
	s := New()
	s.root, s.hash = d.ProjectRoot, d.ProjectHash
	s.Beside = Beside{
		Patterns: d.Patterns, Gotchas: d.Gotchas, Relations: d.Relations, Reminders: d.Reminders,
		Judged: d.JudgedPairs, History: d.History, Extra: d.Extra,
	}
	s.all = make(map[fact.ID][]*fact.Version, len(d.Facts))
	first := map[string]time.Time{}
	for _, v := range d.Facts {
		n := fact.IDOf(v.Category, v.Key)
		s.all[n] = append(s.all[n], v)
		s.names[v.ID] = n
		if t, ok := first[n.Category]; !ok || v.RecordedFrom.Before(t) {
			first[n.Category], s.rooms[n.Category] = v.RecordedFrom, v.Category
		}
	}
	for n, vs := range s.all {
		slices.SortStableFunc(vs, fact.ByPeriod)
		s.alias(n, vs)
	}
	for _, t := range d.Tombstones {
		s.tombstones[fact.IDOf(t.Category, t.Key)] = t
	}
	return s
}
