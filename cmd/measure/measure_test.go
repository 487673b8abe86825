package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"leanctx/cmd/internal/app"
)

// TestMain lets the test binary be lean-ctx itself, or the program that does
// nothing, so that no test has to build them.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv("MEASURE_AS_LEAN_CTX") != "":
		os.Exit(app.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	case os.Getenv("MEASURE_AS_EMPTY") != "":
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func leanCtx(t *testing.T) *product {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &product{exe, append(cleanEnv(t.TempDir()), "MEASURE_AS_LEAN_CTX=1")}
}

// tiny is a set of each kind, small enough to be checked by hand.
func tiny() map[string]string {
	return map[string]string{
		"factconsolidation/facts_6k.jsonl.gz": `{"text":"The capital of Atlantis is Poseidonis.","subject":"Atlantis","relation":"capital","object":"Poseidonis"}
{"text":"The capital of Utopia is Amaurot.","subject":"Utopia","relation":"capital","object":"Amaurot"}
{"text":"The capital of Atlantis is Basileia.","subject":"Atlantis","relation":"capital","object":"Basileia"}`,
		"factconsolidation/questions_6k.jsonl.gz": `{"question":"What is the capital of Atlantis?","answers":["Basileia"],"hops":"single"}
{"question":"What is the capital of Utopia?","answers":["Amaurot"],"hops":"single"}
{"question":"Who keeps the lighthouse of Atlantis?","answers":["nobody"],"hops":"multi"}`,
		"yago11k/facts.jsonl.gz": `{"subject":"Ann","relation":"owns","object":"boat","from":1990,"until":1992}
{"subject":"Ann","relation":"owns","object":"plane","from":1992,"until":null}
{"subject":"Eve","relation":"owns","object":"hat","from":1995,"until":1990}`,
		"yago11k/asof_queries.jsonl.gz": `{"subject":"Ann","relation":"owns","as_of":1989,"expect":[]}
{"subject":"Ann","relation":"owns","as_of":1991,"expect":["boat"]}
{"subject":"Ann","relation":"owns","as_of":2001,"expect":["car"]}`,
		"yago-snapshots/stream.jsonl.gz": `{"t":0,"subject":"Ann","relation":"owns","object":"boat"}
{"t":0,"subject":"Bob","relation":"owns","object":"hat"}
{"t":1,"subject":"Ann","relation":"owns","object":"plane"}
{"t":2,"subject":"Ann","relation":"owns","object":"plane"}`,
		"yago-snapshots/expected_final.jsonl.gz": `{"subject":"Ann","relation":"owns","current":"plane","versions":2,"last_run_confirmations":2}
{"subject":"Bob","relation":"owns","current":"hat","versions":3,"last_run_confirmations":1}`,
		"locomo-dev/facts/corpus.jsonl.gz": `{"_id":"g1/a","group":"g1","title":"Ann","text":"Ann sails her boat to the lighthouse."}
{"_id":"g1/b","group":"g1","title":"Bob","text":"Bob paints portraits of horses."}
{"_id":"g2/a","group":"g2","title":"Eve","text":"Eve has a lighthouse too."}
{"_id":"g2/b","group":"g2","title":"Dan","text":"Dan repairs clocks."}`,
		"locomo-dev/facts/queries.jsonl.gz": `{"_id":"q1","group":"g1","text":"who sails to the lighthouse?"}
{"_id":"q2","group":"g2","text":"does Eve have a lighthouse?"}
{"_id":"q3","group":"g1","text":"nobody judged this"}
{"_id":"q5","group":"g1","text":"xylophone zeppelin quartz"}`,
		"locomo-dev/facts/qrels.tsv.gz": "query-id\tcorpus-id\tscore\nq1\tg1/a\t1\nq1\tg1/b\t1\nq2\tg2/a\t1\nq5\tg1/b\t1\n",
		"project-questions/one/facts.jsonl": `{"n":1,"category":"storage","key":"engine","value":"Sessions are kept in Redis.","valid_from":"2025-01-01"}
{"n":2,"category":"storage","key":"move","value":"Sessions moved from Redis to Postgres.","valid_from":"2025-06-01","replaces":1}`,
		"project-questions/one/questions.jsonl": `{"id":"q1","kind":"changed","question":"where are sessions kept","expect":[2],"stale":[1]}
{"id":"q2","kind":"stranger","question":"who waters the office plants","expect":[],"stale":[]}`,
		"project-questions/one/stored-questions.jsonl": `{"n":1,"questions":"session store"}`,
	}
}

func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for file, text := range files {
		path := filepath.Join(dir, file)
		data := []byte(text)
		if strings.HasSuffix(file, ".gz") {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			if _, err := z.Write(data); err != nil || z.Close() != nil {
				t.Fatal(err)
			}
			data = b.Bytes()
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func evaluated(t *testing.T, o evalOptions) (EvalReport, error) {
	t.Helper()
	o.program, o.root = leanCtx(t), filepath.Join("..", "..")
	return evaluate(t.Context(), t.TempDir(), o)
}

// Each set is scored as it says, and what is wrong shows.
func TestEvaluate(t *testing.T) {
	r, err := evaluated(t, evalOptions{data: lay(t, tiny()), modes: []string{"lexical"}})
	if err != nil {
		t.Fatal(err)
	}
	row := func(set, kind, mode string) Row {
		t.Helper()
		for _, row := range r.Rows {
			if row.Set == set && row.Kind == kind && row.Mode == mode {
				return row
			}
		}
		t.Fatalf("no row %s %s %s in\n%s", set, kind, mode, r.Text())
		return Row{}
	}
	if c := row("factconsolidation-6k", "", "lexical"); c.N != 2 || *c.Hit1 != 1 || *c.Stale != 0 || c.Foreign.N != 4 {
		t.Errorf("%+v", c)
	}
	if c := row("factconsolidation-6k", "", "versions"); c.N != 2 || *c.Exact != 1 {
		t.Errorf("%+v", c)
	}
	// Three questions and one refused period; one of the expectations is wrong.
	if c := row("yago11k", "", "exact"); c.N != 3 || *c.Exact != .75 || c.Errors != 1 || !strings.Contains(c.Notes[0], `["plane"], not ["car"]`) {
		t.Errorf("%+v", c)
	}
	if c := row("yago-snapshots", "", "exact"); c.N != 2 || *c.Exact != .5 {
		t.Errorf("%+v", c)
	}
	// Of three judged questions one has two texts, of which one is found, and one
	// is not answered.
	if c := row("locomo-facts", "", "lexical"); c.N != 3 || *c.R5 != .5 || math.Abs(*c.Hit10-2./3) > 1e-9 || math.Abs(*c.Abstained-1./3) > 1e-9 || *c.Bleve <= 0 {
		t.Errorf("%+v", c)
	}
	if c := row("project-questions", "changed", "bleve"); c.N != 1 || c.Hit3 == nil {
		t.Errorf("%+v", c)
	}
	if c := row("project-questions", "stranger", "lexical"); c.N != 1 || c.Own.Firm != 0 {
		t.Errorf("%+v", c)
	}
	if text := r.Text(); !strings.Contains(text, "SKIPPED cosqa: ") || !strings.Contains(text, "hit@1") {
		t.Error(text)
	}
}

// A superseded value that comes first is stale, however it is found.
func TestStaleFirst(t *testing.T) {
	q := query{relevant: grades{"new": 1}, stale: map[string]bool{"old": true}, anyOf: true}
	for want, found := range map[float64][][]string{
		1: {{"old", "new"}, {"other", "old"}, {"new" + superseded}, {"old"}},
		0: {{"new", "old"}, {"other", "new"}, {}, {"other"}},
	} {
		for _, ids := range found {
			c := newTally("", "")
			c.add(q, ids, true, time.Millisecond, nil)
			if got := *c.done().Stale; got != want {
				t.Errorf("%q: stale first %v, want %v", ids, got, want)
			}
		}
	}
}

func TestBadSets(t *testing.T) {
	broken := func(file, text string) string {
		all := tiny()
		all[file] = text
		return lay(t, all)
	}
	for name, o := range map[string]evalOptions{
		"no such file":            {data: filepath.Join(t.TempDir(), "nowhere")},
		"nothing was measured":    {data: t.TempDir(), only: []string{"cosqa"}},
		`no set "yagoo"`:          {data: lay(t, tiny()), only: []string{"yago", "yagoo"}},
		"telepathic":              {data: lay(t, tiny()), only: []string{"fact"}, modes: []string{"telepathic"}},
		"facts.jsonl.gz: line 1":  {data: broken("yago11k/facts.jsonl.gz", "{\n"), only: []string{"yago11k"}},
		"qrels.tsv.gz: line 2":    {data: broken("locomo-dev/facts/qrels.tsv.gz", "a\tb\tc\nq1\tg1/a\tmuch\n"), only: []string{"locomo-f"}},
		"2 columns":               {data: broken("locomo-dev/facts/qrels.tsv.gz", "a\tb\tc\nq1\tg1/a\n"), only: []string{"locomo-f"}},
		"unexpected end of JSON":  {data: broken("yago11k/facts.jsonl.gz", `{"subject":"A"}`+"\n{"), only: []string{"yago11k"}},
		"cannot unmarshal number": {data: broken("yago11k/facts.jsonl.gz", `{"subject":3}`), only: []string{"yago11k"}},
	} {
		if r, err := evaluated(t, o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want %q in it; %+v", err, name, r)
		}
	}
}

// The expected values are worked out by hand.
func TestMeasures(t *testing.T) {
	found := []string{"x", "a", "y", "b", "z", "c"}
	log2 := math.Log2
	for _, tt := range []struct {
		name             string
		relevant         grades
		k                int
		recall, hit, ndc float64
		rank             float64
	}{
		{"second and fourth of two", grades{"a": 1, "b": 1}, 5, 1, 1, (1/log2(3) + 1/log2(5)) / (1 + 1/log2(3)), 2},
		{"two of three before the cut", grades{"a": 1, "b": 1, "c": 1}, 5, 2.0 / 3, 1, (1/log2(3) + 1/log2(5)) / (1 + 1/log2(3) + 0.5), 2},
		{"nothing before the cut", grades{"b": 1}, 3, 0, 0, 0, math.Inf(1)},
		{"not found at all", grades{"q": 1}, 10, 0, 0, 0, math.Inf(1)},
		{"more relevant than places", grades{"x": 1, "p": 1, "q": 1}, 1, 1.0 / 3, 1, 1, 1},
		{"the better one too late", grades{"x": 1, "a": 3}, 2, 1, 1, (1 + 3/log2(3)) / (3 + 1/log2(3)), 1},
		{"a cut beyond the end", grades{"c": 1}, 10, 1, 1, 1 / log2(7), 6},
	} {
		got := []float64{recallAt(tt.k, found, tt.relevant), hitAt(tt.k, found, tt.relevant), ndcgAt(tt.k, found, tt.relevant), reciprocalRank(tt.k, found, tt.relevant)}
		for i, want := range []float64{tt.recall, tt.hit, tt.ndc, 1 / tt.rank} {
			if math.Abs(got[i]-want) > 1e-12 {
				t.Errorf("%s: %v, want %v as number %d", tt.name, got, want, i)
			}
		}
	}
	if sum := recallAt(10, nil, grades{"a": 1}) + hitAt(10, nil, grades{"a": 1}) + ndcgAt(10, nil, grades{"a": 1}); sum != 0 {
		t.Errorf("the measures of an empty answer add up to %v", sum)
	}
}

func TestQuantile(t *testing.T) {
	var ds []time.Duration
	for i := range 20 {
		ds = append(ds, time.Duration(20-i)) // 20 … 1, not in order
	}
	for q, want := range map[float64]time.Duration{.5: 10, .95: 19, .951: 20, 1: 20, 0: 1} {
		if got := quantile(ds, q); got != want {
			t.Errorf("quantile %v = %d, want %d", q, got, want)
		}
	}
	if quantile([]time.Duration(nil), .95) != 0 || ds[0] != 20 {
		t.Error("a quantile of nothing is 0, and the argument stays in its order")
	}
}

// Floors hold recall against what was reached on the shared sets. A sample is
// always the same.
func TestFloors(t *testing.T) {
	dir := os.Getenv("LEAN_CTX_EVAL_DIR")
	if dir == "" {
		t.Skip("NOTHING MEASURED: set LEAN_CTX_EVAL_DIR to the directory of the evaluation data")
	}
	type floor struct {
		set, kind, mode string
		n               int
		exact           bool
		hit1, hit3      float64
		foreign, own    float64 // of strangers, firmly answered, at most
	}
	for sample, floors := range map[int][]floor{
		1: {
			{set: "factconsolidation-6k", mode: "auto", n: 100, hit1: .99, foreign: .05},
			{set: "factconsolidation-6k", mode: "versions", n: 294, exact: true},
			{set: "project-questions", kind: "words", mode: "auto", n: 60, hit1: .98, hit3: .98},
			{set: "project-questions", kind: "keyword", mode: "auto", n: 32, hit1: .86, hit3: .90},
			{set: "project-questions", kind: "changed", mode: "auto", n: 48, hit1: .70, hit3: .77},
			{set: "project-questions", kind: "prompt", mode: "auto", n: 40, hit1: .62, hit3: .80},
			{set: "project-questions", kind: "few", mode: "auto", n: 100, hit1: .33, hit3: .55},
			{set: "project-questions", kind: "asof", mode: "auto", n: 24, hit1: .80, hit3: .92},
			{set: "project-questions", kind: "stranger", mode: "auto", n: 56, own: .25},
		},
		10: {{set: "yago11k", mode: "exact", n: 200, exact: true}},
		50: {{set: "yago-snapshots", mode: "exact", n: 150, exact: true}},
	} {
		var only []string
		for _, f := range floors {
			only = append(only, f.set)
		}
		r, err := evaluated(t, evalOptions{data: dir, only: only, sample: sample, modes: []string{"auto"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range floors {
			i := slices.IndexFunc(r.Rows, func(row Row) bool {
				return row.Set == want.set && row.Kind == want.kind && row.Mode == want.mode
			})
			if i < 0 {
				t.Fatalf("no row for %+v in\n%s", want, r.Text())
			}
			row := r.Rows[i]
			if row.N < want.n || want.exact && (*row.Exact != 1 || row.Errors > 0) ||
				want.hit1 > 0 && *row.Hit1 < want.hit1 || want.hit3 > 0 && *row.Hit3 < want.hit3 ||
				want.foreign > 0 && row.Foreign.Firm > want.foreign || want.own > 0 && row.Own.Firm > want.own {
				t.Errorf("want %+v in\n%s", want, r.Text())
			}
		}
	}
}

// Recall with a real sentence transformer, in the folder that LEAN_CTX_EVAL_MODELS
// names, is far better than words alone where no word is shared. It encodes 100
// texts, at .3 s each.
func TestTransformerFloors(t *testing.T) {
	models := os.Getenv("LEAN_CTX_EVAL_MODELS")
	if models == "" {
		t.Skip("NOTHING MEASURED: set LEAN_CTX_EVAL_MODELS to a folder with an installed model")
	}
	r, err := evaluated(t, evalOptions{data: t.TempDir(), only: []string{"paraphrases"}, models: models, modes: []string{"auto"}, sample: 3, found: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.Text())
	if auto := *r.Rows[0].NDCG; auto < .45 {
		t.Errorf("nDCG@10 of paraphrased questions in auto %.3f, want .45", auto)
	}
}

// A small run has a line for each row, keeps its promises' limits apart from its
// floors, and leaves nothing behind.
func TestBench(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("MEASURE_AS_EMPTY", "1")
	empty, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	rows := []string{"on disk", "rare word", "hook, a prompt", "in a server: remember", "in a server: resident"}
	r, err := measure(t.Context(), dir, benchOptions{sizes: []int{200, 300}, rows: rows, runs: 2, program: leanCtx(t), empty: empty})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 9 || len(r.Notes) > 0 {
		t.Errorf("%d rows, notes %q", len(r.Rows), r.Notes)
	}
	for _, row := range r.Rows {
		for _, c := range row.Cells {
			if c.P50 <= 0 && row.Name != "resident memory" || len(row.Cells) != 2 || len(row.Floors) > 0 && c.Floor <= 0 && row.Name != "resident memory" {
				t.Errorf("%s: %+v", row.Name, c)
			}
		}
	}
	wellFormed(t, r.SVG())
	if _, err := os.Stat(filepath.Join(dir, "200")); err == nil {
		t.Error("the store is left")
	}
}

// A row that fails leaves the figures of the others.
func TestBenchWithFailure(t *testing.T) {
	o := benchOptions{sizes: []int{100}, rows: []string{"the program", "a command: version"}, runs: 1, program: leanCtx(t), empty: filepath.Join(t.TempDir(), "nothing")}
	r, err := measure(t.Context(), t.TempDir(), o)
	if err == nil || !strings.Contains(err.Error(), "a command: version") {
		t.Errorf("error %v", err)
	}
	if text := r.Text(); len(r.Rows) != 2 || r.Rows[0].Cells[0].P50 == 0 || strings.Count(text, "failed") != 1 {
		t.Error(text)
	}
	wellFormed(t, r.SVG())
}

// A row that is slower beside its floor than in the last run by a quarter is named, and nothing else is.
func TestSlowerThanLastRun(t *testing.T) {
	run := func(p50, floor float64, bytes bool) BenchReport {
		return BenchReport{Sizes: []int{1000}, Rows: []BenchRow{{Group: "in a server", Name: "remember", Bytes: bytes, Cells: []Cell{{Facts: 1000, Runs: 9, P50: p50, Floor: floor}}}}}
	}
	for name, c := range map[string]struct {
		last, now BenchReport
		slower    string
	}{
		"twice the ratio":            {run(800, 200, false), run(800, 100, false), "1,000 facts: in a server: remember: 8 times its floor, 4 in the last run: find the cause"},
		"a slower machine":           {run(800, 200, false), run(8000, 2000, false), ""},
		"a fifth":                    {run(800, 200, false), run(960, 200, false), ""},
		"larger on disk":             {run(800, 0, true), run(1100, 0, true), "1,000 facts: in a server: remember: 1100 bytes, 800 in the last run: find the cause"},
		"a time without a floor":     {run(800, 0, false), run(8000, 0, false), ""},
		"not measured the last time": {BenchReport{}, run(8000, 2, false), ""},
	} {
		data, err := json.Marshal(c.last)
		file := filepath.Join(t.TempDir(), "last.json")
		if err = errors.Join(err, os.WriteFile(file, data, 0o600)); err != nil {
			t.Fatal(err)
		}
		got, err := c.now.compareWith(file)
		if err != nil || strings.Join(got, "\n") != c.slower {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	if got, err := run(1, 1, false).compareWith(filepath.Join(t.TempDir(), "none")); got != nil || err != nil {
		t.Error(got, err)
	}
}

func TestSizes(t *testing.T) {
	got, err := parseSizes([]string{"20k", "1000", "1M", "20_000"})
	if d := cmp.Diff([]int{1_000, 20_000, 1_000_000}, got); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	for _, bad := range []string{"", "many", "-1", "1.5k", "k", "1e6", "99", "99999999999999999999", "1MM"} {
		if got, err := parseSizes([]string{bad}); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

// The limit is the sum of the floors, each as many times as the row says.
func TestLimits(t *testing.T) {
	fixed := func(v float64) func(*bench, int) (float64, error) {
		return func(*bench, int) (float64, error) { return v, nil }
	}
	b := &bench{ctx: t.Context()}
	w := row{runs: 3, run: fixed(100), plus: func(int) float64 { return 5 }, floors: []floor{{"a", 2, fixed(10)}, {"b", 1.5, fixed(30)}}}
	c, err := b.cell(w)
	if d := cmp.Diff(Cell{Runs: 3, P50: 100, P95: 100, Floor: 40, Limit: 70, Missed: true}, c); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	w.plus = func(int) float64 { return -1 } // nothing is promised
	if c, err = b.cell(w); err != nil || c.Limit != 0 || c.Missed {
		t.Errorf("%v %+v", err, c)
	}
	w.spread = 5
	w.run = func(_ *bench, i int) (float64, error) { return []float64{9, 1, 1, 20}[i+1], nil }
	if c, err = b.cell(w); err != nil || c.Limit != 5 || !c.Missed {
		t.Errorf("%v %+v", err, c)
	}
}

var update = flag.Bool("update", false, "write what the tests compare with anew")

// The chart and the times that the README shows are those of bench.json. To
// publish another run:
//
//	go build -o build/ ./cmd/lean-ctx ./cmd/measure/empty
//	go run ./cmd/measure bench -program build/lean-ctx -json > cmd/measure/testdata/bench.json
//	go test ./cmd/measure -run TestPublished -update
func TestPublished(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "bench.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r BenchReport
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	wellFormed(t, r.SVG())
	for file, got := range map[string]string{"bench.txt": r.Text(), "bench.svg": r.SVG()} {
		path := filepath.Join("testdata", file)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if d := cmp.Diff(string(want), got); err != nil || d != "" {
			t.Errorf("%s is not of bench.json (go test ./cmd/measure -run TestPublished -update): %v %s", path, err, d)
		}
	}
	inReadme(t, "(cmd/measure/testdata/bench.svg)\n\n", times(t, r), "\nAll rows ")
}

// times are the medians of the largest store: a sentence for commands and one for a server.
func times(t *testing.T, r BenchReport) string {
	took := func(group, name string) string {
		i := slices.IndexFunc(r.Rows, func(x BenchRow) bool { return x.Group == group && x.Name == name })
		if i < 0 {
			t.Fatalf("no row %s %s", group, name)
		}
		return quantity(r.Rows[i].Cells[len(r.Sizes)-1].P50, false)
	}
	return fmt.Sprintf("With %s facts: as a command `recall` of a question takes %s, `remember` %s, `wakeup` %s; in a server\n"+
		"`remember` takes %s, `recall` of a question by words %s, by words and meaning %s.",
		grouped(r.Sizes[len(r.Sizes)-1]), took("a command", "recall, a question"), took("a command", "remember"), took("a command", "wakeup"),
		took("in a server", "remember"), took("in a server", "recall, a question, lexical"), took("in a server", "recall, a question, auto")) + warmTimes(t, r)
}

// warmTimes is a line of a sentence for each size of the store of real words: the medians, beside their floors and
// beside another memory server, if one was measured.
func warmTimes(t *testing.T, r BenchReport) string {
	if !slices.ContainsFunc(r.Rows, func(x BenchRow) bool { return x.Group == "warm, real words" }) {
		return "" // the run is older than these rows
	}
	var b strings.Builder
	b.WriteString("\nIn a server with facts of real words, beside [mnemon-mcp](https://www.npmjs.com/package/mnemon-mcp) 1.3.0 with as many facts:")
	for i, n := range r.Sizes {
		cell := func(name string) Cell {
			at := slices.IndexFunc(r.Rows, func(x BenchRow) bool { return x.Group == "warm, real words" && x.Name == name })
			if at < 0 {
				t.Fatalf("no row %s", name)
			}
			return r.Rows[at].Cells[i]
		}
		ratio := func(name string) string {
			if c := cell(name); c.Floor > 0 {
				return significant(c.P50 / c.Floor)
			}
			return "–"
		}
		if n > 10_000 {
			continue
		}
		fmt.Fprintf(&b, "\nwith %s `remember` takes %s (%s × a synced append, %s × the other), `recall` %s (%s × a ping, %s × the other), memory %s (%s ×);", grouped(n),
			quantity(cell("remember").P50, false), ratio("remember"), ratio("remember, beside mnemon-mcp"),
			quantity(cell("recall").P50, false), ratio("recall"), ratio("recall, beside mnemon-mcp"),
			quantity(cell("resident memory, beside mnemon-mcp").P50, true), ratio("resident memory, beside mnemon-mcp"))
	}
	return strings.TrimSuffix(b.String(), ";") + "."
}

// The README's table of recall is that of recall.json. To publish another run:
//
//	go build -o build/ ./cmd/lean-ctx ./cmd/measure/empty
//	go run ./cmd/measure eval -program build/lean-ctx -mode auto -only project -json "$LEAN_CTX_EVAL_DIR" > cmd/measure/testdata/recall.json
//	go test ./cmd/measure -run TestPublishedRecall -update
func TestPublishedRecall(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "recall.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r EvalReport
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if r.Sample != 1 {
		t.Fatalf("a sample of %d", r.Sample)
	}
	inReadme(t, "| question | without | with stored questions |\n|---|---|---|\n", strings.TrimSuffix(recallTable(t, r), "\n"), "\n\n")
}

// inReadme compares what the README says between head and end with what it should say, or writes
// it there.
func inReadme(t *testing.T, head, want, end string) {
	t.Helper()
	path := filepath.Join("..", "..", "README.md")
	readme, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(readme), head)
	published, after, more := strings.Cut(after, end)
	if !ok || !more {
		t.Fatalf("the README lacks %q", head)
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+head+want+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(published, want); d != "" {
		t.Errorf("the README is not of the published run (go test ./cmd/measure -run TestPublished -update): %s", d)
	}
}

// recallTable has a line for each kind of project question, in auto.
func recallTable(t *testing.T, r EvalReport) string {
	row := func(set, kind string) Row {
		i := slices.IndexFunc(r.Rows, func(x Row) bool { return x.Set == set && x.Kind == kind && x.Mode == "auto" })
		if i < 0 {
			t.Fatalf("no row %s %s in\n%s", set, kind, r.Text())
		}
		return r.Rows[i]
	}
	share := func(x float64) string {
		return strings.TrimPrefix(fmt.Sprintf("%.2f", math.Round(100*x+1e-9)/100), "0")
	}
	pair := func(a, b float64) string { return share(a) + " / " + share(b) }
	var b strings.Builder
	for _, line := range []struct {
		kind, label string
		cell        func(Row) (n int, cell string)
	}{
		{"words", "shares its words with the fact", nil},
		{"keyword", "one to three words", nil},
		{"prompt", "a task of 40 to 90 words", nil},
		{"changed", "the newest of several values", nil},
		{"asof", "as of a past time in words", nil},
		{"few", "other words than the fact has", nil},
		{"stranger", "nothing stored answers it", func(x Row) (int, string) { return x.Own.N, pair(x.Own.Firm, x.Own.Firm+x.Own.Maybe) }},
		{"stranger", "about something else", func(x Row) (int, string) { return x.Foreign.N, pair(x.Foreign.Firm, x.Foreign.Firm+x.Foreign.Maybe) }},
	} {
		suffix := ": answered firmly / or with `maybe:`"
		if line.cell == nil {
			suffix, line.cell = "", func(x Row) (int, string) { return x.N, pair(*x.Hit1, *x.Hit3) }
		}
		n, without := line.cell(row("project-questions", line.kind))
		_, with := line.cell(row("project-questions+stored", line.kind))
		fmt.Fprintf(&b, "| %s (%d)%s | %s | %s |\n", line.label, n, suffix, without, with)
	}
	return b.String()
}

// A report of one size, of rows that are not drawn, or of nothing has a chart
// and a table too.
func TestSmallReports(t *testing.T) {
	cell := Cell{Facts: 1000, Runs: 3, P50: 7, P95: 9}
	for _, r := range []BenchReport{
		{},
		{Sizes: []int{1000}, Rows: []BenchRow{{Group: "a command", Name: "<x>", Chart: true, Cells: []Cell{cell}}}},
		{Sizes: []int{1000}, Rows: []BenchRow{{Group: "on disk", Name: "x", Bytes: true, Cells: []Cell{cell}}}},
	} {
		svg := r.SVG()
		wellFormed(t, svg)
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") || strings.Contains(r.Text(), "NaN") {
			t.Errorf("a place that is no number: %s", svg)
		}
	}
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
	}
}

func TestQuantity(t *testing.T) {
	for want, got := range map[string]string{
		"3.8 µs": quantity(3.84, false), "221 µs": quantity(221.4, false), "1 ms": quantity(999.6, false), "12 ms": quantity(12_345, false),
		"90 s": quantity(90e6, false), "512 B": quantity(512, true), "1.3 MB": quantity(1.3e6, true), "1,234,567": grouped(1_234_567), "999": grouped(999),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
