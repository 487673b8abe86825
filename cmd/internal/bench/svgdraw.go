package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

func text(b *strings.Builder, x, y float64, class, s string) {
	fmt.Fprintf(b, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", class, x, y, escape(s))
}

func line(b *strings.Builder, class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(b, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class, x1, y1, x2, y2)
}

// draw draws the axes, the lines and the names at their ends.
func (p *panel) draw(b *strings.Builder) {
	bottom := plotTop + plotHeight
	text(b, p.left-axisWidth, plotTop-22, "ink head", p.title)
	for decade := p.y0; decade <= p.y1; decade++ {
		y := p.y(math.Pow(10, decade))
		line(b, "grid", p.left, y, p.left+plotWidth, y)
		fmt.Fprintf(b, "<text class=\"soft\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", p.left-8, y+4, strings.Replace(quantity(math.Pow(10, decade), Micros), ".0", "", 1))
	}
	for _, n := range p.facts {
		x := p.x(n)
		line(b, "grid", x, plotTop, x, bottom)
		fmt.Fprintf(b, "<text class=\"soft\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", x, bottom+18, short(n))
	}
	line(b, "axis", p.left, bottom, p.left+plotWidth, bottom)
	line(b, "axis", p.left, plotTop, p.left, bottom)
	fmt.Fprintf(b, "<text class=\"soft\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">facts in the store</text>\n", p.left+plotWidth/2, bottom+38)
	p.place()
	for _, s := range p.series {
		p.drawSeries(b, s)
	}
}

func (p *panel) drawSeries(b *strings.Builder, s series) {
	class := "line"
	if s.floor {
		class = "floor"
	}
	var path []string
	for _, at := range s.points {
		path = append(path, fmt.Sprintf("%.1f,%.1f", p.x(at.facts), p.y(at.p50)))
	}
	fmt.Fprintf(b, "<g class=\"%s\">\n<polyline class=\"%s\" points=\"%s\"/>\n", s.class, class, strings.Join(path, " "))
	for _, at := range s.points {
		x := p.x(at.facts)
		if at.p95 > at.p50 {
			line(b, "spread", x, p.y(at.p50), x, p.y(at.p95))
			line(b, "spread", x-3, p.y(at.p95), x+3, p.y(at.p95))
		}
		if !s.floor {
			fmt.Fprintf(b, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", x, p.y(at.p50))
		}
	}
	last := s.points[len(s.points)-1]
	end := p.left + plotWidth
	line(b, "spread", p.x(last.facts)+4, p.y(last.p50), end+14, s.label)
	text(b, end+18, s.label+4, "name", s.name+", "+quantity(last.p50, Micros))
	b.WriteString("</g>\n")
}

// place puts the names beside the ends of their lines, and apart from each
// other where these are too close.
func (p *panel) place() {
	order := make([]*series, len(p.series))
	for i := range p.series {
		s := &p.series[i]
		s.label = p.y(s.points[len(s.points)-1].p50)
		order[i] = s
	}
	slices.SortStableFunc(order, func(a, b *series) int { return cmp.Compare(a.label, b.label) })
	for i := 1; i < len(order); i++ {
		order[i].label = max(order[i].label, order[i-1].label+labelGap)
	}
	for i, bottom := len(order)-1, plotTop+plotHeight; i >= 0; i-- {
		order[i].label = min(order[i].label, bottom)
		bottom = order[i].label - labelGap
	}
}

// legend says what the kinds of lines are.
func legend(b *strings.Builder, y float64) {
	x := panelLeft
	fmt.Fprintf(b, "<g class=\"s0\"><line class=\"line\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/><circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/></g>\n", x, y-4, x+28, y-4, x+14, y-4)
	text(b, x+36, y, "soft", "median, with a whisker up to p95")
	x += 260
	fmt.Fprintf(b, "<g class=\"f\"><line class=\"floor\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/></g>\n", x, y-4, x+28, y-4)
	text(b, x+36, y, "soft", "its floor, measured in turn with it; each name has the median at the right end")
}

// short is a number of facts as the axis has it.
func short(n int) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 1_000 && n%1_000 == 0:
		return fmt.Sprintf("%dk", n/1_000)
	}
	return grouped(n)
}
