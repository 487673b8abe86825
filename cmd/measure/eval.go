package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// evalOptions say what to evaluate. Zero values mean: all sets, lexical and auto,
// every question, the built-in encoder.
type evalOptions struct {
	data    string   // the folder of the sets
	root    string   // this repository
	only    []string // sets whose name starts with one of these
	modes   []string // of recall
	sample  int      // use every Nth key and question
	models  string   // a folder of installed models, instead of the built-in encoder
	found   bool     // ask only what something stored answers
	program *product
}

func runEval(ctx context.Context, args []string, out io.Writer) (err error) {
	var o evalOptions
	flags := flag.NewFlagSet("eval", flag.ContinueOnError)
	flags.Var((*list)(&o.only), "only", "only the set of this `name`, or those whose names start with it; comma-separated or repeated")
	flags.Var((*list)(&o.modes), "mode", "`modes` of recall to compare, a row each (default lexical,auto)")
	flags.IntVar(&o.sample, "sample", 1, "use every `N`th key and question")
	flags.StringVar(&o.models, "models", "", "`folder` of installed models to use instead of the built-in encoder; takes about .3 s a text")
	program := flags.String("program", "", "the lean-ctx to measure, a `file`; needed")
	asJSON := flags.Bool("json", false, "print JSON")
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "usage: measure eval [flags] DIR\n\nDIR holds the sets: %s.\n\n", strings.Join(setNames(), ", "))
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("eval: name the folder of the evaluation sets")
	}
	o.data, o.root = flags.Arg(0), "."
	dir, err := os.MkdirTemp("", "lean-ctx-eval-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.program, err = newProduct(*program, dir); err != nil {
		return fmt.Errorf("eval: %w", err)
	}
	r, err := evaluate(ctx, dir, o)
	if err != nil {
		return err
	}
	return show(out, r, *asJSON)
}

// evaluator runs the sets on one server, each set in projects of its own.
type evaluator struct {
	evalOptions
	dir      string
	server   *server
	projects int
}

