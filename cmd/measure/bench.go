package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/blevesearch/bleve/v2"
)

type benchOptions struct {
	sizes   []int    // facts of each store
	rows    []string // only rows whose "group: name" contains one of these
	runs    int      // most runs of each row
	program *product
	empty   string // a program that does nothing
	peers   string // the folder of other memory servers; empty: none
}

func runBench(ctx context.Context, args []string, out io.Writer) (err error) {
	var o benchOptions
	var sizes list
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.Var(&sizes, "facts", "`sizes` of the stores, such as 1000,20k,1M (default 1k,10k,20k,100k)")
	flags.Var((*list)(&o.rows), "rows", "only rows whose group or name `contains` this; comma-separated or repeated")
	flags.IntVar(&o.runs, "runs", 0, "most `runs` of each row (default 21 of a command, 101 in a server)")
	svg := flags.String("svg", "", "also draw the chart into this `file`")
	program := flags.String("program", "", "the lean-ctx to measure, a `file`; needed")
	empty := flags.String("empty", filepath.Join("build", "empty"), "the program that does nothing, a `file`")
	flags.StringVar(&o.peers, "peers", "", "the `folder` where npm installed other memory servers to measure beside")
	last := flags.String("last", filepath.Join("cmd", "measure", "testdata", "bench.json"), "the JSON `file` of the run to compare ratios with, if there is one")
	asJSON := flags.Bool("json", false, "print JSON")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.sizes, err = parseSizes(sizes); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "lean-ctx-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.program, err = newProduct(*program, dir); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	if o.empty, err = executable(*empty); err != nil {
		return fmt.Errorf("bench: -empty: %w", err)
	}
	r, err := measure(ctx, dir, o)
	if len(r.Sizes) == 0 {
		return err
	}
	slower, e := r.compareWith(*last)
	r.Notes = append(r.Notes, slower...)
	err = errors.Join(err, e)
	if *svg != "" {
		err = errors.Join(err, os.WriteFile(*svg, []byte(r.SVG()), 0o600))
	}
	return errors.Join(show(out, r, *asJSON), err)
}

// parseSizes reads numbers of facts as people write them: 1000, 20k, 1M.
func parseSizes(texts []string) (sizes []int, err error) {
	if len(texts) == 0 {
		texts = []string{"1k", "10k", "20k", "100k"}
	}
	for _, text := range texts {
		digits := strings.NewReplacer("k", "000", "M", "000000", "_", "").Replace(text)
		n, err := strconv.Atoi(digits)
		if err != nil || n < 100 || n > 10_000_000 {
			return nil, fmt.Errorf("%q is not a number of facts from 100 to 10M", text)
		}
		sizes = append(sizes, n)
	}
	return slices.Compact(slices.Sorted(slices.Values(sizes))), nil
}

// row is one measure. To measure something else is to write one more.
type row struct {
	group, name string
	chart       bool
	runs        int  // most; 0: one, without a rehearsal
	bytes       bool // not a time
	// run does the thing for the i-th time and returns what it took. What it
	// returns of a rehearsal, i < 0, does not count.
	run func(b *bench, i int) (float64, error)
	// floors are measured in turn with run. The limit is their sum, each as many
	// times as it says, and plus; of what has no promise plus is negative.
	floors []floor
	plus   func(facts int) float64
	// spread, if not 0, limits p95 to as many times p50.
	spread float64
	// most, if not 0, is the largest store that it is measured in; needs says whether it can be.
	most  int
	needs func(b *bench) bool
	// flat, if not 0, limits the ratio to the floor to as many times that of the
	// smallest store.
	flat float64
}

type floor struct {
	name  string
	times float64
	run   func(b *bench, i int) (float64, error)
}

// bench is a store of one size and what the rows need.
type bench struct {
	benchOptions
	ctx       context.Context
	n         int
	dir       string
	project   string
	input     string // the facts as JSON lines
	gen       *generator
	questions questions
	texts     []string // of all facts
	took      float64  // the import
	notes     map[string]int

	server  *server
	running map[string]*peerServer
	named   int     // of the facts of real words
	changes float64 // the median of the first hundred changes of a fact
	plain   bleve.Index
	scan    func()
	append  *os.File
}

