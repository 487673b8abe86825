package drawing

import (
	"fmt"
	"strings"
	"unicode"

	"leanctx/internal/prose"
)

// Link is a relation of two facts, each named category/key.
type Link struct{ From, Kind, To string }

// Mermaid is a flowchart of links. Facts are numbered in the order in which they occur,
// so the same links give the same text.
func Mermaid(links []Link) string {
	var b strings.Builder
	b.WriteString("flowchart LR")
	ids := map[string]string{}
	node := func(name string) string {
		if id, known := ids[name]; known {
			return id
		}
		id := fmt.Sprintf("f%d", len(ids)+1)
		ids[name] = id
		fmt.Fprintf(&b, "\n  %s[\"%s\"]", id, label(name))
		return id
	}
	for _, l := range links {
		from, to := node(l.From), node(l.To)
		arrow := "-->"
		if strings.HasPrefix(l.Kind, "related_to") { // it has no direction
			arrow = "---"
		}
		fmt.Fprintf(&b, "\n  %s %s|\"%s\"| %s", from, arrow, label(strings.ReplaceAll(l.Kind, "_", " ")), to)
	}
	return b.String()
}

// label is a text in which nothing is syntax: whatever is no letter, digit or plain
// punctuation is written as its number.
func label(s string) string {
	var b strings.Builder
	for _, r := range prose.Visible(s, "") {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) || strings.ContainsRune(" /-_.,:@+=", r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}
