package agents

import (
	"errors"
	"strings"
	"testing"
	"time"

	"leanctx/internal/refusal"
)

// refused fails unless err names the argument and is short enough to be read.
func refused(t *testing.T, what string, err error) {
	t.Helper()
	if bad, ok := errors.AsType[*refusal.ArgumentError](err); !ok || bad.Argument != "x" || len(bad.Problem) > 250 {
		t.Errorf("%s: %v", what, err)
	}
}

func TestDuration(t *testing.T) {
	for given, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, " 10M ": 10 * time.Minute, "1d": 24 * time.Hour, "1s": time.Second, "0h5m": 5 * time.Minute,
	} {
		if got, err := readDuration("x", given, time.Second, 24*time.Hour); got != want || err != nil {
			t.Errorf("%q: %v, %v", given, got, err)
		}
	}
	for _, given := range []string{
		"", "10", "m", "-5m", "1.5h", "5 m", "1h-30m", "ten minutes", "5y", "0s", "2d", "1w", "99999999999999999999h", "2147483647w2147483647w", strings.Repeat("1h", 1000),
	} {
		_, err := readDuration("x", given, time.Second, 24*time.Hour)
		refused(t, given, err)
	}
}

func TestWord(t *testing.T) {
	for given, want := range map[string]string{"Cursor": "cursor", " a-b-1 ": "a-b-1", "x": "x"} {
		if got, err := checkedWord("x", given, 6); got != want || err != nil {
			t.Errorf("%q: %q, %v", given, got, err)
		}
	}
	for _, given := range []string{"", " ", "-a", "a-", "a b", "a/b", "ä", "\x00", strings.Repeat("a", 7), strings.Repeat("?", 1000)} {
		_, err := checkedWord("x", given, 1000)
		if len(given) == 7 {
			_, err = checkedWord("x", given, 6)
		}
		refused(t, given, err)
	}
}

func TestText(t *testing.T) {
	if got, err := checkedText("x", " a\xffb\n", 4); got != "a\ufffdb" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	for _, given := range []string{"", " \n\t", "12345"} {
		_, err := checkedText("x", given, 4)
		refused(t, given, err)
	}
}

// Agents of a kind work in a client when the words of the one begin with the
// other's.
func TestWorksIn(t *testing.T) {
	for _, c := range []struct {
		kind, client string
		want         bool
	}{
		{"claude", "claude-code", true}, {"claude-code", "claude-code", true}, {"claude-code-reviewer", "claude-code", true},
		{"code", "claude-code", false}, {"code", "vscode", false}, {"claude-desktop", "claude-code", false}, {"claud", "claude-code", false},
		{"gemini-cli", "gemini", true}, {"gemini", "gemini", true}, {"Codex", "codex", true}, {"codex-cli", "codex", true},
		{"sampler", "amp", false}, {"organized-crew", "zed", false}, {"go", "goose", false}, {"dev-amp", "amp", false}, {"", "amp", false},
	} {
		if got := WorksIn(c.kind, c.client); got != c.want {
			t.Errorf("%q in %s: %t", c.kind, c.client, got)
		}
	}
}

// The type of an agent is what stands before the digits of its id.
func TestKindOf(t *testing.T) {
	for id, want := range map[string]string{
		"cursor-a3f8": "cursor", "claude-code-a3f8c1": "claude-code", "cursor": "cursor", "cursor-a3f": "cursor-a3f", "claude-code": "claude-code",
		"cursor-A3F8": "cursor-A3F8", "": "", "-": "-", "x-": "x-", "dead-beef": "dead",
	} {
		if got := KindOf(id); got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
}
