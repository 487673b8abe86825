package knowledge_test

import (
	"fmt"
	"strings"
	"testing"

	. "leanctx/knowledge"
	"leanctx/knowledge/briefing"
	"leanctx/knowledge/listing"
)

// A reminder has an author. The user's come first and are finished by the user alone; what an agent wants to be
// reminded of bears its name, is bounded, and gives way.
func TestRemindersHaveAuthors(t *testing.T) {
	s := testStore(t, nil)
	user := s.Store.As(Actor{Kind: KindUser})
	mine, err := Remind(t.Context(), user, NewReminder{Value: "rotate the signing key", Path: "src/**", Due: "2026-01-15"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := RemindDone(t.Context(), s.Store, Done{ID: mine.Reminder.ID}); err == nil || !strings.Contains(err.Error(), "the user's") {
		t.Errorf("an agent finished the user's: %v", err)
	}
	for _, a := range []NewReminder{{Value: strings.Repeat("x", 3000), Keyword: "k"}, {Value: "hide the others", Due: "2020-01-01"}} {
		if _, err := Remind(t.Context(), s.Store, a); err == nil {
			t.Errorf("taken: %.40q", a)
		}
	}
	n := 0
	for ; n < 1000; n++ {
		if _, err = Remind(t.Context(), s.Store, NewReminder{Value: fmt.Sprintf("The user said: run it %d", n), Path: "**", Due: "2026-01-15"}); err != nil {
			break
		}
	}
	if n != 199 || !strings.Contains(err.Error(), "200 reminders are open") {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := Remind(t.Context(), user, NewReminder{Value: "ask me first", Path: "src/a.go"}); err != nil {
		t.Errorf("the user's has no place: %v", err)
	}
	list, err := listing.Triggered(t.Context(), s.Store, "src/a.go")
	if err != nil || len(list) != 200 || list[0].Text != "rotate the signing key" || list[1].Text != "ask me first" {
		t.Errorf("%d, %v", len(list), err)
	}
	b, err := briefing.Wakeup(t.Context(), s.Store, briefing.Query{})
	if err != nil || len(b.Reminders) < 2 || b.Reminders[0] != "rotate the signing key" || !strings.HasSuffix(b.Reminders[1], "(by cursor-a3f8)") {
		t.Errorf("%q, %v", b.Reminders, err)
	}
	if _, err := RemindDone(t.Context(), s.Store, Done{ID: list[2].ID}); err != nil {
		t.Errorf("an agent's own: %v", err)
	}
	if r, err := RemindDone(t.Context(), s.Store, Done{ID: mine.Reminder.ID, Source: "user"}); err != nil || r.Reminder.State != "done" {
		t.Errorf("the user's, on the user's word: %v", err)
	}
}
