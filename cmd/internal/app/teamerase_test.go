package app

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// holding are the files below a directory that have a text. A server that runs may take a file
// away meanwhile.
func holding(t *testing.T, dir, text string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		var data []byte
		if err == nil && !e.IsDir() {
			data, err = os.ReadFile(path)
		}
		if bytes.Contains(data, []byte(text)) {
			names = append(names, strings.TrimPrefix(path, dir))
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// goes has a machine read until a directory has no file with a text, and gives those that stay. What
// others erased leaves the disk after an answer. A command takes a few seconds for that at most, which
// a busy machine may need, and the next one goes on.
func (m *machines) goes(machine, dir, text string) (in []string) {
	m.t.Helper()
	for range 20 {
		if in = holding(m.t, dir, text); len(in) == 0 {
			break
		}
		m.on(machine, 0, "recall", "word")
	}
	return in
}

// A fact that is erased in a team leaves the server's disk, that of the machine that erases, that of
// the others when they have fetched it, and what each remembered before it joined. A machine that
// joins later has what the others have.
func TestTeamErase(t *testing.T) {
	const secret = "Zwetschgendatschi"
	m := newMachines(t)
	m.on("a", 0, "remember", "auth/token", "Uses JWT")
	m.on("a", 0, "remember", "pass/word", "it is "+secret)
	m.on("a", 0, "remember", "me/word", "mine is Apfelstrudel", "--privacy", "local")
	m.on("a", 0, "team", "join", m.url)
	m.on("b", 0, "team", "join", m.url)
	m.says("b", secret, "recall", secret)
	m.on("b", 0, "compact")
	m.on("b", 0, "remember", "pass/word", "it is still "+secret, "--source", "user")
	m.on("b", 0, "remember", "gate/word", "the gate's is "+secret)
	m.on("b", 0, "knowledge", "rename", "gate", "word", "door/word")
	m.on("b", 0, "remember", "other/fact", "PostgreSQL")
	m.says("a", "still", "recall", secret)
	for _, dir := range []string{"a", "b"} {
		if len(holding(t, filepath.Join(m.dir, dir), secret)) == 0 {
			t.Fatal("the test looks in the wrong place")
		}
	}
	if len(holding(t, m.disk, secret)) == 0 {
		t.Fatal("the test looks in the wrong place")
	}

	m.on("b", 0, "knowledge", "remove", "pass/word", "--erase", "--yes", "--source", "user")
	m.says("b", "The team's server has taken it out of the stream.", "knowledge", "remove", "door/word", "--erase", "--yes", "--source", "user")
	for name, dir := range map[string]string{"the server": m.disk, "b": filepath.Join(m.dir, "b")} {
		if in := holding(t, dir, secret); len(in) > 0 {
			t.Errorf("%s has it in %q", name, in)
		}
	}
	m.says("a", "PostgreSQL", "recall", "PostgreSQL")
	if in := m.goes("a", filepath.Join(m.dir, "a"), secret); len(in) > 0 {
		t.Errorf("a has it in %q", in)
	}
	if len(holding(t, filepath.Join(m.dir, "a"), "Apfelstrudel")) == 0 {
		t.Error("a local fact is gone")
	}

	m.on("c", 0, "team", "join", m.url)
	for _, machine := range []string{"a", "c"} {
		if out, _ := m.on(machine, 0, "recall", secret); strings.Contains(out, secret+"\n") {
			t.Errorf("%s: %s", machine, out)
		}
		if want, got := m.shared("b"), m.shared(machine); got != want {
			t.Errorf("%s differs: %s\n%s", machine, got, want)
		}
	}
	m.says("a", "Erased [door] word", "knowledge", "remove", "door/word", "--erase", "--yes", "--source", "user") // again does no harm
	m.on("c", 0, "remember", "new/fact", "of the new one")
	m.says("a", "of the new one", "recall", "new one")
}

// A machine learns of an erasure when it leaves. The fact is off its disk then.
func TestTeamLeaveAfterErase(t *testing.T) {
	const secret = "Zwetschgendatschi"
	m := newMachines(t)
	m.on("a", 0, "team", "join", m.url)
	m.on("a", 0, "remember", "pass/word", "it is "+secret)
	m.on("b", 0, "remember", "pass/word", "it is "+secret)
	m.on("b", 0, "remember", "me/word", "mine is Apfelstrudel", "--privacy", "local")
	m.on("b", 0, "team", "join", m.url)
	m.on("b", 0, "compact")
	m.on("a", 0, "knowledge", "remove", "pass/word", "--erase", "--yes")
	if len(holding(t, filepath.Join(m.dir, "b"), secret)) == 0 {
		t.Fatal("the test looks in the wrong place")
	}
	m.says("b", "Left team", "team", "leave")
	if in := holding(t, filepath.Join(m.dir, "b"), secret); len(in) > 0 {
		t.Errorf("b has it in %q", in)
	}
	m.says("b", "Apfelstrudel", "recall", "word")
}

// A machine that lags and has an index starts from a snapshot. It answers as one that fetched every
// commit: by words, by name, about the past, about what was erased meanwhile.
func TestTeamLaggingMachine(t *testing.T) {
	m := newMachines(t)
	m.on("a", 0, "team", "join", m.url)
	m.on("b", 0, "team", "join", m.url)
	m.on("a", 0, "remember", "db/engine", "MySQL in the cellar")
	m.on("a", 0, "remember", "pass/word", "Zwetschgendatschi")
	m.says("b", "Zwetschgendatschi", "recall", "Zwetschgendatschi")
	m.on("b", 0, "compact") // it has an index now
	m.on("a", 0, "remember", "db/engine", "PostgreSQL in the cloud", "--source", "user")
	m.on("a", 0, "remember", "new/fact", "Apfelstrudel")
	m.on("a", 0, "knowledge", "remove", "pass/word", "--erase", "--yes")
	js := m.jetstream()
	st, err := js.Stream(t.Context(), "my-app")
	if err != nil {
		t.Fatal(err)
	}
	// As after a snapshot that a server made: only its last commit is left.
	if err := st.Purge(t.Context(), jetstream.WithPurgeSubject("leanctx.my-app.knowledge"), jetstream.WithPurgeKeep(1)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		m.says("b", "Apfelstrudel", "recall", "Apfelstrudel")
		m.says("b", "PostgreSQL in the cloud", "recall", "engine")
		m.says("b", "MySQL in the cellar", "knowledge", "timeline", "db", "engine")
		if out, _ := m.on("b", 0, "recall", "Zwetschgendatschi"); strings.Contains(out, "[pass]") {
			t.Errorf("an erased fact is found: %s", out)
		}
		if want, got := m.shared("a"), m.shared("b"); got != want {
			t.Errorf("the machines differ: %s\n%s", want, got)
		}
		m.on("b", 0, "compact")
	}
	m.on("b", 0, "remember", "more/facts", "of the one that lagged")
	m.says("a", "of the one that lagged", "recall", "lagged")
}

// A team's erasure is of what was remembered before it. What a machine that joins later has
// remembered since under that name is published.
func TestTeamJoinAfterAnErasure(t *testing.T) {
	m := newMachines(t)
	m.on("b", 0, "remember", "pass/word", "the old one")
	m.on("a", 0, "remember", "pass/word", "the old one")
	m.on("a", 0, "team", "join", m.url)
	m.on("a", 0, "knowledge", "remove", "pass/word", "--erase", "--yes")
	m.on("c", 0, "remember", "pass/word", "a later one")
	m.on("b", 0, "team", "join", m.url)
	if out, _ := m.on("a", 0, "recall", "pass/word"); strings.Contains(out, "old one") {
		t.Errorf("what was erased is back: %s", out)
	}
	m.says("c", "1 fact published", "team", "join", m.url)
	for _, machine := range []string{"a", "b", "c"} {
		m.says(machine, "a later one", "recall", "pass/word")
	}
	m.on("c", 0, "remember", "other/fact", "PostgreSQL")
	if in := m.goes("b", filepath.Join(m.dir, "b", "knowledge"), "the old one"); len(in) > 0 {
		t.Errorf("b: the memory from before has it in %q", in)
	}
	if len(holding(t, filepath.Join(m.dir, "c", "knowledge"), "a later one")) == 0 {
		t.Error("c: the memory from before has lost it")
	}
}
