// Package handoff has the record of work that goes from one agent to another,
// and the bundle that its receiver gets. How it comes about, and what moves with
// it, is the package agents'.
package handoff

import (
	"cmp"
	"slices"
	"time"

	"leanctx/agents/diary"
)

// Handoff is work that goes from one agent to another, as it is stored.
type Handoff struct {
	ID      string        `json:"id"`
	Number  uint64        `json:"number"`
	From    string        `json:"from_agent"`
	Role    string        `json:"role,omitempty"` // the sender's
	To      string        `json:"to_agent"`
	State   string        `json:"state"`
	Summary string        `json:"summary"`
	Tasks   []string      `json:"tasks,omitempty"`
	Claims  []Moved       `json:"claims,omitempty"`
	Facts   []string      `json:"facts,omitempty"` // category/key
	Files   []string      `json:"files,omitempty"` // that the sender has shared
	Diary   []diary.Entry `json:"diary,omitempty"` // its last entries, the newest first
	At      time.Time     `json:"timestamp"`
}

// Moved is a claim that changed its holder.
type Moved struct {
	Path  string `json:"path"`
	Token uint64 `json:"token"`
}

// The states of a handoff. Pending is a promise on disk that tasks and claims
// will move; it is kept by whoever comes next if its process is killed.
const (
	Pending = "pending"
	Done    = "done"
	Off     = "off" // the tasks could not be moved, so nothing was
)

// Set is the handoffs of a project that are not over, by their ids.
type Set map[string]*Handoff

// Put adds a handoff, takes the place of the one with its id, or takes out one
// that was called off.
func (s Set) Put(h *Handoff) {
	if h.State == Off {
		delete(s, h.ID)
		return
	}
	s[h.ID] = h
}

// Waiting lists those that wait for an agent to receive them, the oldest first.
func (s Set) Waiting(agent string) []*Handoff {
	return s.list(func(h *Handoff) bool { return h.To == agent && h.State == Done })
}

// Unreceived is how many wait, for whomever.
func (s Set) Unreceived() int {
	return len(s.list(func(h *Handoff) bool { return h.State == Done }))
}

// Pending lists copies of the promises that were not kept yet, the oldest first.
func (s Set) Pending() []*Handoff {
	out := s.list(func(h *Handoff) bool { return h.State == Pending })
	for i, h := range out {
		out[i] = new(*h)
	}
	return out
}

// list is by number.
func (s Set) list(which func(*Handoff) bool) []*Handoff {
	var out []*Handoff
	for _, h := range s {
		if which(h) {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b *Handoff) int { return cmp.Compare(a.Number, b.Number) })
	return out
}
