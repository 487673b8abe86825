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
		if err := l.encode(nil); err != nil {
			t.Fatal(err)
		}
		got, err := parse(l.text)
		if !errors.Is(err, want) || err == nil && len(got.Versions[0].Extra["later"]) != 2*depth {
			t.Errorf("depth %d: %+v, %v, want %v", depth, got, err, want)
		}
	}
}

// A member that this version does not know is the same however its strings are escaped: earlier
// versions wrote < as \u003c. Else the first sync would write everything again.
func TestEscapesAreNoDifference(t *testing.T) {
	of := func(value string) formats.Pattern {
		return formats.Pattern{Type: "p", Extra: formats.Unknown{"later": formats.Raw(value)}}
	}
	if !equal(of(`{"a":["\u003cb\u003e \u0026 \/ \u2028"]}`), of("{\"a\":[\"<b> & / \u2028\"]}")) {
		t.Error("they differ by their escapes")
	}
	if equal(of(`12345678901234567890`), of(`12345678901234567891`)) {
		t.Error("two large numbers are equal")
	}
}
