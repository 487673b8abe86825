package agents

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"leanctx/agents/lease"
	"leanctx/internal/args"
	"leanctx/internal/journal"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// state is the registry of all projects. Values in its maps and lists are never changed in
// place. A fold puts a new value there, so a shallow clone stays as it was.
type state struct {
	projects map[string]*project // by hash
	owners   map[string]string   // agent id → project hash: ids name files that all projects share
}

// project is one project's part.
type project struct {
	root     string
	agents   map[string]*agent
	messages *messages
	leases   lease.Set
	handoffs handoffs
	fence    uint64 // the last fencing token
	handed   uint64 // the last handoff's number
	changed  uint64 // the last commit that changed it; 0: none since the state was read
}

// The statuses an agent can set.
const (
	statusActive   = "active"
	statusIdle     = "idle"
	statusFinished = "finished"
)

// silentAfter is the inactivity after which an agent is no longer listed.
const silentAfter = 24 * time.Hour

// agent is a registered agent, as it is stored.
type agent struct {
	ID         string    `json:"agent_id"`
	Type       string    `json:"agent_type"`
	Role       string    `json:"role,omitempty"`
	Status     string    `json:"status"`
	Message    string    `json:"status_message,omitempty"`
	Machine    string    `json:"machine,omitempty"`   // in a team: where it works
	HandedTo   string    `json:"handed_to,omitempty"` // who took over its work; empty once it works again
	Handed     string    `json:"handed,omitempty"`    // checksum of its last handoff: to whom, and the summary
	Client     string    `json:"client,omitempty"`
	Aliases    []string  `json:"aliases,omitempty"` // the names that its sessions had before they registered
	Registered time.Time `json:"started_at"`
	Joined     time.Time `json:"joined_at,omitzero"` // when it was last resumed
	Active     time.Time `json:"last_active"`
	position
}

// present reports whether the agent is listed.
func (a *agent) present(now time.Time) bool {
	return a.Status != statusFinished && now.Sub(a.Active).Abs() < silentAfter // Abs: a clock far ahead proves nothing
}

// joined is when the agent's session began: when it registered or was last resumed.
func (a *agent) joined() time.Time {
	if a.Joined.IsZero() {
		return a.Registered
	}
	return a.Joined
}

// name is the agent as briefings and errors show it: id (role).
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
		root: root, agents: map[string]*agent{},
		messages: newMessages(nil, nil, 0), leases: lease.Set{}, handoffs: handoffs{},
	}
}

// project returns the part of one project; an empty one if nobody has registered there.
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
		q.agents, q.messages = maps.Clone(p.agents), p.messages.clone()
		q.leases, q.handoffs = maps.Clone(p.leases), maps.Clone(p.handoffs)
		c.projects[hash] = &q
	}
	return c
}

// touch records that an agent was active.
func (p *project) touch(id string, at time.Time) {
	old := p.agents[id]
	if old == nil {
		return
	}
	a := *old
	a.position, a.Active = p.messages.positionAt(a.position, a.Active, at), at
	p.agents[id] = &a
}

// byActivity sorts agents by their last activity, the most recent first.
func byActivity(a, b *agent) int {
	return cmp.Or(b.Active.Compare(a.Active), cmp.Compare(a.ID, b.ID))
}

// present lists the active agents, the most recently active first.
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

