package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leanctx/cmd/internal/op"
	"leanctx/knowledge"
	"leanctx/knowledge/briefing"
)

// greenhouse is a store of 105 facts of a project that sells software to growers, as
// three agents and a user remembered them, every second one with questions. Its tasks each name the facts that a good
// colleague would mention, its prompts those that are right beside them.
func greenhouse(t *testing.T, s *stores) *knowledge.Store {
	t.Helper()
	store, err := s.open(t.Context(), op.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range greenhouseRows(t, "facts.tsv") {
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
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "eval", "greenhouse", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		all = append(all, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return all
}

// A briefing of 800 tokens for a task holds at least four in five of the facts that
// a good colleague would mention.
func TestBriefingForATask(t *testing.T) {
	home(t)
	s := serving(t)
	store := greenhouse(t, s)
	holds := func(task string, wanted []string) (n int, missed []string) {
		b, err := briefing.Wakeup(t.Context(), store, briefing.Query{Task: task})
		if err != nil {
			t.Fatal(err)
		}
		if size := len(b.Text()); size > 800*4 {
			t.Errorf("%d bytes", size)
		}
		text := "|" + strings.Join(b.Facts, "|") + "|"
		for _, w := range wanted {
			if strings.Contains(text, "|"+w+"|") {
				n++
			} else {
				missed = append(missed, w)
			}
		}
		return n, missed
	}
	with, without, all := 0, 0, 0
	for _, row := range greenhouseRows(t, "tasks.tsv") {
		wanted := strings.Split(row[1], ";")
		n, missed := holds(row[0], wanted)
		m, _ := holds("", wanted)
		with, without, all = with+n, without+m, all+len(wanted)
		if len(missed) > 0 {
			t.Logf("%s: misses %s", row[0], strings.Join(missed, ", "))
		}
	}
	t.Logf("with the task %d of %d (%.2f), without %d (%.2f)", with, all, float64(with)/float64(all), without, float64(without)/float64(all))
	if float64(with) < .8*float64(all) {
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
