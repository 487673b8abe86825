package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/tasks/state"
)

const (
	defaultLimit = 50
	maxLimit     = 1000
)

// Choice is which tasks are listed.
type Choice struct {
	State   string `json:"state,omitempty" jsonschema:"only those in this state, or open, closed, all (default: all but those finished over 90 days ago)"`
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
	Older bool     `json:"older,omitempty"` // there are some that were finished over 90 days ago and not asked for

	limit int
	what  string // for "No … tasks"
	now   time.Time
}

// List lists tasks of the project. Those finished over 90 days ago are in it
// only when a state was asked for, closed and all among them.
func (s *Store) List(ctx context.Context, q Choice) (List, error) {
	f, err := q.filter()
	if err != nil {
		return List{}, err
	}
	s.settled(ctx)
	var r List
	err = s.view(ctx, func(b *board, now time.Time) error {
		r = List{Tasks: []Listed{}, limit: f.limit, what: f.what, now: now}
		all, err := b.each(s.opts.ProjectHash, f.old)
		if err != nil {
			return err
		}
		r.Older = f.recent && b.old != nil && b.old.names[s.opts.ProjectHash] != nil
		since, kind := now.Add(-oldAfter), typeOf(f.agent)
		wanted := func(t *Task) bool {
			switch {
			case !f.state(t.State) || f.agent != "" && !t.of(f.agent, kind):
				return false
			case f.recent && t.State.Final() && t.UpdatedAt.Before(since):
				r.Older = true
				return false
			}
			return true
		}
		var list []*record
		list, r.Total = newest(all, wanted, f.limit)
		for _, x := range list {
			r.Tasks = append(r.Tasks, Listed{Task: x.shown()})
		}
		return nil
	})
	known := map[string]*time.Time{}
	for i := range r.Tasks {
		r.Tasks[i].SilentSince = s.silent(ctx, r.Tasks[i].Task, known)
	}
	return r, err
}

// filter is a choice that was checked.
type filter struct {
	state  func(State) bool
	agent  string
	limit  int
	old    bool // the old ones too
	recent bool // no state was asked for
	what   string
}

func (q Choice) filter() (filter, error) {
	if q.Limit < 0 {
		return filter{}, refusal.Argument("limit", "limit %d is negative", q.Limit)
	}
	var in input
	f := filter{limit: min(cmp.Or(q.Limit, defaultLimit), maxLimit), agent: in.agentName("agent_id", q.AgentID), what: "tasks"}
	if in.err != nil {
		return f, in.err
	}
	if err := f.in(q.State); err != nil {
		return f, err
	}
	if f.agent != "" {
		f.what += " of " + prose.Brief(f.agent)
	}
	return f, nil
}

// in sets the states that are wanted.
func (f *filter) in(text string) error {
	switch word := strings.ToLower(strings.TrimSpace(text)); word {
	case "", "all":
		f.state, f.old, f.recent = func(State) bool { return true }, word == "all", word == ""
		return nil
	case "open":
		f.state, f.what = func(s State) bool { return !s.Final() }, "open tasks"
		return nil
	case "closed":
		f.state, f.old, f.what = State.Final, true, "closed tasks"
		return nil
	}
	one, err := state.Parse(text)
	if a, ok := errors.AsType[*ArgumentError](err); ok {
		a.Problem += ", open, closed, all"
	}
	f.state, f.old, f.what = func(s State) bool { return s == one }, one.Final(), string(one)+" tasks"
	return err
}

// of reports whether a task is an agent's: by its id, the beginning of it or
// its type, or because it may claim it, being of that kind.
func (t *Task) of(agent, kind string) bool {
	if strings.HasPrefix(t.Assignee, agent) {
		return len(agent) > 3 || t.Assignee == agent || typeOf(t.Assignee) == agent
	}
	return kind != "" && t.Assignee == kind
}

// newest are the first tasks of those that are wanted, in the order of a list,
// and how many are wanted. There may be very many and few are shown, so they
// are never sorted whole.
func newest(all iter.Seq[*record], wanted func(*Task) bool, most int) (list []*record, total int) {
	cut := false // list[most-1] is known to be before whatever was left out
	for r := range all {
		if !wanted(&r.Task) {
			continue
		}
		total++
		if cut && inList(list[most-1], r) < 0 {
			continue
		}
		if list = append(list, r); len(list)-most >= most {
			slices.SortFunc(list, inList)
			list, cut = list[:most], true
		}
	}
	slices.SortFunc(list, inList)
	return list[:min(len(list), most)], total
}

// inList compares two tasks by where they stand in a list.
func inList(a, b *record) int {
	return cmp.Or(openness(b)-openness(a), b.UpdatedAt.Compare(a.UpdatedAt), strings.Compare(a.ID, b.ID))
}

// open are the open tasks of a project that are wanted, in the order of a list.
func (b *board) open(project string, wanted func(*Task) bool) []*record {
	all, _ := b.each(project, false) // fails only for old ones
	list, _ := newest(all, func(t *Task) bool { return !t.State.Final() && wanted(t) }, math.MaxInt)
	return list
}

// Text gives the answer's lines.
func (r List) Text() string {
	var b strings.Builder
	if b.WriteString("No " + r.what + "."); r.Total > 0 {
		b.Reset()
		fmt.Fprintf(&b, "Tasks (%d):", r.Total)
	}
	for _, t := range r.Tasks {
		b.WriteString("\n  " + t.line(r.now))
	}
	if more := r.Total - len(r.Tasks); more > 0 {
		fmt.Fprintf(&b, "\n  … %d more (limit=%d)", more, r.limit)
	}
	if r.Older {
		b.WriteString("\n  … and those finished over 90 days ago (state=all)")
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
	return fmt.Sprintf("%s [%s] (%s)", t.named(), t.State, strings.Join(parts, ", "))
}

func silence(since, now time.Time) string { return "assignee silent since " + prose.Age(now, since) }
