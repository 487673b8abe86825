package knowledge

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/knowledge/fact"
)

// Contradiction reports that a fact changed its value.
type Contradiction struct {
	Category      string        `json:"category"`
	Key           string        `json:"key"`
	OldValue      string        `json:"old_value"`
	NewValue      string        `json:"new_value"`
	OldConfidence float64       `json:"old_confidence"`
	Confirmations int           `json:"confirmations"` // of the old value
	OldAssertedBy string        `json:"old_asserted_by,omitempty"`
	Severity      fact.Severity `json:"severity"`

	// Within is the new version's period when it is not simply from now on: to
	// take it back is then a correction of that period alone.
	Within *fact.Period `json:"within,omitempty"`
}

// contradiction picks, among the versions that made room, the one that was
// current, else the last.
func contradiction(displaced []*fact.Version, v *fact.Version, now time.Time) *Contradiction {
	if len(displaced) == 0 {
		return nil
	}
	old := displaced[len(displaced)-1]
	if current := fact.CurrentAt(displaced, now); current != nil {
		old = current
	}
	var within *fact.Period
	if p := fact.PeriodOf(v); p.Until != nil || !p.Contains(now) {
		within = &p
	}
	return &Contradiction{
		Within:   within,
		Category: v.Category, Key: v.Key, OldValue: old.Value, NewValue: v.Value, OldConfidence: old.Confidence,
		Confirmations: old.ConfirmationCount, OldAssertedBy: old.AssertedBy, Severity: fact.SeverityOf(old),
	}
}

func (c *Contradiction) text(b *strings.Builder) {
	subject := map[fact.Severity]string{fact.High: "High-confidence fact", fact.Medium: "Fact", fact.Low: "Low-confidence fact"}[c.Severity]
	fmt.Fprintf(b, "\n  ⚠ CONTRADICTION DETECTED: %s [%s/%s] changed:", subject, prose.Line(c.Category), prose.Line(c.Key))
	fmt.Fprintf(b, "\n  '%s' → '%s' (was confirmed %dx). Previous value archived.", prose.Brief(c.OldValue), prose.Brief(c.NewValue), c.Confirmations)
	fmt.Fprintf(b, "\n  Severity: %s. If the old value still holds: action=remember category=%s key=%s value=%s",
		c.Severity, word(c.Category), word(c.Key), strconv.Quote(c.OldValue)) // whole: it is there to be copied
	if c.Within != nil {
		fmt.Fprintf(b, " valid_from=%s", c.Within.From.Format(time.RFC3339))
		if c.Within.Until != nil {
			fmt.Fprintf(b, " valid_until=%s", c.Within.Until.Format(time.RFC3339))
		}
	}
	b.WriteString(" correct=true")
}

// word quotes an argument only when it needs to be.
func word(s string) string {
	if strings.ContainsAny(s, " \t\"'\\=") || s != prose.Line(s) {
		return strconv.Quote(s)
	}
	return s
}
