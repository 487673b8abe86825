package tasks

import (
	"testing"
	"time"

	"leanctx/internal/proctest"
)

// No number and no time that a member of a team writes into a task keeps others from changing it, or
// from listing it. Each integer of each event is tried.
func TestNumbersOfATaskStopNobody(t *testing.T) {
	mine := func() *record {
		return &record{Task: Task{ID: "t-abcdef", Project: hash, State: Created, Title: "x", CreatedBy: "claude-beef", CreatedAt: epoch, Messages: 1, Order: 1},
			thread: thread{History: []Transition{{To: Created, By: "claude-beef", At: epoch}}, Messages: []Message{{By: "claude-beef", At: epoch, Text: "m"}}}}
	}
	try := func(name string, events ...event) {
		t.Run(name, func(t *testing.T) {
			s := open(t, t.TempDir(), nil)
			if err := s.update(t.Context(), func(project, time.Time) ([]event, error) { return events, nil }); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				l, err := s.List(t.Context(), Query{State: "all"})
				if err != nil {
					t.Fatal(err)
				}
				_ = l.Text()
			}
			if err := s.update(t.Context(), func(p project, _ time.Time) ([]event, error) {
				if p["t-abcdef"] == nil { // the record was void
					return nil, nil
				}
				return []event{{Change: &change{Project: hash, ID: "t-abcdef", By: "claude-beef", Message: "more"}}}, nil
			}); err != nil {
				t.Fatal(err)
			}
			d, err := s.Get(t.Context(), TaskRef{TaskID: "abcdef"})
			if err != nil {
				return
			}
			if d.Task.Messages < 1 || d.Thread[len(d.Thread)-1].Text != "more" {
				t.Errorf("%d messages: %+v", d.Task.Messages, d.Thread)
			}
		})
	}
	proctest.Extremes(t, event{Create: mine()}, func(name string, e event) { try("create"+name, e) })
	proctest.Extremes(t, event{Change: &change{Project: hash, ID: "t-abcdef", By: "claude-beef", Planned: &planned{Title: "t", Plan: "f#x", Order: 1}}}, func(name string, e event) {
		try("change"+name, event{Create: mine()}, e)
	})
	late := mine()
	late.UpdatedAt = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	try("a time far ahead", event{Create: late})
}
