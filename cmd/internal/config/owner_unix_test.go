//go:build unix

package config

import (
	"os"
	"path/filepath"
	"testing"
)

func TestProjectFileOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT PROVEN: only root can give a file to another user")
	}
	root := t.TempDir()
	write(t, root, map[string]string{projectFile: `{"hooks": false}`, "sub/": ""})
	c := load(t, root)
	if s, err := c.For(filepath.Join(root, "sub"), root); err != nil || s.Hooks {
		t.Errorf("one's own: %+v, %v", s, err)
	}
	if err := os.Chown(filepath.Join(root, projectFile), 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if s, err := c.For(filepath.Join(root, "sub"), root); err != nil || !s.Hooks {
		t.Errorf("another's: %+v, %v", s, err)
	}
}
