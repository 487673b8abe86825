package fact

import (
	"math"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
)

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
//	max(c · 2^(−age/H), min(c, 0.05)),  age = t − last confirmation or restoration
//	H = half-life of its kind · (1 + ½·log2(1+retrievals)), retrievals counted up to 15
//
// Some versions keep what they were given: see [Decays]. It depends on the
// version and t alone: how often anything else was written does not matter.
func EffectiveConfidence(v *Version, t time.Time, r Retrievals) float64 {
	s := Summary{Confidence: v.Confidence, LastActive: lastActive(v)}
	if Decays(v) {
		s.HalfLife = KindOf(v).HalfLife
	}
	return s.EffectiveConfidence(t, r)
}

// Decays reports whether the confidence of v falls with time. That of a pinned
// fact, a gotcha or a pattern does not, nor that of what a user asserted, unless
// its kind is perishable.
func Decays(v *Version) bool {
	switch kind := KindOf(v); {
	case PinnedHere(v), kind == Lesson:
		return false
	case kind == Perishable:
		return true
	}
	return !ByUser(v)
}

// PinnedHere reports whether v is pinned and somebody here has asserted it: a pin counts where it was made.
// What only another replica says does not stand before all else, however it is pinned there.
func PinnedHere(v *Version) bool {
	return v.Pinned && (len(v.Sources) == 0 || slices.ContainsFunc(v.Sources, func(s formats.Source) bool { return s.Replica == "" }))
}

// ByUser reports whether a user asserted v.
func ByUser(v *Version) bool {
	return slices.ContainsFunc(v.Sources, func(s formats.Source) bool { return s.Kind == KindUser })
}

// UsersAlone reports whether only a user may end, unpin, rename or erase a version: a user asserted or pinned
// it. A proposal of somebody who is not trusted here is nobody's.
func UsersAlone(v *Version) bool { return !v.TakenIn && (v.Pinned || ByUser(v)) }

// IsRule reports whether v says how to work: what a user asserted or pinned, a convention, a
// workflow, a preference, a pattern or a gotcha.
func IsRule(v *Version) bool {
	switch v.Archetype {
	case "convention", "workflow", "preference", "pattern", "gotcha":
		return true
	}
	return PinnedHere(v) || ByUser(v)
}

// Kind is what sort of knowledge a fact is, which decides how long it lasts.
type Kind struct {
	Name     string
	HalfLife time.Duration // of the confidence; zero: it does not fall
}

// The kinds, each with its half-life. An index holds it for each fact: whoever changes one raises
// the mapping version of package index.
var (
	Lasting    = Kind{"lasting", 365 * 24 * time.Hour}
	Perishable = Kind{"perishable", 30 * 24 * time.Hour}
	Lesson     = Kind{"lesson", 0} // a gotcha or a pattern
)

// KindOf is the kind of a version. An archetype that was given decides, else its category, else its archetype.
func KindOf(v *Version) Kind {
	if ArchetypeGiven(v) {
		switch v.Archetype {
		case "observation":
			return Perishable
		case "gotcha", "pattern":
			return Lesson
		}
		return Lasting
	}
	switch strings.TrimSuffix(formats.FoldName(v.Category), "s") {
	case "blocker", "bug", "statu", "progres", "result", "finding", "insight", "release", "version", "session", // status and progress without their s
		"dependency", "dependencie", "dep":
		return Perishable
	case "gotcha", "pattern":
		return Lesson
	}
	if v.Archetype == "observation" {
		return Perishable
	}
	return Lasting
}

// Witnesses is how many different authors asserted a version, 1 to 20. An author
// who confirms it on another day counts again, since that is another session.
// Repeating a briefing on the same day adds nothing.
func Witnesses(v *Version) int {
	const maxCounted = 20
	if len(v.Sources) == 1 {
		return 1
	}
	type witness struct {
		kind, by string
		day      int64
	}
	var seen []witness
	for _, s := range v.Sources {
		w := witness{s.Kind, s.By, s.At.Unix() / (24 * 60 * 60)}
		if !slices.Contains(seen, w) {
			if seen = append(seen, w); len(seen) == maxCounted {
				break
			}
		}
	}
	if len(v.Sources) == 0 { // a file written before sources were kept
		return max(min(v.ConfirmationCount, maxCounted), 1)
	}
	return len(seen)
}

// Salience is how much a version matters at t, 0..100:
//
//	40 · effective confidence
//	20 · (1 − 1/witnesses)
//	15 · bonus / 15, by archetype; all of it for what a user asserted
//	10 · ln(1+retrievals)/ln(32), at most 10
//	10 · 2^(−days since it was last confirmed, restored or read / 14)
//	 5 · tanh((votes up − votes down)/4), which may be negative
//
// The weights follow the order in which people judge a fact: whether it still holds, who else
// says so, its kind, and its use.
func Salience(v *Version, t time.Time, r Retrievals) float64 {
	s := Summarize(v)
	return s.Salience(t, r)
}

// bonus is what an archetype adds to salience, 0..15. The archetypes are those
// that the existing program infers from a category, so that files keep their
// meaning.
var bonus = map[string]float64{
	"architecture": 15, "gotcha": 14, "decision": 12, "pattern": 10, "convention": 8,
	"workflow": 7, "dependency": 6, "preference": 5, "observation": 3,
}

// bonusOf is the bonus of a version. A user's assertion has that of the architecture.
func bonusOf(v *Version) float64 {
	if ByUser(v) {
		return bonus["architecture"]
	}
	return bonus[v.Archetype]
}

// StartOfDay is the instant the briefing is computed for, so that it has the
// same bytes all day.
func StartOfDay(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// DayConfidence is the effective confidence that stars show: at the start of
// the day, retrievals aside, rounded to 0.01.
func DayConfidence(v *Version, t time.Time) float64 {
	return math.Round(100*EffectiveConfidence(v, StartOfDay(t), Retrievals{})) / 100
}
