package cost

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"leanctx/internal/prose"
)

// The columns that names take in a report, in characters; longer names widen
// them.
const (
	agentColumn = 13
	toolColumn  = 18
)

// list writes one section of a report.
func list(b *strings.Builder, title string, column int, shares []Share, limit int) {
	shown := shares[:min(len(shares), limit)]
	digits := 0
	for _, s := range shown {
		column = max(column, utf8.RuneCountInString(named(s.Name)))
		digits = max(digits, len(prose.Number(s.Tokens())))
	}
	b.WriteString("\n\n  " + title)
	for _, s := range shown {
		pad := strings.Repeat(" ", column-utf8.RuneCountInString(named(s.Name)))
		fmt.Fprintf(b, "\n    %s%s  %*s tok (%.1f%%)", named(s.Name), pad, digits, prose.Number(s.Tokens()), s.Percent)
	}
	more(b, "\n    ", len(shares), limit)
}

// more says that a list was cut.
func more(b *strings.Builder, indent string, have, limit int) {
	if have > limit {
		fmt.Fprintf(b, "%s… %d more (limit=%d)", indent, have-limit, limit)
	}
}

// estimated says how many of the tokens were not counted.
func estimated(b *strings.Builder, c Counts) {
	if c.Estimated > 0 {
		fmt.Fprintf(b, "\n\n  Of these, %s estimated from bytes (commands do not load the tokenizer).", prose.Count(c.Estimated, "token"))
	}
}

func summary(c Counts) string {
	return fmt.Sprintf("%s (in %s, out %s) in %s", prose.Count(c.Tokens(), "token"), prose.Number(c.In), prose.Number(c.Out), prose.Count(c.Calls, "call"))
}

func named(name string) string { return cmp.Or(name, "(unnamed)") }

// percentages are the parts of a whole in tenths of a percent. They add up to
// 1000, unless all are 0: what rounding down leaves over goes to the largest
// remainders, the first of equal ones first.
func percentages(parts []int64) []int {
	var sum int64
	for _, p := range parts {
		sum += p
	}
	out := make([]int, len(parts))
	if sum == 0 {
		return out
	}
	rest, order := 1000, make([]int, len(parts))
	remainder := make([]float64, len(parts))
	for i, p := range parts {
		exact := float64(p) / float64(sum) * 1000
		out[i], order[i] = int(exact), i
		remainder[i] = exact - float64(out[i])
		rest -= out[i]
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(remainder[j], remainder[i]) })
	for _, i := range order[:min(max(rest, 0), len(order))] {
		out[i]++
	}
	return out
}
