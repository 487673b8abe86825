package ledger

import "leanctx/knowledge/fact"

// Overlay is what is known, with some decisions folded in that are not
// committed. Its zero value is not ready: see [Over].
type Overlay struct {
	facts   Facts
	changed map[fact.ID][]*fact.Version
	rooms   map[string]string
}

// Over lays nothing over facts yet. rooms are spellings of categories by their
// folded ones that facts do not have; what is folded adds to them. It may be
// nil.
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
		n, ok := e.about()
		if !ok {
			continue
		}
		st := New()
		st.all[n] = o.Versions(n)
		st.fold(e)
		o.changed[n] = st.all[n]
		if room := st.rooms[n.Category]; room != "" && o.Room(room) == "" {
			o.rooms[n.Category] = room
		}
	}
}
