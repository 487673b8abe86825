package agents

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"leanctx/agents/lease"
)

// Copied is what [Store.CopyTo] added.
type Copied struct {
	Agents, Messages, Handoffs int
	Held                       []string // claimed paths that somebody has in the other store
}

// CopyTo adds to another store what is open in the project: its agents with their diaries,
// their claims, the messages that somebody has not read, and the handoffs that nobody has
// received. Of messages and handoffs it takes those after an instant. A second call adds
// nothing more.
func (s *core) CopyTo(ctx context.Context, to *Store, since time.Time) (Copied, error) {
	var p *project
	_, err := s.log.Update(ctx, func(st *state, _ time.Time) ([]event, error) { // a write that has begun ends first
		p = st.clone().project(s.opts.ProjectHash)
		return nil, nil
	})
	if err != nil {
		return Copied{}, err
	}
	var c *copying
	err = to.updateAll(ctx, func(st *state, now time.Time) ([]event, error) {
		c = &copying{from: p, to: st.project(to.opts.ProjectHash), since: since, now: now, machine: to.opts.Machine}
		return c.decide(), nil
	})
	if err != nil {
		return Copied{}, err
	}
	for id := range p.agents {
		if err := s.diaries.CopyTo(ctx, id, to.diaries); err != nil {
			return Copied{}, err
		}
	}
	return c.added, nil
}

// copying is one decision of [Store.CopyTo].
type copying struct {
	from, to *project
	since    time.Time
	now      time.Time
	machine  string

	added  Copied
	events []event
}

// decide posts the messages before it puts the agents. So no agent's position moves by them.
func (c *copying) decide() []event {
	numbers := c.messages()
	c.agents(numbers)
	c.handoffs(c.claims())
	return c.events
}

// messages returns the new numbers of the messages by their old ones.
func (c *copying) messages() map[uint64]uint64 {
	unread := map[uint64]bool{}
	for _, a := range c.from.agents {
		for _, m := range c.from.messages.unread(c.from.reader(a, c.now), c.now) {
			unread[m.Number] = true
		}
	}
	type sent struct {
		from string
		at   int64
	}
	there := map[sent]bool{}
	for _, m := range c.to.messages.all() {
		there[sent{m.From, m.At.UnixNano()}] = true
	}
	numbers, last := map[uint64]uint64{}, c.to.messages.last
	for _, m := range c.from.messages.all() {
		if m.expired(c.now) || m.toAll() && !unread[m.Number] || !m.At.After(c.since) || there[sent{m.From, m.At.UnixNano()}] {
			continue
		}
		last++
		x := *m
		x.Number, numbers[m.Number] = last, last
		c.events = append(c.events, event{Post: &x})
		c.added.Messages++
	}
	return numbers
}

// agents puts the agents that are not there. Each has read what a new agent does not see, and
// what it had read before.
func (c *copying) agents(numbers map[uint64]uint64) {
	for _, id := range slices.Sorted(maps.Keys(c.from.agents)) {
		if c.to.agents[id] != nil {
			continue
		}
		a := *c.from.agents[id]
		at := c.from.reader(&a, c.now).at
		a.position, a.Machine = position{Cursor: c.to.messages.newsCursor(c.now)}, c.machine
		for _, m := range c.from.messages.broadcasts() {
			if n := numbers[m.Number]; n > 0 && (m.From == id || at.read(m.Number)) {
				a.Ahead = append(a.Ahead, n)
			}
		}
		c.events = append(c.events, event{Agent: &a})
		c.added.Agents++
	}
}

// claims returns the new tokens of the claims by their paths. Who comes first keeps its tokens. Later
// machines get new ones, and no path that somebody has.
func (c *copying) claims() map[string]uint64 {
	tokens, fence := map[string]uint64{}, c.to.fence
	for _, path := range slices.Sorted(maps.Keys(c.from.leases)) {
		l := *c.from.leases[path]
		there := c.to.leases[path]
		switch {
		case c.to.fence == 0:
		case l.Expired(c.now) || there != nil && there.Holder == l.Holder && !there.Expired(c.now):
			continue
		case c.to.leases.Decide(lease.Wanted{Path: l.Path, By: l.Holder}, c.now).Blocking != nil:
			c.added.Held = append(c.added.Held, l.Path)
			continue
		default:
			fence++
			l.Token = fence
		}
		tokens[l.Path] = l.Token
		c.events = append(c.events, event{Claim: &l})
	}
	return tokens
}

func (c *copying) handoffs(tokens map[string]uint64) {
	there := c.to.handoffs.all()
	number := c.to.handed
	for _, h := range c.from.handoffs.all() {
		if !h.At.After(c.since) || slices.ContainsFunc(there, func(x *handoffRecord) bool { return x.From == h.From && x.At.Equal(h.At) }) {
			continue
		}
		number++
		x := *h
		x.Number, x.ID, x.Claims = number, fmt.Sprintf("h-%d", number), slices.Clone(h.Claims)
		for i, moved := range x.Claims {
			x.Claims[i].Token = cmp.Or(tokens[moved.Path], moved.Token)
		}
		c.events = append(c.events, event{Handoff: &x})
		c.added.Handoffs++
	}
}
