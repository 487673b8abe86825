//go:build unix

package tree

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// A commit of a few KiB touches 10^11 files: its tree names one tree 90 times, on six levels.
func TestACommitOfManyFilesCostsLittle(t *testing.T) {
	dir := t.TempDir()
	do := func(input string, args ...string) string {
		cmd := exec.Command("git", append([]string{"-c", "user.name=T", "-c", "user.email=t@example.com"}, args...)...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(args, err)
		}
		return strings.TrimSpace(string(out))
	}
	do("", "init", "-q")
	object, kind := do("x", "hash-object", "-w", "--stdin"), "100644 blob"
	empty := do("", "mktree")
	for range 6 {
		var b strings.Builder
		for i := range 90 {
			fmt.Fprintf(&b, "%s %s\tn%02d\n", kind, object, i)
		}
		object, kind = do(b.String(), "mktree"), "040000 tree"
	}
	first := do("", "commit-tree", "-m", "one", empty)
	many := do("", "commit-tree", "-m", "two", "-p", first, object)
	last := do("", "commit-tree", "-m", "three", "-p", many, empty)
	_, err := Recent(t.Context(), dir, last, 100, nil)
	var used syscall.Rusage
	if e := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used); e != nil {
		t.Fatal(e)
	}
	mb := int64(used.Maxrss) >> 10 // Linux counts in KiB
	if t.Logf("git took %d MB: %v", mb, err); mb > 160 && runtime.GOOS == "linux" {
		t.Errorf("git took %d MB", mb)
	}
}