// measure makes a store of each size and measures all rows on it. A row that
// fails costs its own figures only: its error comes with the report.
func measure(ctx context.Context, dir string, o benchOptions) (BenchReport, error) {
	r := BenchReport{Machine: machine()}
	version, err := o.program.command(ctx, dir, "", "version")
	if err != nil {
		return r, err
	}
	r.Version, _, _ = strings.Cut(version, "\n")
	rows := slices.DeleteFunc(benchRows(), func(w row) bool {
		return len(o.rows) > 0 && !slices.ContainsFunc(o.rows, func(t string) bool { return strings.Contains(w.group+": "+w.name, t) })
	})
	if len(rows) == 0 {
		return r, fmt.Errorf("no row contains %q", o.rows)
	}
	for _, w := range rows {
		line := BenchRow{Group: w.group, Name: w.name, Bytes: w.bytes, Chart: w.chart}
		for _, f := range w.floors {
			line.Floors = append(line.Floors, f.name)
		}
		r.Rows = append(r.Rows, line)
	}
	var failed error
	for _, n := range o.sizes {
		b := &bench{benchOptions: o, ctx: ctx, n: n, dir: filepath.Join(dir, fmt.Sprint(n)), notes: map[string]int{}}
		if err := b.make(); err != nil {
			return r, errors.Join(failed, fmt.Errorf("making a store of %d facts: %w", n, err), b.close())
		}
		r.Sizes = append(r.Sizes, n)
		for i, w := range rows {
			if w.most > 0 && n > w.most || w.needs != nil && !w.needs(b) {
				r.Rows[i].Cells = append(r.Rows[i].Cells, Cell{Facts: n, LeftOut: true})
				continue
			}
			progress("%d facts: %s: %s", n, w.group, w.name)
			c, err := b.cell(w)
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("%d facts: %s: %s: %w", n, w.group, w.name, err))
				c = Cell{Facts: n}
			}
			if first := r.Rows[i].Cells; w.flat > 0 && len(first) > 0 && first[0].Runs > 0 {
				c.limit(w.flat * first[0].P50 / first[0].Floor * c.Floor)
			}
			r.Rows[i].Cells = append(r.Rows[i].Cells, c)
		}
		for note, times := range b.notes {
			r.Notes = append(r.Notes, fmt.Sprintf("%d facts: %s (%d times)", n, note, times))
		}
		failed = errors.Join(failed, b.close(), ctx.Err())
		if ctx.Err() != nil {
			break
		}
	}
	slices.Sort(r.Notes)
	return r, failed
}

// cell is the one loop: the measured thing and its floors in turn, so that all
// see the same machine, however busy it is.
func (b *bench) cell(w row) (Cell, error) {
	runs, first := w.runs, -1
	if b.runs > 0 {
		runs = min(runs, b.runs)
	}
	if w.runs == 0 {
		runs, first = 1, 0
	}
	var took []float64
	bare := make([][]float64, len(w.floors))
	var begun time.Time
	for i := first; i < runs && (i < 5 || time.Since(begun) < 4*time.Second); i++ {
		if i <= 1 {
			begun = time.Now() // the first run may have something to prepare
		}
		if err := b.ctx.Err(); err != nil {
			return Cell{}, err
		}
		v, err := w.run(b, i)
		if err != nil {
			return Cell{}, err
		}
		if i >= 0 {
			took = append(took, v)
		}
		for f, floor := range w.floors {
			if v, err = floor.run(b, i); err != nil {
				return Cell{}, err
			}
			if i >= 0 {
				bare[f] = append(bare[f], v)
			}
		}
	}
	c := Cell{Facts: b.n, Runs: len(took), P50: quantile(took, .5), P95: quantile(took, .95)}
	limit := 0.0
	for f, floor := range w.floors {
		c.Floor += quantile(bare[f], .5)
		limit += floor.times * quantile(bare[f], .5)
	}
	if w.plus != nil {
		if plus := w.plus(b.n); plus >= 0 {
			c.limit(limit + plus)
		}
	}
	if w.spread > 0 {
		c.Limit, c.Missed = w.spread*c.P50, c.P95 > w.spread*c.P50
	}
	return c, nil
}

// timed is how long f takes, in microseconds.
func timed(f func() error) (float64, error) {
	start := time.Now()
	err := f()
	return float64(time.Since(start)) / float64(time.Microsecond), err
}

