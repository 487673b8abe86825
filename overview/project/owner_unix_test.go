//go:build unix

package project

import (
	"os"
	"path/filepath"
	"testing"
)

// A mark that another user put into a shared parent directory is not read.
func TestMarksOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT PROVEN: only root can give a file to another user")
	}
	const nobody = 65534
	b := newBench(t)
	p := b.open(nil)
	give := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if err := os.Lchown(b.path(name), nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.mkdir("shared/mine")
	b.write("shared/.lean-ctx-id", "theirs")
	give("shared", "shared/.lean-ctx-id")
	mine := b.resolve(p, "shared/mine")
	if mine.Name != "mine" || mine.ID != "" {
		t.Errorf("%+v", mine)
	}
	b.repo("trap")
	b.mkdir("trap/mine")
	give("trap", "trap/.git")
	seen := b.resolve(p, "trap/mine")
	if seen.Name != "mine" || len(seen.FirstCommits) > 0 || len(new(texts).secrets(b.path("trap/.git"))) > 0 {
		t.Errorf("%+v", seen)
	}
	b.says(seen, "trap is not used: git does not accept it")
	config := filepath.Join(t.TempDir(), "gitconfig")
	if err := os.WriteFile(config, []byte("[safe]\n\tdirectory = "+b.path("trap")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	b.mkdir("trap/new")
	p = b.open(nil) // git is asked once in a process
	if trusted := b.resolve(p, "trap/new"); trusted.Name != "trap" || len(trusted.FirstCommits) != 1 {
		t.Errorf("git was told to trust it: %+v", trusted)
	}
	b.mkdir("linked")
	b.write("linked/.git", "gitdir: "+b.path("trap/.git")+"\n")
	give("linked/.git")
	b.says(b.resolve(p, "linked"), "another user's")
}
