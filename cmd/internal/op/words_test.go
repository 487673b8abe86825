package op

import (
	"errors"
	"strings"
	"testing"
)

func TestCommandLine(t *testing.T) {
	_, err := sampleTool().Call(t.Context(), "remember", nil)
	u, _ := errors.AsType[*UsageError](err)
	if want := `sample remember "JWT RS256" --category architecture --key auth`; u.CommandLine() != want {
		t.Errorf("got %s, want %s", u.CommandLine(), want)
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{
		"auth": "auth", "a/b.go:12": "a/b.go:12", "": `""`, "two words": `"two words"`, "$x": `'$x'`, "it's $1": `'it'\''s $1'`, "ключ": `"ключ"`,
	} {
		if got := shellWord(in); got != want {
			t.Errorf("shellWord(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"remember", "recall", "remove", "remind", "remind_done", "timeline", "relations"}
	for given, want := range map[string]string{
		"remeber": "remember", "RECAL": "recall", "time": "timeline", "rem": "remember", "remind-dne": "remind_done",
		"relation": "relations", "xyz": "", "": "", strings.Repeat("r", 1000): "",
	} {
		if got, _ := nearest(given, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", given, got, want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	type odd struct {
		M map[string]string `json:"m"`
	}
	for name, make := range map[string]func(){
		"a type no parameter has": func() { New("x", "", Reads, see[odd]) },
		"a required stranger":     func() { New("x", "", Reads, see[ballot], "nothing") },
		"no struct":               func() { New("x", "", Reads, see[int]) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("accepted")
				}
			}()
			make()
		})
	}
}
