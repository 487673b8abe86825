package tasks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Plans of an agent make no more tasks than a project may have, however many there are; finished ones make room.
func TestTasksOfOneAgentAreBounded(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "agents"), &Options{ProjectRoot: dir, ProjectHash: strings.Repeat("a", 16)})
	plan := func(name string, items int, mark string) string {
		var text strings.Builder
		for i := range items {
			fmt.Fprintf(&text, "- [%s] item %d\n", mark, i)
		}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	agent := s.as("claude-0001")
	if _, err := agent.Import(t.Context(), PlanFile{File: plan("a.md", maxOpenOf, " ")}); err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Create(t.Context(), Draft{Title: "one more"}); err == nil || !strings.Contains(err.Error(), "the most of one agent") {
		t.Error(err)
	}
	if _, err := s.As(Actor{Client: "user"}).Import(t.Context(), PlanFile{File: plan("b.md", maxItems-maxOpenOf, " ")}); err != nil {
		t.Error(err)
	}
	if _, err := s.as("codex-0001").Create(t.Context(), Draft{Title: "of another"}); err == nil || !strings.Contains(err.Error(), "not finished") {
		t.Error(err)
	}
	if _, err := agent.Import(t.Context(), PlanFile{File: plan("a.md", maxOpenOf, "x")}); err != nil {
		t.Error(err)
	}
	if _, err := s.as("codex-0001").Create(t.Context(), Draft{Title: "of another"}); err != nil {
		t.Error(err)
	}
}

// So are their texts.
func TestTextsOfTasksAreBounded(t *testing.T) {
	s := open(t, t.TempDir(), &Options{ProjectHash: strings.Repeat("a", 16)}).as("claude-0001")
	made, err := s.Create(t.Context(), Draft{Title: "x"})
	n := 0
	for ; err == nil && n <= maxDayBytes/MaxText; n++ {
		_, err = s.Message(t.Context(), Comment{TaskID: made.Task.ID, Message: strings.Repeat("x", MaxText)})
	}
	if err == nil || !strings.Contains(err.Error(), "of one day") {
		t.Fatal(n, err)
	}
	if _, err := s.Cancel(t.Context(), Cancellation{TaskID: made.Task.ID, Message: "enough"}); err != nil {
		t.Error(err)
	}
}
