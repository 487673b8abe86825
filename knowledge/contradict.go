package knowledge

import (
	"context"
	"fmt"
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

	// Within is the new version's period if it is not simply from now on. To take it back, one
	// corrects that period alone.
	Within *fact.Period `json:"within,omitempty"`

	rival bool // another agent asserted the old value, and may be at work
}

// contradiction is what the new version v says against the old one.
func (t *timeline) contradiction(old, v *fact.Version) *Contradiction {
	c := &Contradiction{
		Category: v.Category, Key: v.Key, OldValue: old.Value, NewValue: v.Value, OldConfidence: old.Confidence,
		Confirmations: old.ConfirmationCount, OldAssertedBy: old.AssertedBy, Severity: t.severity(old),
	}
	if p := fact.PeriodOf(v); p.Until != nil || !p.Contains(t.present) {
		c.Within = &p
	}
	c.rival = c.Severity == fact.Low && t.said.From == nil && old.AssertedBy != "" && old.AssertedBy != t.said.Source.By
	return c
}

// severity says how much it deserves a second look that an old version was replaced. It is high
// when the old one was well founded: a confidence of at least 0.9, asserted at least twice. It
// is medium when a user or an agent of another type asserted it. Whoever dates a change knows of
// it, so then it is low. A living agent of the same type counts too: see [Store.weighRival].
func (t *timeline) severity(old *fact.Version) fact.Severity {
	switch {
	case fact.WellFounded(old):
		return fact.High
	case t.said.From != nil || t.said.Source.Kind == KindUser:
		return fact.Low
	case old.AssertedBy != "" && agentType(old.AssertedBy) != agentType(t.said.Source.By):
		return fact.Medium
	}
	return fact.Low
}

// agentType is the type of an agent: cursor for cursor-a3f8. A name that no
// registry gave is its own type.
func agentType(id string) string {
	if i := strings.LastIndexByte(id, '-'); i > 0 && len(id)-i > 4 && strings.Trim(id[i+1:], "0123456789abcdef") == "" {
		return id[:i]
	}
	return id
}

// weighRival makes a change an alarm when another agent of the same type
// asserted the old value and is at work now.
func (s *Store) weighRival(ctx context.Context, c *Contradiction) {
	if c == nil || !c.rival || s.opts.Coworkers == nil {
		return
	}
	agents, _, err := s.opts.Coworkers.Company(ctx, s.actor.Agent)
	for _, a := range agents {
		if id, _, _ := strings.Cut(a, "("); id == c.OldAssertedBy {
			c.Severity = fact.Medium
		}
	}
	if err != nil {
		s.opts.Logger.Debug("nobody knows who is at work", "error", err) // the fact is stored
	}
}

func (c *Contradiction) text(b *strings.Builder, archived bool, call prose.Syntax) {
	subject, standing := "Fact", fmt.Sprintf("was confirmed %dx", c.Confirmations)
	if c.Severity == fact.High {
		subject = "High-confidence fact"
	} else if c.OldAssertedBy != "" {
		standing = "asserted by " + prose.Line(c.OldAssertedBy)
	}
	fmt.Fprintf(b, "\n  ⚠ CONTRADICTION DETECTED: %s [%s/%s] changed:", subject, prose.Line(c.Category), prose.Line(c.Key))
	fmt.Fprintf(b, "\n  '%s' → '%s' (%s).", prose.Brief(c.OldValue), prose.Brief(c.NewValue), standing)
	if archived {
		b.WriteString(" Previous value archived.")
	}
	back := []any{"category", c.Category, "key", c.Key, "value", prose.Quoted(c.OldValue)} // whole: it is there to be copied
	if c.Within != nil {
		back = append(back, "valid_from", c.Within.From.Format(time.RFC3339))
		if c.Within.Until != nil {
			back = append(back, "valid_until", c.Within.Until.Format(time.RFC3339))
		}
	}
	fmt.Fprintf(b, "\n  Severity: %s. If the old value still holds: %s", c.Severity, call("remember", append(back, "correct", true)...))
}