// make makes the store as people do: an import, then a compaction.
func (b *bench) make() error {
	b.project, b.input = filepath.Join(b.dir, "my-app"), filepath.Join(b.dir, "facts.jsonl")
	if err := os.MkdirAll(b.project, 0o700); err != nil {
		return err
	}
	b.program = b.program.with("LEAN_CTX_DATA_DIR=" + b.data())
	progress("%d facts: making the store", b.n)
	b.gen = newGenerator(b.n)
	var err error
	if b.questions, b.texts, err = b.gen.write(b.input, b.n); err != nil {
		return err
	}
	b.took, err = timed(func() error { _, err := b.command("knowledge", "import", b.input); return err })
	if err == nil {
		_, err = b.command("compact")
	}
	return err
}

func (b *bench) close() error {
	err := b.stop()
	for _, s := range b.running {
		err = errors.Join(err, s.session.Close())
	}
	if b.plain != nil {
		err = errors.Join(err, b.plain.Close())
	}
	if b.append != nil {
		err = errors.Join(err, b.append.Close())
	}
	return errors.Join(err, os.RemoveAll(b.dir))
}

func (b *bench) data() string { return filepath.Join(b.dir, "data") }

func (b *bench) command(args ...string) (string, error) {
	return b.program.command(b.ctx, b.project, "", args...)
}

// serve is a server that has answered before; it runs until stop.
func (b *bench) serve() (*server, error) {
	if b.server != nil {
		return b.server, nil
	}
	s, err := b.program.serve(b.ctx, b.project)
	if err != nil {
		return nil, err
	}
	b.server = s
	_, _, err = s.recall(object{"query": "anything at all"})
	return s, err
}

func (b *bench) stop() error {
	if b.server == nil {
		return nil
	}
	s := b.server
	b.server = nil
	return s.close()
}

// benchRows are all measures, in the order in which they are taken: first what
// must find the store as an import left it.
func benchRows() []row {
	cold := func(facts int) float64 {
		switch {
		case facts <= 20_000:
			return 60_000
		case facts <= 100_000:
			return 100_000
		}
		return -1
	}
	briefing := func(facts int) float64 {
		if facts <= 20_000 {
			return 150_000
		}
		return -1
	}
	return slices.Concat([]row{
		onDisk("facts", nil, func(path string) bool {
			return !strings.HasPrefix(path, "index") && !strings.HasPrefix(path, "embeddings")
		}),
		onDisk("caches: text index and vectors", new(4.0), func(path string) bool {
			return strings.HasPrefix(path, "index") || strings.HasPrefix(path, "embeddings")
		}),
		onDisk("everything", new(14.0), func(string) bool { return true }),
		{group: "on disk", name: "the program", bytes: true, run: func(b *bench, _ int) (float64, error) {
			info, err := os.Stat(b.program.path)
			if err != nil {
				return 0, err
			}
			return float64(info.Size()), nil
		}},

		asCommand("version", false, func(int) float64 { return 15_000 }, func(*bench, int) []string { return []string{"version"} }),
		coldRecall("recall, a rare word", cold, func(b *bench, i int) string { return pick(b.questions.rare, i) }),
		coldRecall("recall, a common word", cold, func(b *bench, i int) string { return pick(b.questions.common, i) }),
		coldRecall("recall, a question", cold, func(b *bench, i int) string { return pick(b.questions.several, i) }),
		coldRecall("recall, words that are not there", cold, func(_ *bench, i int) string { return "zzy" + spelled(i+99) + "xq" }),
		asCommand("recall, an exact key", false, cold, func(b *bench, i int) []string {
			k := pick(b.questions.keys, i)
			return []string{"knowledge", "recall", "--category", k.category, "--key", k.key}
		}),
		asCommand("remember", true, cold, func(b *bench, _ int) []string {
			f := b.gen.fact()
			return []string{"knowledge", "remember", f.Value, "--category", f.Category, "--key", f.Key}
		}),
		hook("hook, a prompt", "user-prompt", cold, func(b *bench, i int) object { return object{"prompt": pick(b.questions.several, i)} }),
		hook("hook, a file", "post-tool", cold, func(*bench, int) object { return object{"tool_input": object{"file_path": "src/a.go"}} }),
		hook("hook, a session's start", "session-start", briefing, func(*bench, int) object { return object{"source": "startup"} }),
		asCommand("wakeup", true, briefing, func(*bench, int) []string { return []string{"knowledge", "wakeup"} }),
		asCommand("status", false, nil, func(*bench, int) []string { return []string{"knowledge", "status"} }),

		{group: "in a server", name: "remember", chart: true, runs: 101, flat: 1.5, floors: []floor{ping(1), fsync},
			run: func(b *bench, _ int) (float64, error) {
				f := b.gen.fact()
				return b.call("remember", object{"category": f.Category, "key": f.Key, "value": f.Value})
			}},
		warmRecall("recall, a rare word, lexical", "lexical", false, func(b *bench, i int) string { return pick(b.questions.rare, i) }),
		warmRecall("recall, a question, lexical", "lexical", true, func(b *bench, i int) string { return pick(b.questions.several, i) }),
		warmRecall("recall, a question, auto", "auto", true, func(b *bench, i int) string { return pick(b.questions.several, i) }),
		{group: "in a server", name: "recall, an exact key", runs: 101, floors: []floor{ping(1)},
			run: func(b *bench, i int) (float64, error) {
				k := pick(b.questions.keys, i)
				return b.call("recall", object{"category": k.category, "key": k.key})
			}},
		{group: "in a server", name: "wakeup", runs: 21, floors: []floor{ping(1)},
			run: func(b *bench, _ int) (float64, error) { return b.call("wakeup", object{}) }},
		{group: "in a server", name: "resident memory", bytes: true, run: resident, floors: []floor{{"a server of an empty project", 0, residentEmpty}}},
	}, warmRows(), []row{
		{group: "in a server", name: "recall after 10,000 remembers", runs: 101, spread: 5, floors: []floor{ping(1)},
			run: func(b *bench, i int) (float64, error) {
				if i == 0 {
					if err := b.burst(10_000); err != nil {
						return 0, err
					}
				}
				return b.call("recall", object{"query": pick(b.questions.several, i)})
			}},

		{group: "the whole store", name: "import", run: func(b *bench, _ int) (float64, error) { return b.took, nil }},
		{group: "the whole store", name: "export", run: func(b *bench, _ int) (float64, error) {
			path := b.input + ".export"
			took, err := timed(func() error { _, err := b.command("knowledge", "export", "--output", path); return err })
			return took, errors.Join(err, os.Remove(path)) // as large as the store
		}},
		{group: "the whole store", name: "8 processes, 20 remembers each", run: writers},
	})
}

