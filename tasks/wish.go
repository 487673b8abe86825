package tasks

import (
	"slices"

	"leanctx/internal/refusal"
)

// wish is what somebody wants done with a task: an update, or a claim. Its
// decide is the whole policy of who may do what when.
type wish struct {
	project, id string
	agent, by   string // by is also set for those who are no agents
	to          State  // empty: as it is
	why         string
	artifact    *piece
	assignee    string // to give the task to
	parent      string // to move it below
	claim       bool   // to take it, and begin it if nobody has
	silent      string // the assignee who is known to be silent
}

// decide makes of a wish the change that is committed; an empty one when all
// is as wished already.
func (w wish) decide(b *board) (change, error) {
	r, err := b.find(w.project, "task_id", w.id)
	if err != nil {
		return change{}, err
	}
	t := r.Task
	c := change{Project: w.project, ID: t.ID, By: w.by, Why: w.why, Artifact: w.artifact}
	switch {
	case t.State.Final():
		return c, &TransitionError{t.ID, t.State, w.to}
	case w.claim:
		err = w.take(t, &c)
	case !w.may(t) && (w.to != "" || w.assignee != "" || w.artifact != nil):
		err = &TakenError{Task: t.ID, By: t.Assignee, Creator: t.giver()}
	case w.to != "":
		err = w.step(t, &c)
	}
	if err == nil {
		err = w.place(b, t, &c)
	}
	if err == nil && c.To == "" && (c.Assignee != "" || c.Parent != "" || c.Why != "") {
		c.To = t.State // a line for the history
	}
	return c, err
}

// empty reports whether nothing is changed.
func (c change) empty() bool { return c.To == "" && c.Artifact == nil && c.Message == "" }

// may reports whether it is the caller's to say how a task stands: as the one
// who has it or could have it, as the one who gave it or stands in for that one,
// or as somebody who is no agent, be it a person or a client that registered none.
func (w wish) may(t Task) bool {
	return w.agent == "" || w.agent == t.Assignee || w.agent == t.CreatedBy || w.agent == t.StandsIn || t.freeFor(w.agent)
}

// place gives the task to somebody else, or moves it below another one.
func (w wish) place(b *board, t Task, c *change) (err error) {
	if w.assignee != "" && w.assignee != t.Assignee {
		c.Assignee = w.assignee
	}
	if w.parent != "" {
		if c.Parent, err = b.below(w.project, t, w.parent); c.Parent == t.Parent {
			c.Parent = ""
		}
	}
	return err
}

// take is a claim.
func (w wish) take(t Task, c *change) error {
	switch {
	case t.Assignee == w.agent:
		c.Why = ""
	case t.freeFor(w.agent), w.silent != "" && t.Assignee == w.silent:
		c.Assignee = w.agent
	default:
		return &TakenError{Task: t.ID, By: t.Assignee}
	}
	if t.State == Created {
		c.To = Working
	}
	return nil
}

// step is a transition by somebody who may make one. Who does the work of a
// task that is free has it from then on; who gave it does not do its work.
func (w wish) step(t Task, c *change) error {
	if !slices.Contains(t.State.Next(), w.to) {
		return &TransitionError{t.ID, t.State, w.to}
	}
	c.To = w.to
	switch {
	case w.agent == "" || w.agent == t.Assignee || w.to == Canceled || w.to == Rejected:
	case t.freeFor(w.agent):
		c.Assignee = w.agent
	case w.to == Working && !t.State.Interrupted():
		return &TakenError{Task: t.ID, By: t.Assignee}
	}
	return nil
}

// below is the id of the task that is to be the parent of t.
func (b *board) below(project string, t Task, parent string) (string, error) {
	p, err := b.find(project, "parent", parent)
	if err != nil {
		return "", err
	}
	// The walk ends even if the file has a circle in it. What is above an old
	// task is old, and no open one.
	up := p
	for range b.projects[project] {
		if up == nil {
			break
		}
		if up.ID == t.ID {
			return "", refusal.Argument("parent", "task %s cannot be below %s, which is the same or already below it", t.ID, p.ID)
		}
		up = b.projects[project][up.Parent]
	}
	return p.ID, nil
}
