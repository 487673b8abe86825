package drawing

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"leanctx/internal/prose"
)

// Style is the style sheet of the drawings: light, dark and print.
//
//go:embed style.css
var Style string

// The marks of a bar: what a version is.
const (
	Current   = "CURRENT"
	Past      = "archived" // superseded, or its time is over
	Planned   = "planned"
	Dormant   = "dormant" // current, and outside the active set
	Corrected = "corrected"
	Retracted = "retracted"
)

// Bar is one version.
type Bar struct {
	Row           string // the fact that it is of; empty in the drawing of one fact
	Text          string // its value
	Detail        string // its value, period and author
	From          time.Time
	Until         *time.Time
	Recorded      time.Time
	Mark          string
	Contradiction bool   // with the version before it
	Link          string // where a page tells more, for inner drawings; empty: nowhere
}

// Dispute is an assertion that stands against a fact.
type Dispute struct {
	Row    string
	Name   string // d-3f2a
	Detail string
	At     time.Time
	Link   string
}

// Timeline is the history of one fact, or of a room.
type Timeline struct {
	Title    string
	Bars     []Bar // those of a row follow each other
	Disputes []Dispute
	Now      time.Time
	AsOf     time.Time // an instant to mark; zero: none
}

// Options say how a drawing is used. Nil is a file of its own.
type Options struct {
	Width int    // in pixels, 960 by default
	Inner bool   // part of a page that has [Style]
	Name  string // inner drawings of one page have different names; letters
}

// The measures of a timeline, in pixels.
const (
	margin    = 8
	barHeight = 28
	barGap    = 6
	rowGap    = 14
	above     = 20 // room for the marks of disputes
	labels    = 22 // a line of text
	openEnd   = 18 // how far a version without an end goes beyond now
	openPlan  = 96 // and beyond the last change that is planned
	letter    = 6.7
)

// plot is a timeline while it is drawn.
type plot struct {
	Timeline
	o     Options
	scale *scale
	body  bytes.Buffer
	y     float64 // where the next part begins
	left  float64
	right float64 // now, or the last change that is planned
	end   float64 // where versions without an end stop

	bottom float64 // where what is pointed at is told
}

// SVG draws the timeline.
func (t Timeline) SVG(opts *Options) []byte {
	p := &plot{Timeline: t}
	if opts != nil {
		p.o = *opts
	}
	p.o.Width = max(cmp.Or(p.o.Width, 960), 240)
	p.left, p.end = margin, float64(p.o.Width)-margin
	p.right = p.end - openEnd
	if slices.ContainsFunc(p.Bars, func(b Bar) bool { return b.Mark == Planned && b.Until == nil }) {
		p.right = p.end - openPlan
	}
	p.scale = newScale(p.instants(), p.left, p.right)
	p.y = margin
	for _, r := range p.rows() {
		p.row(r)
	}
	p.axis()
	p.lines(margin)
	p.recorded()
	p.legend()
	return p.whole()
}

// instants are the ends of all bars, and now.
func (p *plot) instants() []time.Time {
	out := []time.Time{p.Now}
	for _, b := range p.Bars {
		out = append(out, b.From)
		if b.Until != nil {
			out = append(out, *b.Until)
		}
	}
	return out
}

// fact is what is drawn of one fact.
type fact struct {
	name     string
	bars     []Bar
	disputes []Dispute
}

func (p *plot) rows() (out []*fact) {
	for _, b := range p.Bars {
		if len(out) == 0 || out[len(out)-1].name != b.Row {
			out = append(out, &fact{name: b.Row})
		}
		r := out[len(out)-1]
		r.bars = append(r.bars, b)
	}
	for _, d := range p.Disputes {
		if i := slices.IndexFunc(out, func(r *fact) bool { return r.name == d.Row }); i >= 0 {
			out[i].disputes = append(out[i].disputes, d)
		}
	}
	return out
}

