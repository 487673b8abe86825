package drawing

import (
	"slices"
	"sort"
	"time"
)

// scale maps instants to horizontal positions.
type scale struct {
	at []time.Time // sorted, each once
	x  []float64
}

// narrowest is the width that a stretch between two changes has at least, if there is
// room for it.
const narrowest = 24

// newScale spreads instants over the positions from left to right. Stretches that would
// be narrower than the minimum get it; the others share what is left in proportion to
// their length.
func newScale(instants []time.Time, left, right float64) *scale {
	slices.SortFunc(instants, time.Time.Compare)
	s := &scale{at: slices.CompactFunc(instants, time.Time.Equal)}
	n := len(s.at) - 1
	if n < 1 {
		s.x = []float64{left}
		return s
	}
	least := min(narrowest, (right-left)*0.6/float64(n))
	width := make([]float64, n)
	for {
		room, length := right-left, 0.0
		for i := range n {
			if width[i] == least {
				room -= least
			} else {
				length += s.length(i)
			}
		}
		short := false
		for i := range n {
			if width[i] == least {
				continue
			}
			if width[i] = room * s.length(i) / length; width[i] < least {
				width[i], short = least, true
			}
		}
		if !short {
			break
		}
	}
	s.x = append(s.x, left)
	for _, w := range width {
		s.x = append(s.x, s.x[len(s.x)-1]+w)
	}
	return s
}

// length is how long the stretch after instant i is, in seconds.
func (s *scale) length(i int) float64 { return s.at[i+1].Sub(s.at[i]).Seconds() }

// of is the position of an instant; one outside of the scale is at its end.
func (s *scale) of(t time.Time) float64 {
	i := sort.Search(len(s.at), func(i int) bool { return !s.at[i].Before(t) })
	switch {
	case i == len(s.at):
		return s.x[i-1]
	case i == 0 || s.at[i].Equal(t):
		return s.x[i]
	}
	part := t.Sub(s.at[i-1]).Seconds() / s.length(i-1)
	return s.x[i-1] + part*(s.x[i]-s.x[i-1])
}
