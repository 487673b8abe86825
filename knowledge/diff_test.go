package knowledge_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "leanctx/knowledge"
	"leanctx/knowledge/history"
)

// What the store was told lately is listed whenever it was true: backdated and
// corrected values, what took their place, patterns and gotchas. The other axis
// lists what became true and false.
func TestDiffOnBothAxes(t *testing.T) {
	s := testStore(t, nil)
	tell := func(key, value string) { s.remember(t, Assertion{Category: "c", Key: key, Value: value}) }
	tell("changed", "MySQL")
	tell("wrong", "port 5432")
	tell("kept", "JWT")
	tell("gone", "Redis")
	tell("secret", "erased later")
	tell("ended", "a freeze")
	s.days(10)
	tell("changed", "PostgreSQL")
	s.remember(t, Assertion{Category: "c", Key: "wrong", Value: "port 5433", Correct: true})
	tell("kept", "jwt.")
	tell("kept", "JWT")
	s.remember(t, Assertion{Category: "c", Key: "late", Value: "Go 1.25", ValidFrom: "2025-06-01", ValidUntil: "2025-12-01"})
	s.remember(t, Assertion{Category: "c", Key: "plan", Value: "Go 2", ValidFrom: "2027-01-01"})
	s.remember(t, Assertion{Category: "c", Key: "ended", Value: "a freeze", ValidUntil: "2026-01-20", Correct: true})
	must[Withdrawn](t)(s.Remove(t.Context(), Withdrawal{Category: "c", Key: "gone"}))
	must[Withdrawn](t)(s.Remove(t.Context(), Withdrawal{Category: "c", Key: "secret", Erase: true}))
	must[Learned](t)(Pattern(t.Context(), s.Store, Lesson{Type: "naming", Value: "short names"}))
	must[Learned](t)(Gotcha(t.Context(), s.Store, Mistake{Trigger: "go mod tidy", Resolution: "pin bleve"}))
	s.now = s.now.Add(time.Minute)
	for axis, want := range map[string]string{
		"": `
Changes 2026-01-25T09:01:00Z → now (11):
  2026-01-25 ~ changed: [c/changed] PostgreSQL (was 'MySQL')
  2026-01-25 ~ corrected: [c/wrong] port 5433 (was 'port 5432') [valid 2026-01-15 → now]
  2026-01-25 = confirmed: [c/kept] JWT (2x)
  2026-01-25 + learned: [c/late] Go 1.25 [valid 2025-06-01 → 2025-12-01]
  2026-01-25 + learned: [c/plan] Go 2 [valid from 2027-01-01]
  2026-01-25 = confirmed: [c/ended] a freeze
  2026-01-25 ~ redated: [c/ended] a freeze [valid 2026-01-15 → 2026-01-20]
  2026-01-25 - removed: [c/gone] Redis
  2026-01-25 - erased: [c/secret]
  2026-01-25 + learned: [pattern/naming] short names
  2026-01-25 + learned: [gotcha/go-mod-tidy] go mod tidy → pin bleve`,
		"valid": `
Changes 2026-01-25T09:01:00Z → now (5):
  2026-01-25 - no longer true: [c/changed] MySQL
  2026-01-25 + became true: [c/changed] PostgreSQL
  2026-01-25 - no longer true: [c/gone] Redis
  2026-01-25 + became true: [pattern/naming] short names
  2026-01-25 + became true: [gotcha/go-mod-tidy] go mod tidy → pin bleve`,
	} {
		r := must[history.Difference](t)(history.Diff(t.Context(), s.Store, history.Interval{From: "1h", Axis: axis}))
		if diff := cmp.Diff(strings.TrimSpace(want), r.Text()); diff != "" {
			t.Errorf("axis %q (-want +got):\n%s", axis, diff)
		}
	}
	r := must[history.Difference](t)(history.Diff(t.Context(), s.Store, history.Interval{From: "2025-11-01", To: "2025-12-31", Axis: "valid"}))
	if got := r.Text(); !strings.Contains(got, "2025-12-01 - no longer true: [c/late] Go 1.25") || r.Total != 1 {
		t.Error(got)
	}
	r = must[history.Difference](t)(history.Diff(t.Context(), s.Store, history.Interval{From: "1h", Category: "pattern"}))
	if r.Total != 1 {
		t.Error(r.Text())
	}
	_, err := history.Diff(t.Context(), s.Store, history.Interval{From: "1h", Axis: "both"})
	if e, ok := errors.AsType[*ArgumentError](err); !ok || e.Argument != "axis" {
		t.Errorf("an axis that there is not: %v", err)
	}
}
