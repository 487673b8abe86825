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
	return &op.Tool{Name: "compact", Command: "compact", Summary: summary,
		Operations: []op.Operation{op.New("", summary, op.Adds, s.compact)}}
}

type compacted struct {
	Files []string `json:"files"` // those of agents and tasks belong to all projects
}

func (c compacted) Text() string { return "Compacted " + strings.Join(c.Files, "\nCompacted ") }

// part is a store with a readable file. A store that was never written has no file.
type part struct {
	file string
	more string // pattern of further files, from the file's directory; may be empty
	open func() (compacter, error)
}

type compacter interface{ Compact(context.Context) error }

func (s *stores) compact(ctx context.Context, sc op.Scope, _ noArgs) (compacted, error) {
	facts, err := s.facts(ctx, sc)
	if err != nil {
		return compacted{}, err
	}
	parts, err := s.parts(ctx, sc)
	if err != nil {
		return compacted{}, err
	}
	parts[0].open = func() (compacter, error) { return facts, nil }
	var c compacted
	for i, p := range parts {
		if i > 0 && !stored(p.file) {
			continue
		}
		store, err := p.open()
		if err == nil {
			err = store.Compact(ctx)
		}
		if err != nil {
			return c, err
		}
		c.Files = append(c.Files, p.file)
		if p.more != "" {
			dir := filepath.Dir(p.file)
			more, _ := fs.Glob(os.DirFS(dir), p.more) // the pattern is valid
			for _, name := range more {
				c.Files = append(c.Files, filepath.Join(dir, name))
			}
		}
	}
	return c, nil
}

// parts are all stores of a project, the facts first.
func (s *stores) parts(ctx context.Context, sc op.Scope) ([]part, error) {
	p, err := s.project(ctx, sc)
	if err != nil {
		return nil, err
	}
	w := s.in(sc, p)
	at := func(names ...string) string { return filepath.Join(append([]string{p.at.agentsDir()}, names...)...) }
	return []part{
		{file: filepath.Join(p.at.knowledgeDir(), "knowledge.json")},
		{at("registry.json"), "diaries/*.json", func() (compacter, error) { return w.agents() }},
		{at("tasks.json"), "", func() (compacter, error) { return w.tasks() }},
		{at("shared", p.Hash, "shares.json"), "", func() (compacter, error) { return w.shares() }},
	}, nil
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
