// Package mcpsrv makes an MCP server of the table of operations. A tool is an [op.Tool], and
// a call is [op.Tool.Call]. Resources and prompts are calls too.
//
// # Decisions
//
//   - Answers are text. No tool declares an outputSchema and no answer carries
//     structuredContent. Even output=json gives JSON as text. At least one client shows its
//     model only the structured part, so notices and hints would be lost. JSON also costs about
//     twice the tokens.
//   - A failure of an operation, such as a mistake in the arguments, is an answer with isError.
//     A model can read it and try again. Everything else is a protocol error.
//   - The lists never change while the server runs, so listChanged is false.
//     The contents of resources do change: see subscribe.go.
//   - The instructions are made in each handshake, with the current briefing.
//   - Over stdio an operation that writes runs alone, in the order of the
//     requests. Two assertions sent one after the other keep their order, and a
//     recall after them sees both. The SDK would run all three at once.
//     Operations that read run in parallel.
package mcpsrv

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"leanctx/cmd/internal/op"
)

// Options configure a [Server]. The zero value works.
type Options struct {
	Version string // of the program

	// Briefing gives the project's briefing for the instructions, without a
	// heading; it may be empty. It is called in each handshake.
	Briefing func(context.Context) string

	// Others reports whether another agent was here lately or something waits for one. It is called in each handshake;
	// nil: there are none.
	Others func(context.Context) bool

	// OnAnswer is called for every call of a tool after it is answered. It must not
	// block.
	OnAnswer func(op.AnsweredCall)

	// Left is called with the session of a connection that has ended.
	Left func(session string)

	// Stamp returns a text that changes whenever a resource may have changed. It
	// is called twice a second while there are subscribers, with the context of
	// one. nil: no subscriptions.
	Stamp func(context.Context) string

	Logger *slog.Logger // nil: no log

	// Grace is how long running requests may take after the end of input before
	// they are cancelled; 0 means 5 s.
	Grace time.Duration
}

// Server serves the table of operations.
type Server struct {
	mcp     *mcp.Server
	tools   map[string]*op.Tool
	options Options
	session string // for transports whose sessions have no id
	watch   *watch

	workspaces sync.Map   // of the connections
	binding    op.Binding // of requests that name no connection
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
		//lint:ignore SA1019 see roots.go
		RootsListChangedHandler: s.rootsChanged,
	}
	if s.watch = (&watch{server: s, all: map[subscription]bool{}, seen: map[string]content{}}); s.options.Stamp != nil {
		about.SubscribeHandler, about.UnsubscribeHandler = s.watch.subscribe, s.watch.unsubscribe
	}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "lean-ctx", Title: "lean-ctx", Version: s.options.Version}, about)
	s.mcp.AddReceivingMiddleware(s.withRecovery, withoutSubscriptions, s.withInstructions, s.withEncodedCategory)
	for _, t := range tools {
		s.tools[t.Name] = t
		s.mcp.AddTool(description(t), s.handler(t))
	}
	s.addResources()
	s.addPrompts()
	return s
}

// listTTL is how long a client may cache a list. A longer time would keep an old list after
// an upgrade of the program.
const listTTL = 5 * time.Minute

// cacheable sets the cache hints of results. Lists are the same for everybody and may be
// cached; results made of the project's facts may not.
func cacheable(_ context.Context, req mcp.Request, c *mcp.Cacheable) {
	switch req.GetParams().(type) {
	case *mcp.ListToolsParams, *mcp.ListPromptsParams, *mcp.ListResourcesParams, *mcp.ListResourceTemplatesParams:
		c.TTLMs, c.CacheScope = int(listTTL.Milliseconds()), "public"
	default:
		c.TTLMs, c.CacheScope = 0, "private"
	}
}

// Protocols are the protocol versions that the server speaks, newest first.
func Protocols() []string { return mcp.SupportedProtocolVersions() }

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

// methodHeader is the header that names a request's method, and listenMethod the method whose
// answer is a stream.
const (
	methodHeader = "Mcp-Method"
	listenMethod = "subscriptions/listen"
)

// statelessKey marks the context of a request without a connection.
type statelessKey struct{}

// withoutSubscriptions refuses subscriptions of the older protocol over stateless HTTP: no update
// could be sent, and nothing would ever end the subscription. Clients of the newer protocol
// listen with a request that stays open. Its header must say so: by the header its stream is
// ended when the token is revoked and when the server shuts down, and the SDK demands the header
// only of requests that name the newer protocol.
func withoutSubscriptions(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if ctx.Value(statelessKey{}) == nil {
			return next(ctx, method, req)
		}
		if method == "resources/subscribe" || method == "resources/unsubscribe" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: method + " needs a connection, which HTTP has not: use subscriptions/listen of protocol 2026-07-28, or stdio"}
		}
		if extra := req.GetExtra(); method == listenMethod && (extra == nil || extra.Header.Get(methodHeader) != method) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: method + " needs the header " + methodHeader + ": " + method}
		}
		result, err := next(ctx, method, req)
		if r, ok := result.(*mcp.InitializeResult); ok && err == nil {
			r.Capabilities.Resources.Subscribe = false
		}
		return result, err
	}
}

// request has the parts that all requests share.
type request interface {
	GetSession() mcp.Session
	ClientInfo() *mcp.Implementation
}

// caller is who makes a request. Over HTTP the context names the owner of the token, and
// there is no connection that an agent is known by.
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
	c.Workspace = s.workspaceOf(ctx, req)
	return c
}
