package knowledge_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	. "leanctx/knowledge"
	"leanctx/knowledge/briefing"
)

// What an agent works on begins its briefing, before what is pinned, and nobody
// else's.
func TestBriefingBeginsWithTheTask(t *testing.T) {
	on := map[string]string{"cursor-a3f8": "Mend the gateways of billing", "claude-b7e2": "the and for"}
	current := func(_ context.Context, agent string) (string, error) {
		if agent == "broken-0000" {
			return "", errors.New("tasks.json: corrupt")
		}
		return on[agent], nil
	}
	for _, tt := range []struct{ agent, briefed string }{
		{"cursor-a3f8", "zeta gateways billing alpha omega"},
		{"claude-b7e2", "zeta alpha billing gateways omega"},
		{"", "zeta alpha billing gateways omega"},
		{"broken-0000", "zeta alpha billing gateways omega"},
	} {
		s := testStore(t, &Options{Intent: current}).As(Actor{Agent: tt.agent})
		for _, key := range []string{"alpha", "billing", "gateways", "omega"} {
			must[Remembered](t)(s.Remember(t.Context(), Assertion{Category: "service", Key: key + " port", Value: "listens there"}))
		}
		must[Remembered](t)(s.Remember(t.Context(), Assertion{Category: "service", Key: "zeta port", Value: "a port", Pinned: new(true)}))
		b := must[briefing.Selection](t)(briefing.Wakeup(t.Context(), s, briefing.Query{}))
		var got []string
		for _, p := range b.Rooms[0].Pairs {
			got = append(got, strings.TrimSuffix(p.Key, " port"))
		}
		if strings.Join(got, " ") != tt.briefed {
			t.Errorf("%q: the briefing gives %v, not %s", tt.agent, got, tt.briefed)
		}
	}
}

// Every question about now meets a reminder that is due, or whose task has come to its state.
// One with a keyword is met by questions that have the keyword.
func TestRecallMeetsReminders(t *testing.T) {
	s := testStore(t, &Options{Coworkers: office{states: map[string]string{"t-1": "Completed"}}})
	for _, a := range []NewReminder{
		{Value: "task is there", Task: "t-1:Completed"}, {Value: "task is not", Task: "t-1:Failed"},
		{Value: "was due", Due: "2020-01-01"}, {Value: "will be due", Due: "2999-01-01"}, {Value: "has a word", Keyword: "jwt"},
	} {
		if _, err := Remind(t.Context(), s.As(Actor{Kind: KindUser}), a); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Remember(t.Context(), Assertion{Category: "a", Key: "auth", Value: "JWT"}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		q    Question
		want string
	}{
		{Question{Query: "jwt"}, "was due|task is there|has a word"},
		{Question{Query: "other"}, "was due|task is there"},
		{Question{Category: "a"}, "was due|task is there"},
		{Question{Category: "a", AsOf: "2021-01-01"}, ""},
	} {
		r, err := s.Recall(t.Context(), tt.q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range r.Reminders {
			got = append(got, x.Text)
		}
		if strings.Join(got, "|") != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.q, got, tt.want)
		}
	}
}
