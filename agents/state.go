package agents

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"leanctx/agents/handoff"
	"leanctx/agents/lease"
	"leanctx/agents/scratchpad"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// state is all that the registry knows, of every project. Whatever its maps
// and lists point at is never changed in place: a fold puts a new value there,
// so that a shallow clone stays as it was.
type state struct {
	projects map[string]*project // by hash
	owners   map[string]string   // agent id → project hash: ids name files that all projects share
	recent   ring                // what was folded last, for those who follow

	source *scratchpad.Source // the file, if a part of it is still to be read
}

// project is one project's part.
type project struct {
	root     string
	agents   map[string]*agent
	types    map[string][]string // type → ids, in the order they registered
	pad      *scratchpad.Pad
	leases   lease.Set
	handoffs handoff.Set
	fence    uint64 // the last fencing token
	handed   uint64 // the last handoff's number
}

// The states of an agent, as it says.
const (
	statusActive   = "active"
	statusIdle     = "idle"
	statusFinished = "finished"
)

// silentAfter is how long an agent may do nothing before it is not listed.
const silentAfter = 24 * time.Hour

// agent is one that registered.
type agent struct {
	ID         string    `json:"agent_id"`
	Type       string    `json:"agent_type"`
	Role       string    `json:"role,omitempty"`
	Status     string    `json:"status"`
	Message    string    `json:"status_message,omitempty"`
	Client     string    `json:"client,omitempty"`
	Registered time.Time `json:"started_at"`
	Joined     time.Time `json:"joined_at,omitzero"` // when it was last resumed
	Active     time.Time `json:"last_active"`
	scratchpad.Position
}

// present tells whether an agent is listed.
func (a *agent) present(now time.Time) bool {
	return a.Status != statusFinished && now.Sub(a.Active).Abs() < silentAfter // a clock far ahead proves nothing
}

// name is an agent as briefings and errors write it: id(role).
func (a *agent) name() string {
	if a.Role == "" {
		return a.ID
	}
	return a.ID + " (" + prose.Line(a.Role) + ")"
}

func newState() *state {
	return &state{projects: map[string]*project{}, owners: map[string]string{}}
}

var nothing = newProject("") // never changed

func newProject(root string) *project {
	return &project{
		root: root, agents: map[string]*agent{}, types: map[string][]string{},
		pad: scratchpad.New(), leases: lease.Set{}, handoffs: handoff.Set{},
	}
}

// project is a project's part, an empty one if nobody registered there.
func (s *state) project(hash string) *project {
	if p := s.projects[hash]; p != nil {
		return p
	}
	return nothing
}

func (s *state) clone() *state {
	c := &state{projects: make(map[string]*project, len(s.projects)), owners: maps.Clone(s.owners)}
	for hash, p := range s.projects {
		q := *p
		q.agents, q.types, q.pad = maps.Clone(p.agents), maps.Clone(p.types), p.pad.Clone()
		q.leases, q.handoffs = maps.Clone(p.leases), maps.Clone(p.handoffs)
		c.projects[hash] = &q
	}
	return c
}

// put adds an agent or takes the place of the one with its id.
func (p *project) put(a *agent) {
	if p.agents[a.ID] == nil {
		p.types[a.Type] = append(slices.Clip(p.types[a.Type]), a.ID)
	}
	p.agents[a.ID] = a
}

// touch notes that an agent did something.
func (p *project) touch(id string, at time.Time) {
	old := p.agents[id]
	if old == nil {
		return
	}
	a := *old
	a.Position, a.Active = p.pad.Since(a.Position, a.Active, at), at
	p.agents[id] = &a
}

// reader is an agent as the scratchpad knows it, with how far it has read by now.
func (p *project) reader(a *agent, now time.Time) scratchpad.Reader {
	return scratchpad.Reader{ID: a.ID, Type: a.Type, At: p.pad.Since(a.Position, a.Active, now)}
}

// byActivity orders agents, the last active one first.
func byActivity(a, b *agent) int {
	return cmp.Or(b.Active.Compare(a.Active), cmp.Compare(a.ID, b.ID))
}

// present lists the agents that are there, the last active one first.
func (p *project) present(now time.Time) []*agent {
	var out []*agent
	for _, a := range p.agents {
		if a.present(now) {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, byActivity)
	return out
}

// ofType lists the agents of a type, the last active one first.
func (p *project) ofType(name string) []*agent {
	var out []*agent
	for _, id := range p.types[name] {
		out = append(out, p.agents[id])
	}
	slices.SortFunc(out, byActivity)
	return out
}

// minPrefix is the shortest beginning of an id that may stand for it.
const minPrefix = 3

// address is to whom something goes: one agent, or any one of a type.
type address struct {
	agent *agent
	kind  string // the type, when there is no agent
}

// addressee is what to do about nobody to whom something could go.
func addressee(argument string) string {
	if argument != "to_agent" {
		return ""
	}
	return " (let it register first)"
}

// resolve finds whom a name means: an id, a type, or the beginning of one id.
func (p *project) resolve(argument, name string) (address, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	if a := p.agents[name]; a != nil {
		return address{agent: a}, nil
	}
	if len(p.types[name]) > 0 {
		return address{kind: name}, nil
	}
	var found []string
	if len(name) >= minPrefix {
		for id := range p.agents {
			if strings.HasPrefix(id, name) {
				found = append(found, id)
			}
		}
	}
	switch len(found) {
	case 0:
		return address{}, refusal.NotFound("No agent found: %s%s", prose.Line(prose.Clip(name, maxWord)), addressee(argument))
	case 1:
		return address{agent: p.agents[found[0]]}, nil
	}
	slices.Sort(found)
	return address{}, refusal.Argument(argument, "%s %q may be %s: give more of the id", argument, name, alternatives(found))
}

// alternatives names up to four.
func alternatives(list []string) string {
	const most = 4
	if more := len(list) - most; more > 0 {
		return strings.Join(list[:most], ", ") + " or one of " + prose.Count(more, "other")
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}