// row draws one fact: its name, its disputes, and its bars in as many tracks as do not
// overlap. What was corrected is below what was true.
func (p *plot) row(r *fact) {
	if r.name != "" {
		p.text(p.left, p.y+14, "tl-name", r.name, p.right-p.left)
		p.y += labels
	}
	if len(r.disputes) > 0 {
		for _, d := range r.disputes {
			p.dispute(d)
		}
		p.y += above
	}
	var ends []float64 // of each track
	for _, wrong := range []bool{false, true} {
		first := len(ends)
		for _, b := range r.bars {
			if (b.Mark == Corrected) != wrong {
				continue
			}
			from, until := p.span(b)
			track := first
			for track < len(ends) && ends[track] > from+0.01 {
				track++
			}
			if track == len(ends) {
				ends = append(ends, 0)
			}
			ends[track] = until
			p.bar(b, from, until, p.y+float64(track)*(barHeight+barGap))
		}
	}
	p.y += float64(len(ends))*(barHeight+barGap) + rowGap
}

// span is where a bar begins and ends.
func (p *plot) span(b Bar) (from, until float64) {
	from, until = p.scale.of(b.From), p.end
	if b.Until != nil {
		until = p.scale.of(*b.Until)
	}
	return from, max(until, from+3)
}

var classes = map[string]string{Current: "now", Past: "past", Planned: "plan", Dormant: "dormant", Corrected: "wrong", Retracted: "gone"}

func (p *plot) bar(b Bar, from, until, y float64) {
	class := cmp.Or(classes[b.Mark], "past")
	p.open("tl-bar tl-"+class, b.Link, b.Detail)
	if b.Until == nil { // no line at the end: it goes on
		fmt.Fprintf(&p.body, `<path d="M%.1f %.1fH%.1fV%.1fH%.1f" class="tl-box"/>`, until, y, from, y+barHeight, until)
	} else {
		fmt.Fprintf(&p.body, `<rect x="%.1f" y="%.1f" width="%.1f" height="%d" class="tl-box"/>`, from, y, until-from, barHeight)
	}
	room, text := until-from-14, b.Text
	if b.Mark != Current && b.Mark != Past && room > 30*letter {
		text += " [" + b.Mark + "]"
	}
	if b.Contradiction {
		room -= 8
	}
	x := until - room - 6
	p.text(x, y+18.5, "tl-value", text, room)
	if b.Mark == Retracted {
		fmt.Fprintf(&p.body, `<path d="M%.1f %.1fl8 8m0 -8l-8 8" class="tl-cross"/>`, until-4, y+10)
	}
	if b.Contradiction {
		fmt.Fprintf(&p.body, `<path d="M%.1f %.1fl8 8l-8 8l-8 -8z" class="tl-clash"/><text x="%.1f" y="%.1f" class="tl-sign">!</text>`, from, y+6, from, y+18.5)
	}
	p.close(b.Link, b.Detail)
}

func (p *plot) dispute(d Dispute) {
	x := min(max(p.scale.of(d.At), p.left+8), p.right)
	p.open("tl-dispute", d.Link, d.Detail)
	fmt.Fprintf(&p.body, `<path d="M%.1f %.1fh16l-8 14z" class="tl-doubt"/><text x="%.1f" y="%.1f" class="tl-sign">?</text>`, x-8, p.y+2, x, p.y+12)
	if room := p.end - x - 12; room > 8*letter {
		p.text(x+12, p.y+12, "tl-label", d.Name, room)
	}
	p.close(d.Link, d.Detail)
}

// open begins what can be pointed at.
func (p *plot) open(class, link, detail string) {
	if p.o.Inner && link != "" {
		fmt.Fprintf(&p.body, `<a href="%s" class="%s" aria-label="%s"><title>%s</title>`, escape(link), class, escape(line(detail)), escape(line(detail)))
		return
	}
	fmt.Fprintf(&p.body, `<g class="%s" tabindex="0" role="img" aria-label="%s"><title>%s</title>`, class, escape(line(detail)), escape(line(detail)))
}

// bottomMark stands where the position of the last line is not known yet.
const bottomMark = "\x00"

// close ends it, with what is shown below the axis while it is pointed at.
func (p *plot) close(link, detail string) {
	fmt.Fprintf(&p.body, `<text x="%d" y="%s" class="tl-detail">%s</text>`, margin, bottomMark, escape(clip(line(detail), float64(p.o.Width-2*margin))))
	if p.o.Inner && link != "" {
		p.body.WriteString("</a>")
	} else {
		p.body.WriteString("</g>")
	}
}

