package ledger

import (
	"iter"
	"time"

	"leanctx/formats"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/table"
)

// Frame says which versions a question is about: of which facts, and as of
// which instants.
type Frame struct {
	Category, Key string    // as given; all where empty
	AsOf          time.Time // valid then
	Known         time.Time // by what was known then
	Archived      bool      // also outside the active set
}

// Holds reports whether a version is within the frame.
func (f *Frame) Holds(v *fact.Version) bool {
	p, ok := fact.HeldAt(v, f.Known)
	switch {
	case !ok || !p.Contains(f.AsOf):
		return false
	case v.ArchivedAt != nil && !f.Archived:
		return false
	case f.Category != "" && formats.FoldName(v.Category) != formats.FoldName(f.Category):
		return false
	}
	return f.Key == "" || fact.GoesBy(v, f.Key)
}

// Held yields the versions that a frame holds, each good until the next is
// yielded: see [State.Lasting].
func (s *State) Held(f *Frame) iter.Seq2[fact.ID, *fact.Version] {
	room := formats.FoldName(f.Category)
	return func(yield func(fact.ID, *fact.Version) bool) {
		if f.Key != "" {
			s.heldNamed(f, yield)
			return
		}
		if s.base != nil && !s.heldOnDisk(room, f, yield) {
			return
		}
		for n, vs := range s.all {
			for _, v := range vs {
				if (room == "" || n.Category == room) && f.Holds(v) && !yield(n, v) {
					return
				}
			}
		}
	}
}

// heldOnDisk looks at the times first: most of what is asked about is decided
// by them.
func (s *State) heldOnDisk(room string, f *Frame, yield func(fact.ID, *fact.Version) bool) bool {
	keys := s.base.keys
	from, to := 0, keys.Facts()
	if room != "" {
		from, to = keys.Room(room)
	}
	anywhere := *f // the names are not drawn yet
	anywhere.Category = ""
	var sk table.Sketch
	for row := from; row < to; row++ {
		if s.base.changed[row] {
			continue
		}
		first, end := keys.Versions(row)
		for i := first; i < end; i++ {
			keys.DrawTimes(i, &sk)
			v := s.glance(i, f, &sk)
			if v == nil || !anywhere.Holds(v) {
				continue
			}
			keys.Draw(i, &sk)
			if !yield(s.base.name(row), v) {
				return false
			}
		}
	}
	return true
}

// heldNamed looks the facts up that may go by the frame's key: in each room, as
// category/key, and by their aliases.
func (s *State) heldNamed(f *Frame, yield func(fact.ID, *fact.Version) bool) {
	room := formats.FoldName(f.Category)
	seen := map[fact.ID]bool{}
	for n := range s.called(formats.FoldName(f.Key), room) {
		if seen[n] || room != "" && n.Category != room {
			continue
		}
		seen[n] = true
		for _, v := range s.Versions(n) {
			if f.Holds(v) && !yield(n, v) {
				return
			}
		}
	}
}

// called yields the names of facts, some of which there may not be, that may go
// by a folded key.
func (s *State) called(key, room string) iter.Seq[fact.ID] {
	return func(yield func(fact.ID) bool) {
		if room != "" && !yield(fact.ID{Category: room, Key: key}) {
			return
		}
		for r := range s.rooms {
			if room == "" && !yield(fact.ID{Category: r, Key: key}) {
				return
			}
		}
		for i := range len(key) {
			if key[i] == '/' && !yield(fact.ID{Category: key[:i], Key: key[i+1:]}) {
				return
			}
		}
		for _, n := range s.aliases[key] {
			if !yield(n) {
				return
			}
		}
		if s.base == nil {
			return
		}
		for i := range s.base.keys.Aliased(key) {
			if !yield(s.base.name(s.base.keys.FactOf(i))) {
				return
			}
		}
	}
}
