package app

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"leanctx/agents"
	"leanctx/cmd/internal/op"
)

// An agent that works in a shell, and only reports on its tasks, is not silent.
func TestReportOnATaskIsASignOfLife(t *testing.T) {
	home(t)
	s := newStores(configured(t), nil)
	w, err := s.of(t.Context(), op.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	registry, err := agents.Open(w.project.at.agentsDir(), &agents.Options{
		ProjectHash: w.project.Hash, Now: func() time.Time { return time.Now().Add(-48 * time.Hour) },
	})
	if err != nil {
		t.Fatal(err)
	}
	me, err := registry.Register(t.Context(), agents.Registration{AgentType: "codex"})
	if err := errors.Join(err, registry.Close(), s.close()); err != nil {
		t.Fatal(err)
	}
	code, out, errs := do(t, "", "--agent", me.AgentID, "task", "create", "Long work", "--to", me.AgentID)
	id := regexp.MustCompile(`t-[0-9a-f]+`).FindString(out)
	if code != 0 || id == "" {
		t.Fatal(code, out, errs)
	}
	// A command gives up soon if the registry cannot be written, so a busy machine may need another.
	here := func() bool {
		_, listed, _ := do(t, "", "task", "list")
		_, present, _ := do(t, "", "agent", "list")
		return strings.Contains(listed, "(assignee: "+me.AgentID+")") && strings.Contains(present, me.AgentID)
	}
	for range 50 {
		if code, out, errs := do(t, "", "--agent", me.AgentID, "task", "update", id, "working"); code != 0 || errs != "" {
			t.Fatal(code, out, errs)
		}
		if here() {
			return
		}
	}
	t.Error("who has just reported is silent")
}