// evaluate runs the sets in a temporary directory. A wrong answer is a figure
// of the report; an error is data that cannot be read or a server that fails.
func evaluate(ctx context.Context, dir string, o evalOptions) (r EvalReport, err error) {
	e := &evaluator{evalOptions: o, dir: dir}
	if len(e.modes) == 0 {
		e.modes = []string{"lexical", "auto"}
	}
	e.sample = max(e.sample, 1)
	if info, err := os.Stat(o.data); err != nil || !info.IsDir() {
		return r, errors.Join(err, fmt.Errorf("%s is not a folder of evaluation sets", o.data))
	}
	chosen, err := chooseSets(o.only)
	if err != nil {
		return r, err
	}
	data := filepath.Join(dir, "data")
	// A session may name the directories in its own, unless that is the home directory.
	vars := []string{"LEAN_CTX_DATA_DIR=" + data, "HOME=" + filepath.Join(dir, "home"), "USERPROFILE=" + filepath.Join(dir, "home")}
	// One server writes into the project of each set.
	if err := os.MkdirAll(data, 0o700); err != nil {
		return r, err
	}
	if err := os.WriteFile(filepath.Join(data, "config.json"), []byte(`{"cross_project_write": true}`), 0o600); err != nil {
		return r, err
	}
	if o.models != "" {
		vars = append(vars, "LEAN_CTX_MODELS_DIR="+o.models)
	}
	if e.server, err = o.program.with(vars...).serve(ctx, dir); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, e.server.close()) }()
	r = EvalReport{System: fmt.Sprintf("%s/%s, %d cores, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version()), Sample: e.sample}
	for _, s := range chosen {
		progress("%s …", s.name)
		start := time.Now()
		rows, err := s.run(e)
		if errors.Is(err, os.ErrNotExist) {
			r.Skipped = append(r.Skipped, fmt.Sprintf("%s: %v", s.name, err))
			continue
		}
		if err != nil {
			return r, fmt.Errorf("%s: %w", s.name, err)
		}
		for i := range rows {
			rows[i].Set, rows[i].Seconds = s.name, time.Since(start).Seconds()
		}
		r.Rows = append(r.Rows, rows...)
		if err := ctx.Err(); err != nil {
			return r, err
		}
	}
	if len(r.Rows) == 0 {
		return r, fmt.Errorf("nothing was measured: %s", strings.Join(r.Skipped, "; "))
	}
	return r, nil
}

// project makes an empty project and returns its path.
func (e *evaluator) project() (string, error) {
	e.projects++
	dir := filepath.Join(e.dir, fmt.Sprint("project-", e.projects))
	return dir, os.Mkdir(dir, 0o700)
}

// sampled says whether a key or question belongs to the sample.
func (e *evaluator) sampled(name string) bool { return hash(name)%uint64(e.sample) == 0 }

func hash(s string) uint64 {
	h := fnv.New64a()
	io.WriteString(h, s)
	return h.Sum64()
}

// name is the category and key under which a fact is stored.
type name struct{ category, key string }

// fact is one fact of a set: the arguments of remember, and the set's id for it.
type fact struct {
	id, group string
	args      object
	questions string // stored questions, if the set has them
}

func (f fact) name() name {
	category, _ := f.args["category"].(string)
	key, _ := f.args["key"].(string)
	return name{category, key}
}

// query is one question of a set. Without a relevant fact it is a stranger's.
type query struct {
	id, group, kind string
	text, asOf      string
	relevant        grades
	stale           map[string]bool // facts that were true once
	anyOf           bool            // one relevant fact answers the whole question
}

// corpus is a set of facts and of questions about them. Each group is a project.
type corpus struct {
	folder  string // of its data, whose questions are no foreign ones
	facts   []fact
	queries []query
	stored  bool // with stored questions
}

// version is a value of a fact.
type version struct{ category, key, value string }

// corpusStore is a corpus in lean-ctx and, beside it, in plain bleve.
type corpusStore struct {
	projects map[string]string // group → directory
	stored   map[string]map[name]fact
	earlier  map[string]map[version]string // the id of each value that was remembered
	plain    map[string]*plainIndex
}

// fill remembers the facts, in order; those that leaveOut names are left out.
func (e *evaluator) fill(c corpus, leaveOut map[string]bool) (*corpusStore, error) {
	s := &corpusStore{map[string]string{}, map[string]map[name]fact{}, map[string]map[version]string{}, map[string]*plainIndex{}}
	for _, f := range c.facts {
		if leaveOut[f.id] {
			continue
		}
		if s.projects[f.group] == "" {
			dir, err := e.project()
			if err != nil {
				return nil, err
			}
			s.projects[f.group], s.stored[f.group], s.earlier[f.group] = dir, map[name]fact{}, map[version]string{}
		}
		args := maps.Clone(f.args)
		if c.stored {
			args["questions"] = f.questions
		}
		args["project"] = s.projects[f.group]
		var stored struct {
			Category string `json:"category"`
			Key      string `json:"key"`
		}
		if err := e.server.ask("remember", args, &stored); err != nil {
			return nil, fmt.Errorf("fact %s: %w", f.id, err)
		}
		s.stored[f.group][name{stored.Category, stored.Key}] = f
		value, _ := f.args["value"].(string)
		s.earlier[f.group][version{stored.Category, stored.Key, value}] = f.id
	}
	for group, facts := range s.stored {
		if e.models != "" {
			if _, err := e.server.call("embeddings_reindex", object{"project": s.projects[group], "wait": true}); err != nil {
				return nil, err
			}
		}
		index, err := newPlainIndex(facts, c.stored)
		if err != nil {
			return nil, err
		}
		s.plain[group] = index
	}
	return s, nil
}

// superseded marks the id of a fact that was found with an earlier value.
const superseded = " (superseded)"

// ask puts one question to lean-ctx and returns the ids of what it found.
func (e *evaluator) ask(s *corpusStore, q query, mode string, limit int) (ids []string, firm, any bool, took time.Duration, err error) {
	args := object{"query": q.text, "limit": limit, "mode": mode, "project": s.projects[q.group]}
	if q.asOf != "" {
		args["as_of"] = q.asOf
	}
	facts, took, err := e.server.recall(args)
	for _, f := range facts {
		firm, any = firm || !f.Maybe, true
		of := s.stored[q.group][name{f.Category, f.Key}]
		id := of.id
		switch earlier := s.earlier[q.group][version{f.Category, f.Key, f.Value}]; {
		case f.Value == of.args["value"]:
		case earlier != "" && earlier != id:
			id = earlier // a set in which each value is a fact of its own
		default:
			id += superseded
		}
		ids = append(ids, id)
	}
	return ids, firm, any, took, err
}

// measure asks all questions in all modes: a row for each mode and kind.
func (e *evaluator) measure(c corpus) (rows []Row, s *corpusStore, err error) {
	c.queries = slices.DeleteFunc(slices.Clone(c.queries), func(q query) bool { return !e.sampled(q.group + q.id) })
	if s, err = e.fill(c, nil); err != nil {
		return nil, nil, err
	}
	foreign, err := e.foreign(c.folder)
	if err != nil {
		return nil, nil, err
	}
	answerable := slices.DeleteFunc(slices.Clone(c.queries), func(q query) bool { return len(q.relevant) == 0 })
	own, ownStore := slices.DeleteFunc(slices.Clone(c.queries), func(q query) bool { return len(q.relevant) > 0 }), s
	if len(own) == 0 && !e.found { // questions whose answers are left out of a second store
		own = spread(answerable, min(100, len(answerable)/5))
		leaveOut := map[string]bool{}
		for _, q := range own {
			for id := range q.relevant {
				leaveOut[id] = true
			}
		}
		if ownStore, err = e.fill(c, leaveOut); err != nil {
			return nil, nil, err
		}
	}
	plain := map[string][]string{}
	for _, q := range answerable {
		if plain[q.group+q.id], err = s.plain[q.group].search(q.text, 10); err != nil {
			return nil, nil, err
		}
	}
	tallies := map[name]*tally{} // by mode and kind
	of := func(mode, kind string) *tally {
		t := tallies[name{mode, kind}]
		if t == nil {
			t = newTally(mode, kind)
			tallies[name{mode, kind}] = t
			rows = append(rows, Row{Mode: mode, Kind: kind})
		}
		return t
	}
	for _, mode := range e.modes {
		for _, q := range answerable {
			ids, _, any, took, err := e.ask(s, q, mode, 10)
			if err != nil {
				return nil, nil, err
			}
			of(mode, q.kind).add(q, ids, any, took, plain[q.group+q.id])
		}
		kind := ""
		if slices.ContainsFunc(c.queries, func(q query) bool { return q.kind != "" }) {
			kind = "stranger"
		}
		if e.found {
			continue
		}
		t := of(mode, kind)
		if t.row.Own, err = e.strangers(ownStore, own, mode); err != nil {
			return nil, nil, err
		}
		groups := slices.Sorted(maps.Keys(s.projects))
		questions := make([]query, len(foreign))
		for i, text := range foreign {
			questions[i] = query{group: groups[i%len(groups)], text: text}
		}
		if t.row.Foreign, err = e.strangers(s, questions, mode); err != nil {
			return nil, nil, err
		}
	}
	for _, q := range answerable {
		of("bleve", q.kind).add(q, plain[q.group+q.id], len(plain[q.group+q.id]) > 0, 0, nil)
	}
	for i := range rows {
		rows[i] = tallies[name{rows[i].Mode, rows[i].Kind}].done()
	}
	return rows, s, nil
}

// strangers asks questions that nothing stored answers.
func (e *evaluator) strangers(s *corpusStore, questions []query, mode string) (*Strangers, error) {
	out := &Strangers{N: len(questions)}
	for _, q := range questions {
		if s.projects[q.group] == "" {
			continue // nothing is left of its project
		}
		_, firm, any, _, err := e.ask(s, q, mode, 3)
		if err != nil {
			return nil, err
		}
		if firm {
			out.Firm += 1 / float64(len(questions))
		} else if any {
			out.Maybe += 1 / float64(len(questions))
		}
	}
	return out, nil
}

// spread takes n of a list at even distances, all of a shorter one.
func spread[T any](list []T, n int) []T {
	if n >= len(list) {
		return list
	}
	out := make([]T, n)
	for i := range out {
		out[i] = list[i*len(list)/n]
	}
	return out
}

// rememberAll remembers facts in a project with several calls at once. The
// facts of one key stay in order.
func (e *evaluator) rememberAll(project string, facts []object, workers int) error {
	shares := make([][]object, workers)
	for _, f := range facts {
		i := hash(fmt.Sprint(f["category"], "/", f["key"])) % uint64(workers)
		shares[i] = append(shares[i], f)
	}
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for i, share := range shares {
		wg.Go(func() {
			for _, f := range share {
				f["project"] = project
				if _, errs[i] = e.server.call("remember", f); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// EvalReport is the outcome of an evaluation.
type EvalReport struct {
	System  string   `json:"system"`
	Sample  int      `json:"sample"`
	Rows    []Row    `json:"rows"`
	Skipped []string `json:"skipped,omitempty"`
}

// Row holds the figures of a set in one mode, and of one kind of question
// where the set has kinds. What was not measured is absent. In the mode "bleve"
// are the figures of a plain bleve index.
type Row struct {
	Set  string `json:"set"`
	Kind string `json:"kind,omitempty"`
	Mode string `json:"mode"`
	N    int    `json:"n"` // questions or keys

	Hit1  *float64 `json:"hit_at_1,omitempty"` // share of questions with a relevant fact among the first k
	Hit3  *float64 `json:"hit_at_3,omitempty"`
	Hit10 *float64 `json:"hit_at_10,omitempty"`
	R5    *float64 `json:"recall_at_5,omitempty"` // mean share of the relevant facts among the first k
	R10   *float64 `json:"recall_at_10,omitempty"`
	MRR   *float64 `json:"mrr_at_10,omitempty"`
	NDCG  *float64 `json:"ndcg_at_10,omitempty"`
	Bleve *float64 `json:"bleve_ndcg_at_10,omitempty"` // of plain bleve for the same questions

	Stale     *float64   `json:"stale_first,omitempty"` // share with an outdated fact before the first right one
	Abstained *float64   `json:"given_up,omitempty"`    // share without any answer, firm or maybe
	Foreign   *Strangers `json:"foreign_strangers,omitempty"`
	Own       *Strangers `json:"own_strangers,omitempty"`

	Exact  *float64 `json:"exact,omitempty"` // share of checks that came out exactly right
	Errors int      `json:"errors"`
	P50    float64  `json:"p50_ms"`
	P95    float64  `json:"p95_ms"`

	Seconds float64  `json:"seconds"` // of the whole set
	Notes   []string `json:"notes,omitempty"`
}

// Strangers are questions that nothing stored answers, and the shares that got
// a firm answer and only a maybe.
type Strangers struct {
	N     int     `json:"n"`
	Firm  float64 `json:"firm"`
	Maybe float64 `json:"maybe"`
}

// Text is the report as tables, one for each set.
func (r EvalReport) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", r.System)
	if r.Sample > 1 {
		fmt.Fprintf(&b, ", every %dth key and question", r.Sample)
	}
	b.WriteString("\n")
	for i := 0; i < len(r.Rows); {
		end := i
		for end < len(r.Rows) && r.Rows[end].Set == r.Rows[i].Set {
			end++
		}
		r.table(&b, r.Rows[i:end])
		i = end
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(&b, "\nSKIPPED %s\n", s)
	}
	return b.String()
}

// table writes the rows of a set; columns without any figure are left out.
func (EvalReport) table(b *strings.Builder, rows []Row) {
	share := func(f *float64) string {
		if f == nil {
			return ""
		}
		return fmt.Sprintf("%.3f", math.Floor(*f*1000+1e-6)/1000) // cut: 1.000 means all
	}
	strangers := func(s *Strangers) string {
		if s == nil || s.N == 0 {
			return ""
		}
		return fmt.Sprintf("%.2f/%.2f", s.Firm, s.Maybe)
	}
	cells := [][]string{{"kind", "mode", "n", "hit@1", "hit@3", "hit@10", "R@5", "R@10", "MRR", "nDCG", "bleve",
		"stale", "given up", "foreign", "own", "exact", "errors", "p50 ms", "p95 ms"}}
	for _, r := range rows {
		line := []string{r.Kind, r.Mode, fmt.Sprint(r.N), share(r.Hit1), share(r.Hit3), share(r.Hit10), share(r.R5), share(r.R10), share(r.MRR), share(r.NDCG),
			share(r.Bleve), share(r.Stale), share(r.Abstained), strangers(r.Foreign), strangers(r.Own), share(r.Exact), "", "", ""}
		if r.Exact != nil {
			line[16] = fmt.Sprint(r.Errors)
		}
		if r.P95 > 0 {
			line[17], line[18] = fmt.Sprintf("%.1f", r.P50), fmt.Sprintf("%.1f", r.P95)
		}
		cells = append(cells, line)
	}
	fmt.Fprintf(b, "\n%s (%.1f s)\n", rows[0].Set, rows[0].Seconds)
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, line := range cells {
		for column := range line {
			if slices.ContainsFunc(cells[1:], func(l []string) bool { return l[column] != "" }) {
				fmt.Fprintf(w, "%s\t", line[column])
			}
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	for _, r := range rows {
		for _, n := range r.Notes {
			fmt.Fprintf(b, "  wrong: %s\n", n)
		}
	}
}
