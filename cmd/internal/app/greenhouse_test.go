package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/op"
	"leanctx/knowledge"
	"leanctx/knowledge/briefing"
)

// greenhouse is a store of 105 facts of a project that sells software to growers. Three agents
// and a user remembered them, every second one with questions. Its tasks each name the facts
// that a good colleague would mention, its prompts those that are right beside them.
func greenhouse(t *testing.T, s *stores) *knowledge.Store {
	t.Helper()
	return filled(t, s, "greenhouse")
}

// filled is a store with the facts of a set in testdata/eval.
func filled(t *testing.T, s *stores, set string) *knowledge.Store {
	t.Helper()
	store, err := s.facts(t.Context(), op.Scope{Effect: op.Adds})
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rowsOf(t, set, "facts.tsv") {
		by := knowledge.Actor{Agent: []string{"cursor-a3f8", "claude-code-b7e2", "codex-1acc"}[i%3]}
		a := knowledge.Assertion{Category: row[0], Key: row[1], Value: row[2], Questions: row[3]}
		if row[0] == "user" {
			a.Source = "user"
		}
		if _, err := store.As(by).Remember(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// greenhouseRows are those of a table of the greenhouse.
func greenhouseRows(t *testing.T, name string) (all [][]string) {
	t.Helper()
	return rowsOf(t, "greenhouse", name)
}

func rowsOf(t *testing.T, set, name string) (all [][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "eval", set, name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		all = append(all, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return all
}

// A briefing of 800 tokens for a task holds four in five of the facts that a good
// colleague would mention. The ferry, its facts and tasks, was written before anybody had
// seen what is chosen for it, and nothing was tuned on it. Each floor is one fact below what
// was measured, for ranking changes.
func TestBriefingForATask(t *testing.T) {
	for set, floor := range map[string]int{"greenhouse": 50, "ferry": 52} {
		t.Run(set, func(t *testing.T) { testBriefingForATask(t, set, floor) })
	}
}

func testBriefingForATask(t *testing.T, set string, floor int) {
	home(t)
	s := serving(t)
	store := filled(t, s, set)
	holds := func(task string, wanted []string) (n int, missed []string) {
		b, err := briefing.Wakeup(t.Context(), store, briefing.Query{Task: task})
		if err != nil {
			t.Fatal(err)
		}
		if size := len(b.Text()); size > 800*4 {
			t.Errorf("%d bytes", size)
		}
		for _, w := range wanted {
			if slices.Contains(b.Facts, w) {
				n++
			} else {
				missed = append(missed, w)
			}
		}
		return n, missed
	}
	with, without, all := 0, 0, 0
	for _, row := range rowsOf(t, set, "tasks.tsv") {
		wanted := strings.Split(row[1], ";")
		n, missed := holds(row[0], wanted)
		m, _ := holds("", wanted)
		with, without, all = with+n, without+m, all+len(wanted)
		if len(missed) > 0 {
			t.Logf("%s: misses %s", row[0], strings.Join(missed, ", "))
		}
	}
	t.Logf("with the task %d of %d (%.3f), without %d (%.3f)", with, all, float64(with)/float64(all), without, float64(without)/float64(all))
	if with < floor {
		t.Errorf("%d of %d with the task", with, all)
	}
}

// A session begins with what others recorded since the last one of its client began,
// and not with what its own client's agents did.
func TestSessionStartTellsNews(t *testing.T) {
	dir := home(t)
	start := func(client, session string) string {
		t.Helper()
		code, out, errs := do(t, fmt.Sprintf(`{"session_id":%q,"cwd":%q,"source":"startup"}`, session, filepath.Join(dir, "my-app")), "hook", client, "session-start")
		if code != 0 {
			t.Fatal(errs)
		}
		_, news, _ := strings.Cut(out, "NEW:")
		news, _, _ = strings.Cut(news, `\n`)
		news, _, _ = strings.Cut(news, `"`)
		return news
	}
	say := func(key, agent string) {
		t.Helper()
		if code, _, errs := do(t, "", "knowledge", "remember", "value of "+key, "-c", "infra", "-k", key, "--agent", agent); code != 0 {
			t.Fatal(errs)
		}
	}
	say("cdn", "codex-1acc")
	if news := start("claude-code", "one"); news != "" {
		t.Errorf("the first session is told %q", news)
	}
	say("dns", "codex-1acc")
	say("mine", "claude-b7e2")
	if news := start("claude-code", "two"); news != "infra/dns=value of dns (codex-1acc)" {
		t.Errorf("the second session is told %q", news)
	}
	if news := start("claude-code", "three"); news != "" {
		t.Errorf("told again: %q", news)
	}
	if news := start("codex", "four"); news != "" {
		t.Errorf("another client's first session is told %q", news)
	}
	say("late", "claude-b7e2")
	if news := start("codex", "five"); news != "infra/late=value of late (claude-b7e2)" {
		t.Errorf("another client: %q", news)
	}
}

// A session that begins is told the task that next would give its client, and one that goes
// on the tasks of its agent; without a task nothing is said.
func TestSessionStartTellsTasks(t *testing.T) {
	dir := home(t)
	start := func(client, session, source string) string {
		t.Helper()
		code, out, errs := do(t, fmt.Sprintf(`{"session_id":%q,"cwd":%q,"source":%q}`, session, filepath.Join(dir, "my-app"), source), "hook", client, "session-start")
		if code != 0 {
			t.Fatal(errs)
		}
		return out
	}
	run := func(args ...string) string {
		t.Helper()
		code, out, errs := do(t, "", args...)
		if code != 0 {
			t.Fatalf("%q: %s", args, errs)
		}
		return strings.TrimSpace(out)
	}
	run("knowledge", "remember", "akamai", "-c", "infra", "-k", "cdn")
	if out := start("claude-code", "one", "startup"); out == "" || strings.Contains(out, "TASK") {
		t.Errorf("without a task: %s", out)
	}
	id := strings.Fields(run("task", "create", "Fix auth middleware", "--to-agent", "claude"))[2]
	if out := start("codex", "two", "startup"); strings.Contains(out, "TASK") {
		t.Errorf("another client: %s", out)
	}
	if out := start("claude-code", "three", "startup"); !strings.Contains(out, `NEXT_TASK:`+id+` \"Fix auth middleware\" (by tool)`) || strings.Contains(out, `TASKS:`) {
		t.Errorf("its client: %s", out)
	}
	agent := strings.Fields(run("agent", "register", "claude", "auth"))[1]
	t.Setenv("LEAN_CTX_AGENT", agent)
	run("task", "next")
	if out := start("claude-code", "three", "compact"); !strings.Contains(out, `TASKS:`+id+` \"Fix auth middleware\" [Working]`) || strings.Contains(out, "NEXT_TASK") {
		t.Errorf("its agent: %s", out)
	}
	run("task", "update", id, "Completed")
	if out := start("claude-code", "three", "clear"); strings.Contains(out, id) {
		t.Errorf("when it is done: %s", out)
	}
}

// Of twenty prompts to the hook of a real store, at least fifteen get a fact that is
// right, or rightly nothing.
func TestPromptsGetWhatIsRight(t *testing.T) {
	dir := home(t)
	greenhouse(t, serving(t))
	right, all := 0, greenhouseRows(t, "prompts.tsv")
	for i, row := range all {
		in, err := json.Marshal(map[string]string{"session_id": fmt.Sprint(i), "cwd": filepath.Join(dir, "my-app"), "prompt": row[0]})
		if err != nil {
			t.Fatal(err)
		}
		code, out, errs := do(t, string(in), "hook", "claude-code", "user-prompt")
		if code != 0 {
			t.Fatal(errs)
		}
		told := regexp.MustCompile(`\[[^\]]+/[^\]]+\] `).FindAllString(out, -1)
		ok := row[1] == "-" && out == ""
		for wanted := range strings.SplitSeq(row[1], ";") {
			ok = ok || slices.Contains(told, "["+wanted+"] ")
		}
		if len(told) > 3 {
			t.Errorf("%q: %d facts", row[0], len(told))
		}
		mark := "wrong"
		if ok {
			right++
			mark = "right"
		}
		t.Logf("%s: %s → %s", mark, row[0], strings.Join(told, ""))
	}
	t.Logf("%d of %d", right, len(all))
	if right < 15 {
		t.Errorf("%d of %d prompts", right, len(all))
	}
}

// A store that nobody touched for 200 or 400 days answers every direct question, and its
// briefing holds every rule of the user. It is made old by export, other dates and
// import; the record of retrievals says that nothing was read.
func TestAnOldStoreAnswers(t *testing.T) {
	dir := home(t)
	greenhouse(t, serving(t))
	run := func(args ...string) string {
		t.Helper()
		code, out, errs := do(t, "", args...)
		if code != 0 {
			t.Fatalf("%q: %s", args, errs)
		}
		return out
	}
	file := filepath.Join(dir, "all.json")
	run("knowledge", "export", "--output", file)
	for i, days := range []int{200, 400} {
		age(t, file, 200) // once more
		old := filepath.Join(dir, fmt.Sprint(days))
		t.Setenv(config.DataDirVar, old)
		run("knowledge", "import", file)
		records, err := filepath.Glob(filepath.Join(old, "knowledge", "*", "knowledge.journal"))
		if err != nil || len(records) != 1 {
			t.Fatal(records, err)
		}
		began := fmt.Sprintf("%d\n", time.Now().AddDate(0, 0, -days).Unix())
		if err := os.WriteFile(filepath.Join(filepath.Dir(records[0]), "retrievals.log"), []byte(began), 0o600); err != nil {
			t.Fatal(err)
		}
		told := run("knowledge", "consolidate")
		t.Logf("%d days: %s", days, strings.TrimSpace(told))
		if strings.Contains(told, "archived 0 facts") {
			t.Error("nothing is dormant, so the test tells nothing")
		}
		s := serving(t)
		store, err := s.facts(t.Context(), op.Scope{Effect: op.Adds})
		if err != nil {
			t.Fatal(err)
		}
		b, err := briefing.Wakeup(t.Context(), store, briefing.Query{})
		if err != nil {
			t.Fatal(err)
		}
		for j, row := range greenhouseRows(t, "facts.tsv") {
			name := row[0] + "/" + row[1]
			if row[0] == "user" && !slices.Contains(b.Facts, name) {
				t.Errorf("%d days: the briefing lacks %s", days, name)
			}
			if perishes := row[0] == "status" || row[0] == "bug" || row[0] == "blocker" || row[0] == "progress"; j%2 != i && !perishes {
				continue // the other half is asked at the other age
			}
			r, err := store.Recall(t.Context(), knowledge.Question{Query: "what about the " + row[1] + "?"})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(r.Facts[:min(3, len(r.Facts))], func(f knowledge.Found) bool { return f.Category+"/"+f.Key == name && f.Value == row[2] }) {
				t.Errorf("%d days: %s is not found: %s", days, name, r.Text())
			}
		}
	}
}

// age makes the instants of an export older by some days.
func age(t *testing.T, file string, days int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[0-9:.]+Z"`).ReplaceAllFunc(text, func(quoted []byte) []byte {
		at, err := time.Parse(`"`+time.RFC3339Nano+`"`, string(quoted))
		if err != nil {
			t.Fatal(err)
		}
		return []byte(at.AddDate(0, 0, -days).Format(`"` + time.RFC3339Nano + `"`))
	})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
