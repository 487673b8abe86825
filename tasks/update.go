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
	"leanctx/tasks/state"
)

// Step is what is to be done with a task.
type Step struct {
	TaskID       string `json:"task_id" arg:"1" jsonschema:"the task's id, or the beginning of it"`
	State        string `json:"state,omitempty" arg:"2" jsonschema:"the state it comes to: Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected"`
	Message      string `json:"message,omitempty" short:"m" jsonschema:"why, or what came of it; kept in the history"`
	Artifact     string `json:"artifact,omitempty" jsonschema:"a text that the work brought forth: a report, a patch"`
	ArtifactName string `json:"artifact_name,omitempty" jsonschema:"what it is called (default result)"`
	ToAgent      string `json:"to_agent,omitempty" alias:"to" jsonschema:"give the task to this agent or type instead"`
	Parent       string `json:"parent,omitempty" jsonschema:"make it a part of this task"`
}

// Stepped is what became of a task.
type Stepped struct {
	Task     Task     `json:"task"`
	From     State    `json:"from"`
	To       State    `json:"to"`
	Why      string   `json:"why,omitempty"`
	Artifact string   `json:"artifact,omitempty"` // its name
	Open     []string `json:"open_children,omitempty"`
	Redacted []string `json:"redacted,omitempty"`

	was       Task
	stepped   bool // a state was asked for
	given     bool // another assignee was
	claimed   bool
	unchanged bool
}

// Text gives the answer's lines.
func (r Stepped) Text() string {
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
	return text + prose.Redacted(r.Redacted)
}

// more says what changed beside the state, of what was asked for.
func (r Stepped) more() []string {
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

// Update moves a task to another state, by the table in state.go. Working
// means "I am at it": of a task that is free for the caller it is a claim, and
// one that is another agent's it does not begin. Artifacts, the assignee and
// the parent can be given with a state or alone, while the task is open. An
// agent that neither has the task nor gave it gets a [TakenError].
func (s *Store) Update(ctx context.Context, a Step) (Stepped, error) {
	in := &input{s: s}
	w := wish{
		project: s.opts.ProjectHash, id: a.TaskID, agent: s.actor.Agent, by: s.actor.name(), parent: a.Parent,
		why: in.text("message", a.Message), assignee: in.agentName("to_agent", a.ToAgent),
	}
	if text := in.text("artifact", a.Artifact); text != "" {
		w.artifact = &piece{Name: cmp.Or(in.line("artifact_name", a.ArtifactName, MaxReference), "result"), Text: text}
	}
	if in.err != nil {
		return Stepped{}, in.err
	}
	if a.State != "" || w.artifact == nil && w.assignee == "" && w.parent == "" {
		var err error
		if w.to, err = state.Parse(a.State); err != nil {
			return Stepped{}, err
		}
	}
	err := s.settle(ctx)
	if err != nil {
		return Stepped{}, err
	}
	if w.assignee, err = s.resolve(ctx, w.assignee); err != nil {
		return Stepped{}, err
	}
	r, err := s.do(ctx, w)
	if e, ok := errors.AsType[*TakenError](err); ok {
		e.Silent = s.silent(ctx, Task{Assignee: e.By, State: Working}, nil)
	}
	r.Redacted = in.redacted
	return r, err
}

// Withdrawal is a task to be canceled.
type Withdrawal struct {
	TaskID  string `json:"task_id" arg:"1" jsonschema:"the task's id, or the beginning of it"`
	Message string `json:"message,omitempty" short:"m" jsonschema:"why"`
}

// Cancel ends a task that is not wanted any more. Tasks below it stay as they
// are; those still open are named.
func (s *Store) Cancel(ctx context.Context, a Withdrawal) (Stepped, error) {
	return s.Update(ctx, Step{TaskID: a.TaskID, State: string(Canceled), Message: a.Message})
}

// Taking is a task to be claimed.
type Taking struct {
	TaskID string `json:"task_id" arg:"1" jsonschema:"the task's id, or the beginning of it"`
}

// Claim takes a task that is nobody's or addressed to the caller's type, and
// begins it. Of all that claim one at the same time exactly one has it; the
// others get a [TakenError]. The task of an agent that went silent may be
// claimed too: that is the only way it changes hands without its holder.
func (s *Store) Claim(ctx context.Context, a Taking) (Stepped, error) {
	if s.actor.Agent == "" {
		return Stepped{}, refusal.Argument("agent", "a claim needs agent: register first and give the id")
	}
	w := wish{project: s.opts.ProjectHash, id: a.TaskID, agent: s.actor.Agent, by: s.actor.name(), claim: true}
	if err := s.settle(ctx); err != nil {
		return Stepped{}, err
	}
	t, err := s.task(ctx, "task_id", a.TaskID)
	if err != nil {
		return Stepped{}, err
	}
	if t.Assignee == s.actor.Agent || t.freeFor(s.actor.Agent) {
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
	err := s.view(ctx, func(b *board, _ time.Time) error {
		r, err := b.find(s.opts.ProjectHash, argument, id)
		if err == nil {
			t = r.Task
		}
		return err
	})
	return t, err
}

// do commits a wish.
func (s *Store) do(ctx context.Context, w wish) (Stepped, error) {
	var r Stepped
	err := s.update(ctx, func(b *board, now time.Time) ([]event, error) {
		c, err := w.decide(b)
		if err != nil {
			return nil, err
		}
		old := b.projects[w.project][c.ID]
		changed, err := old.with(&c, now.UTC())
		if err != nil {
			return nil, err
		}
		r = Stepped{
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
			below, err := b.children(w.project, old.ID)
			if err != nil {
				return nil, err
			}
			r.Open = openIDs(below)
		}
		return []event{{Change: &c}}, nil
	})
	if err != nil {
		return Stepped{}, err
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