func pick[T any](list []T, i int) T { return list[(i%len(list)+len(list))%len(list)] }

// onDisk is a part of the store beside the facts as JSON lines.
func onDisk(name string, most *float64, of func(path string) bool) row {
	w := row{group: "on disk", name: name, bytes: true, run: func(b *bench, _ int) (sum float64, err error) {
		stores, err := filepath.Glob(filepath.Join(b.data(), "knowledge", "*"))
		stores = slices.DeleteFunc(stores, func(path string) bool { return filepath.Ext(path) != "" }) // a file beside a store
		if err != nil || len(stores) != 1 {
			return 0, errors.Join(err, fmt.Errorf("%d stores", len(stores)))
		}
		err = filepath.WalkDir(stores[0], func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			info, err := e.Info()
			if rel, _ := filepath.Rel(stores[0], path); err == nil && of(filepath.ToSlash(rel)) {
				sum += float64(info.Size())
			}
			return err
		})
		return sum, err
	}}
	lines := floor{name: "the facts as JSON lines", run: func(b *bench, _ int) (float64, error) {
		info, err := os.Stat(b.input)
		if err != nil {
			return 0, err
		}
		return float64(info.Size()), nil
	}}
	if most != nil {
		// Few facts have as large a vocabulary as many: the index of 1,000 takes 1.7 times as much a fact.
		lines.times, w.plus = *most, func(facts int) float64 {
			if facts < 100_000 {
				return -1
			}
			return 0
		}
	}
	w.floors = []floor{lines}
	return w
}

// asCommand is a process from its start to its end, beside a Go program that
// does nothing.
func asCommand(name string, chart bool, plus func(int) float64, args func(b *bench, i int) []string) row {
	return process(name, chart, plus, func(b *bench, i int) error { _, err := b.command(args(b, i)...); return err })
}

func process(name string, chart bool, plus func(int) float64, do func(b *bench, i int) error) row {
	empty := floor{"an empty Go program", 1, func(b *bench, _ int) (float64, error) {
		return timed(exec.CommandContext(b.ctx, b.empty).Run)
	}}
	return row{group: "a command", name: name, chart: chart, runs: 21, floors: []floor{empty}, plus: plus,
		run: func(b *bench, i int) (float64, error) {
			if err := b.stop(); err != nil { // nothing else may run beside a command
				return 0, err
			}
			return timed(func() error { return do(b, i) })
		}}
}

