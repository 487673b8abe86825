package agents

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/agents/arg"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// Posting is something to say to other agents.
type Posting struct {
	Message  string `json:"message" arg:"1" jsonschema:"what to say"`
	Category string `json:"category,omitempty" short:"c" jsonschema:"a word such as status, finding, decision, blocker, request, warning (default status)"`
	ToAgent  string `json:"to_agent,omitempty" alias:"to" jsonschema:"an id, the beginning of one, or a type, of which any one agent reads it (default: everybody)"`
	TTL      string `json:"ttl,omitempty" jsonschema:"how long it is worth reading, e.g. 2h (default: until it is read)"`
	Private  bool   `json:"private,omitempty" jsonschema:"seen by the two of you only and never made a fact; needs to_agent"`
	Priority string `json:"priority,omitempty" enum:"low,normal,high,critical" jsonschema:"high and critical ones are read first (default normal)"`
}

// Posted is a message that was posted.
type Posted struct {
	Number   uint64   `json:"number"`
	From     string   `json:"from_agent"`
	To       string   `json:"to_agent,omitempty"` // an id or a type
	Category string   `json:"category"`
	Private  bool     `json:"private,omitempty"`
	Message  string   `json:"message"`
	Note     string   `json:"note,omitempty"` // why it may wait long for a reader
	Redacted []string `json:"redacted,omitempty"`
	any      bool
}

// Text gives the answer's lines.
func (p Posted) Text() string {
	to := p.To
	switch {
	case to == "":
		to = "all agents"
	case p.any:
		to = "any " + to
	}
	text := fmt.Sprintf("Posted [%s] to %s: %s", p.Category, to, prose.Brief(p.Message))
	if p.Note != "" {
		text += " (" + p.Note + ")"
	}
	return text + prose.Redacted(p.Redacted)
}

const (
	minTTL        = time.Second
	maxMessageTTL = 52 * 7 * 24 * time.Hour
	maxCategory   = 40 // bytes
)

// Post puts a message on the scratchpad: for everybody, for one agent, or for
// any one agent of a type. Who has not registered may post too, under the name
// of the client.
func (s *Store) Post(ctx context.Context, a Posting) (Posted, error) {
	m, ttl, redacted, err := s.draft(a)
	if err == nil {
		err = s.begin(ctx)
	}
	if err != nil {
		return Posted{}, err
	}
	var r Posted
	err = s.update(ctx, func(p *project, at moment) ([]event, error) {
		by, err := s.poster(p)
		if err != nil {
			return nil, err
		}
		x := m
		if by == "" {
			x.From = s.sender(p)
		} else {
			x.From = by
		}
		note, err := p.addressed(&x, a.ToAgent, at.now)
		if err != nil {
			return nil, err
		}
		x.Number, x.At = p.messages.last+1, at.now
		if ttl > 0 {
			x.Expires = at.now.Add(ttl)
		}
		r = Posted{Number: x.Number, From: x.From, To: cmp.Or(x.To, x.ToType), Category: x.Category, Private: x.Private, Message: x.Text, Note: note, Redacted: redacted, any: x.ToType != ""}
		return []event{{By: by, Post: &x}}, nil
	})
	return r, err
}

// poster is the agent that posts, empty for a caller that never registered.
func (s *Store) poster(p *project) (string, error) {
	if s.Self() == "" {
		return "", nil
	}
	a, err := s.self(p)
	if err != nil {
		return "", err
	}
	return a.ID, nil
}

// draft is the message as far as the arguments alone decide it.
func (s *Store) draft(a Posting) (m message, ttl time.Duration, redacted []string, err error) {
	text, redacted, err := s.text("message", a.Message, maxText)
	if err != nil {
		return m, 0, nil, err
	}
	m = message{Text: text, Private: a.Private}
	if err := s.plain("category", a.Category); err != nil {
		return m, 0, nil, err
	}
	if m.Category, err = arg.Word("category", strings.ReplaceAll(cmp.Or(strings.TrimSpace(a.Category), "status"), "_", "-"), maxCategory); err != nil {
		return m, 0, nil, err
	}
	m.Priority = strings.ToLower(strings.TrimSpace(a.Priority))
	if m.Priority == priorityNormal {
		m.Priority = ""
	}
	if !slices.Contains([]string{"", priorityLow, priorityHigh, priorityCritical}, m.Priority) {
		return m, 0, nil, refusal.Argument("priority", "priority %q is none of low, normal, high, critical", prose.Clip(a.Priority, maxWord))
	}
	if a.Private && strings.TrimSpace(a.ToAgent) == "" {
		return m, 0, nil, refusal.Argument("to_agent", "a private message needs to_agent")
	}
	if strings.TrimSpace(a.TTL) != "" {
		ttl, err = arg.Duration("ttl", a.TTL, arg.Bounds{Least: minTTL, Most: maxMessageTTL})
	}
	return m, ttl, redacted, err
}

// addressed fills in to whom a message goes, and says why it may wait long.
func (p *project) addressed(m *message, name string, now time.Time) (note string, err error) {
	if strings.TrimSpace(name) == "" {
		for _, a := range p.agents {
			if a.ID != m.From && a.present(now) {
				return "", nil
			}
		}
		return "nobody else is here yet", nil
	}
	to, err := p.resolve("to_agent", name)
	if err != nil {
		return "", err
	}
	if to.agent == nil && m.Private {
		if to, err = p.onlyOne(to, m.From, now); err != nil {
			return "", err
		}
	}
	if to.agent != nil {
		if to.agent.ID == m.From {
			return "", refusal.Argument("to_agent", "to_agent %s is you: keep it in your diary", m.From)
		}
		m.To = to.agent.ID
		return absence(now, to.agent), nil
	}
	others := slices.DeleteFunc(p.ofType(to.kind), func(a *agent) bool { return a.ID == m.From })
	if len(others) == 0 {
		return "", refusal.NotFound("No agent found: %s has no other agent than you", to.kind)
	}
	m.ToType = to.kind
	return absence(now, others...), nil
}

// onlyOne is the agent of a type when there is just one.
func (p *project) onlyOne(to address, not string, now time.Time) (address, error) {
	var ids []string
	for _, a := range p.ofType(to.kind) {
		if a.ID != not && a.present(now) {
			ids = append(ids, a.ID)
		}
	}
	switch len(ids) {
	case 0:
		return to, refusal.NotFound("No agent found: no %s is here", to.kind)
	case 1:
		return address{agent: p.agents[ids[0]]}, nil
	}
	return to, refusal.Argument("to_agent", "a private message is for one agent: to_agent %q may be %s", to.kind, alternatives(ids))
}

// absence says when none of the addressees is there.
func absence(now time.Time, list ...*agent) string {
	for _, a := range list {
		if a.present(now) {
			return ""
		}
	}
	a := slices.MinFunc(list, byActivity)
	if a.Status == statusFinished {
		return fmt.Sprintf("%s finished %s", a.ID, prose.Ago(now, a.Active))
	}
	return fmt.Sprintf("%s was last seen %s", a.ID, prose.Ago(now, a.Active))
}
