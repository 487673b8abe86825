package cost

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A command that only leaves a receipt appends to one file, and makes no data
// directory.
func TestCommandIsCheap(t *testing.T) {
	dir := t.TempDir()
	noted(t, dir, Options{}, sized("a", "x", 1))
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != folder {
		t.Errorf("%v %v", entries, err)
	}
	none := filepath.Join(dir, "none")
	noted(t, none, Options{}, sized("a", "x", 1))
	if _, err := os.Stat(none); err == nil {
		t.Error("a receipt made the data directory")
	}
}

// Neither a torn line nor a damaged one takes another with it.
func TestDamagedLines(t *testing.T) {
	dir := t.TempDir()
	noted(t, dir, Options{}, sized("a", "x", 1), sized("b", "x", 2), sized("c", "x", 4))
	name := filepath.Join(dir, folder, "2026-03.jsonl")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	for cut := range len(lines[3]) {
		if err := os.WriteFile(name, []byte(lines[0]+lines[1]+lines[2]+lines[3][:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		noted(t, dir, Options{}, sized("d", "x", 8))
		if got := report(t, open(t, dir, Options{})).Total.Tokens(); got != 11 && (got != 15 || cut < len(lines[3])-1) {
			t.Errorf("cut at %d: %d", cut, got)
		}
	}
	for i := range len(lines[2]) - 1 {
		bad := []byte(lines[2])
		bad[i] ^= 1
		if err := os.WriteFile(name, []byte(lines[0]+lines[1]+string(bad)+lines[3]), 0o600); err != nil {
			t.Fatal(err)
		}
		others := 0
		for _, a := range report(t, open(t, dir, Options{})).Agents {
			if a.Name == "a" && a.Tokens() == 1 || a.Name == "c" && a.Tokens() >= 4 { // b may have become c
				others++
			}
		}
		if others != 2 {
			t.Errorf("flipped at %d", i)
		}
	}
}

// Months are files of their own, and a file that was removed by hand takes only its
// month with it.
func TestMonths(t *testing.T) {
	dir := t.TempDir()
	now := noon
	clock := func() time.Time { return now }
	var want int64
	for i := range 5 {
		now = noon.AddDate(0, i, 0)
		noted(t, dir, Options{Now: clock}, sized("a", "x", 1<<i))
		want += 1 << i
		if got := report(t, open(t, dir, Options{Now: clock})).Total.Tokens(); got != want {
			t.Errorf("month %d: %d", i, got)
		}
	}
	if err := os.Remove(filepath.Join(dir, folder, "2026-04.jsonl")); err != nil {
		t.Fatal(err)
	}
	if got := report(t, open(t, dir, Options{Now: clock})).Total.Tokens(); got != want-2 {
		t.Error(got)
	}
}

var errFault = errors.New("no space left on device")

// A failed write loses its block and fails no call; the next one counts.
func TestWriteFault(t *testing.T) {
	dir := t.TempDir()
	noted(t, dir, Options{Fault: func(op, name string) error { return errFault }}, sized("a", "x", 3))
	noted(t, dir, Options{}, sized("a", "x", 4))
	if got := report(t, open(t, dir, Options{})).Total.Tokens(); got != 4 {
		t.Error(got)
	}
}

// Notes during resets are either forgotten or counted. What was noted after the last reset is
// left, and a reset takes only what it says.
func TestResetAgainstNotes(t *testing.T) {
	dir := t.TempDir()
	const writers, each = 4, 50
	var done sync.WaitGroup
	for w := range writers {
		done.Go(func() {
			for range each {
				noted(t, dir, Options{}, Receipt{Agent: fmt.Sprint("a", w), Tool: "x", OutSize: 4})
			}
		})
	}
	l := open(t, dir, Options{})
	for range 20 {
		if _, err := l.Reset(t.Context(), Reset{}); err != nil {
			t.Error(err)
		}
	}
	done.Wait()
	if got := report(t, l).Total.Calls; got > writers*each {
		t.Errorf("%d of %d calls", got, writers*each)
	}
	if _, err := l.Reset(t.Context(), Reset{}); err != nil {
		t.Fatal(err)
	}
	noted(t, dir, Options{}, sized("b", "x", 9))
	if got := report(t, open(t, dir, Options{})).Total.Tokens(); got != 9 {
		t.Errorf("%d after the last reset", got)
	}
}

// What another program keeps under our name stays as it is; ours is beside it.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	theirs := []byte(`{"agents":{},"tools":{},"sessions":[],"updated_at":"2026-01-01T00:00:00Z"}`)
	name := filepath.Join(dir, "costs.json")
	if err := os.WriteFile(name, theirs, 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		l := open(t, dir, Options{})
		l.Note(sized("a", "x", 1))
		if got := report(t, l).Total.Tokens(); got != int64(i+1) {
			t.Error(got)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if data, err := os.ReadFile(name); err != nil || string(data) != string(theirs) {
		t.Error(string(data), err)
	}
}

// A file of any bytes is read, and what is no receipt is skipped.
func FuzzRead(f *testing.F) {
	r := sized("a", "x", 3)
	n := r.line()
	n.Project = own
	text, err := json.Marshal(n)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"p":"` + own + `","i":-1}` + "\n" + `{"p":"` + own + `","reset":true}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		all := newTotals().read(data, own)
		all.attribute()
		if c := sum(all.rows); min(c.Calls, c.BytesIn) < 0 {
			t.Errorf("%+v", c)
		}
	})
}

// A reset holds, and what is noted after it counts, also if the clock was set back to another month.
func TestResetAfterTheClockWasSetBack(t *testing.T) {
	dir := t.TempDir()
	noted(t, dir, Options{Now: func() time.Time { return noon }}, Receipt{Agent: "a", Tool: "x", OutSize: 40})
	u := open(t, dir, Options{Now: func() time.Time { return noon.AddDate(0, -1, 0) }})
	if _, err := u.Reset(t.Context(), Reset{}); err != nil {
		t.Fatal(err)
	}
	u.Note(Receipt{Agent: "a", Tool: "x", OutSize: 4})
	if got := report(t, u).Total.Tokens(); got != 1 {
		t.Errorf("%d tokens", got)
	}
}
