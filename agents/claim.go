package agents

import (
	"context"
	"fmt"
	"strings"
	"time"

	"leanctx/agents/arg"
	"leanctx/agents/lease"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

type (
	HeldError = lease.HeldError // another agent has a claim
	Held      = lease.Held      // a claim as lists show it
)

// held is the error that a lease stands in the way of who wants a path.
func (p *project) held(path string, l *lease.Lease, m moment) error {
	holder := l.Holder
	if a := p.agents[holder]; a != nil {
		holder = a.name()
	}
	return &HeldError{Path: path, Claim: l.Path, Holder: holder, Token: l.Token, Left: l.Until().Sub(m.now)}
}

// claim decides whether the caller may have a path, and what to commit then.
func (p *project) claim(w lease.Wanted, m moment) (*lease.Lease, []event, error) {
	w.Fence = p.fence
	d := p.leases.Decide(w, m.now)
	if d.InWay != nil {
		return nil, nil, p.held(w.Path, d.InWay, m)
	}
	var events []event
	for _, path := range d.Swept {
		events = append(events, event{Release: path})
	}
	return d.Given, append(events, event{By: w.By, Claim: d.Given}), nil
}

// Wish is a file or directory that an agent wants to work on alone.
type Wish struct {
	Path string `json:"path" arg:"1" jsonschema:"a file or directory of the project"`
	TTL  string `json:"ttl,omitempty" jsonschema:"how long, e.g. 30m or 1h30m (default 10m, at most 1d); claim again to renew"`
}

// Claimed is a lease that was given.
type Claimed struct {
	Path    string    `json:"path"`
	AgentID string    `json:"agent_id"`
	Token   uint64    `json:"token"` // fencing token: larger than that of every lease before it
	Until   time.Time `json:"until"`
	Renewed bool      `json:"renewed"`
	ttl     time.Duration
}

// Text gives the answer's line.
func (c Claimed) Text() string {
	verb := "Claimed"
	if c.Renewed {
		verb = "Renewed"
	}
	return fmt.Sprintf("%s: %s (by %s for %s, token %d)", verb, prose.Line(c.Path), c.AgentID, prose.Span(c.ttl), c.Token)
}

// place is a path within the project.
func (s *Store) place(path string) (string, error) {
	path, err := arg.Path(s.opts.ProjectRoot, path)
	if err == nil {
		err = s.plain("path", path)
	}
	return path, err
}

// Claim gives the caller a path for a while, or prolongs what it has. It is
// refused with a [*HeldError] while another agent has the path, a directory it
// is in, or something in it.
func (s *Store) Claim(ctx context.Context, w Wish) (Claimed, error) {
	path, err := s.place(w.Path)
	if err != nil {
		return Claimed{}, err
	}
	var ttl time.Duration
	if strings.TrimSpace(w.TTL) != "" {
		if ttl, err = arg.Duration("ttl", w.TTL, arg.Bounds{Least: lease.Least, Most: lease.Most}); err != nil {
			return Claimed{}, err
		}
	}
	if err := s.begin(ctx); err != nil {
		return Claimed{}, err
	}
	var c Claimed
	err = s.update(ctx, func(p *project, m moment) ([]event, error) {
		me, err := s.self(p)
		if err != nil {
			return nil, err
		}
		l, events, err := p.claim(lease.Wanted{Path: path, By: me.ID, TTL: ttl}, m)
		if err == nil {
			c = Claimed{Path: l.Path, AgentID: me.ID, Token: l.Token, Until: l.Until(), Renewed: l.Token <= p.fence, ttl: l.Until().Sub(m.now)}
		}
		return append(p.back(me), events...), err
	})
	return c, err
}

// Return names a path that is free again.
type Return struct {
	Path string `json:"path" arg:"1" jsonschema:"the file or directory that you claimed"`
}

// Released is a claim that ended.
type Released struct {
	Path    string `json:"path"`
	AgentID string `json:"agent_id"`
}

// Text gives the answer's line.
func (r Released) Text() string { return "Released: " + prose.Line(r.Path) }

// Release ends a claim of the caller's.
func (s *Store) Release(ctx context.Context, a Return) (Released, error) {
	path, err := s.place(a.Path)
	if err != nil {
		return Released{}, err
	}
	if err := s.begin(ctx); err != nil {
		return Released{}, err
	}
	var r Released
	err = s.update(ctx, func(p *project, m moment) ([]event, error) {
		me, err := s.self(p)
		if err != nil {
			return nil, err
		}
		l := p.leases[lease.Key(path)]
		switch {
		case l != nil && l.Holder != me.ID && !l.Expired(m.now):
			return nil, p.held(path, l, m)
		case l == nil || l.Holder != me.ID:
			return nil, refusal.NotFound("No claim found: %s", prose.Line(path))
		}
		r = Released{l.Path, me.ID}
		return []event{{By: me.ID, Release: l.Path}}, nil
	})
	return r, err
}
