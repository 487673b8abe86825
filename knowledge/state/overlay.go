package state

import (
	"leanctx/formats"
	"leanctx/knowledge/fact"
)

// Overlay is what is known, with decisions folded in that are not committed
// yet, so that the next decision can build on them. [NewOverlay] makes one. Named and Valued do not
// see what was folded in.
type Overlay struct {
	Facts
	changed  map[fact.ID][]*fact.Version
	rooms    map[string]string
	disputed []formats.Dispute
}

// NewOverlay is an overlay without decisions. rooms maps folded categories to
// spellings that facts does not have; folding adds to it. It may be nil.
func NewOverlay(facts Facts, rooms map[string]string) *Overlay {
	if rooms == nil {
		rooms = map[string]string{}
	}
	return &Overlay{Facts: facts, changed: map[fact.ID][]*fact.Version{}, rooms: rooms}
}

// Versions is [Facts.Versions].
func (o *Overlay) Versions(n fact.ID) []*fact.Version {
	if vs, ok := o.changed[n]; ok {
		return vs
	}
	return o.Facts.Versions(n)
}

// Room is [Facts.Room].
func (o *Overlay) Room(category string) string {
	if room := o.Facts.Room(category); room != "" {
		return room
	}
	return o.rooms[fact.IDOf(category, "").Category]
}

// Disputes is [Facts.Disputes].
func (o *Overlay) Disputes(n fact.ID) []formats.Dispute {
	list := o.Facts.Disputes(n)
	for _, d := range disputesOf(o.disputed, n) {
		list = Disputes.with(list, d)
	}
	return list
}

// Dispute is [Facts.Dispute].
func (o *Overlay) Dispute(id string) (formats.Dispute, bool) {
	for _, d := range o.disputed {
		if d.ID == id {
			return d, true
		}
	}
	return o.Facts.Dispute(id)
}

// Fold applies puts, confirmations and new disputes, with the same code as the state.
func (o *Overlay) Fold(events ...Event) {
	for _, e := range events {
		var n fact.ID
		switch {
		case e.Put != nil:
			n = fact.IDOf(e.Put.Category, e.Put.Key)
		case e.Confirm != nil:
			n = fact.IDOf(e.Confirm.Category, e.Confirm.Key)
		case e.Dispute != nil:
			o.disputed = Disputes.with(o.disputed, *e.Dispute)
			continue
		default:
			continue
		}
		st := New()
		st.facts[n] = o.Versions(n)
		e.kind().fold(st)
		o.changed[n] = st.facts[n]
		if room := st.rooms[n.Category]; room != "" && o.Room(room) == "" {
			o.rooms[n.Category] = room
		}
	}
}
