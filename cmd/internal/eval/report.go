package eval

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// Report is the outcome of a run.
type Report struct {
	System  string   `json:"system"`
	Sample  int      `json:"sample"` // one key and one question in words of so many were taken
	Rows    []Row    `json:"rows"`
	Skipped []string `json:"skipped,omitempty"` // sets without data
}

// Row is what one set gave, in one mode of recall. A measure that the set does
// not have is nil.
type Row struct {
	Set     string   `json:"set"`
	Mode    string   `json:"mode"`              // exact: by name, without ranking
	Encoder string   `json:"encoder,omitempty"` // whose vectors may have a part in answers
	N       int      `json:"n"`
	R1      *float64 `json:"recall_at_1,omitempty"`
	R5      *float64 `json:"recall_at_5,omitempty"`
	R10     *float64 `json:"recall_at_10,omitempty"`
	Hit10   *float64 `json:"hit_at_10,omitempty"`
	MRR10   *float64 `json:"mrr_at_10,omitempty"`
	NDCG10  *float64 `json:"ndcg_at_10,omitempty"`
	Stale   *float64 `json:"stale,omitempty"`
	// The two errors of abstention: the share answered of questions about nothing
	// in the store, and the share of the others of which nothing was found.
	Answered  *float64 `json:"strangers_answered,omitempty"`
	GivenUp   *float64 `json:"given_up,omitempty"`
	Strangers int      `json:"strangers,omitempty"` // how many of the former were asked

	Exact  *float64 `json:"exact,omitempty"`
	Checks int      `json:"checks"` // of which exact is the share that passed
	Errors int      `json:"errors"`
	Notes  []string `json:"notes,omitempty"` // the first things that came out wrong

	P50Millis float64 `json:"p50_ms,omitempty"` // of one recall
	P95Millis float64 `json:"p95_ms,omitempty"`

	Facts          int     `json:"facts"`            // remembers that were committed
	RememberMicros float64 `json:"remember_us"`      // of one of them
	BareMicros     float64 `json:"bare_fsync_us"`    // of an append and fsync as long
	Ratio          float64 `json:"ratio_to_bare"`    // of the two
	Remembering    float64 `json:"remember_seconds"` // of all of them
	Seconds        float64 `json:"seconds"`          // of the set with everything, its other modes too; in speed of the row
}

// wrote fills in what remembering took.
func (r *Row) wrote(m *meter) {
	r.Facts, r.Remembering = m.facts, m.spent.Seconds()
	if m.facts > 0 {
		r.RememberMicros = float64(m.spent.Microseconds()) / float64(m.facts)
		r.BareMicros = float64(m.bare.Microseconds()) / float64(m.facts)
	}
	if m.bare > 0 {
		r.Ratio = m.spent.Seconds() / m.bare.Seconds()
	}
}

// tally adds up the answers to the questions of a row.
type tally struct {
	row    Row
	sums   map[**float64]float64
	times  []time.Duration
	passed int // of the row's checks
}

func newTally(mode string) *tally {
	t := &tally{sums: map[**float64]float64{}}
	t.row.Mode = mode
	return t
}

// add adds to the mean of a measure of the row.
func (t *tally) add(measure **float64, value float64) { t.sums[measure] += value }

// check counts something that has one right outcome.
func (t *tally) check(ok bool, format string, args ...any) {
	t.row.Checks++
	if ok {
		t.passed++
		return
	}
	t.row.Errors++
	t.note(format, args...)
}

// notesMost is how many wrong outcomes are told in words.
const notesMost = 5

func (t *tally) note(format string, args ...any) {
	if len(t.row.Notes) < notesMost {
		t.row.Notes = append(t.row.Notes, fmt.Sprintf(format, args...))
	}
}

// done makes the row. The means are over n.
func (t *tally) done(m *meter) Row {
	for measure, sum := range t.sums {
		*measure = new(sum / float64(max(t.row.N, 1)))
	}
	if t.row.Checks > 0 {
		t.row.Exact = new(float64(t.passed) / float64(t.row.Checks))
	}
	t.row.P50Millis = millis(quantile(t.times, 0.5))
	t.row.P95Millis = millis(quantile(t.times, 0.95))
	t.row.wrote(m)
	return t.row
}

func millis(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// Text is the table, and below it what was wrong and what was left out.
func (r Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Evaluation on %s", r.System)
	if r.Sample > 1 {
		fmt.Fprintf(&b, ", one key or question of %d", r.Sample)
	}
	b.WriteString("\n\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "set\tmode\tencoder\tn\tR@1\tR@5\tR@10\thit@10\tMRR@10\tnDCG@10\tstale\tanswered\tgiven up\texact\terrors\tp50 ms\tp95 ms\tfacts\tµs/fact\t×fsync\tseconds\t")
	for _, x := range r.Rows {
		fmt.Fprintln(w, strings.Join(x.cells(), "\t")+"\t")
	}
	w.Flush() // into memory: it cannot fail
	for _, x := range r.Rows {
		for _, n := range x.Notes {
			fmt.Fprintf(&b, "\n%s: %s", x.Set, n)
		}
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(&b, "\nSKIPPED %s", s)
	}
	return strings.TrimRight(b.String(), "\n")
}

func (r Row) cells() []string {
	number := func(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }
	share := func(v *float64) string {
		if v == nil {
			return "–"
		}
		return number(*v, 3)
	}
	exact := "–"
	if r.Exact != nil {
		exact = number(math.Floor(*r.Exact*1e4)/1e4, 4)
	}
	cells := []string{
		r.Set, r.Mode, cmp.Or(r.Encoder, "–"), strconv.Itoa(r.N), share(r.R1), share(r.R5), share(r.R10), share(r.Hit10), share(r.MRR10), share(r.NDCG10),
		share(r.Stale), share(r.Answered), share(r.GivenUp), exact, strconv.Itoa(r.Errors),
	}
	if r.N == 0 {
		cells = append(cells, "–", "–")
	} else {
		cells = append(cells, number(r.P50Millis, 2), number(r.P95Millis, 2))
	}
	return append(cells, strconv.Itoa(r.Facts), number(r.RememberMicros, 0), number(r.Ratio, 2), number(r.Seconds, 1))
}
