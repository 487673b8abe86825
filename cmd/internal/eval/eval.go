package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"leanctx/knowledge"
	"leanctx/knowledge/meaning"
)

// Options of [Run]. Nil and zero run every set whole, in every mode of recall
// that there is.
type Options struct {
	Sets   []string // names, or what they begin with; all
	Modes  []string // modes of recall, each a row of its own; those of [modes]
	Sample int      // take one key, and one question in words, of so many; 1
	Small  bool     // of a set of documents the first [smallFacts], and [smallQuestions] about them
	Temp   string   // where the stores are made; the system's place for temporary files

	// Semantic is recall by meaning for the store in a directory. Without it
	// words are all that is compared.
	Semantic func(dir string) (meaning.Semantic, meaning.Vectors)
	// Encoders are those that Semantic offers besides the instant one. Each has
	// rows of its own, in sets of questions in words.
	Encoders []*Kept
	// Progress is told what is about to run.
	Progress func(text string)
}

// set is a row, or a row for each mode.
type set struct {
	name  string
	needs []string // files
	run   func(context.Context, *bench) ([]Row, error)
}

// sets are all there are, in the order of the table.
func sets() []set {
	return []set{
		consolidation("6k"),
		consolidation("32k"),
		asOf(),
		snapshots(),
		documents("locomo-facts", "locomo-dev/facts"),
		documents("locomo-turns", "locomo-dev/turns"),
		documents("cosqa", "cosqa-dev"),
		paraphrases(),
		speed(),
	}
}

// lexical is the mode in which no encoder has a part.
const lexical = "lexical"

// modes are the ways of recall that are compared unless others are asked for,
// side by side.
func modes(vectors bool) []string {
	if vectors {
		return []string{lexical, "semantic", "hybrid", "auto"}
	}
	return []string{lexical}
}

// Names are the names of the sets.
func Names() []string {
	var names []string
	for _, s := range sets() {
		names = append(names, s.name)
	}
	return names
}

// bench is what the sets run on.
type bench struct {
	Options
	data    fs.FS
	encoder atomic.Pointer[string] // that stores may use beside the instant one
	unkept  []string               // encoders left out of the set that runs
}

func newBench(dir string, o *Options) (*bench, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("evaluation data: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("evaluation data: %s is not a directory", dir)
	}
	b := &bench{data: os.DirFS(dir)}
	if o != nil {
		b.Options = *o
	}
	if len(b.Modes) == 0 {
		b.Modes = modes(b.Semantic != nil)
	}
	b.Sample = max(b.Sample, 1)
	return b, nil
}

// Run runs evaluation sets on the data in dir. A wrong answer is a figure of the
// report, not an error; an error is data that cannot be read, a mode or set that
// does not exist, or a store that cannot be written.
func Run(ctx context.Context, dir string, o *Options) (Report, error) {
	b, err := newBench(dir, o)
	if err != nil {
		return Report{}, err
	}
	chosen, err := choose(b.Sets)
	if err != nil {
		return Report{}, err
	}
	r := Report{
		System: fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version()),
		Sample: b.Sample, Rows: []Row{},
	}
	for _, s := range chosen {
		if missing := b.missing(s); missing != "" {
			r.Skipped = append(r.Skipped, fmt.Sprintf("%s: %s has no %s", s.name, dir, missing))
			continue
		}
		if b.Progress != nil {
			b.Progress(s.name + " …")
		}
		start := time.Now()
		rows, err := s.run(ctx, b)
		if err != nil {
			return r, fmt.Errorf("%s: %w", s.name, err)
		}
		for _, name := range b.unkept {
			r.Skipped = append(r.Skipped, fmt.Sprintf("%s with %s: %v", s.name, name, ErrUnkept))
		}
		b.unkept = nil
		for _, row := range rows {
			row.Set, row.Seconds = s.name, cmp.Or(row.Seconds, time.Since(start).Seconds())
			r.Rows = append(r.Rows, row)
		}
	}
	if len(r.Rows) == 0 {
		return r, fmt.Errorf("%s has none of the sets asked for: %s", dir, r.Skipped[0])
	}
	return r, nil
}

// choose picks sets by what their names begin with, in the order of the table.
func choose(names []string) ([]set, error) {
	all := sets()
	if len(names) == 0 {
		return all, nil
	}
	for _, n := range names {
		if n == "" || !slices.ContainsFunc(all, func(s set) bool { return strings.HasPrefix(s.name, n) }) {
			return nil, &knowledge.ArgumentError{Argument: "only", Problem: fmt.Sprintf("there is no set %q: the sets are %s", n, strings.Join(Names(), ", "))}
		}
	}
	return slices.DeleteFunc(all, func(s set) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(s.name, n) })
	}), nil
}

// onProject runs a set of a file of facts and a file of what is asked, on one
// project. measure gives its rows.
func onProject[F, A any](title, facts, asked string, measure func(context.Context, *bench, *project, given[F, A]) ([]Row, error)) set {
	run := func(ctx context.Context, b *bench) (rows []Row, err error) {
		var g given[F, A]
		if g.facts, err = records[F](b.data, facts); err != nil {
			return nil, err
		}
		if g.asked, err = records[A](b.data, asked); err != nil {
			return nil, err
		}
		p, err := b.open(new(meter))
		if err != nil {
			return nil, err
		}
		defer func() { err = closed(err, p) }()
		return measure(ctx, b, p, g)
	}
	return set{title, []string{facts, asked}, run}
}

// given is what the two files of such a set hold.
type given[F, A any] struct {
	facts []F
	asked []A
}

// missing names the first file that a set needs and the data has not.
func (b *bench) missing(s set) string {
	for _, name := range s.needs {
		if _, err := fs.Stat(b.data, name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
	}
	return ""
}

// name is the category and key of a fact, as the sets write them.
type name struct{ category, key string }
