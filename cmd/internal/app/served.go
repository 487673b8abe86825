package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"leanctx/cmd/internal/mcpsrv"
	"leanctx/cmd/internal/op"
	"leanctx/knowledge"
	"leanctx/knowledge/briefing"
	"leanctx/knowledge/transfer"
)

// writing is what operations work on that may change something.
func (s *stores) writing() op.Stores {
	return op.Stores{Knowledge: s.open, Library: s.library, Agents: s.working(s.resolve), Tasks: s.doing(s.resolve), Shares: s.sharing(s.resolve), Costs: s.spending, Overview: s.surveying, Briefings: s.briefings}
}

// reading is what operations work on that change nothing: it leaves no trace
// of a project.
func (s *stores) reading() op.Stores {
	return op.Stores{Knowledge: s.look, Library: s.library, Agents: s.working(s.lookup), Tasks: s.doing(s.lookup), Shares: s.sharing(s.lookup), Costs: s.spending, Overview: s.surveying, Briefings: s.briefings}
}

// served are the tools that MCP clients see. A row that only reads works on
// what leaves no trace.
func (s *stores) served() []*op.Tool {
	all, reading := op.All(s.writing()), op.All(s.reading())
	for i, t := range all {
		for j, o := range t.Operations {
			if o.Effect == op.Reads {
				t.Operations[j] = reading[i].Operations[j]
			}
		}
	}
	return all
}

// server serves the tools to MCP clients. serve comes before it.
func (s *stores) server() *mcpsrv.Server {
	return mcpsrv.New(s.served(), &mcpsrv.Options{
		Version: build().Version, Briefing: s.briefing, Briefed: s.briefed, Made: s.count, Left: s.left, Logger: s.logger,
		Hidden: []*op.Tool{op.Inbox(s.reading())}, Stamp: s.stamp,
	})
}

// stamp is another text whenever something was written about the server's own
// project: the sizes of the journals, which only grow, and of the files that
// they go into.
func (s *stores) stamp() string {
	parts, err := s.parts(context.Background(), op.Scope{})
	if err != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		for _, name := range []string{p.file, strings.TrimSuffix(p.file, ".json") + ".journal"} {
			if info, err := os.Stat(name); err == nil {
				fmt.Fprintf(&b, "%d %d ", info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	return b.String()
}

// commands are the tools that are commands. The read-only twin is none: it is
// there to be approved, and in a shell nobody asks. On the command line - is
// standard input for an import and standard output for an export; an MCP
// server must not touch either.
func (s *stores) commands(in io.Reader) []*op.Tool {
	tools := slices.DeleteFunc(s.served(), func(t *op.Tool) bool { return t.Name == op.RecallName })
	s.fromHere(tools)
	t := tools[0]
	instead(t, "import", func(ctx context.Context, k *knowledge.Store, a transfer.Incoming) (transfer.Imported, error) {
		if a.File == "-" {
			a.Data = in
		}
		return transfer.Import(ctx, k, a)
	}, s.open)
	instead(t, "export", func(ctx context.Context, k *knowledge.Store, a transfer.Outgoing) (transfer.Exported, error) {
		if a.File == "-" {
			a.File = ""
		}
		return transfer.Export(ctx, k, a)
	}, s.open)
	return append(tools, op.TokenReport(s.reading()))
}

// instead gives a row another method; all else about it stays.
func instead[T, A any, R op.Result](t *op.Tool, name string, method func(context.Context, T, A) (R, error), open func(context.Context, op.Scope) (T, error)) {
	o, ok := t.Operation(name)
	if !ok {
		return
	}
	var required []string
	for _, p := range o.Params {
		if p.Required {
			required = append(required, p.Name)
		}
	}
	row := op.New(o.Name, o.Summary, o.Effect, func(ctx context.Context, sc op.Scope, a A) (R, error) {
		store, err := open(ctx, sc)
		if err != nil {
			var none R
			return none, err
		}
		return method(ctx, store, a)
	}, required...)
	row.Example, row.Also = o.Example, o.Also
	*o = row
}

// briefing is the wake-up text of the server's own project, or nothing: a
// handshake must not fail, nor record a project, because of it.
func (s *stores) briefing(ctx context.Context) string {
	store, err := s.look(ctx, op.Scope{})
	if err == nil {
		var b briefing.Selection
		if b, err = briefing.Wakeup(ctx, store, briefing.Query{}); err == nil {
			return b.Text()
		}
	}
	s.logger.Warn("no briefing", "error", err)
	return ""
}
