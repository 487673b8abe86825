package overview

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// realTasks are changes that were made to this project: what a commit says, and
// the same as somebody would have asked for it before.
var realTasks = [][2]string{
	{"agents: a registry beside the existing program's", "keep the registry of agents beside the files of the existing program"},
	{"embed: a link to a folder is installed too, and a slow self-test named as such", "install an embedding model from a link to a folder, and name a slow self-test as such"},
	{"journal: a lock file that is removed is let go of thereby", "a lock file that is removed should let go of the lock"},
	{"embed: a text without meaning is near nothing", "a text without meaning must be near nothing when vectors are scanned"},
	{"bench: both figures of a server's memory are of one server", "the benchmark should take both figures of a server's memory from one server"},
	{"knowledge: an index that is missing is built on disk, not in memory", "build a missing knowledge index on disk, not in memory"},
	{"embed: one operation after another, and one text after another", "run one operation of the hugot model after another, and encode one text after another"},
	{"agents: a follower sees diaries too", "agents: somebody who follows what agents do should see diaries too"},
	{"journal: a log beside a file of the same name that is another program's", "open a journal's log beside a file of the same name that is another program's"},
	{"tasks: a list of ten thousand is never sorted whole, and its states are compared without copies", "listing ten thousand tasks should not sort the whole list nor copy states to compare them"},
}

// For at least 7 tasks in 10, the files that a change touched are in CRITICAL or IMPORTANT. The
// overview is of the tree before the change. [TestHistory] takes tasks by a rule.
func TestRealTasks(t *testing.T) {
	if _, err := os.Stat(filepath.Join("..", ".git")); err != nil {
		t.Skip("SKIPPED: the history of the project is not here")
	}
	p := newPast(t, "..")
	commits := map[string]string{}
	for line := range strings.Lines(gitIn(t, p.root, "log", "--format=%H %s")) {
		commit, subject, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		commits[subject] = commit
	}
	for _, r := range realTasks {
		commit := commits[r[0]]
		if commit == "" {
			t.Skipf("SKIPPED: the history does not go back to %q", r[0])
		}
		p.judge(commit, r[1], p.changed(commit))
	}
	p.report()
	if p.whole < 7 || p.code < 8 {
		t.Errorf("of %d tasks of 10 all files are in CRITICAL or IMPORTANT, of %d all but tests", p.whole, p.code)
	}
}
