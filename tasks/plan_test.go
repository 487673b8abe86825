package tasks

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
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

// file writes a plan's text under a name.
func file(t *testing.T, name, text string) PlanFile {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return PlanFile{File: path}
}

// load imports a plan's text under the name PLAN.md.
func load(t *testing.T, s *Store, text string) ImportedPlan {
	t.Helper()
	return loadAs(t, s, "PLAN.md", text)
}

func loadAs(t *testing.T, s *Store, name, text string) ImportedPlan {
	t.Helper()
	r, err := s.Import(t.Context(), file(t, name, text))
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
	if r.Created != 1 || r.Completed != 4 || r.Canceled != 1 || len(r.FinishedHere) != 1 || r.FinishedHere[0] != done {
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
	if r := load(t, s, "- [ ] "+strings.Repeat("long ", 60)); r.Created != 1 {
		t.Error(r)
	}
	secret := file(t, "secret.md", "- [ ] use sk-ant-api03-"+strings.Repeat("a", 93)+"AA")
	secret.DryRun = true
	if r, err := s.Import(t.Context(), secret); err != nil || r.Created != 1 || len(r.Redacted) == 0 {
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
	var chain []string
	for x := range inOrder(mustTree(t, s).parts) {
		chain = append(chain, x.ID)
	}
	top := made(t, s, Draft{Title: "another"})
	part := made(t, s, Draft{Title: "a part of it", Parent: top})
	_, err := s.Create(t.Context(), Draft{Title: "one more", Parent: chain[maxDepth-1]})
	_, err2 := s.Import(t.Context(), file(t, "PLAN.md", text.String()+strings.Repeat(" ", maxDepth)+"- [ ] one more\n"))
	_, err3 := s.Update(t.Context(), Update{TaskID: chain[0], Parent: top})
	_, err4 := s.Update(t.Context(), Update{TaskID: top, Parent: chain[maxDepth-2]})
	_, err5 := s.Import(t.Context(), file(t, "OTHER.md", "- [ ] above\n  - [ ] item 0 <!-- "+chain[0]+" -->\n"))
	if _, err := s.Update(t.Context(), Update{TaskID: top, Parent: chain[maxDepth-3]}); err != nil {
		t.Errorf("%s with %s to the last level: %v", top, part, err)
	}
	for _, err := range []error{err, err2, err3, err4, err5} {
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
	r := loadAs(t, s, "issues.jsonl", beads)
	if r.Created != 2 || len(r.Problems) != 1 || mustTree(t, s).circle(slices.Collect(maps.Values(mustTree(t, s).project))...) != nil {
		t.Errorf("a file with a circle: %s", r.Text())
	}
	if again := loadAs(t, s, "issues.jsonl", beads); again.Unchanged != 2 {
		t.Errorf("the same file again: %s", again.Text())
	}
	// What cannot be is left out alone, and named with its line.
	text := `{"id":"e","title":"Epic","issue_type":"epic","dependencies":[{"depends_on_id":"k","type":"blocks"}]}
{"id":"k","title":"Kid","issue_type":"task","dependencies":[{"depends_on_id":"e","type":"parent-child"},{"depends_on_id":"z","type":"blocks"}]}
{"id":"l","title":"Loop","issue_type":"task","assignee":"ann/bob","dependencies":[{"depends_on_id":"m","type":"parent-child"}]}
{"id":"m","title":"Moop","issue_type":"task","dependencies":[{"depends_on_id":"l","type":"parent-child"}]}
{"id":"z","title":"Free","issue_type":"task"}`
	s2, _ := planStore(t)
	want := `Plan beads.jsonl (beads): 5 created, 0 changed, 0 completed, 0 canceled, 0 unchanged
  line 4: m would be a part of itself: it stands at the top
  line 1: "Epic" does not wait for "Kid", which would need it first
  no place for 1 assignee`
	if r := loadAs(t, s2, "beads.jsonl", text); r.Text() != want {
		t.Errorf("got\n%s\nwant\n%s", r.Text(), want)
	}
	if r := next(t, s2, "claude-0001"); r.Task == nil || r.Task.Title != "Loop" && r.Task.Title != "Free" {
		t.Errorf("the sound waits hold: %s", r.Text())
	}
}

// A plan that was read from another file meanwhile is still the same plan in the first one.
func TestPlanInTwoFiles(t *testing.T) {
	s, c := planStore(t)
	load(t, s, planText)
	for range 2 {
		out, err := s.Export(t.Context(), PlanExport{})
		if err != nil {
			t.Fatal(err)
		}
		c.pass(time.Second)
		if r := loadAs(t, s, "docs.md", out.Data); r.Created+r.Canceled+r.Changed != 0 {
			t.Errorf("its export: %s", r.Text())
		}
		c.pass(time.Second)
		if r := load(t, s, planText); r.Created+r.Canceled+r.Changed != 0 || r.Unchanged != 7 {
			t.Errorf("the first file again: %s", r.Text())
		}
	}
	c.pass(time.Second)
	if r := load(t, s, strings.Replace(planText, "- [ ] Readers\n", "", 1)); r.Canceled != 1 || r.Created+r.Changed != 0 {
		t.Errorf("without one item: %s", r.Text())
	}
}

// A file that holds a part of the tree says nothing about the rest.
func TestPartOfAPlan(t *testing.T) {
	s, c := planStore(t)
	load(t, s, planText)
	before := map[string]*record{}
	for _, x := range mustTree(t, s).project {
		before[x.Title] = x
	}
	for _, x := range []*record{before["Switch"], before["Server"]} {
		out, err := s.Export(t.Context(), PlanExport{TaskID: x.ID})
		if err != nil {
			t.Fatal(err)
		}
		c.pass(time.Second)
		if r := loadAs(t, s, "part.md", out.Data); r.Changed+r.Created+r.Canceled != 0 {
			t.Errorf("%s: %s", x.Title, r.Text())
		}
		if y := mustTree(t, s).project[x.ID]; y.Parent != x.Parent || !slices.Equal(y.After, x.After) || y.Order != x.Order {
			t.Errorf("%s: below %q after %v, place %d", y.Title, y.Parent, y.After, y.Order)
		}
	}
	c.pass(time.Second)
	for _, completed := range []int{2, 0} { // with its phase
		if r := loadAs(t, s, "part.md", "- [x] Server <!-- "+before["Server"].ID+" -->\n"); r.Completed != completed || r.Canceled != 0 {
			t.Errorf("the last item of a phase: %s", r.Text())
		}
	}
	c.pass(time.Second)
	text := "## Switch <!-- " + before["Switch"].ID + " -->\n- [ ] Writers <!-- " + before["Writers"].ID + " -->\n"
	if r := loadAs(t, s, "part.md", text); r.Canceled != 1 || r.Created+r.Changed != 0 {
		t.Errorf("an item that was removed from the part: %s", r.Text())
	}
}

// What was set here stays until the file says something else.
func TestImportKeepsWhatWasSetHere(t *testing.T) {
	s, c := planStore(t)
	load(t, s, planText)
	id := map[string]string{}
	for _, x := range mustTree(t, s).project {
		id[x.Title] = x.ID
	}
	own := made(t, s, Draft{Title: "own"})
	for _, u := range []Update{{TaskID: id["Switch"], After: []string{"none"}}, {TaskID: id["Readers"], Parent: own}, {TaskID: id["Writers"], After: []string{own}}} {
		c.pass(time.Second)
		if _, err := s.Update(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	c.pass(time.Second)
	if r := load(t, s, planText); r.Unchanged != 7 {
		t.Error(r.Text())
	}
	of := mustTree(t, s).project
	if x, y, z := of[id["Switch"]], of[id["Readers"]], of[id["Writers"]]; len(x.After) != 0 || y.Parent != own || !slices.Equal(z.After, []string{own}) {
		t.Errorf("Switch waits for %v, Readers is below %s, Writers waits for %v", x.After, y.Parent, z.After)
	}
	c.pass(time.Second)
	text := strings.Replace(planText, "## Switch\n", "## Try\n- [ ] Try it\n## Switch\n", 1)
	text = strings.Replace(text, "- [ ] Readers\n", "", 1)
	text = strings.Replace(text, "- [x] Design\n", "- [x] Design\n- [ ] Readers <!-- "+id["Readers"]+" -->\n", 1)
	if r := load(t, s, text); r.Created != 2 || r.Changed != 2 || r.Canceled != 0 {
		t.Error(r.Text())
	}
	of = mustTree(t, s).project
	if x, y := of[id["Switch"]], of[id["Readers"]]; len(x.After) != 1 || of[x.After[0]].Title != "Try" || y.Parent != id["Prepare"] {
		t.Errorf("Switch waits for %v, Readers is below %s", x.After, y.Parent)
	}
}

// A file is no way around who may change a task.
func TestImportChangesWhatItsCallerMayChange(t *testing.T) {
	s, c := planStore(t)
	load(t, s, planText)
	server := next(t, s, "claude-0001").Task.ID
	c.pass(time.Second)
	later := made(t, s.as("claude-0001"), Draft{Title: "Later"})
	if _, err := s.as("claude-0001").Update(t.Context(), Update{TaskID: later, ToAgent: "claude-0002"}); err != nil {
		t.Fatal(err)
	}
	c.pass(time.Second)
	withLater := planText + "- [ ] Later <!-- " + later + " -->\n"
	load(t, s, withLater)
	done := file(t, "PLAN.md", strings.NewReplacer("- [ ] Server", "- [x] Server", "- [ ] Writers", "- [x] Writers").Replace(planText))
	c.pass(time.Second)
	r, err := s.as("codex-0001").Import(t.Context(), done)
	if want := "\n  of other agents, so not changed as in the file: " + server + " (claude-0001), " + later + " (claude-0002)"; err != nil || r.Completed != 1 || r.Canceled != 0 || !strings.HasSuffix(r.Text(), want) {
		t.Errorf("%s, %v\nwant%s", r.Text(), err, want)
	}
	of := mustTree(t, s)
	if x := of.project[server]; x.State != Working || of.project[x.Parent].State != Created || of.project[later].State != Created {
		t.Errorf("%s is %s, its phase %s", server, x.State, of.project[x.Parent].State)
	}
	c.pass(time.Second)
	if r, err := s.as("claude-0001").Import(t.Context(), done); err != nil || r.Completed != 2 || r.Canceled != 1 || len(r.OfOthers) != 0 {
		t.Errorf("its assignee, who gave the other: %s, %v", r.Text(), err)
	}
}

// An epic without children is not completed.
func TestEmptyEpic(t *testing.T) {
	s, _ := planStore(t)
	if r := loadAs(t, s, "issues.jsonl", `{"id":"e","title":"Epic","issue_type":"epic","status":"open"}`); r.Created != 1 || r.Completed != 0 {
		t.Error(r.Text())
	}
}

// A link of the repository leads an export to no file of the user.
func TestExportFollowsNoLinkOutOfTheProject(t *testing.T) {
	root, far := t.TempDir(), filepath.Join(t.TempDir(), "rc")
	if err := os.WriteFile(far, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(far, filepath.Join(root, "PLAN.md")); err != nil {
		t.Skip(err)
	}
	s := open(t, t.TempDir(), &Options{ProjectRoot: root})
	if _, err := s.Export(t.Context(), PlanExport{File: filepath.Join(root, "PLAN.md")}); err == nil || !strings.Contains(err.Error(), "leads out of the project") {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(far); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
}

// A file is one plan, whatever name of it is given: a link, a hard link, a path with detours.
func TestPlanUnderTwoNames(t *testing.T) {
	root := t.TempDir()
	s := open(t, t.TempDir(), &Options{ProjectRoot: root})
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	for _, err := range []error{
		os.MkdirAll(at("docs"), 0o700),
		os.WriteFile(at("docs/PLAN.md"), []byte(planText), 0o600),
		os.WriteFile(at("COPY.md"), []byte(planText), 0o600),
		os.Link(at("docs/PLAN.md"), at("hard.md")),
	} {
		if err != nil {
			t.Skip(err)
		}
	}
	names := []string{"docs/PLAN.md", "docs/../docs/./PLAN.md", "hard.md"}
	if os.Symlink("docs/PLAN.md", at("PLAN.md")) == nil && os.Symlink("docs", at("d")) == nil {
		names = append([]string{"PLAN.md"}, append(names, "PLAN.md", "d/PLAN.md")...)
	}
	for i, name := range names {
		r, err := s.Import(t.Context(), PlanFile{File: at(name)})
		if err != nil || (r.Created == 0) != (i > 0) || r.File != "docs/PLAN.md" {
			t.Errorf("%s: %s, %v", name, r.Text(), err)
		}
	}
	if r, err := s.Import(t.Context(), PlanFile{File: at("COPY.md")}); err != nil || r.Created == 0 || r.File != "COPY.md" {
		t.Errorf("a copy is another plan: %s, %v", r.Text(), err)
	}
}
