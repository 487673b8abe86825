package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/internal/args"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// Draft is the arguments of create.
type Draft struct {
	Title       string   `json:"title" arg:"1" long:"true" jsonschema:"what to do, in one line of at most 200 characters"`
	Description string   `json:"description,omitempty" short:"d" long:"true" jsonschema:"everything needed to do it"`
	ToAgent     string   `json:"to_agent,omitempty" alias:"to" jsonschema:"who should do it: an agent's id, a prefix of it, or a type, of which any one agent may claim it"`
	Parent      string   `json:"parent,omitempty" jsonschema:"the task that this one is a part of"`
	References  []string `json:"references,omitempty" jsonschema:"facts (category/key), tasks or files that belong to it"`
	After       []string `json:"after,omitempty" jsonschema:"tasks that must be completed before it"`
	MessageID   string   `json:"-"` // the giver's id of the message that it came with
}

// CreatedTask is the result of create.
type CreatedTask struct {
	Task     Task     `json:"task"`
	Note     string   `json:"note,omitempty"` // why nobody may take it soon
	Redacted []string `json:"redacted,omitempty"`
}

// Text gives the answer's line.
func (r CreatedTask) Text() string {
	to := ""
	if r.Task.Assignee != "" {
		to = ", to_agent: " + prose.Brief(r.Task.Assignee)
	}
	text := fmt.Sprintf(`Task created: %s (state: %s%s)`, r.Task.named(), r.Task.State, to)
	if r.Note != "" {
		text += "\n  " + r.Note
	}
	return text + prose.Redacted(r.Redacted)
}

// Create makes a task. ToAgent is an agent or a type, which may be one that nobody has
// yet. Without it the task belongs to the first agent that claims it.
func (s *Store) Create(ctx context.Context, d Draft) (CreatedTask, error) {
	in := &input{s: s}
	r := &record{
		Task:   Task{Project: s.opts.ProjectHash, State: Created, Title: in.line("title", d.Title, MaxTitle), CreatedBy: s.actor.name()},
		thread: thread{Description: in.text("description", d.Description), References: in.references(d.References), MessageID: in.line("message_id", d.MessageID, MaxReference)},
	}
	to := in.agentName("to_agent", d.ToAgent)
	if in.err == nil && r.Title == "" {
		in.fail("title", "needs title")
	}
	if in.err != nil {
		return CreatedTask{}, in.err
	}
	var note string
	var err error
	if r.Assignee, note, err = s.resolve(ctx, to); err != nil {
		if e, ok := errors.AsType[*refusal.NotFoundError](err); ok {
			err = refusal.NotFound("%s; leave the agent out, and whoever claims the task does it", e.What)
		}
		return CreatedTask{}, err
	}
	err = s.update(ctx, func(p project, now time.Time) ([]event, error) { return p.create(r, d, now.UTC()) })
	return CreatedTask{r.Task.shown(), note, in.redacted}, err
}

// create returns the events for a new task. The record lacks its id, its time, its
// parent and the tasks that it waits for.
func (p project) create(r *record, d Draft, now time.Time) ([]event, error) {
	r.Parent, r.After = "", nil // they are found again when the commit is decided again
	if d.Parent != "" {
		above, err := p.parent(d.Parent, 1)
		if err != nil {
			return nil, err
		}
		if plain(above.Title) == plain(r.Title) && plain(above.Description) == plain(r.Description) {
			return nil, refusal.Argument("title", "the task says the same as its parent %s: give a part of it, or update the parent with to_agent", above.ID)
		}
		r.Parent = above.ID
	}
	var err error
	if r.After, err = p.waitList(d.After); err != nil {
		return nil, err
	}
	r.ID = newID(r.Project+"\x00"+r.Title, now, func(id string) bool { return p[id] != nil })
	r.CreatedAt, r.UpdatedAt = now, now
	r.History = []Transition{{To: Created, By: r.CreatedBy, At: now, Assignee: r.Assignee, Parent: r.Parent}}
	if len(r.After) > 0 {
		err = p.placed(r, false)
	}
	return []event{{Create: r}}, err
}

// resolve asks the directory for the agent or type with a name. note says why nobody may
// take the task soon.
func (s *core) resolve(ctx context.Context, name string) (id, note string, err error) {
	if name == "" || s.opts.Agents == nil {
		return name, "", nil
	}
	return s.opts.Agents.Resolve(ctx, name)
}

