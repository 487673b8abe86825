package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/op"
	"leanctx/overview/project"
	"leanctx/tasks"
)

// What was set aside of agents, diaries, tasks and shares is found, in a
// directory where nobody ever worked nothing is, and none is made.
func TestDamage(t *testing.T) {
	data := t.TempDir()
	dir := filepath.Join(data, "agents")
	look := func() (told, aside []string) {
		s := newStores(&config.Config{DataDir: data, Project: data}, func(string) {})
		defer s.close()
		p := projectPlace{Project: project.Project{Hash: "p"}, at: &membership{hash: "p", dataDir: data}}
		told, aside, err := s.in(op.Scope{}, p).Damage(t.Context())
		if err != nil {
			t.Error(err)
		}
		return told, aside
	}
	if told, aside := look(); len(told)+len(aside) != 0 {
		t.Error(told, aside)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("it was made")
	}
	store, err := tasks.Open(dir, &tasks.Options{ProjectHash: "p"})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := store.Create(t.Context(), tasks.Draft{Title: "x"}); err != nil {
		t.Fatal(err)
	}
	aside := filepath.Join(dir, "tasks.json.corrupt-20260320T093000.000000000Z")
	if err := os.WriteFile(aside, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if told, got := look(); len(told) != 0 || strings.Join(got, " ") != aside {
		t.Error(told, got)
	}
}
