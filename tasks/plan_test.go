package tasks

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"leanctx/internal/refusal"
)

const planText = `# Move

## Prepare
- [x] Design
- [ ] Server
  with three nodes
## Switch
- [ ] Writers
- [ ] Readers
`

// load imports a plan's text under the name PLAN.md.
func load(t *testing.T, s *Store, text string) ImportedPlan {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "PLAN.md")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := s.Import(t.Context(), PlanFile{File: path})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func next(t *testing.T, s *Store, agent string) NextTask {
	t.Helper()
	r, err := s.As(Actor{Agent: agent}).Next(t.Context(), NoArgs{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func planStore(t *testing.T) (*Store, *clock) {
	c := newClock()
	seen := map[string]time.Time{}
	for _, id := range []string{"claude-0001", "claude-0002", "codex-0001"} {
		seen[id] = c.now()
	}
	return open(t, t.TempDir(), &Options{ProjectHash: hash, Now: c.now, Agents: crowd{seen, c}}), c
}

// A plan of two phases is done by next alone, each task with the result of the one before it. A
// phase waits for the phase before it.
func TestPlanIsWorkedOffByNextAlone(t *testing.T) {
	s, c := planStore(t)
	if r := load(t, s, planText); r.Created != 7 || r.Completed != 1 {
		t.Fatal(r.Text())
	}
	c.pass(time.Minute)
	first := next(t, s, "claude-0001")
	if first.Task == nil || first.Task.Title != "Server" || first.Task.Description != "with three nodes" || first.Task.State != Working || first.Task.Assignee != "claude-0001" {
		t.Fatalf("%+v", first)
	}
	if free, err := s.FreeFor(t.Context(), "codex-0001"); err != nil || len(free) != 0 {
		t.Errorf("headings and tasks that wait cannot be begun: %v %v", free, err)
	}
	if again := next(t, s, "claude-0001"); again.Task.ID != first.Task.ID || again.Claimed {
		t.Errorf("its own unfinished task comes first: %s", again.Text())
	}
	if r := next(t, s, "codex-0001"); r.Task != nil || r.Held != 3 || !strings.HasPrefix(r.Text(), "No task is next for codex-0001.") {
		t.Errorf("everything else is held back: %s", r.Text())
	}
	c.pass(time.Minute)
	if _, err := s.As(Actor{Agent: "claude-0001"}).Update(t.Context(), Update{TaskID: first.Task.ID, State: "done", Message: "three nodes run", Artifact: "a.conf"}); err != nil {
		t.Fatal(err)
	}
	list, err := s.List(t.Context(), Query{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"Move" [Created]`, "\n    ", `"Prepare" [Completed]`} {
		if !strings.Contains(list.Text(), want) {
			t.Errorf("no %q in\n%s", want, list.Text())
		}
	}
	second := next(t, s, "codex-0001")
	if second.Task == nil || second.Task.Title != "Writers" {
		t.Fatal(second.Text())
	}
	for _, want := range []string{"Left by the tasks before it:", "three nodes run", "a.conf"} {
		if !strings.Contains(second.Text(), want) {
			t.Errorf("no %q in\n%s", want, second.Text())
		}
	}
	for _, id := range []string{second.Task.ID, next(t, s, "claude-0002").Task.ID} {
		c.pass(time.Minute)
		if _, err := s.Update(t.Context(), Update{TaskID: id, State: "done"}); err != nil {
			t.Fatal(err)
		}
	}
	if r := next(t, s, "codex-0001"); r.Task != nil || r.Open != 0 {
		t.Errorf("the whole plan is completed: %s", r.Text())
	}
}

// The same file changes nothing; a changed one only what changed in it.
func TestPlanAgain(t *testing.T) {
	s, c := planStore(t)
	load(t, s, planText)
	if r := load(t, s, planText); r.Created+r.Changed+r.Completed+r.Canceled != 0 || r.Unchanged != 7 {
		t.Error(r.Text())
	}
	c.pass(time.Minute)
	done := next(t, s, "claude-0001").Task.ID
	if _, err := s.Update(t.Context(), Update{TaskID: done, State: "done"}); err != nil {
		t.Fatal(err)
	}
	c.pass(time.Minute)
	r := load(t, s, strings.NewReplacer("- [ ] Readers\n", "- [x] Writers of metrics\n", "with three nodes", "with five nodes", "- [ ] Writers", "- [x] Writers").Replace(planText))
	if r.Created != 1 || r.Completed != 3 || r.Canceled != 1 || len(r.FinishedHere) != 1 || r.FinishedHere[0] != done {
		t.Error(r.Text())
	}
	// An exported plan names its tasks, so that even a new wording changes the same one.
	out, err := s.Export(t.Context(), PlanExport{})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.Data, "<!-- t-"); n != 8 {
		t.Errorf("%d tasks in\n%s", n, out.Data)
	}
	s2, _ := planStore(t)
	load(t, s2, planText)
	out, err = s2.Export(t.Context(), PlanExport{})
	if err != nil {
		t.Fatal(err)
	}
	if r := load(t, s2, strings.Replace(out.Data, "Readers", "All readers", 1)); r.Changed != 1 || r.Created != 0 || r.Canceled != 0 {
		t.Errorf("%s\n%s", r.Text(), out.Data)
	}
}

// A phase that waits keeps waiting when it gets new parts, and so does what is after it.
func TestAfter(t *testing.T) {
	s, _ := planStore(t)
	a, err := s.Create(t.Context(), Draft{Title: "a"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Create(t.Context(), Draft{Title: "b", After: []string{a.Task.ID, a.Task.ID}})
	if err != nil || len(b.Task.After) != 1 {
		t.Fatal(b, err)
	}
	if _, err := s.Create(t.Context(), Draft{Title: "part", Parent: a.Task.ID}); err != nil {
		t.Fatal(err)
	}
	if r := next(t, s, "claude-0001"); r.Task.Title != "part" {
		t.Errorf("a task with an open part is not given: %s", r.Text())
	}
	if _, err := s.Create(t.Context(), Draft{Title: "c", After: []string{"t-ffffff"}}); err == nil {
		t.Error("an unknown task is accepted")
	}
	if _, err := s.Create(t.Context(), Draft{Title: " A ", Parent: a.Task.ID, ToAgent: "codex"}); err == nil || !strings.Contains(err.Error(), "says the same as its parent") {
		t.Errorf("a child that repeats its parent: %v", err)
	}
	if _, err := s.As(Actor{}).Next(t.Context(), NoArgs{}); err == nil {
		t.Error("next without an agent")
	}
}

// Only a completed task frees what waits for it. After one that is canceled or failed, the
// answers name the task that is blocked, and the call that frees it.
func TestCanceledTaskHoldsBack(t *testing.T) {
	for _, how := range []State{Canceled, Failed, Rejected} {
		s, c := planStore(t)
		create := func(title string, after ...string) string {
			t.Helper()
			c.pass(time.Second)
			r, err := s.Create(t.Context(), Draft{Title: title, After: after})
			if err != nil {
				t.Fatal(err)
			}
			return r.Task.ID
		}
		design := create("design")
		build := create("build", design)
		ship := create("ship", build)
		c.pass(time.Second)
		if how == Failed { // not from Created
			if _, err := s.Update(t.Context(), Update{TaskID: design, State: string(Working)}); err != nil {
				t.Fatal(err)
			}
			c.pass(time.Second)
		}
		r, err := s.Update(t.Context(), Update{TaskID: design, State: string(how)})
		free := "to free it: action=update task_id=" + build + " after=none"
		if err != nil || !strings.HasSuffix(r.Text(), "\n  "+build+" still waits for it; "+free) {
			t.Errorf("%s: %s, %v", how, r.Text(), err)
		}
		none := next(t, s, "claude-0001")
		if want := "No task is next for claude-0001. Open: 2, held back: 2, of others: 0.\n  " + build + " waits for " + design + ", which is " + string(how) + "; " + free; none.Text() != want {
			t.Errorf("%s: next says\n%s, want\n%s", how, none.Text(), want)
		}
		list, err := s.List(t.Context(), Query{State: "open"})
		if err != nil || !strings.Contains(list.Text(), "waits for "+design+", which is "+string(how)+")") || !strings.HasSuffix(list.Text(), free) || strings.Count(list.Text(), string(how)) != 1 {
			t.Errorf("%s: %s, %v", how, list.Text(), err)
		}
		one, err := s.Get(t.Context(), TaskRef{build})
		if err != nil || !strings.Contains(one.Text(), "\n  Blocked: "+build+" waits for "+design+", which is "+string(how)+"; "+free) {
			t.Errorf("%s: %s, %v", how, one.Text(), err)
		}
		c.pass(time.Second)
		if r, err := s.Update(t.Context(), Update{TaskID: build, After: []string{"none"}}); err != nil || r.Text() != "Task "+build+" updated: after: none" {
			t.Errorf("%s: %s, %v", how, r.Text(), err)
		}
		if r := next(t, s, "claude-0001"); r.Task == nil || r.Task.ID != build || len(r.Blocked) > 0 {
			t.Errorf("%s: freed: %s", how, r.Text())
		}
		for id, after := range map[string]string{ship: ship, build: ship} {
			c.pass(time.Second)
			if _, err := s.Update(t.Context(), Update{TaskID: id, After: []string{after}}); err == nil || !strings.Contains(err.Error(), "cannot wait for") {
				t.Errorf("%s may wait for %s: %v", id, after, err)
			}
		}
	}
}

// A part that was canceled is left out of its phase; one that failed blocks what comes after
// the phase.
func TestPhaseGoesOnWithoutACanceledPart(t *testing.T) {
	for how, want := range map[State]string{Canceled: "Writers", Failed: ""} {
		s, c := planStore(t)
		load(t, s, planText)
		c.pass(time.Second)
		server := next(t, s, "claude-0001").Task.ID
		c.pass(time.Second)
		if _, err := s.Update(t.Context(), Update{TaskID: server, State: string(how)}); err != nil {
			t.Fatal(err)
		}
		r := next(t, s, "claude-0001")
		title := ""
		if r.Task != nil {
			title = r.Task.Title
		}
		if title != want || (want == "") != (len(r.Blocked) == 1) || want == "" && !strings.Contains(r.Text(), ", of which "+server+" is Failed; to free it: ") {
			t.Errorf("%s: %s", how, r.Text())
		}
	}
}

// OpenWork names what next would give, and claims nothing.
func TestAheadIsWhatNextWouldGive(t *testing.T) {
	s, c := planStore(t)
	load(t, s, planText)
	isCodex := func(kind string) bool { return kind == "codex" }
	look := func(agent string) (own []string, then string) {
		t.Helper()
		a, err := s.OpenWork(t.Context(), agent, isCodex)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range a.Own {
			own = append(own, x.Title)
		}
		if a.Next != nil {
			then = a.Next.Title
		}
		return own, then
	}
	want := func(agent, own, then string) {
		t.Helper()
		if o, n := look(agent); strings.Join(o, ",") != own || n != then {
			t.Errorf("%q: %q and then %q, want %q and %q", agent, o, n, own, then)
		}
	}
	want("claude-0001", "", "Server")
	want("", "", "Server") // a client whose agent has not registered
	for _, d := range []Draft{{Title: "for codex", ToAgent: "codex"}, {Title: "mine", ToAgent: "claude-0001"}, {Title: "later", ToAgent: "claude-0001"}} {
		c.pass(time.Second)
		if _, err := s.Create(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	c.pass(time.Second)
	if r := next(t, s, "claude-0002"); r.Task.Title != "for codex" && r.Task.Title != "Server" {
		t.Fatal(r.Text())
	}
	if a, err := s.OpenWork(t.Context(), "", isCodex); err != nil || a.Next == nil || a.Next.Title != "for codex" {
		t.Errorf("an unregistered codex: %+v, %v", a, err)
	}
	for range 2 { // whatever is told is what next gives then
		own, then := look("claude-0001")
		r := next(t, s, "claude-0001")
		if r.Task == nil || r.Task.Title != then && (len(own) == 0 || r.Task.Title != own[0]) || r.Claimed != (then != "") {
			t.Errorf("told %q and %q, given %s", own, then, r.Text())
		}
		c.pass(time.Second)
	}
}

// A silent agent's unfinished task is given to the next one that asks.
func TestNextTakesOverFromTheSilent(t *testing.T) {
	s, c := planStore(t)
	load(t, s, planText)
	id := next(t, s, "claude-0001").Task.ID
	c.pass(2 * time.Hour)
	r := next(t, s, "claude-0002")
	if r.Task == nil || r.Task.ID != id || r.Task.Assignee != "claude-0002" {
		t.Error(r.Text())
	}
}

// Nobody takes a task under a name that is no registered agent's.
func TestOnlyAgentsTakeTasks(t *testing.T) {
	s, _ := planStore(t)
	load(t, s, planText)
	list, err := s.List(t.Context(), Query{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"claude-0003", "claude", "bob"} {
		_, one := s.as(name).Next(t.Context(), NoArgs{})
		_, two := s.as(name).Claim(t.Context(), TaskClaim{list.Tasks[0].ID})
		for _, err := range []error{one, two} {
			if _, ok := errors.AsType[*refusal.NotFoundError](err); !ok {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// Many callers at once get a task each, and never the same.
func TestNextAtOnce(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, "- [ ] item %d\n", i)
	}
	load(t, s, text.String())
	var wg sync.WaitGroup
	got := make([]string, 20)
	for i := range got {
		wg.Go(func() {
			r, err := s.As(Actor{Agent: fmt.Sprintf("claude-%04x", i)}).Next(t.Context(), NoArgs{})
			if err == nil && r.Task != nil {
				got[i] = r.Task.ID
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for i, id := range got {
		if id == "" || seen[id] {
			t.Errorf("caller %d got %q", i, id)
		}
		seen[id] = true
	}
}

func TestBadPlanFiles(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	dir := t.TempDir()
	for name, text := range map[string]string{"empty.md": "", "text.md": "# a\n", "long.md": "- [ ] " + strings.Repeat("x\n- [ ] x", maxItems)} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Import(t.Context(), PlanFile{File: path}); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Import(t.Context(), PlanFile{File: dir}); err == nil {
		t.Error("a directory is accepted")
	}
	if _, err := s.Import(t.Context(), PlanFile{File: filepath.Join(dir, "none.md")}); err == nil {
		t.Error("a missing file is accepted")
	} else if _, ok := errors.AsType[*refusal.NotFoundError](err); !ok {
		t.Error(err)
	}
	if r, err := s.Import(t.Context(), PlanFile{Data: strings.NewReader("- [ ] " + strings.Repeat("long ", 60))}); err != nil || r.Created != 1 {
		t.Error(r, err)
	}
	if r, err := s.Import(t.Context(), PlanFile{Data: strings.NewReader("- [ ] use sk-ant-api03-" + strings.Repeat("a", 93) + "AA"), DryRun: true}); err != nil || r.Created != 1 || len(r.Redacted) == 0 {
		t.Error(r, err)
	}
}

// A plan that moves a task below a finished part of it makes no circle: the task comes to the top.
func TestPlanMakesNoCircle(t *testing.T) {
	s, _ := planStore(t)
	load(t, s, "- [ ] outer\n  - [x] inner\n")
	id := map[string]string{}
	list, err := s.List(t.Context(), Query{State: "all"})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range list.Tasks {
		id[x.Title] = x.ID
	}
	load(t, s, fmt.Sprintf("- [x] inner <!-- %s -->\n  - [ ] outer <!-- %s -->\n", id["inner"], id["outer"]))
	list, err = s.List(t.Context(), Query{State: "all"})
	want := fmt.Sprintf("Tasks (2):\n  %s \"outer\" [Created] (unassigned)\n    %s \"inner\" [Completed] (unassigned)", id["outer"], id["inner"])
	if err != nil || list.Text() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, list.Text(), want)
	}
}

// A line that was copied with its comment is a task of its own, and a new item under a task's
// former name does not take that task from the line that names it.
func TestPlanNamesATaskOnce(t *testing.T) {
	s, _ := planStore(t)
	load(t, s, "- [ ] one\n")
	list, err := s.List(t.Context(), Query{})
	if err != nil {
		t.Fatal(err)
	}
	id := list.Tasks[0].ID
	if r := load(t, s, fmt.Sprintf("- [ ] one\n- [ ] two <!-- %s -->\n- [ ] three <!-- %s -->\n", id, id)); r.Created != 2 || r.Changed != 1 || r.Canceled != 0 {
		t.Error(r.Text())
	}
	if one, err := s.Get(t.Context(), TaskRef{id}); err != nil || one.Title != "two" {
		t.Errorf("%s: %v", one.Title, err)
	}
}

// A tree has a hundred levels, however it is made.
func TestDepthOfATree(t *testing.T) {
	s, _ := planStore(t)
	var text strings.Builder
	for i := range maxDepth {
		fmt.Fprintf(&text, "%s- [ ] item %d\n", strings.Repeat(" ", i), i)
	}
	load(t, s, text.String())
	last := ""
	for x := range inOrder(mustTree(t, s).parts) {
		last = x.ID
	}
	_, err := s.Create(t.Context(), Draft{Title: "one more", Parent: last})
	_, err2 := s.Import(t.Context(), PlanFile{Data: strings.NewReader(text.String() + strings.Repeat(" ", maxDepth) + "- [ ] one more\n")})
	for _, err := range []error{err, err2} {
		if e, ok := errors.AsType[*refusal.ArgumentError](err); !ok || !strings.Contains(e.Problem, "levels") {
			t.Errorf("%v", err)
		}
	}
}

func mustTree(t *testing.T, s *Store) (all tree) {
	t.Helper()
	if err := s.view(t.Context(), func(p project, _ time.Time) error { all = p.tree(); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

// A deep chain in a damaged file is read as quickly as any other.
func TestLongChain(t *testing.T) {
	st := newState()
	for i := range 2_000 {
		st.put(&record{Task: Task{ID: fmt.Sprintf("t-%06x", i), Parent: fmt.Sprintf("t-%06x", i-1), CreatedAt: epoch.Add(time.Duration(i))}})
	}
	tree, n := st.projects[""].tree(), 0
	for x, depth := range inOrder(tree.parts) {
		if n++; depth > 10*maxDepth+1 {
			t.Fatalf("%s is at %d", x.ID, depth)
		}
	}
	if n != 2_000 {
		t.Errorf("%d are in the tree", n)
	}
}

// No task can be made to wait for what cannot be completed before it: not by after, not by
// parent, and not by a file.
func TestWaitsMakeNoCircle(t *testing.T) {
	s, c := planStore(t)
	create := func(d Draft) string {
		t.Helper()
		c.pass(time.Second)
		return made(t, s, d)
	}
	a := create(Draft{Title: "a"})
	part := create(Draft{Title: "part", Parent: a})
	b := create(Draft{Title: "b", After: []string{a}})
	free := create(Draft{Title: "free", Parent: a, After: []string{part}})
	for what, u := range map[string]Update{
		"for itself":                      {TaskID: a, After: []string{a}},
		"for its part":                    {TaskID: a, After: []string{part}},
		"for what waits for it":           {TaskID: a, After: []string{b}},
		"a part for its parent":           {TaskID: part, After: []string{a}},
		"a part for what waits above":     {TaskID: part, After: []string{b}},
		"below what waits for its parent": {TaskID: a, Parent: b},
		"below what waits for it":         {TaskID: part, Parent: free},
	} {
		c.pass(time.Second)
		if _, err := s.Update(t.Context(), u); err == nil || !strings.Contains(err.Error(), "cannot ") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := s.Create(t.Context(), Draft{Title: "late", Parent: a, After: []string{b}}); err == nil {
		t.Error("a new part waits for what waits for its parent")
	}
	if _, err := s.Update(t.Context(), Update{TaskID: free, After: []string{"none"}}); err != nil {
		t.Error(err)
	}
	beads := `{"id":"x","title":"X","issue_type":"task","dependencies":[{"depends_on_id":"y","type":"blocks"}]}
{"id":"y","title":"Y","issue_type":"task","dependencies":[{"depends_on_id":"x","type":"blocks"}]}`
	if _, err := s.Import(t.Context(), PlanFile{Data: strings.NewReader(beads)}); err == nil || !strings.Contains(err.Error(), `"X" needs itself`) {
		t.Errorf("a file with a circle: %v", err)
	}
}
