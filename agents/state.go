package agents

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"leanctx/agents/lease"
	"leanctx/internal/journal"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// state is all that the registry knows, of every project. Whatever its maps
// and lists point at is never changed in place: a fold puts a new value there,
// so that a shallow clone stays as it was.
type state struct {
	projects map[string]*project     // by hash
	owners   map[string]string       // agent id → project hash: ids name files that all projects share
	recent   []journal.Commit[event] // what was folded last, for those who follow
}

// project is one project's part.
type project struct {
	root     string
	agents   map[string]*agent
	types    map[string][]string // type → ids, in the order they registered
	messages *messages
	leases   lease.Set
	handoffs handoffs
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
	HandedTo   string    `json:"handed_to,omitempty"` // who took over its work, until it takes up more
	Client     string    `json:"client,omitempty"`
	Registered time.Time `json:"started_at"`
	Joined     time.Time `json:"joined_at,omitzero"` // when it was last resumed
	Active     time.Time `json:"last_active"`
	position
}

// present tells whether an agent is listed.
func (a *agent) present(now time.Time) bool {
	return a.Status != statusFinished && now.Sub(a.Active).Abs() < silentAfter // a clock far ahead proves nothing
}

// joined is when its session began: when it registered, or was last resumed.
func (a *agent) joined() time.Time {
	if a.Joined.IsZero() {
		return a.Registered
	}
	return a.Joined
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
		messages: newMessageLists(), leases: lease.Set{}, handoffs: handoffs{},
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
		q.agents, q.types, q.messages = maps.Clone(p.agents), maps.Clone(p.types), p.messages.clone()
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
	a.position, a.Active = p.messages.positionAt(a.position, a.Active, at), at
	p.agents[id] = &a
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

// address is to whom something goes: one agent, or any one of a type, of which
// nobody need be here yet.
type address struct {
	agent *agent
	kind  string // the type, when there is no agent
}

// addressee finds to whom something goes: as resolve, or a type that nobody has yet.
func (p *project) addressee(name string) (address, error) {
	to, err := p.resolve("to_agent", name)
	if _, unknown := errors.AsType[*NotFoundError](err); !unknown || isID(name) {
		return to, err
	}
	kind, wrong := checkedWord("to_agent", name, maxType)
	if wrong != nil {
		return to, err
	}
	return address{kind: kind}, nil
}

// isID tells whether a name is in the form of an agent's id, whose agent must exist.
func isID(name string) bool {
	i := strings.LastIndexByte(name, '-')
	return i > 0 && len(name)-i > firstHex && strings.Trim(strings.ToLower(name[i+1:]), "0123456789abcdef") == ""
}

// waits says that what goes to a type waits, because nobody of it has come yet.
func waits(kind string) string { return "no " + kind + " is here yet: it waits" }

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
		return address{}, unknownAgent(name, "")
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

// event is one change of the registry, as the journal keeps it. Events say
// what is so afterwards, not what to do: folding one twice changes nothing more.
type event struct {
	Project string         `json:"project"`        // hash
	By      string         `json:"by,omitempty"`   // the agent that did it, which is active thereby
	Clock   time.Time      `json:"clock,omitzero"` // of who did it, when it is behind the recorded time
	Open    *opened        `json:"open,omitempty"`
	Agent   *agent         `json:"agent,omitempty"` // registered, resumed, or of another status
	Post    *message       `json:"post,omitempty"`
	Read    *reading       `json:"read,omitempty"` // by By
	Claim   *lease.Lease   `json:"claim,omitempty"`
	Release string         `json:"release,omitempty"` // a path
	Handoff *handoffRecord `json:"handoff,omitempty"`
}

// opened names a project, in its first commit.
type opened struct {
	Root string `json:"project_root"`
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

// machine tells the journal how the state is made, folded and written.
type machine struct{}

func (machine) New() *state { return newState() }

func (machine) Fold(s *state, c journal.Commit[event]) *state {
	for _, e := range c.Events {
		s.fold(e, c.At)
	}
	s.remember(c)
	return s
}

func (machine) Clone(s *state) *state { return s.clone() }

var _ journal.Machine[*state, event] = machine{}

// document is the state as registry.json.
type document struct {
	Schema     int       `json:"schema"`
	UpdatedAt  time.Time `json:"updated_at"`
	Checksum   string    `json:"checksum"`
	Seq        uint64    `json:"seq"`
	Generation uint64    `json:"generation"`
	Projects   []section `json:"projects"`
}

// section is one project's part of it.
type section struct {
	Hash       string           `json:"project_hash"`
	Root       string           `json:"project_root"`
	Messages   uint64           `json:"last_message"`
	Fence      uint64           `json:"last_token"`
	Handed     uint64           `json:"last_handoff"`
	Agents     []*agent         `json:"agents"`
	Claims     []*lease.Lease   `json:"claims"`
	Handoffs   []*handoffRecord `json:"handoffs"`
	Scratchpad []*message       `json:"scratchpad"` // what somebody may still have to read
	Findings   []*message       `json:"findings"`   // what everybody has read and consolidation may want
}

func (machine) Encode(w io.Writer, s *state, h journal.Header) error {
	d := document{Schema: h.Schema, UpdatedAt: h.At.UTC(), Checksum: h.Checksum, Seq: h.Seq, Generation: h.Generation, Projects: []section{}}
	for _, hash := range slices.Sorted(maps.Keys(s.projects)) {
		p := s.projects[hash]
		d.Projects = append(d.Projects, section{
			Hash: hash, Root: p.root, Messages: p.messages.last, Fence: p.fence, Handed: p.handed,
			Agents:     slices.SortedFunc(maps.Values(p.agents), func(x, y *agent) int { return cmp.Compare(x.ID, y.ID) }),
			Claims:     slices.SortedFunc(maps.Values(p.leases), func(x, y *lease.Lease) int { return cmp.Compare(x.Path, y.Path) }),
			Handoffs:   slices.SortedFunc(maps.Values(p.handoffs), func(x, y *handoffRecord) int { return cmp.Compare(x.Number, y.Number) }),
			Scratchpad: slices.Collect(p.messages.all()), Findings: p.messages.findings,
		})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(d)
}

func (machine) Decode(data []byte) (*state, error) {
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, err
	}
	s := newState()
	for i := range d.Projects {
		x := &d.Projects[i]
		s.projects[x.Hash] = x.project()
		for _, a := range x.Agents {
			s.owners[a.ID] = x.Hash
		}
	}
	return s, nil
}

func (x *section) project() *project {
	p := newProject(x.Root)
	slices.SortStableFunc(x.Agents, func(a, b *agent) int { return a.Registered.Compare(b.Registered) })
	for _, a := range x.Agents {
		p.put(a)
	}
	for _, l := range x.Claims {
		p.leases.Put(l)
	}
	for _, h := range x.Handoffs {
		p.fileHandoff(h)
	}
	for _, m := range x.Scratchpad {
		p.messages.put(m)
	}
	p.messages.last, p.messages.findings = x.Messages, x.Findings
	p.messages.tidyAt = max(tidyFrom, 2*len(p.messages.broadcasts))
	p.fence, p.handed = x.Fence, x.Handed
	return p
}
