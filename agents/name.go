package agents

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
)

// nameHex is how many digits the name of a session has. A project has a few thousand sessions.
const nameHex = 6

// SessionName is the id of the agent that a session of a client is in a project, until it registers as another one.
func SessionName(client, session, project string) string {
	if session == "" {
		return ""
	}
	kind := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, prose.Clip(client, maxType)), "-.")
	h := sha256.Sum256([]byte(project + "\x00" + kind + "\x00" + session))
	return cmp.Or(kind, "agent") + "-" + hex.EncodeToString(h[:])[:nameHex]
}

// Enter makes a caller that has not registered the agent that its session is named after, so that it can claim, write and
// be written to. A caller without a session's name stays nobody.
func (s *Store) Enter(ctx context.Context) error {
	if s.caller.Name == "" || s.caller.Agent != "" {
		return nil
	}
	if me := s.caller.id(); me != "" {
		return s.rename(ctx, me)
	}
	id, known := s.caller.Name, false
	if err := s.view(ctx, func(p *project, _ time.Time) error {
		if a := p.named(id); a != nil { // a session that continues may have registered as another one
			id, known = a.ID, true
		}
		return nil
	}); err != nil {
		return err
	}
	r := Registered{AgentType: KindOf(id)}
	commit := s.create
	if known {
		commit = s.resume
	}
	err := commit(ctx, id, &r)
	if err == nil {
		err = s.live.Join(id, s.caller.Session)
	}
	if err == nil {
		s.live.Registered(s.caller.Session, id)
	}
	return err
}

// rename records the name of the caller's session with its agent, where the session became known later than the agent, or is
// another one since.
func (s *Store) rename(ctx context.Context, id string) error {
	lacks := func(p *project) bool {
		a := p.agents[id]
		return a != nil && id != s.caller.Name && !slices.Contains(a.Aliases, s.caller.Name) && p.named(s.caller.Name) == nil
	}
	due := false
	err := s.view(ctx, func(p *project, _ time.Time) error {
		due = lacks(p)
		return nil
	})
	if err != nil || !due {
		return err
	}
	return s.update(ctx, func(p *project, _ time.Time) ([]event, error) {
		if !lacks(p) {
			return nil, nil
		}
		a := *p.agents[id]
		a.Aliases = withAlias(a.Aliases, id, s.caller.Name)
		return []event{{By: id, Agent: &a}}, nil
	})
}

// session is the agent that the caller's session is without registering: the one that it has entered as, or would.
func (c caller) session(p *project) string {
	if a := p.agents[c.live.Agent(c.Session)]; a != nil && a.Role == "" && c.Name != "" {
		return a.ID
	}
	return c.Name
}

// named finds an agent by its id, or by the name that its session had before it registered.
func (p *project) named(id string) *agent {
	a := p.agents[id]
	if a != nil && a.Status != statusFinished {
		return a
	}
	for _, x := range p.agents {
		if slices.Contains(x.Aliases, id) {
			return x
		}
	}
	return a
}

// maxAliases is how many sessions' names an agent keeps: the last ones.
const maxAliases = 8

// withAlias is the aliases of an agent with one more.
func withAlias(list []string, id, alias string) []string {
	if alias == "" || alias == id || slices.Contains(list, alias) {
		return list
	}
	list = append(slices.Clone(list), alias)
	return list[max(0, len(list)-maxAliases):]
}

// absorb lets an agent take the place of the one that its session was before it registered: it gets its claims. One that has a role is an
// agent of its own.
func (p *project) absorb(alias, id string, now time.Time) (events []event) {
	old := p.agents[alias]
	if old == nil || alias == id || old.Role != "" || old.Status == statusFinished {
		return nil
	}
	token := p.fence
	for _, l := range p.leases.Of(alias) {
		if !l.Expired(now) {
			token++
			events = append(events, event{Claim: l.HandedTo(id, token, now)})
		}
	}
	x := *old
	x.Status, x.Message, x.HandedTo = statusFinished, "", id
	return append(events, event{Agent: &x})
}
