package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/agents/lease"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// NoArgs is the argument of an operation without arguments.
type NoArgs struct{}

// Present is an agent in a list.
type Present struct {
	AgentID    string    `json:"agent_id"`
	AgentType  string    `json:"agent_type"`
	Role       string    `json:"role,omitempty"`
	Status     string    `json:"status"`
	Message    string    `json:"status_message,omitempty"`
	Registered time.Time `json:"started_at"`
	LastActive time.Time `json:"last_active"`
	// Joined is when it last registered, for the first time or again.
	Joined time.Time `json:"-"`
	// Aliases are the names that its sessions had before they registered.
	Aliases []string `json:"-"`
	// You marks the caller.
	You bool `json:"you,omitempty"`
}

func shown(a *agent) Present {
	return Present{a.ID, a.Type, a.Role, a.Status, a.Message, a.Registered, a.Active, a.joined(), a.Aliases, false}
}

func (a Present) line(now time.Time) string {
	text := fmt.Sprintf("%s [%s]", a.AgentID, a.AgentType)
	if a.Role != "" {
		text += " role=" + prose.Line(a.Role)
	}
	text += " status=" + a.Status
	if a.Message != "" {
		text += " — " + prose.Line(prose.Clip(a.Message, 120))
	}
	text += " (last active: " + prose.Ago(now, a.LastActive) + ")"
	if a.You {
		text += " ← you"
	}
	return text
}

// ListArgs is the arguments of list.
type ListArgs struct {
	Limit int `json:"limit,omitempty" jsonschema:"most agents to show (default 50)"`
}

// Agents is the result of list.
type Agents struct {
	Agents []Present `json:"agents"`
	Total  int       `json:"total"`
	now    time.Time
	limit  int
}

// Text gives the answer's lines.
func (r Agents) Text() string { return r.TextIn(prose.MCP) }

