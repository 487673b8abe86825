package knowledge_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "leanctx/knowledge"
	"leanctx/knowledge/briefing"
)

// Somebody who begins a piece of work is first reminded of what its words and files meet.
// Otherwise only reminders that are due are told.
func TestBeginMeetsReminders(t *testing.T) {
	s := testStore(t, &Options{Coworkers: office{states: map[string]string{"t-1": "Completed"}}})
	for _, a := range []NewReminder{
		{Value: "is due", Due: "2020-01-01"}, {Value: "has its task", Task: "t-1:Completed"}, {Value: "on auth", Path: "src/auth/**"},
		{Value: "on tests", Path: "*_test.go"}, {Value: "on tokens", Keyword: "refresh token"}, {Value: "later", Due: "2999-01-01"},
	} {
		must[Reminded](t)(Remind(t.Context(), s.As(Actor{Kind: KindUser}), a))
	}
	for _, tt := range []struct {
		o    briefing.Work
		want string
	}{
		{briefing.Work{}, "is due|has its task"},
		{briefing.Work{Task: "mend the refresh-token flow"}, "on tokens|is due|has its task"},
		{briefing.Work{Task: "refresh all"}, "is due|has its task"},
		{briefing.Work{Files: []string{"src/db/pool.go", "src/auth/jwt.go"}}, "on auth|is due|has its task"},
		{briefing.Work{Task: "the Refresh Token", Files: []string{"src/auth/jwt_test.go"}}, "on auth|on tests|on tokens|is due|has its task"},
		{briefing.Work{Files: []string{"srcs/auth/x", "auth/src.go"}}, "is due|has its task"},
	} {
		b := must[briefing.Selection](t)(briefing.Begin(t.Context(), s.Store, tt.o))
		if got := strings.Join(b.Reminders, "|"); got != tt.want {
			t.Errorf("%+v: %s, not %s", tt.o, got, tt.want)
		}
	}
	if b := must[briefing.Selection](t)(briefing.Wakeup(t.Context(), s.Store, briefing.Query{})); strings.Join(b.Reminders, "|") != "is due|has its task" {
		t.Errorf("wakeup: %q", b.Reminders)
	}
}

// What somebody says it works on goes before what its tasks say, in the briefing.
func TestWhatACallerSaysItWorksOn(t *testing.T) {
	s := testStore(t, nil)
	for _, key := range []string{"alpha", "billing", "omega"} {
		must[Remembered](t)(s.Remember(t.Context(), Assertion{Category: "service", Key: key + " port", Value: "listens there"}))
	}
	first := func(b briefing.Selection) string { return b.Rooms[0].Pairs[0].Key }
	if got := first(must[briefing.Selection](t)(briefing.Begin(t.Context(), s.Store, briefing.Work{Task: "close the omega port"}))); got != "omega port" {
		t.Errorf("the briefing begins with %s", got)
	}
	if got := first(must[briefing.Selection](t)(briefing.Wakeup(t.Context(), s.Store, briefing.Query{Task: "billing"}))); got != "billing port" {
		t.Errorf("wakeup begins with %s", got)
	}
	if d := cmp.Diff(must[briefing.Selection](t)(briefing.Wakeup(t.Context(), s.Store, briefing.Query{})), must[briefing.Selection](t)(briefing.Begin(t.Context(), s.Store, briefing.Work{}))); d != "" {
		t.Error(d)
	}
}

// Names of files are looked for in facts, their sources and lessons, and no fact
// counts as read by that.
func TestNamingIsNoReading(t *testing.T) {
	s := testStore(t, nil)
	must[Remembered](t)(s.Remember(t.Context(), Assertion{Category: "finding", Key: "rounding", Value: "prices are rounded twice", Source: "src/cart.ts:12"}))
	must[Remembered](t)(s.Remember(t.Context(), Assertion{Category: "finding", Key: "else", Value: "nothing to do with it"}))
	must[Learned](t)(Gotcha(t.Context(), s.Store, Mistake{Trigger: "editing src/pool.ts", Resolution: "close it", Severity: "warning"}))
	for _, tt := range []struct {
		task       string
		has, hasNo []string
	}{
		{"why are prices rounded", []string{"src/cart.ts:12"}, []string{"nothing", "pool"}},
		{"edit the pool", []string{"src/pool.ts"}, []string{"cart"}},
		{"", []string{"src/cart.ts:12", "src/pool.ts", "nothing"}, nil},
	} {
		texts, err := Naming(t.Context(), s.Store, tt.task, 20)
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(texts, "\n")
		for _, w := range tt.has {
			if !strings.Contains(all, w) {
				t.Errorf("%q: no %s in %q", tt.task, w, all)
			}
		}
		for _, w := range tt.hasNo {
			if strings.Contains(all, w) {
				t.Errorf("%q: %s in %q", tt.task, w, all)
			}
		}
	}
	must[briefing.Selection](t)(briefing.Begin(t.Context(), s.Store, briefing.Work{Task: "why are prices rounded"}))
	if _, err := os.Stat(filepath.Join(s.dir, "retrievals.log")); err == nil {
		t.Error("retrievals were counted")
	}
	must[Recalled](t)(s.Recall(t.Context(), Question{Query: "prices rounded"}))
	if _, err := os.Stat(filepath.Join(s.dir, "retrievals.log")); err != nil {
		t.Error("the recall was not counted: the check above means nothing")
	}
}