// axis draws the line of valid time with the days of the changes.
func (p *plot) axis() {
	y := p.y
	fmt.Fprintf(&p.body, `<path d="M%.1f %.1fH%.1f" class="tl-axis"/>`, p.left, y, p.end)
	at := p.scale.at
	for _, x := range p.scale.x {
		fmt.Fprintf(&p.body, `<path d="M%.1f %.1fv4" class="tl-axis"/>`, x, y)
	}
	layout := layoutFor(at)
	var order []time.Time // the most important first
	order = append(order, p.Now, at[0], at[len(at)-1])
	for _, b := range p.Bars {
		if b.Mark == Current {
			order = append(order, b.From)
		}
	}
	order = append(order, at...)
	type taken struct{ from, to float64 }
	var used []taken
	var words []string
	for _, t := range order {
		x := p.scale.of(t)
		text := t.UTC().Format(layout)
		if t.Equal(p.Now) {
			text = "now"
		}
		wide := float64(len(text)) * letter
		from := min(max(x-wide/2, p.left), p.end-wide)
		if slices.Contains(words, text) || slices.ContainsFunc(used, func(u taken) bool { return from < u.to+8 && from+wide > u.from-8 }) {
			continue
		}
		used, words = append(used, taken{from, from + wide}), append(words, text)
		p.text(from, y+17, "tl-label", text, wide+letter)
	}
	p.y += labels
}

// layoutFor is the layout in which the instants differ.
func layoutFor(at []time.Time) string {
	switch all := at[len(at)-1].Sub(at[0]); {
	case all >= 48*time.Hour:
		return time.DateOnly
	case all >= 10*time.Minute:
		return "01-02 15:04"
	}
	return time.TimeOnly
}

// lines draws now and as-of through all rows.
func (p *plot) lines(top float64) {
	bottom := p.y - labels
	fmt.Fprintf(&p.body, `<path d="M%.1f %.1fV%.1f" class="tl-nowline"/>`, p.scale.of(p.Now), top, bottom)
	if !p.AsOf.IsZero() {
		x := p.scale.of(p.AsOf)
		fmt.Fprintf(&p.body, `<path d="M%.1f %.1fV%.1f" class="tl-asof"/>`, x, top-margin+1, bottom)
		word := "as of " + p.AsOf.UTC().Format(time.DateOnly)
		wide := float64(len(word)) * letter
		p.text(min(max(x-wide/2, p.left), p.end-wide), p.y+12, "tl-asofword", word, wide+letter)
		p.y += labels
	}
}

// later is how much later than its beginning a version is recorded that the second axis
// is drawn for.
const later = 24 * time.Hour

// recorded draws the second axis: when the versions were recorded.
func (p *plot) recorded() {
	differs := func(b Bar) bool {
		d := b.Recorded.Sub(b.From)
		return !b.Recorded.IsZero() && (d > later || d < -later)
	}
	if !slices.ContainsFunc(p.Bars, differs) {
		return
	}
	first := slices.MinFunc(p.Bars, func(a, b Bar) int { return a.Recorded.Compare(b.Recorded) }).Recorded.UTC().Format(time.DateOnly)
	last := slices.MaxFunc(p.Bars, func(a, b Bar) int { return a.Recorded.Compare(b.Recorded) }).Recorded.UTC().Format(time.DateOnly)
	days := "recorded " + first
	if last != first {
		days += " … " + last
	}
	p.text(p.left, p.y+12, "tl-label", days, p.right)
	y := p.y + labels - 2
	fmt.Fprintf(&p.body, `<path d="M%.1f %.1fH%.1f" class="tl-thin"/>`, p.left, y, p.right)
	for _, b := range p.Bars {
		fmt.Fprintf(&p.body, `<circle cx="%.1f" cy="%.1f" r="3" class="tl-dot"><title>%s</title></circle>`, p.scale.of(b.Recorded), y,
			escape("recorded "+b.Recorded.UTC().Format(time.DateTime)+": "+clip(line(b.Text), 40*letter)))
	}
	p.y = y + 12
}

