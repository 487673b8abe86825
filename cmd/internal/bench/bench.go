package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leanctx/knowledge"
)

// Options of [Run]. Program and Environ are needed; what else is zero takes its
// default.
type Options struct {
	Program string                               // the path of lean-ctx, for all that is a process of its own
	Environ func(set map[string]string) []string // a child's environment with these variables set
	Version string                               // of the program, for the report

	Facts []int    // facts of each store; 1,000, 10,000 and 100,000
	Seed  uint64   // of the generator; 1
	Runs  int      // of each measure at most; 21 of a command, 101 in a server
	Rows  []string // only rows whose "group: name" holds one of these; all
	Keep  string   // where the stores are made, and stay; a temporary directory, removed
	// Progress is told what is about to be measured; nil: nobody.
	Progress func(text string)
}

// Defaults of [Options].
const (
	usualInCommand = 21  // a process each: p95 is the second longest
	usualInServer  = 101 // in a store that is open
	defaultSeed    = 1
)

func defaultSizes() []int { return []int{1_000, 10_000, 100_000} }

// The limits of a size: a store of fewer facts has no room for the questions,
// and one of more than ten million no room on most disks.
const fewest, most = 100, 10_000_000

func argument(name, problem string) error {
	return &knowledge.ArgumentError{Argument: name, Problem: problem}
}

func (o Options) checked() (Options, error) {
	if len(o.Facts) == 0 {
		o.Facts = defaultSizes()
	}
	o.Facts = slices.Compact(slices.Sorted(slices.Values(o.Facts)))
	for _, n := range o.Facts {
		if n < fewest || n > most {
			return o, argument("facts", fmt.Sprintf("facts %d is outside %d to %d", n, fewest, most))
		}
	}
	if o.Runs < 0 {
		return o, argument("runs", fmt.Sprintf("runs %d is negative", o.Runs))
	}
	o.Seed = cmp.Or(o.Seed, defaultSeed)
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	for _, want := range o.Rows {
		if len(chosen([]string{want})) == 0 {
			return o, argument("rows", fmt.Sprintf("no row is called %q: the rows are\n  %s", want, strings.Join(names(), "\n  ")))
		}
	}
	return o, nil
}

// Run makes a store of each size and measures all rows on it. An answer that
// is not as expected is a note of the report; an error is a program that cannot
// be run, a store that cannot be written, or a [knowledge.ArgumentError]. When it
// returns nothing is left on the disk, unless it was told to keep it.
func Run(ctx context.Context, o Options) (r Report, err error) {
	if o, err = o.checked(); err != nil {
		return r, err
	}
	dir, err := place(o.Keep)
	if err != nil {
		return r, err
	}
	if o.Keep == "" {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	o.Progress("an empty program")
	empty, err := emptyProgram(ctx, dir, o.Environ(nil))
	if err != nil {
		return r, err
	}
	r = Report{Version: o.Version, Machine: machine(ctx, dir), Seed: o.Seed, Sizes: o.Facts, Floors: []string{}, Notes: empty.notes}
	if load := busy(read("/proc/loadavg"), r.Machine.Cores); load != "" {
		r.Notes = append(r.Notes, load)
	}
	all := chosen(o.Rows)
	for _, w := range all {
		if w.floor == floorProgram {
			w.floor = empty.label
		}
		r.Rows = append(r.Rows, Row{Group: w.group, Name: w.name, Unit: w.unit, Floor: w.floor, Chart: w.chart})
		if w.floor != "" && !slices.Contains(r.Floors, w.floor) {
			r.Floors = append(r.Floors, w.floor)
		}
	}
	first, err := firstText(ctx)
	if err != nil {
		return r, err
	}
	for _, n := range o.Facts {
		b := newBed(o, n, dir, empty)
		b.firstText = first
		if err := r.measure(ctx, all, b); err != nil {
			return r, err
		}
	}
	r.Figures = r.figures()
	return r, nil
}

// measure fills in the cells of one size.
func (r *Report) measure(ctx context.Context, all []row, b *bed) (err error) {
	defer func() { err = errors.Join(err, b.close()) }()
	b.tell("making the store")
	if err := b.make(ctx); err != nil {
		return fmt.Errorf("making a store of %d facts: %w", b.n, err)
	}
	for i, w := range all {
		b.tell(w.group + ": " + w.name)
		b.row = w
		start := time.Now()
		c, err := w.measure(ctx, b)
		if err != nil {
			return fmt.Errorf("%s: %s, %d facts: %w", w.group, w.name, b.n, err)
		}
		c.Facts = b.n
		r.Rows[i].Cells = append(r.Rows[i].Cells, c)
		b.tell(fmt.Sprintf("%s: %s: %d runs in %.1fs", w.group, w.name, c.Runs, time.Since(start).Seconds()))
	}
	r.Notes = append(r.Notes, b.notes()...)
	return nil
}

// place is the directory of the stores. One that was named must have nothing
// in it: a store that is there already would be measured with another's facts.
func place(keep string) (string, error) {
	if keep == "" {
		return os.MkdirTemp("", "lean-ctx-bench-")
	}
	if err := os.MkdirAll(keep, 0o700); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(keep)
	if err != nil {
		return "", err
	}
	if len(entries) > 0 {
		return "", argument("keep", fmt.Sprintf("%s is not empty: name a new directory", keep))
	}
	return filepath.Abs(keep)
}
