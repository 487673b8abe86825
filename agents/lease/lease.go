// Package lease has the rules of claims: what a lease is, when it ends, and who
// may have a path that somebody has. It is values and pure functions; the
// fencing tokens and the leases themselves are the package agents' to keep.
//
// # Clocks
//
// We compare clocks and not recorded times: a process whose clock is a year
// ahead moves the recorded time of the whole registry by a year, and must not
// end everybody's claims by that, nor keep later ones from ending. A claim of a
// clock that is further ahead than any lease can last is void.
package lease

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
)

// How long a lease is given for.
const (
	Standard = 10 * time.Minute
	Least    = time.Second
	Most     = 24 * time.Hour
)

const (
	sweepAfter = 1000 // an expired lease is kept until so many were given after it
	maxSwept   = 32   // and a claim clears so many away
)

// Lease is a claim on a path, as it is stored. It ends by itself.
type Lease struct {
	Path    string    `json:"path"` // within the project, with slashes
	Holder  string    `json:"agent_id"`
	Token   uint64    `json:"token"`       // larger than that of every lease before it
	Since   time.Time `json:"claimed_at"`  // by the holder's clock
	Seconds int64     `json:"ttl_seconds"` // how long it holds
}

// Until is when a lease ends, by the clock.
func (l *Lease) Until() time.Time { return l.Since.Add(l.TTL()) }

// TTL is how long a lease holds.
func (l *Lease) TTL() time.Duration { return time.Duration(l.Seconds) * time.Second }

// Expired tells whether a lease has ended for one whose clock says now.
func (l *Lease) Expired(clock time.Time) bool {
	return !clock.Before(l.Until()) || l.Since.Sub(clock) > Most
}

// HandedTo is a lease that another agent has from now on, with a token of its
// own. Its receiver has not seen it yet, so it has time to.
func (l *Lease) HandedTo(agent string, token uint64, clock time.Time) *Lease {
	return &Lease{Path: l.Path, Holder: agent, Token: token, Since: clock, Seconds: l.renewed(clock)}
}

// renewed is how many seconds a lease has when it is given anew and nobody says
// for how long: the usual time, and never less than is left of it.
func (l *Lease) renewed(clock time.Time) int64 {
	left := min(l.Until().Sub(clock), Most) + time.Second - 1
	return int64(max(left, Standard) / time.Second)
}

// Key is how paths are compared: as the file system does where that pays no
// heed to case.
func Key(path string) string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.ToLower(path)
	}
	return path
}

// covers tells whether a claim on one path is a claim on the other: a
// directory stands for all that is in it.
func covers(dir, path string) bool {
	return dir == "." || dir == path || strings.HasPrefix(path, dir+"/")
}

// Set is the leases of a project, by the keys of their paths.
type Set map[string]*Lease

// Put adds a lease, or takes the place of the one on its path.
func (s Set) Put(l *Lease) { s[Key(l.Path)] = l }

// Holding lists the leases that hold, by path.
func (s Set) Holding(clock time.Time) []*Lease {
	var out []*Lease
	for _, l := range s {
		if !l.Expired(clock) {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b *Lease) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// Of lists an agent's leases by path, expired or not.
func (s Set) Of(agent string) []*Lease {
	var out []*Lease
	for _, path := range slices.Sorted(maps.Keys(s)) {
		if l := s[path]; l.Holder == agent {
			out = append(out, l)
		}
	}
	return out
}

// Wanted is what a claim asks for.
type Wanted struct {
	Path  string // with slashes
	By    string
	TTL   time.Duration // 0: Standard, or what is left of the caller's own if that is more
	Fence uint64        // the last token that was given
}

// Decision is what is to become of a claim.
type Decision struct {
	Given *Lease   // nil if it is refused
	InWay *Lease   // of another agent, on the path, a directory it is in, or something in it
	Swept []string // paths of leases that ended long ago
}

// Decide is the policy of claims.
func (s Set) Decide(w Wanted, clock time.Time) (d Decision) {
	key := Key(w.Path)
	for k, l := range s {
		switch {
		case l.Expired(clock):
			// Not at once: the clock that says so may be the wrong one.
			if k != key && l.Token+sweepAfter < w.Fence && len(d.Swept) < maxSwept {
				d.Swept = append(d.Swept, l.Path)
			}
		case l.Holder != w.By && (covers(k, key) || covers(key, k)):
			if d.InWay == nil || l.Path < d.InWay.Path {
				d.InWay = l
			}
		}
	}
	if d.InWay != nil {
		return Decision{InWay: d.InWay}
	}
	l := &Lease{Path: w.Path, Holder: w.By, Token: w.Fence + 1, Since: clock, Seconds: int64(cmp.Or(w.TTL, Standard) / time.Second)}
	if mine := s[key]; mine != nil && mine.Holder == w.By && !mine.Expired(clock) {
		l.Path, l.Token = mine.Path, mine.Token // renewed: nobody else had it in between
		if w.TTL == 0 {
			l.Seconds = mine.renewed(clock)
		}
	}
	d.Given = l
	return d
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
	return fmt.Sprintf("%s is claimed by %s for another %s: ask its holder, or wait", what, e.Holder, prose.Left(e.Left))
}

// Held is a claim as lists show it.
type Held struct {
	Path    string    `json:"path"`
	AgentID string    `json:"agent_id"`
	Token   uint64    `json:"token"`
	Until   time.Time `json:"until"`
	left    time.Duration
}

// Shown is what lists show of leases at an instant.
func Shown(list []*Lease, clock time.Time) []Held {
	out := make([]Held, len(list))
	for i, l := range list {
		out[i] = Held{l.Path, l.Holder, l.Token, l.Until(), l.Until().Sub(clock)}
	}
	return out
}

// Line is a claim in one line, with the time that is left of it.
func (h Held) Line() string {
	return fmt.Sprintf("%s by %s, %s left (token %d)", prose.Line(h.Path), h.AgentID, prose.Left(h.left), h.Token)
}