// legend tells in words what the bars and marks are that occur.
func (p *plot) legend() {
	has := func(mark string) bool { return slices.ContainsFunc(p.Bars, func(b Bar) bool { return b.Mark == mark }) }
	var words []string
	for _, x := range []struct{ mark, text string }{
		{Current, "filled: true now"}, {Past, "outlined: past"}, {Planned, "dashed: planned"}, {Dormant, "pale: dormant"}, {Corrected, "struck out: corrected"}, {Retracted, "×: removed"},
	} {
		if has(x.mark) {
			words = append(words, x.text)
		}
	}
	if slices.ContainsFunc(p.Bars, func(b Bar) bool { return b.Contradiction }) {
		words = append(words, "◆!: contradiction")
	}
	if len(p.Disputes) > 0 {
		words = append(words, "▼?: dispute")
	}
	p.y += 6
	p.bottom = p.y + 10 // in the place of the legend
	line := ""
	flush := func() {
		p.text(p.left, p.y+10, "tl-legend", line, float64(p.o.Width))
		p.y, line = p.y+16, ""
	}
	for _, w := range words {
		if line != "" && float64(len([]rune(line+" · "+w)))*letter > float64(p.o.Width-2*margin) {
			flush()
		}
		line = strings.TrimPrefix(line+" · "+w, " · ")
	}
	flush()
}

// whole is the finished drawing.
func (p *plot) whole() []byte {
	var b bytes.Buffer
	height := int(p.y + margin)
	title, about := escape(line("Timeline of "+p.Title)), escape(p.about())
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="tl" role="group" viewBox="0 0 %d %d" width="%d" height="%d" aria-labelledby="tl%s-t tl%s-d">`,
		p.o.Width, height, p.o.Width, height, p.o.Name, p.o.Name)
	fmt.Fprintf(&b, `<title id="tl%s-t">%s</title><desc id="tl%s-d">%s</desc>`, p.o.Name, title, p.o.Name, about)
	if !p.o.Inner {
		fmt.Fprintf(&b, `<style>%s</style><rect width="100%%" height="100%%" class="tl-ground"/>`, Style)
	}
	b.Write(bytes.ReplaceAll(p.body.Bytes(), []byte(bottomMark), fmt.Appendf(nil, "%.1f", p.bottom)))
	b.WriteString("</svg>")
	return b.Bytes()
}

// about tells the drawing in words, for those who do not see it.
func (p *plot) about() string {
	parts := make([]string, 0, len(p.Bars))
	for _, b := range p.Bars {
		parts = append(parts, line(clip(b.Detail, 120*letter)))
	}
	const maxShown = 20
	if more := len(parts) - maxShown; more > 0 {
		parts = append(parts[:maxShown], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

// text writes what fits into a width.
func (p *plot) text(x, y float64, class, text string, room float64) {
	if text = clip(line(text), room); text != "" {
		fmt.Fprintf(&p.body, `<text x="%.1f" y="%.1f" class="%s">%s</text>`, x, y, class, escape(text))
	}
}

// clip cuts a text to a width in pixels, and to nothing where less than three letters
// would be left.
func clip(text string, room float64) string {
	used := 0.0
	for i, r := range text {
		if used += width(r); used > room {
			for used > room-letter && i > 0 { // for the …
				last := []rune(text[:i])
				r := last[len(last)-1]
				i, used = i-len(string(r)), used-width(r)
			}
			if used < 2*letter {
				return ""
			}
			return text[:i] + "…"
		}
	}
	return text
}

// width is about how wide a letter is, in pixels.
func width(r rune) float64 {
	switch {
	case unicode.Is(unicode.Mn, r):
		return 0
	case r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana), r >= 0x1f300, r >= 0xff01 && r <= 0xff60:
		return 2 * letter
	case unicode.IsUpper(r):
		return 1.2 * letter
	}
	return letter
}

// line is a text in one line.
func line(s string) string { return prose.Visible(s, "") }

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder does not fail
	return b.String()
}
