package app

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"leanctx/agents"
	"leanctx/agents/share"
	"leanctx/cmd/internal/op"
)

// fromHere has the rows of commands that take paths see them from the shell's
// directory, as every other program does. In MCP they are seen from the
// project's root, since a client has no directory.
func (s *stores) fromHere(tools []*op.Tool) {
	working, sharing := s.working(s.resolve), s.sharing(s.resolve)
	for _, t := range tools {
		switch t.Command {
		case "agent":
			instead(t, "claim", func(ctx context.Context, x here[*agents.Store], a agents.Claiming) (agents.Claimed, error) {
				a.Path = x.path(a.Path)
				return x.store.Claim(ctx, a)
			}, beside(s, working))
			instead(t, "release", func(ctx context.Context, x here[*agents.Store], a agents.Releasing) (agents.Released, error) {
				a.Path = x.path(a.Path)
				return x.store.Release(ctx, a)
			}, beside(s, working))
		case "share":
			instead(t, "push", func(ctx context.Context, x here[*share.Store], a share.Offer) (share.Offered, error) {
				a.Paths = slices.Clone(a.Paths)
				for i, p := range a.Paths {
					a.Paths[i] = x.path(p)
				}
				return x.store.Push(ctx, a)
			}, beside(s, sharing))
		}
	}
}

// here is a store and where in its project the shell stands.
type here[T any] struct {
	store T
	dir   string // relative to the root; empty: outside of the project
}

// beside opens a store and finds where the shell stands.
func beside[T any](s *stores, open func(context.Context, op.Scope) (T, error)) func(context.Context, op.Scope) (here[T], error) {
	return func(ctx context.Context, sc op.Scope) (x here[T], err error) {
		if x.store, err = open(ctx, sc); err != nil {
			return x, err
		}
		c, err := s.config()
		if err != nil {
			return x, err
		}
		dir, err := c.Path(".")
		if err != nil {
			return x, err
		}
		p, err := s.lookup(ctx, sc)
		if err != nil {
			return x, err
		}
		x.dir = beneath(p.Root, dir)
		return x, nil
	}
}

// beneath is dir relative to root, or nothing where it lies outside. The shell
// may have come there by a symbolic link.
func beneath(root, dir string) string {
	for _, follow := range []func(string) (string, error){filepath.Abs, filepath.EvalSymlinks} {
		r, err := follow(root)
		d, err2 := follow(dir)
		if err != nil || err2 != nil {
			continue
		}
		if rel, err := filepath.Rel(r, d); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return ""
}

// path is a path as typed, seen from the root. Who works on a project from
// outside of it (--project) means the root to begin with. What leads out of
// the project is refused by the store, which says so.
func (x here[T]) path(given string) string {
	if given == "" || x.dir == "" || filepath.IsAbs(given) || os.IsPathSeparator(given[0]) {
		return given
	}
	return filepath.Join(x.dir, given)
}
