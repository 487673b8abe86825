package notice

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"leanctx/internal/journal"
)

// A server that does not answer is no damage: nothing on this machine is wrong.
func TestAServerThatIsAwayIsNoDamage(t *testing.T) {
	found, aside := Damage("dir", []journal.Warning{{Kind: journal.Offline, Text: "away"}, {Kind: journal.Lost, Text: "lost"}}, journal.Stats{})
	if d := cmp.Diff([]string{"lost"}, found); d != "" || aside != nil {
		t.Error(d, aside)
	}
}
