package app

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/eval"
	"leanctx/cmd/internal/op"
	"leanctx/knowledge"
)

type evaluation struct {
	Dir    string   `json:"dir" arg:"1" jsonschema:"the directory of the evaluation data"`
	Only   []string `json:"only,omitempty" alias:"set" jsonschema:"only sets whose names begin so, parted by commas or given several times"`
	Mode   []string `json:"mode,omitempty" jsonschema:"modes of recall to compare, a row each (default: all there are)"`
	Model  bool     `json:"model,omitempty" jsonschema:"recall by meaning with the installed model instead of the built-in encoder; it takes half a second a text"`
	Sample int      `json:"sample,omitempty" jsonschema:"take one key and one question of so many, always the same, for a quick look (default 1: all)"`
}

// evalTool is `lean-ctx eval`. It works on stores of its own, so it opens none
// of the user's.
func (r *run) evalTool() *op.Tool {
	const summary = "Measure recall and time on evaluation sets, in temporary stores."
	measure := func(ctx context.Context, _ op.Scope, e evaluation) (eval.Report, error) {
		tell := func(text string) { fmt.Fprintf(r.errs, "%s: %s\n", cli.Name, text) }
		c, err := r.stores.config()
		if err != nil {
			return eval.Report{}, err
		}
		m := &models{dir: c.ModelsDir, logger: slog.Default()}
		if !e.Model {
			m.dir = os.DevNull
		}
		defer m.close()
		semantic := func(dir string) (knowledge.Semantic, knowledge.Vectors) {
			x := newMeaning(dir, m)
			return x, x
		}
		return eval.Run(ctx, e.Dir, &eval.Options{Sets: e.Only, Modes: e.Mode, Sample: e.Sample, Progress: tell, Semantic: semantic})
	}
	return &op.Tool{Name: "eval", Command: "eval", Summary: summary,
		Operations: []op.Operation{op.New("", summary, op.Reads, measure, "dir").Shown("dir", "eval-data")}}
}
