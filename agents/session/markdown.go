package session

import (
	"fmt"
	"strings"

	"leanctx/formats/transcript"
	"leanctx/internal/prose"
)

// markdown is a session as a document: a heading for each turn, what was said below it as it is, and what a tool was asked
// and gave in fences.
func (x Shown) markdown() string {
	var b strings.Builder
	title := x.Session.Title
	if title == "" {
		title = x.Session.ID
	}
	fmt.Fprintf(&b, "# %s\n\n%s, %s, %s", prose.Line(title), x.Session.ID, x.Session.Client, period(x.Session.Began, x.Session.Last))
	if x.header.Branch != "" {
		fmt.Fprintf(&b, ", branch %s", prose.ShortLine(x.header.Branch))
	}
	b.WriteString(".\n")
	for i := range x.Turns {
		t := &x.Turns[i]
		fmt.Fprintf(&b, "\n## #%d %s", t.N, t.Role)
		if !t.At.IsZero() {
			b.WriteString(", " + t.At.UTC().Format("2006-01-02 15:04"))
		}
		b.WriteString("\n")
		if t.Role != transcript.Tool {
			b.WriteString("\n" + strings.TrimSpace(prose.Visible(t.Text, "\n\t")) + "\n")
			continue
		}
		fmt.Fprintf(&b, "\n%s", prose.ShortLine(t.Tool))
		if t.OK != nil && !*t.OK {
			b.WriteString(" (failed)")
		}
		for _, f := range t.Files {
			b.WriteString(" " + prose.ShortLine(f))
		}
		b.WriteString("\n")
		for _, text := range []string{t.Input, t.Text} {
			if text != "" {
				fence := fenceAround(text)
				fmt.Fprintf(&b, "\n%s\n%s\n%s\n", fence, strings.TrimRight(prose.Visible(text, "\n\t"), "\n"), fence)
			}
		}
	}
	if x.Next > 0 {
		fmt.Fprintf(&b, "\n(More from turn %d on.)\n", x.Next)
	}
	return b.String()
}

// fenceAround is a fence that a text does not end.
func fenceAround(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}
