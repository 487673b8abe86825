package knowledge

import (
	"fmt"
	"strings"
	"testing"

	"leanctx/formats"
	"leanctx/knowledge/fact"
)

// A cache reads a version once, stays within its limit, and drops all when a fact was dropped.
func TestWhatIsReadFromAVersionIsKeptWithinBounds(t *testing.T) {
	reads := 0
	const most = 200 << 10
	x := derived[string]{
		read: func(v *fact.Version) string { reads++; return strings.ToUpper(v.Value) },
		size: func(v *fact.Version, s string) int { return len(v.Key) + len(s) }, most: most,
	}
	v := &fact.Version{Key: "k", Value: "value"}
	for range 3 {
		if got := x.of(v); got != "VALUE" {
			t.Fatalf("got %q", got)
		}
	}
	if reads != 1 {
		t.Errorf("read %d times, want once", reads)
	}
	for i := range 100_000 {
		x.of(&fact.Version{Key: fmt.Sprint(i), Value: strings.Repeat("w", i%100)})
	}
	bytes := 0
	for _, kept := range []map[*fact.Version]string{x.recent, x.older} {
		for v := range kept {
			bytes += len(v.Key) + len(v.Value)
		}
	}
	if bytes > most || bytes < most/4 {
		t.Errorf("texts of %d bytes are kept, of at most %d", bytes, most)
	}
	x.of(&fact.Version{Value: strings.Repeat("x", maxDerivedText+1)})
	if len(x.recent) == 1 {
		t.Error("a long text pushed out all others")
	}
}

// What was read from an erased fact is dropped with it.
func TestNothingReadFromAnErasedFactIsKept(t *testing.T) {
	s, err := Open(t.TempDir(), &Options{LongLived: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 4 {
		if _, err := s.Remember(t.Context(), Assertion{Category: "c", Key: fmt.Sprint("telemetry ", i), Value: fmt.Sprintf("telemetry of zebra%d is enabled", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Recall(t.Context(), Question{Query: "telemetry"}); err != nil {
		t.Fatal(err)
	}
	if len(s.caches.forms.recent) == 0 || len(s.caches.readings.recent) == 0 {
		t.Fatal("nothing was kept: the test shows nothing")
	}
	kept := s.caches.readings.recent
	if _, err := s.Recall(t.Context(), Question{Query: "telemetry"}); err != nil {
		t.Fatal(err)
	}
	for v, x := range s.caches.readings.recent {
		if kept[v] != x {
			t.Error("a version was read again for the next question")
		}
	}
	if _, err := s.Remove(t.Context(), Withdrawal{Category: "c", Key: "telemetry 1", Erase: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recall(t.Context(), Question{Query: "telemetry"}); err != nil {
		t.Fatal(err)
	}
	holds := func(v *fact.Version) bool { return formats.FoldName(v.Key) == "telemetry 1" }
	for v := range s.caches.forms.recent {
		if holds(v) {
			t.Error("the form of an erased fact is kept")
		}
	}
	for v := range s.caches.readings.recent {
		if holds(v) {
			t.Error("the words of an erased fact are kept")
		}
	}
}
