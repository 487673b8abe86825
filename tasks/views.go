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

// TaskRef is the arguments of get.
type TaskRef struct {
	TaskID string `json:"task_id" arg:"1" jsonschema:"the task's id, or a prefix of it"`
}

// Details is everything about one task.
type Details struct {
	Listed
	Description string       `json:"description"`
	References  []string     `json:"references"`
	Context     string       `json:"context_id"` // the topmost task above it, or itself
	Above       *Task        `json:"parent_task,omitempty"`
	Children    []Task       `json:"children"`
	History     []Transition `json:"history"`
	Thread      []Message    `json:"messages"`
	Artifacts   []Artifact   `json:"artifacts"`

	MessageID string `json:"-"` // of the message that it came with, as its giver gave it

	now time.Time
}

// Get shows a task in full: description, messages, history and artifacts.
func (s *core) Get(ctx context.Context, a TaskRef) (Details, error) {
	var r Details
	err := s.view(ctx, func(p project, now time.Time) error {
		x, err := p.find("task_id", a.TaskID)
		if err == nil {
			r = p.tree().details(x, now)
		}
		return err
	})
	if err != nil {
		return Details{}, err
	}
	r.SilentSince = s.silent(ctx, r.Task)[r.Assignee]
	return r, nil
}

// details collects everything about a task. Lists are never nil, so JSON shows [].
func (t tree) details(x *record, now time.Time) Details {
	r := Details{
		Listed: Listed{Task: x.shown()}, Description: x.Description, Context: t.root(x), MessageID: x.MessageID, now: now,
		References: append([]string{}, x.References...), History: append([]Transition{}, x.History...),
		Thread: append([]Message{}, x.thread.Messages...), Artifacts: append([]Artifact{}, x.Artifacts...), Children: []Task{},
	}
	if w := t.waitsFor(x); w != nil && !x.State.Final() {
		r.WaitsFor, r.Blocked = w.by.ID, w.blocked
	}
	if above := t.project[x.Parent]; above != nil {
		r.Above = new(above.shown())
	}
	for _, c := range t.parts[x.ID] {
		r.Children = append(r.Children, c.shown())
	}
	return r
}

// Text gives the answer's lines. Texts of people are indented, so that none can pass for a
// heading.
func (r Details) Text() string { return r.TextIn(prose.MCP) }

// TextIn gives the answer's lines in the caller's syntax.
func (r Details) TextIn(call prose.Syntax) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Task %s [%s]", r.named(), r.State)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "\n  %s: %s", name, fmt.Sprintf(format, args...))
	}
	from := prose.Brief(r.CreatedBy)
	if r.StandsIn != "" {
		from += " (now " + prose.Brief(r.StandsIn) + ")"
	}
	row("From", "%s, %s (%s ago)", from, stamp(r.CreatedAt), prose.Age(r.now, r.CreatedAt))
	switch {
	case r.Assignee == "":
		row("Assignee", "nobody yet")
	case r.SilentSince != nil:
		row("Assignee", "%s (%s)", prose.Brief(r.Assignee), silence(*r.SilentSince, r.now))
	default:
		row("Assignee", "%s", prose.Brief(r.Assignee))
	}
	if r.Above != nil {
		row("Parent", "%s [%s]", r.Above.named(), r.Above.State)
	}
	if len(r.After) > 0 {
		row("After", "%s", strings.Join(r.After, ", "))
	}
	if b := r.Blocked; b != nil {
		row("Blocked", "%s waits for %s; %s", b.ID, b.what(), freeing(call, b.ID))
	}
	for i, ref := range r.References {
		if i == 0 {
			fmt.Fprintf(&b, "\n  References (%d):", len(r.References))
		}
		fmt.Fprintf(&b, "\n    %s", prose.Brief(ref))
	}
	if r.Description != "" {
		fmt.Fprintf(&b, "\n  Description:\n%s", prose.Indent(r.Description, "    "))
	}
	for i, c := range r.Children {
		if i == 0 {
			fmt.Fprintf(&b, "\n  Children (%d):", len(r.Children))
		}
		fmt.Fprintf(&b, "\n    %s [%s]", c.named(), c.State)
	}
	r.writeThread(&b)
	return b.String()
}

