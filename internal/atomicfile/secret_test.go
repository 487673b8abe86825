package atomicfile

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestReadSecret(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("not proven: Windows closes a user's files to others itself")
	}
	dir := t.TempDir()
	write := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for mode, want := range map[os.FileMode]string{0o600: "", 0o400: "", 0o640: "can be read by others", 0o644: "can be read by others", 0o602: "can be read by others"} {
		got, err := ReadSecret(write("mode", mode))
		if want == "" && (err != nil || string(got) != "text\n") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("mode %o: %q, %v", mode, got, err)
		}
	}
	if _, err := ReadSecret(dir); err == nil {
		t.Error("a directory was read")
	}
	if _, err := ReadSecret(filepath.Join(dir, "none")); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
	long := write("long", 0o600)
	if err := os.Truncate(long, maxSecret+1); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSecret(long); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a long one: %v", err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := makePipe(pipe); err == nil {
		start := time.Now()
		if _, err := ReadSecret(pipe); err == nil || time.Since(start) > 5*time.Second {
			t.Errorf("a pipe: %v", err)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("not proven: only root can give a file to another user")
	}
	info, err := os.Stat(write("theirs", 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if err := openToOthers("theirs", info); err != nil {
		t.Errorf("root's own: %v", err)
	}
}
