package tasks

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"leanctx/internal/args"
	"leanctx/internal/refusal"
)

var epoch = time.Date(2026, 3, 20, 9, 30, 0, 0, time.UTC)

func stateOf(list ...Task) project {
	b := newState()
	for _, t := range list {
		b.put(&record{Task: t})
	}
	return b.projects[""]
}

func TestDecide(t *testing.T) {
	const me, other = "claude-b7e2", "cursor-a3f8"
	task := func(s State, assignee string) Task {
		return Task{ID: "t-a3f8c1", State: s, Assignee: assignee, CreatedBy: "gemini-0001", Title: "x"}
	}
	gave := func(s State, assignee string) Task {
		t := task(s, assignee)
		t.CreatedBy = me
		return t
	}
	lent := func(assignee string) Task {
		t := task(Working, assignee)
		t.StandsIn = me
		return t
	}
	stranger := func(by string) error { return &TakenError{Task: "t-a3f8c1", By: by, Creator: "gemini-0001"} }
	for name, x := range map[string]struct {
		have Task
		do   taskChange
		want change
		err  error
	}{
		"claim nobody's":          {task(Created, ""), taskChange{claim: true}, change{To: Working, Assignee: me}, nil},
		"claim my type's":         {task(Created, "claude"), taskChange{claim: true}, change{To: Working, Assignee: me}, nil},
		"claim mine":              {task(Created, me), taskChange{claim: true}, change{To: Working}, nil},
		"claim mine again":        {task(Working, me), taskChange{claim: true}, change{}, nil},
		"claim another type's":    {task(Created, "cursor"), taskChange{claim: true}, change{}, &TakenError{Task: "t-a3f8c1", By: "cursor"}},
		"claim another's":         {task(Working, other), taskChange{claim: true}, change{}, &TakenError{Task: "t-a3f8c1", By: other}},
		"claim a silent one's":    {task(Working, other), taskChange{claim: true, silent: other, why: "silent"}, change{To: Working, Assignee: me, Why: "silent"}, nil},
		"it changed hands since":  {task(Working, "gemini-0001"), taskChange{claim: true, silent: other}, change{}, &TakenError{Task: "t-a3f8c1", By: "gemini-0001"}},
		"claim free, interrupted": {task(InputRequired, ""), taskChange{claim: true}, change{To: InputRequired, Assignee: me}, nil},
		"claim a finished one":    {task(Completed, ""), taskChange{claim: true}, change{}, &TransitionError{"t-a3f8c1", Completed, ""}},
		"begin nobody's":          {task(Created, ""), taskChange{to: Working}, change{To: Working, Assignee: me}, nil},
		"begin another's":         {task(Created, other), taskChange{to: Working}, change{}, stranger(other)},
		"progress on another's":   {task(Working, other), taskChange{to: Working}, change{}, stranger(other)},
		"answer another's":        {task(InputRequired, other), taskChange{to: Working}, change{}, stranger(other)},
		"complete another's":      {task(Working, other), taskChange{to: Completed}, change{}, stranger(other)},
		"cancel another's":        {task(Working, other), taskChange{to: Canceled}, change{}, stranger(other)},
		"complete another type's": {task(Created, "cursor"), taskChange{to: Completed}, change{}, stranger("cursor")},
		"an artifact of another":  {task(Working, other), taskChange{artifact: &artifact{"r", "x"}}, change{}, stranger(other)},
		"cancel, standing in":     {lent(other), taskChange{to: Canceled}, change{To: Canceled}, nil},
		"give on, standing in":    {lent(other), taskChange{assignee: "codex-0002"}, change{To: Working, Assignee: "codex-0002"}, nil},
		"answer what I gave":      {gave(InputRequired, other), taskChange{to: Working}, change{To: Working}, nil},
		"complete what I gave":    {gave(Working, other), taskChange{to: Completed}, change{To: Completed}, nil},
		"cancel what I gave":      {gave(Working, other), taskChange{to: Canceled}, change{To: Canceled}, nil},
		"begin my type task":      {gave(Created, "codex"), taskChange{to: Working}, change{To: Working, Assignee: me}, nil},
		"claim my type task":      {gave(Created, "codex"), taskChange{claim: true}, change{To: Working, Assignee: me}, nil},
		"complete my type task":   {gave(Created, "codex"), taskChange{to: Completed}, change{To: Completed, Assignee: me}, nil},
		"cancel my type task":     {gave(Created, "codex"), taskChange{to: Canceled}, change{To: Canceled}, nil},
		"give my type task on":    {gave(Created, "codex"), taskChange{assignee: "gemini"}, change{To: Created, Assignee: "gemini"}, nil},
		"begin what I gave":       {gave(Created, other), taskChange{to: Working}, change{}, &TakenError{Task: "t-a3f8c1", By: other}},
		"give what I gave":        {gave(Working, other), taskChange{assignee: "gemini-0001"}, change{To: Working, Assignee: "gemini-0001"}, nil},
		"complete my type's":      {task(Created, "claude"), taskChange{to: Completed}, change{To: Completed, Assignee: me}, nil},
		"reject my type's":        {task(Created, "claude"), taskChange{to: Rejected}, change{To: Rejected}, nil},
		"cancel nobody's":         {task(Created, ""), taskChange{to: Canceled}, change{To: Canceled}, nil},
		"progress":                {task(Working, me), taskChange{to: Working, why: "half"}, change{To: Working, Why: "half"}, nil},
		"give mine away":          {task(Working, me), taskChange{assignee: other}, change{To: Working, Assignee: other}, nil},
		"give to whom it is":      {task(Working, me), taskChange{assignee: me}, change{}, nil},
		"take by giving":          {task(Working, other), taskChange{assignee: me}, change{}, stranger(other)},
		"only an artifact":        {task(Working, me), taskChange{artifact: &artifact{"r", "x"}}, change{Artifact: &artifact{"r", "x"}}, nil},
		"an artifact, too late":   {task(Failed, me), taskChange{artifact: &artifact{"r", "x"}}, change{}, &TransitionError{"t-a3f8c1", Failed, ""}},
		"an artifact and why":     {task(Working, me), taskChange{artifact: &artifact{"r", "x"}, why: "y"}, change{To: Working, Why: "y", Artifact: &artifact{"r", "x"}}, nil},
		"complete and give":       {task(Working, me), taskChange{to: InputRequired, assignee: other}, change{To: InputRequired, Assignee: other}, nil},
		"an id that is no id":     {task(Created, "claude-code"), taskChange{claim: true}, change{}, &TakenError{Task: "t-a3f8c1", By: "claude-code"}},
		"a parent that is not":    {task(Created, ""), taskChange{parent: "t-ffffff"}, change{}, refusal.NotFound("No task found: t-ffffff")},
		"a task that is not":      {Task{ID: "t-000000", State: Created}, taskChange{to: Working}, change{}, refusal.NotFound("No task found: t-a3f8c1")},
	} {
		t.Run(name, func(t *testing.T) {
			w := x.do
			w.id, w.agent, w.by = "t-a3f8c1", me, me
			got, err := w.decide(stateOf(x.have))
			if x.err != nil {
				if err == nil || err.Error() != x.err.Error() {
					t.Fatalf("%+v, %v, want %v", got, err, x.err)
				}
				return
			}
			x.want.ID, x.want.By = "t-a3f8c1", me
			if diff := cmp.Diff(x.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// A person, who is no agent, may do what the table allows and takes nothing.
func TestDecidePerson(t *testing.T) {
	have := Task{ID: "t-a3f8c1", State: Created, Assignee: "cursor-a3f8"}
	c, err := taskChange{id: have.ID, by: "zsh", to: Working}.decide(stateOf(have))
	if err != nil || c.To != Working || c.Assignee != "" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestAncestors(t *testing.T) {
	b := stateOf(Task{ID: "t-000001", State: Created}, Task{ID: "t-000002", State: Created, Parent: "t-000001"},
		Task{ID: "t-000003", State: Created, Parent: "t-000002"},
		Task{ID: "t-0000a1", State: Created, Parent: "t-0000a2"}, Task{ID: "t-0000a2", State: Created, Parent: "t-0000a1"}) // damage
	for _, x := range []struct {
		id, parent string
		refused    bool
	}{
		{"t-000001", "t-000001", true}, {"t-000001", "t-000002", true}, {"t-000001", "t-000003", true},
		{"t-000003", "t-000001", false}, {"t-000002", "t-0000a1", false}, {"t-0000a1", "t-000001", false},
	} {
		c, err := taskChange{id: x.id, parent: x.parent}.decide(b)
		a, refused := errors.AsType[*refusal.ArgumentError](err)
		if refused != x.refused || refused && a.Argument != "parent" || !refused && (err != nil || c.Parent != x.parent) {
			t.Errorf("%s below %s: %+v, %v", x.id, x.parent, c, err)
		}
	}
	if got := b.root(b["t-000003"]); got != "t-000001" {
		t.Errorf("root %s", got)
	}
	if got := b.root(b["t-0000a1"]); !strings.HasPrefix(got, "t-0000a") {
		t.Errorf("root of a circle %s", got)
	}
}

func TestNewID(t *testing.T) {
	none := func(string) bool { return false }
	id := newID("x", epoch, none)
	if len(id) != 8 || id != newID("x", epoch, none) {
		t.Errorf("%s, not the same twice or not 6 digits", id)
	}
	longer := newID("x", epoch, func(s string) bool { return len(s) < 11 })
	if len(longer) != 11 || !strings.HasPrefix(longer, id) {
		t.Errorf("%s after a clash", longer)
	}
	if id == newID("x", epoch.Add(1), none) || id == newID("y", epoch, none) {
		t.Error("another instant or title has the same id")
	}
}

func TestTypeOf(t *testing.T) {
	for id, want := range map[string]string{
		"claude-b7e2": "claude", "claude-code-b7e2aa": "claude-code", "claude": "", "claude-code": "", "a-b7e": "", "-b7e2": "", "": "", "cursor-xyzw": "",
	} {
		if got := args.AgentType(id); got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
}

func TestWhat(t *testing.T) {
	for want, h := range map[string]Transition{
		"Created by a-0001":                              {To: Created, By: "a-0001"},
		"Created by a-0001 (assignee: b, parent: t-1)":   {To: Created, By: "a-0001", Assignee: "b", Parent: "t-1"},
		"Created → Working by a-0001":                    {From: Created, To: Working, By: "a-0001", Assignee: "a-0001"},
		"Created → Working by a-0001 (assignee: b-0001)": {From: Created, To: Working, By: "a-0001", Assignee: "b-0001"},
		"Working → Working by a-0001":                    {From: Working, To: Working, By: "a-0001", Why: "half"},
		"Taken by a-0001":                                {From: Working, To: Working, By: "a-0001", Assignee: "a-0001"},
		"Assigned to b-0001 by a-0001":                   {From: Working, To: Working, By: "a-0001", Assignee: "b-0001"},
		"Assigned to b-0001 by a-0001 (parent: t-1)":     {From: Working, To: Working, By: "a-0001", Assignee: "b-0001", Parent: "t-1"},
		"Moved below t-1 by a-0001":                      {From: Working, To: Working, By: "a-0001", Parent: "t-1"},
	} {
		if got := h.what(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
