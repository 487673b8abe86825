package prose_test

import (
	"strings"
	"testing"

	"leanctx/internal/prose"
)

func TestNearest(t *testing.T) {
	names := []string{"remember", "recall", "remove", "remind", "remind_done", "timeline", "relations"}
	for given, want := range map[string]string{
		"remeber": "remember", "RECAL": "recall", "time": "timeline", "rem": "remember", "remind-dne": "remind_done",
		"relation": "relations", "xyz": "", "": "", strings.Repeat("r", 1000): "",
	} {
		if got, _ := prose.Nearest(given, names); got != want {
			t.Errorf("prose.Nearest(%q) = %q, want %q", given, got, want)
		}
	}
}
