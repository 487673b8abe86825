package plan

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// However a plan repeats itself, it is read within a second or two and some megabytes, or refused.
func TestPlansOfOthersAreBounded(t *testing.T) {
	var steps strings.Builder
	for i := range 3_000 {
		steps.WriteString(strings.Repeat(" ", i) + "- [ ] a\n")
	}
	for name, text := range map[string]string{
		"lines below an item": "- [ ] a\n" + strings.Repeat("b\n", 2_000_000),
		"steps":               steps.String(),
		"items":               strings.Repeat("- [ ] a\n", 19_000),
		"too many items":      strings.Repeat("- [ ] a\n", 1_000_000),
		"headings":            "- [ ] a\n" + strings.Repeat("# a\n", 1_000_000),
		"fences":              "- [ ] a\n" + strings.Repeat("```\n", 1_000_000),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := Parse([]byte(text))
			runtime.ReadMemStats(&after)
			if took, mb := time.Since(start), (after.TotalAlloc-before.TotalAlloc)>>20; took > time.Minute || mb > 600 {
				t.Errorf("%.1f MB: %s, %d MB, %v", float64(len(text))/1e6, took, mb, err)
			}
		})
	}
}
