package cost

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"leanctx/internal/journal"
)

// A command that only leaves a receipt appends to one file, and neither makes a data
// directory nor opens the totals.
func TestCommandIsCheap(t *testing.T) {
	dir := t.TempDir()
	noted(t, dir, Options{}, sized("a", "x", 1))
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != receipts {
		t.Errorf("%v %v", entries, err)
	}
	none := filepath.Join(dir, "none")
	noted(t, none, Options{}, sized("a", "x", 1))
	if _, err := os.Stat(none); err == nil {
		t.Error("a receipt made the data directory")
	}
}

// Neither a torn line nor a damaged one takes another with it.
func TestDamagedReceipts(t *testing.T) {
	dir := t.TempDir()
	noted(t, dir, Options{}, sized("a", "x", 1), sized("a", "x", 2), sized("a", "x", 4))
	name := filepath.Join(dir, receipts, "2026-03-20")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	for cut := range len(lines[3]) {
		if err := os.WriteFile(name, []byte(lines[0]+lines[1]+lines[2]+lines[3][:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		noted(t, dir, Options{}, sized("a", "x", 8))
		if got := report(t, open(t, dir, Options{})).Total.Tokens(); got != 11 && (got != 15 || cut < len(lines[3])-1) {
			t.Errorf("cut at %d: %d", cut, got)
		}
	}
	for i := range lines[2] {
		bad := []byte(lines[2])
		bad[i] ^= 1
		if err := os.WriteFile(name, []byte(lines[0]+lines[1]+string(bad)+lines[3]), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := report(t, open(t, dir, Options{})).Total.Tokens(); got != 5 && i < len(lines[2])-1 {
			t.Errorf("flipped at %d: %d", i, got)
		}
	}
}

// Folded or not, a report says the same, and files go when nobody needs them.
func TestFold(t *testing.T) {
	dir := t.TempDir()
	now := noon
	clock := func() time.Time { return now }
	var want int64
	for i := range 10 {
		now = noon.AddDate(0, 0, i)
		noted(t, dir, Options{Now: clock}, sized("a", "x", 1<<i))
		want += 1 << i
		l := open(t, dir, Options{Now: clock})
		if got := report(t, l).Total.Tokens(); got != want {
			t.Errorf("day %d: %d before the fold", i, got)
		}
		if i%3 == 0 {
			if err := l.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := report(t, open(t, dir, Options{Now: clock})).Total.Tokens(); got != want {
			t.Errorf("day %d: %d after the fold", i, got)
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, receipts))
	if err != nil || len(entries) != 2 {
		t.Errorf("%v %v", entries, err)
	}
}

// A file that was removed and begun anew is counted from its beginning.
func TestReceiptsRemovedByHand(t *testing.T) {
	dir := t.TempDir()
	noted(t, dir, Options{}, sized("a", "x", 1), sized("a", "x", 2))
	l := open(t, dir, Options{})
	if err := l.fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, receipts)); err != nil {
		t.Fatal(err)
	}
	noted(t, dir, Options{}, sized("a", "x", 4))
	if got := report(t, l).Total.Tokens(); got != 7 {
		t.Error(got)
	}
	if err := l.fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := report(t, l).Total.Tokens(); got != 7 {
		t.Error(got)
	}
}

var errFault = errors.New("no space left on device")

// Whichever file operation fails or is never reached, no receipt is counted
// twice and none that was written is lost.
func TestFoldFaults(t *testing.T) {
	for n := 0; ; n++ {
		dir := t.TempDir()
		noted(t, dir, Options{}, sized("a", "x", 3))
		later := func() time.Time { return noon.AddDate(0, 0, 5) }
		left, hit := n, ""
		l := open(t, dir, Options{Now: later, Fault: func(op, name string) error {
			if left--; left < 0 {
				hit = op + " " + name
				return errFault // and nothing works any more, as after a kill
			}
			return nil
		}})
		err := l.Compact(t.Context())
		if hit == "" {
			if err != nil || n < 8 {
				t.Fatalf("%d operations, %v", n, err)
			}
			return
		}
		after := open(t, dir, Options{Now: later})
		for range 2 {
			if got := report(t, after).Total.Tokens(); got != 3 {
				t.Errorf("%s: %d", hit, got)
			}
			if err := after.Compact(t.Context()); err != nil {
				t.Errorf("%s: %v", hit, err)
			}
		}
	}
}

// A failed write loses its block and fails no call; the next one counts.
func TestWriteFault(t *testing.T) {
	dir := t.TempDir()
	noted(t, dir, Options{Fault: func(op, name string) error { return errFault }}, sized("a", "x", 3))
	noted(t, dir, Options{}, sized("a", "x", 4))
	if got := report(t, open(t, dir, Options{})).Total.Tokens(); got != 4 {
		t.Error(got)
	}
}

// Notes during resets are either forgotten or counted: what is left is what
// was noted after the last reset, and a reset takes only what it says.
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
		if err := l.fold(t.Context()); err != nil {
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
		if err := l.Compact(t.Context()); err != nil {
			t.Error(err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if data, err := os.ReadFile(name); err != nil || string(data) != string(theirs) {
		t.Error(string(data), err)
	}
}

// What a newer program wrote is refused and never written; receipts go on.
func TestNewer(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "costs.json"), []byte(`{"schema": 99, "checksum": "00000000"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, dir, Options{LongLived: true})
	l.Note(sized("a", "x", 1))
	if _, err := l.Report(t.Context(), ReportQuery{}); !errors.Is(err, journal.ErrNewer) {
		t.Error(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(filepath.Join(dir, receipts, "2026-03-20")); err != nil || info.Size() == 0 {
		t.Error(err)
	}
}

func FuzzLine(f *testing.F) {
	r := sized("a", "x", 3)
	n := r.line()
	f.Add(n.appendTo(nil))
	f.Add([]byte("00000000 {}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, n := range parseLines(text, "") {
			again := parseLines(n.appendTo(nil), "")
			if len(again) != 1 || again[0] != n {
				t.Fatalf("%+v became %+v", n, again)
			}
		}
	})
}
