package tasks

import (
	"cmp"
	"slices"
	"strings"

	"leanctx/internal/refusal"
)

// taskChange is a requested change of a task: an update or a claim. decide is the whole
// policy of who may do what when.
type taskChange struct {
	id        string
	agent, by string // by is set also for a caller that is no agent
	to        State  // empty: unchanged
	why       string
	artifact  *artifact
	assignee  string   // the new assignee
	parent    string   // the new parent task
	after     []string // the tasks that it waits for from now on; nil: unchanged
	claim     bool     // the caller takes the task, and starts it if nobody has
	silent    string   // the assignee, if it is known to be silent
}

// decide returns the change to commit. It is empty if the task is already as wanted.
func (w taskChange) decide(p project) (change, error) {
	r, err := p.find("task_id", w.id)
	if err != nil {
		return change{}, err
	}
	t := r.Task
	c := change{ID: t.ID, By: w.by, Why: w.why, Artifact: w.artifact}
	switch {
	case t.State.Final():
		return c, &TransitionError{t.ID, t.State, w.to}
	case w.claim:
		err = w.take(t, &c)
	case !w.may(t) && (w.to != "" || w.assignee != "" || w.artifact != nil || len(w.after) > 0):
		err = &TakenError{Task: t.ID, By: t.Assignee, Creator: t.giver()}
	case w.to != "":
		err = w.step(t, &c)
	}
	if err == nil {
		err = w.place(p, t, &c)
	}
	if err == nil && len(w.after) > 0 {
		err = w.waitFor(p, r, &c)
	}
	if err == nil && (c.Parent != "" || c.Planned != nil) {
		x := *r
		if x.Parent = cmp.Or(c.Parent, x.Parent); c.Planned != nil {
			x.After = c.Planned.After
		}
		err = p.placed(&x, c.Planned == nil)
	}
	if err == nil && c.To == "" && (c.Assignee != "" || c.Parent != "" || c.Planned != nil || c.Why != "") {
		c.To = t.State // a line for the history
	}
	return c, err
}

// empty reports whether the change changes nothing.
func (c change) empty() bool {
	return c.To == "" && c.Artifact == nil && c.Message == "" && c.Planned == nil
}

// may reports whether the caller may set the task's state. The assignee may, and anybody who
// could become it. The giver or its stand-in may. A caller that is no agent may too: a person,
// or a client that did not register.
func (w taskChange) may(t Task) bool {
	return w.agent == "" || w.agent == t.Assignee || w.canTake(t) || w.gave(t)
}

func (w taskChange) gave(t Task) bool { return w.agent == t.CreatedBy || w.agent == t.StandsIn }

// canTake reports whether the caller may take the task. The giver may take an unclaimed
// task even if it is addressed to another type.
func (w taskChange) canTake(t Task) bool { return t.freeFor(w.agent) || w.gave(t) && t.unclaimed() }

// place sets the assignee or the parent.
func (w taskChange) place(p project, t Task, c *change) (err error) {
	if w.assignee != "" && w.assignee != t.Assignee {
		c.Assignee = w.assignee
	}
	if w.parent != "" {
		if c.Parent, err = p.below(t, w.parent); c.Parent == t.Parent {
			c.Parent = ""
		}
	}
	return err
}

// waitFor sets the tasks that hold this one back.
func (w taskChange) waitFor(p project, x *record, c *change) error {
	after, err := p.waitList(w.after)
	if err != nil || slices.Equal(after, x.After) {
		return err
	}
	c.Planned = &planned{x.Title, x.Description, cmp.Or(c.Parent, x.Parent), after, x.Plan, x.Order}
	c.Why = cmp.Or(c.Why, "after: "+cmp.Or(strings.Join(after, ", "), noTask))
	return nil
}

// take decides a claim.
func (w taskChange) take(t Task, c *change) error {
	switch {
	case t.Assignee == w.agent:
		c.Why = ""
	case w.canTake(t), w.silent != "" && t.Assignee == w.silent:
		c.Assignee = w.agent
	default:
		return &TakenError{Task: t.ID, By: t.Assignee}
	}
	if t.State == Created {
		c.To = Working
	}
	return nil
}

// step decides a transition by a caller that may make one. An agent that works on an
// unclaimed task becomes its assignee. The giver cannot work on a task that has an
// assignee.
func (w taskChange) step(t Task, c *change) error {
	if !slices.Contains(t.State.Next(), w.to) {
		return &TransitionError{t.ID, t.State, w.to}
	}
	c.To = w.to
	switch {
	case w.agent == "" || w.agent == t.Assignee || w.to == Canceled || w.to == Rejected:
	case w.canTake(t):
		c.Assignee = w.agent
	case w.to == Working && !t.State.Interrupted():
		return &TakenError{Task: t.ID, By: t.Assignee}
	}
	return nil
}

// below is the id of the new parent of t.
func (p project) below(t Task, parent string) (string, error) {
	x, err := p.parent(parent, p.tree().levels(p[t.ID]))
	if err != nil {
		return "", err
	}
	for up := x; up != nil; up = p[up.Parent] {
		if up.ID == t.ID {
			return "", refusal.Argument("parent", "task %s cannot be below %s, which is the same or already below it", t.ID, x.ID)
		}
	}
	return x.ID, nil
}
