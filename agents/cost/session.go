package cost

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// SessionQuery names a session.
type SessionQuery struct {
	SessionID string `json:"session_id,omitempty" arg:"1" jsonschema:"which session (default: this one, or else the one last used)"`
}

// SessionCosts is one session with its counters.
type SessionCosts struct {
	Session string    `json:"session"`
	Started time.Time `json:"started,omitzero"`
	Total   Counts    `json:"total"`
	Agents  []Share   `json:"by_agent"`
	Tools   []Share   `json:"by_tool"`
}

// Session sums up what a session's calls cost. A caller whose own session has
// none yet sees the one last used: a command is a session of its own, and asks
// about another.
func (l *Ledger) Session(ctx context.Context, q SessionQuery) (SessionCosts, error) {
	b, err := l.book(ctx)
	if err != nil {
		return SessionCosts{}, err
	}
	id := cmp.Or(clean(q.SessionID), l.actor.Session)
	s, ok := b.sessions[id]
	if !ok && clean(q.SessionID) != "" {
		return SessionCosts{}, refusal.NotFound("No costs recorded for session %s", id)
	}
	if !ok && len(b.sessions) > 0 && !l.opts.LongLived {
		ids := oldest(b.sessions, func(s session) time.Time { return s.Last })
		id = ids[len(ids)-1]
		s = b.sessions[id]
	}
	return SessionCosts{
		Session: id, Started: s.First, Total: s.Counts,
		Agents: shares(s.rows, func(r row) string { return r.Agent }), Tools: shares(s.rows, func(r row) string { return r.Tool }),
	}, nil
}

// Text gives the answer's lines.
func (s SessionCosts) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Session %s: %s", named(s.Session), summary(s.Total))
	if s.Total.Calls == 0 {
		return b.String()
	}
	list(&b, "By Agent:", agentColumn, s.Agents, len(s.Agents))
	list(&b, "By Tool:", toolColumn, s.Tools, len(s.Tools))
	estimated(&b, s.Total)
	return b.String()
}

// Reset asks to begin anew; it has no arguments.
type Reset struct{}

// NeedsConfirm says what cannot be undone.
func (Reset) NeedsConfirm() string { return "a reset forgets every count of the project" }

// Forgotten says what a reset took away.
type Forgotten struct {
	Total Counts    `json:"total"`
	At    time.Time `json:"at"`
}

// Reset forgets the project's costs. What is noted while it runs is either
// forgotten with them or counted afterwards, never both.
func (l *Ledger) Reset(ctx context.Context, _ Reset) (Forgotten, error) {
	b, err := l.book(ctx)
	if err != nil {
		return Forgotten{}, err
	}
	f := Forgotten{Total: total(b.tools), At: l.opts.Now().UTC()}
	return f, l.fold(ctx, event{Reset: &forget{l.opts.ProjectHash, f.At}})
}

// Text gives the answer's line.
func (f Forgotten) Text() string {
	return fmt.Sprintf("Costs reset: %s in %s forgotten.", prose.Count(f.Total.Tokens(), "token"), prose.Count(f.Total.Calls, "call"))
}
