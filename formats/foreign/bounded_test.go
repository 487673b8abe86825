package foreign

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// However a file repeats itself, it is read within a second or two, in a few times the memory that an ordinary
// file of its size takes, or it is refused.
func TestFilesOfOthersAreBounded(t *testing.T) {
	items := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "- a%d\n", i)
		}
		return b.String()
	}
	const entity = `{"type":"entity","name":"n","entityType":"t","observations":["o"]}` + "\n"
	var relations strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&relations, `{"type":"relation","from":"n","relationType":"r","to":"x%d"}`+"\n", i)
	}
	long := strings.Repeat("word ", 40_000)
	for name, text := range map[string]string{
		"a long sentence before a list": "# Rules\n\n" + long + "as follows:\n\n" + items(6_000),
		"a long column":                 "| a | " + long + "| c |\n|-|-|-|\n" + strings.Repeat("| x | y | z |\n", 5_000),
		"a long heading":                "# " + long + "\n\n" + items(20_000),
		"code after code":               "text\n\n" + strings.Repeat("```\nb\n```\n\n", 20_000),
		"code that ends with a colon":   "text:\n\n" + strings.Repeat("```\nb:\n```\n\n", 20_000),
		"too much code":                 "text\n\n" + strings.Repeat("```\nb\n```\n\n", 200_000),
		"items":                         items(90_000),
		"too many items":                items(1_000_000),
		"cells":                         "| a | b |\n|-|-|\n" + strings.Repeat("| x | y |\n", 60_000),
		"too many cells":                "| a |" + strings.Repeat(" b |", 100) + "\n|-|" + strings.Repeat("-|", 100) + "\n" + strings.Repeat("| x |"+strings.Repeat(" y |", 100)+"\n", 20_000),
		"tags":                          "---\npermalink: x\ntitle: t\n---\n- [fact] a " + strings.Repeat("#b ", 100_000) + "\n",
		"different tags":                "---\npermalink: x\ntitle: t\n---\n- [fact] a #" + strings.Join(strings.Fields(items(50_000)), " #") + "\n",
		"a flat front matter":           "---\nname: x\ntags: [" + strings.Repeat("a,", 1_990_000) + "b]\n---\nbody\n",
		"brackets":                      strings.Repeat("[", 200_000),
		"links":                         strings.Repeat("[a](", 50_000),
		"stars":                         strings.Repeat("*a **b ", 50_000),
		"back-ticks":                    strings.Repeat("` `` ", 50_000),
		"references":                    strings.Repeat("[a]: b\n", 90_000) + strings.Repeat("[a] ", 50_000),
		"angles":                        strings.Repeat("<a ", 100_000),
		"exclamation marks":             strings.Repeat("![", 100_000),
		"underscores":                   strings.Repeat("_a__b", 100_000),
		"bad lines":                     entity + strings.Repeat("x\n", 2_000_000),
		"other lines":                   entity + strings.Repeat(`{"type":"entity"}`+"\n", 500_000),
		"relations":                     entity + relations.String(),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := Parse([]File{{"AGENTS.md", []byte(text)}}, "shop")
			runtime.ReadMemStats(&after)
			took, mb := time.Since(start), (after.TotalAlloc-before.TotalAlloc)>>20
			t.Logf("%.2f MB: %s, %d MB, %v", float64(len(text))/1e6, took, mb, err)
			if took > time.Minute || mb > 1000 { // what grows with the square takes minutes and gigabytes
				t.Errorf("it takes %s and %d MB", took, mb)
			}
		})
	}
}
