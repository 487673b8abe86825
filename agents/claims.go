package agents

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leanctx/agents/lease"
	"leanctx/internal/args"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

type (
	// HeldError is [lease.HeldError]: another agent has a claim on the path.
	HeldError = lease.HeldError
	// Held is [lease.Held]: a claim in a list.
	Held = lease.Held
)

// held is the error for a path that another agent's lease covers.
func (p *project) held(path string, l *lease.Lease, now time.Time) error {
	holder := l.Holder
	if a := p.agents[holder]; a != nil {
		holder = a.name()
	}
	return &HeldError{Path: path, Claim: l.Path, Holder: holder, Token: l.Token, Left: l.Until().Sub(now)}
}

// claim decides whether the caller may have a path, and returns the events to commit.
func (p *project) claim(w lease.Wanted, now time.Time) (*lease.Lease, []event, error) {
	w.Fence = p.fence
	d := p.leases.Decide(w, now)
	if d.Blocking != nil {
		return nil, nil, p.held(w.Path, d.Blocking, now)
	}
	var events []event
	for _, path := range d.Expired {
		events = append(events, event{Release: path})
	}
	return d.Granted, append(events, event{By: w.By, Claim: d.Granted}), nil
}

// ClaimArgs is the arguments of claim: a file or directory that an agent wants to work on
// alone.
type ClaimArgs struct {
	Path string `json:"path" arg:"1" jsonschema:"a file or directory of the project"`
	TTL  string `json:"ttl,omitempty" jsonschema:"how long, e.g. 30m or 1h30m (default 10m, at most 1d); claim again to renew"`
}

// Claimed is the result of claim.
type Claimed struct {
	Path    string    `json:"path"`
	AgentID string    `json:"agent_id"`
	Token   uint64    `json:"token"` // fencing token: larger than that of every lease before it
	Until   time.Time `json:"until"`
	Renewed bool      `json:"renewed"`
	ttl     time.Duration
	dir     bool // the path is a directory
}

// Text gives the answer's line.
func (c Claimed) Text() string {
	verb := "Claimed"
	if c.Renewed {
		verb = "Renewed"
	}
	within := ""
	if c.dir {
		within = " and all that is in it"
	}
	return fmt.Sprintf("%s: %s%s (by %s for %s, token %d)", verb, prose.Line(c.Path), within, c.AgentID, prose.Duration(c.ttl), c.Token)
}

// claimPath is a path relative to the project. It looks for secrets in the path as it was
// given, because cleaning removes slashes and would hide a password in a URL.
func (s *core) claimPath(given string) (path string, err error) {
	if err := s.texts.withoutSecret("path", given); err != nil {
		return "", err
	}
	if given = strings.TrimSpace(given); given == "" {
		return "", refusal.Missing("path", "")
	}
	if path, err = args.Path(s.opts.ProjectRoot, given); err != nil {
		return "", refusal.Argument("path", "path %q %v", prose.Clip(given, maxWord), err)
	}
	return path, s.texts.withoutSecret("path", path)
}

// onePath refuses a pattern and a list: a claim on one would be granted and protect nothing.
func onePath(path string) error {
	if i := strings.IndexAny(path, "*?"); i >= 0 || hasAlternatives(path) {
		if i < 0 {
			i = strings.IndexByte(path, '{')
		}
		dir := "."
		if end := strings.LastIndexByte(path[:i], '/'); end > 0 {
			dir = path[:end]
		}
		return refusal.Argument("path", "path %q is a pattern, and a claim is on one file or one directory: claim %q, which covers all that is in it", prose.Clip(path, maxWord), prose.Clip(dir, maxWord))
	}
	if strings.ContainsAny(path, ",;\n") || isListOfFiles(path) {
		return refusal.Argument("path", "path %q is a list, and a claim is on one file or one directory: claim each of them in a call of its own", prose.Clip(path, maxWord))
	}
	return nil
}

