package knowledge_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "leanctx/knowledge"
	"leanctx/knowledge/fact"
)

// A thousand unrelated writes on the same day leave a fact's confidence alone.
func TestDecayDoesNotCompound(t *testing.T) {
	t.Parallel()
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "c", Key: "old", Value: "A"})
	s.now = s.now.AddDate(0, 0, 9)
	before := s.only(t, "c", "old").Effective
	for range 200 {
		s.remember(t, Assertion{Category: "c", Key: "busy", Value: "B"})
	}
	if after := s.only(t, "c", "old").Effective; math.Abs(after-before) > 1e-9 || math.Abs(after-.7864) > .0005 {
		t.Errorf("effective confidence went from %v to %v", before, after)
	}
}

func TestArchivable(t *testing.T) {
	day0 := at(1)
	plain := fact.Version{Category: "status", Confidence: .9, LastConfirmed: day0, RecordedFrom: day0, ValidFrom: day0, ConfirmationCount: 1}
	with := func(change func(*fact.Version)) *fact.Version { v := plain; change(&v); return &v }
	later, long := day0.AddDate(0, 0, 100), 200*24*time.Hour
	for _, tt := range []struct {
		name    string
		v       *fact.Version
		r       fact.Retrievals
		covered time.Duration
		want    bool
	}{
		{"a status, idle for 100 days", &plain, fact.Retrievals{}, long, true},
		{"a rule", with(func(v *fact.Version) { v.Category = "convention" }), fact.Retrievals{}, long, false},
		{"no record of retrievals counts as read", &plain, fact.Retrievals{}, 0, false},
		{"a record that is too young counts as read", &plain, fact.Retrievals{}, 10 * 24 * time.Hour, false},
		{"read lately", &plain, fact.Retrievals{Count: 1, Last: later.AddDate(0, 0, -1)}, long, false},
		{"recorded here lately", with(func(v *fact.Version) { v.RecordedFrom = later }), fact.Retrievals{}, long, false},
		{"given little from the start", with(func(v *fact.Version) { v.Category, v.Confidence = "rules", .2; v.LastConfirmed = later }), fact.Retrievals{}, long, false},
		{"pinned", with(func(v *fact.Version) { v.Pinned = true; v.Confidence = .1 }), fact.Retrievals{}, long, false},
		{"gotcha", with(func(v *fact.Version) { v.Category = "gotcha"; v.Confidence = .1 }), fact.Retrievals{}, long, false},
		{"history is left alone", with(func(v *fact.Version) { v.ValidUntil = new(day0.AddDate(0, 0, 5)) }), fact.Retrievals{}, long, false},
	} {
		if got := Archivable(tt.v, []*fact.Version{tt.v}, later, tt.r, tt.covered); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// Nothing listed is told apart from nothing known: archived facts are counted.
func TestOnlyArchived(t *testing.T) {
	s := testStore(t, nil)
	for _, key := range []string{"cdn", "dns"} {
		s.remember(t, Assertion{Category: "status", Key: key, Value: "akamai " + key, Confidence: new(.5)})
	}
	const hint = "\n  2 archived: include_archived=true shows them, action=restore brings them back"
	for _, q := range []Question{{Category: "status"}, {}} {
		if got := s.recall(t, q).Text(); strings.Contains(got, "archived") {
			t.Errorf("before: %s", got)
		}
	}
	must[Maintained](t)(s.Maintain(t.Context(), true)) // from here on it is known what is read
	s.days(400)
	must[Maintained](t)(s.Maintain(t.Context(), true))
	for _, tt := range []struct {
		q    Question
		want string
	}{
		{Question{Category: "status"}, "No facts in category 'status'." + hint},
		{Question{}, "No active facts." + hint},
		{Question{Category: "elsewhere"}, "No facts in category 'elsewhere'."},
	} {
		if diff := cmp.Diff(tt.want, s.recall(t, tt.q).Text()); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tt.q, diff)
		}
	}
}

