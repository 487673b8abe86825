package app

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"leanctx/agents"
	"leanctx/agents/share"
	"leanctx/cmd/internal/hook"
	"leanctx/cmd/internal/mcpsrv"
	"leanctx/cmd/internal/op"
	"leanctx/internal/args"
	"leanctx/internal/atomicfile"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/briefing"
	"leanctx/knowledge/history"
	"leanctx/knowledge/transfer"
	"leanctx/overview/tree"
	"leanctx/tasks"
)

// table opens the stores of the operations.
func (s *stores) table() op.Stores {
	return op.Stores{
		Knowledge: s.facts, Library: s.library, Overview: s.overviewMap, Briefings: hookCalls{s}.briefings,
		Agents: ofCall(s, projectStores.agentStore), Tasks: ofCall(s, projectStores.taskStore),
		Shares: ofCall(s, projectStores.shareStore), Costs: ofCall(s, projectStores.usageStore),
		Sessions: ofCall(s, projectStores.sessions),
	}
}

// tools are the tools that MCP clients see.
func (s *stores) tools() []*op.Tool { return op.All(s.table()) }

// served are the tools of a server. A file that its callers name is one of the project.
func (s *stores) served() []*op.Tool {
	tools := s.tools()
	for _, t := range tools {
		for i := range t.Operations {
			o := &t.Operations[i]
			o.GuardFile(s.insideProject)
			if file, ok := o.Example["file"].(string); ok && o.Name == "export" {
				o.Example["file"] = exportFolder + "/" + file // the one place that a server writes to
			}
			if t.Command == "knowledge" && o.Name == "export" {
				op.Adjust(o, func(ctx context.Context, sc op.Scope, a *transfer.Outgoing) (err error) {
					if a.Force {
						return refusal.Argument("force", "force overwrites what a person wrote: a person may give it to a command: lean-ctx knowledge export")
					}
					a.Below, err = s.root(ctx, sc)
					return err
				})
			}
			if t.Command == "task" && o.Name == "export" {
				op.Adjust(o, func(ctx context.Context, sc op.Scope, a *tasks.PlanExport) (err error) {
					a.Below, err = s.root(ctx, sc)
					return err
				})
			}
			if o.Name == "recall" {
				op.Adjust(o, s.whenEmpty)
			}
			if t.Command == "knowledge" {
				s.withSaid(o)
			}
		}
	}
	return tools
}

// insideProject is the absolute path of a file that a caller of a server named. It must be in the
// project. One that is written is in [exportFolder], and no file is overwritten that is no export.
func (s *stores) insideProject(ctx context.Context, sc op.Scope, file string, write bool) (string, error) {
	p, err := s.project(ctx, sc)
	if err != nil {
		return "", err
	}
	name, err := args.Path(filepath.FromSlash(p.Root), file)
	switch {
	case err != nil:
		return "", refusal.Argument("file", "file %s %v: an agent's file is in the project; a person may give another one to a command: lean-ctx knowledge export, import", prose.Clip(file, 80), err)
	case slices.Contains(strings.Split(strings.ToLower(name), "/"), ".git"):
		return "", refusal.Argument("file", "file %s belongs to Git", prose.Clip(file, 80))
	case write && !writable(name):
		return "", refusal.Argument("file", "file %s is not one that a server writes: name one such as %s/facts.json; a person may give another one to a command", prose.Clip(file, 80), exportFolder)
	}
	path := filepath.Join(filepath.FromSlash(p.Root), filepath.FromSlash(name))
	if !write {
		return path, s.readable(ctx, p.Root, name, path)
	}
	ours, err := transfer.IsExport(path)
	if err == nil && !ours {
		ours, err = tasks.IsExport(path)
	}
	if err == nil && !ours {
		err = refusal.Argument("file", "file %s is there already and no export of lean-ctx: name another one", name)
	}
	return path, err
}

