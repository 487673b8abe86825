package project

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A clone does not say who the user is: an agent that works in it may write its configuration.
func TestCloneDoesNotNameTheUser(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(dir, "global"))
	clone := filepath.Join(dir, "clone")
	for _, args := range [][]string{{"init", "-q", clone}, {"-C", clone, "config", "user.name", "Mallory"}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatal(err, string(out))
		}
	}
	p, err := Open(filepath.Join(dir, "data"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	if got, repository := p.Persons(t.Context(), clone); got == "Mallory" || repository != "Mallory" {
		t.Errorf("%q where there is no other, and %q does not count", got, repository)
	}
	if err := os.WriteFile(filepath.Join(dir, "more"), []byte("[user]\nname = Vic Marx\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "global"), []byte("[user]\nname = Vic\n[includeIf \"gitdir:"+filepath.ToSlash(clone)+"/\"]\npath = more\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := p.Person(t.Context(), clone); got != "Vic Marx" {
		t.Errorf("%q", got)
	}
	if got := p.Person(t.Context(), dir); got != "Vic" {
		t.Errorf("elsewhere: %q", got)
	}
}
