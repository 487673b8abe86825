package search

import (
	"context"
	"maps"
)

// explain runs the query once more and notes, for the facts found, what each word in each field gave.
func (r *search) explain(ctx context.Context, best []found) error {
	again := newSearch(r.sources(), r.tune)
	for i, fresh := range again.found {
		fresh.notes = map[uint32]map[string]float64{}
		for _, c := range best {
			if int(c.in) == i {
				fresh.notes[c.doc] = map[string]float64{}
			}
		}
	}
	err := again.run(ctx, r.query, r.wide)
	r.free()
	*r = *again
	return err
}

// pending marks a note whose word is not yet scored.
const pending = "?"

// note keeps how much of a word a field of a fact holds.
func (s *scores) note(doc uint32, what string, tf float64) {
	if n, ok := s.notes[doc]; ok {
		n[pending+what] = tf
	}
}

// settle turns what was noted of the word at hand into score.
func (s *scores) settle(doc uint32, gain float64) {
	n, ok := s.notes[doc]
	if !ok {
		return
	}
	for what, tf := range n {
		if what[:len(pending)] == pending {
			delete(n, what)
			n[what[len(pending):]] = tf * gain
		}
	}
}

// forget drops what was noted of the word at hand.
func (s *scores) forget(doc uint32) {
	maps.DeleteFunc(s.notes[doc], func(what string, _ float64) bool { return what[:len(pending)] == pending })
}

// parts are the notes of a fact found.
func (r *search) parts(c candidate) map[string]float64 {
	out := map[string]float64{}
	for what, score := range r.found[c.in].notes[c.doc] {
		if what[:len(pending)] != pending {
			out[what] = score
		}
	}
	if c.tier > 0 {
		out["name"] = float64(c.tier)
	}
	return out
}
