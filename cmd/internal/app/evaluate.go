package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/eval"
	"leanctx/cmd/internal/op"
	"leanctx/embed"
	"leanctx/embed/vectors"
	"leanctx/knowledge/meaning"
)

type evaluation struct {
	Dir    string   `json:"dir" arg:"1" jsonschema:"the directory of the evaluation data"`
	Only   []string `json:"only,omitempty" alias:"set" jsonschema:"only sets whose names begin so, parted by commas or given several times"`
	Mode   []string `json:"mode,omitempty" jsonschema:"modes of recall to compare, a row each (default: all there are)"`
	Models bool     `json:"models,omitempty" alias:"model" jsonschema:"encode with the installed models what they have not encoded yet, at half a second a text; without it they have rows where all is encoded"`
	Cache  string   `json:"cache,omitempty" jsonschema:"the folder where vectors of the installed models are kept (default: beside the models)"`
	Small  bool     `json:"small,omitempty" jsonschema:"of a set of documents the first 300, and 100 questions about them"`
	Sample int      `json:"sample,omitempty" jsonschema:"take one key and one question of so many, always the same, for a quick look (default 1: all)"`
}

// evalTool is `lean-ctx eval`. It works on stores of its own, so it opens none
// of the user's.
func (r *run) evalTool() *op.Tool {
	const summary = "Measure recall and time on evaluation sets, in temporary stores."
	measure := func(ctx context.Context, _ op.Scope, e evaluation) (report eval.Report, err error) {
		tell := func(text string) { fmt.Fprintf(r.errs, "%s: %s\n", cli.Name, text) }
		c, err := r.stores.config()
		if err != nil {
			return eval.Report{}, err
		}
		all, err := keptModels(c.ModelsDir, e.Cache, !e.Models)
		if err != nil {
			return eval.Report{}, err
		}
		defer func() { err = errors.Join(err, all.close()) }()
		return eval.Run(ctx, e.Dir, &eval.Options{Sets: e.Only, Modes: e.Mode, Sample: e.Sample, Small: e.Small, Progress: tell, Semantic: all.open, Encoders: all})
	}
	return &op.Tool{Name: "eval", Command: "eval", Summary: summary,
		Operations: []op.Operation{op.New("", summary, op.Reads, measure, "dir").Shown("dir", "eval-data")}}
}

// evaluated are the installed models, whose vectors are kept.
type evaluated []*eval.Kept

// keptModels are those installed in a folder; vectors are kept in cache, or
// beside the models. Frugal ones encode nothing.
func keptModels(dir, cache string, frugal bool) (all evaluated, err error) {
	list, err := embed.List(dir)
	if err != nil {
		return nil, err
	}
	for _, m := range list {
		lazy := &lazyModel{dir: filepath.Join(dir, m.Name), manifest: m}
		k, err := eval.Keep(cmp.Or(cache, filepath.Join(dir, ".evaluated")), lazy, frugal)
		if err != nil {
			return nil, errors.Join(err, all.close())
		}
		all = append(all, k)
	}
	return all, nil
}

func (e evaluated) close() error {
	var errs []error
	for _, k := range e {
		errs = append(errs, k.Close(), k.Encoder.(*lazyModel).close())
	}
	return errors.Join(errs...)
}

// open gives recall by meaning for the store in a directory.
func (e evaluated) open(dir string) (meaning.Semantic, meaning.Vectors) {
	x := &measured{newVectored(dir, &models{dir: os.DevNull, logger: slog.New(slog.DiscardHandler)}), e}
	return x, x
}

// measured is recall by meaning with every model that is installed, not only the
// one that is in use.
type measured struct {
	*vectored
	kept evaluated
}

func (m *measured) of(encoder string) *eval.Kept {
	for _, k := range m.kept {
		if k.Name() == encoder {
			return k
		}
	}
	return nil
}

// Encode implements meaning.Semantic.
func (m *measured) Encode(ctx context.Context, encoder, text string) ([]float32, error) {
	k := m.of(encoder)
	if k == nil {
		return m.vectored.Encode(ctx, encoder, text)
	}
	v, err := k.Encode(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return v[0], nil
}

// Learn implements meaning.Semantic.
func (m *measured) Learn(ctx context.Context, encoder string, texts []meaning.Meant, progress func(done, missing int)) (int, error) {
	k := m.of(encoder)
	if k == nil {
		return m.vectored.Learn(ctx, encoder, texts, progress)
	}
	list := make([]vectors.Text, len(texts))
	for i, t := range texts {
		list[i] = vectors.Text(t)
	}
	return m.index.Fill(ctx, k, list, progress)
}

// Encoders implements meaning.Vectors.
func (m *measured) Encoders(wanted bool) []meaning.Encoding {
	var all []meaning.Encoding
	for _, k := range m.kept {
		all = append(all, meaning.Encoding{Name: k.Name()})
	}
	return append(all, m.vectored.Encoders(wanted)...)
}

// lazyModel is loaded when it has to encode.
type lazyModel struct {
	dir      string
	manifest embed.Manifest

	mu    sync.Mutex
	model *embed.Model
}

// Name implements embed.Encoder.
func (l *lazyModel) Name() string { return l.manifest.Name }

// Dim implements embed.Encoder.
func (l *lazyModel) Dim() int { return l.manifest.Dim }

// Encode implements embed.Encoder.
func (l *lazyModel) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.model == nil {
		m, err := embed.OpenModel(l.dir, nil)
		if err != nil {
			return nil, err
		}
		l.model = m
	}
	return l.model.Encode(ctx, texts)
}

func (l *lazyModel) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.model == nil {
		return nil
	}
	return l.model.Close()
}