// Update is the arguments of update.
type Update struct {
	TaskID       string   `json:"task_id" arg:"1" jsonschema:"the task's id, or a prefix of it"`
	State        string   `json:"state,omitempty" arg:"2" jsonschema:"the new state: Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected"`
	Message      string   `json:"message,omitempty" short:"m" long:"true" jsonschema:"why, or the outcome; kept in the history"`
	Artifact     string   `json:"artifact,omitempty" long:"true" jsonschema:"a text that the work produced: a report, a patch"`
	ArtifactName string   `json:"artifact_name,omitempty" jsonschema:"name of the artifact (default result)"`
	ToAgent      string   `json:"to_agent,omitempty" alias:"to" jsonschema:"give the task to this agent or type instead"`
	Parent       string   `json:"parent,omitempty" jsonschema:"make it a part of this task"`
	After        []string `json:"after,omitempty" jsonschema:"the tasks that it waits for from now on; none: it waits for no task"`
}

// Updated is the result of update, cancel and claim.
type Updated struct {
	Task     Task      `json:"task"`
	From     State     `json:"from"`
	To       State     `json:"to"`
	Why      string    `json:"why,omitempty"`
	Artifact string    `json:"artifact,omitempty"` // its name
	Open     []string  `json:"open_children,omitempty"`
	Blocked  []Blocked `json:"blocked,omitempty"` // tasks that wait for this one, which will not be completed
	Note     string    `json:"note,omitempty"`    // why the new assignee may not take it soon
	Redacted []string  `json:"redacted,omitempty"`

	was       Task
	stepped   bool // the call changes the state
	given     bool // the call changes the assignee
	claimed   bool
	unchanged bool
}

// Text gives the answer's lines.
func (r Updated) Text() string { return r.TextIn(prose.MCP) }

// TextIn gives the answer's lines in the caller's syntax.
func (r Updated) TextIn(call prose.Syntax) string {
	verb := "updated"
	switch {
	case r.unchanged && r.claimed:
		return fmt.Sprintf("Task %s is already claimed by %s (state: %s)", r.Task.ID, prose.Brief(r.Task.Assignee), r.To)
	case r.unchanged:
		return fmt.Sprintf("Task %s is unchanged (state: %s)", r.Task.ID, r.To)
	case r.claimed:
		verb = "claimed by " + prose.Brief(r.Task.Assignee)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "Task %s %s: ", r.Task.ID, verb)
	more := r.more()
	if r.stepped || r.claimed || len(more) == 0 {
		text.WriteString(strings.Join(append([]string{fmt.Sprintf("%s → %s", r.From, r.To)}, more...), "\n  "))
	} else {
		text.WriteString(strings.Join(more, ", "))
	}
	if len(r.Open) > 0 {
		text.WriteString("\n  still open below it: " + strings.Join(r.Open, ", "))
	}
	text.WriteString(blockedLines(r.Blocked, func(b Blocked) string { return b.ID + " still waits for it; " + freeing(call, b.ID) }))
	if r.Note != "" {
		text.WriteString("\n  " + r.Note)
	}
	return text.String() + prose.Redacted(r.Redacted)
}

// more lists the changes other than the state.
func (r Updated) more() []string {
	var out []string
	if r.given {
		out = append(out, "assignee: "+prose.Brief(r.Task.Assignee))
	}
	if r.was.Parent != r.Task.Parent {
		out = append(out, "parent: "+r.Task.Parent)
	}
	if !slices.Equal(r.was.After, r.Task.After) {
		out = append(out, "after: "+cmp.Or(strings.Join(r.Task.After, ", "), noTask))
	}
	if r.Artifact != "" {
		out = append(out, "artifact: "+prose.Brief(r.Artifact))
	}
	if r.claimed && r.Why != "" {
		out = append(out, prose.Brief(r.Why))
	}
	return out
}

