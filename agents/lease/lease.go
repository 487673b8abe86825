// Package lease has the rules of claims: what a lease is, when it expires, and who may
// claim a path that somebody has. It has values and pure functions only; package agents
// stores the leases and the fencing tokens.
//
// # Clocks
//
// Leases compare wall clocks, not recorded times. A process whose clock is a year ahead
// moves the recorded time of the whole registry by a year. That must neither end all
// claims nor keep later ones alive. A claim whose clock is further ahead than any lease
// can last is void.
package lease

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"leanctx/internal/prose"
)

// Limits of a lease's duration.
const (
	DefaultTTL = 10 * time.Minute
	MinTTL     = time.Second
	MaxTTL     = 24 * time.Hour
)

const (
	removeAfter = 1000 // an expired lease is kept until this many newer ones were given
	maxExpired  = 32   // a claim removes at most this many expired leases
)

// Lease is a claim on a path, as it is stored. It expires by itself.
type Lease struct {
	Path    string    `json:"path"` // within the project, with slashes
	Holder  string    `json:"agent_id"`
	Token   uint64    `json:"token"`       // larger than that of every lease before it
	Since   time.Time `json:"claimed_at"`  // by the holder's clock
	Seconds int64     `json:"ttl_seconds"` // its duration
}

// Until is when the lease expires, by the holder's clock.
func (l *Lease) Until() time.Time { return l.Since.Add(l.TTL()) }

// TTL is the lease's duration.
func (l *Lease) TTL() time.Duration { return time.Duration(l.Seconds) * time.Second }

// Expired reports whether the lease has expired by the given clock.
func (l *Lease) Expired(clock time.Time) bool {
	return !clock.Before(l.Until()) || l.Since.Sub(clock) > MaxTTL
}

// Sound reports whether the lease lasts as long as one can. A member of a team may have written
// another.
func (l *Lease) Sound() bool { return l.Seconds >= 0 && l.Seconds <= int64(MaxTTL/time.Second) }

// HandedTo is the lease with another holder and a new token. The new holder has not seen
// it yet, so it gets at least the standard time.
func (l *Lease) HandedTo(agent string, token uint64, clock time.Time) *Lease {
	return &Lease{Path: l.Path, Holder: agent, Token: token, Since: clock, Seconds: l.renewed(clock)}
}

// renewed is the duration in seconds of a renewal without a ttl: the standard time, or
// what is left if that is more.
func (l *Lease) renewed(clock time.Time) int64 {
	left := min(l.Until().Sub(clock), MaxTTL) + time.Second - 1
	return int64(max(left, DefaultTTL) / time.Second)
}

// Key is the form of a path for comparison: one form of Unicode, since two keyboards may write one
// name in two. It ignores case where the file system does.
func Key(path string) string {
	path = norm.NFC.String(path)
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.ToLower(path)
	}
	return path
}

// covers reports whether a claim on dir also claims path. A claim on a directory covers
// everything in it.
func covers(dir, path string) bool {
	return dir == "." || dir == path || strings.HasPrefix(path, dir+"/")
}

// Covers reports whether a claim on a path covers a file: the same, or one in that directory.
func Covers(claim, file string) bool { return covers(Key(claim), Key(file)) }

// Set holds the leases of a project by [Key] of their paths.
type Set map[string]*Lease

// Put adds a lease, or replaces the one on its path.
func (s Set) Put(l *Lease) { s[Key(l.Path)] = l }

// Holding lists the leases that have not expired, by path.
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

// Count counts the leases of an agent that have not expired.
func (s Set) Count(agent string, clock time.Time) (n int) {
	for _, l := range s {
		if l.Holder == agent && !l.Expired(clock) {
			n++
		}
	}
	return n
}

// Wanted is a request for a claim.
type Wanted struct {
	Path  string // with slashes
	By    string
	TTL   time.Duration // 0: Standard, or the rest of the caller's own lease if that is more
	Fence uint64        // the last token that was given
}

// Decision is the answer to a request for a claim.
type Decision struct {
	Granted  *Lease   // nil if it is refused
	Blocking *Lease   // another agent's, on the path, a directory above it, or something in it
	Expired  []string // paths of long-expired leases to remove
}

// Decide is the policy of claims.
func (s Set) Decide(w Wanted, clock time.Time) (d Decision) {
	key := Key(w.Path)
	for k, l := range s {
		switch {
		case l.Expired(clock):
			// Not as soon as it expires: our clock may be the wrong one.
			if k != key && l.Token+removeAfter < w.Fence && len(d.Expired) < maxExpired {
				d.Expired = append(d.Expired, l.Path)
			}
		case l.Holder != w.By && (covers(k, key) || covers(key, k)):
			if d.Blocking == nil || l.Path < d.Blocking.Path {
				d.Blocking = l
			}
		}
	}
	if d.Blocking != nil {
		return Decision{Blocking: d.Blocking}
	}
	l := &Lease{Path: w.Path, Holder: w.By, Token: w.Fence + 1, Since: clock, Seconds: int64(cmp.Or(w.TTL, DefaultTTL) / time.Second)}
	if mine := s[key]; mine != nil && mine.Holder == w.By && !mine.Expired(clock) {
		l.Path, l.Token = mine.Path, mine.Token // a renewal: nobody else had it in between
		if w.TTL == 0 {
			l.Seconds = mine.renewed(clock)
		}
	}
	d.Granted = l
	return d
}

// HeldError means that another agent has a claim.
type HeldError struct {
	Path   string        // the requested path
	Claim  string        // the claimed path: the same, or one contains the other
	Holder string        // its id, with its role
	Token  uint64        // of its lease
	Left   time.Duration // time until it expires
}

func (e *HeldError) Error() string {
	what := prose.Line(e.Path)
	if e.Claim != e.Path {
		what += fmt.Sprintf(" overlaps %s, which", prose.Line(e.Claim))
	}
	return fmt.Sprintf("%s is claimed by %s for another %s: ask its holder, or wait", what, e.Holder, prose.Left(e.Left))
}

// Held is a claim in a list.
type Held struct {
	Path    string    `json:"path"`
	AgentID string    `json:"agent_id"`
	Token   uint64    `json:"token"`
	Until   time.Time `json:"until"`
	left    time.Duration
}

// Shown converts leases for a list.
func Shown(list []*Lease, clock time.Time) []Held {
	out := make([]Held, len(list))
	for i, l := range list {
		out[i] = Held{l.Path, l.Holder, l.Token, l.Until(), l.Until().Sub(clock)}
	}
	return out
}

// maxShown is how many characters of a path a list shows.
const maxShown = 200

// Line is the claim in one line, with its remaining time.
func (h Held) Line() string {
	return fmt.Sprintf("%s by %s, %s left (token %d)", prose.Line(prose.Clip(h.Path, maxShown)), h.AgentID, prose.Left(h.left), h.Token)
}