// ofType lists the agents of a type, the most recently active first.
func (p *project) ofType(name string) []*agent {
	var out []*agent
	for _, a := range p.agents {
		if a.Type == name {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, byActivity)
	return out
}

func idsOf(list []*agent) []string {
	ids := make([]string, len(list))
	for i, a := range list {
		ids[i] = a.ID
	}
	return ids
}

// minPrefix is the shortest prefix of an id that is accepted for it.
const minPrefix = 3

// address is a recipient: one agent, or any one agent of a type. Nobody of that type needs
// to be registered yet.
type address struct {
	agent *agent
	kind  string // the type, when there is no agent
}

// addressee resolves a recipient. Unlike resolve it accepts a type that nobody has yet.
func (p *project) addressee(name string) (address, error) {
	to, err := p.resolve("to_agent", name)
	if _, unknown := errors.AsType[*refusal.NotFoundError](err); !unknown || args.AgentType(strings.ToLower(strings.TrimSpace(name))) != "" {
		return to, err
	}
	kind, wrong := checkedWord("to_agent", name, maxType)
	if wrong != nil {
		return to, err
	}
	return address{kind: kind}, nil
}

// waits is the note for something sent to a type that nobody has yet.
func waits(kind string) string { return "no " + kind + " is here yet: it waits" }

// resolve finds the agent or the type for a name: an id, a type, or a unique prefix of an
// id.
func (p *project) resolve(argument, name string) (address, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	if a := p.named(name); a != nil {
		return address{agent: a}, nil
	}
	if len(p.ofType(name)) > 0 {
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

// alternatives lists up to four names.
func alternatives(list []string) string {
	const maxShown = 4
	if more := len(list) - maxShown; more > 0 {
		return strings.Join(list[:maxShown], ", ") + " or one of " + prose.Count(more, "other")
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}

// event is one change of the registry, as the journal keeps it. It holds the new values
// and not an action, so folding it twice changes nothing more.
type event struct {
	Project string         `json:"project"`        // hash
	By      string         `json:"by,omitempty"`   // the agent that did it; this counts as its activity
	Clock   time.Time      `json:"clock,omitzero"` // the author's clock, if it is behind the recorded time
	Open    *opened        `json:"open,omitempty"`
	Agent   *agent         `json:"agent,omitempty"` // it registered, was resumed, or changed its status
	Post    *message       `json:"post,omitempty"`
	Read    *reading       `json:"read,omitempty"` // what the agent By has read
	Claim   *lease.Lease   `json:"claim,omitempty"`
	Release string         `json:"release,omitempty"` // a path
	Handoff *handoffRecord `json:"handoff,omitempty"`
}

// opened names a project. It is part of the project's first commit.
type opened struct {
	Root string `json:"project_root"`
}

// sound reports whether the ids and words of an event are such as this program writes. A member of
// a team can write any: an event with others is void, so that none reaches an answer.
func (e event) sound() bool {
	return prose.IsWord(e.By) && (e.Agent == nil || e.Agent.sound()) && (e.Post == nil || e.Post.sound()) &&
		(e.Claim == nil || prose.IsWord(e.Claim.Holder) && e.Claim.Sound()) && (e.Handoff == nil || e.Handoff.sound())
}

func (a *agent) sound() bool {
	return a.ID != "" && prose.IsWord(a.ID, a.Type, a.HandedTo, a.Handed) && prose.IsWord(a.Aliases...) && prose.IsLine(a.Machine, a.Client) &&
		slices.Contains([]string{statusActive, statusIdle, statusFinished}, a.Status)
}

// sound lets the name of a client pass, which may have blanks.
func (m *message) sound() bool {
	return prose.IsLine(m.From) && prose.IsWord(m.To, m.ToType, m.Category)
}

func (h *handoffRecord) sound() bool {
	return prose.IsWord(h.ID, h.From, h.To, h.State) && prose.IsWord(h.Tasks...)
}

// maxStep is how far a number may lie above the last of its kind. They are given one by one, but a
// former version of another machine may have counted what is void here. A member of a team that sets
// the largest number would end all that come after it.
const maxStep = 1 << 20

// follows reports whether the numbers of an event come after those that were given.
func (p *project) follows(e event) bool {
	next := func(number, last uint64) bool { return number <= last || number-last <= maxStep }
	return (e.Post == nil || next(e.Post.Number, p.messages.last)) && (e.Claim == nil || next(e.Claim.Token, p.fence)) &&
		(e.Handoff == nil || next(e.Handoff.Number, p.handed))
}

// within is the agent with no message read that was not posted yet.
func (a *agent) within(last uint64) *agent {
	if a.Cursor <= last && (len(a.Ahead) == 0 || a.Ahead[len(a.Ahead)-1] <= last && slices.IsSorted(a.Ahead)) {
		return a
	}
	x := *a
	x.position = x.position.within(last)
	return &x
}

// within is the position with no message read that was not posted yet.
func (at position) within(last uint64) position {
	at.Cursor, at.Ahead = min(at.Cursor, last), slices.DeleteFunc(slices.Sorted(slices.Values(at.Ahead)), func(n uint64) bool { return n > last })
	return at
}

func (s *state) fold(e event, at time.Time) {
	p := s.projects[e.Project]
	if p == nil {
		p = newProject("")
		s.projects[e.Project] = p
	}
	if !e.sound() || !p.follows(e) {
		return
	}
	if e.Open != nil {
		p.root = e.Open.Root
	}
	switch {
	case e.Agent != nil:
		p.agents[e.Agent.ID] = e.Agent.within(p.messages.last)
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

// machine implements the journal's state machine: make, fold and write the state.
type machine struct{}

func (machine) New() *state { return newState() }

func (machine) Fold(s *state, c journal.Commit[event]) *state {
	for _, e := range c.Events {
		s.fold(e, c.At)
		s.projects[e.Project].changed = c.Seq
	}
	return s
}

func (machine) Clone(s *state) *state { return s.clone() }

var _ journal.Machine[*state, event] = machine{}

// document is the form of the state in registry.json.
type document struct {
	journal.Header
	Projects []section `json:"projects"`
}

// section is one project in it.
type section struct {
	Hash       string           `json:"project_hash"`
	Root       string           `json:"project_root"`
	Messages   uint64           `json:"last_message"`
	Fence      uint64           `json:"last_token"`
	Handed     uint64           `json:"last_handoff"`
	Agents     []*agent         `json:"agents"`
	Claims     []*lease.Lease   `json:"claims"`
	Handoffs   []*handoffRecord `json:"handoffs"`
	Scratchpad []*message       `json:"scratchpad"` // messages that somebody may not have read yet
	Findings   []*message       `json:"findings"`   // read by everybody, kept for consolidation
}

func (machine) Encode(w io.Writer, s *state, h journal.Header) error {
	d := document{Header: h, Projects: []section{}}
	for _, hash := range slices.Sorted(maps.Keys(s.projects)) {
		p := s.projects[hash]
		d.Projects = append(d.Projects, section{
			Hash: hash, Root: p.root, Messages: p.messages.last, Fence: p.fence, Handed: p.handed,
			Agents:     slices.SortedFunc(maps.Values(p.agents), func(x, y *agent) int { return cmp.Compare(x.ID, y.ID) }),
			Claims:     slices.SortedFunc(maps.Values(p.leases), func(x, y *lease.Lease) int { return cmp.Compare(x.Path, y.Path) }),
			Handoffs:   slices.SortedFunc(maps.Values(p.handoffs), func(x, y *handoffRecord) int { return cmp.Compare(x.Number, y.Number) }),
			Scratchpad: p.messages.all(), Findings: p.messages.findings,
		})
	}
	return journal.EncodeDocument(w, d)
}

func (machine) Decode(data []byte) (*state, error) {
	var d document
	if err := journal.DecodeDocument(data, &d); err != nil {
		return nil, err
	}
	s := newState()
	for i := range d.Projects {
		x := &d.Projects[i]
		x.clean()
		s.projects[x.Hash] = x.project()
		for _, a := range x.Agents {
			s.owners[a.ID] = x.Hash
		}
	}
	return s, nil
}

// maxNumber is the largest number that a snapshot may have. Nobody reaches it by steps.
const maxNumber = 1 << 62

// clean drops what is not sound: a snapshot may come from another machine.
func (x *section) clean() {
	x.Agents = slices.DeleteFunc(x.Agents, func(a *agent) bool { return a == nil || !a.sound() })
	x.Claims = slices.DeleteFunc(x.Claims, func(l *lease.Lease) bool {
		return l == nil || !prose.IsWord(l.Holder) || !l.Sound() || l.Token > maxNumber
	})
	x.Handoffs = slices.DeleteFunc(x.Handoffs, func(h *handoffRecord) bool { return h == nil || !h.sound() || h.Number > maxNumber })
	bad := func(m *message) bool { return m == nil || !m.sound() || m.Number > maxNumber }
	x.Scratchpad, x.Findings = slices.DeleteFunc(x.Scratchpad, bad), slices.DeleteFunc(x.Findings, bad)
	for _, last := range []*uint64{&x.Messages, &x.Fence, &x.Handed} {
		if *last > maxNumber {
			*last = 0
		}
	}
	for _, m := range slices.Concat(x.Scratchpad, x.Findings) {
		x.Messages = max(x.Messages, m.Number)
	}
	for _, l := range x.Claims {
		x.Fence = max(x.Fence, l.Token)
	}
	for _, h := range x.Handoffs {
		x.Handed = max(x.Handed, h.Number)
	}
	for i, a := range x.Agents {
		x.Agents[i] = a.within(x.Messages)
	}
}

func (x *section) project() *project {
	p := newProject(x.Root)
	for _, a := range x.Agents {
		p.agents[a.ID] = a
	}
	for _, l := range x.Claims {
		p.leases.Put(l)
	}
	for _, h := range x.Handoffs {
		p.fileHandoff(h)
	}
	p.messages = newMessages(x.Scratchpad, x.Findings, x.Messages)
	p.fence, p.handed = x.Fence, x.Handed
	return p
}
