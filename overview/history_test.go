package overview

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"leanctx/overview/source"
)

// historyVar names a repository whose history [TestHistory] looks at; "here" is
// the one that this file is in. What is found depends on the history, so that
// the test is run by hand:
//
//	LEAN_CTX_HISTORY=here go test ./overview -run TestHistory -v
const historyVar = "LEAN_CTX_HISTORY"

// Which commits are taken, so that nobody chooses: the newest of those that
// change no more files of code than a task can name.
const (
	historyTasks = 150
	historyFiles = 6
)

// An overview is asked for a commit's first line before the commit was made. In seven of ten,
// all files that it touched but tests are in CRITICAL or IMPORTANT; in six of ten, all files.
func TestHistory(t *testing.T) {
	repository := os.Getenv(historyVar)
	if repository == "" {
		t.Skipf("set %s to a repository", historyVar)
	}
	if repository == "here" {
		repository = ".."
	}
	p := newPast(t, repository)
	for commit := range strings.FieldsSeq(gitIn(t, p.root, "log", "--no-merges", "--min-parents=1", "--format=%H")) {
		if files := p.changed(commit); len(files) > 0 && len(files) <= historyFiles && p.tasks < historyTasks {
			p.judge(commit, strings.TrimSpace(gitIn(t, p.root, "log", "-1", "--format=%s", commit)), files)
		}
	}
	p.report()
	if p.code*10 < 7*p.tasks || p.whole*10 < 6*p.tasks {
		t.Error("too few")
	}
}

// past is a clone of a repository in which overviews are asked for as if what
// was committed had not been done yet.
type past struct {
	*testing.T
	root, cache                    string
	tasks, whole, code, found, all int // tasks; those with all files, with all but tests; files
}

func newPast(t *testing.T, repository string) *past {
	t.Helper()
	repository, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	p := &past{T: t, root: filepath.Join(t.TempDir(), "clone"), cache: t.TempDir()}
	gitIn(t, "", "clone", "-q", "--no-checkout", repository, p.root)
	return p
}

// changed are the files of code that a commit changed or took away.
func (p *past) changed(commit string) (files []string) {
	for f := range strings.SplitSeq(gitIn(p.T, p.root, "diff-tree", "-r", "-z", "--no-commit-id", "--name-only", "--no-renames", "--diff-filter=MD", commit), "\x00") {
		if source.Of(f).Code() {
			files = append(files, f)
		}
	}
	return files
}

// judge asks for a task before its commit was made.
func (p *past) judge(commit, task string, files []string) {
	p.Helper()
	gitIn(p.T, p.root, "checkout", "-q", commit+"^")
	o, err := NewMap(p.root, &MapOptions{Cache: p.cache}).Overview(p.Context(), Inquiry{Task: task})
	if err != nil {
		p.Fatal(err)
	}
	named := listedPaths(o.Critical, o.Important)
	missing := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return slices.Contains(named, f) })
	p.tasks++
	p.found, p.all = p.found+len(files)-len(missing), p.all+len(files)
	if len(missing) == 0 {
		p.whole++
	}
	if !slices.ContainsFunc(missing, func(f string) bool { return !isTest(f) }) {
		p.code++
	}
	p.Logf("%.9s %q: %d files, missing %q", commit, task, len(files), missing)
}

func (p *past) report() {
	p.Logf("of %d tasks: all files of %d, all but tests of %d; %d of %d files", p.tasks, p.whole, p.code, p.found, p.all)
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
