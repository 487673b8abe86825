// Package web serves the table of operations over HTTP, for many clients at one
// address: programs, MCP clients, A2A clients and people.
//
//	/healthz                        open; all else needs a token
//	/projects                       the projects that the caller may reach
//	POST /api/{tool}/{action}       an operation; arguments and answer are JSON
//	/events                         server-sent events: facts, agents and tasks as they change
//	/mcp                            MCP over streamable HTTP, stateless
//	/a2a, /a2a/v1/…                 A2A 1.0: JSON-RPC and REST
//	/.well-known/agent-card.json    the A2A agent card
//	/                               the page for people
//
// These are the project that the server was started in. The same addresses below
// /p/<project-hash> are another project.
//
// # Who may do what
//
// A request passes these checks in this order; the first that fails answers it.
//
//   - The Host is one of ours. A name that somebody else's DNS points at us is refused.
//   - The Origin, if there is one, is the Host. A page of another site can do nothing here.
//   - The token is known. Tokens are compared in constant time. A browser sends it once as
//     ?token= and gets a session for it: a cookie that is good for the page and /events alone.
//   - The body is JSON of bounded size and depth and comes in time.
//   - The token's grant ([op.Grant]) reaches the project and allows the operation.
//
// The log has no contents: no arguments, no answers, no names of facts, no tokens.
//
// # Streams
//
// A stream ends when its client does not read, when its token is revoked, and when the
// server shuts down. All other requests that are in flight are
// answered before the server ends.
package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"leanctx/cmd/internal/op"
	"leanctx/cmd/internal/web/page"
	"leanctx/tasks"
)

// Options are what a [Server] serves. Logger, Hosts and what is a func may be nil:
// then that part is not there.
type Options struct {
	Version   string
	Tools     []*op.Tool
	PageTools []*op.Tool // that the page's buttons call besides; programs do not reach them

	Own      Project                                  // the project at /
	Projects func(context.Context) ([]Project, error) // all that are known

	Tokens     *Tokens
	Hosts      []string // names of this server, beside localhost and addresses
	ProxyHosts []string // further names, by which a proxy may be reached that does TLS
	Loopback   bool     // it listens on a loopback address: requests for other addresses are refused
	TLS        bool     // it is reached by https
	ReadOnly   bool     // no operation that changes anything, whatever the token allows

	MCP   func(Project) http.Handler
	Tasks func(context.Context, op.Scope) (*tasks.Store, error) // for A2A
	Watch func(context.Context, Project) (Poll, error)          // for /events

	OnAnswer func(op.AnsweredCall) // called for each call of /api after it is answered
	Logger   *slog.Logger
}

// Project is a project that can be served.
type Project struct {
	Hash string `json:"hash"`
	Name string `json:"name"`
	Root string `json:"-"` // its path
}

// Server serves. Make it with [New].
type Server struct {
	o      Options
	routes http.Handler
	logger *slog.Logger
	limits limits
	now    func() time.Time

	ownHosts bool // see OwnHosts
	conns    connections
	refusals refusals

	mu       sync.Mutex
	projects map[string]*projectHandler // by prefix and hash

	closing context.Context // ends when the server begins to shut down
	close   context.CancelFunc
	streams sync.WaitGroup
}

// New makes a server. It does no I/O.
func New(o Options) *Server {
	s := &Server{o: o, logger: o.Logger, limits: defaultLimits(), now: time.Now, projects: map[string]*projectHandler{}}
	s.closing, s.close = context.WithCancel(context.Background())
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.health)
	inner := http.NewServeMux()
	inner.Handle("GET /projects", s.programs(http.HandlerFunc(s.listProjects)))
	inner.HandleFunc("/p/{hash}/", s.project)
	inner.HandleFunc("/", s.project)
	mux.HandleFunc("POST "+loginPath, s.logInForm)
	mux.Handle("/", s.authorized(s.bounded(inner)))
	s.routes = s.logged(s.recovered(s.sameSite(mux)))
	return s
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.routes.ServeHTTP(w, r) }

// Code logs one browser of this machine's user in; see [Tokens.Code].
func (s *Server) Code() string { return s.o.Tokens.Code() }