func (r Details) writeThread(b *strings.Builder) {
	if len(r.Thread) > 0 {
		fmt.Fprintf(b, "\n  Messages (%d):", len(r.Thread))
	}
	for _, m := range r.Thread {
		fmt.Fprintf(b, "\n    %s, %s (%s ago):\n%s", prose.Brief(m.By), stamp(m.At), prose.Age(r.now, m.At), prose.Indent(m.Text, "      "))
	}
	if len(r.Artifacts) > 0 {
		fmt.Fprintf(b, "\n  Artifacts (%d):", len(r.Artifacts))
	}
	for _, a := range r.Artifacts {
		fmt.Fprintf(b, "\n    %s by %s, %s (%s ago):\n%s", prose.Brief(a.Name), prose.Brief(a.By), stamp(a.At), prose.Age(r.now, a.At), prose.Indent(a.Text, "      "))
	}
	fmt.Fprintf(b, "\n  History (%d):", len(r.History))
	for _, h := range r.History {
		fmt.Fprintf(b, "\n    %s, %s (%s ago)", h.what(), stamp(h.At), prose.Age(r.now, h.At))
		if h.Why != "" {
			fmt.Fprintf(b, ":\n%s", prose.Indent(h.Why, "      "))
		}
	}
}

// what is a line of history without its time and reason.
func (h Transition) what() string {
	text := fmt.Sprintf("%s → %s", h.From, h.To)
	var more []string
	switch {
	case h.From == "":
		text = string(h.To)
	case h.From == h.To && h.Assignee != "" && h.Assignee == h.By:
		text = "Taken"
	case h.From == h.To && h.Assignee != "":
		text = "Assigned to " + prose.Brief(h.Assignee)
		h.Assignee = ""
	case h.From == h.To && h.StandsIn != "":
		text = prose.Brief(h.StandsIn) + " answers for it from now on, said"
	case h.From == h.To && h.Parent != "":
		text = "Moved below " + h.Parent
		h.Parent = ""
	}
	if h.Assignee != "" && h.Assignee != h.By {
		more = append(more, "assignee: "+prose.Brief(h.Assignee))
	}
	if h.Parent != "" {
		more = append(more, "parent: "+h.Parent)
	}
	if text += " by " + prose.Brief(h.By); len(more) > 0 {
		text += " (" + strings.Join(more, ", ") + ")"
	}
	return text
}

// stamp formats a time for an answer.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

const (
	defaultLimit = 50
	oldAfter     = 90 * 24 * time.Hour // after this, lists that name no state omit a finished task
)

// Query is the arguments of list.
type Query struct {
	State   string `json:"state,omitempty" jsonschema:"only tasks in this state, or open, closed, all (default: all except those finished over 90 days ago)"`
	AgentID string `json:"agent_id,omitempty" jsonschema:"only tasks of this agent (an id, a prefix of one, or a type), and tasks its type may claim"`
	Limit   int    `json:"limit,omitempty" jsonschema:"most tasks to show (default 50)"`
}

// Listed is a task in a list.
type Listed struct {
	Task
	SilentSince *time.Time `json:"assignee_silent_since,omitempty"`
	WaitsFor    string     `json:"waits_for,omitempty"` // the first task that holds it back
	Blocked     *Blocked   `json:"blocked,omitempty"`   // that task will never be completed

	depth int // in the tree that a list shows
}

// List is the result of list: open tasks first, each part with the newest activity first.
type List struct {
	Total int      `json:"total"` // number of matching tasks, shown or not
	Tasks []Listed `json:"tasks"`
	Older bool     `json:"older,omitempty"` // tasks finished over 90 days ago were omitted

	limit int
	what  string // for "No … tasks"
	now   time.Time
}

