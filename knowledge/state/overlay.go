package state

import (
	"leanctx/knowledge/fact"
)

// Overlay is what is known, with decisions folded in that are not committed
// yet, so that the next decision can build on them. [Over] makes one.
type Overlay struct {
	facts   Facts
	changed map[fact.ID][]*fact.Version
	rooms   map[string]string
}

// Over is an overlay without decisions. rooms maps folded categories to
// spellings that facts does not have; folding adds to it. It may be nil.
func Over(facts Facts, rooms map[string]string) *Overlay {
	if rooms == nil {
		rooms = map[string]string{}
	}
	return &Overlay{facts: facts, changed: map[fact.ID][]*fact.Version{}, rooms: rooms}
}

// Versions is [Facts.Versions].
func (o *Overlay) Versions(n fact.ID) []*fact.Version {
	if vs, ok := o.changed[n]; ok {
		return vs
	}
	return o.facts.Versions(n)
}

// Named is [Facts.Named]. It does not see names that were folded in.
func (o *Overlay) Named(name string) []fact.ID { return o.facts.Named(name) }

// Valued is [Facts.Valued]. It does not see values that were folded in.
func (o *Overlay) Valued(value string) []fact.ID { return o.facts.Valued(value) }

// Room is [Facts.Room].
func (o *Overlay) Room(category string) string {
	if room := o.facts.Room(category); room != "" {
		return room
	}
	return o.rooms[fact.IDOf(category, "").Category]
}

// Fold applies puts and confirmations, with the same code as the state.
func (o *Overlay) Fold(events ...Event) {
	for _, e := range events {
		var n fact.ID
		switch {
		case e.Put != nil:
			n = fact.IDOf(e.Put.Category, e.Put.Key)
		case e.Confirm != nil:
			n = fact.IDOf(e.Confirm.Category, e.Confirm.Key)
		default:
			continue
		}
		st := New()
		st.facts[n] = o.Versions(n)
		st.fold(e)
		o.changed[n] = st.facts[n]
		if room := st.rooms[n.Category]; room != "" && o.Room(room) == "" {
			o.rooms[n.Category] = room
		}
	}
}
