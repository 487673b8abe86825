package knowledge_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	. "leanctx/knowledge"
	"leanctx/knowledge/briefing"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/history"
)

// The hint of a contradiction, followed, gives the old value back for the
// period in question and leaves every other period alone.
func TestHintFollowed(t *testing.T) {
	long := "a value that is longer than what an answer shows of it: " + strings.Repeat("words and ", 60) + "an end"
	for _, middle := range []Assertion{
		{Value: "C", ValidFrom: "2026-02-01", ValidUntil: "2026-03-01"},
		{Value: "C", ValidUntil: "2026-08-01"},
		{Value: "C"},
	} {
		s := testStore(t, nil)
		s.now = at(150)
		for range 2 { // a value that was asserted twice is well founded
			s.remember(t, Assertion{Category: "h", Key: "x", Value: long, ValidFrom: "2026-01-01", Confidence: new(.9)})
		}
		s.now = at(160)
		middle.Category, middle.Key = "h", "x"
		r := s.remember(t, middle)
		if r.Contradiction == nil {
			t.Fatalf("%+v: no contradiction", middle)
		}
		s.now = at(161)
		s.remember(t, hinted(t, r.Text()))
		for _, day := range []string{"2026-01-15", "2026-02-15", "2026-05-15", "2026-07-15", "2026-12-15"} {
			f := s.recall(t, Question{Category: "h", Key: "x", AsOf: day}).Facts
			if len(f) != 1 || f[0].Value != long {
				t.Errorf("%+v, taken back: on %s %+v", middle, day, f)
			}
		}
	}
}

// hinted reads the assertion that a hint proposes.
func hinted(t *testing.T, text string) Assertion {
	t.Helper()
	_, hint, ok := strings.Cut(text, "If the old value still holds: ")
	if !ok {
		t.Fatalf("no hint in %s", text)
	}
	hint, _, _ = strings.Cut(hint, "\n")
	a := Assertion{Correct: strings.Contains(hint, "correct=true")}
	for _, m := range regexp.MustCompile(`(\w+)=("(?:[^"\\\\]|\\\\.)*"|\S+)`).FindAllStringSubmatch(hint, -1) {
		value := m[2]
		if v, err := strconv.Unquote(value); err == nil {
			value = v
		}
		switch m[1] {
		case "category":
			a.Category = value
		case "key":
			a.Key = value
		case "value":
			a.Value = value
		case "valid_from":
			a.ValidFrom = value
		case "valid_until":
			a.ValidUntil = value
		}
	}
	return a
}

// A confirmation does not end a fact, and says so; a correction does.
func TestAskedForAnEnd(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "d", Key: "host", Value: "AWS"})
	until := Assertion{Category: "d", Key: "host", Value: "AWS", ValidUntil: "2026-12-31"}
	r := s.remember(t, until)
	if r.Outcome != Confirmed || r.Requested == nil || !strings.Contains(r.Text(), "Asked for was 2026-01-15 → 2026-12-31") {
		t.Errorf("%s", r.Text())
	}
	until.Correct = true
	if r = s.remember(t, until); r.ValidUntil == nil || fact.Day(*r.ValidUntil) != "2026-12-31" {
		t.Errorf("corrected: %s", r.Text())
	}
	why, err := history.Why(t.Context(), s.Store, history.Subject{Category: "d", Key: "host"})
	if err != nil || !strings.Contains(why.Text(), "it was held valid 2026-01-15 → now") {
		t.Errorf("%v, %s", err, why.Text())
	}
}

// The answer tells which resolution a new one takes the place of.
func TestGotchaTellsItsEarlierResolution(t *testing.T) {
	s := testStore(t, nil)
	for i, resolution := range []string{"rerun", "Rerun.", "never rerun"} {
		r, err := Gotcha(t.Context(), s.Store, Mistake{Trigger: "tests flake", Resolution: resolution})
		if want := []string{"recorded", "confirmed 2x", "updated"}[i]; err != nil || !strings.Contains(r.Text(), "Gotcha "+want) {
			t.Errorf("%v, %s", err, r.Text())
		}
		if told := strings.Contains(r.Text(), "was: tests flake → rerun (since"); told != (i == 2) {
			t.Errorf("%s", r.Text())
		}
	}
}

// A briefing never exceeds its budget, pinned facts included. What is pinned
// comes first, a user's before an agent's, and what is left out is counted.
func TestBriefingBudget(t *testing.T) {
	s := testStore(t, nil)
	for i := range 30 {
		n := strconv.Itoa(i)
		s.remember(t, Assertion{Category: "c", Key: "fact-" + n, Value: "value " + n})
		if _, err := Gotcha(t.Context(), s.Store, Mistake{Trigger: "trigger " + n, Resolution: "resolution " + n}); err != nil {
			t.Fatal(err)
		}
		s.remember(t, Assertion{Category: "rules", Key: "rule-" + n, Value: strings.Repeat("a long rule ", 40), Pinned: new(true)})
	}
	s.remember(t, Assertion{Category: "c", Key: "pinned", Value: "always", Confidence: new(.1), Pinned: new(true), Source: "user"})
	for _, budget := range []int{12, 20, 50, 100, 200, 800, 5000} {
		r, err := briefing.Wakeup(t.Context(), s.Store, briefing.Query{Budget: budget})
		if err != nil {
			t.Fatal(err)
		}
		text := r.Text()
		if len(text) > budget*4 {
			t.Errorf("budget %d: %d bytes", budget, len(text))
		}
		if budget >= 50 && !strings.Contains(text, "C:pinned=always") || budget >= 50 && budget <= 800 && !strings.Contains(text, " more") {
			t.Errorf("budget %d: %s", budget, text)
		}
		if budget == 200 && !strings.Contains(text, " pinned)") {
			t.Errorf("nothing tells that pinned facts are missing: %s", text)
		}
		if over := r.OverviewText(); len(over) > budget*4 {
			t.Errorf("budget %d: %d bytes in the overview", budget, len(over))
		}
		for _, room := range r.Rooms {
			for _, p := range room.Pairs {
				if len(p.Value) > 240 {
					t.Errorf("a value of %d bytes", len(p.Value))
				}
			}
		}
	}
}
