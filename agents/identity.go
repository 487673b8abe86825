package agents

import (
	"context"
	"errors"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// Self is the id of the caller: the one it gave, else the one that its
// connection registered last; empty if there is neither. It may be an id that
// nobody registered.
func (s *Store) Self() string {
	if id := strings.ToLower(strings.TrimSpace(s.actor.Agent)); id != "" {
		return id
	}
	return s.live.Agent(s.actor.Session)
}

// self is the caller's agent.
func (s *Store) self(p *project) (*agent, error) {
	id := s.Self()
	if id == "" {
		return nil, refusal.Argument("agent", "needs agent: the id that register gave; register first")
	}
	if a := p.agents[id]; a != nil {
		return a, nil
	}
	a, err := p.only(id)
	if _, unknown := errors.AsType[*NotFoundError](err); unknown {
		err = refusal.NotFound("No agent found: %s (register gives an id)", prose.Line(prose.Clip(id, maxWord)))
	}
	return a, err
}

// only is the one agent that a name means: an id, the beginning of one, or a
// type of which there is just one agent, or just one that is here.
func (p *project) only(name string) (*agent, error) {
	to, err := p.resolve("agent", name)
	if err != nil || to.agent != nil {
		return to.agent, err
	}
	list := p.ofType(to.kind)
	var ids []string
	for _, a := range list {
		if a.Status != statusFinished {
			ids = append(ids, a.ID)
		}
	}
	switch {
	case len(ids) == 1:
		return p.agents[ids[0]], nil
	case len(list) == 1:
		return list[0], nil
	case len(ids) == 0:
		return nil, refusal.NotFound("No agent found: every %s has finished", to.kind)
	}
	return nil, refusal.Argument("agent", "agent %q may be %s: give the id", to.kind, alternatives(ids))
}

// Named is the id of the one agent that a name means: an id, the beginning of
// one (three characters or more), or a type of which there is just one agent. The error
// is a [*NotFoundError], or an [*ArgumentError] that names those it may be.
func (s *Store) Named(ctx context.Context, name string) (id string, err error) {
	err = s.view(ctx, func(p *project, _ moment) error {
		a, err := p.only(name)
		if err == nil {
			id = a.ID
		}
		return err
	})
	return id, err
}

// touchAfter is how old an agent's last activity is when a call that changes
// nothing else writes it down.
const touchAfter = 5 * time.Minute

// Touch notes that the caller is at work, if it is an agent. It writes once in
// five minutes at most, and so costs nearly nothing. A server also takes
// a liveness lock of the agent, lest somebody else resume an agent that goes on
// after the server was started anew, or after its other server ended.
func (s *Store) Touch(ctx context.Context) error {
	var x sign
	err := s.view(ctx, func(p *project, m moment) error {
		x = s.sign(p, m)
		return nil
	})
	if err != nil {
		return err
	}
	return s.touch(ctx, x)
}

// sign is what is to be noted of a caller.
type sign struct {
	id  string // empty: nothing, it is no agent or has finished
	old bool   // its last activity is
}

func (s *Store) sign(p *project, m moment) sign {
	a, err := s.self(p)
	if err != nil || a.Status == statusFinished {
		return sign{}
	}
	return sign{a.ID, m.now.Sub(a.Active) >= touchAfter}
}

func (s *Store) touch(ctx context.Context, x sign) error {
	if x.id != "" && s.opts.LongLived {
		if err := s.live.Join(x.id, s.actor.Session); err != nil {
			return err
		}
	}
	if !x.old {
		return nil
	}
	return s.update(ctx, func(p *project, _ moment) ([]event, error) {
		if p.agents[x.id] == nil {
			return nil, nil
		}
		return []event{{By: x.id}}, nil
	})
}

// alive is Touch for those who have something else to do: a sign of life that
// cannot be written must not keep them from it.
func (s *Store) alive(ctx context.Context) { s.noted(s.Touch(ctx)) }

func (s *Store) noted(err error) {
	if err != nil {
		s.opts.Logger.Debug("a sign of life was not written", "agent", s.Self(), "error", err)
	}
}

// Leave says that a connection has ended: the agents it registered may be
// resumed by others. A process that ends need not call it.
func (s *Store) Leave(session string) error { return s.live.End(session) }

// Resolve finds whom a name means: an id, the beginning of exactly one id
// (three characters or more), or a type of which somebody is registered. A
// type is returned as it is: any one agent of it may take what goes there.
// The error is a [*NotFoundError], or an [*ArgumentError] that names the ids a
// beginning may stand for.
func (s *Store) Resolve(ctx context.Context, name string) (id, note string, err error) {
	err = s.view(ctx, func(p *project, _ moment) error {
		to, err := p.resolve("to_agent", name)
		if err != nil {
			return err
		}
		if id = to.kind; to.agent != nil {
			id = to.agent.ID
		}
		return nil
	})
	return id, note, err
}

// Silent tells whether an agent, or everybody of a type, has finished or done
// nothing for 24 hours, and since when.
func (s *Store) Silent(ctx context.Context, id string) (since time.Time, silent bool, err error) {
	err = s.view(ctx, func(p *project, m moment) error {
		to, err := p.resolve("agent_id", id)
		if err != nil {
			return err
		}
		list := p.ofType(to.kind)
		if to.agent != nil {
			list = []*agent{to.agent}
		}
		silent = true
		for _, a := range list {
			silent = silent && !a.present(m.now)
			if a.Active.After(since) {
				since = a.Active
			}
		}
		return nil
	})
	return since, silent, err
}