// OnNextCode sets what is called when a code was used and there is another one. It is set before
// [Server.Serve].
func (s *Server) OnNextCode(f func()) { s.o.Tokens.nextCode = f }

// OwnHosts gives the page host names of its own: no other program can answer for a name below localhost at this port. It is set
// before [Server.Serve].
func (s *Server) OwnHosts() { s.ownHosts = s.o.Tokens.own != nil }

// limits are how long a client may take, and how often a server looks for changes while
// somebody wants to know of them. Nothing limits how long an operation may take.
type limits struct {
	header time.Duration // to send the header
	body   time.Duration // to send the body
	write  time.Duration // to take one write: of an answer, or of an event
	idle   time.Duration // between two requests of a connection
	poll   time.Duration // between two looks for changes
}

func defaultLimits() limits {
	return limits{header: 10 * time.Second, body: 30 * time.Second, write: 20 * time.Second, idle: 2 * time.Minute, poll: 500 * time.Millisecond}
}

const maxHeader = 64 << 10 // bytes

// tokensEvery is how often the file of named tokens is looked at while nobody asks.
const tokensEvery = 2 * time.Second

// Serve answers requests on listeners until ctx ends, or one of them fails. Then it takes no
// more, ends the streams, and answers what is in flight for at most grace.
func (s *Server) Serve(ctx context.Context, grace time.Duration, listeners ...net.Listener) error {
	hs := &http.Server{
		Handler: s, ReadHeaderTimeout: s.limits.header, IdleTimeout: s.limits.idle, MaxHeaderBytes: maxHeader,
		ErrorLog:    slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug), // a client that goes away is no error of ours
		ConnContext: withConn, ConnState: s.conns.state,
	}
	hs.RegisterOnShutdown(s.close)
	ended := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		wait, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		err := hs.Shutdown(wait)
		if err != nil {
			err = errors.Join(fmt.Errorf("requests were still running after %s", grace), hs.Close())
		}
		ended <- err
	})
	s.streams.Go(func() { s.o.Tokens.Watch(s.closing, tokensEvery) })
	served := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { served <- hs.Serve(l) }()
	}
	err := <-served
	if stop() { // it ended by itself
		s.close()
		return errors.Join(err, hs.Close())
	}
	return <-ended
}

// Close ends what runs beside requests. Serve has returned by then.
func (s *Server) Close() {
	s.close()
	s.streams.Wait()
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok", "name": "lean-ctx", "version": s.o.Version})
}

// projectEntry is a project at /projects.
type projectEntry struct {
	Project
	URL string `json:"url"`
}

func (s *Server) listProjects(w http.ResponseWriter, r *http.Request) {
	all, err := s.o.Projects(r.Context())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	list, who := []projectEntry{}, callerOf(r.Context())
	for _, p := range all {
		if who.grant.Reaches(p.Hash) {
			list = append(list, projectEntry{p, "/p/" + p.Hash + "/"})
		}
	}
	writeJSON(w, http.StatusOK, struct {
		Projects []projectEntry `json:"projects"`
	}{list})
}

// projectHandler is one project at one prefix.
type projectHandler struct {
	http.Handler
	project Project
	feed    *feed
}

// hexDigits are the digits of a project's hash.
const hexDigits = "0123456789abcdef"

// isHash reports whether a text can be the hash of a project.
func isHash(text string) bool { return len(text) == 16 && strings.Trim(text, hexDigits) == "" }

