package state

import (
	"slices"

	"leanctx/formats"
	"leanctx/knowledge/fact"
)

// Patterns and gotchas as former versions of the program recorded them: in events of their own, each
// saying how the whole entry is from then on. They are folded into facts: see [fact.WithPattern].

// wasFormer is why a commit with such an event cannot be taken back.
const wasFormer = "a former version of lean-ctx recorded it"

// ofFormer is the kind of such an event.
func (e Event) ofFormer() kind {
	k := kind{final: wasFormer}
	switch {
	case e.Pattern != nil:
		k.fold = func(s *State) { s.withPattern(e.Pattern) }
	case e.Unpattern != nil:
		k.fold = func(s *State) {
			v := fact.FromPattern(e.Unpattern)
			s.without(fact.IDOf(v.Category, v.Key), v.ID)
		}
	case e.Gotcha != nil:
		k.fold = func(s *State) { s.withGotcha(e.Gotcha) }
	default:
		id := fact.FromGotcha(&formats.Gotcha{ID: e.Ungotcha}).ID
		k.fold = func(s *State) {
			for _, n := range s.withVersion(id) {
				s.without(n, id)
			}
		}
	}
	return k
}

func (s *State) withPattern(p *formats.Pattern) {
	v := fact.FromPattern(p)
	n := fact.IDOf(v.Category, v.Key)
	s.become(n, fact.WithPattern(s.Versions(n), p))
}

func (s *State) withGotcha(g *formats.Gotcha) {
	category, key := fact.GotchaNamed(g.Trigger, s.Versions)
	n, id := fact.IDOf(category, key), fact.FromGotcha(g).ID
	for _, other := range s.withVersion(id) {
		if other != n {
			s.without(other, id) // it had another trigger
		}
	}
	s.become(n, fact.WithGotcha(category, key, s.Versions(n), g))
}

// without drops a version of a fact.
func (s *State) without(n fact.ID, id string) {
	if vs := s.Versions(n); fact.WithID(vs, id) != nil {
		s.become(n, fact.Without(vs, func(v *fact.Version) bool { return v.ID == id }, s.at))
	}
}

// become gives a fact other versions.
func (s *State) become(n fact.ID, vs []*fact.Version) {
	r := Replaced{Category: n.Category, Key: n.Key, Versions: vs}
	(&Replacement{Facts: []Replaced{r}}).fold(s)
}

// withVersion are the facts with a version that is believed.
func (s *State) withVersion(id string) (out []fact.ID) {
	if n, ok := s.names[id]; ok {
		return []fact.ID{n}
	}
	if s.base != nil {
		out = s.base.holding(id)
	}
	return out
}

// replaceFormer sets the patterns and gotchas to those of a list. A sync of a former version wrote it.
func (s *State) replaceFormer(r *Replacement) {
	room := func(category string, keep func(*fact.Version) bool) {
		for _, n := range s.InRoom(category) {
			if vs := s.Versions(n); fact.Former(vs) {
				s.become(n, fact.Without(vs, func(v *fact.Version) bool { return !keep(v) }, s.at))
			}
		}
	}
	if r.Patterns != nil {
		ids := idsOf(*r.Patterns, fact.FromPattern)
		room(fact.RoomPattern, func(v *fact.Version) bool { return slices.Contains(ids, v.ID) })
		for i := range *r.Patterns {
			s.withPattern(&(*r.Patterns)[i])
		}
	}
	if r.Gotchas != nil {
		ids := idsOf(*r.Gotchas, fact.FromGotcha)
		room(fact.RoomGotcha, func(v *fact.Version) bool { return slices.Contains(ids, v.ID) })
		for i := range *r.Gotchas {
			s.withGotcha(&(*r.Gotchas)[i])
		}
	}
}

func idsOf[T any](list []T, version func(*T) *fact.Version) (ids []string) {
	for i := range list {
		ids = append(ids, version(&list[i]).ID)
	}
	return ids
}
