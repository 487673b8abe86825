package fact

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
