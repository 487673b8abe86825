package share

import (
	"fmt"
	"strings"
	"testing"

	"leanctx/internal/prose"
)

// A pull is bounded, and what it did not give waits: after enough of them every byte was given
// once, to each receiver.
func TestPullIsBoundedAndLosesNothing(t *testing.T) {
	b := newBed(t)
	want := map[string]string{
		"a.md":   strings.Repeat("a line of text\n", 12_000),
		"b.md":   "short",
		"c.html": strings.Repeat("<p>\u202e é", 9_000),
		"d.md":   strings.Repeat("日本", 20_000),
		"empty":  "",
	}
	for name, text := range want {
		b.write(name, text)
	}
	b.push(cursor, "", strings.Repeat("look ", 2_000), "a.md", "b.md")
	b.push(cursor, "", "", "c.html", "d.md", "empty")
	for i := range 30 {
		b.push(cursor, "", fmt.Sprint(i, strings.Repeat(" why", 1_000)), "b.md")
	}
	for _, me := range []string{claude, second} {
		got, shares, pulls := map[string]string{}, 0, 0
		for ; pulls < 60; pulls++ {
			if pulls%3 == 2 {
				b.reopen()
			}
			r := b.pull(me, true)
			text := r.Text()
			encoded, err := prose.JSON(r)
			if err != nil || len(text) > prose.MaxAnswer || len(encoded) > prose.MaxAnswer+10_000 {
				t.Errorf("%d and %d bytes, %v", len(text), len(encoded), err)
			}
			if len(r.Shares) == 0 {
				break
			}
			if rest := strings.Contains(text, "pull again"); rest != (r.Waiting > 0) {
				t.Errorf("%d wait: %s", r.Waiting, text[len(text)-200:])
			}
			for _, x := range r.Shares {
				for _, f := range x.Files {
					if f.Content != nil && (f.Path != "b.md" || x.Files[0].Path == "a.md") {
						if len(got[f.Path]) != f.From {
							t.Errorf("%s from %d after %d bytes", f.Path, f.From, len(got[f.Path]))
						}
						got[f.Path] += *f.Content
					}
				}
			}
			shares += len(r.Shares)
		}
		for name, text := range want {
			if got[name] != text {
				t.Errorf("%s: %d bytes of %d", name, len(got[name]), len(text))
			}
		}
		if shares < 32 || pulls < 8 || pulls == 60 {
			t.Errorf("%d shares in %d pulls", shares, pulls)
		}
	}
}
