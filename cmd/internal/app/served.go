package app

import (
	"context"
	"io"

	"leanctx/cmd/internal/op"
	"leanctx/knowledge"
)

// reading is what operations work on that change nothing.
func (s *stores) reading() op.Stores { return op.Stores{Knowledge: s.look, Library: s.library} }

// facts is the tool of the project's facts. Its rows that only read open the
// store in the way that leaves no trace.
func (s *stores) facts() *op.Tool {
	t, reading := op.Knowledge(op.Stores{Knowledge: s.open, Library: s.library}), op.Knowledge(s.reading())
	for i, o := range t.Operations {
		if o.Effect == op.Reads {
			t.Operations[i] = reading.Operations[i]
		}
	}
	return t
}

// served are the tools that MCP clients see.
func (s *stores) served() []*op.Tool {
	return []*op.Tool{s.facts(), op.Recall(s.reading())}
}

// commands are the tools that are commands. The read-only twin is none: it is
// there to be approved, and in a shell nobody asks. On the command line - is
// standard input for an import and standard output for an export; an MCP
// server must not touch either.
func (s *stores) commands(in io.Reader) []*op.Tool {
	t := s.facts()
	instead(t, "import", func(ctx context.Context, k *knowledge.Store, a knowledge.Incoming) (knowledge.Imported, error) {
		if a.File == "-" {
			a.Data = in
		}
		return k.Import(ctx, a)
	}, s.open)
	instead(t, "export", func(ctx context.Context, k *knowledge.Store, a knowledge.Outgoing) (knowledge.Exported, error) {
		if a.File == "-" {
			a.File = ""
		}
		return k.Export(ctx, a)
	}, s.open)
	return []*op.Tool{t}
}

type opener func(context.Context, op.Scope) (*knowledge.Store, error)

// instead gives a row another method; all else about it stays.
func instead[A any, R op.Result](t *op.Tool, name string, method func(context.Context, *knowledge.Store, A) (R, error), open opener) {
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
		k, err := open(ctx, sc)
		if err != nil {
			var none R
			return none, err
		}
		return method(ctx, k, a)
	}, required...)
	row.Example, row.Also = o.Example, o.Also
	*o = row
}

// briefing is the wake-up text of the server's own project, or nothing: a
// handshake must not fail, nor record a project, because of it.
func (s *stores) briefing(ctx context.Context) string {
	store, err := s.look(ctx, op.Scope{})
	if err == nil {
		var b knowledge.Briefing
		if b, err = store.Wakeup(ctx, knowledge.Moment{}); err == nil {
			return b.Text()
		}
	}
	s.logger.Warn("no briefing", "error", err)
	return ""
}
