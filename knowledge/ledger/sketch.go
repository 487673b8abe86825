package ledger

import (
	"iter"

	"leanctx/knowledge/fact"
	"leanctx/knowledge/table"
)

// What a partial state knows of a version without reading it is a sketch: see
// [table.Sketch]. It is enough to tell whether a version holds now, how much
// it matters and how it is ordered. A whole state gives the versions themselves
// where a partial one gives sketches, so both are asked by the same code.

// Periods yields every fact with its versions, of which the times and whether
// they are archived are to be relied on, and only until the next is yielded.
func (s *State) Periods() iter.Seq2[fact.ID, []*fact.Version] {
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

func (s *State) drawAll(yield func(fact.ID, []*fact.Version) bool) bool {
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

// Sketches yields every version of every fact without its text, each good until
// the next is yielded.
func (s *State) Sketches() iter.Seq2[fact.ID, *fact.Version] {
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

// glance is a version on disk: its sketch as it was drawn, or where that cannot
// tell whether the frame holds it, the version; nil when that cannot be read.
func (s *State) glance(i int, f *Frame, sk *table.Sketch) *fact.Version {
	if sk.Aliases && f.Key != "" || sk.Periods && !f.Known.After(s.base.settled) {
		return s.onDisk(i)
	}
	return &sk.Fact
}

// onDisk reads a version; nil when that fails.
func (s *State) onDisk(i int) *fact.Version {
	row := s.base.keys.FactOf(i)
	first, _ := s.base.keys.Versions(row)
	if vs := s.Versions(s.base.name(row)); i-first < len(vs) {
		return vs[i-first]
	}
	return nil
}

// Glimpse looks at versions one after another, as a search meets them: mostly
// in the order of the key table.
type Glimpse struct {
	state  *State
	frame  *Frame
	sketch table.Sketch
	last   int // the version on disk seen last
}

// Glimpse is for a search that asks about a frame.
func (s *State) Glimpse(f *Frame) *Glimpse { return &Glimpse{state: s, frame: f, last: -1} }

// Seen is the version with an id as far as the frame needs it to tell whether
// it holds it, good until the next is seen; nil if there is none.
func (g *Glimpse) Seen(version string) *fact.Version {
	base, f := g.state.base, g.frame
	if base == nil {
		return g.state.ByID(version)
	}
	i, ok := base.keys.After(g.last, version)
	if !ok || base.changed[base.keys.FactOf(i)] {
		return g.state.ByID(version)
	}
	g.last = i
	if f.Category == "" && f.Key == "" {
		base.keys.DrawTimes(i, &g.sketch)
	} else {
		base.keys.Draw(i, &g.sketch)
	}
	return g.state.glance(i, f, &g.sketch)
}

// Lasting is a version that was yielded, good for ever.
func (s *State) Lasting(v *fact.Version) *fact.Version {
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

// Sketched reports whether a version that was yielded may lack its text. A
// sketch has no value, and few versions have none.
func (s *State) Sketched(v *fact.Version) bool { return s.base != nil && v.Value == "" }

// Whole is a version with its text.
func (s *State) Whole(v *fact.Version) *fact.Version {
	if !s.Sketched(v) {
		return v
	}
	if w := s.ByID(v.ID); w != nil {
		return w
	}
	return v
}
