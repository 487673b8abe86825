package diary

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"leanctx/internal/journal"
)

// On a full disk, whatever it is that fails, a diary gives all entries that were acknowledged, or says why it cannot.
func TestAFullDiskHidesNoEntry(t *testing.T) {
	ctx := t.Context()
	owner := Owner{AgentID: "cursor-a3f8", AgentType: "cursor"}
	for from := range 400 {
		n, full := 0, false
		fault := func(string, string) error {
			if n++; full && n > from {
				return syscall.ENOSPC
			}
			return nil
		}
		dir := t.TempDir()
		o := &Options{LongLived: true, Now: func() time.Time { return time.Date(2026, 1, 15, 10, 0, 0, 0, time.UTC) }, Fault: fault}
		s := New(dir, o)
		var acknowledged, doubtful []string
		enter := func(text string) {
			switch _, err := s.Enter(ctx, owner, Entry{Type: Discovery, Text: text}); {
			case err == nil:
				acknowledged = append(acknowledged, text)
			case errors.Is(err, journal.ErrInDoubt):
				doubtful = append(doubtful, text)
			}
		}
		look := func(s *Dir, when string) {
			t.Helper()
			ids, err := s.Writers()
			if err != nil || !slices.Contains(ids, owner.AgentID) {
				t.Errorf("%s, from %d: the diaries are %q, %v", when, from, ids, err)
			}
			list, err := s.Entries(ctx, owner.AgentID)
			var got []string
			for _, e := range list {
				if !slices.Contains(doubtful, e.Text) {
					got = append(got, e.Text)
				}
			}
			if err == nil && !slices.Equal(got, acknowledged) {
				t.Errorf("%s, from %d: %q, want %q", when, from, got, acknowledged)
			}
		}
		for i := range 3 {
			enter(fmt.Sprint("before ", i))
		}
		n, full = 0, true
		for i := range 2 {
			enter(fmt.Sprint("on the full disk ", i))
			_ = s.Compact(ctx, owner.AgentID)
			look(s, "the server")
			look(New(dir, &Options{Fault: fault}), "a command")
		}
		done := n < from
		_ = s.Close()
		look(New(dir, &Options{Fault: fault}), "after the close")
		full = false
		look(New(dir, nil), "with room")
		if done {
			return
		}
	}
	t.Error("the disk was never full late enough")
}
