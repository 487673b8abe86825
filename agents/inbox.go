package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/internal/journal"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// PostArgs is the arguments of post.
type PostArgs struct {
	Message  string `json:"message" arg:"1" long:"true" jsonschema:"what to say"`
	Category string `json:"category,omitempty" short:"c" jsonschema:"a word such as status, finding, decision, blocker, request, warning (default status)"`
	ToAgent  string `json:"to_agent,omitempty" alias:"to" jsonschema:"an id, the beginning of one, or a type, of which any one agent reads it (default: everybody)"`
	TTL      string `json:"ttl,omitempty" jsonschema:"how long it is worth reading, e.g. 2h (default: until it is read)"`
	Private  bool   `json:"private,omitempty" jsonschema:"seen by its receiver and you only, and never made a fact"`
}

// Posted is the result of post.
type Posted struct {
	Number   uint64   `json:"number"`
	From     string   `json:"from_agent"`
	To       string   `json:"to_agent,omitempty"` // an id or a type
	Category string   `json:"category"`
	Private  bool     `json:"private,omitempty"`
	Message  string   `json:"message"`
	Note     string   `json:"note,omitempty"` // why nobody may read it soon
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

// Post sends a message to everybody, to one agent, or to any one agent of a type. A caller
// that has not registered may post too, under the name of its client.
func (s *Store) Post(ctx context.Context, a PostArgs) (Posted, error) {
	m, ttl, redacted, err := s.texts.draft(a)
	if err != nil {
		return Posted{}, err
	}
	if err := s.Enter(ctx); err != nil {
		return Posted{}, err
	}
	var r Posted
	err = s.update(ctx, func(p *project, now time.Time) ([]event, error) {
		by, err := s.caller.poster(p)
		if err != nil {
			return nil, err
		}
		x := m
		if by == "" {
			x.From = s.caller.sender(p)
		} else {
			x.From = by
		}
		note, err := p.addressed(&x, a.ToAgent, now)
		if err != nil {
			return nil, err
		}
		x.Number, x.At = p.messages.last+1, now
		if ttl > 0 {
			x.Expires = now.Add(ttl)
		}
		if err := p.maySend(&x, now); err != nil {
			return nil, err
		}
		r = Posted{Number: x.Number, From: x.From, To: cmp.Or(x.To, x.ToType), Category: x.Category, Private: x.Private, Message: x.Text, Note: note, Redacted: redacted, any: x.ToType != ""}
		return []event{{By: by, Post: &x}}, nil
	})
	return r, err
}

// poster is the agent that posts; empty for a caller that never registered.
func (c caller) poster(p *project) (string, error) {
	if c.id() == "" {
		return "", nil
	}
	a, err := c.agent(p)
	if err != nil {
		return "", err
	}
	return a.ID, nil
}

// draft is the message as far as the arguments alone determine it.
func (x textRules) draft(a PostArgs) (m message, ttl time.Duration, redacted []string, err error) {
	text, redacted, err := x.clean("message", a.Message, maxText)
	if err != nil {
		return m, 0, nil, err
	}
	m = message{Text: text, Private: a.Private}
	if err := x.withoutSecret("category", a.Category); err != nil {
		return m, 0, nil, err
	}
	if m.Category, err = checkedWord("category", strings.ReplaceAll(cmp.Or(strings.TrimSpace(a.Category), "status"), "_", "-"), maxCategory); err != nil {
		return m, 0, nil, err
	}
	if a.Private && strings.TrimSpace(a.ToAgent) == "" {
		return m, 0, nil, refusal.Argument("to_agent", "a private message needs to_agent")
	}
	if strings.TrimSpace(a.TTL) != "" {
		ttl, err = readDuration("ttl", a.TTL, minTTL, maxMessageTTL)
	}
	return m, ttl, redacted, err
}

// addressed sets the recipient of a message and returns a note if nobody may read it soon.
func (p *project) addressed(m *message, name string, now time.Time) (note string, err error) {
	if strings.TrimSpace(name) == "" {
		for _, a := range p.agents {
			if a.ID != m.From && a.present(now) {
				return "", nil
			}
		}
		return "nobody else is here yet", nil
	}
	var to address
	if m.Private { // seen by one agent, so a type must have just one
		if to.agent, err = p.only("to_agent", name, m.From, now); err != nil {
			if kind, e := p.addressee(name); e == nil && kind.agent == nil && len(p.ofType(kind.kind)) == 0 {
				return "", refusal.NotFound("No agent found: no %s is here yet, and a private message goes to one agent", kind.kind)
			}
		}
	} else {
		to, err = p.addressee(name)
	}
	if err != nil {
		return "", err
	}
	if to.agent != nil {
		if to.agent.ID == m.From {
			return "", refusal.Argument("to_agent", "to_agent %s is you: keep it in your diary", m.From)
		}
		m.To = to.agent.ID
		return absence(now, to.agent), nil
	}
	m.ToType = to.kind
	all := p.ofType(to.kind)
	others := slices.DeleteFunc(slices.Clone(all), func(a *agent) bool { return a.ID == m.From })
	switch {
	case len(all) == 0:
		return waits(to.kind), nil
	case len(others) == 0:
		return "", refusal.NotFound("No agent found: %s has no other agent than you", to.kind)
	}
	return absence(now, others...), nil
}

// absence is a note for the case that no recipient is active.
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

// ReadArgs is the arguments of read.
type ReadArgs struct {
	Limit int `json:"limit,omitempty" jsonschema:"most messages to give at once (default 50); the rest stays unread"`
}

// Messages is the result of read: messages that now count as read.
type Messages struct {
	Handoffs    []Bundle  `json:"handoffs,omitempty"`
	Messages    []Message `json:"messages"`
	Unread      int       `json:"unread"`                 // messages that remain unread
	Unmarked    string    `json:"unmarked,omitempty"`     // why they could not be marked as read; the next read gives them again
	MissedSince time.Time `json:"missed_before,omitzero"` // earlier broadcasts may be gone
	now         time.Time
	limit       int
}

const (
	defaultPage = 50
	defaultList = 50
)

// Read gives the caller its unread messages in the order of posting, and the work that was
// handed to it. Each is given once. What does not fit into one answer is counted and stays
// unread. If the commit fails, as on a full disk, the answer says so and the next read
// gives the same again.
func (s *Store) Read(ctx context.Context, a ReadArgs) (Messages, error) {
	limit, err := refusal.Limit(a.Limit, defaultPage)
	if err != nil {
		return Messages{}, err
	}
	if err := s.Enter(ctx); err != nil {
		return Messages{}, err
	}
	s.touchQuietly(ctx)
	var r Messages
	look := func(p *project, now time.Time) ([]event, error) {
		me, err := s.caller.agent(p)
		if err != nil {
			return nil, err
		}
		reader := p.reader(me, now)
		unread := p.messages.unread(reader, now)
		all, missed := p.handoffs.waiting(me.ID, me.Type), reader.at.Missed
		bundles := firstBundles(all)
		page := page(unread, limit)
		if len(bundles) < len(all) || len(bundles) > 0 && sizeOf(bundles) > prose.MaxGiven/2 {
			page = nil // the next call gives them
		}
		given, claims := p.received(me.ID, bundles, now)
		r = Messages{Handoffs: given, Messages: shownMessages(page), Unread: len(unread) - len(page) + len(all) - len(bundles), MissedSince: missed, now: now, limit: limit}
		if len(page) == 0 && len(bundles) == 0 && missed.IsZero() {
			return nil, nil
		}
		return append(claims, p.given(reader, unread, len(page), bundles, now)), nil
	}
	r.Unmarked, err = s.receive(ctx, look)
	return r, err
}

// given is the event that marks the first n unread messages and the bundles as given.
func (p *project) given(r reader, unread []*message, n int, bundles []*handoffRecord, now time.Time) event {
	read := p.messages.reading(r, unread, n, now)
	for _, h := range bundles {
		read.Handoffs = append(read.Handoffs, h.ID)
	}
	return event{By: r.id, Read: read}
}

// receive commits the events that look returns. Usually there are none: then it takes no lock.
// If the commit cannot be written, unmarked says why, and the result of look is still valid.
func (s *core) receive(ctx context.Context, look func(*project, time.Time) ([]event, error)) (unmarked string, err error) {
	anything := false
	err = s.view(ctx, func(p *project, now time.Time) error {
		events, err := look(p, now)
		anything = len(events) > 0
		return err
	})
	if err != nil || !anything {
		return "", err
	}
	refused := false
	err = s.update(ctx, func(p *project, now time.Time) ([]event, error) {
		events, err := look(p, now)
		refused = err != nil
		return events, err
	})
	if err == nil || refused || !unwritten(err) || ctx.Err() != nil {
		return "", err
	}
	return err.Error(), nil
}

// unwritten reports whether a commit failed while it was written. Other errors mean that
// our view may be stale: somebody else holds the lock, or the files are damaged.
func unwritten(err error) bool {
	for _, other := range []error{journal.ErrLocked, journal.ErrCorrupt, journal.ErrNewer, journal.ErrForeign} {
		if errors.Is(err, other) {
			return false
		}
	}
	return true
}

// unmarkedLine is the line that announces that the same will be given again.
func unmarkedLine(unmarked string) string {
	return "This could not be marked as read and will be given again: " + prose.Brief(unmarked)
}

// Given is for answers that are bounded by themselves: they mark as read what they give.
func (r Messages) Given() {}

// Text gives the answer's lines.
func (r Messages) Text() string { return r.TextIn(prose.MCP) }

// TextIn is Text with suggested calls in the caller's syntax.
func (r Messages) TextIn(call prose.Syntax) string {
	var lines []string
	for _, b := range r.Handoffs {
		lines = append(lines, b.lines(r.now)...)
	}
	if !r.MissedSince.IsZero() {
		lines = append(lines, fmt.Sprintf("You were away for more than %s: messages to everybody from before %s may be gone.", prose.Duration(holdFor), r.MissedSince.UTC().Format(time.DateOnly)))
	}
	switch {
	case len(r.Messages) == 0 && len(lines) == 0:
		lines = append(lines, "No new messages.")
	case len(r.Messages) == 0:
	case r.Unread > 0:
		lines = append(lines, fmt.Sprintf("New messages (showing %d/%d):", len(r.Messages), len(r.Messages)+r.Unread))
	default:
		lines = append(lines, fmt.Sprintf("New messages (%d):", len(r.Messages)))
	}
	for _, m := range r.Messages {
		lines = append(lines, m.line(r.now))
	}
	switch {
	case r.Unread > 0 && len(r.Messages) == r.limit:
		lines = append(lines, fmt.Sprintf("  … %d more, still unread (%s): read again", r.Unread, call("", "limit", r.limit)))
	case r.Unread > 0:
		lines = append(lines, fmt.Sprintf("  … %d more, still unread: read again", r.Unread))
	}
	if r.Unmarked != "" {
		lines = append(lines, unmarkedLine(r.Unmarked))
	}
	return strings.Join(lines, "\n")
}
