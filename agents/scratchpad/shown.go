package scratchpad

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"leanctx/internal/prose"
)

// Shown is a message as an agent reads it.
type Shown struct {
	Number   uint64    `json:"number"`
	From     string    `json:"from_agent"`
	To       string    `json:"to_agent,omitempty"` // an id or a type; empty: everybody
	Category string    `json:"category"`
	Priority string    `json:"priority"`
	Private  bool      `json:"private,omitempty"`
	Message  string    `json:"message"`
	At       time.Time `json:"timestamp"`
	any      bool
}

// Show is what an agent reads of a page.
func Show(page []*Message) []Shown {
	out := make([]Shown, len(page))
	for i, m := range page {
		out[i] = Shown{
			Number: m.Number, From: m.From, To: cmp.Or(m.To, m.ToType), Category: m.Category, Private: m.Private,
			Priority: cmp.Or(m.Priority, Normal), Message: m.Text, At: m.At, any: m.ToType != "",
		}
	}
	return out
}

// Line is a message as it is read: whole.
func (m Shown) Line(now time.Time) string {
	marks := []string{prose.Ago(now, m.At)}
	switch {
	case m.Private:
		marks = append(marks, "private")
	case m.any:
		marks = append(marks, "to any "+m.To)
	case m.To != "":
		marks = append(marks, "to you")
	}
	if m.Priority != Normal {
		marks = append(marks, m.Priority)
	}
	return fmt.Sprintf("  [%s] from %s (%s): %s", m.Category, m.From, strings.Join(marks, ", "), prose.Block(m.Message))
}
