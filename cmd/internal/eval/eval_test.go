package eval

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"leanctx/knowledge"
)

// tiny is a set of every kind, small enough to see what must come out.
func tiny() map[string]string {
	return map[string]string{
		"factconsolidation/facts_6k.jsonl.gz": `{"text":"The capital of Atlantis is Poseidonis.","subject":"Atlantis","relation":"capital","object":"Poseidonis"}
{"text":"The capital of Utopia is Amaurot.","subject":"Utopia","relation":"capital","object":"Amaurot"}
{"text":"The capital of Atlantis is Basileia.","subject":"Atlantis","relation":"capital","object":"Basileia"}
`,
		"factconsolidation/questions_6k.jsonl.gz": `{"question":"What is the capital of Atlantis?","answers":["Basileia"],"hops":"single"}
{"question":"What is the capital of Utopia?","answers":["Amaurot"],"hops":"single"}
{"question":"What was the capital of Atlantis?","answers":["Poseidonis"],"hops":"single"}
{"question":"What is the capital of the country next to Utopia?","answers":["Basileia"],"hops":"multi"}
`,
		asOfFacts: `{"subject":"Ann","relation":"owns","object":"boat","from":1990,"until":1992}
{"subject":"Ann","relation":"owns","object":"plane","from":1992,"until":null}
{"subject":"Bob","relation":"owns","object":"boat","from":1990,"until":1995}
{"subject":"Bob","relation":"owns","object":"plane","from":1993,"until":1999}
{"subject":"Eve","relation":"owns","object":"hat","from":1995,"until":1990}
`,
		asOfQueries: `{"subject":"Ann","relation":"owns","as_of":1989,"expect":[]}
{"subject":"Ann","relation":"owns","as_of":1991,"expect":["boat"]}
{"subject":"Ann","relation":"owns","as_of":2001,"expect":["plane"]}
`,
		snapshotStream: `{"t":0,"subject":"Ann","relation":"owns","object":"boat"}
{"t":0,"subject":"Bob","relation":"owns","object":"hat"}
{"t":1,"subject":"Ann","relation":"owns","object":"plane"}
{"t":2,"subject":"Ann","relation":"owns","object":"plane"}
`,
		snapshotFinal: `{"subject":"Ann","relation":"owns","current":"plane","versions":2,"last_run_confirmations":2}
{"subject":"Bob","relation":"owns","current":"hat","versions":1,"last_run_confirmations":1}
`,
		"locomo-dev/facts/corpus.jsonl.gz": `{"_id":"g1/a","group":"g1","title":"Ann","text":"Ann sails her boat to the lighthouse."}
{"_id":"g1/b","group":"g1","title":"Bob","text":"Bob paints portraits of horses."}
{"_id":"g2/a","group":"g2","title":"Eve","text":"Eve has a lighthouse too."}
`,
		"locomo-dev/facts/queries.jsonl.gz": `{"_id":"q1","group":"g1","text":"who sails to the lighthouse?"}
{"_id":"q2","group":"g2","text":"does Eve have a lighthouse?"}
{"_id":"q3","group":"g1","text":"nobody judged this"}
`,
		"locomo-dev/facts/qrels.tsv.gz": "query-id\tcorpus-id\tscore\nq1\tg1/a\t1\nq1\tg1/b\t1\nq2\tg2/a\t1\n",
	}
}

