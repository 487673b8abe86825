package app

import (
	"errors"
	"strings"
	"testing"
	"time"

	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/op"
	"leanctx/tasks"
)

// However much agents write as tasks and messages, in whatever project, what a session begins with and what is said
// beside its prompts comes without waiting for it.
func TestFloodOfAnAgentSilencesNoHook(t *testing.T) {
	home(t)
	ran(t, "remember", "never push to main", "--category", "workflow", "--key", "push", "--source", "user")
	ran(t, "task", "create", "mend the parser")
	start := func(session string) string { return hooked(t, "claude-code", "session-start", session, "") }
	if said := start("before"); !strings.Contains(said, "never push to main") || !strings.Contains(said, "mend the parser") {
		t.Fatal(said)
	}
	c, err := config.Load("", "")
	if err != nil {
		t.Fatal(err)
	}
	w, err := newStores(c, func(string) {}).of(t.Context(), op.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	// Each project may have its share, and messages of members of a team have no bound of this store.
	for _, other := range []string{"a", "b"} {
		flood, err := tasks.Open(w.project.at.agentsDir(), &tasks.Options{ProjectHash: strings.Repeat(other, 16)})
		if err != nil {
			t.Fatal(err)
		}
		made, err := flood.Create(t.Context(), tasks.Draft{Title: "x"})
		for range hookBytes/tasks.MaxText/2 + 1 {
			if err == nil {
				_, err = flood.Message(t.Context(), tasks.Comment{TaskID: made.Task.ID, Message: strings.Repeat("x", tasks.MaxText)})
			}
		}
		if err := errors.Join(err, flood.Close()); err != nil {
			t.Fatal(err)
		}
	}
	const left = "LEFT OUT tasks: all projects have"
	if said := start("after"); !strings.Contains(said, "never push to main") || strings.Contains(said, "mend the parser") || !strings.Contains(said, left) {
		t.Error(said)
	}
	if said := hooked(t, "claude-code", "user-prompt", "other", `,"prompt":"may I push to main now?"`); !strings.Contains(said, "never push to main") {
		t.Error(said)
	}
	if said := hooked(t, "claude-code", "user-prompt", "after", `,"prompt":"go"`); strings.Contains(said, left) {
		t.Errorf("it is said twice: %s", said)
	}
}

// What takes longer than a hook has is left out, and asked for once.
func TestHookLeavesOutWhatTakesLong(t *testing.T) {
	h := &hurry{until: time.Now().Add(time.Millisecond), done: map[string]error{}}
	never := make(chan struct{})
	if err := h.read(t.TempDir(), "tasks", func() error { <-never; return nil }); err == nil || !strings.Contains(err.Error(), "in time") {
		t.Error(err)
	}
	close(never)
}
