package replica

import (
	"errors"
	"strings"
	"testing"
	"time"

	"leanctx/formats"
)

// A member that this version does not know comes with a line, unless it is nested so deep that a
// fact file, which is indented, would grow with the square of it.
func TestLineNestedTooDeepIsDamaged(t *testing.T) {
	for depth, want := range map[int]error{10: nil, 5000: errDamaged} {
		l := &Line{ID: "9c41e07d-1", At: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), Op: opAssert, Category: "arch", Key: "k", Value: "v", Versions: []*formats.Fact{{
			ID: "f-1", Extra: formats.Unknown{"later": formats.Raw(strings.Repeat("[", depth) + strings.Repeat("]", depth))},
		}}}
		if err := l.encode(); err != nil {
			t.Fatal(err)
		}
		got, err := parse(l.text)
		if !errors.Is(err, want) || err == nil && len(got.Versions[0].Extra["later"]) != 2*depth {
			t.Errorf("depth %d: %+v, %v, want %v", depth, got, err, want)
		}
	}
}
