package tasks

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
)

// NextTask is the result of next.
type NextTask struct {
	Task     *Details  `json:"task"` // nil: there is none
	Claimed  bool      `json:"claimed,omitempty"`
	Previous []Outcome `json:"previous,omitempty"` // what the tasks before it left, the newest first
	Open     int       `json:"open"`               // tasks that are not finished
	Held     int       `json:"held_back"`          // of them, those that wait for another task
	Others   int       `json:"of_others"`          // of them, those of other agents and types
	Blocked  []Blocked `json:"blocked,omitempty"`  // the tasks that hold the held ones back for good

	agent string
}

// Outcome is what a completed task left to those after it.
type Outcome struct {
	Task      Task       `json:"task"`
	Result    string     `json:"result,omitempty"` // the message with which it was completed
	Message   string     `json:"message,omitempty"`
	Artifacts []Artifact `json:"artifacts,omitempty"`
}

// previousShown is how many earlier tasks next tells about.
const previousShown = 3

// Next gives the caller its unfinished task. If it has none, Next claims the first task of the
// plan that is free for it and not held back. It does so in one step, so two callers never get
// the same one. A task of a silent agent is free too. A task with open parts is not given; its
// parts are.
func (s *Store) Next(ctx context.Context, _ NoArgs) (NextTask, error) {
	if err := s.registered(ctx); err != nil {
		return NextTask{}, err
	}
	agent := s.actor.Agent
	silent, err := s.silentAssignees(ctx)
	if err != nil {
		return NextTask{}, err
	}
	var r NextTask
	err = s.update(ctx, func(p project, now time.Time) ([]event, error) {
		r = NextTask{agent: agent}
		t := p.tree()
		x := t.next(agent, silent, func(t *Task) bool { return t.freeFor(agent) }, &r)
		if x == nil {
			return nil, nil
		}
		r.Previous = t.outcomes(x)
		w := taskChange{id: x.ID, agent: agent, by: s.actor.name(), claim: true}
		if silent[x.Assignee] != nil && x.Assignee != agent {
			w.silent, w.why = x.Assignee, x.Assignee+" is silent"
		}
		c, err := w.decide(p)
		if err != nil {
			return nil, err
		}
		changed := x.with(&c, now.UTC())
		r.Task, r.Claimed = new(t.details(changed, now)), x.Assignee != agent
		if c.empty() {
			return nil, nil
		}
		return []event{{Change: &c}}, nil
	})
	return r, err
}

// OpenWork is what waits for an agent: its open tasks, and what next would give it.
type OpenWork struct {
	Own  []Task // its open tasks: first what next gives, then by the plan
	Next *Task  // what next would claim for it; nil if that is one of Own, or there is none
}

// OpenWork finds an agent's open tasks and the task that next would give it. It claims
// nothing. An agent that has not registered yet has no id; isKind then reports whether
// tasks addressed to a type are for it.
func (s *core) OpenWork(ctx context.Context, agent string, isKind func(kind string) bool) (a OpenWork, err error) {
	silent, err := s.silentAssignees(ctx)
	if err != nil {
		return a, err
	}
	free := func(t *Task) bool {
		return t.freeFor(agent) || agent == "" && t.unclaimed() && isKind(t.Assignee)
	}
	err = s.view(ctx, func(p project, _ time.Time) error {
		a = OpenWork{}
		t := p.tree()
		x := t.next(agent, silent, free, &NextTask{})
		if x != nil && (agent == "" || x.Assignee != agent) {
			a.Next = new(x.shown())
		}
		for y := range inOrder(t.parts) {
			switch {
			case agent == "" || y.Assignee != agent || y.State.Final():
			case x != nil && y.ID == x.ID:
				a.Own = slices.Insert(a.Own, 0, y.shown())
			default:
				a.Own = append(a.Own, y.shown())
			}
		}
		return nil
	})
	return a, err
}

// next chooses the task for an agent, and counts the open ones.
func (t tree) next(agent string, silent map[string]*time.Time, free func(*Task) bool, r *NextTask) (first *record) {
	known := map[*wait]bool{}
	for x := range inOrder(t.parts) {
		if x.State.Final() {
			continue
		}
		r.Open++
		own, wait := agent != "" && x.Assignee == agent, t.waitsFor(x)
		switch {
		case !own && !free(&x.Task) && silent[x.Assignee] == nil:
			r.Others++
		case wait != nil:
			r.Held++
			if wait.blocked != nil && !known[wait] { // the parts of a phase wait for the same
				known[wait] = true
				r.Blocked = append(r.Blocked, *wait.blocked)
			}
		case !t.ready(x):
		case own && x.State == Working:
			return x // what it has begun comes first
		case first == nil:
			first = x
		}
	}
	return first
}

// outcomes is what the completed tasks before x left: those it waits for with their parts, and
// its earlier siblings.
func (t tree) outcomes(x *record) (out []Outcome) {
	before := map[string]*record{}
	var add func(y *record)
	add = func(y *record) {
		if y == nil || before[y.ID] != nil {
			return
		}
		before[y.ID] = y
		for _, part := range t.parts[y.ID] {
			add(part)
		}
	}
	for up := x; up != nil; up = t.project[up.Parent] {
		for _, id := range up.After {
			add(t.project[id])
		}
		for _, sibling := range t.parts[up.Parent] {
			if up.Parent != "" && sibling.Order < up.Order {
				add(sibling)
			}
		}
	}
	list := slices.SortedFunc(maps.Values(before), func(a, b *record) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(b.Order, a.Order), strings.Compare(a.ID, b.ID))
	})
	for _, y := range list {
		if y.State != Completed || y.Phase {
			continue
		}
		l := Outcome{Task: y.shown(), Artifacts: y.Artifacts}
		if n := len(y.History); n > 0 {
			l.Result = y.History[n-1].Why
		}
		if n := len(y.thread.Messages); n > 0 {
			l.Message = y.thread.Messages[n-1].Text
		}
		if out = append(out, l); len(out) == previousShown {
			break
		}
	}
	return out
}

// Text gives the answer's lines.
func (r NextTask) Text() string { return r.TextIn(prose.MCP) }

// TextIn gives the answer's lines in the caller's syntax.
func (r NextTask) TextIn(call prose.Syntax) string {
	if r.Task == nil {
		text := "No task is next for " + prose.Brief(r.agent) + "."
		if r.Open > 0 {
			text += fmt.Sprintf(" Open: %d, held back: %d, of others: %d.", r.Open, r.Held, r.Others)
		}
		return text + blockedLines(r.Blocked, func(b Blocked) string {
			return fmt.Sprintf("%s waits for %s; %s", b.ID, b.what(), freeing(call, b.ID))
		})
	}
	how := "already of"
	if r.Claimed {
		how = "claimed by"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Next, %s %s:\n%s", how, prose.Brief(r.agent), r.Task.TextIn(call))
	for i, l := range r.Previous {
		if i == 0 {
			b.WriteString("\nLeft by the tasks before it:")
		}
		fmt.Fprintf(&b, "\n  %s", l.Task.named())
		if l.Result != "" {
			fmt.Fprintf(&b, "\n%s", prose.Indent(l.Result, "    "))
		}
		if l.Message != "" {
			fmt.Fprintf(&b, "\n    Message:\n%s", prose.Indent(l.Message, "      "))
		}
		for _, a := range l.Artifacts {
			fmt.Fprintf(&b, "\n    Artifact %s:\n%s", prose.Brief(a.Name), prose.Indent(a.Text, "      "))
		}
	}
	return b.String()
}
