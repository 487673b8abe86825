package knowledge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/history"
	"leanctx/knowledge/state"
)

// at is a day of January 2026, as the tests write times.
func at(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }

// say is one assertion of a story: when, what, and what is expected of it.
type say struct {
	day         int
	value       string
	from, until int // days; 0 is not given
	correct     bool
	confidence  float64
	by          string // the agent, or "user"
	want        Outcome
	severity    fact.Severity
}

// tell plays a story on an empty fact and returns its versions as lines.
func tell(t *testing.T, story []say) []string {
	t.Helper()
	st := state.NewOverlay(state.New(), nil)
	for i, a := range story {
		c := Checked{Category: "c", Key: "k", Value: a.value, Confidence: a.confidence, Correct: a.correct, Source: Source{Kind: KindAgent}}
		if c.Confidence == 0 {
			c.Confidence = 0.8
		}
		if c.Source.By = a.by; a.by == KindUser {
			c.Source = Source{Kind: KindUser}
		}
		if a.from != 0 {
			c.From = new(at(a.from))
		}
		if a.until != 0 {
			c.Until = new(at(a.until))
		}
		events, r, err := Assert(st, c, at(a.day))
		if err != nil {
			t.Fatalf("assertion %d: %v", i, err)
		}
		st.Fold(events...)
		if r.Outcome != a.want {
			t.Errorf("assertion %d of %q: outcome %s, want %s", i, a.value, r.Outcome, a.want)
		}
		got := fact.Severity("")
		if r.Contradiction != nil {
			got = r.Contradiction.Severity
		}
		if got != a.severity {
			t.Errorf("assertion %d of %q: severity %q, want %q", i, a.value, got, a.severity)
		}
		wellFormed(t, st.Versions(fact.IDOf("c", "k")))
	}
	var out []string
	for _, v := range st.Versions(fact.IDOf("c", "k")) {
		line := fmt.Sprintf("%s %s x%d", v.Value, days(fact.PeriodOf(v)), v.ConfirmationCount)
		if !fact.Believed(v) {
			line += " not believed"
		}
		out = append(out, line)
	}
	return out
}

func days(p fact.Period) string {
	end := "…"
	if p.Until != nil {
		end = fmt.Sprint(p.Until.YearDay())
	}
	return fmt.Sprintf("%d-%s", p.From.YearDay(), end)
}

// wellFormed checks what must be so of every fact: no believed versions
// overlap, none is empty, none is out of order.
func wellFormed(t *testing.T, vs []*fact.Version) {
	t.Helper()
	for i, v := range vs {
		if v.ValidUntil != nil && !v.ValidFrom.Before(*v.ValidUntil) {
			t.Errorf("%s has the empty period %s", v.Value, days(fact.PeriodOf(v)))
		}
		for _, w := range vs[:i] {
			if fact.Believed(v) && fact.Believed(w) && fact.PeriodOf(v).Overlaps(fact.PeriodOf(w)) {
				t.Errorf("%s %s overlaps %s %s", v.Value, days(fact.PeriodOf(v)), w.Value, days(fact.PeriodOf(w)))
			}
		}
	}
}

