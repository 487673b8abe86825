package usage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leanctx/knowledge/fact"
)

var day = time.Date(2026, 3, 20, 9, 0, 0, 0, time.UTC)

func clock() time.Time { return day }

// What one process notes another one sees; what cannot be read is nothing.
func TestRecord(t *testing.T) {
	dir := t.TempDir()
	one, other := Open(dir, clock), Open(dir, clock)
	other.Refresh()
	if other.Covers(day) != 0 {
		t.Error("a record that there is not covers nothing")
	}
	one.Note([]string{"f-1", "f-2"})
	one.Note(nil)
	one.Note([]string{"f-1"})
	path := filepath.Join(dir, "retrievals.log")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(string(text)+"\nnonsense f-1\n1767000000 f-2*x f-3*-4\n99 torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	other.Refresh()
	other.Refresh()
	before := day.Add(-time.Hour)
	for _, tt := range []struct {
		v    fact.Version
		want fact.Retrievals
	}{
		{fact.Version{ID: "f-1"}, fact.Retrievals{Count: 2, Last: day}},
		{fact.Version{ID: "f-1", RetrievalCount: 3, LastRetrieved: &before}, fact.Retrievals{Count: 5, Last: day}},
		{fact.Version{ID: "f-2"}, fact.Retrievals{Count: 2, Last: day}},
		{fact.Version{ID: "torn"}, fact.Retrievals{}},
	} {
		if got := other.Of(&tt.v); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.v.ID, got, tt.want)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	one.Note([]string{"f-9"})
	other.Refresh()
	if got := other.Of(&fact.Version{ID: "f-9"}); got.Count != 1 || other.Covers(day.Add(time.Hour)) != time.Hour {
		t.Errorf("a record begun anew: %+v", got)
	}
}

// A long record is folded, and counts as before.
func TestCompact(t *testing.T) {
	dir := t.TempDir()
	r := Open(dir, clock)
	ids := strings.Fields(strings.Repeat("f-0123456789 ", 100))
	for range 250 {
		r.Note(ids)
	}
	info, err := os.Stat(filepath.Join(dir, "retrievals.log"))
	if err != nil || info.Size() > limit {
		t.Fatalf("%d bytes, %v", info.Size(), err)
	}
	again := Open(dir, clock)
	again.Refresh()
	if got := again.Of(&fact.Version{ID: "f-0123456789"}); got.Count != 25_000 {
		t.Errorf("%+v, want 25,000", got)
	}
}

// A line that a killed process left torn loses no other line.
func TestATornLineLosesNoOther(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.WriteFile(filepath.Join(dir, "retrievals.log"), []byte("1767000000 f-1 f-2\n17670"), 0o600); err != nil {
		t.Fatal(err)
	}
	u := Open(dir, func() time.Time { return now })
	u.Note([]string{"f-3"})
	u.Refresh()
	if first := time.Unix(1767000000, 0); u.Covers(now) != now.Sub(first) {
		t.Errorf("the record covers %s", u.Covers(now))
	}
	for _, id := range []string{"f-1", "f-2", "f-3"} {
		if r := u.With(id, fact.Retrievals{}); r.Count != 1 {
			t.Errorf("%s was read %d times", id, r.Count)
		}
	}
}