// isListOfFiles reports whether a path is several with blanks between them, each with an ending: the name of one file may have blanks, as in docs/my plan.md.
func isListOfFiles(text string) bool {
	all := strings.Fields(text)
	return len(all) > 1 && !slices.ContainsFunc(all, func(x string) bool { return filepath.Ext(x) == "" })
}

// hasAlternatives reports whether a path has alternatives as a shell writes them: {a,b}.
func hasAlternatives(path string) bool {
	_, rest, opened := strings.Cut(path, "{")
	inner, _, closed := strings.Cut(rest, "}")
	return opened && closed && strings.Contains(inner, ",")
}

// Covers reports whether a claim on a path covers a file: the same, or one in that directory.
func Covers(claim, file string) bool { return lease.Covers(claim, file) }

// Everybody is told of claims, so an agent holds so many at most, on paths of so many bytes.
const (
	maxClaims    = 100
	maxClaimPath = 500
)

// Claim gives the caller a path for a while, or renews its claim. It fails with a
// [*HeldError] while another agent holds the path, a directory above it, or something in
// it.
func (s *Store) Claim(ctx context.Context, w ClaimArgs) (Claimed, error) {
	path, err := s.claimPath(w.Path)
	if err != nil {
		return Claimed{}, err
	}
	if len(path) > maxClaimPath {
		return Claimed{}, refusal.Argument("path", "path has %d bytes, more than %d", len(path), maxClaimPath)
	}
	info, err := os.Stat(filepath.Join(s.opts.ProjectRoot, filepath.FromSlash(path)))
	if err != nil { // no file has that name
		if err := onePath(path); err != nil {
			return Claimed{}, err
		}
	}
	dir := err == nil && info.IsDir()
	var ttl time.Duration
	if strings.TrimSpace(w.TTL) != "" {
		if ttl, err = readDuration("ttl", w.TTL, lease.MinTTL, lease.MaxTTL); err != nil {
			return Claimed{}, err
		}
	}
	if err := s.Enter(ctx); err != nil {
		return Claimed{}, err
	}
	var c Claimed
	err = s.update(ctx, func(p *project, now time.Time) ([]event, error) {
		me, err := s.caller.agent(p)
		if err != nil {
			return nil, err
		}
		if mine := p.leases[lease.Key(path)]; (mine == nil || mine.Holder != me.ID) && p.leases.Count(me.ID, now) >= maxClaims {
			return nil, refusal.Argument("path", "you hold %d claims: release some, or claim a directory, which covers all that is in it", maxClaims)
		}
		l, events, err := p.claim(lease.Wanted{Path: path, By: me.ID, TTL: ttl}, now)
		if err == nil {
			c = Claimed{Path: l.Path, AgentID: me.ID, Token: l.Token, Until: l.Until(), Renewed: l.Token <= p.fence, ttl: l.Until().Sub(now), dir: dir}
		}
		return append(p.back(me), events...), err
	})
	return c, err
}

// ReleaseArgs is the arguments of release.
type ReleaseArgs struct {
	Path string `json:"path" arg:"1" jsonschema:"the file or directory that you claimed"`
}

// Released is the result of release.
type Released struct {
	Path    string `json:"path"`
	AgentID string `json:"agent_id"`
}

// Text gives the answer's line.
func (r Released) Text() string { return "Released: " + prose.Line(r.Path) }

// Release ends one of the caller's claims.
func (s *Store) Release(ctx context.Context, a ReleaseArgs) (Released, error) {
	path, err := s.claimPath(a.Path)
	if err != nil {
		return Released{}, err
	}
	var r Released
	err = s.update(ctx, func(p *project, now time.Time) ([]event, error) {
		me, err := s.caller.agent(p)
		if err != nil {
			return nil, err
		}
		l := p.leases[lease.Key(path)]
		switch {
		case l != nil && l.Holder != me.ID && !l.Expired(now):
			return nil, p.held(path, l, now)
		case l == nil || l.Holder != me.ID:
			return nil, refusal.NotFound("No claim found: %s", prose.Line(path))
		}
		r = Released{l.Path, me.ID}
		return []event{{By: me.ID, Release: l.Path}}, nil
	})
	return r, err
}
