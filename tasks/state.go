package tasks

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"leanctx/internal/args"
	"leanctx/internal/journal"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// Task is a task as lists show it. Times are recorded times in UTC.
type Task struct {
	ID        string    `json:"id"`
	Project   string    `json:"project,omitempty"` // 16 hex digits; left out of answers
	State     State     `json:"state"`
	Assignee  string    `json:"assignee,omitempty"` // an agent's id, or a type: any one agent of it may take the task
	Title     string    `json:"title"`
	CreatedBy string    `json:"created_by"`
	StandsIn  string    `json:"stands_in,omitempty"` // the agent that CreatedBy handed its work to; it acts as the giver
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`         // the last change of any kind
	WorkedAt  time.Time `json:"worked_at,omitzero"` // when it was last Working
	Parent    string    `json:"parent,omitempty"`   // id of the task above it
	Messages  int       `json:"message_count"`      // number of messages
	After     []string  `json:"after,omitempty"`    // ids of the tasks that must be completed before it
	Plan      string    `json:"plan,omitempty"`     // the item of a plan that it was made from: file#name
	Phase     bool      `json:"phase,omitempty"`    // a heading of that plan
	Order     int       `json:"order,omitempty"`    // its place among the tasks of one parent; 0: by age
}

// Message is one message of a task's thread.
type Message struct {
	ID   string    `json:"id,omitempty"` // as its sender gave it
	By   string    `json:"by"`
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// Artifact is something that the work produced.
type Artifact struct {
	Name string    `json:"name"`
	By   string    `json:"by"`
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// Transition is one line of a task's history. From and To are equal for a change of
// assignee or parent, and for a progress report.
type Transition struct {
	From     State     `json:"from,omitempty"` // empty: the task was created
	To       State     `json:"to"`
	By       string    `json:"by"`
	At       time.Time `json:"at"`
	Why      string    `json:"why,omitempty"`
	Assignee string    `json:"assignee,omitempty"`  // the new one, if it changed
	Parent   string    `json:"parent,omitempty"`    // likewise
	StandsIn string    `json:"stands_in,omitempty"` // likewise
}

// thread is the part of a task that lists do not show.
type thread struct {
	Description string       `json:"description"`
	MessageID   string       `json:"message_id,omitempty"` // of the message that the task came with, as its giver gave it
	References  []string     `json:"references,omitempty"`
	History     []Transition `json:"history"`
	Messages    []Message    `json:"messages,omitempty"`
	Artifacts   []Artifact   `json:"artifacts,omitempty"`

	// What its plan said when it was last read. Somebody may have changed it here since.
	PlanParent string   `json:"plan_parent,omitempty"`
	PlanAfter  []string `json:"plan_after,omitempty"`

	PlanState    string `json:"plan_state,omitempty"`
	PlanAssignee string `json:"plan_assignee,omitempty"`

	FormerPlans []string `json:"former_plans,omitempty"` // its items in other files that it was read from before
}

// record is a task, as it is stored. Records are never changed; a change makes a new one.
type record struct {
	Task
	thread
}

// project holds the tasks of one project by their ids. No task is below itself: see [project.put].
type project map[string]*record

// state holds the projects by their hashes.
type state struct{ projects map[string]project }

func newState() *state { return &state{map[string]project{}} }

func (s *state) put(r *record) {
	p := s.projects[r.Project]
	if p == nil {
		p = project{}
		s.projects[r.Project] = p
	}
	p.put(r)
}

// put adds a task, or another version of one. A task that would be below itself, or too deep,
// comes to the top.
func (p project) put(r *record) {
	for up, above := r, 0; up != nil; up, above = p[up.Parent], above+1 {
		if up.Parent == r.ID || above > 10*maxDepth { // in a damaged file, or by a plan that moves a task below a finished part of it
			r = new(*r)
			r.Parent = ""
			break
		}
	}
	p[r.ID] = r
}

// event is one change of the state, as the journal keeps it. Exactly one member is set.
// None is set in journals with a kind of event that is no longer used.
type event struct {
	Create *record `json:"create,omitempty"`
	Change *change `json:"change,omitempty"`

	// Move is of former versions and is not read: the changes beside it say all that it says. It is
	// here so that it is no kind of a newer version.
	Move json.RawMessage `json:"move,omitempty"`
}

// change is one change of a task, made at the time of its commit.
type change struct {
	Project   string    `json:"project,omitempty"`
	ID        string    `json:"id"`
	By        string    `json:"by"`
	To        State     `json:"to,omitempty"` // set if the history gets a line
	Why       string    `json:"why,omitempty"`
	Assignee  string    `json:"assignee,omitempty"`  // the new one
	Parent    string    `json:"parent,omitempty"`    // the new one
	StandsIn  string    `json:"stands_in,omitempty"` // the new one
	Message   string    `json:"message,omitempty"`
	MessageID string    `json:"message_id,omitempty"`
	Artifact  *artifact `json:"artifact,omitempty"`
	Planned   *planned  `json:"planned,omitempty"` // set if the task's plan changed
}

// planned is what a plan says of a task.
type planned struct {
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Parent      string   `json:"parent,omitempty"`
	After       []string `json:"after,omitempty"`
	Plan        string   `json:"plan"`
	Order       int      `json:"order"`
}

// artifact is the part of an [Artifact] that is not already in the change.
type artifact struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// sound reports whether the ids and states of a change are such as this program writes. A member of
// a team can write any: a change with others is void, so that none reaches an answer.
func (c *change) sound() bool {
	return c.To.known() && prose.IsWord(c.ID, c.Parent) && (c.Planned == nil || prose.IsWord(c.Planned.Parent) && prose.IsWord(c.Planned.After...))
}

func (r *record) sound() bool {
	return r.State.known() && r.Task.Messages >= 0 && r.Task.Messages <= math.MaxInt32 && prose.IsWord(r.ID, r.Parent) && prose.IsWord(r.After...) &&
		!slices.ContainsFunc(r.History, func(h Transition) bool { return !h.From.known() || !h.To.known() || !prose.IsWord(h.Parent) })
}

// known reports whether a state is one of the table, or none.
func (s State) known() bool { return s == "" || slices.Contains(allStates(), s) }

func (s *state) fold(e event, at time.Time) {
	switch {
	case e.Create != nil && e.Create.ID != "" && e.Create.sound(): // one without an id would be its own parent
		r := *e.Create
		if r.UpdatedAt.After(at) { // else no change would count until then
			r.UpdatedAt = at
		}
		s.put(&r)
	case e.Change != nil && e.Change.sound():
		// The task may be missing because its commit was damaged; the journal reports
		// that.
		if r := s.projects[e.Change.Project][e.Change.ID]; r != nil {
			s.put(r.with(e.Change, at))
		}
	}
}

// with is the task after a change. Folding a change again changes nothing: then `at` is
// not after the task's last change.
func (r *record) with(c *change, at time.Time) *record {
	if !at.After(r.UpdatedAt) {
		return r
	}
	x := *r
	x.UpdatedAt = at
	if c.To != "" {
		if x.State == Working || c.To == Working {
			x.WorkedAt = at
		}
		x.History = append(slices.Clip(x.History), Transition{
			From: x.State, To: c.To, By: c.By, At: at, Why: c.Why, Assignee: c.Assignee, Parent: c.Parent, StandsIn: c.StandsIn,
		})
		x.State = c.To
	}
	x.Assignee, x.Parent, x.StandsIn = cmp.Or(c.Assignee, x.Assignee), cmp.Or(c.Parent, x.Parent), cmp.Or(c.StandsIn, x.StandsIn)
	if c.Message != "" {
		x.Task.Messages++
		x.thread.Messages = append(slices.Clip(x.thread.Messages), Message{ID: c.MessageID, By: c.By, At: at, Text: c.Message})
	}
	if p := c.Planned; p != nil {
		x.Title, x.Description, x.Parent, x.After, x.Plan, x.Order = p.Title, p.Description, p.Parent, p.After, p.Plan, p.Order
	}
	if a := c.Artifact; a != nil {
		x.Artifacts = append(slices.Clip(x.Artifacts), Artifact{Name: a.Name, By: c.By, At: at, Text: a.Text})
	}
	return &x
}

// machine implements the journal's state machine: make, fold and write the state.
type machine struct{}

var _ journal.Machine[*state, event] = machine{}

func (machine) New() *state { return newState() }

func (machine) Fold(s *state, c journal.Commit[event]) *state {
	for _, e := range c.Events {
		s.fold(e, c.At.UTC())
	}
	return s
}

func (machine) Clone(s *state) *state {
	c := newState()
	for hash, list := range s.projects {
		c.projects[hash] = maps.Clone(list)
	}
	return c
}

// document is the form of the state in tasks.json.
type document struct {
	journal.Header
	Tasks []*record `json:"tasks"`
	Old   []*record `json:"old,omitempty"` // earlier versions kept old finished tasks here
}

// Encode writes tasks by project and age.
func (machine) Encode(w io.Writer, s *state, h journal.Header) error {
	d := document{Header: h, Tasks: []*record{}}
	for _, hash := range slices.Sorted(maps.Keys(s.projects)) {
		d.Tasks = slices.AppendSeq(d.Tasks, slices.Values(slices.SortedFunc(maps.Values(s.projects[hash]), byAge)))
	}
	return journal.EncodeDocument(w, d)
}

func (machine) Decode(data []byte) (*state, error) {
	var d document
	if err := journal.DecodeDocument(data, &d); err != nil {
		return nil, err
	}
	s := newState()
	for _, r := range append(d.Tasks, d.Old...) {
		if r == nil || r.ID == "" {
			return nil, fmt.Errorf("a task has no id")
		}
		if r.sound() { // a snapshot may come from another machine
			s.put(r)
		}
	}
	return s, nil
}

const (
	idPrefix  = "t-"
	idDigits  = 6 // minimum of a new id
	minPrefix = 3 // minimum of a prefix
)

// newID derives an unused id from recorded data only, so that repeating the decision gives
// the same id.
func newID(seed string, at time.Time, taken func(id string) bool) string {
	sum := sha256.Sum256([]byte(seed + "\x00" + at.UTC().Format(time.RFC3339Nano)))
	digits := hex.EncodeToString(sum[:])
	for n := idDigits; ; n++ {
		if id := idPrefix + digits[:n]; !taken(id) || n == len(digits) {
			return id
		}
	}
}

// find returns the project's task with an id or a unique prefix of one. The letters before
// the digits may be omitted. argument names the argument that holds the id.
func (p project) find(argument, name string) (*record, error) {
	text := strings.TrimSpace(name)
	if text == "" {
		return nil, refusal.Missing(argument, "")
	}
	id := idPrefix + strings.TrimPrefix(strings.ToLower(text), idPrefix)
	if r := p[id]; r != nil {
		return r, nil
	}
	if len(id) < len(idPrefix)+minPrefix {
		return nil, refusal.Argument(argument, "%s %q is too short: give %d digits at least", argument, prose.Clip(text, 60), minPrefix)
	}
	var found []*record
	for _, r := range p {
		if strings.HasPrefix(r.ID, id) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return nil, refusal.NotFound("No task found: %s", prose.Brief(prose.Clip(text, 60)))
	case 1:
		return found[0], nil
	}
	return nil, refusal.Argument(argument, "%s %q is ambiguous: %s", argument, text, namesOf(found))
}

// maxDepth is the most levels of a tree of tasks.
const maxDepth = 100

// parent finds the task given as the parent of others. levels is how many levels of tasks come below it.
func (p project) parent(id string, levels int) (*record, error) {
	x, err := p.find("parent", id)
	if err != nil {
		return nil, err
	}
	if level := p.level(x); level+levels > maxDepth {
		return nil, refusal.Argument("parent", "task %s is at level %d and %s would come below it: a tree has at most %d levels",
			x.ID, level, prose.Count(levels, "level"), maxDepth)
	}
	return x, nil
}

// level is the depth of a task in its tree: 1 at the top.
func (p project) level(x *record) int {
	n := 0
	for up := x; up != nil; up = p[up.Parent] {
		n++
	}
	return n
}

// root is the id of the topmost task above x; x itself if it has no parent.
func (p project) root(x *record) string {
	for up := p[x.Parent]; up != nil; up = p[x.Parent] {
		x = up
	}
	return x.ID
}

// shown is the task as answers show it.
func (t Task) shown() Task {
	t.Project = ""
	return t
}

// named is the task in a sentence.
func (t Task) named() string { return fmt.Sprintf(`%s "%s"`, t.ID, prose.Brief(t.Title)) }

// namesOf lists at most five tasks, by id.
func namesOf(list []*record) string {
	slices.SortFunc(list, func(a, b *record) int { return strings.Compare(a.ID, b.ID) })
	var names []string
	for _, r := range list[:min(len(list), 5)] {
		names = append(names, r.named())
	}
	if more := len(list) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// giver is the agent that may set the task's state beside the assignee: its creator, or
// the agent that stands in for the creator.
func (t Task) giver() string { return cmp.Or(t.StandsIn, t.CreatedBy) }

// unclaimed reports whether the task has no assignee or is addressed to a type.
func (t Task) unclaimed() bool { return args.AgentType(t.Assignee) == "" }

// freeFor reports whether the agent may take the task: it is unassigned, or addressed to
// the agent's type.
func (t Task) freeFor(agent string) bool {
	return t.Assignee == "" || t.Assignee == args.AgentType(agent)
}