// Update moves a task to another state, by the table in states.go. Working claims a task
// that is free for the caller. It does not start a task of another agent. Artifacts, the
// assignee, the parent and what the task waits for can be set with a state or alone, while the task is open. An
// agent that is neither the assignee nor the giver gets a [TakenError].
func (s *Store) Update(ctx context.Context, a Update) (Updated, error) {
	in := &input{s: s}
	w := taskChange{
		id: a.TaskID, agent: s.actor.Agent, by: s.actor.name(), parent: a.Parent, after: a.After,
		why: in.text("message", a.Message), assignee: in.agentName("to_agent", a.ToAgent),
	}
	if text := in.text("artifact", a.Artifact); text != "" {
		w.artifact = &artifact{Name: cmp.Or(in.line("artifact_name", a.ArtifactName, MaxReference), "result"), Text: text}
	}
	if in.err != nil {
		return Updated{}, in.err
	}
	if a.State != "" || w.artifact == nil && w.assignee == "" && w.parent == "" && len(w.after) == 0 {
		var err error
		if w.to, err = parseState(a.State); err != nil {
			return Updated{}, err
		}
	}
	var note string
	var err error
	if w.assignee, note, err = s.resolve(ctx, w.assignee); err != nil {
		return Updated{}, err
	}
	r, err := s.do(ctx, w)
	r.Note = note
	if e, ok := errors.AsType[*TakenError](err); ok {
		e.Silent = s.silent(ctx, Task{Assignee: e.By, State: Working})[e.By]
	}
	r.Redacted = in.redacted
	return r, err
}

// Cancellation is the arguments of cancel.
type Cancellation struct {
	TaskID  string `json:"task_id" arg:"1" jsonschema:"the task's id, or a prefix of it"`
	Message string `json:"message,omitempty" short:"m" long:"true" jsonschema:"why"`
}

// Cancel ends a task that is no longer wanted. Its subtasks stay as they are; the answer
// names the open ones.
func (s *Store) Cancel(ctx context.Context, a Cancellation) (Updated, error) {
	return s.Update(ctx, Update{TaskID: a.TaskID, State: string(Canceled), Message: a.Message})
}

// TaskClaim is the arguments of claim.
type TaskClaim struct {
	TaskID string `json:"task_id" arg:"1" jsonschema:"the task's id, or a prefix of it"`
}

// Claim takes and starts a task that is unassigned or addressed to the caller's type. It
// also takes an unclaimed task that the caller gave to another type. If several agents
// claim a task at once, exactly one gets it; the others get a [TakenError]. The task of a
// silent agent may be claimed too. There is no other way to take a task from its assignee
// without its help.
func (s *Store) Claim(ctx context.Context, a TaskClaim) (Updated, error) {
	if err := s.registered(ctx); err != nil {
		return Updated{}, err
	}
	w := taskChange{id: a.TaskID, agent: s.actor.Agent, by: s.actor.name(), claim: true}
	t, err := s.task(ctx, "task_id", a.TaskID)
	if err != nil {
		return Updated{}, err
	}
	if t.Assignee == s.actor.Agent || w.canTake(t) {
		return s.do(ctx, w)
	}
	if since := s.silent(ctx, t)[t.Assignee]; since != nil {
		w.silent = t.Assignee
		w.why = fmt.Sprintf("%s silent since %s", t.Assignee, stamp(*since))
	}
	return s.do(ctx, w)
}

// registered refuses a caller that is no agent: it could not be found again as an assignee.
func (s *Store) registered(ctx context.Context) error {
	if s.actor.Agent == "" {
		return refusal.Missing("agent", "the id that register gave; register first")
	}
	id, _, err := s.resolve(ctx, s.actor.Agent)
	if err == nil && s.opts.Agents != nil && (id != s.actor.Agent || args.AgentType(id) == "") {
		err = refusal.NotFound("No agent found: %s (register gives an id)", prose.Brief(s.actor.Agent))
	}
	return err
}

// task returns the current state of a task. One that another machine of a team has just
// created is fetched.
func (s *core) task(ctx context.Context, argument, id string) (t Task, err error) {
	look := func(p project, _ time.Time) error {
		r, err := p.find(argument, id)
		if err == nil {
			t = r.Task
		}
		return err
	}
	err = s.view(ctx, look)
	if _, unknown := errors.AsType[*refusal.NotFoundError](err); unknown && s.opts.Team != nil {
		if err = s.log.Fetch(ctx); err == nil {
			err = s.view(ctx, look)
		}
	}
	return t, err
}

