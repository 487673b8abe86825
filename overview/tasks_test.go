package overview

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// realTasks are changes that were made to this project: what was wanted, in a
// sentence, and the files that the change touched.
var realTasks = []struct {
	task  string
	files []string
}{
	{"keep the registry of agents beside the files of the existing program", []string{"agents/store.go", "agents/foreign_test.go"}},
	{"install an embedding model from a link to a folder, and name a slow self-test as such", []string{"embed/install.go", "embed/unpack.go", "embed/install_test.go", "embed/selftest_test.go"}},
	{"a lock file that is removed should let go of the lock", []string{"internal/journal/filelock.go", "internal/journal/filelock_test.go"}},
	{"a text without meaning must be near nothing when vectors are scanned", []string{"embed/scan.go", "embed/scan_test.go"}},
	{"the benchmark should take both figures of a server's memory from one server", []string{"cmd/internal/bench/bed.go", "cmd/internal/bench/bench.go", "cmd/internal/bench/bench_test.go", "cmd/internal/bench/child.go", "cmd/internal/bench/wholerows.go"}},
	{"build a missing knowledge index on disk, not in memory", []string{"knowledge/abuse_test.go", "knowledge/indexed.go", "knowledge/ranked.go", "knowledge/search/sync.go"}},
	{"run one operation of the hugot model after another, and encode one text after another", []string{"embed/hugot.go", "embed/install_test.go", "embed/model.go", "embed/model_test.go", "embed/selftest_test.go"}},
	{"agents: somebody who follows what agents do should see diaries too", []string{"agents/follow.go", "agents/handoff.go", "agents/read.go", "agents/registry_test.go", "agents/roll.go"}},
	{"open a journal's log beside a file of the same name that is another program's", []string{"agents/cost/ledger.go", "internal/journal/own.go", "internal/journal/own_test.go", "tasks/snapshot_test.go"}},
	{"listing ten thousand tasks should not sort the whole list nor copy states to compare them", []string{"tasks/concurrent_test.go", "tasks/list.go", "tasks/state.go", "tasks/store.go", "tasks/wish.go"}},
}

// What somebody will touch stands in CRITICAL or IMPORTANT: of most tasks all the
// code, that is every file but tests. [TestHistory] takes tasks by a rule.
func TestRealTasks(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Skip("the sources of the project are not here")
	}
	m := NewMap(root, &MapOptions{Cache: t.TempDir()})
	whole, code, found, all := 0, 0, 0, 0
	for _, r := range realTasks {
		o, err := m.Overview(t.Context(), Inquiry{Task: r.task})
		if err != nil {
			t.Fatal(err)
		}
		var missing []string
		for _, f := range r.files {
			all++
			isListed := func(l Listed) bool { return l.Path == f }
			if slices.ContainsFunc(o.Critical, isListed) || slices.ContainsFunc(o.Important, isListed) {
				found++
			} else {
				missing = append(missing, f)
			}
		}
		if len(missing) == 0 {
			whole++
		}
		if !slices.ContainsFunc(missing, func(f string) bool { return !strings.HasSuffix(f, "_test.go") }) {
			code++
		}
		t.Logf("%q: missing %q", r.task, missing)
	}
	t.Logf("all files: %d of 10 tasks; all code: %d of 10; %d of %d files", whole, code, found, all)
	if code < 5 { // 7 when it was written; files are renamed, and the tree grows
		t.Errorf("of %d tasks of 10 all the code is in CRITICAL or IMPORTANT", code)
	}
}
