package page_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// The first view of 10,000 facts, without the browser.
func BenchmarkFirstView(b *testing.B) {
	f := newFixture(b)
	var lines strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&lines, `{"category":"room%d","key":"key-%d","value":"%d %s"}`+"\n", i%40, i, i, strings.Repeat("a value of some length, ", 5))
	}
	file := b.TempDir() + "/facts.jsonl"
	writeFile(b, file, lines.String())
	f.do("", "knowledge", "import", "file", file)
	for b.Loop() {
		f.get("/", http.StatusOK)
	}
}
