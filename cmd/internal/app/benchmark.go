package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"leanctx/cmd/internal/bench"
	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/op"
)

type benchmark struct {
	Facts []string `json:"facts,omitempty" jsonschema:"facts of each store, such as 1000,20k,1M (default 1000,10000,100000)"`
	SVG   string   `json:"svg,omitempty" jsonschema:"draw the chart into this file"`
	Check bool     `json:"check,omitempty" jsonschema:"fail when a figure of the contract is missed; adds the sizes they are about"`
	Rows  []string `json:"rows,omitempty" jsonschema:"only rows whose group or name holds this; may be given several times"`
	Runs  int      `json:"runs,omitempty" jsonschema:"most runs of each row (default 21 of a command, 101 in a server)"`
	Seed  int      `json:"seed,omitempty" jsonschema:"of the facts that are made (default 1)"`
	Keep  string   `json:"keep,omitempty" jsonschema:"make the stores in this directory, which must be empty, and leave them there"`
}

// benchTool is `lean-ctx bench`. It works on stores of its own, so it opens
// none of the user's.
func (r *run) benchTool() *op.Tool {
	const summary = "Measure each operation beside its floor, in temporary stores."
	return &op.Tool{Name: "bench", Command: "bench", Summary: summary,
		Operations: []op.Operation{op.New("", summary, op.Adds, r.bench).Shown("facts", "1000,100k", "svg", "bench.svg")}}
}

func (r *run) bench(ctx context.Context, sc op.Scope, b benchmark) (bench.Report, error) {
	var none bench.Report
	c, err := r.stores.config()
	if err != nil {
		return none, err
	}
	o := bench.Options{Environ: config.Environ, Version: build().Version, Runs: b.Runs, Rows: b.Rows, Seed: uint64(max(b.Seed, 0))}
	if o.Program, err = os.Executable(); err != nil {
		return none, err
	}
	if o.Facts, err = bench.Sizes(b.Facts); err != nil {
		return none, err
	}
	if b.Check {
		o.Facts = slices.Concat(o.Facts, bench.ContractSizes())
	}
	for _, path := range []*string{&b.SVG, &b.Keep} {
		if *path != "" {
			if *path, err = c.Path(*path); err != nil {
				return none, err
			}
		}
	}
	o.Keep = b.Keep
	if cli.Terminal(r.errs) {
		o.Progress = func(text string) { fmt.Fprintf(r.errs, "%s: %s\n", cli.Name, text) }
	}
	report, err := bench.Run(ctx, o)
	if err != nil {
		return none, err
	}
	if b.SVG != "" {
		if err := os.WriteFile(b.SVG, []byte(report.SVG()), 0o600); err != nil {
			return none, err
		}
	}
	if b.Check {
		return report, r.missed(sc, report)
	}
	return report, nil
}

// missed fails where a figure was missed. An operation that fails prints
// nothing, and here the table is what one wants to see: so it is printed first.
func (r *run) missed(sc op.Scope, report bench.Report) error {
	missed := report.Missed()
	if len(missed) == 0 {
		return nil
	}
	text := report.Text()
	if sc.Output == "json" {
		data, err := json.Marshal(report)
		if err != nil {
			return err
		}
		text = string(data)
	}
	if _, err := fmt.Fprintln(r.out, text); err != nil {
		return err
	}
	names := make([]string, len(missed))
	for i, f := range missed {
		names[i] = f.String()
	}
	return fmt.Errorf("figures were missed:\n  %s", strings.Join(names, "\n  "))
}
