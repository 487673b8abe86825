package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leanctx/internal/journal"
)

// counting is the tests' machine, and counts how often a snapshot is decoded.
type counting struct {
	machine
	decoded *atomic.Int64
}

func (c counting) Decode(data []byte) (counters, error) {
	c.decoded.Add(1)
	return c.machine.Decode(data)
}

func TestCompactionByOthersIsFollowedWithoutLoading(t *testing.T) {
	dir := t.TempDir()
	writer := open(t, dir, nil)
	update(t, writer, "x")
	var decoded atomic.Int64
	reader, err := journal.Open(dir, counting{decoded: &decoded}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for i := range 6 {
		update(t, writer, "x") // seen after the switch, at the end of the old journal
		if err := writer.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		if i%2 == 1 {
			update(t, writer, "x") // and at the start of the new one
		}
		want, head := view(t, writer)
		if got, h := view(t, reader); got["x"] != want["x"] || h != head {
			t.Fatalf("round %d: %v at %v, want %v at %v", i, got, h, want, head)
		}
	}
	if n := decoded.Load(); n != 0 {
		t.Errorf("%d snapshots were decoded to follow", n)
	}
	// Two compactions that it did not see are too much to follow.
	for range 2 {
		update(t, writer, "x")
		if err := writer.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want, _ := view(t, writer)
	if got, _ := view(t, reader); got["x"] != want["x"] {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestCompactTwiceIsOnce(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, nil)
	update(t, l, "x")
	for i := range 3 {
		killed := os.WriteFile(filepath.Join(dir, "state.json.new"), []byte("{"), 0o600)
		if err := errors.Join(killed, l.Compact(t.Context())); err != nil {
			t.Fatal(err)
		}
		if g := l.Stats().Generation; g != 2 {
			t.Errorf("compaction %d: generation %d, want 2: there was nothing to do", i, g)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*.new")); len(left) > 0 {
			t.Errorf("compaction %d leaves %v behind", i, left)
		}
	}
}

// TestPurgeLeavesNothingBehind looks for a word in every byte of the directory.
func TestPurgeLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, nil)
	update(t, l, "secret")
	if err := l.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	update(t, l, "secret")
	for _, name := range []string{"state.journal.torn", "state.journal.corrupt-1", "state.json.corrupt-1", "state.json.new", "state.journal.new"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := l.Stats().SetAside; len(got) != 3 {
		t.Errorf("set aside: %v", got)
	}
	forget := func(s counters, _ time.Time) ([]event, error) {
		delete(s, "secret") // the tests' machine has no event for it
		return []event{{Key: "open", Add: 1}}, nil
	}
	if _, err := l.Update(t.Context(), forget); err != nil {
		t.Fatal(err)
	}
	if err := l.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil || bytes.Contains(data, []byte("secret")) {
			t.Errorf("%s: %q, %v", e.Name(), data, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "state.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, _ := view(t, open(t, dir, nil)); s["open"] != 1 || s["secret"] != 0 {
		t.Errorf("with the snapshot damaged after a purge: %v", s)
	}
}

func TestBackgroundCompactsWhenTheJournalHasGrown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, t.TempDir(), &journal.Options{LongLived: true})
		big := strings.Repeat("x", 300<<10)
		for i := range 5 {
			_, err := l.Update(t.Context(), func(counters, time.Time) ([]event, error) {
				return []event{{Key: "x", Add: 1, Pad: big}}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			s := l.Stats()
			if grown := i >= 3; (s.SnapshotBytes > 0) != grown {
				t.Errorf("after %d updates: %+v", i+1, s)
			}
		}
		l.Close()
	})
}

func TestBackgroundCompactsWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l := open(t, dir, &journal.Options{LongLived: true})
		command := open(t, dir, nil)
		for range 3 {
			time.Sleep(4 * time.Second)
			update(t, l, "x")
			synctest.Wait()
			if l.Stats().SnapshotBytes != 0 {
				t.Error("compacted while busy")
			}
		}
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if s := l.Stats(); s.SnapshotBytes == 0 || s.Seq != 3 {
			t.Errorf("not compacted after 6 s: %+v", s)
		}
		update(t, command, "x")
		time.Sleep(time.Hour)
		synctest.Wait()
		if s := command.Stats(); s.Generation != 2 {
			t.Errorf("a one-shot command compacted: %+v", s)
		}
		l.Close()
		command.Close()
	})
}

func TestCompactionThatFailsOrIsLeft(t *testing.T) {
	dir := t.TempDir()
	l, err := journal.Open(dir, failing{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	update(t, l, "x")
	if err := l.Compact(t.Context()); !errors.Is(err, errEncode) {
		t.Errorf("%v, want the encoder's error", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := open(t, dir, nil).Compact(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want canceled", err)
	}
	if s, _ := view(t, open(t, dir, nil)); s["x"] != 1 {
		t.Errorf("%v", s)
	}
}

var errEncode = errors.New("no")

type failing struct{ machine }

func (failing) Encode(io.Writer, counters, journal.Header) error { return errEncode }

// TestSchemaGrows opens a store of schema 1 with a program of schema 2. From
// the first write on, the older program must refuse it, running or not.
func TestSchemaGrows(t *testing.T) {
	for _, compacted := range []bool{false, true} {
		t.Run(fmt.Sprint("compacted ", compacted), func(t *testing.T) {
			dir := t.TempDir()
			old := open(t, dir, nil)
			update(t, old, "x")
			if compacted {
				if err := old.Compact(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			update(t, old, "x")
			newer := open(t, dir, &journal.Options{Schema: 2})
			if s, _ := view(t, newer); s["x"] != 2 {
				t.Errorf("%v", s)
			}
			update(t, old, "x") // as long as nothing was written with it
			update(t, newer, "y")
			_, err := old.Update(t.Context(), add("x"))
			for name, err := range map[string]error{
				"update": err,
				"view":   old.View(t.Context(), func(counters, journal.Head) error { return nil }),
				"open":   reopen(dir),
			} {
				if !errors.Is(err, journal.ErrNewer) {
					t.Errorf("%s by the older program: %v", name, err)
				}
			}
			for _, l := range []*testLog{newer, open(t, dir, &journal.Options{Schema: 2})} {
				if s, h := view(t, l); s["x"] != 3 || s["y"] != 1 || h.Seq != 4 {
					t.Errorf("%v at %d", s, h.Seq)
				}
			}
		})
	}
}

func reopen(dir string) error {
	l, err := journal.Open(dir, machine{}, nil)
	if err == nil {
		err = l.Close()
	}
	return err
}

// TestWhatCannotBeReadIsNoDamage has directories where files should be.
func TestWhatCannotBeReadIsNoDamage(t *testing.T) {
	for _, name := range []string{"state.json", "state.journal", "state.lock"} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		err := reopen(dir)
		if name == "state.lock" {
			l := open(t, dir, nil)
			_, err = l.Update(t.Context(), add("x"))
		}
		if err == nil || errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is a directory: %v", name, err)
		}
		if fi, err := os.Stat(filepath.Join(dir, name)); err != nil || !fi.IsDir() {
			t.Errorf("%s: %v, %v", name, fi, err)
		}
	}
}

// A snapshot that is intact and not understood is no damage.
func TestASnapshotThatIsNotUnderstood(t *testing.T) {
	dir := t.TempDir()
	l, err := journal.Open(dir, oddMachine{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = l.Update(t.Context(), odd("no object")); err != nil {
		t.Fatal(err)
	}
	if err := l.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := reopen(dir); !errors.Is(err, journal.ErrCorrupt) {
		t.Error(err)
	}
}
