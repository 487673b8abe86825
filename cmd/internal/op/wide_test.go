package op

import (
	"testing"

	"leanctx/internal/prose"
)

type told struct {
	Values []string `json:"values"`
}

func (r told) Text() string {
	return "Facts:\n  [a/b]: " + prose.Line(r.Values[0]) + " (conf: 80%)\n  [a/c]: " + prose.Brief(r.Values[1])
}

// At a terminal a value of several lines stands on several lines; what its writer typed as \n stays as it is.
func TestSeveralLinesAtATerminal(t *testing.T) {
	for _, x := range []struct{ first, second, want string }{
		{"make\n  test", "make\n  test\nagain", "Facts:\n  [a/b]: make\n        test (conf: 80%)\n  [a/c]: make\n        test\n      again"},
		{`a\nb`, "c", "Facts:\n  [a/b]: a\\nb (conf: 80%)\n  [a/c]: c"},
		{"one", "two", "Facts:\n  [a/b]: one (conf: 80%)\n  [a/c]: two"},
	} {
		a := Answer{Result: told{[]string{x.first, x.second}}}
		if got, err := a.RenderWide(); got != x.want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, x.want)
		}
	}
}
