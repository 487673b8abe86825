//go:build linux || darwin

package session

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// On a full disk a take-in fails and leaves the record as it was; when there is room again, all is kept, once.
func TestAFullDiskLosesNothing(t *testing.T) {
	const alone = "TEST_ON_A_FULL_DISK"
	if os.Getenv(alone) == "" { // the limit holds for all files of a process, those of the testing package too
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		c.Env = append(os.Environ(), alone+"=1")
		if out, err := c.CombinedOutput(); err != nil || strings.Contains(string(out), "no tests to run") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	_, s := consented(t)
	path := put(t, filepath.Join(t.TempDir(), sessionName), spoken(0, 10))
	take(t, s, path, 0)
	put(t, path, spoken(0, 60))
	_, size := s.Size()
	var room syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &room); err != nil {
		t.Skip("NOT PROVEN:", err)
	}
	signal.Ignore(syscall.SIGXFSZ) // a write past the limit is an error then, as on a full disk
	full := room
	full.Cur = uint64(size) + 100
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full); err != nil {
		t.Skip("NOT PROVEN:", err)
	}
	_, err := s.TakeIn(t.Context(), "claude-code", path, 0)
	if e := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &room); e != nil {
		t.Fatal(e)
	}
	if _, after := s.Size(); err == nil || after != size {
		t.Error("the record changed:", size, after, err)
	}
	if got := take(t, s, path, 0); got.Turns != 50 {
		t.Error(got)
	}
	if got := take(t, s, path, 0); got.Turns != 0 {
		t.Error("repeated:", got)
	}
}
