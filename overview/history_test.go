package overview

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"leanctx/overview/graph"
	"leanctx/overview/source"
)

// historyVar names a repository whose history [TestHistory] looks at; "here" is
// the one that this file is in. What is found depends on the history, so that
// the test is run by hand:
//
//	LEAN_CTX_HISTORY=here go test ./overview -run TestHistory -v
const historyVar = "LEAN_CTX_HISTORY"

// committed is a commit as a task: what was wanted, and what it touched of the
// files that were there before.
type committed struct {
	commit, subject string
	files           []string
}

// Which commits are taken, so that nobody chooses: from the newest back every
// third one of those that touch so many files.
const (
	historyTasks = 10
	historyEvery = 3
	historyFiles = 6
)

// The files that a commit touched stand in CRITICAL or IMPORTANT of an overview
// that was asked its first line, before it was made: of seven in ten all of
// them but tests.
func TestHistory(t *testing.T) {
	repository := os.Getenv(historyVar)
	if repository == "" {
		t.Skipf("set %s to a repository", historyVar)
	}
	if repository == "here" {
		repository = ".."
	}
	repository, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	root, cache := filepath.Join(t.TempDir(), "clone"), t.TempDir()
	gitIn(t, "", "clone", "-q", "--no-checkout", repository, root)
	whole, code, found, all := 0, 0, 0, 0
	changes := history(t, root)
	for _, c := range changes {
		gitIn(t, root, "checkout", "-q", c.commit+"^")
		o, err := NewMap(root, &MapOptions{Cache: cache}).Overview(t.Context(), Inquiry{Task: c.subject})
		if err != nil {
			t.Fatal(err)
		}
		missing := slices.DeleteFunc(slices.Clone(c.files), func(f string) bool { return slices.Contains(listedPaths(o.Critical, o.Important), f) })
		found, all = found+len(c.files)-len(missing), all+len(c.files)
		if len(missing) == 0 {
			whole++
		}
		if !slices.ContainsFunc(missing, func(f string) bool { return !graph.IsTest(f) }) {
			code++
		}
		t.Logf("%.9s %q: %d files, missing %q", c.commit, c.subject, len(c.files), missing)
	}
	t.Logf("of %d tasks: all files of %d, all but tests of %d; %d of %d files", len(changes), whole, code, found, all)
	if code*10 < 7*len(changes) {
		t.Errorf("only %d of %d", code, len(changes))
	}
}

// history are the changes of a clone.
func history(t *testing.T, root string) (out []committed) {
	n := 0
	for commit := range strings.FieldsSeq(gitIn(t, root, "log", "--no-merges", "--min-parents=1", "--format=%H")) {
		c := committed{commit: commit, subject: strings.TrimSpace(gitIn(t, root, "log", "-1", "--format=%s", commit))}
		for f := range strings.SplitSeq(gitIn(t, root, "diff-tree", "-r", "-z", "--no-commit-id", "--name-only", "--no-renames", "--diff-filter=MD", commit), "\x00") {
			if source.Of(f).Code() {
				c.files = append(c.files, f)
			}
		}
		if len(c.files) == 0 || len(c.files) > historyFiles {
			continue
		}
		if n++; n%historyEvery == 1 {
			out = append(out, c)
		}
		if len(out) == historyTasks {
			break
		}
	}
	return out
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}