func coldRecall(name string, plus func(int) float64, query func(b *bench, i int) string) row {
	return process(name, name == "recall, a question", plus, func(b *bench, i int) error {
		out, err := b.command("knowledge", "recall", query(b, i))
		found := strings.Contains(out, "]: ") // also as "maybe:", which a word that stands once in a long value may be
		if made := strings.HasPrefix(query(b, i), "zzy"); err == nil && found == made {
			b.notes[fmt.Sprintf("%s: unexpected answer, such as to %q", name, query(b, i))]++
		}
		return err
	})
}

func hook(name, event string, plus func(int) float64, input func(b *bench, i int) object) row {
	return process(name, false, plus, func(b *bench, i int) error {
		in, err := json.Marshal(input(b, i))
		if err == nil {
			_, err = b.program.command(b.ctx, b.project, string(in), "hook", "claude-code", event)
		}
		return err
	})
}

// call times a call of the server.
func (b *bench) call(action string, args object) (float64, error) {
	s, err := b.serve()
	if err != nil {
		return 0, err
	}
	return timed(func() error { _, err := s.call(action, args); return err })
}

func ping(times float64) floor {
	return floor{"a ping", times, func(b *bench, _ int) (float64, error) {
		s, err := b.serve()
		if err != nil {
			return 0, err
		}
		return timed(func() error { return s.Ping(b.ctx, nil) })
	}}
}

// fsync appends as many bytes as a commit has to a bare file and syncs it.
var fsync = floor{"append and fsync", 1, func(b *bench, _ int) (took float64, err error) {
	if b.append == nil {
		if b.append, err = os.Create(filepath.Join(b.dir, "append")); err != nil {
			return 0, err
		}
	}
	line := make([]byte, 600)
	return timed(func() error {
		_, err := b.append.Write(line)
		return errors.Join(err, b.append.Sync())
	})
}}

// warmRecall is a recall in a server. The promise: at most twice the bare index
// query and, in auto, 1.5 times the bare scan more. Two pings stand for the
// pipes and the JSON of the answer.
func warmRecall(name, mode string, chart bool, query func(b *bench, i int) string) row {
	promised := func(facts int) float64 {
		if facts < 100_000 { // the pipes would be most of it
			return -1
		}
		return 0
	}
	w := row{group: "in a server", name: name, chart: chart, runs: 101, plus: promised,
		run: func(b *bench, i int) (float64, error) {
			return b.call("recall", object{"query": query(b, i), "mode": mode})
		},
		floors: []floor{ping(2), {"a bare bleve query", 2, func(b *bench, i int) (float64, error) {
			x, err := b.bleve()
			if err != nil {
				return 0, err
			}
			return timed(func() error { _, err := (&plainIndex{x}).search(query(b, i), 50); return err })
		}}}}
	if mode == "auto" {
		w.floors = append(w.floors, floor{"a bare vector scan", 1.5, func(b *bench, _ int) (float64, error) {
			if b.scan == nil {
				b.scan = products(b.n, 256)
			}
			return timed(func() error { b.scan(); return nil })
		}})
	}
	return w
}

// bleve is a plain index of the same facts on disk.
func (b *bench) bleve() (bleve.Index, error) {
	if b.plain != nil {
		return b.plain, nil
	}
	m, err := plainMapping()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(b.dir, "bleve")
	builder, err := bleve.NewBuilder(path, m, object{"buildPathPrefix": b.dir})
	if err != nil {
		return nil, err
	}
	for i, text := range b.texts {
		if err := builder.Index(fmt.Sprint(i), plainDocument(text)); err != nil {
			return nil, err
		}
	}
	if err := builder.Close(); err != nil {
		return nil, err
	}
	b.plain, err = bleve.OpenUsing(path, object{"read_only": true})
	return b.plain, err
}