func TestAssert(t *testing.T) {
	tests := []struct {
		name  string
		story []say
		want  []string
	}{
		{"created", []say{{day: 1, value: "A", want: Created}}, []string{"A 1-… x1"}},
		{"confirmed", []say{
			{day: 1, value: "A", want: Created}, {day: 2, value: "a.", want: Confirmed},
		}, []string{"A 1-… x2"}},
		{"changed", []say{
			{day: 1, value: "A", want: Created}, {day: 5, value: "B", want: Superseded, severity: fact.Low},
		}, []string{"A 1-5 x1", "B 5-… x1"}},
		{"refined", []say{
			{day: 1, value: "JWT", confidence: .95, want: Created}, {day: 2, value: "jwt.", want: Confirmed},
			{day: 5, value: "JWT with RS256", by: "claude-a3f8", want: Refined},
		}, []string{"JWT 1-5 x2", "JWT with RS256 5-… x1"}},
		{"equal in other words", []say{
			{day: 1, value: "timeout is 500 ms", want: Created}, {day: 5, value: "The timeout is 0.5 s", want: Confirmed},
		}, []string{"timeout is 500 ms 1-… x2"}},
		{"contradiction, high", []say{
			{day: 1, value: "A", confidence: .95, want: Created}, {day: 2, value: "A", want: Confirmed},
			{day: 5, value: "B", want: Superseded, severity: fact.High},
		}, []string{"A 1-5 x2", "B 5-… x1"}},
		{"contradiction of a user", []say{
			{day: 1, value: "A", by: KindUser, want: Created}, {day: 5, value: "B", by: "claude-a3f8", want: Disputed},
			{day: 6, value: "C", by: KindUser, want: Superseded, severity: fact.Low},
		}, []string{"A 1-6 x1", "C 6-… x1"}},
		{"contradiction of an agent of another type", []say{
			{day: 1, value: "A", by: "cursor-a3f8", want: Created}, {day: 5, value: "B", by: "claude-b7e2", want: Superseded, severity: fact.Medium},
		}, []string{"A 1-5 x1", "B 5-… x1"}},
		{"an agent of the same type", []say{
			{day: 1, value: "A", by: "cursor-a3f8", want: Created}, {day: 5, value: "B", by: "cursor-b7e2", want: Superseded, severity: fact.Low},
		}, []string{"A 1-5 x1", "B 5-… x1"}},
		{"who dates a change knows of it", []say{
			{day: 1, value: "A", by: "cursor-a3f8", want: Created}, {day: 5, value: "B", by: "claude-b7e2", from: 4, want: Superseded, severity: fact.Low},
		}, []string{"A 1-4 x1", "B 4-… x1"}},
		{"there and back", []say{
			{day: 1, value: "A", want: Created}, {day: 2, value: "B", want: Superseded, severity: fact.Low},
			{day: 3, value: "A", want: Superseded, severity: fact.Low},
		}, []string{"A 1-2 x1", "B 2-3 x1", "A 3-… x1"}},
		{"corrected", []say{
			{day: 1, value: "A", want: Created}, {day: 5, value: "B", correct: true, want: Corrected},
		}, []string{"A 1-… x1 not believed", "B 1-… x1"}},
		{"corrected back: the old value still holds", []say{
			{day: 1, value: "A", want: Created}, {day: 5, value: "B", want: Superseded, severity: fact.Low},
			{day: 6, value: "A", correct: true, want: Corrected},
		}, []string{"A 1-… x2", "B 5-… x1 not believed"}},
		{"correct of nothing", []say{{day: 1, value: "A", correct: true, want: Created}}, []string{"A 1-… x1"}},
		{"correct with the same value confirms", []say{
			{day: 1, value: "A", want: Created}, {day: 2, value: "A", correct: true, want: Confirmed},
		}, []string{"A 1-… x2"}},
		{"correct with the same value and a period mends the period", []say{
			{day: 1, value: "A", want: Created}, {day: 9, value: "A", until: 5, correct: true, want: Corrected},
		}, []string{"A 1-5 x2"}},
		{"backdated before", []say{
			{day: 10, value: "A", want: Created}, {day: 11, value: "B", from: 3, want: Backdated},
		}, []string{"B 3-10 x1", "A 10-… x1"}},
		{"backdated equal joins", []say{
			{day: 10, value: "A", want: Created}, {day: 11, value: "A", from: 3, want: Confirmed},
		}, []string{"A 3-… x2"}},
		{"a short period interrupts", []say{
			{day: 1, value: "A", want: Created}, {day: 20, value: "B", from: 5, until: 8, want: Backdated, severity: fact.Low},
		}, []string{"A 1-5 x1", "B 5-8 x1", "A 8-… x1"}},
		{"a period over the present", []say{
			{day: 1, value: "A", want: Created}, {day: 6, value: "B", from: 5, until: 8, want: Superseded, severity: fact.Low},
		}, []string{"A 1-5 x1", "B 5-8 x1", "A 8-… x1"}},
		{"covered whole", []say{
			{day: 1, value: "A", from: 3, until: 5, want: Planned}, {day: 6, value: "B", from: 2, until: 9, want: Superseded},
		}, []string{"B 2-9 x1", "A 3-5 x1 not believed"}},
		{"planned", []say{
			{day: 1, value: "A", want: Created}, {day: 2, value: "B", from: 20, want: Planned},
		}, []string{"A 1-20 x1", "B 20-… x1"}},
		{"a plan stays when the present changes", []say{
			{day: 1, value: "A", want: Created}, {day: 2, value: "B", from: 20, want: Planned},
			{day: 3, value: "C", want: Superseded, severity: fact.Low},
		}, []string{"A 1-3 x1", "C 3-20 x1", "B 20-… x1"}},
		{"a correction that begins after the present value's end leaves a later plan alone", []say{
			{day: 1, value: "A", until: 5, want: Created}, {day: 2, value: "B", from: 20, want: Planned},
			{day: 3, value: "C", from: 10, correct: true, want: Planned},
		}, []string{"A 1-5 x1", "C 10-20 x1", "B 20-… x1"}},
		{"confirming leaves a given end alone", []say{
			{day: 1, value: "A", until: 20, want: Created}, {day: 2, value: "A", want: Confirmed},
		}, []string{"A 1-20 x2"}},
		{"neighbours join into one", []say{
			{day: 9, value: "A", from: 1, until: 3, want: Created}, {day: 9, value: "A", from: 5, until: 7, want: Backdated},
			{day: 9, value: "A", from: 3, until: 5, want: Confirmed},
		}, []string{"A 1-7 x3", "A 5-7 x1 not believed"}},
		{"a gap stays a gap", []say{
			{day: 9, value: "A", from: 1, until: 3, want: Created}, {day: 9, value: "B", from: 5, until: 7, want: Backdated},
		}, []string{"A 1-3 x1", "B 5-7 x1"}},
		{"after its end a fact begins anew", []say{
			{day: 1, value: "A", until: 3, want: Created}, {day: 5, value: "B", want: Created},
		}, []string{"A 1-3 x1", "B 5-… x1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tell(t, tt.story)); diff != "" {
				t.Errorf("versions (-want +got):\n%s", diff)
			}
		})
	}
}

