package drawing

import (
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"
)

func day(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }

// hostile are texts that would break out of what they stand in.
var hostile = []string{
	`<script>alert(1)</script>`, `"/><g onload="alert(1)">`, `]]><a>`, "line\nbreak\r\t\x00\x1b[31m", "\u202eright to left\u2066", "\xff\xfe",
	strings.Repeat("long ", 13_000), `--><!--`, `&amp;&#60;`, "\U000e0041tag", `'`, "`", "عربى", "漢字漢字漢字",
}

// elements reads a drawing as XML and counts its elements.
func elements(t *testing.T, svg []byte) map[string]int {
	t.Helper()
	out := map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(string(svg))); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatalf("no XML: %v\n%s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok {
			out[e.Name.Local]++
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") {
					t.Errorf("%s has an attribute %s", e.Name.Local, a.Name.Local)
				}
			}
		}
	}
}

func TestHostileTextStaysText(t *testing.T) {
	for _, text := range hostile {
		for _, inner := range []bool{false, true} {
			svg := Timeline{
				Title: text, Now: day(20), AsOf: day(12),
				Bars:     []Bar{{Row: text, Text: text, Detail: text, From: day(1), Mark: Current, Link: `/facts/"><script>`}},
				Disputes: []Dispute{{Row: text, Name: text, Detail: text, At: day(10)}},
			}.SVG(&Options{Inner: inner})
			got := elements(t, svg)
			if got["script"] > 0 || got["a"]+got["g"] != 2 || inner && got["a"] != 1 || got["svg"] != 1 {
				t.Errorf("%.40q: elements %v", text, got)
			}
			if inner && got["style"] > 0 {
				t.Error("an inner drawing has a style of its own")
			}
			if len(svg) > 3*len(text)*8+20_000 {
				t.Errorf("%.40q: %d bytes", text, len(svg))
			}
			if strings.ContainsAny(string(svg), "\u202e\u2066\x1b\x00") {
				t.Errorf("%.40q: hidden characters are left", text)
			}
		}
	}
}

// Each stretch between two changes is wide enough to be seen, in order, and inside the drawing.
// That holds also when one is a nanosecond and another ten years.
func TestScaleShowsEveryStretch(t *testing.T) {
	at := []time.Time{day(1), day(1).Add(1), day(1).Add(time.Second), day(2), day(2).AddDate(10, 0, 0)}
	s := newScale(at, 8, 800)
	if len(s.x) != 5 || s.x[0] != 8 || s.x[4] < 799.9 || s.x[4] > 800.1 {
		t.Fatalf("positions %v", s.x)
	}
	for i := 1; i < len(s.x); i++ {
		if s.x[i]-s.x[i-1] < narrowest-0.01 {
			t.Errorf("stretch %d is %.1f wide", i, s.x[i]-s.x[i-1])
		}
	}
	if x := s.of(day(2).AddDate(5, 0, 0)); x < s.x[3]+0.45*(s.x[4]-s.x[3]) || x > s.x[3]+0.55*(s.x[4]-s.x[3]) {
		t.Errorf("the middle of the long stretch is at %.1f of %v", x, s.x)
	}
	if s.of(day(1).AddDate(-1, 0, 0)) != 8 || s.of(day(1).AddDate(99, 0, 0)) != s.x[4] {
		t.Error("instants outside of the scale are not at its ends")
	}
	if one := newScale([]time.Time{day(1), day(1)}, 8, 800); one.of(day(1)) != 8 || one.of(day(9)) != 8 {
		t.Error("a single instant has no position")
	}
	even := newScale([]time.Time{day(1), day(6), day(11)}, 0, 100)
	if even.x[1] != 50 {
		t.Errorf("equal stretches have different widths: %v", even.x)
	}
}

// Versions that overlap in time (a corrected one and the one in its place) are drawn
// below each other.
func TestOverlappingVersionsHaveTracksOfTheirOwn(t *testing.T) {
	svg := string(Timeline{Title: "a/b", Now: day(20), Bars: []Bar{
		{Text: "wrong", Detail: "wrong", From: day(1), Until: new(day(10)), Mark: Corrected},
		{Text: "right", Detail: "right", From: day(1), Until: new(day(10)), Mark: Past},
		{Text: "new", Detail: "new", From: day(10), Mark: Current, Contradiction: true},
	}}.SVG(nil))
	y := func(text string) float64 { // of its box
		_, after, _ := strings.Cut(svg, `aria-label="`+text+`"`)
		_, after, _ = strings.Cut(after, `<rect x="`)
		_, after, _ = strings.Cut(after, ` y="`)
		number, _, _ := strings.Cut(after, `"`)
		n, err := strconv.ParseFloat(number, 64)
		if err != nil {
			t.Fatalf("%s is not drawn: %v", text, err)
		}
		return n
	}
	if y("right") != 8 || y("wrong") <= y("right") {
		t.Errorf("right at %v, wrong at %v", y("right"), y("wrong"))
	}
	for _, want := range []string{"tl-clash", "struck out: corrected", "contradiction", "<desc", "2026-01-10", ">now<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("%q is not in the drawing", want)
		}
	}
}

// The second axis is there only when versions were recorded at another time than they
// begin.
func TestRecordedAxisOnlyWhenItDiffers(t *testing.T) {
	for recorded, want := range map[time.Time]bool{day(1): false, day(15): true, {}: false} {
		svg := Timeline{Now: day(20), Bars: []Bar{{Text: "x", From: day(1), Mark: Current, Recorded: recorded}}}.SVG(nil)
		if got := strings.Contains(string(svg), "tl-dot\""); got != want {
			t.Errorf("recorded %v: axis %v", recorded, got)
		}
	}
}

func TestDrawingsOfManyVersionsStaySmall(t *testing.T) {
	x := Timeline{Now: day(1).AddDate(0, 0, 300)}
	for i := range 300 {
		x.Bars = append(x.Bars, Bar{Text: "v" + strconv.Itoa(i), Detail: "v" + strconv.Itoa(i), From: day(1).AddDate(0, 0, i), Until: new(day(1).AddDate(0, 0, i+1)), Mark: Past})
	}
	svg := x.SVG(&Options{Width: 340})
	if elements(t, svg); len(svg) > 200_000 {
		t.Errorf("%d bytes", len(svg))
	}
	if n := strings.Count(string(svg), `class="tl-label"`); n == 0 || n > 8 {
		t.Errorf("%d labels on an axis of 340 pixels", n)
	}
	if len((Timeline{Now: day(1)}).SVG(nil)) == 0 {
		t.Error("nothing to draw is no drawing")
	}
}

func TestMermaidLabelsHoldNoSyntax(t *testing.T) {
	got := Mermaid([]Link{
		{"architecture/auth", "depends_on", "architecture/db"},
		{"architecture/db", "related_to", `x/"]; click f1 href "javascript:alert(1)`},
		{"x/\n  evil --> f1", "supports", "`code` #quot; 漢字"},
	})
	want := `flowchart LR
  f1["architecture/auth"]
  f2["architecture/db"]
  f1 -->|"depends on"| f2
  f3["x/#34;#93;#59; click f1 href #34;javascript:alert#40;1#41;"]
  f2 ---|"related to"| f3
  f4["x/#92;n  evil --#62; f1"]
  f5["#96;code#96; #35;quot#59; 漢字"]
  f4 -->|"supports"| f5`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