// products multiplies one vector with n others of eight bits a value, on all
// processors: an exact scan in plain Go cannot be faster.
func products(n, dim int) func() {
	rows, query, out := make([]int8, n*dim), make([]int32, dim), make([]int32, n)
	for i := range rows {
		rows[i] = int8(i*7919>>3) | 1
	}
	for i := range query {
		query[i] = int32(i*31%255 - 127)
	}
	return func() {
		var wg sync.WaitGroup
		cores := runtime.GOMAXPROCS(0)
		for c := range cores {
			wg.Go(func() {
				for i := n * c / cores; i < n*(c+1)/cores; i++ {
					out[i] = dot(query, rows[i*dim:(i+1)*dim])
				}
			})
		}
		wg.Wait()
	}
}

func dot(query []int32, row []int8) int32 {
	var a, b, c, d int32
	for len(query) >= 8 && len(row) >= 8 {
		q, r := (*[8]int32)(query), (*[8]int8)(row)
		a += q[0]*int32(r[0]) + q[4]*int32(r[4])
		b += q[1]*int32(r[1]) + q[5]*int32(r[5])
		c += q[2]*int32(r[2]) + q[6]*int32(r[6])
		d += q[3]*int32(r[3]) + q[7]*int32(r[7])
		query, row = query[8:], row[8:]
	}
	return a + b + c + d
}

// burst remembers facts from 16 callers at once.
func (b *bench) burst(n int) error {
	s, err := b.serve()
	if err != nil {
		return err
	}
	facts := make(chan madeFact)
	errs := make([]error, 16)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for f := range facts {
				if errs[i] == nil {
					_, errs[i] = s.call("remember", object{"category": f.Category, "key": f.Key, "value": f.Value})
				}
			}
		})
	}
	for range n {
		facts <- b.gen.fact()
	}
	close(facts)
	wg.Wait()
	return errors.Join(errs...)
}

// writers are processes that remember at once; nothing may be lost.
func writers(b *bench, _ int) (float64, error) {
	if err := b.stop(); err != nil {
		return 0, err
	}
	const processes, each = 8, 20
	errs := make([]error, processes)
	took, _ := timed(func() error {
		var wg sync.WaitGroup
		for p := range processes {
			wg.Go(func() {
				for i := range each {
					_, err := b.command("knowledge", "remember", fmt.Sprint("written by ", p), "--category", "writers", "--key", fmt.Sprintf("p%d-%d", p, i))
					errs[p] = errors.Join(errs[p], err)
				}
			})
		}
		wg.Wait()
		return nil
	})
	s, err := b.serve()
	if err = errors.Join(append(errs, err)...); err != nil {
		return 0, err
	}
	facts, _, err := s.recall(object{"category": "writers", "limit": 2 * processes * each})
	if err == nil && len(facts) != processes*each {
		err = fmt.Errorf("of %d facts that %d processes wrote at once, %d are there", processes*each, processes, len(facts))
	}
	return took, err
}

// resident is the memory of the server after calls of each kind; 0 where the
// system does not say.
func resident(b *bench, _ int) (float64, error) {
	s, err := b.serve()
	if err != nil {
		return 0, err
	}
	for i := range 20 {
		if _, _, err := s.recall(object{"query": pick(b.questions.several, i)}); err != nil {
			return 0, err
		}
	}
	for _, action := range []string{"wakeup", "status", "rooms"} {
		if _, err := s.call(action, object{}); err != nil {
			return 0, err
		}
	}
	return memoryOf(s.process.Process.Pid), nil
}

func residentEmpty(b *bench, _ int) (float64, error) {
	s, err := b.program.with("LEAN_CTX_DATA_DIR="+b.data()+"-empty").serve(b.ctx, b.project)
	if err != nil {
		return 0, err
	}
	_, _, err = s.recall(object{"query": "anything"})
	return memoryOf(s.process.Process.Pid), errors.Join(err, s.close())
}

func memoryOf(pid int) float64 {
	kib, _ := strconv.ParseFloat(strings.TrimSuffix(procLine(fmt.Sprintf("/proc/%d/status", pid), "VmRSS"), " kB"), 64)
	return kib * 1024
}

// procLine is the value of the first line "name: value" of a file; empty where
// there is none.
func procLine(path, name string) string {
	data, _ := os.ReadFile(path)
	for line := range strings.Lines(string(data)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func machine() string {
	cpu := procLine("/proc/cpuinfo", "model name")
	if cpu == "" {
		cpu = runtime.GOARCH
	}
	return fmt.Sprintf("%s, %d cores, %s, %s", cpu, runtime.NumCPU(), runtime.GOOS, runtime.Version())
}
