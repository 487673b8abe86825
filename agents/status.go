package agents

import (
	"context"
	"fmt"
	"strings"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// Standing is what an agent says of itself.
type Standing struct {
	Status  string `json:"status,omitempty" arg:"1" jsonschema:"active, idle, or finished: the agent leaves the list and its claims (default: as it is)"`
	Message string `json:"message,omitempty" arg:"2" short:"m" jsonschema:"what it is doing"`
}

// Updated is an agent's new status.
type Updated struct {
	AgentID  string   `json:"agent_id"`
	Status   string   `json:"status"`
	Message  string   `json:"message,omitempty"`
	Released []string `json:"released,omitempty"` // claims
	Unread   int      `json:"unread"`
	Redacted []string `json:"redacted,omitempty"`
}

// Text gives the answer's lines.
func (u Updated) Text() string {
	text := fmt.Sprintf("Status updated: %s → %s", u.AgentID, u.Status)
	if u.Message != "" {
		text += " (" + prose.Brief(u.Message) + ")"
	}
	if len(u.Released) > 0 {
		text += fmt.Sprintf("\n  Released %s: %s", prose.Count(len(u.Released), "claim"), prose.Line(strings.Join(u.Released, ", ")))
	}
	if u.Status == statusFinished && u.Unread > 0 {
		text += fmt.Sprintf("\n  %s will stay unread: read before you go", prose.Count(u.Unread, "message"))
	}
	return text + prose.Redacted(u.Redacted)
}

// Status notes what the caller says it is doing. Who has finished leaves the
// list and lets go of its claims; register takes it up again.
func (s *Store) Status(ctx context.Context, a Standing) (Updated, error) {
	status := standingOf(a.Status)
	u := Updated{}
	var err error
	switch {
	case status == "" && strings.TrimSpace(a.Status) != "":
		err = refusal.Argument("status", "status %q is none of active, idle, finished", prose.Clip(a.Status, maxWord))
	case strings.TrimSpace(a.Message) != "":
		u.Message, u.Redacted, err = s.text("message", a.Message, maxText/16)
	case status == "":
		err = refusal.Argument("status", "needs status")
	}
	if err == nil {
		err = s.begin(ctx)
	}
	if err != nil {
		return Updated{}, err
	}
	err = s.update(ctx, func(p *project, m moment) ([]event, error) {
		me, err := s.self(p)
		if err != nil {
			return nil, err
		}
		events := p.standing(me, status, u.Message)
		u.AgentID, u.Status, u.Unread, u.Released = me.ID, events[0].Agent.Status, p.messages.countUnread(p.reader(me, m.now), m.now), nil
		for _, e := range events[1:] {
			u.Released = append(u.Released, e.Release)
		}
		return events, nil
	})
	if err == nil && u.Status == statusFinished {
		err = s.live.Leave(u.AgentID)
	}
	return u, err
}

// standingOf is the status that a word stands for, in the spellings that agents
// try; empty for any other.
func standingOf(word string) string {
	switch strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(word)) {
	case statusActive, "working", "busy", "inprogress", "running":
		return statusActive
	case statusIdle, "waiting", "paused", "blocked":
		return statusIdle
	case statusFinished, "done", "complete", "completed":
		return statusFinished
	}
	return ""
}

// standing is the agent's new record first, then the claims it lets go of.
func (p *project) standing(me *agent, status, message string) []event {
	a := *me
	if status != "" {
		a.Status = status
	}
	a.Message = message
	events := []event{{By: me.ID, Agent: &a}}
	if a.Status == statusFinished {
		for _, l := range p.leases.Of(me.ID) {
			events = append(events, event{By: me.ID, Release: l.Path})
		}
	}
	return events
}
