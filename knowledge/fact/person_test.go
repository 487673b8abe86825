package fact

import (
	"strings"
	"testing"
)

// A name from outside is one visible line, and no kind of source.
func TestPerson(t *testing.T) {
	for name, want := range map[string]string{
		"Ann": "Ann", "  Ann \t Lee\n": "Ann Lee", "Zoë": "Zoë", "An\u202en\u200b\x1b": "Ann", "李雷": "李雷", "\xff": "",
		"user": "", "User": "", "agent": "", "tool:cli": "", "user of 9c41e07d": "", "": "",
	} {
		if got := Person(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := Person(strings.Repeat("x", 10_000)); len([]rune(got)) > maxPerson+1 {
		t.Errorf("%d letters", len([]rune(got)))
	}
}
