package main

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strings"
)

// The places of the chart, in its own units: two plots side by side.
const (
	svgWidth, svgHeight = 960, 470
	plotTop, plotHeight = 100.0, 290.0
	plotWidth           = 226.0
	plotStep            = 470.0
	plotLeft            = 72.0
	labelGap            = 15.0 // between the names at the right of a plot, at least
)

// svgStyle is light and, where the reader's system is dark, dark: a picture in
// a page cannot ask the page.
const svgStyle = `
  .back{fill:#fff}.ink{fill:#1f2328}.soft{fill:#59636e}.grid{stroke:#d1d9e0}
  .s0{color:#0969da}.s1{color:#bc4c00}.s2{color:#1a7f37}.s3{color:#8250df}.s4{color:#bf3989}.f{color:#6e7781}
  @media (prefers-color-scheme:dark){.back{fill:#0d1117}.ink{fill:#f0f6fc}.soft{fill:#9198a1}.grid{stroke:#2f353d}
  .s0{color:#58a6ff}.s1{color:#f0883e}.s2{color:#3fb950}.s3{color:#bc8cff}.s4{color:#f778ba}.f{color:#8b949e}}
  text{font:12px -apple-system,"Segoe UI",Helvetica,Arial,sans-serif}.title{font-size:18px;font-weight:600}.head{font-size:13px;font-weight:600}
  polyline{fill:none;stroke:currentColor;stroke-width:2}.f polyline{stroke-width:1.5;stroke-dasharray:5 4}
  circle,.name{fill:currentColor}.spread{stroke:currentColor;opacity:.6}
`

// series is one line of a plot.
type series struct {
	name, class string
	cells       []Cell  // with what is drawn as P50 and P95
	label       float64 // where its name is
}

// SVG draws time against the number of facts, both logarithmic: commands at the
// left, a server at the right. The same report gives the same bytes.
func (r BenchReport) SVG() string {
	const title = "The time of one operation, as the number of facts grows"
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"title\">\n", svgWidth, svgHeight)
	fmt.Fprintf(&b, "<title id=\"title\">%s</title>\n<style>%s</style>\n<rect class=\"back\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n", title, svgStyle, svgWidth, svgHeight)
	svgText(&b, 20, 34, "ink title", "start", title)
	svgText(&b, 20, 56, "soft", "start", r.Machine+"; medians, with a line up to p95; dashed: the floors, measured in turn")
	left := plotLeft
	for _, group := range []string{"a command", "in a server"} {
		r.plot(&b, group, left)
		left += plotStep
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (r BenchReport) plot(b *strings.Builder, group string, left float64) {
	all := r.series(group)
	if len(all) == 0 || len(r.Sizes) == 0 {
		return
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range all {
		for _, c := range s.cells {
			low, high = min(low, math.Floor(math.Log10(c.P50))), max(high, math.Ceil(math.Log10(c.P95)))
		}
	}
	high = max(high, low+1)
	first, last := math.Log10(float64(r.Sizes[0])), math.Log10(float64(r.Sizes[len(r.Sizes)-1]))
	x := func(facts int) float64 {
		if last <= first {
			return left + plotWidth/2
		}
		return left + plotWidth*(math.Log10(float64(facts))-first)/(last-first)
	}
	y := func(micros float64) float64 { return plotTop + plotHeight*(high-math.Log10(micros))/(high-low) }
	bottom := plotTop + plotHeight

	svgText(b, left-52, plotTop-18, "ink head", "start", group)
	for decade := low; decade <= high; decade++ {
		svgLine(b, "grid", left, y(math.Pow(10, decade)), left+plotWidth, y(math.Pow(10, decade)))
		svgText(b, left-8, y(math.Pow(10, decade))+4, "soft", "end", quantity(math.Pow(10, decade), false))
	}
	for _, n := range r.Sizes {
		svgLine(b, "grid", x(n), plotTop, x(n), bottom)
		svgText(b, x(n), bottom+18, "soft", "middle", grouped(n))
	}
	svgText(b, left+plotWidth/2, bottom+38, "soft", "middle", "facts in the store")
	placeLabels(all, func(s *series) float64 { return y(s.cells[len(s.cells)-1].P50) }, bottom)
	for _, s := range all {
		fmt.Fprintf(b, "<g class=\"%s\">\n<polyline points=\"", s.class)
		for _, c := range s.cells {
			fmt.Fprintf(b, "%.1f,%.1f ", x(c.Facts), y(c.P50))
		}
		b.WriteString("\"/>\n")
		for _, c := range s.cells {
			if s.class != "f" {
				svgLine(b, "spread", x(c.Facts), y(c.P50), x(c.Facts), y(c.P95))
				fmt.Fprintf(b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", x(c.Facts), y(c.P50))
			}
		}
		end := s.cells[len(s.cells)-1]
		svgLine(b, "spread", x(end.Facts)+4, y(end.P50), left+plotWidth+14, s.label)
		svgText(b, left+plotWidth+18, s.label+4, "name", "start", s.name+", "+quantity(end.P50, false))
		b.WriteString("</g>\n")
	}
}

// series are the rows of a group that are drawn, and each of their floors once.
func (r BenchReport) series(group string) (all []series) {
	floors := map[string]bool{}
	for _, row := range r.Rows {
		if row.Group != group || !row.Chart {
			continue
		}
		s := series{name: row.Name, class: fmt.Sprint("s", len(all)%5)}
		f := series{name: strings.Join(row.Floors, " + "), class: "f"}
		for _, c := range row.Cells {
			if c.Runs == 0 {
				continue
			}
			s.cells = append(s.cells, c)
			if c.Floor > 0 {
				f.cells = append(f.cells, Cell{Facts: c.Facts, P50: c.Floor, P95: c.Floor})
			}
		}
		if len(s.cells) == 0 {
			continue
		}
		if all = append(all, s); len(f.cells) > 0 && !floors[f.name] {
			floors[f.name] = true
			all = append(all, f)
		}
	}
	return all
}

// placeLabels puts the names beside the ends of their lines, and apart from each
// other where these are too close.
func placeLabels(all []series, end func(*series) float64, bottom float64) {
	order := make([]*series, len(all))
	for i := range all {
		all[i].label = end(&all[i])
		order[i] = &all[i]
	}
	slices.SortStableFunc(order, func(a, b *series) int { return cmp.Compare(a.label, b.label) })
	for i := 1; i < len(order); i++ {
		order[i].label = max(order[i].label, order[i-1].label+labelGap)
	}
	for i := len(order) - 1; i >= 0; i-- {
		order[i].label = min(order[i].label, bottom)
		bottom = order[i].label - labelGap
	}
}

func svgText(b *strings.Builder, x, y float64, class, anchor, s string) {
	fmt.Fprintf(b, "<text class=\"%s\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, anchor, x, y)
	xml.EscapeText(b, []byte(s)) //nolint:errcheck // a strings.Builder takes all
	b.WriteString("</text>\n")
}

func svgLine(b *strings.Builder, class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(b, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class, x1, y1, x2, y2)
}