// TestJoinedVersionKeepsTheHighestConfidence joins two versions of one value with a third.
func TestJoinedVersionKeepsTheHighestConfidence(t *testing.T) {
	s := testStore(t, nil)
	for _, a := range []Assertion{
		{ValidFrom: "2026-01-01", ValidUntil: "2026-02-01", Confidence: new(.5)},
		{ValidFrom: "2026-03-01", ValidUntil: "2026-04-01", Confidence: new(.95)},
	} {
		a.Category, a.Key, a.Value = "c", "k", "blue"
		must[Remembered](t)(s.Remember(t.Context(), a))
	}
	r := must[Remembered](t)(s.Remember(t.Context(), Assertion{Category: "c", Key: "k", Value: "blue", ValidFrom: "2026-01-15", ValidUntil: "2026-03-15", Confidence: new(.6)}))
	if r.Confidence != .95 || r.Confirmations != 3 {
		t.Errorf("confidence %v, confirmed %d times", r.Confidence, r.Confirmations)
	}
}

func TestUpsideDownPeriodsAreRefused(t *testing.T) {
	st := state.NewOverlay(state.New(), nil)
	c := Checked{Category: "c", Key: "k", Value: "A", From: new(at(2)), Until: new(at(1))}
	if _, _, err := Assert(st, c, at(5)); err == nil || !strings.Contains(err.Error(), "valid_until") {
		t.Errorf("an end before its beginning: %v", err)
	}
}

// A fact that has ended may have no known beginning. It was true just before its
// end, and what is believed of other times stays.
func TestFactThatEndedWithoutABeginning(t *testing.T) {
	for name, imports := range map[string]bool{"remember": false, "import": true} {
		s := testStore(t, nil)
		if imports {
			s.load(t, "", `{"category":"c","key":"k","value":"a freeze","valid_until":"2025-01-01"}`)
		} else {
			s.remember(t, Assertion{Category: "c", Key: "k", Value: "a freeze", ValidUntil: "2025-01-01"})
		}
		if r := s.recall(t, Question{Category: "c"}); len(r.Facts) != 0 {
			t.Errorf("%s: now: %s", name, r.Text())
		}
		if r := s.recall(t, Question{Category: "c", AsOf: "2024-12-31"}); len(r.Facts) != 1 {
			t.Errorf("%s: on its last day: %s", name, r.Text())
		}
		if r := s.recall(t, Question{Query: "c/k"}); !strings.Contains(r.Text(), "ended 2025-01-01") {
			t.Errorf("%s: %s", name, r.Text())
		}
	}
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "c", Key: "k", Value: "A", ValidFrom: "2024-01-01"})
	s.remember(t, Assertion{Category: "c", Key: "k", Value: "B", ValidUntil: "2025-01-01"})
	for day, want := range map[string]string{"2024-06-01": "A", "2024-12-31": "B", "2025-01-01": "A"} {
		if r := s.recall(t, Question{Category: "c", AsOf: day}); len(r.Facts) != 1 || r.Facts[0].Value != want {
			t.Errorf("%s: want %s: %s", day, want, r.Text())
		}
	}
}

