package app

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"leanctx/cmd/internal/op"
)

// compactTool is `lean-ctx compact`.
func compactTool(s *stores) *op.Tool {
	const summary = "Write what the project's journals hold into its readable JSON files."
	compact := func(ctx context.Context, sc op.Scope, _ noArgs) (compacted, error) {
		w, err := s.of(ctx, sc)
		if err != nil {
			return compacted{}, err
		}
		return w.compact(ctx)
	}
	return &op.Tool{Name: "compact", Command: "compact", Summary: summary,
		Operations: []op.Operation{op.New("", summary, op.Adds, compact)}}
}

type compacted struct {
	Files []string `json:"files"` // those of agents and tasks belong to all projects
}

func (c compacted) Text() string { return "Compacted " + strings.Join(c.Files, "\nCompacted ") }

type compacter interface{ Compact(context.Context) error }

// compact compacts all stores of a project. A store that was never written has no file.
func (w projectStores) compact(ctx context.Context) (c compacted, err error) {
	p, dir := w.project, w.project.at.agentsDir()
	facts, registry := filepath.Join(p.at.knowledgeDir(), "knowledge.json"), filepath.Join(dir, "registry.json")
	for _, part := range []struct {
		file string
		open func() (compacter, error)
	}{
		{facts, func() (compacter, error) { return w.facts() }},
		{registry, func() (compacter, error) { return w.agents() }},
		{filepath.Join(dir, "tasks.json"), func() (compacter, error) { return w.tasks() }},
		{filepath.Join(dir, "shared", p.Hash, "shares.json"), func() (compacter, error) { return w.shares() }},
	} {
		if part.file != facts && !stored(part.file) {
			continue
		}
		store, err := part.open()
		if err == nil {
			err = store.Compact(ctx)
		}
		if err != nil {
			return c, err
		}
		c.Files = append(c.Files, part.file)
		if part.file == registry {
			diaries, _ := fs.Glob(os.DirFS(dir), "diaries/*.json") // dir itself may have brackets in its name
			for _, name := range diaries {
				c.Files = append(c.Files, filepath.Join(dir, name))
			}
		}
	}
	return c, nil
}

// stored reports whether a store was ever written.
func stored(file string) bool {
	for _, name := range []string{file, strings.TrimSuffix(file, ".json") + ".journal"} {
		if _, err := os.Stat(name); err == nil {
			return true
		}
	}
	return false
}

// detach starts another process that compacts a project, which also builds its index. It is
// not waited for. A test does not start it.
func detach(root string) {
	self, err := os.Executable()
	if err != nil || strings.HasSuffix(strings.TrimSuffix(self, ".exe"), ".test") {
		return
	}
	c := exec.Command(self, "compact", "--project", root)
	if c.Start() == nil {
		_ = c.Process.Release() // it ends on its own
	}
}
