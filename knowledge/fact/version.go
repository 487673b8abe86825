package fact

import (
	"cmp"
	"slices"
	"time"

	"leanctx/formats"
)

// Version is one version of a fact: one value, with its valid and recorded
// periods and everyone who asserted it.
type Version = formats.Fact

// Belief is an earlier valid period of a version.
type Belief = formats.Belief

// HeldAt is the valid period of v as it was believed at the recorded instant
// known; ok is false when v was not believed then.
func HeldAt(v *Version, known time.Time) (p Period, ok bool) {
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

// EndGiven reports whether somebody gave v an end on another day than the present one. It
// lies in the past or is planned.
func EndGiven(v *Version) bool {
	return v.RetractedAt != nil && Believed(v) && v.ValidUntil != nil && Day(*v.ValidUntil) != Day(*v.RetractedAt)
}

// Believed reports whether v is part of what the store holds true, of any time.
func Believed(v *Version) bool { return v.RecordedUntil == nil }

// PeriodOf is the valid period of v, as it is believed now.
func PeriodOf(v *Version) Period { return Period{v.ValidFrom, v.ValidUntil} }

// Reperiod gives a copy of v another valid period. It keeps the old one as an earlier belief, so
// that questions about what was known then stay answered. A version that gets another end is no
// longer one that ended by retraction.
func Reperiod(v *Version, p Period, now time.Time) *Version {
	w := *v
	since := v.RecordedFrom
	if n := len(v.Beliefs); n > 0 {
		since = v.Beliefs[n-1].RecordedUntil
	}
	if since.Before(now) { // else no commit ever held that period
		w.Beliefs = append(slices.Clip(v.Beliefs), Belief{
			ValidFrom: v.ValidFrom, ValidUntil: v.ValidUntil, RecordedFrom: since, RecordedUntil: now,
		})
	}
	if !SameEnd(v.ValidUntil, p.Until) {
		w.Retraction = formats.Retraction{}
	}
	w.ValidFrom, w.ValidUntil = p.From, p.Until
	return &w
}

// Disbelieve gives a copy of v whose recorded period ends now.
func Disbelieve(v *Version, now time.Time) *Version {
	w := *v
	w.RecordedUntil = &now
	return &w
}

// KnownAt is how often v had been confirmed and with what confidence, as it
// was recorded at the instant known.
func KnownAt(v *Version, known time.Time) (confirmations int, confidence float64) {
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

// CurrentAt returns the version of a fact that is believed to be valid at t.
func CurrentAt(vs []*Version, t time.Time) *Version {
	for _, v := range slices.Backward(vs) {
		if Believed(v) && PeriodOf(v).Contains(t) {
			return v
		}
	}
	return nil
}

// AllCurrentAt returns the versions of a fact that are believed to be valid at t, in the order
// of vs.
func AllCurrentAt(vs []*Version, t time.Time) (out []*Version) {
	for _, v := range vs {
		if Believed(v) && PeriodOf(v).Contains(t) {
			out = append(out, v)
		}
	}
	return out
}

// ByPeriod orders the versions of a fact: by valid_from, then recorded_from.
func ByPeriod(a, b *Version) int {
	return cmp.Or(a.ValidFrom.Compare(b.ValidFrom), a.RecordedFrom.Compare(b.RecordedFrom), cmp.Compare(a.ID, b.ID))
}

// WithID is the version with an id, nil if there is none.
func WithID(vs []*Version, id string) *Version {
	if i := PlaceOf(vs, id); i >= 0 {
		return vs[i]
	}
	return nil
}

// PlaceOf is where the version with an id stands, -1 if there is none. What is looked for is mostly among the
// last versions of a fact, which may have thousands.
func PlaceOf(vs []*Version, id string) int {
	for i, v := range slices.Backward(vs) {
		if v.ID == id {
			return i
		}
	}
	return -1
}

// The kinds of a source: who made an assertion.
const (
	KindUser   = "user"
	KindFile   = "file" // an agent that names a file of the project
	KindAgent  = "agent"
	KindTool   = "tool"
	KindImport = "import"
)

// The privacy of a fact. Any other value is kept and read as shared.
const (
	PrivacyShared      = "shared"
	PrivacyProjectOnly = "project_only"
	PrivacyLocal       = "local" // it never leaves this machine
)

// Unconfirmed reports whether v is known only from an import, or from the repository
// and was not confirmed here.
func Unconfirmed(v *Version) bool {
	if v.TakenIn {
		return true
	}
	for _, s := range v.Sources {
		if s.Kind != KindImport {
			return false
		}
	}
	return len(v.Sources) > 0
}

// Files are the project's files that stand behind v: those of the newest assertion
// that names any. What a user said rests on no file that an agent names: the agent
// could change it.
func Files(v *Version) []formats.FileState {
	users := ByUser(v)
	for _, s := range slices.Backward(v.Sources) {
		if len(s.Files) > 0 && (!users || s.Kind == KindUser) {
			return s.Files
		}
	}
	return nil
}

// Severity says how much it deserves a second look that a value was replaced.
type Severity string

// The severities.
const (
	High   Severity = "high"   // the old value was well founded
	Medium Severity = "medium" // somebody else asserted the old value
	Low    Severity = "low"    // a change, and no alarm
)

// WellFounded reports whether a value was sure, with a given confidence of at
// least 0.9, and asserted at least twice.
func WellFounded(v *Version) bool { return v.Confidence >= 0.9 && v.ConfirmationCount >= 2 }
