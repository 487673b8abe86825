package knowledge

import (
	"math"
	"time"
)

// halfLife is how long a plain fact that nobody confirms or reads takes to
// lose half of its confidence.
const halfLife = 90 * 24 * time.Hour

// floor is the effective confidence below which a fact does not fall.
const floor = 0.05

// retrievals is how often and when a fact was last read.
type retrievals struct {
	count int
	last  time.Time
}

// effectiveConfidence is what is left at t of the confidence a version was
// given, 0..1:
//
//	max(c · 2^(−age/H), min(c, 0.05)),  age = t − last confirmation
//	H = 90 days · stability of the archetype · (1 + ½·log2(1+retrievals)), retrievals counted up to 15
//
// It depends on the version and t alone: how often anything else was written
// does not matter, and computing it twice changes nothing.
func effectiveConfidence(v *Version, t time.Time, r retrievals) float64 {
	c := min(max(v.Confidence, 0), 1)
	age := max(t.Sub(v.LastConfirmed), 0)
	h := float64(halfLife) * stability(v) * (1 + 0.5*math.Log2(1+float64(min(r.count, 15))))
	return max(c*math.Exp2(-float64(age)/h), min(c, floor))
}

func stability(v *Version) float64 {
	if a, ok := archetypes[v.Archetype]; ok {
		return a.stability
	}
	return 1
}

// salience is how much a version matters at t, 0..100:
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
func salience(v *Version, t time.Time, r retrievals) float64 {
	touched := v.LastConfirmed
	if r.last.After(touched) {
		touched = r.last
	}
	idle := max(t.Sub(touched).Hours()/24, 0)
	s := 40*effectiveConfidence(v, t, r) +
		20*(1-1/float64(max(v.ConfirmationCount, 1))) +
		archetypes[v.Archetype].bonus +
		min(10, 10*math.Log1p(float64(r.count))/math.Log(32)) +
		10*math.Exp2(-idle/14) +
		5*math.Tanh(float64(v.FeedbackUp-v.FeedbackDown)/4)
	return min(max(s, 0), 100)
}

// startOfDay is the instant the briefing is computed for, so that it has the
// same bytes all day.
func startOfDay(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// dayConfidence is the effective confidence that stars show: at the start of
// the day, retrievals aside, rounded to 0.01.
func dayConfidence(v *Version, t time.Time) float64 {
	return math.Round(100*effectiveConfidence(v, startOfDay(t), retrievals{})) / 100
}
