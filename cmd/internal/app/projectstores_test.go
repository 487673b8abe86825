package app

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"leanctx/agents"
)

// Sub-agents of one process are different agents, a connection that names none
// is the one it registered last, and another connection is somebody else.
func TestWhoCalls(t *testing.T) {
	home(t)
	s := serving(t)
	a, b := dial(t, s, ""), dial(t, s, "2025-11-25")
	cursor, review := a.register("cursor", "dev"), a.register("reviewer", "review")
	claude := b.register("claude", "docs")
	if cursor == review || review == claude {
		t.Fatalf("one id twice: %s %s %s", cursor, review, claude)
	}
	a.must("ctx_agent", `{"action":"diary","message":"mine","category":"insight"}`)
	a.must("ctx_agent", `{"action":"diary","message":"hers","category":"insight","agent":"`+cursor+`"}`)
	a.must("ctx_knowledge", `{"action":"remember","category":"a","key":"k","value":"v","agent":"`+cursor+`"}`)
	for id, want := range map[string]string{review: "[INSIGHT] mine", cursor: "[INSIGHT] hers"} {
		if got := b.must("ctx_agent", `{"action":"recall_diary","agent_id":"`+id+`"}`); !strings.Contains(got, want) || strings.Count(got, "\n") != 1 {
			t.Errorf("diary of %s: %s", id, got)
		}
	}
	if got := b.must("ctx_recall", `{"action":"why","category":"a","key":"k"}`); !strings.Contains(got, cursor) {
		t.Errorf("who asserted it? %s", got)
	}
	// Each reads once, for itself.
	b.must("ctx_agent", `{"action":"post","message":"rebase first","to_agent":"cursor"}`)
	if got := a.must("ctx_agent", `{"action":"read"}`); got != "No new messages." {
		t.Errorf("the reviewer read %s", got)
	}
	read := `{"action":"read","agent":"` + cursor + `"}`
	if got := a.must("ctx_agent", read); !strings.Contains(got, "rebase first") {
		t.Errorf("cursor read %s", got)
	}
	if got := a.must("ctx_agent", read); got != "No new messages." {
		t.Errorf("and again %s", got)
	}
	for _, args := range []string{
		`{"action":"post","message":"x","to_agent":"nobody-a3f8"}`, `{"action":"read","agent":"../../etc"}`, `{"action":"read","agent":"cursor-0000000"}`,
		`{"action":"claim","path":"../etc/passwd"}`, `{"action":"claim","path":"/etc/passwd"}`, `{"action":"claim","path":"x","ttl":"soon"}`,
		`{"action":"post","message":"` + strings.Repeat("m", 1<<20) + `"}`, `{"action":"diary","message":"x","agent":"🐙` + strings.Repeat("x", 300) + `"}`,
	} {
		if got := b.call("ctx_agent", args); !strings.HasPrefix(got, "!") || len(got) > 600 {
			t.Errorf("%.80s: got %.600s", args, got)
		}
	}
}

