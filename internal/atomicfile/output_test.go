//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// An output is written through a link that only this user can have made, and replaces one that another user may
// have put into a shared directory.
func TestOutputFollowsNoLinkOfOthers(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"own": 0o700, "shared": 0o777, "sticky": 0o777 | os.ModeSticky} {
		place := filepath.Join(dir, name)
		target, link := filepath.Join(dir, name+".rc"), filepath.Join(place, "out")
		if err := os.Mkdir(place, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(place, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, []byte("mine"), 0o640); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		if err := WriteOutput(link, []byte("out")); err != nil {
			t.Fatal(name, err)
		}
		text, _ := os.ReadFile(target)
		info, err := os.Lstat(link)
		if err != nil {
			t.Fatal(err)
		}
		if follows := info.Mode().Type() == os.ModeSymlink; follows != (name == "own") || follows != (string(text) == "out") || !follows && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %s, and the target has %q", name, info.Mode(), text)
		}
	}
}

// A file that is there keeps its mode, a new one is this user's alone, and nothing waits for the reader of a
// pipe in a shared directory.
func TestOutputIsWhole(t *testing.T) {
	dir := t.TempDir()
	kept, fresh, pipe := filepath.Join(dir, "kept"), filepath.Join(dir, "fresh"), filepath.Join(dir, "shared", "pipe")
	if err := os.WriteFile(kept, []byte("a longer text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Dir(pipe), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(pipe), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{kept: 0o644, fresh: 0o600} {
		if err := WriteOutput(path, []byte("out")); err != nil {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(path)
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode || string(text) != "out" {
			t.Errorf("%s: %v %q %v", path, info.Mode(), text, err)
		}
	}
	if err := WriteOutput(pipe, []byte("out")); err == nil {
		t.Error("a pipe in a shared directory was written to")
	}
	if err := WriteOutput(dir, nil); err == nil {
		t.Error("a directory was written to")
	}
	if err := WriteOutput("/dev/null", []byte("out")); err != nil {
		t.Error(err)
	}
}
