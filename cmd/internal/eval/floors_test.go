package eval

import (
	"os"
	"testing"
)

// dataVar names the directory of the evaluation data, which is not part of the
// program.
const dataVar = "LEAN_CTX_EVAL_DIR"

// TestFloors holds the store against the data: what must be exact is exact, and
// recall is not below what was reached. The big set is sampled by keys.
func TestFloors(t *testing.T) {
	dir := os.Getenv(dataVar)
	if dir == "" {
		t.Skip("the evaluation data is not here: set " + dataVar + " to its directory")
	}
	tests := []struct {
		set    string
		sample int
		n      int // at least so many questions or keys
		checks int // and so many things that have to be exact: here with the 67 periods upside down
		r1     float64
	}{
		{"factconsolidation-6k", 1, 100, 294, 0.99},
		{"yago11k", 2, 1000, 1067, 0},
		{"yago-snapshots", 20, 400, 400, 0},
	}
	for _, tt := range tests {
		t.Run(tt.set, func(t *testing.T) {
			r, err := Run(t.Context(), dir, &Options{Sets: []string{tt.set}, Sample: tt.sample, Temp: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			t.Log(r.Text())
			if len(r.Rows) != 1 {
				t.Fatalf("%d rows; skipped: %q", len(r.Rows), r.Skipped)
			}
			row := r.Rows[0]
			if row.N < tt.n || row.Checks < tt.checks || row.Errors > 0 || row.Exact == nil || *row.Exact != 1 {
				t.Errorf("n %d (want at least %d), %d checks (want at least %d), %d errors", row.N, tt.n, row.Checks, tt.checks, row.Errors)
			}
			if tt.r1 > 0 && (*row.R1 < tt.r1 || *row.Stale > 0) {
				t.Errorf("R@1 %.3f, stale %.3f; want at least %.2f and none", *row.R1, *row.Stale, tt.r1)
			}
		})
	}
}