// project serves the project whose hash the address begins with, or else the one that the
// server was started in. One that the caller may not reach is answered like one that does not
// exist.
func (s *Server) project(w http.ResponseWriter, r *http.Request) {
	who, hash, p, prefix := callerOf(r.Context()), r.PathValue("hash"), s.o.Own, ""
	if hash != "" {
		prefix = "/p/" + hash
	}
	if hash != "" && hash != p.Hash {
		all, err := s.o.Projects(r.Context())
		if err != nil {
			s.fail(w, r, err)
			return
		}
		i := slices.IndexFunc(all, func(x Project) bool { return x.Hash == hash })
		if i < 0 {
			refuse(w, http.StatusNotFound, "not_found", "there is no such project")
			return
		}
		p = all[i]
	}
	if !who.grant.Reaches(p.Hash) {
		if hash != "" {
			refuse(w, http.StatusNotFound, "not_found", "there is no such project")
		} else {
			refuse(w, http.StatusForbidden, "forbidden", "this token does not reach the project at /; see /projects")
		}
		return
	}
	g := *who.grant
	g.Project = p.Root
	g.ReadOnly = g.ReadOnly || s.o.ReadOnly
	http.StripPrefix(prefix, s.mount(p, prefix)).ServeHTTP(w, r.WithContext(op.WithGrant(r.Context(), &g)))
}

// mount makes what serves a project, once.
func (s *Server) mount(p Project, prefix string) *projectHandler {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.projects[prefix+" "+p.Hash]; m != nil && m.project == p {
		return m
	}
	m := &projectHandler{project: p}
	for _, at := range s.projects { // one feed for a project, wherever it is mounted
		if at.project == p {
			m.feed = at.feed
		}
	}
	if m.feed == nil && s.o.Watch != nil {
		m.feed = newFeed(s, func(ctx context.Context) (Poll, error) { return s.o.Watch(ctx, p) })
	}
	mux := http.NewServeMux()
	forPrograms := func(pattern string, h http.Handler) { mux.Handle(pattern, s.programs(h)) }
	forPrograms("POST /api/{tool}", http.HandlerFunc(s.api))
	forPrograms("POST /api/{tool}/{action}", http.HandlerFunc(s.api))
	forPrograms("/api/", http.HandlerFunc(s.notAllowed))
	if s.o.Tasks != nil {
		s.a2aRoutes(forPrograms, prefix)
	}
	if s.o.MCP != nil {
		forPrograms("/mcp", s.mcp(s.o.MCP(p)))
	}
	// The page, and the changes that it shows.
	if m.feed != nil {
		mux.HandleFunc("GET /events", m.feed.serve)
	}
	mux.Handle("/", s.people(page.New(page.Options{Call: s.callByPage, Project: p.Name, Prefix: prefix})))
	m.Handler = mux
	s.projects[prefix+" "+p.Hash] = m
	return m
}

// clientHeader names the client, where connect wrote its entry. It is who calls, as the
// name in the first request is on stdio.
const clientHeader = "X-Lean-Ctx-Client"

// isClient reports whether a text can be the name of a client.
func isClient(text string) bool {
	return len(text) <= 32 && len(text) > 1 && 'a' <= text[0] && text[0] <= 'z' &&
		strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// mcp makes who calls known to an MCP handler, and ends its streams when they must end.
func (s *Server) mcp(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := callerOf(r.Context())
		name := who.Name
		if client := r.Header.Get(clientHeader); isClient(client) {
			name = client
		}
		ctx := op.WithCaller(r.Context(), op.Caller{Kind: "agent", Name: name})
		if r.Header.Get("Mcp-Method") == "subscriptions/listen" {
			var end func()
			ctx, end = s.ending(ctx)
			defer end()
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// ending is the context of a stream: it ends with the request, when the token is revoked and
// when the server shuts down. end releases it.
func (s *Server) ending(request context.Context) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(request)
	closing, revoked := context.AfterFunc(s.closing, cancel), context.AfterFunc(callerOf(ctx).valid, cancel)
	return ctx, func() {
		cancel()
		closing()
		revoked()
	}
}

// recovered answers a request whose handler panicked.
func (s *Server) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if cause == http.ErrAbortHandler {
				panic(cause)
			}
			s.logger.Error("panic", "route", route(r), "cause", cause, "stack", string(debug.Stack()))
			if m, ok := w.(*responseMeter); ok && m.status == 0 {
				refuse(w, http.StatusInternalServerError, "failed", "internal error; the server's log has the stack")
				return
			}
			panic(http.ErrAbortHandler)
		}()
		next.ServeHTTP(w, r)
	})
}

