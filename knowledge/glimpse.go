package knowledge

import (
	"iter"

	"leanctx/formats"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/table"
)

// What a partial state knows of a version without reading it is a sketch: see
// [table.Sketch]. It is enough to tell whether a version holds now, how much
// it matters and how it is ordered. A whole state gives the versions themselves
// where a partial one gives sketches, so both are asked by the same code.

// periods yields every fact with its versions, of which the times and whether
// they are archived are to be relied on, and only until the next is yielded.
func (s *state) periods() iter.Seq2[fact.ID, []*fact.Version] {
	return func(yield func(fact.ID, []*fact.Version) bool) {
		if s.base != nil && !s.drawAll(yield) {
			return
		}
		for n, vs := range s.all {
			if len(vs) > 0 && !yield(n, vs) {
				return
			}
		}
	}
}

func (s *state) drawAll(yield func(fact.ID, []*fact.Version) bool) bool {
	keys := s.base.keys
	var drawn []*table.Sketch
	var vs []*fact.Version
	for row, n := range s.unchanged() {
		first, end := keys.Versions(row)
		for len(drawn) < end-first {
			drawn = append(drawn, new(table.Sketch))
		}
		vs = vs[:0]
		for i := first; i < end; i++ {
			keys.DrawTimes(i, drawn[i-first])
			vs = append(vs, &drawn[i-first].Fact)
		}
		if !yield(n, vs) {
			return false
		}
	}
	return true
}

// sketches yields every version of every fact without its text, each good until
// the next is yielded.
func (s *state) sketches() iter.Seq2[fact.ID, *fact.Version] {
	return func(yield func(fact.ID, *fact.Version) bool) {
		if s.base != nil {
			var sk table.Sketch
			for row, n := range s.unchanged() {
				for i, end := s.base.keys.Versions(row); i < end; i++ {
					s.base.keys.Draw(i, &sk)
					if !yield(n, &sk.Fact) {
						return
					}
				}
			}
		}
		for n, vs := range s.all {
			for _, v := range vs {
				if !yield(n, v) {
					return
				}
			}
		}
	}
}

// held yields the active versions that a frame holds, each good until the next
// is yielded.
func (s *state) held(f *frame) iter.Seq2[fact.ID, *fact.Version] {
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
				if (room == "" || n.Category == room) && f.holds(v, false) && !yield(n, v) {
					return
				}
			}
		}
	}
}

// heldOnDisk looks at the times first: most of what is asked about is decided
// by them.
func (s *state) heldOnDisk(room string, f *frame, yield func(fact.ID, *fact.Version) bool) bool {
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
			if v == nil || !anywhere.holds(v, false) {
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
func (s *state) heldNamed(f *frame, yield func(fact.ID, *fact.Version) bool) {
	room := formats.FoldName(f.Category)
	seen := map[fact.ID]bool{}
	for n := range s.called(formats.FoldName(f.Key), room) {
		if seen[n] || room != "" && n.Category != room {
			continue
		}
		seen[n] = true
		for _, v := range s.versions(n) {
			if f.holds(v, false) && !yield(n, v) {
				return
			}
		}
	}
}

// called yields the names of facts, some of which there may not be, that may go
// by a folded key.
func (s *state) called(key, room string) iter.Seq[fact.ID] {
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

// glance is a version on disk: its sketch as it was drawn, or where that cannot
// tell whether the frame holds it, the version; nil when that cannot be read.
func (s *state) glance(i int, f *frame, sk *table.Sketch) *fact.Version {
	if sk.Aliases && f.Key != "" || sk.Periods && !f.known.After(s.base.settled) {
		return s.onDisk(i)
	}
	return &sk.Fact
}

// onDisk reads a version; nil when that fails.
func (s *state) onDisk(i int) *fact.Version {
	row := s.base.keys.FactOf(i)
	first, _ := s.base.keys.Versions(row)
	if vs := s.versions(s.base.name(row)); i-first < len(vs) {
		return vs[i-first]
	}
	return nil
}

// glimpse looks at versions one after another, as a search meets them: mostly
// in the order of the key table.
type glimpse struct {
	state  *state
	frame  *frame
	sketch table.Sketch
	last   int // the version on disk seen last
}

// seen is the version with an id as far as the frame needs it to tell whether
// it holds it, good until the next is seen; nil if there is none.
func (g *glimpse) seen(version string) *fact.Version {
	base, f := g.state.base, g.frame
	if base == nil {
		return g.state.byID(version)
	}
	i, ok := base.keys.After(g.last, version)
	if !ok || base.changed[base.keys.FactOf(i)] {
		return g.state.byID(version)
	}
	g.last = i
	if f.Category == "" && f.Key == "" {
		base.keys.DrawTimes(i, &g.sketch)
	} else {
		base.keys.Draw(i, &g.sketch)
	}
	return g.state.glance(i, f, &g.sketch)
}

// lasting is a version that was yielded, good for ever.
func (s *state) lasting(v *fact.Version) *fact.Version {
	if s.base == nil {
		return v
	}
	w := *v
	if v.ValidUntil != nil {
		w.ValidUntil = new(*v.ValidUntil)
	}
	if v.RecordedUntil != nil {
		w.RecordedUntil = new(*v.RecordedUntil)
	}
	if v.LastRetrieved != nil {
		w.LastRetrieved = new(*v.LastRetrieved)
	}
	return &w
}

// whole is a version with its text. A sketch has no value, and few versions have none.
func (s *state) whole(v *fact.Version) *fact.Version {
	if s.base == nil || v.Value != "" {
		return v
	}
	if w := s.byID(v.ID); w != nil {
		return w
	}
	return v
}
