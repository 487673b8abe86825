package tasks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"leanctx/internal/prose"
)

// Pick names one task.
type Pick struct {
	TaskID string `json:"task_id" arg:"1" jsonschema:"the task's id, or the beginning of it"`
}

// Got is everything about one task.
type Got struct {
	Listed
	Description string       `json:"description"`
	References  []string     `json:"references"`
	Context     string       `json:"context_id"` // the task at the root of those that it is a part of, or itself
	Above       *Task        `json:"parent_task,omitempty"`
	Children    []Task       `json:"children"`
	History     []Transition `json:"history"`
	Thread      []Message    `json:"messages"`
	Artifacts   []Artifact   `json:"artifacts"`

	now time.Time
}

// Get shows a task whole: description, messages, history and artifacts in full.
func (s *Store) Get(ctx context.Context, p Pick) (Got, error) {
	s.settled(ctx)
	var r Got
	err := s.view(ctx, func(b *board, now time.Time) error {
		x, err := b.find(s.opts.ProjectHash, "task_id", p.TaskID)
		if err == nil {
			r, err = b.got(x, now)
		}
		return err
	})
	if err != nil {
		return Got{}, err
	}
	r.SilentSince = s.silent(ctx, r.Task, nil)
	return r, nil
}

// got gathers what there is about a task. Lists are never nil, so that JSON
// has them.
func (b *board) got(x *record, now time.Time) (Got, error) {
	t, err := x.open()
	if err != nil {
		return Got{}, err
	}
	root, err := b.root(x)
	if err != nil {
		return Got{}, err
	}
	r := Got{
		Listed: Listed{Task: x.shown()}, Description: t.Description, Context: root, now: now,
		References: append([]string{}, t.References...), History: append([]Transition{}, t.History...),
		Thread: append([]Message{}, t.Messages...), Artifacts: append([]Artifact{}, t.Artifacts...), Children: []Task{},
	}
	above, err := b.get(x.Project, x.Parent)
	if err != nil {
		return Got{}, err
	}
	if above != nil {
		r.Above = new(above.shown())
	}
	below, err := b.children(x.Project, x.ID)
	if err != nil {
		return Got{}, err
	}
	for _, c := range below {
		r.Children = append(r.Children, c.shown())
	}
	return r, nil
}

// root is the id of the task that x is a part of and that is a part of none.
func (b *board) root(x *record) (string, error) {
	for seen := map[string]bool{}; !seen[x.ID]; { // ends even if the file has a circle in it
		seen[x.ID] = true
		up, err := b.get(x.Project, x.Parent)
		if up == nil {
			return x.ID, err
		}
		x = up
	}
	return x.ID, nil
}

// Text gives the answer's lines. What people wrote is indented, so that no
// text can be taken for a heading.
func (r Got) Text() string {
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

func (r Got) writeThread(b *strings.Builder) {
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

// what is a line of history without when and why.
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

// stamp is an instant in an answer.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