func TestConfirmRaisesConfidenceOnly(t *testing.T) {
	st := state.NewOverlay(state.New(), nil)
	for _, confidence := range []float64{.5, .9, .6} {
		events, _, err := Assert(st, Checked{Category: "c", Key: "k", Value: "A", Confidence: confidence}, at(1))
		if err != nil {
			t.Fatal(err)
		}
		st.Fold(events...)
	}
	v := st.Versions(fact.IDOf("c", "k"))[0]
	if v.Confidence != .9 || v.ConfirmationCount != 3 || len(v.Sources) != 3 {
		t.Errorf("confidence %v, %d confirmations, %d sources", v.Confidence, v.ConfirmationCount, len(v.Sources))
	}
}

func TestNamesKeepTheirFirstSpelling(t *testing.T) {
	st := state.NewOverlay(state.New(), nil)
	for _, n := range [][2]string{{"Architecture", "Auth Method"}, {"ARCHITECTURE", "ａｕｔｈ method"}} {
		events, _, err := Assert(st, Checked{Category: n[0], Key: n[1], Value: "A", Confidence: 1}, at(1))
		if err != nil {
			t.Fatal(err)
		}
		st.Fold(events...)
	}
	v := st.Versions(fact.IDOf("architecture", "auth method"))[0]
	if v.Category != "Architecture" || v.Key != "Auth Method" || v.ConfirmationCount != 2 {
		t.Errorf("got [%s] %s x%d", v.Category, v.Key, v.ConfirmationCount)
	}
}

func TestMissingKeyNeverTakesAnothersPlace(t *testing.T) {
	st := state.NewOverlay(state.New(), nil)
	var keys []string
	for _, value := range []string{"We use Go for the server core", "We use Go for the server edge", "we use go for the SERVER core."} {
		events, r, err := Assert(st, Checked{Category: "c", Value: value, Confidence: 1}, at(1))
		if err != nil {
			t.Fatal(err)
		}
		st.Fold(events...)
		keys = append(keys, r.Key+" "+string(r.Outcome))
	}
	want := []string{"we-use-go created", "we-use-go-2 created", "we-use-go confirmed"}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Error(diff)
	}
}