// A name that nothing has is told as such, also when another time is asked about.
func TestExactOfNothing(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "infra", Key: "cdn", Value: "akamai"})
	const want = "No facts matching 'nats'."
	for _, q := range []Question{{Query: "nats", Mode: "exact"}, {Query: "nats", Mode: "exact", KnownAt: "2030-01-01"}, {Query: "nats", AsOf: "2030-01-01"}} {
		if got := s.recall(t, q).Text(); got != want {
			t.Errorf("%+v: %q, want %q", q, got, want)
		}
	}
}

// A dry run of consolidate names the first ten facts that it would archive, and counts the
// others; the run itself names the same.
func TestConsolidateNamesWhatItArchives(t *testing.T) {
	s := testStore(t, nil)
	for i := range 13 {
		s.remember(t, Assertion{Category: "status", Key: fmt.Sprintf("build %02d", i), Value: fmt.Sprintf("run %d is red", i), Confidence: new(.5)})
	}
	must[Maintained](t)(s.Maintain(t.Context(), true)) // from here on it is known what is read
	s.days(400)
	dry := must[Promoted](t)(Consolidate(t.Context(), s.Store, Promotion{DryRun: true}))
	wet := must[Promoted](t)(Consolidate(t.Context(), s.Store, Promotion{}))
	want := []string{", archived 13 facts"}
	for i := range 10 {
		want = append(want, fmt.Sprintf("  archived [status/build %02d]: run %d is red", i, i))
	}
	want = append(want, "  … 3 more (output=json shows more)")
	for _, p := range []Promoted{dry, wet} {
		head, rest, _ := strings.Cut(p.Text(), "\n")
		if d := cmp.Diff(want[1:], strings.Split(rest, "\n")); d != "" || !strings.HasSuffix(strings.Replace(head, "archive 13", "archived 13", 1), want[0]) || len(p.Moved) != 13 {
			t.Errorf("%s: %s", head, d)
		}
	}
}

// Restoring keeps a fact awake for 180 days. A dormant fact that recall gives wakes with the
// next pass; one that a hook gives does not. The 90 days start over where the record of
// retrievals is lost.
func TestDormantFactsWake(t *testing.T) {
	s := testStore(t, nil)
	for _, key := range []string{"alpha", "beta", "gamma", "delta"} {
		s.remember(t, Assertion{Category: "status", Key: key, Value: key + " is being built", Confidence: new(.5)})
	}
	pass := func(archived, woken int) {
		t.Helper()
		if got := must[Maintained](t)(s.Maintain(t.Context(), true)); got.Archived != archived || got.Woken != woken {
			t.Errorf("%+v, want %d archived and %d woken", got, archived, woken)
		}
	}
	pass(0, 0) // from here on it is known what is read
	s.days(100)
	pass(4, 0)
	s.days(1)
	s.recall(t, Question{Query: "beta"})
	s.recall(t, Question{Query: "gamma", Prompt: true})
	must[Restored](t)(Restore(t.Context(), s.Store, Restoration{Key: "delta"}))
	s.days(1)
	if p := must[Promoted](t)(Consolidate(t.Context(), s.Store, Promotion{DryRun: true})); p.Woken != 1 || !strings.HasSuffix(p.Text(), ", archive 0 facts, wake 1 dormant fact\n  woke [status/beta]: beta is being built") {
		t.Errorf("dry run: %s", p.Text())
	}
	pass(0, 1)
	if s.only(t, "status", "beta").Archived || !s.only(t, "status", "gamma").Archived {
		t.Error("the wrong one woke")
	}
	s.days(100)
	if err := os.Remove(filepath.Join(s.dir, "retrievals.log")); err != nil {
		t.Fatal(err)
	}
	pass(0, 0)
	s.days(75) // restored 176 days ago
	pass(0, 0)
	s.days(20) // both are old enough, and the record is again
	pass(2, 0)
}
