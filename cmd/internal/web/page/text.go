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

// most words that are compared; longer texts are shown whole.
const maxCompared = 600

// spans marks in a the words that b has not, in their order. Of texts that have less than
// a third of their words in common nothing is marked: it would be nearly all.
func spans(a, b string) []span {
	x, y := strings.Fields(visible(a)), strings.Fields(visible(b))
	if len(x) > maxCompared || len(y) > maxCompared {
		return []span{{Text: visible(a)}}
	}
	// The longest common subsequence: same[i][j] of x[i:] and y[j:].
	same := make([][]int, len(x)+1)
	for i := range same {
		same[i] = make([]int, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if same[i][j] = max(same[i+1][j], same[i][j+1]); x[i] == y[j] {
				same[i][j] = same[i+1][j+1] + 1
			}
		}
	}
	if len(x) > 0 && len(y) > 0 && 3*same[0][0] < min(len(x), len(y)) {
		return []span{{Text: visible(a)}}
	}
	var out []span
	add := func(word string, other bool) {
		if n := len(out); n > 0 && out[n-1].Other == other {
			out[n-1].Text += " " + word
			return
		}
		out = append(out, span{word, other})
	}
	for i, j := 0, 0; i < len(x); {
		switch {
		case j < len(y) && x[i] == y[j]:
			add(x[i], false)
			i, j = i+1, j+1
		case j < len(y) && same[i][j+1] >= same[i+1][j]:
			j++
		default:
			add(x[i], true)
			i++
		}
	}
	return out
}
