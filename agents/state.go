package agents

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync/atomic"
	"time"

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

	failed atomic.Pointer[pageError] // a message could not be read: what was made of the state may be wrong
}

// project is one project's part.
type project struct {
	root       string
	agents     map[string]*agent
	types      map[string][]string // type → ids, in the order they registered
	broadcasts []slip              // by number
	direct     map[string][]slip
	typed      map[string][]slip
	leases     map[string]*lease // by path, folded where the file system folds
	handoffs   map[string]*handoff
	findings   []*message // what was posted for consolidation, kept when everybody has read it
	messages   uint64     // the last message's number
	fence      uint64     // the last fencing token
	handed     uint64     // the last handoff's number
	tidyAt     int        // how many broadcasts there are when it is looked which may go

	authors map[string]uint32 // what slips call agents; no part of the file, nor of a clone
}

// The states of an agent, as it says.
const (
	statusActive   = "active"
	statusIdle     = "idle"
	statusFinished = "finished"
)

const (
	silentAfter = 24 * time.Hour     // an agent that did nothing for so long is not listed
	holdFor     = 7 * 24 * time.Hour // a broadcast waits so long for an agent that is silent
	newsFor     = 24 * time.Hour     // how far back a newcomer sees broadcasts
	newsMost    = 100                // and how many at most
	tidyFrom    = 512                // broadcasts
)

// agent is one that registered.
type agent struct {
	ID         string    `json:"agent_id"`
	Type       string    `json:"agent_type"`
	Role       string    `json:"role,omitempty"`
	Status     string    `json:"status"`
	Message    string    `json:"status_message,omitempty"`
	Client     string    `json:"client,omitempty"`
	Registered time.Time `json:"started_at"`
	Active     time.Time `json:"last_active"`
	Cursor     uint64    `json:"cursor,omitempty"`       // broadcasts up to this number were read
	Ahead      []uint64  `json:"ahead,omitempty"`        // and these beyond it
	Missed     time.Time `json:"missed_before,omitzero"` // broadcasts of before it may be gone unread
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
		direct: map[string][]slip{}, typed: map[string][]slip{}, authors: map[string]uint32{},
		leases: map[string]*lease{}, handoffs: map[string]*handoff{}, tidyAt: tidyFrom,
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
		q.authors = nil
		q.agents, q.types = maps.Clone(p.agents), maps.Clone(p.types)
		q.direct, q.typed = maps.Clone(p.direct), maps.Clone(p.typed)
		q.leases, q.handoffs = maps.Clone(p.leases), maps.Clone(p.handoffs)
		c.projects[hash] = &q
	}
	return c
}

// put adds an agent or takes the place of the one with its id.
func (p *project) put(a *agent) {
	if p.agents[a.ID] == nil {
		p.authors[a.ID] = uint32(len(p.authors) + 1)
		p.types[a.Type] = append(slices.Clip(p.types[a.Type]), a.ID)
	}
	p.agents[a.ID] = a
}

// touch notes that an agent did something. One that was away for long goes on
// with the news, as a newcomer does.
func (p *project) touch(id string, at time.Time) {
	old := p.agents[id]
	if old == nil {
		return
	}
	a := *old
	if at.Sub(a.Active) > holdFor {
		if floor := p.news(at); floor > a.Cursor {
			a.Cursor, a.Ahead, a.Missed = floor, nil, at.Add(-newsFor)
		}
	}
	a.Active = at
	p.agents[id] = &a
}

// after is the place of the first broadcast with a larger number.
func (p *project) after(number uint64) int {
	return sort.Search(len(p.broadcasts), func(i int) bool { return p.broadcasts[i].number > number })
}

// news is the cursor of an agent that is new at an instant: it sees the
// broadcasts of the last day.
func (p *project) news(at time.Time) uint64 {
	from := at.Add(-newsFor)
	i := sort.Search(len(p.broadcasts), func(i int) bool { return p.broadcasts[i].message().At.After(from) })
	if i = max(i, len(p.broadcasts)-newsMost); i < len(p.broadcasts) {
		return p.broadcasts[i].number - 1
	}
	return p.messages
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
		return address{}, refusal.NotFound("No agent found: %s", prose.Line(prose.Clip(name, maxWord)))
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
