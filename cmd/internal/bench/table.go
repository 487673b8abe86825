package bench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The widths of the columns of one size: p50, p95, times the floor.
const (
	timeWidth  = 9
	ratioWidth = 8
	blockWidth = 2*timeWidth + ratioWidth
)

// Text is the table: a line for each row, three columns for each size, and
// under each group what it stands beside.
func (r Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "lean-ctx %s on %v\n", r.Version, r.Machine)
	fmt.Fprintf(&b, "seed %d; p50 and p95 of %s\n\n", r.Seed, r.runs())
	width := r.nameWidth()
	fmt.Fprintf(&b, "%-*s", width, "")
	for _, n := range r.Sizes {
		fmt.Fprintf(&b, "%*s", blockWidth, grouped(n)+" facts")
	}
	fmt.Fprintf(&b, "\n%-*s", width, "")
	for range r.Sizes {
		fmt.Fprintf(&b, "%*s%*s%*s", timeWidth, "p50", timeWidth, "p95", ratioWidth, "×floor")
	}
	for i, row := range r.Rows {
		if i == 0 || r.Rows[i-1].Group != row.Group {
			fmt.Fprintf(&b, "\n%s", row.Group)
		}
		fmt.Fprintf(&b, "\n  %-*s", width-2, row.Name)
		for _, c := range row.Cells {
			b.WriteString(block(c, row.Unit))
		}
		if i == len(r.Rows)-1 || r.Rows[i+1].Group != row.Group {
			r.writeFloors(&b, row.Group, width)
		}
	}
	r.writeFigures(&b)
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "\n\nnote: %s", n)
	}
	return trimmed(b.String())
}

// trimmed is text without white space at the ends of its lines.
func trimmed(text string) string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.Join(lines, "\n")
}

// runs says how often things were measured.
func (r Report) runs() string {
	var parts []string
	for _, g := range []struct{ group, of string }{{groupCommand, "a command"}, {groupServer, "a server"}, {groupWhole, "the whole"}} {
		low, high := math.MaxInt, 0
		for _, row := range r.Rows {
			for _, c := range row.Cells {
				if row.Group == g.group && c.Runs > 0 {
					low, high = min(low, c.Runs), max(high, c.Runs)
				}
			}
		}
		switch {
		case high == 0:
		case low == high:
			parts = append(parts, fmt.Sprintf("%d runs of %s", high, g.of))
		default:
			parts = append(parts, fmt.Sprintf("%d to %d runs of %s", low, high, g.of))
		}
	}
	if parts == nil {
		return "one run"
	}
	return strings.Join(parts, ", ") + ", the floor in turn with them"
}

func (r Report) nameWidth() int {
	width := 0
	for _, row := range r.Rows {
		width = max(width, 2+utf8.RuneCountInString(row.Name), 4+utf8.RuneCountInString(row.Floor))
	}
	return width
}

// block is the three columns of one cell.
func block(c Cell, unit string) string {
	p50, p95, times := "n/a", "", ""
	if c.Runs > 0 {
		p50 = quantity(c.P50, unit)
	}
	if c.Runs > 1 {
		p95 = quantity(c.P95, unit)
	}
	if ratio, ok := c.Ratio(); ok {
		times = significant(ratio) + "×"
	}
	return fmt.Sprintf("%*s%*s%*s", timeWidth, p50, timeWidth, p95, ratioWidth, times)
}

// writeFloors writes what a group stands beside: the middle one of the floors
// that were measured in turn with its rows.
func (r Report) writeFloors(b *strings.Builder, group string, width int) {
	var floors []string
	for _, row := range r.Rows {
		if row.Group == group && row.Floor != "" && !slices.Contains(floors, row.Floor) {
			floors = append(floors, row.Floor)
		}
	}
	for _, f := range floors {
		fmt.Fprintf(b, "\n  · %-*s", width-4, f)
		for i := range r.Sizes {
			c, unit := r.floor(group, f, i)
			b.WriteString(block(c, unit))
		}
	}
}

// floor is the middle one of a floor's measurements beside a group's rows, at
// the i-th size.
func (r Report) floor(group, floor string, i int) (c Cell, unit string) {
	var p50, p95 []float64
	for _, row := range r.Rows {
		if row.Group != group || row.Floor != floor || i >= len(row.Cells) {
			continue
		}
		unit = row.Unit
		if f := row.Cells[i]; f.FloorP50 != nil && f.Runs > 0 {
			c.Runs = max(c.Runs, f.Runs)
			p50, p95 = append(p50, *f.FloorP50), append(p95, *f.FloorP95)
		}
	}
	if len(p50) > 0 {
		slices.Sort(p50)
		slices.Sort(p95)
		c.P50, c.P95 = p50[len(p50)/2], p95[len(p95)/2]
	}
	return c, unit
}

func (r Report) writeFigures(b *strings.Builder) {
	if len(r.Figures) == 0 {
		return
	}
	b.WriteString("\n\nfigures of the contract")
	width := 0
	for _, f := range r.Figures {
		width = max(width, utf8.RuneCountInString(f.Name))
	}
	for _, f := range r.Figures {
		met := "met"
		if !f.Met {
			met = "MISSED"
		}
		fmt.Fprintf(b, "\n  %-*s  %8s  at most %-7s %s", width, f.Name, precise(f.Value)+" "+f.Unit, precise(f.Most)+" "+f.Unit, met)
	}
}

// quantity is a value with the unit that keeps it short.
func quantity(v float64, unit string) string {
	steps := []string{"µs", "ms", "s"}
	if unit == Bytes {
		steps = []string{"B", "kB", "MB", "GB"}
	}
	i := 0
	for ; i < len(steps)-1 && v >= 999.5; i++ {
		v /= 1000
	}
	return significant(v) + " " + steps[i]
}

// significant is a number of two digits or, from 100 on, of three.
func significant(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 0.01:
		return strconv.FormatFloat(v, 'g', 1, 64)
	case v < 0.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 9.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return grouped(int(math.Round(v)))
}

// precise is a number of three digits, for one that stands beside a limit.
func precise(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

// grouped writes a whole number with commas.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
