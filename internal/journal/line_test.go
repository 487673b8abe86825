package journal

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// oneLine is a line as the package doc says it is.
func oneLine(body string) string {
	return fmt.Sprintf("%08x %s\n", crc32.Checksum([]byte(body), crc32.MakeTable(crc32.Castagnoli)), body)
}

func TestScan(t *testing.T) {
	head := oneLine(`{"journal":1,"schema":1,"generation":3,"base":6,"prev":"00000000","at":"2026-01-01T00:00:00Z","repairs":0}`)
	one := oneLine(`{"seq":7,"prev":"00000000","at":"2026-01-01T00:00:00Z","events":[1]}`)
	two := oneLine(`{"seq":8,"prev":"00000001","at":"2026-01-01T00:00:00Z","events":["a\nb"]}`)
	lost := oneLine(`{"seq":9,"prev":"00000002","lost":true}`)
	odd := oneLine(`{ "prev": "00000002", "seq": 9, "more": {}, "events": [] }`)
	bad := strings.Replace(two, "8", "9", 1)
	type result struct {
		Head    bool
		Seqs    []uint64
		Lost    int
		Bad     int
		BadTail int
		Torn    string
	}
	tests := map[string]struct {
		text string
		want result
	}{
		"empty":                    {"", result{}},
		"header":                   {head, result{Head: true}},
		"commits":                  {head + one + two, result{Head: true, Seqs: []uint64{7, 8}}},
		"lost one":                 {head + one + two + lost, result{Head: true, Seqs: []uint64{7, 8, 9}, Lost: 1}},
		"members in another order": {head + one + two + odd, result{Head: true, Seqs: []uint64{7, 8, 9}}},
		"torn":                     {head + one + two[:20], result{Head: true, Seqs: []uint64{7}, Torn: two[:20]}},
		"torn header":              {head[:20], result{Torn: head[:20]}},
		"damaged":                  {head + one + bad + lost, result{Head: true, Seqs: []uint64{7, 9}, Lost: 1, Bad: 1}},
		"damaged last":             {head + one + bad, result{Head: true, Seqs: []uint64{7}, Bad: 1, BadTail: 1}},
		"damaged header":           {"0" + head + one, result{Seqs: []uint64{7}, Bad: 1}},
		"empty lines":              {head + "\n\n" + one, result{Head: true, Seqs: []uint64{7}, Bad: 2}},
		"no line feed between":     {head + strings.Replace(one, "\n", "x", 1) + two, result{Head: true, Seqs: []uint64{7, 8}, Bad: 1}},
		"nor after the header":     {strings.Replace(head, "\n", "\v", 1) + one, result{Head: true, Seqs: []uint64{7}, Bad: 1}},
		"zeros":                    {head + one + strings.Repeat("\x00", 100), result{Head: true, Seqs: []uint64{7}, Torn: strings.Repeat("\x00", 100)}},
		"a commit for a header":    {one + two, result{Seqs: []uint64{7, 8}}},
		"no number":                {head + oneLine(`{"seq":0}`) + oneLine(`7`) + one, result{Head: true, Seqs: []uint64{7}, Bad: 2}},
		"uppercase":                {head + strings.ToUpper(one[:8]) + one[8:], result{Head: true, Bad: 1, BadTail: 1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := scan([]byte(tt.text), 0)
			got := result{Head: c.hasHead, Bad: c.bad, BadTail: c.badTail, Torn: string(c.torn)}
			for _, l := range c.lines {
				got.Seqs = append(got.Seqs, l.seq)
				if l.lost {
					got.Lost++
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if int(c.whole)+len(c.torn) != len(tt.text) {
				t.Errorf("whole %d, torn %d, of %d", c.whole, len(c.torn), len(tt.text))
			}
		})
	}
}

// TestLinesSurvive writes lines of any events and reads them, whole and in two parts.
func TestLinesSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-6e10, 2e11).Draw(t, "at"), 0).UTC()
		text := header{Journal: format, Base: 4}.line().appendTo(nil)
		var want []line
		var prev uint32
		for i := range rapid.IntRange(1, 5).Draw(t, "n") {
			l, err := commitLine(uint64(5+i), prev, at, []string{rapid.String().Draw(t, "event")})
			if err != nil {
				t.Fatal(err)
			}
			l.off, prev = int64(len(text)), l.sum
			text = l.appendTo(text)
			want = append(want, l)
		}
		opt := cmp.AllowUnexported(line{})
		if c := scan(text, 0); c.bad > 0 || !c.hasHead || !cmp.Equal(want, c.lines, opt) {
			t.Fatalf("%+v: %s", c, cmp.Diff(want, c.lines, opt))
		}
		k := rapid.IntRange(0, len(want)-1).Draw(t, "k")
		if c := scan(text[want[k].off:], want[k].off); !cmp.Equal(want[k:], c.lines, opt) {
			t.Fatal(cmp.Diff(want[k:], c.lines, opt))
		}
	})
}

// FuzzScan checks what must hold of any bytes. What is taken for intact has its checksum and is
// at its place. Nothing is passed over in silence.
func FuzzScan(f *testing.F) {
	head := oneLine(`{"journal":1,"schema":1,"base":6}`)
	one := oneLine(`{"seq":7,"prev":"00000000","at":"2026-01-01T00:00:00Z","events":[1]}`)
	for _, seed := range []string{"", "\n", head, head + one, head + one[:30], head + "x" + one + one, one, head[:len(head)-1] + "\x00" + one} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := scan(data, 0)
		if !bytes.Equal(data[c.whole:], c.torn) || bytes.Contains(c.torn, []byte("\n")) {
			t.Errorf("whole to %d, torn %q", c.whole, c.torn)
		}
		end := int64(0)
		for _, l := range c.lines {
			text := l.appendTo(nil)
			text = text[:len(text)-1]
			if l.off < end || !bytes.HasPrefix(data[l.off:], text) || checksum(l.body) != l.sum || l.seq == 0 {
				t.Errorf("%d: %q", l.off, text)
			}
			end = l.off + int64(len(text))
		}
		feeds := bytes.Count(data, []byte("\n"))
		if found := len(c.lines) + c.bad; found < feeds-1 || c.bad > feeds {
			t.Errorf("%d lines, %d intact, %d damaged", feeds, len(c.lines), c.bad)
		}
		if c.bad == 0 && !slices.IsSortedFunc(c.lines, func(a, b line) int { return int(a.off - b.off) }) {
			t.Error("out of order")
		}
	})
}

// FuzzSniff reads headers of snapshots.
func FuzzSniff(f *testing.F) {
	f.Add([]byte(`{"schema": 1, "checksum": "00000000", "seq": 3, "generation": 1, "facts": []}`))
	f.Add([]byte(`{"schema": 99`))
	f.Add([]byte(`[{"schema": 1}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, ours := sniff(data)
		if ours && !bytes.Contains(data, []byte("{")) {
			t.Errorf("%q is taken for a snapshot", data)
		}
		if at := checksumAt(data); at >= 0 && len(sumWithout(data, at)) != sumLen {
			t.Errorf("checksum at %d", at)
		}
	})
}