// readable refuses a file of a caller of a server that git ignores, and a folder in which there is one: what is
// not for the repository is not for the memory either, which sync writes there. An export of ours may be read.
func (s *stores) readable(ctx context.Context, root, name, path string) error {
	names := []string{name}
	_ = filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && at != path {
			if rel, err := filepath.Rel(filepath.FromSlash(root), at); err == nil {
				names = append(names, filepath.ToSlash(rel))
			}
		}
		if len(names) > maxLooked {
			return fs.SkipAll
		}
		return nil
	})
	ignored, err := tree.Ignored(ctx, filepath.FromSlash(root), names, nil)
	if err != nil {
		s.logger.Debug("git did not say which files it ignores", "error", err)
	}
	for _, one := range ignored {
		if ours, err := transfer.IsExport(filepath.Join(filepath.FromSlash(root), filepath.FromSlash(one))); err != nil || !ours {
			return refusal.Argument("file", "file %s is ignored by git, and so no agent's to read into the memory: a person may give it to a command: lean-ctx knowledge import", prose.Clip(prose.Line(one), 80))
		}
	}
	return nil
}

// maxLooked is of how many files of a folder git is asked.
const maxLooked = 2_000

// root is the directory of a call's project.
func (s *stores) root(ctx context.Context, sc op.Scope) (string, error) {
	p, err := s.project(ctx, sc)
	if err != nil {
		return "", err
	}
	return filepath.FromSlash(p.Root), nil
}

// exportFolder is the folder of a project in which a caller of a server may write.
const exportFolder = "lean-ctx-export"

// writable reports whether a caller of a server may write a file of the project. Elsewhere than in a
// folder of its own, programs and agents obey files by their names: recipes, tests, instructions. A
// name is plain, so that no system takes it for another one.
func writable(name string) bool {
	parts := strings.Split(name, "/")
	plain := !slices.ContainsFunc(parts, func(part string) bool {
		return part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".") || strings.Trim(part, plainName) != ""
	})
	base := strings.ToLower(path.Base(name))
	instructions := slices.Contains([]string{"claude", "claude.local", "agents", "agents.override", "agent", "gemini", "qwen", "warp", "conventions"}, strings.TrimSuffix(base, ".md"))
	return plain && len(parts) > 1 && parts[0] == exportFolder && slices.Contains([]string{"", ".json", ".jsonl", ".md"}, path.Ext(base)) && !instructions
}

// plainName are the characters of a name that every system takes as it stands.
const plainName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

// mcpCalls is what an MCP server asks about the project of a scope.
type mcpCalls struct {
	*account
	scope op.Scope
}

// server serves the tools to MCP clients. [stores.serve] comes before it.
func (c mcpCalls) server() *mcpsrv.Server {
	return mcpsrv.New(c.stores.served(), &mcpsrv.Options{
		Version: build().Version, OnAnswer: c.count, Left: c.left, Logger: c.stores.logger, Briefing: c.briefing, Others: c.others, Stamp: c.stamp,
	})
}

// in is the scope of what a connection asks without a call.
func (c mcpCalls) in(ctx context.Context) op.Scope {
	sc := c.scope
	sc.Caller, _ = op.CallerOf(ctx)
	if sc.Caller.Workspace == nil && sc.Project == "" { // a handshake: the client has not been asked yet
		sc.Caller.Workspace = new(op.Workspace)
	}
	return sc
}

// others reports whether other agents were in the project in the last day, or something waits for one.
func (c mcpCalls) others(ctx context.Context) bool {
	sc := c.in(ctx)
	w, err := c.stores.of(ctx, sc)
	if err != nil || !w.project.Known {
		return false
	}
	registry, err := w.agents()
	if err != nil {
		return true // they are not known, so they may be there
	}
	i, err := registry.As(agents.Actor{}).Info(ctx, agents.NoArgs{})
	if err != nil || i.Active+i.Waiting+i.Handoffs > 0 {
		return true
	}
	list, err := w.tasks()
	if err != nil {
		return true
	}
	open, err := list.List(ctx, tasks.Query{State: "open", Limit: 1})
	return err != nil || len(open.Tasks) > 0
}

