package tasks

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whoever erases something is told of each task that holds it anywhere.
func TestCopies(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	var want []string
	for i, step := range []func(id string) error{
		func(string) error { return nil },
		func(id string) error { _, err := s.Message(t.Context(), Comment{id, "magic"}); return err },
		func(id string) error {
			_, err := s.Update(t.Context(), Update{TaskID: id, State: "Working", Message: "magic"})
			return err
		},
		func(id string) error {
			_, err := s.Update(t.Context(), Update{TaskID: id, Artifact: "magic"})
			return err
		},
	} {
		id := made(t, s, Draft{Title: "plain " + strings.Repeat("x", i)})
		if err := step(id); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			want = append(want, "task:"+id)
		}
	}
	want = append(want, "task:"+made(t, s, Draft{Title: "magic"}), "task:"+made(t, s, Draft{Title: "y", Description: "so magic"}),
		"task:"+made(t, s, Draft{Title: "z", References: []string{"magic/word"}}))
	refs, err := s.Copies(t.Context(), func(text string) bool { return strings.Contains(text, "magic") })
	sorted := cmp.Transformer("sorted", func(list []string) map[string]bool {
		all := map[string]bool{}
		for _, x := range list {
			all[x] = true
		}
		return all
	})
	if d := cmp.Diff(want, refs, sorted); d != "" || err != nil || len(refs) != len(want) {
		t.Error(err, d)
	}
}
