package app

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"leanctx/agents"
	"leanctx/agents/share"
	"leanctx/cmd/internal/mcpsrv"
	"leanctx/cmd/internal/op"
	"leanctx/knowledge/briefing"
	"leanctx/knowledge/history"
	"leanctx/knowledge/transfer"
)

// table opens the stores of the operations.
func (s *stores) table() op.Stores {
	return op.Stores{
		Knowledge: s.facts, Library: s.library, Agents: s.agentStore, Tasks: s.taskStore, Shares: s.shareStore,
		Costs: s.usageStore, Overview: s.overviewMap, Briefings: s.briefings,
	}
}

// tools are the tools that MCP clients see.
func (s *stores) tools() []*op.Tool { return op.All(s.table()) }

// server serves the tools to MCP clients, for the project of a scope. serve comes before it.
func (s *stores) server(sc op.Scope) *mcpsrv.Server {
	return mcpsrv.New(s.tools(), &mcpsrv.Options{
		Version: build().Version, Made: s.count, Left: s.left, Logger: s.logger,
		Briefing: func(ctx context.Context) string { return s.briefing(ctx, sc) },
		Stamp: func() string {
			p, err := s.project(context.Background(), sc)
			if err != nil {
				return ""
			}
			return s.factStamp(p.Hash)
		},
	})
}

// commands are the tools that are commands. The read-only twin is not among them: it
// exists for the approvals of MCP clients. On the command line - is standard input for an
// import and standard output for an export; an MCP server must not use either.
func (s *stores) commands(in io.Reader) []*op.Tool {
	tools := slices.DeleteFunc(s.tools(), func(t *op.Tool) bool { return t.Name == op.RecallName })
	for _, t := range tools {
		for i := range t.Operations {
			s.fromShell(t.Command, &t.Operations[i], in)
		}
	}
	return append(tools, op.TokenReport(s.table()))
}

// fromShell adapts a row to the arguments of a shell.
func (s *stores) fromShell(command string, o *op.Operation, in io.Reader) {
	switch command + " " + o.Name {
	case "knowledge import":
		text := sync.OnceValues(func() ([]byte, error) { return io.ReadAll(in) }) // the operation may run again
		op.Adjust(o, func(_ context.Context, _ op.Scope, a *transfer.Incoming) error {
			if a.File != "-" {
				return nil
			}
			all, err := text()
			a.Data = bytes.NewReader(all)
			return err
		})
	case "knowledge export":
		op.Adjust(o, func(_ context.Context, _ op.Scope, a *transfer.Outgoing) error {
			if a.File == "-" {
				a.File = ""
			}
			return nil
		})
	case "knowledge timeline":
		op.Adjust(o, func(_ context.Context, _ op.Scope, a *history.TimelineQuery) error {
			a.Draw = func(file string, svg []byte) error { return os.WriteFile(file, append(svg, '\n'), 0o666) }
			return nil
		})
	case "agent claim":
		op.Adjust(o, func(ctx context.Context, sc op.Scope, a *agents.ClaimArgs) error { return s.fromHere(ctx, sc, &a.Path) })
	case "agent release":
		op.Adjust(o, func(ctx context.Context, sc op.Scope, a *agents.ReleaseArgs) error {
			return s.fromHere(ctx, sc, &a.Path)
		})
	case "share push":
		op.Adjust(o, func(ctx context.Context, sc op.Scope, a *share.Offer) error {
			for i := range a.Paths {
				if err := s.fromHere(ctx, sc, &a.Paths[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// fromHere makes a typed path relative to the project's root. In a shell a path is relative
// to the working directory; in MCP, which has none, to the root. From outside the project
// (--project) it is relative to the root too. The store refuses paths out of the project.
// The path is not cleaned: the store redacts secrets first, and does not recognise a URL
// that has lost a slash.
func (s *stores) fromHere(ctx context.Context, sc op.Scope, path *string) error {
	if *path == "" || filepath.IsAbs(*path) || os.IsPathSeparator((*path)[0]) {
		return nil
	}
	dir, err := s.config.Path(".")
	if err != nil {
		return err
	}
	p, err := s.project(ctx, sc)
	if err != nil {
		return err
	}
	if dir = relativeTo(p.Root, dir); dir != "" && dir != "." {
		*path = dir + string(filepath.Separator) + *path
	}
	return nil
}

// relativeTo is dir relative to root, or empty if dir is outside. The shell may have reached
// dir by a symbolic link.
func relativeTo(root, dir string) string {
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

// briefing is the briefing of a scope's project without a heading, or empty. A handshake must
// not fail because of it, nor record a project.
func (s *stores) briefing(ctx context.Context, sc op.Scope) string {
	store, err := s.facts(ctx, sc)
	if err == nil {
		var b briefing.Selection
		if b, err = briefing.Wakeup(ctx, store, briefing.Query{}); err == nil {
			return b.Body()
		}
	}
	s.logger.Warn("no briefing", "error", err)
	return ""
}
