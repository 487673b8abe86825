package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leanctx/internal/journal"
)

// odd is a decision for events of any form.
func odd(events ...any) func(struct{}, time.Time) ([]any, error) {
	return func(struct{}, time.Time) ([]any, error) { return events, nil }
}

// A commit that is intact and not understood, as one of a newer version, stops nobody from
// reading: the state is that before it, and the commit is named. Nothing is written on such a
// state, and the commit and what follows it stay as they are.
func TestACommitThatIsNotUnderstood(t *testing.T) {
	for name, strange := range map[string][]any{
		"no object":       {"x"},
		"null":            {nil, nil},
		"an empty object": {map[string]any{}},
		"an unknown kind": {map[string]any{"Key": "b", "Add": 1}, map[string]any{"newer": map[string]any{"Key": "a"}}},
		"another type":    {map[string]any{"Key": 7}},
		"a panic":         {map[string]any{"Key": "a", "Add": 5}, map[string]any{"Key": "panic", "Add": 1}},
	} {
		for _, opened := range []string{"before", "after"} { // whether the reader is there when the commit comes
			t.Run(name+", opened "+opened, func(t *testing.T) {
				dir := t.TempDir()
				l := open(t, dir, nil)
				update(t, l, "a")
				before := update(t, l, "a")
				if opened == "after" {
					l.Close()
				}
				newer, err := journal.Open(dir, oddMachine{}, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, events := range [][]any{strange, {map[string]any{"Key": "a", "Add": 1}}} {
					if _, err := newer.Update(t.Context(), odd(events...)); err != nil {
						t.Fatal(err)
					}
				}
				newer.Close()
				text, err := os.ReadFile(filepath.Join(dir, "state.journal"))
				if err != nil {
					t.Fatal(err)
				}
				if opened == "after" {
					l = open(t, dir, nil)
				}
				for range 2 { // again, after a write was refused
					got, head := view(t, l)
					if got["a"] != 2 || got["b"] != 0 || got["panic"] != 0 || head.Seq != before.Seq || head.Sum != before.Sum || !head.At.Equal(before.At) {
						t.Errorf("read %v at %+v, want 2 at %+v", got, head, before)
					}
					if _, err := l.Update(t.Context(), add("a")); !errors.Is(err, journal.ErrNewer) || !strings.Contains(err.Error(), "commit 3 is intact and not understood") {
						t.Errorf("written: %v", err)
					}
				}
				if w := l.Warnings(); len(w) != 1 || w[0].Kind != journal.Unknown || w[0].Seq != 3 || !strings.Contains(w[0].Text, "commit 3") {
					t.Errorf("warnings %+v", w)
				}
				if now, err := os.ReadFile(filepath.Join(dir, "state.journal")); err != nil || string(now) != string(text) {
					t.Errorf("the journal is another: %v", err)
				}
			})
		}
	}
}