// List lists tasks of the project. It omits tasks finished over 90 days ago unless the
// query names a state; closed and all count as states.
func (s *core) List(ctx context.Context, q Query) (List, error) {
	limit, err := refusal.Limit(q.Limit, defaultLimit)
	if err != nil {
		return List{}, err
	}
	var in input
	agent := in.agentName("agent_id", q.AgentID)
	if in.err != nil {
		return List{}, in.err
	}
	wanted, what, err := statesOf(q.State)
	if err != nil {
		return List{}, err
	}
	if agent != "" {
		what += " of " + prose.Brief(agent)
	}
	var r List
	var shown []Task
	err = s.view(ctx, func(p project, now time.Time) error {
		r, shown = List{Tasks: []Listed{}, limit: limit, what: what, now: now}, nil
		list := p.tasks(func(t *Task) bool {
			old := strings.TrimSpace(q.State) == "" && t.State.Final() && t.UpdatedAt.Before(now.Add(-oldAfter))
			ok := wanted(t.State) && (agent == "" || t.of(agent))
			r.Older = r.Older || ok && old
			return ok && !old
		})
		r.Total = len(list)
		t := p.tree()
		for x, depth := range inOrder(parted(list[:min(len(list), limit)])) { // each below its parent, if the list has it
			l := Listed{Task: x.shown(), depth: depth}
			if w := t.waitsFor(x); w != nil && !x.State.Final() {
				l.WaitsFor, l.Blocked = w.by.ID, w.blocked
			}
			r.Tasks, shown = append(r.Tasks, l), append(shown, l.Task)
		}
		return nil
	})
	silent := s.silent(ctx, shown...)
	for i, t := range r.Tasks {
		if !t.State.Final() {
			r.Tasks[i].SilentSince = silent[t.Assignee]
		}
	}
	return r, err
}

// statesOf reads which states a list shall have, and what to call such tasks.
func statesOf(text string) (wanted func(State) bool, what string, err error) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "", "all":
		return func(State) bool { return true }, "tasks", nil
	case "open":
		return func(s State) bool { return !s.Final() }, "open tasks", nil
	case "closed":
		return State.Final, "closed tasks", nil
	}
	one, err := parseState(text)
	if a, ok := errors.AsType[*refusal.ArgumentError](err); ok {
		a.Problem += ", open, closed, all"
	}
	return func(s State) bool { return s == one }, string(one) + " tasks", err
}

// of reports whether a task belongs to an agent, which is named by its id, a prefix of it or
// its type. A task that an agent of that type may claim belongs to it too.
func (t *Task) of(agent string) bool {
	if strings.HasPrefix(t.Assignee, agent) {
		return len(agent) > 3 || t.Assignee == agent || args.AgentType(t.Assignee) == agent
	}
	kind := args.AgentType(agent)
	return kind != "" && t.Assignee == kind
}

// tasks lists the project's tasks that match: open ones first, each part with the newest
// activity first.
func (p project) tasks(wanted func(*Task) bool) (list []*record) {
	for _, r := range p {
		if wanted(&r.Task) {
			list = append(list, r)
		}
	}
	closed := func(x *record) int {
		if x.State.Final() {
			return 1
		}
		return 0
	}
	slices.SortFunc(list, func(a, b *record) int {
		return cmp.Or(closed(a)-closed(b), b.UpdatedAt.Compare(a.UpdatedAt), strings.Compare(a.ID, b.ID))
	})
	return list
}

// open lists the open tasks that match.
func (p project) open(wanted func(*Task) bool) []*record {
	return p.tasks(func(t *Task) bool { return !t.State.Final() && wanted(t) })
}

// Text gives the answer's lines.
func (r List) Text() string { return r.TextIn(prose.MCP) }

// TextIn gives the answer's lines in the caller's syntax.
func (r List) TextIn(call prose.Syntax) string {
	var b strings.Builder
	if b.WriteString("No " + r.what + "."); r.Total > 0 {
		b.Reset()
		fmt.Fprintf(&b, "Tasks (%d):", r.Total)
	}
	for _, t := range r.Tasks {
		b.WriteString("\n  " + strings.Repeat("  ", min(t.depth, 8)) + t.line(r.now))
	}
	b.WriteString(prose.More(call, r.Total-len(r.Tasks), r.limit))
	if i := slices.IndexFunc(r.Tasks, func(t Listed) bool { return t.Blocked != nil }); i >= 0 {
		fmt.Fprintf(&b, "\n  %s waits for a task that will not be completed; %s", r.Tasks[i].Blocked.ID, freeing(call, r.Tasks[i].Blocked.ID))
	}
	if r.Older {
		b.WriteString("\n  … and those finished over 90 days ago (" + call("", "state", "all") + ")")
	}
	return b.String()
}