// logged writes a line for each request.
func (s *Server) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m := &responseMeter{ResponseWriter: w, control: http.NewResponseController(w), within: s.limits.write, unread: r.ContentLength != 0}
		who := new(token)
		start := time.Now()
		if r.ContentLength != 0 { // a body that nobody reads is read away at the end, and takes its time too
			_ = m.control.SetReadDeadline(start.Add(s.limits.body)) // a recorder in a test has none
		}
		r = r.WithContext(context.WithValue(r.Context(), callerKey{}, who))
		defer func() {
			more, ok := s.refusals.take(m.status, start)
			if !ok {
				return
			}
			if more > 0 {
				s.logger.Info("more requests without a token", "count", more)
			}
			s.logger.Info("request", "method", method(r), "route", route(r), "status", m.status, "bytes", m.bytes,
				"ms", time.Since(start).Milliseconds(), "token", who.Name, "remote", r.RemoteAddr)
		}()
		next.ServeHTTP(m, r)
	})
}

// method is that of a request, as it is logged. A caller may send any word, of any length.
func method(r *http.Request) string {
	if slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE"}, r.Method) {
		return r.Method
	}
	return "other"
}

// refusals are the requests without a token, of which one a second is logged: anybody on this machine can make thousands.
type refusals struct {
	mu     sync.Mutex
	logged time.Time
	more   int // since then
}

// take reports whether a request is logged, and how many were not since the last refused one that was.
func (l *refusals) take(status int, at time.Time) (more int, ok bool) {
	if status != http.StatusUnauthorized {
		return 0, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if at.Sub(l.logged) < time.Second {
		l.more++
		return 0, false
	}
	more, l.more, l.logged = l.more, 0, at
	return more, true
}

// routes are the first parts of the addresses that there are. Others are not repeated in the log:
// they can be anything, also a secret that was pasted.
var routes = [...]string{"", "healthz", "projects", "api", "mcp", "a2a", "events", "facts", "activity", "doubts", "agents", "briefings", "health", "page", "do", "login", ".well-known"}

// route is the part of an address that names no content: a fact's address holds its name.
func route(r *http.Request) string {
	path := r.URL.Path
	prefix := ""
	if rest, ok := strings.CutPrefix(path, "/p/"); ok && len(rest) >= 16 && isHash(rest[:16]) {
		prefix, path = path[:len("/p/")+16], rest[16:]
	}
	parts := strings.SplitN(path, "/", 5)
	known := len(parts) > 1 && parts[0] == "" && slices.Contains(routes[:], parts[1])
	api := known && parts[1] == "api"
	for i, p := range parts[min(1, len(parts)):] {
		if i > 0 && !(api && i < 3 && isName(p)) || i == 0 && !known {
			parts[i+1] = "…"
		}
	}
	return prefix + strings.Join(parts, "/")
}

// isName reports whether a part of an address can be the name of a tool or an action.
func isName(s string) bool {
	return len(s) <= 24 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_-") == ""
}

// responseMeter notes what was answered, and limits the time of each write: a client that does
// not read must not hold a handler for ever.
type responseMeter struct {
	http.ResponseWriter
	control *http.ResponseController
	within  time.Duration
	unread  bool // the request has a body that was not read to its end
	status  int
	bytes   int64
}

func (m *responseMeter) WriteHeader(status int) {
	if m.status == 0 && status >= 200 {
		m.status = status
		if m.unread { // else net/http waits for the rest of the body before it sends the answer
			m.Header().Set("Connection", "close")
		}
	}
	m.ResponseWriter.WriteHeader(status)
}

func (m *responseMeter) Write(b []byte) (int, error) {
	if m.status == 0 {
		m.status = http.StatusOK
	}
	_ = m.control.SetWriteDeadline(time.Now().Add(m.within)) // a recorder in a test has none
	n, err := m.ResponseWriter.Write(b)
	m.bytes += int64(n)
	return n, err
}

// Flush implements [http.Flusher], which some libraries ask for.
func (m *responseMeter) Flush() {
	_ = m.control.SetWriteDeadline(time.Now().Add(m.within))
	_ = m.control.Flush()
}

// Unwrap is for [http.ResponseController].
func (m *responseMeter) Unwrap() http.ResponseWriter { return m.ResponseWriter }
