package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
)

// BenchReport is the outcome of a benchmark.
type BenchReport struct {
	Version string     `json:"version"` // of the lean-ctx that was measured
	Machine string     `json:"machine"`
	Sizes   []int      `json:"sizes"` // facts of each store that was made
	Rows    []BenchRow `json:"rows"`
	Notes   []string   `json:"notes,omitempty"`
}

// BenchRow is one measure, on a store of each size.
type BenchRow struct {
	Group  string   `json:"group"`
	Name   string   `json:"name"`
	Bytes  bool     `json:"bytes,omitempty"` // else microseconds
	Floors []string `json:"floors,omitempty"`
	Chart  bool     `json:"chart,omitempty"`
	Cells  []Cell   `json:"cells"`
}

// Cell is a measure on a store of one size.
type Cell struct {
	Facts int `json:"facts"`
	Runs  int `json:"runs"` // 0: the row failed
	// LeftOut: it was not measured at this size, or what it needs is not installed.
	LeftOut bool    `json:"left_out,omitempty"`
	P50     float64 `json:"p50"`
	P95     float64 `json:"p95"`
	Floor   float64 `json:"floor,omitempty"` // the sum of the medians of the floors
	Limit   float64 `json:"limit,omitempty"` // what was promised, if anything was
	Missed  bool    `json:"missed,omitempty"`
}

func (c *Cell) limit(most float64) { c.Limit, c.Missed = most, c.P50 > most }

// Text is the report as a table for each size.
func (r BenchReport) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s\n", r.Version, r.Machine)
	for i, n := range r.Sizes {
		fmt.Fprintf(&b, "\n%s facts\n", grouped(n))
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
		group := ""
		for _, row := range r.Rows {
			if row.Group != group {
				group = row.Group
				fmt.Fprintf(w, "%s\tp50\tp95\truns\tfloor\t×floor\tlimit\t\t\n", leftAligned(group))
			}
			c := row.Cells[i]
			if c.LeftOut {
				continue
			}
			if c.Runs == 0 {
				fmt.Fprintf(w, "%s\tfailed\t\t\t\t\t\t\t\n", leftAligned("  "+row.Name))
				continue
			}
			quantity := func(v float64) string {
				if v == 0 {
					return ""
				}
				return quantity(v, row.Bytes)
			}
			ratio, missed, p95 := "", "", ""
			if c.Floor > 0 {
				ratio = significant(c.P50 / c.Floor)
			}
			if c.Missed {
				missed = "MISSED"
			}
			if c.Runs > 1 {
				p95 = quantity(c.P95)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t\n", leftAligned("  "+row.Name), quantity(c.P50), p95, c.Runs, quantity(c.Floor), ratio, quantity(c.Limit), missed)
		}
		w.Flush()
	}
	b.WriteString("\n")
	last := ""
	for _, row := range r.Rows {
		if line := fmt.Sprintf("%s: %s", row.Group, strings.Join(row.Floors, " + ")); len(row.Floors) > 0 && line != last {
			fmt.Fprintf(&b, "floor %s (from: %s)\n", line, row.Name)
			last = line
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	return b.String()
}

// tolerance is how many times the ratio to its floor a row may grow between two published runs.
const tolerance = 1.25

// compareWith names the rows whose ratio to their floor grew by more than a quarter since a run that
// was kept as JSON, and the sizes on disk that did. Times without a floor are of their machine alone.
func (r BenchReport) compareWith(file string) (slower []string, err error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var last BenchReport
	if err == nil {
		err = json.Unmarshal(data, &last)
	}
	if err != nil {
		return nil, fmt.Errorf("-last: %w", err)
	}
	before := map[string]Cell{}
	for _, row := range last.Rows {
		for _, c := range row.Cells {
			before[fmt.Sprint(row.Group, row.Name, c.Facts)] = c
		}
	}
	for _, row := range r.Rows {
		for _, c := range row.Cells {
			was, now := before[fmt.Sprint(row.Group, row.Name, c.Facts)].ratio(row.Bytes), c.ratio(row.Bytes)
			if was > 0 && now > tolerance*was {
				what := "times its floor"
				if c.Floor == 0 {
					what = "bytes"
				}
				slower = append(slower, fmt.Sprintf("%s facts: %s: %s: %s %s, %s in the last run: find the cause", grouped(c.Facts), row.Group, row.Name, significant(now), what, significant(was)))
			}
		}
	}
	return slower, nil
}

// ratio is the measure beside its floor, or without one a size; 0: neither is comparable.
func (c Cell) ratio(bytes bool) float64 {
	switch {
	case c.Floor > 0:
		return c.P50 / c.Floor
	case bytes:
		return c.P50
	}
	return 0
}

// leftAligned fills a name up, since the tables are aligned to the right.
func leftAligned(s string) string { return fmt.Sprintf("%-38s", s) }

// quantity is a value with the unit that keeps it short.
func quantity(v float64, bytes bool) string {
	units := []string{"µs", "ms", "s"}
	if bytes {
		units = []string{"B", "kB", "MB", "GB"}
	}
	i := 0
	for ; i < len(units)-1 && v >= 999.5; i++ {
		v /= 1000
	}
	return significant(v) + " " + units[i]
}

// significant is a number of two digits or, from 100 on, of three.
func significant(v float64) string {
	if v < 9.95 {
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// grouped writes a whole number with commas.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