func (t Listed) line(now time.Time) string {
	who := "unassigned"
	if t.Assignee != "" {
		who = "assignee: " + prose.Brief(t.Assignee)
	}
	parts := []string{who}
	if t.Messages > 0 {
		parts = append(parts, prose.Count(t.Messages, "message"))
	}
	if t.SilentSince != nil {
		parts = append(parts, silence(*t.SilentSince, now))
	}
	switch {
	case t.Blocked != nil:
		parts = append(parts, "waits for "+t.Blocked.what())
	case t.WaitsFor != "":
		parts = append(parts, "waits for "+t.WaitsFor)
	}
	return fmt.Sprintf("%s [%s] (%s)", t.named(), t.State, strings.Join(parts, ", "))
}

func silence(since, now time.Time) string { return "assignee silent since " + prose.Age(now, since) }

// NoArgs is the argument of an operation without arguments.
type NoArgs struct{}

// StateCount is the number of tasks in a state.
type StateCount struct {
	State State `json:"state"`
	Count int   `json:"count"`
}

// Info is the project's task counts and the card of its server.
type Info struct {
	Total      int          `json:"total"`
	Open       int          `json:"open"`
	States     []StateCount `json:"states"` // all eight, in the table's order
	Unassigned int          `json:"unassigned"`
	Card       AgentCard    `json:"agent_card"`
}

// Info counts tasks.
func (s *core) Info(ctx context.Context, _ NoArgs) (Info, error) {
	var r Info
	err := s.view(ctx, func(p project, _ time.Time) error {
		r = Info{Total: len(p), Card: card(s.opts.Version)}
		counts := map[State]int{}
		for _, x := range p {
			counts[x.State]++
			if x.State.Final() {
				continue
			}
			if r.Open++; x.Assignee == "" {
				r.Unassigned++
			}
		}
		for _, s := range allStates() {
			r.States = append(r.States, StateCount{s, counts[s]})
		}
		return nil
	})
	return r, err
}

// Text gives the answer's lines.
func (r Info) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Task store: %s, %d open", prose.Count(r.Total, "task"), r.Open)
	for _, c := range r.States {
		if c.Count > 0 {
			fmt.Fprintf(&b, "\n  %s: %d", c.State, c.Count)
		}
	}
	if r.Unassigned > 0 {
		fmt.Fprintf(&b, "\n  Unassigned: %d", r.Unassigned)
	}
	b.WriteString("\n" + r.Card.Text())
	return b.String()
}

// OpenTasks lists the ids of an agent's open tasks, the newest activity first. It leaves
// out tasks that the agent may claim by its type.
func (s *core) OpenTasks(ctx context.Context, agent string) ([]string, error) {
	return s.openIDs(ctx, func(_ tree, r *record) bool { return agent != "" && r.Assignee == agent })
}

// FreeFor lists the ids of the tasks that an agent may claim and begin now: unassigned or
// addressed to its type, the newest activity first. It leaves out tasks that the agent gave.
func (s *core) FreeFor(ctx context.Context, agent string) ([]string, error) {
	return s.openIDs(ctx, func(t tree, r *record) bool {
		return r.freeFor(agent) && r.giver() != agent && t.ready(r)
	})
}

func (s *core) openIDs(ctx context.Context, wanted func(tree, *record) bool) (ids []string, err error) {
	err = s.view(ctx, func(p project, _ time.Time) error {
		ids = []string{}
		t := p.tree()
		for _, r := range p.open(func(*Task) bool { return true }) {
			if wanted(t, r) {
				ids = append(ids, r.ID)
			}
		}
		return nil
	})
	return ids, err
}

// Result is the outcome of a completed task, or what else was written into one.
type Result struct {
	Kind string    // "result", or "task"
	Text string    // title, then the completion message or else the last artifact
	By   string    // who completed it
	Ref  string    // its permanent name: task:<id>
	At   time.Time // when
}