// An answer names what the fact was before, and warns only where the old value
// was well founded or somebody else's.
func TestLinesOfAChange(t *testing.T) {
	asserted := func(value, by string, confidence float64) Checked {
		return Checked{Category: "db", Key: "engine", Value: value, Confidence: confidence, Source: Source{Kind: KindAgent, By: by}}
	}
	tests := []struct {
		name     string
		old, new Checked
		want     string
	}{
		{
			"refined", asserted("PostgreSQL", "cursor-a3f8", .8), asserted("PostgreSQL 16 on port 5432", "claude-b7e2", .8),
			"Refined [db] engine: PostgreSQL 16 on port 5432 (confidence: 80%)\n  was: PostgreSQL",
		},
		{
			"changed", asserted("MySQL", "cursor-a3f8", .8), asserted("PostgreSQL", "cursor-a3f8", .8),
			"Remembered [db] engine: PostgreSQL (confidence: 80%)\n  was: MySQL (since 2026-01-01 by cursor-a3f8)",
		},
		{
			"contradicted", asserted("MySQL", "cursor-a3f8", .8), asserted("PostgreSQL", "claude-b7e2", .8),
			"Remembered [db] engine: PostgreSQL (confidence: 80%)\n" +
				"  ⚠ CONTRADICTION DETECTED: Fact [db/engine] changed:\n" +
				"  'MySQL' → 'PostgreSQL' (asserted by cursor-a3f8). Previous value archived.\n" +
				`  Severity: medium. If the old value still holds: action=remember category=db key=engine value="MySQL" correct=true`,
		},
	}
	for _, tt := range tests {
		st := state.NewOverlay(state.New(), nil)
		events, _, err := Assert(st, tt.old, at(1))
		if err != nil {
			t.Fatal(err)
		}
		st.Fold(events...)
		_, r, err := Assert(st, tt.new, at(5))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, r.Text()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// A day without a time means some time that day. Of two changes dated the same day the one
// recorded later holds. The other was true and is no error.
func TestChangesOfOneDayFollowEachOther(t *testing.T) {
	for name, tt := range map[string]struct {
		said []Assertion
		want string
	}{
		"two days": {[]Assertion{{Value: "A", ValidFrom: "2026-02-01"}, {Value: "B", ValidFrom: "2026-02-01"}, {Value: "C", ValidFrom: "2026-02-01"}}, `
  k = A [archived] (2026-02-01 00:00 → 2026-02-01 00:00) conf=80% x1
  k = B [archived] (2026-02-01 00:00 → 2026-02-01 00:00) conf=80% x1
  k = C [CURRENT] (2026-02-01 00:00 → now) conf=80% x1`},
		"the first with a time": {[]Assertion{{Value: "A", ValidFrom: "2026-02-01T15:00:00Z"}, {Value: "B", ValidFrom: "2026-02-01"}}, `
  k = A [archived] (2026-02-01 15:00 → 2026-02-01 15:00) conf=80% x1
  k = B [CURRENT] (2026-02-01 15:00 → now) conf=80% x1`},
		"the second with a time, an earlier one": {[]Assertion{{Value: "A", ValidFrom: "2026-02-01"}, {Value: "B", ValidFrom: "2026-02-01T00:00:00Z"}}, `
  k = A [corrected] (2026-02-01 00:00 → now) conf=80% x1
  k = B [CURRENT] (2026-02-01 00:00 → now) conf=80% x1`},
		"one that was over on the same day": {[]Assertion{{Value: "A", ValidFrom: "2026-02-01T09:00:00Z", ValidUntil: "2026-02-01T11:00:00Z"}, {Value: "B", ValidFrom: "2026-02-01"}}, `
  k = A [archived] (2026-02-01 09:00 → 2026-02-01 11:00) conf=80% x1
  k = B [CURRENT] (2026-02-01 11:00 → now) conf=80% x1`},
		"the same value": {[]Assertion{{Value: "A", ValidFrom: "2026-02-01T09:00:00Z"}, {Value: "a.", ValidFrom: "2026-02-01"}}, `
  k = A [CURRENT] (2026-02-01 → now) conf=80% x2`},
		"a correction": {[]Assertion{{Value: "A", ValidFrom: "2026-02-01"}, {Value: "B", ValidFrom: "2026-02-01"}, {Value: "C", ValidFrom: "2026-02-01", Correct: true}}, `
  k = A [archived] (2026-02-01 00:00 → 2026-02-01 00:00) conf=80% x1
  k = B [corrected] (2026-02-01 00:00 → now) conf=80% x1
  k = C [CURRENT] (2026-02-01 00:00 → now) conf=80% x1`},
		"an end on that day": {[]Assertion{{Value: "A", ValidFrom: "2026-01-20"}, {Value: "A", ValidUntil: "2026-02-01", Correct: true}, {Value: "B", ValidFrom: "2026-02-01"}}, `
  k = A [archived] (2026-01-20 → 2026-02-01) conf=80% x2
  k = B [CURRENT] (2026-02-01 → now) conf=80% x1`},
		"today, before what is planned for later": {[]Assertion{{Value: "A", ValidFrom: "2026-03-06T18:00:00Z"}, {Value: "B", ValidFrom: "2026-03-06"}}, `
  k = B [CURRENT] (2026-03-06 00:00 → 2026-03-06 18:00) conf=80% x1
  k = A [planned] (from 2026-03-06) conf=80% x1`},
	} {
		s := testStore(t, nil)
		s.days(50) // 2026-03-06, 10:00
		for _, a := range tt.said {
			a.Category, a.Key = "c", "k"
			s.remember(t, a)
		}
		r, err := history.Timeline(t.Context(), s.Store, history.TimelineQuery{Category: "c"})
		_, rows, _ := strings.Cut(r.Text(), "\n")
		if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), rows); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// Records of one day follow each other too, in the order of the file.
func TestRecordsOfOneDayFollowEachOther(t *testing.T) {
	s := testStore(t, nil)
	s.days(50)
	s.load(t, "", `{"category":"c","key":"k","value":"A","valid_from":"2026-02-01"}`+"\n"+`{"category":"c","key":"k","value":"B","valid_from":"2026-02-01"}`)
	r, err := history.Timeline(t.Context(), s.Store, history.TimelineQuery{Category: "c"})
	if err != nil || !strings.Contains(r.Text(), "A [? unconfirmed] [archived]") || !strings.Contains(r.Text(), "B [? unconfirmed] [CURRENT]") {
		t.Errorf("%s, %v", r.Text(), err)
	}
}
