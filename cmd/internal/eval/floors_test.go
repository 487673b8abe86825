package eval

import (
	"os"
	"testing"
)

// dataVar names the directory of the evaluation data, which is not part of the
// program.
const dataVar = "LEAN_CTX_EVAL_DIR"

// floor is what a set must reach.
type floor struct {
	set    string
	sample int
	n      int // at least so many questions or keys
	checks int // and so many things that have to be exact
	r1     float64
	ndcg   float64

	answered, givenUp float64 // at most, where questions in words are asked
}

// TestFloors holds the store against the data: what must be exact is exact, and
// recall is not below what was reached. Of the big sets some keys are taken; the
// 67 periods upside down are among the checks all the same.
func TestFloors(t *testing.T) {
	dir := os.Getenv(dataVar)
	if dir == "" {
		t.Skip("NOTHING MEASURED: set " + dataVar + " to the directory of the evaluation data")
	}
	for _, want := range []floor{
		{set: "factconsolidation-6k", sample: 1, n: 100, checks: 294, r1: 0.99, answered: 0.05, givenUp: 0.01},
		{set: "yago11k", sample: 10, n: 200, checks: 267},
		{set: "yago-snapshots", sample: 50, n: 150, checks: 150},
		{set: "locomo-facts", sample: 1, n: 800, ndcg: 0.598, answered: 0.12, givenUp: 0.04},
	} {
		t.Run(want.set, func(t *testing.T) {
			r, err := Run(t.Context(), dir, &Options{Sets: []string{want.set}, Sample: want.sample, Temp: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			t.Log(r.Text())
			if len(r.Rows) == 0 {
				t.Fatalf("no rows; skipped: %q", r.Skipped)
			}
			for _, row := range r.Rows {
				want.holds(t, row)
			}
		})
	}
}

func (want floor) holds(t *testing.T, row Row) {
	t.Helper()
	if row.N < want.n || row.Checks < want.checks || row.Errors > 0 {
		t.Errorf("n %d (want at least %d), %d checks (want at least %d), %d errors", row.N, want.n, row.Checks, want.checks, row.Errors)
	}
	if want.checks > 0 && (row.Exact == nil || *row.Exact != 1) {
		t.Errorf("not all that was checked is exact: %v", row.Exact)
	}
	if want.r1 > 0 && (*row.R1 < want.r1 || *row.Stale > 0) {
		t.Errorf("R@1 %.3f, stale %.3f; want at least %.2f and none", *row.R1, *row.Stale, want.r1)
	}
	if want.ndcg > 0 && *row.NDCG10 < want.ndcg {
		t.Errorf("nDCG@10 %.3f, want at least %.3f", *row.NDCG10, want.ndcg)
	}
	if want.answered > 0 && (row.Strangers != strangersAsked || *row.Answered > want.answered || *row.GivenUp > want.givenUp) {
		t.Errorf("of %d strangers answered %.3f, given up %.3f; want at most %.2f and %.2f", row.Strangers, *row.Answered, *row.GivenUp, want.answered, want.givenUp)
	}
}