// TextIn is Text with suggested calls in the caller's syntax.
func (r Agents) TextIn(call prose.Syntax) string {
	if r.Total == 0 {
		return "No active agents for this project."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Active agents (%d):", r.Total)
	for _, a := range r.Agents {
		b.WriteString("\n  " + a.line(r.now))
	}
	b.WriteString(prose.More(call, r.Total-len(r.Agents), r.limit))
	return b.String()
}

// List shows the active agents, the most recently active first. It leaves out those that
// finished or were inactive for 24 hours.
func (s *Store) List(ctx context.Context, a ListArgs) (Agents, error) {
	limit, err := refusal.Limit(a.Limit, defaultList)
	if err != nil {
		return Agents{}, err
	}
	s.touchQuietly(ctx)
	r := Agents{limit: limit}
	err = s.view(ctx, func(p *project, now time.Time) error {
		list := p.present(now)
		r.Total, r.now, r.Agents = len(list), now, []Present{}
		me, _ := s.caller.agent(p) // nil for a person
		for _, x := range list[:min(limit, len(list))] {
			one := shown(x)
			one.You = me != nil && me.ID == x.ID
			r.Agents = append(r.Agents, one)
		}
		return nil
	})
	return r, err
}

// Presence is what a briefing says about agents.
type Presence struct {
	Agents []Coworker // by id
	Unread int        // messages that the caller has not read
}

// Coworker is an active agent as a briefing names it.
type Coworker struct{ ID, Role string }

// String is "id(role)", or the id of an agent without a role. Whoever shows it escapes it.
func (c Coworker) String() string {
	if c.Role == "" {
		return c.ID
	}
	return c.ID + "(" + c.Role + ")"
}

// Presence counts the active agents and the caller's unread messages in one view of the
// state.
func (s *Store) Presence(ctx context.Context) (Presence, error) {
	var r Presence
	err := s.view(ctx, func(p *project, now time.Time) error {
		r = Presence{}
		for _, a := range p.present(now) {
			r.Agents = append(r.Agents, Coworker{a.ID, a.Role})
		}
		slices.SortFunc(r.Agents, func(a, b Coworker) int { return strings.Compare(a.ID, b.ID) })
		if a, err := s.caller.agent(p); err == nil {
			r.Unread = p.unread(a, now) + len(p.handoffs.waiting(a.ID, a.Type))
		}
		return nil
	})
	return r, err
}

// Info is the counts of the registry.
type Info struct {
	You      *Present `json:"you,omitempty"`
	Agents   int      `json:"agents"` // ever registered
	Active   int      `json:"active"`
	Waiting  int      `json:"messages"` // on the scratchpad, not read by everybody yet
	Claims   int      `json:"claims"`
	Handoffs int      `json:"handoffs"` // bundles that nobody has received yet
	Unread   int      `json:"unread"`   // by the caller

	Held   []Held    `json:"held"`             // the claims
	Recent []Message `json:"recent_messages"`  // the newest first, those that are not private
	Work   []Bundle  `json:"waiting_handoffs"` // without diaries
	now    time.Time
}

// Text gives the answer's lines.
func (i Info) Text() string {
	text := fmt.Sprintf("Agent Registry: %s, %d active\n  Scratchpad: %s\n  Claims: %d\n  Handoffs waiting: %d",
		prose.Count(i.Agents, "agent"), i.Active, prose.Count(i.Waiting, "message"), i.Claims, i.Handoffs)
	if i.You != nil {
		text += "\n  You: " + i.You.line(i.now) + ", " + prose.Count(i.Unread, "unread message")
	}
	return text
}

// Info counts what the registry holds and shows who the caller is.
func (s *Store) Info(ctx context.Context, _ NoArgs) (Info, error) {
	var i Info
	s.touchQuietly(ctx)
	err := s.view(ctx, func(p *project, now time.Time) error {
		i = Info{Agents: len(p.agents), Active: len(p.present(now)), Handoffs: len(p.handoffs), now: now}
		waiting := slices.DeleteFunc(p.messages.all(), func(m *message) bool { return m.expired(now) })
		i.Held, i.Recent, i.Work = lease.Shown(p.leases.Holding(now), now), recent(waiting), p.waitingHandoffs()
		i.Waiting, i.Claims = len(waiting), len(i.Held)
		if a, err := s.caller.agent(p); err == nil {
			i.You, i.Unread = new(shown(a)), p.unread(a, now)
		}
		return nil
	})
	return i, err
}

// recent lists the latest messages that everybody may see, the newest first.
func recent(list []*message) []Message {
	list = slices.DeleteFunc(slices.Clone(list), func(m *message) bool { return m.Private })
	list = list[max(0, len(list)-defaultList):]
	slices.Reverse(list)
	return shownMessages(list)
}

// waitingHandoffs lists the handoffs that nobody has received yet, the oldest first.
func (p *project) waitingHandoffs() []Bundle {
	out := []Bundle{}
	for _, h := range p.handoffs.all() {
		b := Bundle{From: h.From, Role: h.Role, To: h.To, Summary: h.Summary, Tasks: h.Tasks, Facts: h.Facts, Files: h.Files, At: h.At}
		for _, c := range h.Claims {
			b.Claims = append(b.Claims, lease.Held{Path: c.Path, AgentID: h.To, Token: c.Token})
		}
		out = append(out, b)
	}
	return out
}

// Revision is another number after each change of the project's agents, messages, claims
// and handoffs. It may also change when the file is read again.
func (s *core) Revision(ctx context.Context) (n uint64, err error) {
	err = s.view(ctx, func(p *project, _ time.Time) error {
		n = p.changed
		return nil
	})
	return n, err
}

// Synced is the result of sync.
type Synced struct {
	You      *Present  `json:"you,omitempty"`
	Agents   []Present `json:"agents"`
	Total    int       `json:"total"`
	Claims   []Held    `json:"claims"`
	Claimed  int       `json:"claims_total"`
	Unread   int       `json:"unread"`
	Shared   int       `json:"shared"` // with the caller, and not pulled yet
	Tasks    []string  `json:"tasks"`  // the caller's open ones
	Free     []string  `json:"free_tasks,omitempty"`
	Handoffs []Bundle  `json:"handoffs,omitempty"`
	Unmarked string    `json:"unmarked,omitempty"` // why the handoffs could not be marked as received; the next call gives them again
	now      time.Time
}

// Sync shows the active agents, the claims, the caller's tasks and its unread count, and
// gives it the work that was handed to it.
func (s *Store) Sync(ctx context.Context, _ NoArgs) (Synced, error) {
	if err := s.Enter(ctx); err != nil {
		return Synced{}, err
	}
	s.touchQuietly(ctx)
	var r Synced
	look := func(p *project, now time.Time) ([]event, error) {
		list := p.present(now)
		claims := p.leases.Holding(now)
		r = Synced{Agents: []Present{}, Total: len(list), Claims: lease.Shown(claims[:min(maxListed, len(claims))], now), Claimed: len(claims), Tasks: []string{}, now: now}
		for _, a := range list[:min(defaultList, len(list))] {
			r.Agents = append(r.Agents, shown(a))
		}
		if s.Self() == "" {
			return nil, nil // the caller is no agent: it only looks
		}
		me, err := s.caller.agent(p)
		if err != nil {
			return nil, err
		}
		reader := p.reader(me, now)
		unread, all := p.messages.unread(reader, now), p.handoffs.waiting(me.ID, me.Type)
		bundles := firstBundles(all)
		given, moved := p.received(me.ID, bundles, now)
		r.You, r.Unread, r.Handoffs = new(shown(me)), len(unread)+len(all)-len(bundles), given
		if len(bundles) == 0 {
			return nil, nil
		}
		return append(moved, p.given(reader, unread, 0, bundles, now)), nil
	}
	unmarked, err := s.receive(ctx, look)
	r.Unmarked = unmarked
	if err == nil && r.You != nil && s.opts.Tasks != nil {
		r.Tasks, err = s.opts.Tasks.OpenTasks(ctx, r.You.AgentID)
	}
	if err == nil && r.You != nil {
		s.waiting(ctx, &r)
	}
	return r, err
}

// waiting adds what waits for the caller in the other stores. If one cannot be read, the
// answer says so and the handoffs are still given.
func (s *core) waiting(ctx context.Context, r *Synced) {
	var err error
	if s.opts.Free != nil {
		if r.Free, err = s.opts.Free(ctx, r.You.AgentID); err != nil {
			s.notices.Add("could not list the tasks you may claim: %v", err)
		}
	}
	if s.opts.Shared != nil {
		if r.Shared, err = s.opts.Shared(ctx, r.You.AgentID); err != nil {
			s.notices.Add("could not list what is shared with you: %v", err)
		}
	}
}

// maxFree is how many free tasks a text names.
const maxFree = 10

// Given is [Messages.Given].
func (r Synced) Given() {}

// Text gives the answer's lines.
func (r Synced) Text() string { return r.TextIn(prose.MCP) }

// TextIn is Text with suggested calls in the caller's syntax.
func (r Synced) TextIn(call prose.Syntax) string {
	lines := []string{"Multi-Agent Sync Status:", fmt.Sprintf("  Active agents: %d", r.Total)}
	for _, a := range r.Agents {
		line := "    " + a.line(r.now)
		if r.You != nil && a.AgentID == r.You.AgentID {
			line += " ← you"
		}
		lines = append(lines, line)
	}
	if more := r.Total - len(r.Agents); more > 0 {
		lines = append(lines, fmt.Sprintf("    … %d more", more))
	}
	lines = append(lines, fmt.Sprintf("  Claims: %d", r.Claimed))
	for _, c := range r.Claims {
		lines = append(lines, "    "+c.Line())
	}
	if more := r.Claimed - len(r.Claims); more > 0 {
		lines = append(lines, fmt.Sprintf("    … %d more", more))
	}
	if r.You != nil {
		tasks := fmt.Sprintf("  Your open tasks: %d", len(r.Tasks))
		if len(r.Tasks) > 0 {
			tasks += " (" + joined(r.Tasks) + ")"
		}
		lines = append(lines, tasks)
		if n := len(r.Free); n > 0 {
			lines = append(lines, fmt.Sprintf("  Tasks you may claim: %d (%s)", n, strings.Join(r.Free[:min(n, maxFree)], ", ")))
		}
		lines = append(lines, fmt.Sprintf("  Unread messages: %d", r.Unread))
	}
	if r.Shared > 0 {
		lines = append(lines, fmt.Sprintf("  Shared with you: %d (%s)", r.Shared, call("ctx_share pull")))
	}
	for _, b := range r.Handoffs {
		lines = append(lines, b.lines(r.now)...)
	}
	if r.Unmarked != "" {
		lines = append(lines, unmarkedLine(r.Unmarked))
	}
	return strings.Join(lines, "\n")
}
