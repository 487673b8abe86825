package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leanctx/internal/journal"
)

// elsewhere is a machine with a second copy of its state, as an index on disk is.
type elsewhere struct {
	counting
	stored *store
}

// store holds a state and its head, in JSON as a file would.
type store struct {
	state, head []byte
	tries, used int
}

func (m elsewhere) Start(reached func(journal.Head) bool) (counters, bool) {
	if m.stored.state == nil {
		return nil, false
	}
	m.stored.tries++
	var h journal.Head
	s := counters{}
	if json.Unmarshal(m.stored.head, &h) != nil || json.Unmarshal(m.stored.state, &s) != nil || !reached(h) {
		return nil, false
	}
	m.stored.used++
	return s, true
}

func (m elsewhere) keep(t *testing.T, l *testLog) {
	t.Helper()
	s, h := view(t, l)
	var err, err2 error
	m.stored.state, err = json.Marshal(s)
	m.stored.head, err2 = json.Marshal(h)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
}

func (m elsewhere) open(t *testing.T, dir string) *testLog {
	t.Helper()
	l, err := journal.Open(dir, m, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func newElsewhere() elsewhere {
	return elsewhere{counting: counting{decoded: new(atomic.Int64)}, stored: &store{}}
}

// TestStarterIsFoundWhereverItsCommitStands goes through a life of a log, keeps
// the state at each step, and opens the log at each later one from each.
func TestStarterIsFoundWhereverItsCommitStands(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, nil)
	type kept struct {
		elsewhere
		step, snapshots int
	}
	var all []kept
	snapshots := 0
	for step := range 12 {
		if step%4 == 3 {
			if err := l.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			snapshots++
		} else {
			update(t, l, fmt.Sprint("c", step))
		}
		now := kept{newElsewhere(), step, snapshots}
		now.keep(t, l)
		all = append(all, now)
		want, head := view(t, l)
		for _, m := range all {
			m.decoded.Store(0)
			m.stored.used = 0
			cold := m.open(t, dir)
			if got, h := view(t, cold); fmt.Sprint(got) != fmt.Sprint(want) || h != head {
				t.Fatalf("step %d from %d: %v at %v, want %v at %v", step, m.step, got, h, want, head)
			}
			reach := snapshots-m.snapshots <= 1 || snapshots-m.snapshots == 2 && m.step%4 == 2 // in J, in J.prev, or just before it
			if (m.stored.used == 1) != reach || reach && m.decoded.Load() != 0 {
				t.Errorf("step %d from %d: started %d times, decoded %d", step, m.step, m.stored.used, m.decoded.Load())
			}
		}
	}
}

func TestStartedLogIsUpdatedFollowedAndCompacted(t *testing.T) {
	dir := t.TempDir()
	warm := open(t, dir, nil)
	update(t, warm, "x")
	if err := warm.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	update(t, warm, "x")
	m := newElsewhere()
	m.keep(t, warm)
	update(t, warm, "x") // the tail
	cold := m.open(t, dir)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { update(t, cold, "y") })
		wg.Go(func() { update(t, warm, "z") })
	}
	wg.Wait()
	if m.stored.used != 1 || m.decoded.Load() != 0 {
		t.Errorf("started %d times, %d snapshots decoded", m.stored.used, m.decoded.Load())
	}
	want := "map[x:3 y:20 z:20]"
	for _, l := range []*testLog{cold, warm} {
		if s, h := view(t, l); fmt.Sprint(s) != want || h.Seq != 43 {
			t.Errorf("%v at %v, want %s at 43", s, h, want)
		}
	}
	if err := cold.Compact(t.Context()); err != nil { // from all of the state
		t.Fatal(err)
	}
	if m.decoded.Load() != 1 {
		t.Errorf("a compaction decoded %d snapshots, want 1", m.decoded.Load())
	}
	if s, _ := view(t, open(t, dir, nil)); fmt.Sprint(s) != want {
		t.Errorf("after the compaction: %v", s)
	}
}

