package agents

import (
	"slices"
	"sync/atomic"
	"time"

	"leanctx/internal/journal"
)

// event is one change of the registry, as the journal keeps it. Events say
// what is so afterwards, not what to do: folding one twice changes nothing more.
type event struct {
	Project string    `json:"project"`        // hash
	By      string    `json:"by,omitempty"`   // the agent that did it, which is active thereby
	Clock   time.Time `json:"clock,omitzero"` // of who did it, when it is behind the recorded time
	Open    *opened   `json:"open,omitempty"`
	Agent   *agent    `json:"agent,omitempty"` // registered, resumed, or of another status
	Post    *message  `json:"post,omitempty"`
	Read    *reading  `json:"read,omitempty"` // by By
	Claim   *lease    `json:"claim,omitempty"`
	Release string    `json:"release,omitempty"` // a path
	Handoff *handoff  `json:"handoff,omitempty"`
}

// opened names a project, in its first commit.
type opened struct {
	Root string `json:"project_root"`
}

// reading is what an agent was given, for good.
type reading struct {
	Upto     uint64   `json:"upto,omitempty"`  // broadcasts up to this number
	Ahead    []uint64 `json:"ahead,omitempty"` // all that are read beyond it
	Direct   []uint64 `json:"direct,omitempty"`
	Typed    []uint64 `json:"typed,omitempty"`
	Handoffs []string `json:"handoffs,omitempty"`
}

func (s *state) fold(e event, at time.Time) {
	p := s.projects[e.Project]
	if p == nil {
		p = newProject("")
		s.projects[e.Project] = p
	}
	if e.Open != nil {
		p.root = e.Open.Root
	}
	switch {
	case e.Agent != nil:
		p.put(e.Agent)
		s.owners[e.Agent.ID] = e.Project
	case e.Post != nil:
		p.post(e.Post)
	case e.Read != nil:
		p.read(e.By, e.Read)
	case e.Claim != nil:
		p.leases[e.Claim.key()] = e.Claim
		p.fence = max(p.fence, e.Claim.Token)
	case e.Release != "":
		delete(p.leases, leaseKey(e.Release))
	case e.Handoff != nil:
		p.fileHandoff(e.Handoff)
	}
	if !e.Clock.IsZero() {
		at = e.Clock
	}
	if e.By != "" {
		p.touch(e.By, at)
	}
}

// post adds a message that is new.
func (p *project) post(m *message) {
	if m.Number <= p.messages {
		return
	}
	p.messages = m.Number
	if m.promotes() {
		p.findings = append(p.findings, m)
		if n := len(p.findings); n >= 2*maxFindings {
			p.findings = slices.Clone(p.findings[n-maxFindings:])
		}
	}
	// Its author need not read it. Without this one who only writes would hold
	// all it wrote.
	if a := p.agents[m.From]; a != nil && m.toAll() && p.after(a.Cursor) == len(p.broadcasts) {
		b := *a
		b.Cursor, b.Ahead = m.Number, nil
		p.agents[a.ID] = &b
	}
	p.keep(m)
	if m.toAll() && len(p.broadcasts) >= p.tidyAt {
		p.tidy(m)
	}
}

// read takes out what one agent was given.
func (p *project) read(id string, r *reading) {
	old := p.agents[id]
	if old == nil {
		return
	}
	a := *old
	a.Cursor, a.Ahead, a.Missed = max(a.Cursor, r.Upto), r.Ahead, time.Time{}
	p.agents[id] = &a
	take(p.direct, id, r.Direct)
	take(p.typed, a.Type, r.Typed)
	for _, h := range r.Handoffs {
		delete(p.handoffs, h)
	}
}

// take takes messages out of a list, in which they stand by number.
func take(lists map[string][]slip, name string, numbers []uint64) {
	if len(numbers) == 0 {
		return
	}
	list := slices.DeleteFunc(slices.Clone(lists[name]), func(x slip) bool {
		_, read := slices.BinarySearch(numbers, x.number)
		return read
	})
	if len(list) == 0 {
		delete(lists, name)
		return
	}
	lists[name] = list
}

// tidy drops the oldest broadcasts that nobody is to see any more: those that
// every agent has read or is away from for long, and no newcomer sees. That an
// agent is away is not believed to one clock: another agent must have been
// active as long after it.
func (p *project) tidy(m *message) {
	now := m.At
	gone, latest := p.news(now), time.Time{}
	for _, a := range p.agents {
		if a.ID != m.From && a.Active.After(latest) && !a.Active.After(now) {
			latest = a.Active
		}
	}
	for _, a := range p.agents {
		if a.Status != statusFinished && latest.Sub(a.Active) <= holdFor {
			gone = min(gone, a.Cursor)
		}
	}
	n := p.after(gone)
	for n < len(p.broadcasts) && p.broadcasts[n].expired(now.UnixNano()) {
		n++
	}
	p.broadcasts = slices.Clone(p.broadcasts[n:])
	p.tidyAt = max(tidyFrom, 2*len(p.broadcasts))
}

// machine tells the journal how the state is made, folded and written.
type machine struct {
	from  int64        // the smallest file that is read in parts, in bytes
	whole *atomic.Bool // files are read whole; nil: they are
}

func (machine) New() *state { return newState() }

func (machine) Fold(s *state, c journal.Commit[event]) *state {
	for _, e := range c.Events {
		s.fold(e, c.At)
	}
	s.recent.add(c)
	return s
}

func (machine) Clone(s *state) *state { return s.clone() }

var _ journal.Machine[*state, event] = machine{}
