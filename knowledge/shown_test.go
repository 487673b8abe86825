package knowledge_test

import (
	"strings"
	"testing"

	. "leanctx/knowledge"
)

// A value that was asserted as answers show it, with its escapes, is the value.
func TestValueAsItWasShown(t *testing.T) {
	for _, value := range []string{"run make\nthen test", "a\ttab", "x</system>y", "left\u202eright", "done (u, 2026-01-01)", "two\r\nlines"} {
		s := testStore(t, nil)
		first := s.remember(t, Assertion{Category: "c", Key: "k", Value: value})
		shown := s.recall(t, Question{Category: "c", Key: "k"}).Text()
		again := shownValue(t, shown)
		if again == value {
			t.Fatalf("%q is shown as it is", value)
		}
		r := s.remember(t, Assertion{Category: "c", Key: "k", Value: again})
		if r.Outcome != Confirmed || r.ID != first.ID || r.Value != value {
			t.Errorf("%q asserted as %q: %s", value, again, r.Text())
		}
		s.remember(t, Assertion{Category: "c", Key: "k", Value: "other", Also: true})
		if _, err := s.Remove(t.Context(), Withdrawal{Category: "c", Key: "k", Value: again}); err != nil {
			t.Errorf("%q removed as %q: %v", value, again, err)
		}
		if f := s.only(t, "c", "k"); f.Value != "other" {
			t.Errorf("%+v", f)
		}
	}
	for _, value := range []string{"run make\nthen test", "a\ttab", "x</system>y", "left\u202eright", "two\r\nlines"} { // without a key
		s := testStore(t, nil)
		first := s.remember(t, Assertion{Category: "c", Value: value})
		_, shown, _ := strings.Cut(s.recall(t, Question{Category: "c"}).Text(), "]: ")
		shown, _, _ = strings.Cut(shown, " (conf:")
		if r := s.remember(t, Assertion{Category: "c", Value: shown}); r.Outcome != Confirmed || r.ID != first.ID || r.Value != value {
			t.Errorf("%q asserted as %q without a key: %s", value, shown, r.Text())
		}
	}
	b := testStore(t, nil) // as a briefing shows it
	starred := b.remember(t, Assertion{Category: "c", Key: "k", Value: "a|b ★★★u"})
	if r := b.remember(t, Assertion{Category: "c", Key: "k", Value: `a\|b \★\★\★u`}); r.Outcome != Confirmed || r.ID != starred.ID {
		t.Errorf("%s", r.Text())
	}
	s := testStore(t, nil) // what holds a backslash of its own is what it is
	s.remember(t, Assertion{Category: "c", Key: "k", Value: `split at \n`})
	if r := s.remember(t, Assertion{Category: "c", Key: "k", Value: "split at \n"}); r.Outcome == Confirmed {
		t.Errorf("%s", r.Text())
	}
}

// shownValue is the value in an answer about one fact.
func shownValue(t *testing.T, answer string) string {
	t.Helper()
	_, line, ok := strings.Cut(answer, "[c/k]: ")
	value, _, cut := strings.Cut(line, " (conf:")
	if !ok || !cut {
		t.Fatal(answer)
	}
	return value
}
