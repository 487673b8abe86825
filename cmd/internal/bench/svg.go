package bench

import (
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strings"
)

// The measures of the picture, in its own units.
const (
	svgWidth, svgHeight = 960, 500
	plotTop, plotHeight = 112.0, 300.0
	plotWidth           = 226.0
	panelWidth          = 470.0
	panelLeft           = 20.0
	axisWidth           = 52.0 // for the numbers at the left of a plot
	labelGap            = 15.0 // between the names at the right of a plot, at least
)

// style gives a light picture and, where the reader's system is dark, a dark
// one. A picture in a page cannot ask the page.
const style = `
  .back{fill:#ffffff}.ink{fill:#1f2328}.soft{fill:#59636e}.grid{stroke:#d1d9e0;stroke-width:1}.axis{stroke:#818b98;stroke-width:1}
  .s0{color:#0969da}.s1{color:#bc4c00}.s2{color:#1a7f37}.s3{color:#8250df}.s4{color:#bf3989}.f{color:#6e7781}
  @media (prefers-color-scheme:dark){.back{fill:#0d1117}.ink{fill:#f0f6fc}.soft{fill:#9198a1}.grid{stroke:#2f353d}.axis{stroke:#656c76}
  .s0{color:#58a6ff}.s1{color:#f0883e}.s2{color:#3fb950}.s3{color:#bc8cff}.s4{color:#f778ba}.f{color:#8b949e}}
  text{font:12px -apple-system,"Segoe UI",Helvetica,Arial,sans-serif}.title{font-size:18px;font-weight:600}.head{font-size:13px;font-weight:600}
  .line{fill:none;stroke:currentColor;stroke-width:2}.floor{fill:none;stroke:currentColor;stroke-width:1.5;stroke-dasharray:5 4}
  .dot{fill:currentColor}.spread{stroke:currentColor;stroke-width:1;opacity:.6}.name{fill:currentColor}
`

const colours = 5 // that style has

// SVG draws the rows that are to be drawn: time against the number of facts,
// both logarithmic, commands at the left and a server at the right. The same
// report gives the same bytes.
func (r Report) SVG() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"title about\">\n", svgWidth, svgHeight)
	fmt.Fprintf(&b, "<title id=\"title\">%s</title>\n<desc id=\"about\">%s</desc>\n<style>%s</style>\n", escape(svgTitle), escape(r.Machine.String()), style)
	fmt.Fprintf(&b, "<rect class=\"back\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n", svgWidth, svgHeight)
	text(&b, panelLeft, 34, "ink title", svgTitle)
	text(&b, panelLeft, 56, "soft", r.Machine.String())
	for i, group := range []string{groupCommand, groupServer} {
		p := r.panel(group, panelLeft+axisWidth+float64(i)*panelWidth)
		p.draw(&b)
	}
	legend(&b, svgHeight-24)
	b.WriteString("</svg>\n")
	return b.String()
}

const svgTitle = "The time of one operation, as the number of facts grows"

// panel is one plot.
type panel struct {
	title  string
	left   float64
	series []series
	x0, x1 float64 // decades of facts
	y0, y1 float64 // decades of microseconds
	facts  []int
}

// series is one line of a plot.
type series struct {
	name, class string
	floor       bool
	points      []point
	label       float64 // where its name stands
}

type point struct {
	facts    int
	p50, p95 float64 // in microseconds
}

// panel collects what is drawn of a group: the rows that are marked, and their
// floors, each once.
func (r Report) panel(group string, left float64) *panel {
	p := &panel{title: group, left: left, facts: r.Sizes}
	var floors []string
	for _, row := range r.Rows {
		if row.Group != group || !row.Chart {
			continue
		}
		s := series{name: row.Name, class: r.colour(row.Name)}
		for _, c := range row.Cells {
			if c.Runs > 0 && c.P50 > 0 {
				s.points = append(s.points, point{c.Facts, c.P50, c.P95})
			}
		}
		p.add(s)
		if row.Floor != "" && !slices.Contains(floors, row.Floor) {
			floors = append(floors, row.Floor)
		}
	}
	for _, f := range floors {
		s := series{name: f, class: "f", floor: true}
		for i, n := range r.Sizes {
			if c, _ := r.floor(group, f, i); c.Runs > 0 && c.P50 > 0 {
				s.points = append(s.points, point{n, c.P50, c.P50})
			}
		}
		p.add(s)
	}
	p.scale()
	return p
}

// colour is the class of a row: what goes by one name has one colour in both
// plots.
func (r Report) colour(name string) string {
	var names []string
	for _, row := range r.Rows {
		if row.Chart && !slices.Contains(names, row.Name) {
			names = append(names, row.Name)
		}
	}
	return fmt.Sprint("s", slices.Index(names, name)%colours)
}

func (p *panel) add(s series) {
	if len(s.points) > 0 {
		p.series = append(p.series, s)
	}
}

// scale sets the axes: facts from the fewest to the most, time in whole
// decades.
func (p *panel) scale() {
	p.x0, p.x1 = math.Inf(1), math.Inf(-1)
	for _, n := range p.facts {
		p.x0, p.x1 = min(p.x0, math.Log10(float64(n))), max(p.x1, math.Log10(float64(n)))
	}
	p.y0, p.y1 = math.Inf(1), math.Inf(-1)
	for _, s := range p.series {
		for _, at := range s.points {
			p.y0, p.y1 = min(p.y0, math.Log10(at.p50)), max(p.y1, math.Log10(max(at.p50, at.p95)))
		}
	}
	if len(p.series) == 0 {
		p.y0, p.y1 = 0, 1
	}
	p.y0 = math.Floor(p.y0)
	p.y1 = max(math.Ceil(p.y1), p.y0+1)
}

// x is where a number of facts stands; a single one in the middle.
func (p *panel) x(facts int) float64 {
	if p.x1 <= p.x0 {
		return p.left + plotWidth/2
	}
	return p.left + plotWidth*(math.Log10(float64(facts))-p.x0)/(p.x1-p.x0)
}

// y is where a time in microseconds stands.
func (p *panel) y(micros float64) float64 {
	return plotTop + plotHeight*(p.y1-math.Log10(micros))/(p.y1-p.y0)
}

func escape(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) //nolint:errcheck // a strings.Builder takes all
	return b.String()
}
