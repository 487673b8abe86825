package bench

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the README shows is the report that is kept in testdata, and the chart
// beside it is drawn from the same. To publish another run:
//
//	lean-ctx bench --check --json > testdata/bench/report.json
//	go test ./cmd/internal/bench -run TestPublished -update
func TestPublished(t *testing.T) {
	top := filepath.Join("..", "..", "..")
	data, err := os.ReadFile(filepath.Join(top, "testdata", "bench", "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r Report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	readable, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join(top, "testdata", "bench", "report.json"), string(readable)+"\n")
	golden(t, filepath.Join(top, "testdata", "bench", "chart.svg"), r.SVG())

	readme := filepath.Join(top, "README.md")
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- bench:begin -->\n", "<!-- bench:end -->\n"
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("README.md lacks the marks %s and %s", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	golden(t, readme, before+begin+"```text\n"+r.Text()+"\n```\n"+end+after)
}