// An agent is its connection's until that is closed; whoever registers like it
// then goes on as it. A call that names an agent makes a server hold it.
func TestConnectionsHoldTheirAgents(t *testing.T) {
	home(t)
	one, two := serving(t), serving(t)
	a, b := dial(t, one, ""), dial(t, two, "")
	cursor := a.register("cursor", "dev")
	other := b.register("cursor", "dev")
	if other == cursor {
		t.Fatal("an agent was resumed while it was at work")
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	<-a.served
	if got := b.register("cursor", "dev"); got != cursor {
		t.Fatalf("%s is still held after its connection closed, got %s", cursor, got)
	}
	again := dial(t, one, "")
	if err := onlyRegistry(t, two).Close(); err != nil { // as if its process had ended
		t.Fatal(err)
	}
	again.must("ctx_recall", `{"action":"status","agent":"`+other+`"}`)
	one.background.Wait()
	third := serving(t)
	if got := dial(t, third, "").register("cursor", "dev"); got == other {
		t.Errorf("%s was resumed although it goes on in a server", got)
	}
}

func onlyRegistry(t *testing.T, s *stores) *agents.Store {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.open {
		if w, ok := x.(*agents.Store); ok {
			return w
		}
	}
	t.Fatal("no registry")
	return nil
}

// Who is subscribed to a category's facts is told when a fact is written, in both eras, and
// not of what concerns no fact.
func TestSubscriptions(t *testing.T) {
	for _, protocol := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(protocol, func(t *testing.T) {
			home(t)
			a, b := dial(t, serving(t), protocol), dial(t, serving(t), protocol)
			a.register("cursor", "dev")
			b.register("claude", "")
			const facts = "leanctx://facts/architecture"
			a.must("ctx_knowledge", `{"action":"remember","category":"architecture","key":"auth","value":"JWT RS256"}`)
			if err := a.Subscribe(t.Context(), &mcp.SubscribeParams{URI: facts}); err != nil {
				t.Fatal(err)
			}
			if protocol == "2026-07-28" {
				<-a.booked // its client does not wait for that
			} else if err := a.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "leanctx://nothing"}); err == nil {
				t.Error("subscribed to nothing")
			}
			b.must("ctx_agent", `{"action":"claim","path":"src"}`)
			if n := len(a.updated); n > 0 {
				t.Errorf("a claim is no fact, and %s was updated", <-a.updated)
			}
			b.must("ctx_knowledge", `{"action":"remember","category":"architecture","key":"db","value":"PostgreSQL 16"}`)
			a.hears(facts)
			if got := a.resource(facts); !strings.Contains(got, "PostgreSQL 16") {
				t.Errorf("got %s", got)
			}
			if err := a.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: facts}); err != nil {
				t.Error(err)
			}
		})
	}
}

func (c client) hears(want string) {
	c.t.Helper()
	select {
	case got := <-c.updated:
		if got != want {
			c.t.Fatalf("%s was updated, not %s", got, want)
		}
	case <-time.After(2 * time.Minute):
		c.t.Fatalf("nothing was heard of %s", want)
	}
}

func (c client) resource(uri string) string {
	c.t.Helper()
	r, err := c.ReadResource(c.t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		c.t.Fatal(err)
	}
	var b strings.Builder
	for _, x := range r.Contents {
		fmt.Fprint(&b, x.Text)
	}
	return b.String()
}

// Erasing a project takes its facts, the files that its agents shared and what hooks told of it,
// and says what it leaves.
func TestErasedProject(t *testing.T) {
	dir := home(t)
	if err := os.WriteFile(filepath.Join(dir, "my-app", "f.txt"), []byte("walrus in a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	ran(t, "remember", "sea/animal", "walrus")
	a := registered(t, "cursor", "dev")
	ran(t, "--agent", a, "share", "push", "f.txt")
	ran(t, "--agent", a, "task", "create", "feed it")
	hooked(t, "claude-code", "session-start", "one", "")
	ran(t, "overview")
	agents := filepath.Join(dir, "data", "agents")
	if said := ran(t, "project", "forget", "my-app", "--erase", "--yes"); !strings.HasSuffix(said, " and erased its memory; diaries, messages and tasks of its agents are left in "+agents+"\n") {
		t.Error(said)
	}
	err := filepath.WalkDir(filepath.Join(dir, "data"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte("walrus")) || bytes.Contains(text, []byte("sea/animal")) {
			t.Errorf("%s has %s", path, text)
		}
		return err
	})
	if left, _ := filepath.Glob(filepath.Join(dir, "data", "overview", "*")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// What cannot be erased stays known, so that erasing can be repeated. A link is not followed.
func TestEraseThatFailsCanBeRepeated(t *testing.T) {
	dir := home(t)
	ran(t, "remember", "sea/animal", "walrus")
	all, err := filepath.Glob(filepath.Join(dir, "data", "knowledge", "*[0-9a-f]"))
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	elsewhere := filepath.Join(dir, "elsewhere")
	if err := os.Rename(all[0], elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, all[0]); err != nil {
		t.Skip(err)
	}
	if code, out, errs := do(t, "", "project", "forget", "my-app", "--erase", "--yes"); code != 1 || out != "" || !strings.Contains(errs, "is a link to "+elsewhere) {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if said := ran(t, "recall", "walrus"); !strings.Contains(said, "walrus (score") {
		t.Error(said)
	}
	if err := errors.Join(os.RemoveAll(elsewhere), os.Remove(all[0])); err != nil {
		t.Fatal(err)
	}
	ran(t, "project", "forget", "my-app", "--erase", "--yes")
}
