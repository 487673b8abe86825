// Package mcpsrv makes an MCP server of the table of operations. It holds no
// knowledge of its own: a tool is an [op.Tool], a call is [op.Tool.Call], a
// resource and a prompt are calls under another name.
//
// # Decisions
//
//   - Answers are text. No tool declares an outputSchema and no answer carries
//     structuredContent, not even with output=json, which gives JSON as text:
//     at least one client shows its model nothing but the structured part, so
//     notices and hints would be lost, and JSON costs about twice the tokens.
//   - A mistake in the arguments, and any other failure of an operation, is an
//     answer with isError, since that is what a model gets to read and mend.
//     Protocol errors are left for what is not an operation.
//   - The lists never change while the server runs, so listChanged is false.
//     What resources show does change: see subscribe.go.
//   - The instructions are made when they are asked for, with the briefing of
//     that moment, and not at start-up.
//   - Over stdio an operation that writes runs alone: after all that was sent
//     before it and before all that was sent after it. Two assertions piped in
//     one after the other must not change places, and a recall sent behind
//     them must see them; the SDK would run the three at once. What only reads
//     runs side by side.
package mcpsrv

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"leanctx/cmd/internal/op"
)

// Options is what a [Server] may be told. The zero value works.
type Options struct {
	Version string // of the program

	// Briefing gives the project's briefing for the instructions, without a
	// heading; nothing where there is none. It is called with each handshake.
	Briefing func(context.Context) string

	// Briefed tells whether a client, by the name that it gives itself, shows
	// its model the briefing anyway: then the instructions go without it. nil:
	// none does.
	Briefed func(client string) bool

	// Made is told of every call of a tool once it is answered. It must not
	// block.
	Made func(op.Made)

	// Left is told of every connection that has ended, by its session.
	Left func(session string)

	// Hidden are tools that resources are read with and clients do not see.
	Hidden []*op.Tool

	// Stamp is a text that is another one whenever what a resource shows may
	// have changed. It is asked for twice a second while somebody is
	// subscribed; without it nobody can be.
	Stamp func() string

	Logger *slog.Logger // to standard error; nil: silent

	// Grace is how long requests in flight may go on after the end of input
	// before they are cancelled; 0 means 5 s.
	Grace time.Duration
}

// Server serves the table of operations.
type Server struct {
	mcp     *mcp.Server
	tools   map[string]*op.Tool
	options Options
	session string // for transports whose sessions have no id of their own
	watch   *watch
}

// New makes a server of tools. It does no I/O.
func New(tools []*op.Tool, o *Options) *Server {
	s := &Server{tools: make(map[string]*op.Tool, len(tools)), session: rand.Text()}
	if o != nil {
		s.options = *o
	}
	if s.options.Logger == nil {
		s.options.Logger = slog.New(slog.DiscardHandler)
	}
	if s.options.Grace == 0 {
		s.options.Grace = 5 * time.Second
	}
	about := &mcp.ServerOptions{
		Logger: s.options.Logger,
		Capabilities: &mcp.ServerCapabilities{
			Tools: &mcp.ToolCapabilities{}, Prompts: &mcp.PromptCapabilities{}, Resources: &mcp.ResourceCapabilities{},
		},
		SetCacheable: cacheable,
	}
	if s.watch = newWatch(s); s.options.Stamp != nil {
		about.SubscribeHandler, about.UnsubscribeHandler = s.watch.subscribe, s.watch.unsubscribe
	}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "lean-ctx", Title: "lean-ctx", Version: s.options.Version}, about)
	s.mcp.AddReceivingMiddleware(s.recovering, s.instructing, encoding)
	for _, t := range tools {
		s.tools[t.Name] = t
		s.mcp.AddTool(description(t), s.handler(t))
	}
	for _, t := range s.options.Hidden {
		s.tools[t.Name] = t
	}
	s.addResources()
	s.addPrompts()
	return s
}

// listTTL is how long a client may keep a list. It only bounds how long an
// old list outlives an upgrade of the program.
const listTTL = 5 * time.Minute

// cacheable sets what each kind of result says about keeping it: lists are the
// same for everybody; what is made from the project's facts is not to be kept.
func cacheable(_ context.Context, req mcp.Request, c *mcp.Cacheable) {
	switch req.GetParams().(type) {
	case *mcp.ListToolsParams, *mcp.ListPromptsParams, *mcp.ListResourcesParams, *mcp.ListResourceTemplatesParams:
		c.TTLMs, c.CacheScope = int(listTTL.Milliseconds()), "public"
	default:
		c.TTLMs, c.CacheScope = 0, "private"
	}
}

// MCP is the server itself, for other transports.
func (s *Server) MCP() *mcp.Server { return s.mcp }

// HTTP serves MCP over streamable HTTP. It keeps no session, so it serves both protocol
// eras, and an agent is known only by the id that it passes. Who may call, for which
// project, and how large a body may be is settled before it is called.
func (s *Server) HTTP() http.Handler {
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, DisableLocalhostProtection: true, MaxRequestBodyBytes: -1, Logger: s.options.Logger,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), statelessKey{}, true)))
	})
}

// statelessKey marks the context of a request without a connection.
type statelessKey struct{}

// request is what all requests tell of who makes them.
type request interface {
	GetSession() mcp.Session
	ClientInfo() *mcp.Implementation
}

// caller is who is at the other end of a request. Over HTTP the context says whose token
// it is, and there is no connection that an agent could be known by.
func (s *Server) caller(ctx context.Context, req request) op.Caller {
	c := op.Caller{Kind: "agent"}
	if ctx.Value(statelessKey{}) != nil {
		c, _ = op.CallerOf(ctx)
	} else {
		c.Session = s.session
		if ss, ok := req.GetSession().(*mcp.ServerSession); ok && ss != nil && ss.ID() != "" {
			c.Session = ss.ID()
		}
	}
	if info := req.ClientInfo(); info != nil && info.Name != "" {
		c.Name = info.Name
	}
	return c
}