// laid writes sets into a directory.
func laid(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for file, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		data := []byte(text)
		if strings.HasSuffix(file, ".gz") {
			data = zipped(t, text).Data
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func evaluated(t *testing.T, files map[string]string, sets ...string) Report {
	t.Helper()
	temp := t.TempDir()
	r, err := Run(t.Context(), laid(t, files), &Options{Sets: sets, Temp: temp})
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return r
}

// untimed leaves out what differs from run to run.
var untimed = cmpopts.IgnoreFields(Row{}, "P50Millis", "P95Millis", "RememberMicros", "BareMicros", "Ratio", "Remembering", "Seconds", "Notes")

func TestRun(t *testing.T) {
	r := evaluated(t, tiny())
	gain := 1 / (1 + 1/1.5849625007211562) // one of two, at the first place: 1/(1 + 1/log₂3)
	want := []Row{
		{Set: "factconsolidation-6k", Mode: "lexical", N: 2, R1: new(1.0), R5: new(1.0), MRR10: new(1.0), Stale: new(0.0), Answered: new(0.0), GivenUp: new(0.0), Strangers: 3, Exact: new(1.0), Checks: 2, Facts: 3},
		{Set: "yago11k", Mode: "exact", N: 3, Exact: new(1.0), Checks: 4, Facts: 2},
		{Set: "yago-snapshots", Mode: "exact", N: 2, Exact: new(1.0), Checks: 2, Facts: 4},
		{Set: "locomo-facts", Mode: "lexical", N: 2, R1: new(0.75), R5: new(0.75), R10: new(0.75), Hit10: new(1.0), MRR10: new(1.0), NDCG10: new((gain + 1) / 2), Answered: new(0.0), GivenUp: new(0.0), Strangers: 4, Facts: 3},
	}
	if d := cmp.Diff(want, r.Rows, untimed, cmpopts.EquateApprox(0, 1e-12)); d != "" {
		t.Error(d)
	}
	var skipped []string
	for _, s := range r.Skipped {
		name, _, _ := strings.Cut(s, ":")
		skipped = append(skipped, name)
	}
	if d := cmp.Diff([]string{"factconsolidation-32k", "locomo-turns", "cosqa", "paraphrases", "speed"}, skipped); d != "" {
		t.Error(d)
	}
	for _, row := range r.Rows {
		if row.RememberMicros <= 0 || row.BareMicros <= 0 || row.Ratio <= 0 || row.Seconds <= 0 {
			t.Errorf("%s was not timed: %+v", row.Set, row)
		}
	}
}

// Both rows of speed remember the same; a sample takes whole keys.
func TestSpeed(t *testing.T) {
	files := tiny()
	files["factconsolidation/facts_32k.jsonl.gz"] = `{"text":"The capital of Erewhon is Nowhere.","subject":"Erewhon","relation":"capital","object":"Nowhere"}` + "\n"
	want := []Row{{Set: "speed", Mode: "server", Facts: 8}, {Set: "speed", Mode: "command", Facts: 8}}
	if d := cmp.Diff(want, evaluated(t, files, "speed").Rows, untimed); d != "" {
		t.Error(d)
	}
	b := &bench{Options: Options{Sample: 3}, data: os.DirFS(laid(t, files))}
	some, err := b.everything()
	if err != nil {
		t.Fatal(err)
	}
	keys := map[name]int{}
	for _, a := range some {
		keys[name{a.Category, a.Key}]++
	}
	for n, whole := range map[name]int{{"capital", "Atlantis"}: 2, {"owns", "Ann"}: 2, {"owns", "Bob"}: 2} {
		if got := keys[n]; got != 0 && got != whole {
			t.Errorf("%d of the %d facts of %v are in the sample", got, whole, n)
		}
	}
	if len(some) == 0 || len(some) == 8 {
		t.Errorf("a sample of one in three has %d of 8 facts", len(some))
	}
}

// An expectation that is not met has to show.
func TestRunTellsWhatIsWrong(t *testing.T) {
	tests := []struct {
		set, file, old, new string
		exact               float64
		note                string
	}{
		{"yago11k", asOfQueries, `["boat"]`, `["boat","hat"]`, 3.0 / 4, `as of 1991: ["boat"], not ["boat" "hat"]`},
		{"yago11k", asOfQueries, `[]`, `["boat"]`, 3.0 / 4, `as of 1989: [], not ["boat"]`},
		{"yago-snapshots", snapshotFinal, `"plane"`, `"boat"`, 1.0 / 2, `["plane"], 2 versions, confirmed 2x, not "boat", 2, 2x`},
		{"yago-snapshots", snapshotFinal, `"versions":2`, `"versions":3`, 1.0 / 2, `not "plane", 3, 2x`},
		{"yago-snapshots", snapshotFinal, `"last_run_confirmations":2`, `"last_run_confirmations":3`, 1.0 / 2, `not "plane", 2, 3x`},
	}
	for _, tt := range tests {
		t.Run(tt.note, func(t *testing.T) {
			files := tiny()
			files[tt.file] = strings.Replace(files[tt.file], tt.old, tt.new, 1)
			r := evaluated(t, files, tt.set)
			row := r.Rows[0]
			if row.Errors != 1 || *row.Exact != tt.exact || len(row.Notes) != 1 {
				t.Fatalf("errors %d, exact %v, notes %q; want 1, %v and a note", row.Errors, *row.Exact, row.Notes, tt.exact)
			}
			if !strings.Contains(row.Notes[0], tt.note) || !strings.Contains(r.Text(), tt.note) {
				t.Errorf("note %q, want %q in it and in the text", row.Notes[0], tt.note)
			}
		})
	}
}

// An outdated first answer counts as stale, one that is missing does not.
func TestStale(t *testing.T) {
	b := &bench{Options: Options{Temp: t.TempDir()}}
	p, err := b.open(&meter{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	s, err := p.replay(t.Context(), []statement{{Text: "The capital of Atlantis is Poseidonis.", Subject: "Atlantis", Relation: "capital", Object: "Poseidonis"}})
	if err != nil {
		t.Fatal(err)
	}
	// As though the store had not heard of the newer statement.
	s.latest[name{"capital", "Atlantis"}] = statement{Text: "The capital of Atlantis is Basileia."}
	tl := newTally("auto")
	for _, q := range []string{"What is the capital of Atlantis?", "Who bakes croissants?"} {
		if err := s.ask(t.Context(), p, tl, question{Question: q, Answers: []string{"Basileia"}}); err != nil {
			t.Fatal(err)
		}
	}
	row := tl.done(p.meter)
	if *row.Stale != 0.5 || *row.R1 != 0 || row.N != 2 {
		t.Errorf("stale %v, R@1 %v, n %d; want 0.5, 0, 2", *row.Stale, *row.R1, row.N)
	}
}

// An interval upside down that is not refused has to show, and one that is
// refused for another reason too.
func TestRefused(t *testing.T) {
	b := &bench{Options: Options{Temp: t.TempDir()}}
	p, err := b.open(&meter{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	for _, f := range []dated{
		{Subject: "Eve", Relation: "owns", Object: "hat", From: new(1990), Until: new(1995)},
		{Subject: "Eve", Relation: "owns", Object: "", From: new(1995), Until: new(1990)},
	} {
		tl := newTally("exact")
		if err := p.refused(t.Context(), tl, f); err != nil {
			t.Fatal(err)
		}
		if tl.row.Errors != 1 {
			t.Errorf("%+v passes for refused with the period named", f)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	broken := tiny()
	broken[asOfFacts] = "{\n"
	data := laid(t, tiny())
	tests := []struct {
		dir   string
		opts  Options
		check func(error) bool
	}{
		{filepath.Join(file, "..", "nowhere"), Options{}, func(err error) bool { return errors.Is(err, fs.ErrNotExist) }},
		{file, Options{}, func(err error) bool { return strings.Contains(err.Error(), "not a directory") }},
		{t.TempDir(), Options{}, func(err error) bool { return strings.Contains(err.Error(), "none of the sets") }},
		{data, Options{Sets: []string{"yago", "yagoo"}}, argument("only")},
		{data, Options{Sets: []string{""}}, argument("only")},
		{data, Options{Sets: []string{"fact"}, Modes: []string{"telepathic"}}, argument("mode")},
		{laid(t, broken), Options{Sets: []string{"yago11k"}}, func(err error) bool { return strings.Contains(err.Error(), asOfFacts+": line 1") }},
	}
	for i, tt := range tests {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if _, err := Run(t.Context(), tt.dir, &tt.opts); err == nil || !tt.check(err) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func argument(name string) func(error) bool {
	return func(err error) bool {
		bad, ok := errors.AsType[*knowledge.ArgumentError](err)
		return ok && bad.Argument == name
	}
}

func TestText(t *testing.T) {
	r := Report{System: "test", Sample: 10, Rows: []Row{
		{Set: "a", Mode: "exact", N: 3, Answered: new(0.125), GivenUp: new(0.5), Exact: new(0.99999), Errors: 1, P50Millis: 0.021, P95Millis: 1.5, Facts: 7, RememberMicros: 310.4, Ratio: 1.25, Seconds: 2, Notes: []string{"wrong"}},
		{Set: "b", Mode: "–", Facts: 9, RememberMicros: 300, Ratio: 1, Seconds: 12.34},
	}, Skipped: []string{"c: no data"}}
	want := `Evaluation on test, one key or question of 10

  set   mode  encoder  n  R@1  R@5  R@10  hit@10  MRR@10  nDCG@10  stale  answered  given up   exact  errors  p50 ms  p95 ms  facts  µs/fact  ×fsync  seconds
    a  exact        –  3    –    –     –       –       –        –      –     0.125     0.500  0.9999       1    0.02    1.50      7      310    1.25      2.0
    b      –        –  0    –    –     –       –       –        –      –         –         –       –       0       –       –      9      300    1.00     12.3

a: wrong
SKIPPED c: no data`
	if d := cmp.Diff(want, r.Text()); d != "" {
		t.Error(d)
	}
}
