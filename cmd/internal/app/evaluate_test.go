package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leanctx/cmd/internal/eval"
	"leanctx/embed"
)

const fewParaphrases = "The bread is baked at home.\n? is the bread baked\nThe doctor treats sick people.\n? doctor\n"

// Each installed model has rows beside the built-in encoder's, once what it
// encodes may be encoded or is kept.
func TestEvalModels(t *testing.T) {
	data, modelsDir, cache := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "paraphrases.txt"), []byte(fewParaphrases), 0o600); err != nil {
		t.Fatal(err)
	}
	tiny := filepath.Join("..", "..", "..", "embed", "testdata", "tiny-bert")
	installed, err := embed.Install(t.Context(), modelsDir, tiny, &embed.InstallOptions{Model: "onnx/model.onnx"})
	if err != nil {
		t.Fatal(err)
	}
	run := func(frugal bool) eval.Report {
		t.Helper()
		all, err := keptModels(modelsDir, cache, frugal)
		if err != nil {
			t.Fatal(err)
		}
		defer all.close()
		r, err := eval.Run(t.Context(), data, &eval.Options{Sets: []string{"paraphrases"}, Temp: t.TempDir(), Semantic: all.open, Encoders: all})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := run(true); len(r.Rows) != 4 || len(r.Skipped) != 1 || !strings.Contains(r.Skipped[0], installed.Name) {
		t.Errorf("nothing is kept yet: %d rows, skipped %q", len(r.Rows), r.Skipped)
	}
	for _, frugal := range []bool{false, true} {
		r := run(frugal)
		if len(r.Rows) != 7 || len(r.Skipped) != 0 {
			t.Fatalf("%d rows, skipped %q", len(r.Rows), r.Skipped)
		}
		for i, row := range r.Rows {
			if want := []string{"", "static", "static", "static", installed.Name, installed.Name, installed.Name}[i]; !strings.HasPrefix(row.Encoder, want) || (row.Encoder == "") != (want == "") {
				t.Errorf("row %d: %s with %q", i, row.Mode, row.Encoder)
			}
		}
	}
}

// The floors of recall with a real sentence transformer, on a fixed sample of
// the evaluation sets and on the paraphrased questions, which are always there.
// LEAN_CTX_EVAL_MODELS names the folder in which it is installed; with
// LEAN_CTX_EVAL_WHOLE all questions of LoCoMo's facts are asked. The first run
// takes minutes. What it has encoded when its time is up is kept for the next.
func TestTransformerFloors(t *testing.T) {
	modelsDir := os.Getenv("LEAN_CTX_EVAL_MODELS")
	if modelsDir == "" {
		t.Skip("NOTHING MEASURED: set LEAN_CTX_EVAL_MODELS to a folder with an installed model")
	}
	whole := os.Getenv("LEAN_CTX_EVAL_WHOLE") != ""
	ctx := t.Context()
	if !whole {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 210*time.Second)
		defer cancel()
	}
	all, err := keptModels(modelsDir, "", false)
	if err != nil || len(all) == 0 {
		t.Fatalf("%s: %d models, %v", modelsDir, len(all), err)
	}
	defer all.close()
	measure := func(dir, set string) map[string]map[string]eval.Row {
		r, err := eval.Run(ctx, dir, &eval.Options{
			Sets: []string{set}, Modes: []string{"lexical", "hybrid", "auto"}, Temp: t.TempDir(), Small: !whole,
			Semantic: all.open, Encoders: all, Progress: func(text string) { t.Log(text) },
		})
		if errors.Is(err, context.DeadlineExceeded) {
			t.Skip("NOT MEASURED YET: the texts are not all encoded; what was encoded is kept, the next run goes on from there")
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Log(r.Text())
		rows := map[string]map[string]eval.Row{}
		for _, row := range r.Rows {
			if rows[row.Encoder] == nil {
				rows[row.Encoder] = map[string]eval.Row{}
			}
			rows[row.Encoder][row.Mode] = row
		}
		return rows
	}
	rows := measure(filepath.Join("..", "..", "..", "embed", "testdata"), "paraphrases")
	words := *rows[""]["lexical"].NDCG10
	for _, k := range all {
		hybrid, auto := *rows[k.Name()]["hybrid"].NDCG10, *rows[k.Name()]["auto"].NDCG10
		if hybrid < 0.58 || auto < 0.36 || auto < 5*words {
			t.Errorf("paraphrases with %s: hybrid %.3f, auto %.3f, words %.3f; want .58, .36 and five times words", k.Name(), hybrid, auto, words)
		}
	}
	dir := os.Getenv("LEAN_CTX_EVAL_DIR")
	if dir == "" {
		t.Skip("ONLY PARAPHRASES MEASURED: set LEAN_CTX_EVAL_DIR to the directory of the evaluation data")
	}
	rows = measure(dir, "locomo-facts")
	words = *rows[""]["lexical"].NDCG10
	gain := 0.01 // of the sample, whose store is small
	if whole {
		gain = 0.03
	}
	for _, k := range all {
		if hybrid := *rows[k.Name()]["hybrid"].NDCG10; hybrid < words+gain {
			t.Errorf("LoCoMo facts with %s: hybrid %.3f, want %.2f above words, %.3f", k.Name(), hybrid, gain, words)
		}
	}
}
