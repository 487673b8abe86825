package agents

import (
	"math"
	"sync/atomic"
	"time"

	"leanctx/agents/handoff"
	"leanctx/agents/lease"
	"leanctx/agents/scratchpad"
	"leanctx/internal/journal"
)

// event is one change of the registry, as the journal keeps it. Events say
// what is so afterwards, not what to do: folding one twice changes nothing more.
type event struct {
	Project string              `json:"project"`        // hash
	By      string              `json:"by,omitempty"`   // the agent that did it, which is active thereby
	Clock   time.Time           `json:"clock,omitzero"` // of who did it, when it is behind the recorded time
	Open    *opened             `json:"open,omitempty"`
	Agent   *agent              `json:"agent,omitempty"` // registered, resumed, or of another status
	Post    *scratchpad.Message `json:"post,omitempty"`
	Read    *reading            `json:"read,omitempty"` // by By
	Claim   *lease.Lease        `json:"claim,omitempty"`
	Release string              `json:"release,omitempty"` // a path
	Handoff *handoff.Handoff    `json:"handoff,omitempty"`
}

// opened names a project, in its first commit.
type opened struct {
	Root string `json:"project_root"`
}

// reading is what an agent was given, for good.
type reading struct {
	scratchpad.Reading
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
		p.leases.Put(e.Claim)
		p.fence = max(p.fence, e.Claim.Token)
	case e.Release != "":
		delete(p.leases, lease.Key(e.Release))
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
func (p *project) post(m *scratchpad.Message) {
	if a := p.agents[m.From]; a != nil {
		b := *a
		b.Position = p.pad.Post(m, a.Position)
		p.agents[a.ID] = &b
	} else {
		p.pad.Post(m, scratchpad.Position{})
	}
	if p.pad.Crowded() {
		p.pad.Tidy(p.seen(m), m.At)
	}
}

// seen is the broadcast up to which every agent has read when a message is
// posted, but for those that have finished or are away for long. That an
// agent is away is not believed to one clock: another agent must have been
// active as long after it.
func (p *project) seen(m *scratchpad.Message) uint64 {
	gone, latest := uint64(math.MaxUint64), time.Time{}
	for _, a := range p.agents {
		if a.ID != m.From && a.Active.After(latest) && !a.Active.After(m.At) {
			latest = a.Active
		}
	}
	for _, a := range p.agents {
		if a.Status != statusFinished && latest.Sub(a.Active) <= scratchpad.HoldFor {
			gone = min(gone, a.Cursor)
		}
	}
	return gone
}

// read takes out what one agent was given.
func (p *project) read(id string, r *reading) {
	old := p.agents[id]
	if old == nil {
		return
	}
	a := *old
	a.Position = p.pad.Read(scratchpad.Reader{ID: id, Type: a.Type, At: a.Position}, r.Reading)
	p.agents[id] = &a
	for _, h := range r.Handoffs {
		delete(p.handoffs, h)
	}
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
