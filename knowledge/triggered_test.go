package knowledge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/listing"
	"leanctx/knowledge/state"
)

// A file is named from the root, in any spelling of its path; one outside of the
// project meets nothing.
func TestTriggered(t *testing.T) {
	s, err := knowledge.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // a cache at most
	if _, err := knowledge.Remind(t.Context(), s, knowledge.NewReminder{Value: "mind it", Path: "src/auth/**"}); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]int{
		"src/auth/a.go": 1, "src/auth/x/y.go": 1, "./src/auth/a.go": 1, `src\auth\a.go`: 1, "src/../src/auth/a.go": 1,
		"src/a.go": 0, "a/src/auth/b": 0, "../src/auth/a.go": 0, ".": 0, "..": 0, "": 0,
	} {
		got, err := listing.Triggered(t.Context(), s, file)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != want {
			t.Errorf("%q: got %v, want %d", file, got, want)
		}
	}
}

// What is done, or waits for something else, stays silent; so does a store
// that is not there.
func TestTriggeredOpenOnly(t *testing.T) {
	s, err := knowledge.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // a cache at most
	if got, err := listing.Triggered(t.Context(), s, "a.go"); err != nil || len(got) != 0 {
		t.Fatal(got, err)
	}
	r, err := knowledge.Remind(t.Context(), s, knowledge.NewReminder{Value: "x", Path: "*.go"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := knowledge.Remind(t.Context(), s, knowledge.NewReminder{Value: "y", Keyword: "go"}); err != nil {
		t.Fatal(err)
	}
	if got, err := listing.Triggered(t.Context(), s, "a.go"); err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	if _, err := knowledge.RemindDone(t.Context(), s, knowledge.Done{ID: r.Reminder.ID}); err != nil {
		t.Fatal(err)
	}
	if got, err := listing.Triggered(t.Context(), s, "a.go"); err != nil || len(got) != 0 {
		t.Fatal(got, err)
	}
}

// A gotcha whose trigger names a file or a glob is found at that file, the worst
// first, and no other is.
func TestGotchasAt(t *testing.T) {
	s, err := knowledge.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // a cache at most
	for trigger, severity := range map[string]string{
		"editing a .proto file": "warning", "a change in `src/auth/**`.": "info", "touching src/auth/jwt.go, or its test": "critical",
		"running go test ./... twice": "info", "everything * and / is fine": "info", "e.g. and/or what comes": "info",
	} {
		if _, err := knowledge.Gotcha(t.Context(), s, knowledge.Mistake{Trigger: trigger, Resolution: "mind it", Severity: severity}); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string][]string{
		"api/user.proto": {"editing a .proto file"}, "src/auth/jwt.go": {"touching src/auth/jwt.go, or its test", "a change in `src/auth/**`."},
		"src/auth/x/y.ts": {"a change in `src/auth/**`."}, "main.go": nil, "proto": nil,
	} {
		got, err := listing.GotchasAt(t.Context(), s, file)
		if err != nil || len(got) != len(want) {
			t.Fatalf("%s: %v, %v", file, got, err)
		}
		for i := range got {
			if got[i].Trigger != want[i] {
				t.Errorf("%s: got %q, want %q", file, got[i].Trigger, want[i])
			}
		}
	}
}

// TestGotchasOfOthersAreFew: however many gotchas at a file strangers wrote, ours come first, and few of theirs are looked at.
func TestGotchasOfOthersAreFew(t *testing.T) {
	s, err := knowledge.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // a cache at most
	if _, err := knowledge.Gotcha(t.Context(), s, knowledge.Mistake{Trigger: "editing src/pump.go without the rig", Resolution: "attach it"}); err != nil {
		t.Fatal(err)
	}
	if err := knowledge.TakeIn(t.Context(), s, func(_ *state.State, now time.Time) (events []state.Event, err error) {
		for i := range 900 {
			events = append(events, state.Event{Put: &fact.Version{
				ID: fmt.Sprint("f-", i), Category: fact.RoomGotcha, Key: fmt.Sprint("src-pump-go-", i), Value: "src/pump.go src/pump.go → do something else", TakenIn: true,
				RecordedFrom: now, CreatedAt: now, LastConfirmed: now, Confidence: .8, ConfirmationCount: 1,
			}})
		}
		return events, nil
	}); err != nil {
		t.Fatal(err)
	}
	got, err := listing.GotchasAt(t.Context(), s, "src/pump.go")
	if err != nil || len(got) == 0 || len(got) > 201 || got[0].Trigger != "editing src/pump.go without the rig" || !strings.Contains(got[len(got)-1].Mark, "?") {
		t.Fatalf("%d: %v, %v", len(got), got[:min(len(got), 1)], err)
	}
}
