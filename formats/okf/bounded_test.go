package okf

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A room of many facts is read, and however somebody else's repeats itself, it is read within a second or two and
// some megabytes, or refused.
func TestRoomsAreBounded(t *testing.T) {
	head := func(facts string) string {
		return "---\ntype: room\ntitle: \"a\"\nleanctx_category: \"a\"\nleanctx_facts:\n" + facts + "leanctx_checksum: c1\n---\n\n# a\n\n"
	}
	var list, items strings.Builder
	const n = 20_000
	for i := range n {
		fmt.Fprintf(&list, "- {key: \"k%d\", id: \"f-0123456789abcdef\", sum: %s, from: \"2026-03-01T09:00:00Z\"}\n", i, sum("v"))
		fmt.Fprintf(&items, "- **k%d**: v\n", i)
	}
	many := list.String()
	for _, tt := range []struct {
		name, text string
		facts      int
	}{
		{"many facts", head(many) + items.String(), n},
		{"a long value", head("- {key: \"k\", id: f-1, sum: c1}\n") + "- **k**: a\n" + strings.Repeat("  b\n", 600_000), 1},
		{"many entries", head(strings.Repeat("- {}\n", 600_000)) + "- **k**: a\n", 0},
		{"one entry", head("- {key: ["+strings.Repeat("a,", 1_000_000)+"]}\n") + "- **k**: a\n", 0},
		{"other entries", head("- x\n"+strings.Repeat("- y\n", 600_000)) + "- **k**: a\n", 0},
		{"mistakes", head("- {key: \"k\", id: f-1, sum: c1}\n") + strings.Repeat("x\n", 1_000_000), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			r, err := Parse([]byte(tt.text))
			runtime.ReadMemStats(&after)
			took, mb := time.Since(start), (after.TotalAlloc-before.TotalAlloc)>>20
			t.Logf("%.1f MB: %s, %d MB, %d facts, %v", float64(len(tt.text))/1e6, took, mb, len(r.Facts), err)
			if took > time.Minute || mb > 1000 || len(r.Facts) != tt.facts {
				t.Errorf("%d facts after %s and %d MB: %v", len(r.Facts), took, mb, err)
			}
			if tt.facts == n && (r.Facts[7].Edited || len(r.Missing) > 0) {
				t.Errorf("%+v", r.Facts[7])
			}
		})
	}
}