// do commits a change.
func (s *Store) do(ctx context.Context, w taskChange) (Updated, error) {
	var r Updated
	err := s.update(ctx, func(p project, now time.Time) ([]event, error) {
		c, err := w.decide(p)
		if err != nil {
			return nil, err
		}
		old := p[c.ID]
		changed := old.with(&c, now.UTC())
		r = Updated{
			Task: changed.shown(), From: old.State, To: changed.State, Why: c.Why,
			was: old.Task, stepped: w.to != "", given: w.assignee != "" && c.Assignee == w.assignee, claimed: w.claim, unchanged: c.empty(),
		}
		if r.unchanged {
			r.Task = old.shown()
			return nil, nil
		}
		if w.artifact != nil {
			r.Artifact = w.artifact.Name
		}
		events := []event{{Change: &c}}
		if r.To.Final() {
			after := p.with(changed)
			t := after.tree()
			for _, part := range t.parts[old.ID] {
				if !part.State.Final() {
					r.Open = append(r.Open, part.ID)
				}
			}
			r.Blocked = t.blockedBy(changed)
			events = append(events, after.completeAbove(changed, w.by)...)
		}
		return events, nil
	})
	if err != nil {
		return Updated{}, err
	}
	return r, nil
}

// Comment is the arguments of message.
type Comment struct {
	TaskID  string `json:"task_id" arg:"1" jsonschema:"the task's id, or a prefix of it"`
	Message string `json:"message" arg:"2" short:"m" long:"true" jsonschema:"what to tell those who work on it"`
}

// Commented is the result of message.
type Commented struct {
	Task     Task     `json:"task"`
	Redacted []string `json:"redacted,omitempty"`
}

// Text gives the answer's line.
func (r Commented) Text() string {
	return "Message added to task " + r.Task.ID + prose.Redacted(r.Redacted)
}

// Message adds a message to a task's thread and keeps its state. A final task takes no
// message, as in A2A.
func (s *Store) Message(ctx context.Context, m Comment) (Commented, error) {
	return s.comment(ctx, m, "", false)
}

func (s *Store) comment(ctx context.Context, m Comment, messageID string, resume bool) (Commented, error) {
	in := &input{s: s}
	text, id := in.text("message", m.Message), in.line("message_id", messageID, MaxReference)
	if in.err != nil {
		return Commented{}, in.err
	}
	if text == "" {
		return Commented{}, refusal.Missing("message", "")
	}
	r := Commented{Redacted: in.redacted}
	err := s.update(ctx, func(p project, now time.Time) ([]event, error) {
		old, err := p.find("task_id", m.TaskID)
		if err != nil {
			return nil, err
		}
		if old.State.Final() {
			return nil, fmt.Errorf("no message added: %w", &TransitionError{Task: old.ID, From: old.State})
		}
		c := change{ID: old.ID, By: s.actor.name(), Message: text, MessageID: id}
		if resume && old.State.Interrupted() {
			c.To = Working
		}
		r.Task = old.with(&c, now.UTC()).shown()
		return []event{{Change: &c}}, nil
	})
	return r, err
}

// Reassign moves the open tasks of an agent to another agent or type, in one commit, and
// returns their ids: all of them, or those of only. The new agent also stands in for the old one
// as the giver of its open tasks. So it may cancel them and answer their questions. A second call
// finds nothing to move unless the agent got tasks in between. It does not ask the directory,
// because the directory's own writer may be the caller.
func (s *Store) Reassign(ctx context.Context, from, to, reason string, only ...string) ([]string, error) {
	in := &input{s: s}
	from, to, reason = in.agentName("from", from), in.agentName("to", to), in.text("reason", reason)
	switch {
	case in.err != nil:
		return nil, in.err
	case from == "":
		return nil, refusal.Missing("from", "")
	case to == "":
		return nil, refusal.Missing("to", "")
	}
	var ids []string
	err := s.update(ctx, func(p project, now time.Time) (events []event, err error) {
		ids = []string{}
		for _, r := range p.open(func(t *Task) bool {
			return (t.Assignee == from || t.giver() == from) && (only == nil || slices.Contains(only, t.ID))
		}) {
			c := &change{ID: r.ID, To: r.State, By: cmp.Or(s.actor.Agent, from), Why: reason}
			if r.Assignee == from && from != to {
				c.Assignee = to
				ids = append(ids, r.ID)
			}
			if r.giver() == from && from != to && args.AgentType(to) != "" {
				c.StandsIn = to
			}
			if c.Assignee != "" || c.StandsIn != "" {
				events = append(events, event{Change: c})
			}
		}
		return events, nil
	})
	return ids, err
}
