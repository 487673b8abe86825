package formats

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// However a text nests, it is read within a second and some megabytes, or not at all.
func TestYAMLOfOthersIsBounded(t *testing.T) {
	deep := func(line func(i int) string, n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(line(i) + "\n")
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"brackets": "x: " + strings.Repeat("[", 30_000), "braces": "x: " + strings.Repeat("{a: ", 30_000), "closed": "x: " + strings.Repeat("[", 30_000) + strings.Repeat("]", 30_000),
		"lines": "x: " + strings.Repeat("[\n", 30_000), "entries": "x:\n" + strings.Repeat("- ", 30_000), "keys": "x:\n  " + strings.Repeat("? ", 30_000),
		"quotes": "x: " + strings.Repeat(`["]",`, 20_000), "comments": "x: " + strings.Repeat("[ # ]\n", 20_000), "closers in a block": "y: |\n  ]]]]]]]]\nx: " + strings.Repeat("[", 30_000),
		"indented": deep(func(i int) string { return strings.Repeat(" ", i) + "a:" }, 1_000), "indented entries": deep(func(i int) string { return strings.Repeat(" ", i) + "-" }, 1_000),
		"aliases": "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nx: [*c,*c,*c,*c,*c,*c,*c,*c,*c]", "large": "x: " + strings.Repeat("y", 5<<20),
		"a flat list": "x: [" + strings.Repeat("a,", 1_990_000) + "b]", "flat lines": deep(func(i int) string { return "k" + strconv.Itoa(i) + ": v" }, 300_000), "flat entries": "x:\n" + strings.Repeat("- a\n", 1_000_000),
		"quoted": "x: [" + strings.Repeat(`"",`, 1_000_000) + "b]", "blank lines": "x: a\n" + strings.Repeat("\n", 4_000_000) + "y", "texts": "x:\n" + strings.Repeat(" a\n", 1_000_000), "hashes": "x: a\n" + strings.Repeat("#\n", 1_900_000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		var v struct{ X any }
		err := UnmarshalYAML([]byte(text), &v)
		runtime.ReadMemStats(&after)
		if took, mb := time.Since(start), (after.TotalAlloc-before.TotalAlloc)>>20; err == nil || took > 20*time.Second || mb > 200 {
			t.Errorf("%s: %v after %s and %d MB", name, err, took, mb)
		}
	}
	var v struct {
		Name string
		Tags any
	}
	facts := strings.Repeat("- {key: \"a [b] {c}\", id: f-0123456789abcdef, sum: c01234567, from: \"2026-03-01T09:00:00Z\"}\n", 1_000)
	if err := UnmarshalYAML([]byte("name: a note\ntags: [a, 'b', \"c\"]\nmetadata:\n    type: user\n    more:\n        - x\n        - {y: [1, 2]}\nleanctx_facts:\n"+facts), &v); err != nil || v.Name != "a note" {
		t.Errorf("%+v %v", v, err)
	}
}
