package fact

import (
	"math"
	"time"
)

// halfLife is how long a plain fact that nobody confirms or reads takes to
// lose half of its confidence.
const halfLife = 90 * 24 * time.Hour

// floor is the effective confidence below which a fact does not fall.
const floor = 0.05

// Retrievals is how often and when a fact was last read.
type Retrievals struct {
	Count int
	Last  time.Time // zero: never
}

// EffectiveConfidence is what is left at t of the confidence a version was
// given, 0..1:
//
//	max(c · 2^(−age/H), min(c, 0.05)),  age = t − last confirmation
//	H = 90 days · stability of the archetype · (1 + ½·log2(1+retrievals)), retrievals counted up to 15
//
// It depends on the version and t alone: how often anything else was written
// does not matter, and computing it twice changes nothing.
func EffectiveConfidence(v *Version, t time.Time, r Retrievals) float64 {
	c := min(max(v.Confidence, 0), 1)
	age := max(t.Sub(v.LastConfirmed), 0)
	h := float64(halfLife) * stability(v) * (1 + 0.5*math.Log2(1+float64(min(r.Count, 15))))
	return max(c*math.Exp2(-float64(age)/h), min(c, floor))
}

func stability(v *Version) float64 {
	if a, ok := archetypes[v.Archetype]; ok {
		return a.stability
	}
	return 1
}

// Salience is how much a version matters at t, 0..100:
//
//	40 · effective confidence
//	20 · (1 − 1/confirmations)
//	15 · archetype bonus / 15
//	10 · ln(1+retrievals)/ln(32), at most 10
//	10 · 2^(−days since it was last confirmed or read / 14)
//	 5 · tanh((votes up − votes down)/4), which may be negative
//
// The weights follow the order in which people judge a fact: whether it still
// holds, who else says so, what kind it is, whether it is used.
func Salience(v *Version, t time.Time, r Retrievals) float64 {
	touched := v.LastConfirmed
	if r.Last.After(touched) {
		touched = r.Last
	}
	idle := max(t.Sub(touched).Hours()/24, 0)
	s := 40*EffectiveConfidence(v, t, r) +
		20*(1-1/float64(max(v.ConfirmationCount, 1))) +
		archetypes[v.Archetype].bonus +
		min(10, 10*math.Log1p(float64(r.Count))/math.Log(32)) +
		10*math.Exp2(-idle/14) +
		5*math.Tanh(float64(v.FeedbackUp-v.FeedbackDown)/4)
	return min(max(s, 0), 100)
}

// StartOfDay is the instant the briefing is computed for, so that it has the
// same bytes all day.
func StartOfDay(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// DayConfidence is the effective confidence that stars show: at the start of
// the day, retrievals aside, rounded to 0.01.
func DayConfidence(v *Version, t time.Time) float64 {
	return math.Round(100*EffectiveConfidence(v, StartOfDay(t), Retrievals{})) / 100
}

// Structural reports whether v tells how the project is built: such a fact
// fades slower and is never archived.
func Structural(v *Version) bool { return archetypes[v.Archetype].structural }

// archetype is what kind of knowledge a category holds.
type archetype struct {
	bonus      float64 // added to salience, 0..15
	stability  float64 // factor on the half-life
	structural bool
}

// archetypes are the ones the existing program infers from a category, with
// the same names, so that files keep their meaning.
var archetypes = map[string]archetype{
	"architecture": {15, 1.5, true},
	"gotcha":       {14, 1.25, true},
	"decision":     {12, 1, false},
	"pattern":      {10, 1.1, false},
	"convention":   {8, 1.3, true},
	"workflow":     {7, 1, false},
	"dependency":   {6, 1.4, true},
	"preference":   {5, 1, false},
	"observation":  {3, 1, false},
	"fact":         {0, 1, false},
}
