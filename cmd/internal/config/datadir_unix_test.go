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
