package agents

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// lease is a claim on a path. It ends by itself.
type lease struct {
	Path    string    `json:"path"` // within the project, with slashes
	Holder  string    `json:"agent_id"`
	Token   uint64    `json:"token"`       // larger than that of every lease before it
	Since   time.Time `json:"claimed_at"`  // by the holder's clock
	Seconds int64     `json:"ttl_seconds"` // how long it holds
}

const (
	standardLease = 10 * time.Minute
	minLease      = time.Second
	maxLease      = 24 * time.Hour
	sweepAfter    = 1000 // an expired lease is kept until so many were given after it
	maxSwept      = 32   // and a claim clears so many away
)

func (l *lease) key() string { return leaseKey(l.Path) }

// until is when a lease ends, by the clock.
func (l *lease) until() time.Time { return l.Since.Add(time.Duration(l.Seconds) * time.Second) }

// expired tells whether a lease has ended for one whose clock says now. It
// compares clocks and not recorded times: a process whose clock is a year ahead
// moves the recorded time of the whole registry by a year, and must not end
// everybody's claims by that, nor keep later ones from ending. A claim of
// a clock that is further ahead than any lease can last is void.
func (l *lease) expired(clock time.Time) bool {
	return !clock.Before(l.until()) || l.Since.Sub(clock) > maxLease
}

// renewed is how many seconds a lease has when it is given anew and nobody says
// for how long: the usual time, and never less than is left of it.
func (l *lease) renewed(clock time.Time) int64 {
	left := min(l.until().Sub(clock), maxLease) + time.Second - 1
	return int64(max(left, standardLease) / time.Second)
}

// claims lists the leases that hold, by path.
func (p *project) claims(clock time.Time) []*lease {
	var out []*lease
	for _, l := range p.leases {
		if !l.expired(clock) {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b *lease) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// claimsOf lists an agent's leases by path, expired or not.
func (p *project) claimsOf(id string) []*lease {
	var out []*lease
	for _, path := range slices.Sorted(maps.Keys(p.leases)) {
		if l := p.leases[path]; l.Holder == id {
			out = append(out, l)
		}
	}
	return out
}

// covers tells whether a claim on one path is a claim on the other: a
// directory stands for all that is in it.
func covers(dir, path string) bool {
	return dir == "." || dir == path || strings.HasPrefix(path, dir+"/")
}

// HeldError says that another agent has a claim.
type HeldError struct {
	Path   string        // what was asked for
	Claim  string        // what is claimed: the same, or a directory that one is in the other of
	Holder string        // its id, with its role
	Token  uint64        // of its lease
	Left   time.Duration // until it ends, unless it is renewed
}

func (e *HeldError) Error() string {
	what := prose.Line(e.Path)
	if e.Claim != e.Path {
		what += fmt.Sprintf(" overlaps %s, which", prose.Line(e.Claim))
	}
	return fmt.Sprintf("%s is claimed by %s for another %s: ask its holder, or wait", what, e.Holder, left(e.Left))
}

// wanted is what a claim asks for.
type wanted struct {
	path string
	ttl  time.Duration // 0: standardLease, or what is left of the caller's own if that is more
}

// decideClaim is the policy of claims: what to commit, or who stands in the way.
func (p *project) decideClaim(me *agent, w wanted, m moment) (*lease, []event, error) {
	key := leaseKey(w.path)
	var other *lease
	var old []event
	for k, l := range p.leases {
		switch {
		case l.expired(m.now):
			// Not at once: the clock that says so may be the wrong one.
			if k != key && l.Token+sweepAfter < p.fence && len(old) < maxSwept {
				old = append(old, event{Release: l.Path})
			}
		case l.Holder != me.ID && (covers(k, key) || covers(key, k)):
			if other == nil || l.Path < other.Path {
				other = l
			}
		}
	}
	if other != nil {
		return nil, nil, p.held(w.path, other, m)
	}
	l := &lease{Path: w.path, Holder: me.ID, Token: p.fence + 1, Since: m.now, Seconds: int64(cmp.Or(w.ttl, standardLease) / time.Second)}
	if mine := p.leases[key]; mine != nil && mine.Holder == me.ID && !mine.expired(m.now) {
		l.Path, l.Token = mine.Path, mine.Token // renewed: nobody else had it in between
		if w.ttl == 0 {
			l.Seconds = mine.renewed(m.now)
		}
	}
	return l, append(old, event{By: me.ID, Claim: l}), nil
}

func (p *project) held(path string, l *lease, m moment) error {
	holder := l.Holder
	if a := p.agents[holder]; a != nil {
		holder = a.name()
	}
	return &HeldError{path, l.Path, holder, l.Token, l.until().Sub(m.now)}
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
		if ttl, err = duration("ttl", w.TTL, bounds{minLease, maxLease}); err != nil {
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
		l, events, err := p.decideClaim(me, wanted{path, ttl}, m)
		if err == nil {
			c = Claimed{Path: l.Path, AgentID: me.ID, Token: l.Token, Until: l.until(), Renewed: l.Token <= p.fence, ttl: l.until().Sub(m.now)}
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
		l := p.leases[leaseKey(path)]
		switch {
		case l != nil && l.Holder != me.ID && !l.expired(m.now):
			return nil, p.held(path, l, m)
		case l == nil || l.Holder != me.ID:
			return nil, refusal.NotFound("No claim found: %s", prose.Line(path))
		}
		r = Released{l.Path, me.ID}
		return []event{{By: me.ID, Release: l.Path}}, nil
	})
	return r, err
}
