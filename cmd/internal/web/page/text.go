package page

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"leanctx/internal/prose"
)

// visible writes hidden and bidirectional characters as escapes; line breaks and tabs
// stay.
func visible(s string) string { return prose.Visible(s, "\n\t") }

// editable is a text that a form offers for a change: none that holds what nobody sees.
func editable(s string) string {
	if visible(s) != s {
		return ""
	}
	return s
}

// inline is a text in one line.
func inline(s string) string { return strings.Join(strings.Fields(visible(s)), " ") }

// briefRunes is how much of a value a list shows: about two lines.
const briefRunes = 240

// brief is what a list shows of a value.
func brief(s string) string { return prose.Clip(inline(prose.Clip(s, 4*briefRunes)), briefRunes) }

// meter is a small bar for a share of 1. Its number is beside it.
func meter(x float64) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg class="meter" width="40" height="6" aria-hidden="true"><rect width="40" height="6" class="all"/><rect width="%.0f" height="6" class="part"/></svg>`, 40*min(max(x, 0), 1)))
}

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// span is a piece of a text that another text has too, or has not.
type span struct {
	Text  string
	Other bool // only this one has it
}

// spans marks in a the words that b has not. Of texts without a common word nothing is marked:
// it would be all.
func spans(a, b string) (out []span) {
	common := map[string]bool{}
	for word := range strings.FieldsSeq(visible(b)) {
		common[word] = true
	}
	for word := range strings.FieldsSeq(visible(a)) {
		if n := len(out); n > 0 && out[n-1].Other == !common[word] {
			out[n-1].Text += " " + word
		} else {
			out = append(out, span{word, !common[word]})
		}
	}
	if len(out) == 1 {
		out[0].Other = false
	}
	return out
}
