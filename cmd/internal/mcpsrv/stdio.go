package mcpsrv

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"leanctx/cmd/internal/op"
)

// ServeStdio serves one client over a pair of streams, one JSON-RPC message a
// line, until the end of input or of ctx. At the end of input every request
// that was read is answered before it returns. It closes in if it can be
// closed.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	p := newPipe(in, out, s.order)
	p.grace = s.options.Grace
	p.logger = s.options.Logger
	p.session = rand.Text() // an agent of another connection is another agent
	// Not Server.Run, which logs an ordinary interruption as an error.
	session, err := s.mcp.Connect(ctx, p, nil)
	if err != nil {
		return err
	}
	defer s.leave(session)
	closed := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { closed <- session.Close() })
	err = session.Wait()
	if !stop() {
		return errors.Join(ctx.Err(), <-closed)
	}
	return err
}

// leave ends what a connection had under way.
func (s *Server) leave(session *mcp.ServerSession) {
	s.watch.drop(session)
	if s.options.Left != nil {
		s.options.Left(session.ID())
	}
}

// order says how a request stands to others of the same connection.
type order int

const (
	free    order = iota // at once, whatever else is going on
	shared               // beside others, but not beside one that is alone
	alone                // when all before it are answered
	open                 // free, and not expected to end by itself
	closing              // open, and told to end
	orders  = iota
)

// order is the order of a request. What is not an operation is free.
func (s *Server) order(req *jsonrpc.Request) order {
	switch req.Method {
	case "subscriptions/listen":
		return open
	case "resources/read", "prompts/get":
		return shared
	case "tools/call":
	default:
		return free
	}
	var p mcp.CallToolParamsRaw
	if json.Unmarshal(req.Params, &p) != nil {
		return free
	}
	t, ok := s.tools[p.Name]
	if !ok || t.Effect() == op.Reads {
		return shared
	}
	args, _ := arguments(p.Arguments)
	if t.EffectOf(args) == op.Reads {
		return shared
	}
	return alone
}
