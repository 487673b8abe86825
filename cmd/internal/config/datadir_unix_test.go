//go:build unix

package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestIsOwner(t *testing.T) {
	for _, c := range []struct {
		owner, user int
		sudo        string
		want        bool
	}{
		{1000, 1000, "", true}, {1001, 1000, "", false}, {0, 1000, "", false}, {1000, 0, "", false},
		{1000, 0, "1000", true}, {1001, 0, "1000", false}, {1001, 1000, "1001", false}, {0, 0, "1000", true},
	} {
		if got := isOwner(c.owner, c.user, c.sudo); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

// A data directory that another user made is refused, also behind a link.
func TestDataDirectoryOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not proven: only root can give a directory to another user")
	}
	t.Setenv("SUDO_UID", "")
	dir := filepath.Join(t.TempDir(), "mem")
	link := dir + "-link"
	for _, err := range []error{os.Mkdir(dir, 0o777), os.Symlink(dir, link), os.Chown(dir, 12345, 12345)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{dir, link} {
		t.Setenv(DataDirVar, name)
		if _, err := Load("", ""); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Chown(dir, 0, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Load("", ""); err != nil {
		t.Error(err)
	}
}

// Where another user may write, he can put his own files in place of ours, whatever their mode.
func TestADataDirectoryThatOthersCanReplace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not proven: only root can give a file to another user")
	}
	t.Setenv("SUDO_UID", "")
	const other = 12345
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		make func(top string) string // gives the data directory
		want string                  // what the refusal says; empty: it is good
	}{
		"ours": {func(top string) string { must(os.Mkdir(top+"/d", 0o700)); return top + "/d" }, ""},
		"closed to others at once": {func(top string) string {
			must(os.Mkdir(top+"/d", 0o700))
			must(os.Chmod(top+"/d", 0o777))
			return top + "/d"
		}, ""},
		"a shared group": {func(top string) string {
			must(os.Mkdir(top+"/d", 0o700))
			must(os.Chown(top+"/d", 0, other))
			must(os.Chmod(top+"/d", 0o2775))
			return top + "/d"
		}, ""},
		"with another's files": {func(top string) string {
			must(os.MkdirAll(top+"/d/knowledge", 0o700))
			must(os.Chown(top+"/d/knowledge", other, other))
			must(os.Chmod(top+"/d", 0o777))
			return top + "/d"
		}, "knowledge in it is another user's"},
		"with another's files below": {func(top string) string {
			must(os.MkdirAll(top+"/d/knowledge/x", 0o700))
			must(os.Chown(top+"/d/knowledge/x", other, other))
			must(os.Chmod(top+"/d", 0o777))
			return top + "/d"
		}, "knowledge/x in it is another user's"},
		"below what others may write in": {func(top string) string {
			must(os.MkdirAll(top+"/shared/d", 0o700))
			must(os.Chmod(top+"/shared", 0o777))
			return top + "/shared/d"
		}, "who may write in"},
		"not there yet": {func(top string) string {
			must(os.Mkdir(top+"/shared", 0o700))
			must(os.Chmod(top+"/shared", 0o777))
			return top + "/shared/d"
		}, "who may write in"},
		"far below": {func(top string) string {
			must(os.MkdirAll(top+"/shared/a/b/d", 0o700))
			must(os.Chmod(top+"/shared", 0o777))
			return top + "/shared/a/b/d"
		}, "who may write in"},
		"below a sticky directory": {func(top string) string {
			must(os.MkdirAll(top+"/tmp/d", 0o700))
			must(os.Chmod(top+"/tmp", 0o777|os.ModeSticky))
			return top + "/tmp/d"
		}, ""},
		"another's link": {func(top string) string {
			must(os.MkdirAll(top+"/own/d", 0o700))
			must(os.Mkdir(top+"/tmp", 0o700))
			must(os.Chmod(top+"/tmp", 0o777|os.ModeSticky))
			must(os.Symlink(top+"/own/d", top+"/tmp/d"))
			must(os.Lchown(top+"/tmp/d", other, other))
			return top + "/tmp/d"
		}, "who may write in"},
		"a link of ours to what others may replace": {func(top string) string {
			must(os.MkdirAll(top+"/shared/d", 0o700))
			must(os.Chmod(top+"/shared", 0o777))
			must(os.Symlink("shared/d", top+"/d"))
			return top + "/d"
		}, "who may write in"},
		"a link of ours": {func(top string) string {
			must(os.MkdirAll(top+"/own/d", 0o700))
			must(os.Symlink("own/d", top+"/d"))
			return top + "/d"
		}, ""},
		"a link to itself": {func(top string) string { must(os.Symlink("d", top+"/d")); return top + "/d" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(DataDirVar, c.make(t.TempDir()))
			_, err := Load("", "")
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if info, e := os.Stat(os.Getenv(DataDirVar)); e == nil && err == nil && info.Mode().Perm()&0o022 != 0 {
				t.Errorf("it stays open to others: %v", info.Mode())
			}
		})
	}
}

// A directory of another user is trusted by root alone, who may work in it for that user.
func TestADirectoryBelowAnotherUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not proven: only root can give a file to another user")
	}
	theirs := filepath.Join(t.TempDir(), "theirs")
	if err := os.MkdirAll(theirs+"/d", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(theirs, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	for self, want := range map[int]string{12345: "", 0: "", 12346: theirs} {
		if got := openAbove(theirs+"/d", self, 0); got != want {
			t.Errorf("for %d: %q, want %q", self, got, want)
		}
	}
}

// What the existing program left is taken over from where this user alone can have put it.
func TestDirectoriesOfTheExistingProgramAreOurs(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not proven: only root can give a file to another user")
	}
	t.Setenv("SUDO_UID", "")
	const other = 12345
	for name, change := range map[string]func(config, dir, facts string) error{
		"":                       func(string, string, string) error { return nil },
		"not there":              func(_, dir, _ string) error { return os.RemoveAll(dir) },
		"a parent is open":       func(config, _, _ string) error { return os.Chmod(config, 0o777) },
		"it is open":             func(_, dir, _ string) error { return os.Chmod(dir, 0o777) },
		"another's":              func(_, dir, _ string) error { return os.Chown(dir, other, other) },
		"another's facts within": func(_, _, facts string) error { return os.Chown(facts, other, other) },
	} {
		config := filepath.Join(t.TempDir(), "config")
		dir := filepath.Join(config, legacyDirName)
		facts := filepath.Join(dir, "knowledge", "abc")
		if err := os.MkdirAll(facts, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := change(config, dir, facts); err != nil {
			t.Fatal(err)
		}
		c := &Config{DataDir: "/d", Legacy: []string{"/d", dir}}
		if got := c.Adoptable(); got[0] != "/d" || (len(got) == 2) != (name == "") {
			t.Errorf("%q: %v", name, got)
		}
	}
}