// TestStarterOfAnotherHistoryIsRefused gives the log states that its files do not lead up to.
func TestStarterOfAnotherHistoryIsRefused(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, dir string, h *journal.Head){
		"another sum":          func(_ *testing.T, _ string, h *journal.Head) { h.Sum++ },
		"another sum, no hint": func(_ *testing.T, _ string, h *journal.Head) { h.Sum++; h.Offset = 0 },
		"a later commit":       func(_ *testing.T, _ string, h *journal.Head) { h.Seq += 9 },
		"a repair since":       func(_ *testing.T, _ string, h *journal.Head) { h.Repairs-- },
		"damage after it": func(t *testing.T, dir string, _ *journal.Head) {
			j := read(t, dir, "state.journal")
			write(t, flipped(j, len(j)-5, 1), dir, "state.journal")
		},
		"an older copy of the journal": func(t *testing.T, dir string, _ *journal.Head) {
			j := read(t, dir, "state.journal")
			lines := bytes.SplitAfter(j, []byte("\n"))
			write(t, bytes.Join(lines[:2], nil), dir, "state.journal")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := open(t, dir, nil)
			update(t, l, "a")
			if err := l.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			update(t, l, "b")
			update(t, l, "c")
			m := newElsewhere()
			m.keep(t, l)
			update(t, l, "d")
			var h journal.Head
			if err := json.Unmarshal(m.stored.head, &h); err != nil {
				t.Fatal(err)
			}
			change(t, dir, &h)
			m.stored.state = []byte(`{"wrong":1}`)
			m.stored.head, _ = json.Marshal(h)
			want, _ := view(t, open(t, dir, nil))
			got, _ := view(t, m.open(t, dir))
			if m.stored.tries == 0 || m.stored.used != 0 || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("tried %d, started %d times: %v, want %v", m.stored.tries, m.stored.used, got, want)
			}
		})
	}
}

// TestStarterDoesNotHideTheSnapshot opens logs whose snapshot is gone, older than the journal, or newer than the program.
func TestStarterDoesNotHideTheSnapshot(t *testing.T) {
	for name, tt := range map[string]struct {
		snapshot string
		want     error
	}{
		"gone":    {"", journal.ErrCorrupt},
		"newer":   {`{"schema": 2}`, journal.ErrNewer},
		"foreign": {`{"facts": []}`, journal.ErrForeign},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := open(t, dir, nil)
			update(t, l, "a")
			if err := l.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			m := newElsewhere()
			m.keep(t, l)
			removeAll(t, filepath.Join(dir, "state.json"))
			removeAll(t, filepath.Join(dir, "state.json.prev"))
			removeAll(t, filepath.Join(dir, "state.journal.prev"))
			if tt.snapshot != "" {
				write(t, []byte(tt.snapshot), dir, "state.json")
			}
			if _, err := journal.Open(dir, m, nil); !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
		})
	}
}

// TestForgottenStateIsLoadedFromTheFiles is for a machine whose stored state is found to be damaged.
func TestForgottenStateIsLoadedFromTheFiles(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, nil)
	update(t, l, "a")
	m := newElsewhere()
	m.keep(t, l)
	m.stored.state = []byte(`{"wrong":1}`)
	cold := m.open(t, dir)
	if s, _ := view(t, cold); s["wrong"] != 1 {
		t.Fatalf("%v is not the stored state", s)
	}
	m.stored.state = nil
	if err := cold.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, _ := view(t, cold); fmt.Sprint(s) != "map[a:1]" {
		t.Errorf("%v", s)
	}
}

// TestStartReadsOnlyTheTail has a long journal before the head, of which damage shows whether it is read.
func TestStartReadsOnlyTheTail(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, nil)
	pad := strings.Repeat("x", 100<<10)
	if _, err := l.Update(t.Context(), func(counters, time.Time) ([]event, error) {
		return []event{{Key: "x", Add: 1, Pad: pad}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	update(t, l, "a")
	m := newElsewhere()
	m.keep(t, l)
	update(t, l, "b")
	j := read(t, dir, "state.journal")
	write(t, flipped(j, 50<<10, 1), dir, "state.journal")
	if s, _ := view(t, m.open(t, dir)); fmt.Sprint(s) != "map[a:1 b:1 x:1]" || m.stored.used != 1 {
		t.Errorf("%v, started %d times", s, m.stored.used)
	}
	if _, err := os.Stat(filepath.Join(dir, "state.json")); err == nil {
		t.Error("there is a snapshot, and the test proves nothing")
	}
}

func read(t testing.TB, path ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t testing.TB, data []byte, path ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(path...), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func flipped(b []byte, at int, with byte) []byte {
	b = bytes.Clone(b)
	b[at] ^= with
	return b
}
