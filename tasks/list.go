package tasks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	defaultLimit = 50
	maxLimit     = 1000
)

// Choice is which tasks are listed.
type Choice struct {
	State   string `json:"state,omitempty" jsonschema:"only those in this state, or open, closed, all (default all)"`
	AgentID string `json:"agent_id,omitempty" jsonschema:"only those of this agent (an id, the beginning of one, or a type), with what its type may claim"`
	Limit   int    `json:"limit,omitempty" jsonschema:"how many at most (default 50)"`
}

// Listed is a task in a list.
type Listed struct {
	Task
	SilentSince *time.Time `json:"assignee_silent_since,omitempty"`
}

// List is the tasks that were asked for: open ones first, in each part the one
// with the newest activity first.
type List struct {
	Total int      `json:"total"` // how many there are, shown or not
	Tasks []Listed `json:"tasks"`

	limit int
	what  string // for "No … tasks"
	now   time.Time
}

// List lists tasks of the project.
func (s *Store) List(ctx context.Context, q Choice) (List, error) {
	wanted, what, err := q.filter()
	if err != nil {
		return List{}, err
	}
	r := List{Tasks: []Listed{}, limit: q.Limit, what: what}
	err = s.view(ctx, func(b *board, now time.Time) error {
		r.now = now
		for _, x := range newest(b.projects[s.opts.ProjectHash], wanted) {
			if r.Total++; len(r.Tasks) < q.Limit {
				r.Tasks = append(r.Tasks, Listed{Task: x.shown()})
			}
		}
		return nil
	})
	known := map[string]*time.Time{}
	for i := range r.Tasks {
		r.Tasks[i].SilentSince = s.silent(ctx, r.Tasks[i].Task, known)
	}
	return r, err
}

// filter reads a choice, and sets its limit.
func (q *Choice) filter() (wanted func(Task) bool, what string, err error) {
	if q.Limit < 0 {
		return nil, "", &ArgumentError{"limit", fmt.Sprintf("limit %d is negative", q.Limit)}
	}
	q.Limit = min(cmp.Or(q.Limit, defaultLimit), maxLimit)
	var in input
	agent := in.agentName("agent_id", q.AgentID)
	if in.err != nil {
		return nil, "", in.err
	}
	inState, state, err := stateFilter(q.State)
	if err != nil {
		return nil, "", err
	}
	what = "tasks"
	if state != "" {
		what = state + " tasks"
	}
	if agent != "" {
		what += " of " + brief(agent)
	}
	return func(t Task) bool { return inState(t.State) && (agent == "" || t.of(agent)) }, what, nil
}

func stateFilter(text string) (wanted func(State) bool, name string, err error) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "", "all":
		return func(State) bool { return true }, "", nil
	case "open":
		return func(s State) bool { return !s.Final() }, "open", nil
	case "closed":
		return State.Final, "closed", nil
	}
	state, err := ParseState(text)
	if a, ok := err.(*ArgumentError); ok { //nolint:errorlint // ParseState returns nothing else
		a.Problem += ", open, closed, all"
	}
	return func(s State) bool { return s == state }, string(state), err
}

// of reports whether a task is an agent's: by its id, the beginning of it or
// its type, or because it may claim it.
func (t Task) of(agent string) bool {
	if t.Assignee == "" {
		return false
	}
	return t.Assignee == agent || typeOf(t.Assignee) == agent || t.Assignee == typeOf(agent) ||
		len(agent) > 3 && strings.HasPrefix(t.Assignee, agent)
}

// newest are the tasks that are wanted, in the order of a list.
func newest(all map[string]*record, wanted func(Task) bool) []*record {
	var open, closed []*record
	for _, r := range all {
		switch {
		case !wanted(r.Task):
		case r.State.Final():
			closed = append(closed, r)
		default:
			open = append(open, r)
		}
	}
	by := func(a, b *record) int { return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(a.ID, b.ID)) }
	slices.SortFunc(open, by)
	slices.SortFunc(closed, by)
	return append(open, closed...)
}

// Text gives the answer's lines.
func (r List) Text() string {
	if r.Total == 0 {
		return "No " + r.what + "."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Tasks (%d):", r.Total)
	for _, t := range r.Tasks {
		b.WriteString("\n  " + t.line(r.now))
	}
	if more := r.Total - len(r.Tasks); more > 0 {
		fmt.Fprintf(&b, "\n  … %d more (limit=%d)", more, r.limit)
	}
	return b.String()
}

func (t Listed) line(now time.Time) string {
	who := "unassigned"
	if t.Assignee != "" {
		who = "assignee: " + brief(t.Assignee)
	}
	parts := []string{who}
	if t.Messages > 0 {
		parts = append(parts, plural(t.Messages, "message"))
	}
	if t.SilentSince != nil {
		parts = append(parts, silence(*t.SilentSince, now))
	}
	return fmt.Sprintf("%s [%s] (%s)", t.named(), t.State, strings.Join(parts, ", "))
}

func silence(since, now time.Time) string { return "assignee silent since " + age(since, now) }
