package notice

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"leanctx/internal/journal"
)

// That the team's server is away is taken once, and apart from the rest.
func TestAway(t *testing.T) {
	var b Pending
	away, lost := journal.Warning{Kind: journal.Offline, Text: "away"}, journal.Warning{Text: "lost"}
	if got := b.Take([]journal.Warning{away, lost}); !slices.Equal(got, []string{"lost"}) {
		t.Errorf("%q", got)
	}
	for _, want := range []string{"away", ""} {
		if got := b.Away([]journal.Warning{away, lost}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestPending(t *testing.T) {
	var b Pending
	b.Add("%d found", 1)
	b.Add("1 found")
	torn, lost := journal.Warning{Text: "torn"}, journal.Warning{Text: "lost"}
	for i, step := range []struct {
		warnings []journal.Warning
		want     []string
	}{
		{[]journal.Warning{torn}, []string{"1 found", "torn"}},
		{[]journal.Warning{torn}, nil},
		{[]journal.Warning{torn, lost}, []string{"lost"}},
		{nil, nil}, // the journal was opened anew
		{[]journal.Warning{lost}, []string{"lost"}},
	} {
		if d := cmp.Diff(step.want, b.Take(step.warnings)); d != "" {
			t.Errorf("step %d: %s", i, d)
		}
	}
}
