package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// Draft is a task to be created.
type Draft struct {
	Title       string   `json:"title" arg:"1" jsonschema:"what is to be done, in one line of 200 characters at most"`
	Description string   `json:"description,omitempty" short:"d" jsonschema:"all that is needed to do it"`
	ToAgent     string   `json:"to_agent,omitempty" alias:"to" jsonschema:"who is to do it: an agent's id, the beginning of one, or a type of which any one agent may claim it"`
	Parent      string   `json:"parent,omitempty" jsonschema:"the task that this one is a part of"`
	References  []string `json:"references,omitempty" jsonschema:"facts (category/key), tasks or files that belong to it"`
}

// CreatedTask is a task that was created.
type CreatedTask struct {
	Task     Task     `json:"task"`
	Note     string   `json:"note,omitempty"` // why it may wait long
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

// Create makes a task. To_agent is an agent or a type, which may be one that nobody
// has yet; without it the task belongs to whoever claims it first.
func (s *Store) Create(ctx context.Context, d Draft) (CreatedTask, error) {
	in := &input{s: s}
	r := &record{
		Task:   Task{Project: s.opts.ProjectHash, State: Created, Title: in.line("title", d.Title, MaxTitle), CreatedBy: s.actor.name()},
		thread: thread{Description: in.text("description", d.Description), References: in.references(d.References)},
	}
	to := in.agentName("to_agent", d.ToAgent)
	if in.err == nil && r.Title == "" {
		in.fail("title", "needs title")
	}
	if in.err != nil {
		return CreatedTask{}, in.err
	}
	err := s.settle(ctx) // what is created for an agent is no part of what it handed off before
	if err != nil {
		return CreatedTask{}, err
	}
	var note string
	if r.Assignee, note, err = s.resolve(ctx, to); err != nil {
		if e, ok := errors.AsType[*NotFoundError](err); ok {
			err = refusal.NotFound("%s; without to_agent whoever claims the task does it", e.What)
		}
		return CreatedTask{}, err
	}
	err = s.update(ctx, func(st *state, now time.Time) ([]event, error) {
		return st.create(r, d.Parent, now.UTC())
	})
	return CreatedTask{r.Task.shown(), note, in.redacted}, err
}

// create decides about a new task, of which everything is known but its id,
// its parent and its time.
func (s *state) create(r *record, parent string, now time.Time) ([]event, error) {
	if parent != "" {
		p, err := s.find(r.Project, "parent", parent)
		if err != nil {
			return nil, err
		}
		r.Parent = p.ID
	}
	r.ID = newID(r.Project+"\x00"+r.Title, now, func(id string) bool { return s.projects[r.Project][id] != nil })
	r.CreatedAt, r.UpdatedAt = now, now
	r.History = []Transition{{To: Created, By: r.CreatedBy, At: now, Assignee: r.Assignee, Parent: r.Parent}}
	return []event{{Create: r}}, nil
}

// resolve asks the directory whom a name stands for, and why that one may be long in
// coming.
func (s *Store) resolve(ctx context.Context, name string) (id, note string, err error) {
	if name == "" || s.opts.Agents == nil {
		return name, "", nil
	}
	return s.opts.Agents.Resolve(ctx, name)
}

// Update is what is to be done with a task.
type Update struct {
	TaskID       string `json:"task_id" arg:"1" jsonschema:"the task's id, or the beginning of it"`
	State        string `json:"state,omitempty" arg:"2" jsonschema:"the state it comes to: Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected"`
	Message      string `json:"message,omitempty" short:"m" jsonschema:"why, or what came of it; kept in the history"`
	Artifact     string `json:"artifact,omitempty" jsonschema:"a text that the work brought forth: a report, a patch"`
	ArtifactName string `json:"artifact_name,omitempty" jsonschema:"what it is called (default result)"`
	ToAgent      string `json:"to_agent,omitempty" alias:"to" jsonschema:"give the task to this agent or type instead"`
	Parent       string `json:"parent,omitempty" jsonschema:"make it a part of this task"`
}

// Updated is what became of a task.
type Updated struct {
	Task     Task     `json:"task"`
	From     State    `json:"from"`
	To       State    `json:"to"`
	Why      string   `json:"why,omitempty"`
	Artifact string   `json:"artifact,omitempty"` // its name
	Open     []string `json:"open_children,omitempty"`
	Note     string   `json:"note,omitempty"` // why the new assignee may be long in coming
	Redacted []string `json:"redacted,omitempty"`

	was       Task
	stepped   bool // a state was asked for
	given     bool // another assignee was
	claimed   bool
	unchanged bool
}

// Text gives the answer's lines.
func (r Updated) Text() string {
	verb := "updated"
	switch {
	case r.unchanged && r.claimed:
		return fmt.Sprintf("Task %s is already claimed by %s (state: %s)", r.Task.ID, prose.Brief(r.Task.Assignee), r.To)
	case r.unchanged:
		return fmt.Sprintf("Task %s is as it was (state: %s)", r.Task.ID, r.To)
	case r.claimed:
		verb = "claimed by " + prose.Brief(r.Task.Assignee)
	}
	text := fmt.Sprintf("Task %s %s: ", r.Task.ID, verb)
	more := r.more()
	if r.stepped || r.claimed || len(more) == 0 {
		text += strings.Join(append([]string{fmt.Sprintf("%s → %s", r.From, r.To)}, more...), "\n  ")
	} else {
		text += strings.Join(more, ", ")
	}
	if len(r.Open) > 0 {
		text += "\n  still open below it: " + strings.Join(r.Open, ", ")
	}
	if r.Note != "" {
		text += "\n  " + r.Note
	}
	return text + prose.Redacted(r.Redacted)
}

// more says what changed beside the state, of what was asked for.
func (r Updated) more() []string {
	var out []string
	if r.given {
		out = append(out, "assignee: "+prose.Brief(r.Task.Assignee))
	}
	if r.was.Parent != r.Task.Parent {
		out = append(out, "parent: "+r.Task.Parent)
	}
	if r.Artifact != "" {
		out = append(out, "artifact: "+prose.Brief(r.Artifact))
	}
	if r.claimed && r.Why != "" {
		out = append(out, prose.Brief(r.Why))
	}
	return out
}

// Update moves a task to another state, by the table in states.go. Working
// means "I am at it": of a task that is free for the caller it is a claim, and
// one that is another agent's it does not begin. Artifacts, the assignee and
// the parent can be given with a state or alone, while the task is open. An
// agent that neither has the task nor gave it gets a [TakenError].
func (s *Store) Update(ctx context.Context, a Update) (Updated, error) {
	in := &input{s: s}
	w := taskChange{
		project: s.opts.ProjectHash, id: a.TaskID, agent: s.actor.Agent, by: s.actor.name(), parent: a.Parent,
		why: in.text("message", a.Message), assignee: in.agentName("to_agent", a.ToAgent),
	}
	if text := in.text("artifact", a.Artifact); text != "" {
		w.artifact = &artifact{Name: cmp.Or(in.line("artifact_name", a.ArtifactName, MaxReference), "result"), Text: text}
	}
	if in.err != nil {
		return Updated{}, in.err
	}
	if a.State != "" || w.artifact == nil && w.assignee == "" && w.parent == "" {
		var err error
		if w.to, err = parseState(a.State); err != nil {
			return Updated{}, err
		}
	}
	err := s.settle(ctx)
	if err != nil {
		return Updated{}, err
	}
	var note string
	if w.assignee, note, err = s.resolve(ctx, w.assignee); err != nil {
		return Updated{}, err
	}
	r, err := s.do(ctx, w)
	r.Note = note
	if e, ok := errors.AsType[*TakenError](err); ok {
		e.Silent = s.silent(ctx, Task{Assignee: e.By, State: Working}, nil)
	}
	r.Redacted = in.redacted
	return r, err
}

// Cancellation is a task to be canceled.
type Cancellation struct {
	TaskID  string `json:"task_id" arg:"1" jsonschema:"the task's id, or the beginning of it"`
	Message string `json:"message,omitempty" short:"m" jsonschema:"why"`
}

// Cancel ends a task that is not wanted any more. Tasks below it stay as they
// are; those still open are named.
func (s *Store) Cancel(ctx context.Context, a Cancellation) (Updated, error) {
	return s.Update(ctx, Update{TaskID: a.TaskID, State: string(Canceled), Message: a.Message})
}

// TaskClaim is a task to be claimed.
type TaskClaim struct {
	TaskID string `json:"task_id" arg:"1" jsonschema:"the task's id, or the beginning of it"`
}

// Claim takes a task that is nobody's, or addressed to the caller's type, or given by
// the caller to a type of which nobody has claimed it, and begins it. Of all that claim one at the same time exactly one has it; the
// others get a [TakenError]. The task of an agent that went silent may be
// claimed too: that is the only way it changes hands without its holder.
func (s *Store) Claim(ctx context.Context, a TaskClaim) (Updated, error) {
	if s.actor.Agent == "" {
		return Updated{}, refusal.Argument("agent", "a claim needs agent: register first and give the id")
	}
	w := taskChange{project: s.opts.ProjectHash, id: a.TaskID, agent: s.actor.Agent, by: s.actor.name(), claim: true}
	if err := s.settle(ctx); err != nil {
		return Updated{}, err
	}
	t, err := s.task(ctx, "task_id", a.TaskID)
	if err != nil {
		return Updated{}, err
	}
	if t.Assignee == s.actor.Agent || w.canTake(t) {
		return s.do(ctx, w)
	}
	if since := s.silent(ctx, t, nil); since != nil {
		w.silent = t.Assignee
		w.why = fmt.Sprintf("%s silent since %s", t.Assignee, stamp(*since))
	}
	return s.do(ctx, w)
}

// task is a task as it is now.
func (s *Store) task(ctx context.Context, argument, id string) (Task, error) {
	var t Task
	err := s.view(ctx, func(st *state, _ time.Time) error {
		r, err := st.find(s.opts.ProjectHash, argument, id)
		if err == nil {
			t = r.Task
		}
		return err
	})
	return t, err
}

// do commits a change.
func (s *Store) do(ctx context.Context, w taskChange) (Updated, error) {
	var r Updated
	err := s.update(ctx, func(st *state, now time.Time) ([]event, error) {
		c, err := w.decide(st)
		if err != nil {
			return nil, err
		}
		old := st.projects[w.project][c.ID]
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
		if r.To.Final() {
			r.Open = openIDs(st.children(w.project, old.ID))
		}
		return []event{{Change: &c}}, nil
	})
	if err != nil {
		return Updated{}, err
	}
	return r, nil
}

func openIDs(list []*record) []string {
	var out []string
	for _, r := range list {
		if !r.State.Final() {
			out = append(out, r.ID)
		}
	}
	return out
}

// Comment is a message to a task's thread.
type Comment struct {
	TaskID  string `json:"task_id" arg:"1" jsonschema:"the task's id, or the beginning of it"`
	Message string `json:"message" arg:"2" short:"m" jsonschema:"what is to be said to those who work on it"`
}

// Commented is a task with one message more.
type Commented struct {
	Task     Task     `json:"task"`
	Redacted []string `json:"redacted,omitempty"`
}

// Text gives the answer's line.
func (r Commented) Text() string {
	return "Message added to task " + r.Task.ID + prose.Redacted(r.Redacted)
}

// Message adds to a task's thread. Its state stays as it is; one that is final
// takes no more messages, as A2A has it.
func (s *Store) Message(ctx context.Context, m Comment) (Commented, error) {
	in := &input{s: s}
	text := in.text("message", m.Message)
	if in.err != nil {
		return Commented{}, in.err
	}
	if text == "" {
		return Commented{}, refusal.Missing("message", "")
	}
	r := Commented{Redacted: in.redacted}
	if err := s.settle(ctx); err != nil {
		return r, err
	}
	err := s.update(ctx, func(st *state, now time.Time) ([]event, error) {
		old, err := st.find(s.opts.ProjectHash, "task_id", m.TaskID)
		if err != nil {
			return nil, err
		}
		if old.State.Final() {
			return nil, fmt.Errorf("no message added: %w", &TransitionError{Task: old.ID, From: old.State})
		}
		c := change{Project: old.Project, ID: old.ID, By: s.actor.name(), Message: text}
		r.Task = old.with(&c, now.UTC()).shown()
		return []event{{Change: &c}}, nil
	})
	return r, err
}

// Reassign moves all open tasks of an agent to another, or to a type, in one commit and
// gives their ids. With the open tasks that the agent gave to others, an agent that
// takes over stands in for it: it may cancel them and answer what they wait for. Done
// again it finds nothing to move, unless the agent was given tasks in between. The
// directory is not asked: its own writer may be the caller.
func (s *Store) Reassign(ctx context.Context, from, to, reason string) ([]string, error) {
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
	err := s.update(ctx, func(st *state, now time.Time) (events []event, err error) {
		ids = []string{}
		for _, r := range st.open(s.opts.ProjectHash, func(t *Task) bool { return t.Assignee == from || t.giver() == from }) {
			c := &change{Project: s.opts.ProjectHash, ID: r.ID, To: r.State, By: cmp.Or(s.actor.Agent, from), Why: reason}
			if r.Assignee == from && from != to {
				c.Assignee = to
				ids = append(ids, r.ID)
			}
			if r.giver() == from && from != to && typeOf(to) != "" {
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
