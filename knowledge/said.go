package knowledge

import (
	"context"
	"fmt"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/knowledge/fact"
)

// Said is what somebody said or did in a session. It is no fact: an answer shows it apart from facts, under a heading
// that says so.
type Said struct {
	Session string    `json:"session"`
	Turn    int       `json:"turn"`
	At      time.Time `json:"at,omitzero"`
	Role    string    `json:"role"`
	Text    string    `json:"text"`
	Project string    `json:"project,omitempty"`
}

// KeptSessions tells whether sessions are kept, how many there are and how large they are.
type KeptSessions struct {
	Count int       `json:"count"`
	Bytes int64     `json:"bytes"`
	Since time.Time `json:"since,omitzero"` // since when they are kept; zero: they are not
	Why   string    `json:"why,omitempty"`  // they are not, in words
}

// Line is that in words: Sessions: 41 (12.3 MB), kept since 2026-11-22.
func (x *KeptSessions) Line() string {
	text := fmt.Sprintf("Sessions: %d (%.1f MB)", x.Count, float64(x.Bytes)/1e6)
	if x.Since.IsZero() {
		return text + ", not kept: " + prose.Line(x.Why)
	}
	return text + ", kept since " + fact.Day(x.Since)
}

// Examining asks how a store is. It has no arguments of the caller's.
type Examining struct {
	// Sessions tells of the project's sessions; nil: the caller may not know of them.
	Sessions func(context.Context) *KeptSessions `json:"-"`
}

// SaidBy finds what was said about a text, the best first.
type SaidBy func(ctx context.Context, text string) []Said

// Ref names the turn, with its day and who spoke: s-7c1e22a0#14 2026-11-22 user.
func (x Said) Ref() string {
	text := prose.Name(fmt.Sprintf("%s#%d", x.Session, x.Turn))
	if !x.At.IsZero() {
		text += " " + fact.Day(x.At)
	}
	return text + " " + prose.Name(x.Role)
}

// WriteSaid writes what was said below the facts of an answer, each as line gives it.
func WriteSaid(b *strings.Builder, list []Said, line func(Said) string) {
	for i, x := range list {
		if i == 0 {
			b.WriteString("\nSaid in sessions (not facts):")
		}
		b.WriteString("\n  " + line(x))
	}
}

// quoted is what was said as a line of recall.
func (x Said) quoted() string { return fmt.Sprintf("%s: \"%s\"", x.Ref(), prose.Line(x.Text)) }

// SearchLine is what was said as a line of a search: [session/2026-11-22 s-7c1e22a0#14] (user) text (project: my-app).
func (x Said) SearchLine() string {
	line := fmt.Sprintf("[session/%s %s] (%s) %s", fact.Day(x.At), prose.Name(fmt.Sprintf("%s#%d", x.Session, x.Turn)), prose.Name(x.Role), prose.Line(x.Text))
	if x.Project != "" {
		line += fmt.Sprintf(" (project: %s)", prose.Name(x.Project))
	}
	return line
}
