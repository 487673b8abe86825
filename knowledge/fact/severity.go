package fact

// Severity says how much a contradiction deserves a second look.
type Severity string

// The severities.
const (
	High   Severity = "high"   // the old value was sure (≥ 0.9) and confirmed at least twice
	Medium Severity = "medium" // the old value was more sure than not (≥ 0.5)
	Low    Severity = "low"
)

// SeverityOf is how much it deserves one that old was replaced.
func SeverityOf(old *Version) Severity {
	switch {
	case old.Confidence >= 0.9 && old.ConfirmationCount >= 2:
		return High
	case old.Confidence >= 0.5:
		return Medium
	}
	return Low
}
