package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/agents/arg"
	"leanctx/agents/handoff"
	"leanctx/internal/journal"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// Reading asks for what is new.
type Reading struct {
	Limit int `json:"limit,omitempty" jsonschema:"most messages to give at once (default 50); the rest stays unread"`
}

// Messages is what an agent was given, and has read now.
type Messages struct {
	Handoffs    []handoff.Bundle `json:"handoffs,omitempty"`
	Messages    []Message        `json:"messages"`
	Unread      int              `json:"unread"`                 // that are left
	Unmarked    string           `json:"unmarked,omitempty"`     // why they could not be marked as read: they will come again
	MissedSince time.Time        `json:"missed_before,omitzero"` // broadcasts of before it may be gone
	now         time.Time
	limit       int
	empty       string
}

const (
	standardPage  = 50
	standardList  = 50
	newMessages   = "New messages"
	noNewMessages = "No new messages."
)

// Read gives the caller the messages it has not read, urgent ones first, and
// the work that was handed to it; none of them is given again. What does not
// fit into one answer is counted and stays unread. Where it cannot be written
// down what was read, as on a full disk, the answer says so and comes again.
func (s *Store) Read(ctx context.Context, a Reading) (Messages, error) {
	limit, err := arg.Limit(a.Limit, standardPage)
	if err != nil {
		return Messages{}, err
	}
	if err := s.begin(ctx); err != nil {
		return Messages{}, err
	}
	var r Messages
	look := func(p *project, m moment) ([]event, error) {
		me, err := s.self(p)
		if err != nil {
			return nil, err
		}
		reader := p.reader(me, m.now)
		page, total := p.messages.page(reader, m.now, limit)
		bundles, missed := p.handoffs.Waiting(me.ID), reader.at.Missed
		r = Messages{Handoffs: handoff.Bundles(bundles), Messages: shownMessages(page), Unread: total - len(page), MissedSince: missed, now: m.now, limit: limit, empty: noNewMessages}
		if len(page) == 0 && len(bundles) == 0 && missed.IsZero() {
			return nil, nil
		}
		return p.given(reader, page, bundles, m), nil
	}
	r.Unmarked, err = s.receive(ctx, look)
	return r, err
}

// given is the commit by which a reader has what it was given.
func (p *project) given(r reader, page []*message, bundles []*handoff.Handoff, m moment) []event {
	read := p.messages.reading(r, page, m.now)
	for _, h := range bundles {
		read.Handoffs = append(read.Handoffs, h.ID)
	}
	return []event{{By: r.id, Read: read}}
}

// receive commits what look makes of the state. That there is nothing new is
// the common answer, and needs no lock. If the commit cannot be written,
// unmarked says why, and what look gave stands.
func (s *Store) receive(ctx context.Context, look func(*project, moment) ([]event, error)) (unmarked string, err error) {
	fresh := false
	err = s.view(ctx, func(p *project, m moment) error {
		events, err := look(p, m)
		fresh = len(events) > 0
		return err
	})
	if err != nil || !fresh {
		return "", err
	}
	refused := false
	err = s.update(ctx, func(p *project, m moment) ([]event, error) {
		events, err := look(p, m)
		refused = err != nil
		return events, err
	})
	if err == nil || refused || !unwritten(err) || ctx.Err() != nil {
		return "", err
	}
	return err.Error(), nil
}

// unwritten tells whether an error of a commit is that of writing it, and not
// one by which we know less than who asks next: that somebody else has the lock,
// or that the files are not to be believed.
func unwritten(err error) bool {
	for _, other := range []error{journal.ErrLocked, journal.ErrCorrupt, journal.ErrNewer, journal.ErrForeign} {
		if errors.Is(err, other) {
			return false
		}
	}
	return true
}

// again is the line that says that what was given will be given once more.
func again(unmarked string) string {
	return "This could not be marked as read, and will come again: " + prose.Brief(unmarked)
}

// Text gives the answer's lines.
func (r Messages) Text() string {
	var lines []string
	for _, b := range r.Handoffs {
		lines = append(lines, b.Lines(r.now)...)
	}
	if !r.MissedSince.IsZero() {
		lines = append(lines, fmt.Sprintf("You were away for more than %s: messages to everybody from before %s may be gone.", prose.Span(holdFor), r.MissedSince.UTC().Format(time.DateOnly)))
	}
	switch {
	case len(r.Messages) == 0:
		if len(lines) == 0 {
			lines = append(lines, r.empty)
		}
	case r.Unread > 0:
		lines = append(lines, fmt.Sprintf("%s (showing %d/%d):", newMessages, len(r.Messages), len(r.Messages)+r.Unread))
	default:
		lines = append(lines, fmt.Sprintf("%s (%d):", newMessages, len(r.Messages)))
	}
	for _, m := range r.Messages {
		lines = append(lines, m.line(r.now))
	}
	if r.Unread > 0 && len(r.Messages) > 0 {
		lines = append(lines, fmt.Sprintf("  … %d more, still unread (limit=%d): read again", r.Unread, r.limit))
	}
	if r.Unmarked != "" {
		lines = append(lines, again(r.Unmarked))
	}
	return strings.Join(lines, "\n")
}

// Inbox shows what an agent has not read, and leaves it unread. Private
// messages are shown to the agent itself alone, others learn how many there are.
func (s *Store) Inbox(ctx context.Context, id string) (Inbox, error) {
	var r Inbox
	err := s.view(ctx, func(p *project, m moment) error {
		to, err := p.resolve("agent", id)
		switch {
		case err != nil:
			return err
		case to.agent == nil:
			return refusal.Argument("agent", "agent %q is a type: an inbox is one agent's", to.kind)
		}
		page, total := p.messages.page(p.reader(to.agent, m.now), m.now, arg.MaxLimit)
		r = Inbox{AgentID: to.agent.ID, Unread: total, now: m.now, Handoffs: len(p.handoffs.Waiting(to.agent.ID))}
		if me, err := s.self(p); err != nil || me != to.agent {
			shown := slices.DeleteFunc(page, func(m *message) bool { return m.Private })
			r.Private = len(page) - len(shown)
			page = shown
		}
		r.Messages = shownMessages(page)
		return nil
	})
	return r, err
}

// Inbox is what an agent has not read.
type Inbox struct {
	AgentID  string    `json:"agent_id"`
	Unread   int       `json:"unread"`
	Handoffs int       `json:"handoffs"`          // bundles of work that wait for it
	Private  int       `json:"private,omitempty"` // not shown: they are for the agent alone
	Messages []Message `json:"messages"`
	now      time.Time
}

// Text gives the answer's lines.
func (r Inbox) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Inbox of %s (%s):", r.AgentID, prose.Count(r.Unread, "unread message"))
	for _, m := range r.Messages {
		b.WriteString("\n" + m.line(r.now))
	}
	if r.Private > 0 {
		fmt.Fprintf(&b, "\n  %s, shown to %s alone", prose.Count(r.Private, "private message"), r.AgentID)
	}
	if more := r.Unread - len(r.Messages) - r.Private; more > 0 {
		fmt.Fprintf(&b, "\n  … %d more (limit=%d)", more, arg.MaxLimit)
	}
	if r.Handoffs > 0 {
		fmt.Fprintf(&b, "\n  %s waiting: read them with action=read", prose.Count(r.Handoffs, "handoff"))
	}
	return b.String()
}
