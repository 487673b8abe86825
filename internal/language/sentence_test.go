package language

import (
	"slices"
	"strings"
	"testing"
)

func TestSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"We use bleve. It is fast! Is it?  Yes":                 {"We use bleve.", "It is fast!", "Is it?", "Yes"},
		"one line\nanother. \n\n third":                         {"one line", "another.", "third"},
		"Use Go 1.26.1, e.g. for iter. Not cf. the old one.":    {"Use Go 1.26.1, e.g. for iter.", "Not cf. the old one."},
		"Dr. Who and J. Smith own it. No. 5 too. No. We don't.": {"Dr. Who and J. Smith own it.", "No. 5 too.", "No.", "We don't."},
		"1. Build it. 2. Ship it to us-east-1. Then rest.":      {"1. Build it.", "2. Ship it to us-east-1.", "Then rest."},
		"我们用 Postgres。以前用 MySQL。":                               {"我们用 Postgres。", "以前用 MySQL。"},
		"see main.go: it starts":                                {"see main.go: it starts"},
		" \n . ":                                                {"."},
		"":                                                      nil,
	} {
		if got := slices.Collect(Sentences(text)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if n := SentenceEnd("a: b. c", ":;"); n != 2 {
		t.Error(n)
	}
	for _, c := range []struct {
		text  string
		least int
		want  string
	}{{"No. Use tabs here. Always.", 12, "No. Use tabs here."}, {"No. Yes. So.", 0, "No."}, {"short", 20, "short"}, {"  ", 0, ""}} {
		if got := FirstSentence(c.text, c.least); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	for text := strings.Repeat("a. \xff", 1000); text != ""; text = text[1:] {
		if n := SentenceEnd(text, ""); n < 1 || n > len(text) {
			t.Fatal(n)
		}
	}
}