// briefing is the project's briefing without a heading, or empty. A handshake must not fail
// because of it, nor record a project. It is empty for a client whose hook gives the briefing.
func (c mcpCalls) briefing(ctx context.Context) string {
	if sc := c.in(ctx); sc.Caller.Session != "" {
		if p, err := c.stores.project(ctx, sc); err == nil && hook.Briefs(c.stores.config.DataDir, p.Hash, sc.Caller.Name, time.Now()) {
			return ""
		}
	}
	store, err := c.stores.facts(ctx, c.in(ctx))
	if err == nil {
		var b briefing.Selection
		if b, err = briefing.Wakeup(ctx, store, briefing.Query{}); err == nil {
			return b.Body()
		}
	}
	c.stores.logger.Warn("no briefing", "error", err)
	return ""
}

// stamp is another text whenever a resource may have changed.
func (c mcpCalls) stamp(ctx context.Context) string {
	p, err := c.stores.project(ctx, c.in(ctx))
	if err != nil {
		return ""
	}
	return p.at.factStamp()
}

// shell adapts the operations to a command line. There a path is relative to the working
// directory, and - is standard input for an import and standard output for an export; an MCP
// server must not use either.
type shell struct {
	stores *stores
	in     io.Reader
}

// tools are the tools that are commands. The read-only twin is not among them: it exists for
// the approvals of MCP clients.
func (c shell) tools() []*op.Tool {
	tools := slices.DeleteFunc(c.stores.tools(), func(t *op.Tool) bool { return t.Name == op.RecallName })
	for _, t := range tools {
		if t.Command == "knowledge" {
			t.Operations = append(t.Operations, op.Saying(c.stores.table())...)
		}
		for i := range t.Operations {
			c.adapt(t.Command, &t.Operations[i])
		}
	}
	return append(tools, op.TokenReport(c.stores.table()))
}

// adapt adapts a row to the arguments of a shell.
func (c shell) adapt(command string, o *op.Operation) {
	if command == "knowledge" {
		c.stores.withSaid(o)
	}
	switch command + " " + o.Name {
	case "knowledge import":
		text := sync.OnceValues(func() ([]byte, error) { return io.ReadAll(c.in) }) // the operation may run again
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
	case "knowledge recall":
		op.Adjust(o, c.stores.whenEmpty)
	case "knowledge timeline":
		op.Adjust(o, func(_ context.Context, _ op.Scope, a *history.TimelineQuery) error {
			a.Draw = func(file string, svg []byte) error { return atomicfile.WriteOutput(file, append(svg, '\n')) }
			return nil
		})
	case "agent claim":
		op.Adjust(o, func(ctx context.Context, sc op.Scope, a *agents.ClaimArgs) error { return c.fromHere(ctx, sc, &a.Path) })
	case "agent release":
		op.Adjust(o, func(ctx context.Context, sc op.Scope, a *agents.ReleaseArgs) error {
			return c.fromHere(ctx, sc, &a.Path)
		})
	case "share push":
		op.Adjust(o, func(ctx context.Context, sc op.Scope, a *share.Offer) error {
			a.Person = sc.Caller.Kind == knowledge.KindUser
			for i := range a.Paths {
				if err := c.fromHere(ctx, sc, &a.Paths[i]); err != nil {
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
func (c shell) fromHere(ctx context.Context, sc op.Scope, path *string) error {
	if *path == "" || filepath.IsAbs(*path) || os.IsPathSeparator((*path)[0]) {
		return nil
	}
	dir, err := c.stores.config.Path(".")
	if err != nil {
		return err
	}
	p, err := c.stores.project(ctx, sc)
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
