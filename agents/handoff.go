package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/agents/handoff"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

func (p *project) fileHandoff(h *handoff.Handoff) {
	p.handed = max(p.handed, h.Number)
	p.handoffs.Put(h)
}

// Handing is work that the caller passes on.
type Handing struct {
	ToAgent string `json:"to_agent" arg:"1" alias:"to" jsonschema:"who goes on: an id, the beginning of one, or a type, of which the last active one is taken"`
	Message string `json:"message" arg:"2" jsonschema:"what was done, what is left, what to watch for"`
}

// HandedOver is what was passed on.
type HandedOver struct {
	From    string   `json:"from_agent"`
	To      string   `json:"to_agent"`
	Summary string   `json:"summary"`
	Tasks   []string `json:"tasks"`
	Claims  []string `json:"claims"`
	Note    string   `json:"note,omitempty"`

	Redacted []string `json:"redacted,omitempty"`
}

// Text gives the answer's lines.
func (h HandedOver) Text() string {
	text := fmt.Sprintf("Handoff complete: %s → %s\n  Summary: %s\n  Moved: %s, %s",
		h.From, h.To, prose.Brief(h.Summary), named(h.Tasks, "task"), named(h.Claims, "claim"))
	if h.Note != "" {
		text += "\n  " + h.Note
	}
	return text + prose.Redacted(h.Redacted)
}

// named counts things and names them: 2 tasks (a, b).
func named(list []string, noun string) string {
	if len(list) == 0 {
		return prose.Count(0, noun)
	}
	return prose.Count(len(list), noun) + " (" + prose.Line(strings.Join(list, ", ")) + ")"
}

// What a bundle holds at most.
const (
	bundleDiary = 10
	bundleList  = 30 // facts; files
)

// Handoff passes the caller's open tasks and claims on, with a summary and
// what the receiver needs to go on, which it gets once, with its next read or
// sync.
//
// Tasks and claims are in two stores. First the promise is committed here, then the
// tasks move, then one commit moves the claims and gives the bundle. A
// kill before the first commit leaves nothing done; after it the next call of anybody
// in the project that looks at agents, claims or tasks goes on with it before it
// looks (moving tasks twice moves nothing more; see [Store.Settle]), so it is
// done. An error of the tasks' store takes the promise back.
func (s *Store) Handoff(ctx context.Context, a Handing) (HandedOver, error) {
	summary, redacted, err := s.text("message", a.Message, maxText)
	if err != nil {
		return HandedOver{}, err
	}
	if err := s.begin(ctx); err != nil {
		return HandedOver{}, err
	}
	h := handoff.Handoff{Summary: summary, State: handoff.Pending}
	note := ""
	find := func(p *project, m moment) error {
		me, err := s.self(p)
		if err != nil {
			return err
		}
		h.From, h.Role = me.ID, me.Role
		h.To, note, err = p.successor(me, a.ToAgent, m.now)
		return err
	}
	if err := s.view(ctx, find); err != nil {
		return HandedOver{}, err
	}
	if err := s.pack(ctx, &h); err != nil {
		return HandedOver{}, err
	}
	done, err := s.live.Alone(h.From, func() error { return s.handOver(ctx, &h, find) })
	if err == nil && !done {
		err = fmt.Errorf("another handoff of %s is under way; try again", h.From)
	}
	if err != nil {
		return HandedOver{}, err
	}
	r := HandedOver{From: h.From, To: h.To, Summary: summary, Tasks: append([]string{}, h.Tasks...), Claims: []string{}, Note: note, Redacted: redacted}
	for _, c := range h.Claims {
		r.Claims = append(r.Claims, c.Path)
	}
	return r, nil
}

// successor is who goes on with an agent's work.
func (p *project) successor(me *agent, name string, now time.Time) (id, note string, err error) {
	if strings.TrimSpace(name) == "" {
		return "", "", refusal.Argument("to_agent", "needs to_agent")
	}
	to, err := p.resolve("to_agent", name)
	if err != nil {
		return "", "", err
	}
	if to.agent == nil {
		others := slices.DeleteFunc(p.ofType(to.kind), func(a *agent) bool { return a.ID == me.ID || !a.present(now) })
		if len(others) == 0 {
			return "", "", refusal.NotFound("No agent found: no other %s is here", to.kind)
		}
		to.agent = others[0]
	}
	switch {
	case to.agent.ID == me.ID:
		return "", "", refusal.Argument("to_agent", "to_agent %s is you", me.ID)
	case to.agent.Status == statusFinished:
		return "", "", refusal.Argument("to_agent", "%s has finished: nobody would go on with the work", to.agent.ID)
	}
	return to.agent.ID, absence(now, to.agent), nil
}

// pack puts into a bundle what the registry does not know.
func (s *Store) pack(ctx context.Context, h *handoff.Handoff) error {
	tail, err := s.diaries.Tail(ctx, h.From, bundleDiary)
	if err != nil {
		return err
	}
	h.Diary = tail
	for _, part := range []struct {
		list func(context.Context, string) ([]string, error)
		to   *[]string
	}{{s.opts.Facts, &h.Facts}, {s.opts.Files, &h.Files}} {
		if part.list == nil {
			continue
		}
		found, err := part.list(ctx, h.From)
		if err != nil {
			return err
		}
		*part.to = found[:min(len(found), bundleList)]
	}
	return nil
}
