package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestPackagesAllocateLittleAtTheStart: what our packages allocate before main is paid by every hook and command, and
// beyond 4 MB of all a collection of garbage as well. Expressions and tables are made when they are first used.
func TestPackagesAllocateLittleAtTheStart(t *testing.T) {
	const most = 128 << 10 // bytes a package
	c := exec.CommandContext(t.Context(), "lean-ctx", "--version")
	c.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		var name string
		var at, clock float64
		var bytes int
		if n, _ := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %d bytes", &name, &at, &clock, &bytes); n < 4 || !strings.HasPrefix(name, "leanctx/") {
			continue
		}
		seen++
		if bytes > most {
			t.Errorf("%s allocates %d bytes before main, at most %d are meant", name, bytes, most)
		}
	}
	if seen == 0 {
		t.Fatalf("no package of ours in the trace:\n%s", out)
	}
}