// Results lists the outcomes of tasks completed since an instant, the oldest first. A task
// completed without a message or artifact has none.
func (s *core) Results(ctx context.Context, since time.Time) ([]Result, error) {
	var out []Result
	err := s.view(ctx, func(p project, _ time.Time) error {
		out = nil
		for _, x := range p {
			if r, ok := x.result(); ok && !r.At.Before(since) {
				out = append(out, r)
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b Result) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Ref, b.Ref)) })
	return out, err
}

func (x *record) result() (Result, bool) {
	r := Result{Kind: "result", By: x.Assignee, Ref: "task:" + x.ID, At: x.UpdatedAt}
	text := ""
	if n := len(x.Artifacts); n > 0 {
		text = x.Artifacts[n-1].Text
	}
	if n := len(x.History); n > 0 {
		last := x.History[n-1]
		r.By, r.At = last.By, last.At
		text = cmp.Or(last.Why, text)
	}
	r.Text = x.Title + ": " + text
	return r, x.State == Completed && strings.TrimSpace(text) != ""
}

// Written lists what was written into tasks in a period, both ends included: what a task is to do, its messages, and what
// was said with each of its states.
func (s *core) Written(ctx context.Context, from, until time.Time) (out []Result, err error) {
	err = s.view(ctx, func(p project, _ time.Time) error {
		out = nil
		for _, x := range p {
			add := func(text, by string, at time.Time) {
				if !at.Before(from) && !at.After(until) {
					out = append(out, Result{Kind: "task", Text: text, By: by, Ref: "task:" + x.ID, At: at})
				}
			}
			says := func(text string) string { return strings.TrimSuffix(x.Title+": "+text, ": ") }
			add(says(x.Description), x.CreatedBy, x.CreatedAt)
			for _, m := range x.thread.Messages {
				add(says(m.Text), m.By, m.At)
			}
			for _, h := range x.History {
				if h.Why != "" {
					add(says(h.Why), h.By, h.At)
				}
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b Result) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Ref, b.Ref)) })
	return out, err
}

// Reached reports whether a task is or was in a state, given in any spelling. An unknown
// task or state is an error.
func (s *core) Reached(ctx context.Context, task, name string) (reached bool, err error) {
	wanted, err := parseState(name)
	if err != nil {
		return false, err
	}
	err = s.view(ctx, func(p project, _ time.Time) error {
		x, err := p.find("task", task)
		if err == nil {
			reached = x.State == wanted || slices.ContainsFunc(x.History, func(h Transition) bool { return h.To == wanted })
		}
		return err
	})
	return reached, err
}

// LastTask is the title of the most recently active task that was not canceled, "" if
// there is none.
func (s *core) LastTask(ctx context.Context) (title string, err error) {
	return s.lastOf(ctx, func(t *Task) bool { return !t.WorkedAt.IsZero() && t.State != Canceled })
}

// Current is the title of the task that an agent is working on, "" if there is none. Of
// several it is the most recently active one.
func (s *core) Current(ctx context.Context, agent string) (title string, err error) {
	return s.lastOf(ctx, func(t *Task) bool { return t.State == Working && agent != "" && t.Assignee == agent })
}

// lastOf is the title of the most recently active matching task.
func (s *core) lastOf(ctx context.Context, wanted func(*Task) bool) (title string, err error) {
	err = s.view(ctx, func(p project, _ time.Time) error {
		list := p.tasks(wanted)
		if len(list) > 0 {
			title = slices.MinFunc(list, func(a, b *record) int {
				return cmp.Or(b.WorkedAt.Compare(a.WorkedAt), strings.Compare(a.ID, b.ID))
			}).Title
		}
		return nil
	})
	return title, err
}

// Revision is another number after each change of the project's tasks.
func (s *core) Revision(ctx context.Context) (n uint64, err error) {
	err = s.view(ctx, func(p project, _ time.Time) error {
		for _, x := range p {
			n = max(n, uint64(x.UpdatedAt.UnixNano()))
		}
		return nil
	})
	return n, err
}
