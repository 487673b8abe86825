package knowledge

import (
	"time"

	"leanctx/formats"
)

// Version is one version of a fact: one value, with its valid and recorded
// periods and everyone who asserted it.
type Version = formats.Fact

// Source says who made one assertion of a fact, when and with what evidence.
type Source = formats.Source

// Name is the category and key that a fact goes by, as written.
type Name = formats.Name

// id is a name as it is compared: see [formats.FoldName].
type id struct{ category, key string }

func newID(category, key string) id {
	return id{formats.FoldName(category), formats.FoldName(key)}
}

// The kinds of a [Source].
const (
	KindUser   = "user"
	KindAgent  = "agent"
	KindTool   = "tool"
	KindImport = "import"
)

// The privacy of a fact. Any other value is kept and read as shared.
const (
	PrivacyShared      = "shared"
	PrivacyProjectOnly = "project_only"
)

// Outcome says what an assertion turned out to be.
type Outcome string

// The outcomes of [Store.Remember].
const (
	Created    Outcome = "created"    // nothing was believed under this name
	Confirmed  Outcome = "confirmed"  // the value was believed already
	Superseded Outcome = "superseded" // the world changed: another value was true until now
	Corrected  Outcome = "corrected"  // we were wrong: another value never was true
	Backdated  Outcome = "backdated"  // true for a period that is over, or before what is current
	Planned    Outcome = "planned"    // true only in the future
)

// archetype is what kind of knowledge a category holds. Structural archetypes
// describe how the project is built: they fade slower and are never archived.
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

// heldAt is the valid period of v as it was believed at the recorded instant
// known; ok is false when v was not believed then.
func heldAt(v *Version, known time.Time) (p Period, ok bool) {
	if v.RecordedFrom.After(known) || v.RecordedUntil != nil && !known.Before(*v.RecordedUntil) {
		return Period{}, false
	}
	for _, b := range v.Beliefs {
		if known.Before(b.RecordedUntil) {
			return Period{b.ValidFrom, b.ValidUntil}, true
		}
	}
	return Period{v.ValidFrom, v.ValidUntil}, true
}

// believed reports whether v is part of what the store holds true, of any time.
func believed(v *Version) bool { return v.RecordedUntil == nil }

func period(v *Version) Period { return Period{v.ValidFrom, v.ValidUntil} }

// reperiod gives a copy of v another valid period and keeps the old one as an
// earlier belief, so that questions about what was known then stay answered. A
// version that gets another end is no longer one that ended by retraction.
func reperiod(v *Version, p Period, now time.Time) *Version {
	w := *v
	since := v.RecordedFrom
	if n := len(v.Beliefs); n > 0 {
		since = v.Beliefs[n-1].RecordedUntil
	}
	w.Beliefs = append(v.Beliefs[:len(v.Beliefs):len(v.Beliefs)], formats.Belief{
		ValidFrom: v.ValidFrom, ValidUntil: v.ValidUntil, RecordedFrom: since, RecordedUntil: now,
	})
	if !sameEnd(v.ValidUntil, p.Until) {
		w.RetractedAt = nil
	}
	w.ValidFrom, w.ValidUntil = p.From, p.Until
	return &w
}

// disbelieve gives a copy of v whose recorded period ends now.
func disbelieve(v *Version, now time.Time) *Version {
	w := *v
	w.RecordedUntil = &now
	return &w
}

// knownAt is how often v had been confirmed and with what confidence, as it
// was recorded at the instant known.
func knownAt(v *Version, known time.Time) (confirmations int, confidence float64) {
	later, seen := 0, 0.0
	for _, s := range v.Sources {
		if s.At.After(known) {
			later++
		} else {
			seen = max(seen, s.Confidence)
		}
	}
	if later == 0 || seen == 0 {
		return max(v.ConfirmationCount-later, 1), v.Confidence
	}
	return max(v.ConfirmationCount-later, 1), seen
}

// unconfirmed reports whether v is known only from an import.
func unconfirmed(v *Version) bool {
	for _, s := range v.Sources {
		if s.Kind != KindImport {
			return false
		}
	}
	return len(v.Sources) > 0
}
