package app

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/op"
	"leanctx/cmd/internal/web"
	"leanctx/internal/refusal"
	"leanctx/knowledge/history"
	"leanctx/overview/project"
)

// defaultAddr is where a server listens by default.
const defaultAddr = "127.0.0.1:7337"

// serveArgs say how a server is reached, and by whom.
type serveArgs struct {
	Addr      string   `json:"addr,omitempty" jsonschema:"where to listen, host:port (default 127.0.0.1:7337)"`
	TokenFile string   `json:"token_file,omitempty" jsonschema:"file of named tokens, each with its projects and rights; required beyond loopback"`
	TLSCert   string   `json:"tls_cert,omitempty" jsonschema:"certificate, PEM; with --tls-key"`
	TLSKey    string   `json:"tls_key,omitempty" jsonschema:"key of the certificate, PEM"`
	Insecure  bool     `json:"insecure,omitempty" jsonschema:"allow an address beyond loopback without TLS: others on the network can then read tokens and facts"`
	Open      bool     `json:"open,omitempty" jsonschema:"ask for no token, on loopback only: every user of this machine may read and write"`
	ReadOnly  bool     `json:"read_only,omitempty" jsonschema:"refuse every operation that changes something"`
	Host      []string `json:"host,omitempty" jsonschema:"another host name that clients use for this server, such as a proxy's"`
}

func (r *run) serveTool() *op.Tool {
	const summary = "Serve the memory over HTTP: MCP, A2A, an API for programs, and pages for people."
	return &op.Tool{Name: "serve", Command: "serve", Summary: summary,
		Operations: []op.Operation{op.New("", summary, op.Reads, r.serve).ByPerson()}}
}

// shutdownGrace is how long requests in flight may go on after a signal.
const shutdownGrace = 30 * time.Second

// serve answers requests until it is interrupted. No agent starts it: tokens and addresses reach every
// project, and who has the code of the page speaks as the user.
func (r *run) serve(ctx context.Context, sc op.Scope, a serveArgs) (plainText, error) {
	level := r.stores.config.LogLevel
	if config.Getenv(config.LogVar) == "" {
		level = slog.LevelInfo // the access log
	}
	access := newLogger(r.stores.config, r.errs, level)
	r.stores.serve(newLogger(r.stores.config, r.errs, r.stores.config.LogLevel))
	server, certificate, err := r.listening(ctx, sc, a, access)
	if err != nil {
		return "", err
	}
	defer server.Close()
	l, err := listen(ctx, a.addr())
	if err != nil {
		return "", err
	}
	g := greeting{scheme: "http", addr: l.Addr().String(), code: server.Code()}
	listeners := []net.Listener{l}
	twin, alone := listenTwin(ctx, l)
	if g.alone = alone; twin != nil {
		listeners = append(listeners, twin)
	}
	if g.ownHosts(a) {
		server.OwnHosts()
	}
	if certificate != nil {
		g.scheme = "https"
		for i := range listeners {
			listeners[i] = tls.NewListener(listeners[i], &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
		}
	}
	if err := r.greet(g, a); err != nil {
		for _, l := range listeners {
			err = errors.Join(err, l.Close())
		}
		return "", err
	}
	server.OnNextCode(func() {
		if !a.Open {
			_, _ = fmt.Fprintf(r.out, "  Code, for one more login: %s\n", server.Code()) // who cannot see it starts serve again
		}
	})
	if err := server.Serve(ctx, shutdownGrace, listeners...); err != nil {
		return "", err
	}
	return "Stopped.", nil
}

func (a serveArgs) addr() string { return cmp.Or(a.Addr, defaultAddr) }

// listening makes the server that the arguments ask for. The certificate is nil without TLS.
func (r *run) listening(ctx context.Context, sc op.Scope, a serveArgs, logger *slog.Logger) (*web.Server, *tls.Certificate, error) {
	host, loopback, err := a.check()
	if err != nil {
		return nil, nil, err
	}
	hosts := []string{host}
	if name, err := os.Hostname(); err == nil && !loopback {
		hosts = append(hosts, name)
	}
	certificate, names, err := a.certificate(r.stores.config)
	if err != nil {
		return nil, nil, err
	}
	own := ""
	if loopback {
		if own, err = web.OwnToken(r.stores.config.DataDir); err != nil {
			return nil, nil, err
		}
	}
	if err := r.stores.config.Paths(&a.TokenFile); err != nil {
		return nil, nil, err
	}
	tokens, err := web.NewTokens(own, a.TokenFile, a.Open, logger)
	if err != nil {
		return nil, nil, err
	}
	p, err := r.stores.project(ctx, sc)
	if is[*refusal.ArgumentError](err) { // started in no project: each call must name its own
		p, err = projectPlace{}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	calls := webCalls{r.account, sc}
	return web.New(web.Options{
		Version: build().Version, Tools: r.stores.served(), PageTools: []*op.Tool{syncTool(r.stores)}, Own: webProject(p.Project), Projects: calls.projects,
		Tokens: tokens, Hosts: append(hosts, names...), ProxyHosts: a.Host, Loopback: loopback, TLS: certificate != nil, ReadOnly: a.ReadOnly,
		MCP: calls.mcp, Tasks: r.stores.table().Tasks, Watch: calls.watch, OnAnswer: calls.count, Logger: logger,
	}), certificate, nil
}

// check refuses what would let strangers in.
func (a serveArgs) check() (host string, loopback bool, err error) {
	host, port, err := net.SplitHostPort(a.addr())
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return "", false, &refusal.HintError{Problem: fmt.Sprintf("--addr %q is no address", a.addr()), Hint: "give host:port, such as " + defaultAddr}
	}
	ip := net.ParseIP(host)
	loopback = host == "localhost" || ip != nil && ip.IsLoopback()
	switch {
	case (a.TLSCert == "") != (a.TLSKey == ""):
		return "", false, &refusal.HintError{Problem: "--tls-cert and --tls-key go together", Hint: "give both"}
	case a.Open && !loopback:
		return "", false, &refusal.HintError{Problem: "--open would let everybody on the network in", Hint: "use it on a loopback address, or give --token-file"}
	case !loopback && a.TokenFile == "":
		return "", false, &refusal.HintError{Problem: fmt.Sprintf("--addr %s can be reached by other machines, so it needs --token-file", a.addr()), Hint: "see lean-ctx serve --help; " + defaultAddr + " needs none"}
	case !loopback && a.TLSCert == "" && !a.Insecure:
		return "", false, &refusal.HintError{Problem: fmt.Sprintf("--addr %s needs --tls-cert and --tls-key: tokens and facts would be readable on the way", a.addr()), Hint: "or say --insecure, behind a proxy that does TLS"}
	}
	return host, loopback, nil
}

// certificate reads the TLS files. names are those that it is good for.
func (a serveArgs) certificate(c *config.Config) (cert *tls.Certificate, names []string, err error) {
	if a.TLSCert == "" {
		return nil, nil, nil
	}
	if err := c.Paths(&a.TLSCert, &a.TLSKey); err != nil {
		return nil, nil, err
	}
	pair, err := tls.LoadX509KeyPair(a.TLSCert, a.TLSKey)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range pair.Leaf.DNSNames {
		if !strings.HasPrefix(n, "*") {
			names = append(names, n)
		}
	}
	return &pair, names, nil
}

// listen says what to do if the port is taken.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, &refusal.HintError{Problem: addr + ": another program listens there, perhaps another lean-ctx serve", Hint: "choose another port: lean-ctx serve --addr 127.0.0.1:7338"}
	}
	return l, err
}

// listenTwin takes the same port of the other loopback address, 127.0.0.1 or ::1. A browser may try
// either for a name below localhost, and another user's program could listen there. alone reports
// whether no other program can answer for such a name: the twin is ours, or there is no such address.
func listenTwin(ctx context.Context, l net.Listener) (twin net.Listener, alone bool) {
	at, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return nil, false
	}
	other := ""
	switch at.IP.String() {
	case "127.0.0.1":
		other = "::1"
	case "::1":
		other = "127.0.0.1"
	default:
		return nil, false
	}
	twin, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(other, strconv.Itoa(at.Port)))
	if err != nil {
		return nil, errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT)
	}
	return twin, true
}

// greeting is what a server says of itself when it begins.
type greeting struct {
	scheme, addr string
	code         string // logs a browser in
	alone        bool   // see [listenTwin]
}

// ownHosts reports whether the page has host names of its own.
func (g greeting) ownHosts(a serveArgs) bool {
	_, loopback, err := a.check()
	return err == nil && loopback && !a.Open && g.alone && g.scheme == "http"
}

// greet prints where the server is reached.
func (r *run) greet(g greeting, a serveArgs) error {
	page, note := r.page(g, a)
	base := g.scheme + "://" + g.addr
	_, err := fmt.Fprintf(r.out, "Serving at %s\n  Page: %s\n%s  MCP:  %s/mcp\n  A2A:  %s/a2a\n", base, page, note, base, base)
	return err
}

// page is the address of the page, with the lines that say what it needs, leads to or lacks. The code logs a browser in at the page,
// and lets no program in. It is not in the address: other users see the addresses that a browser is started with. The login leads
// to a host name of the page's own, since on 127.0.0.1 any other server of this machine would get the page's cookie.
func (r *run) page(g greeting, a serveArgs) (page, note string) {
	page = g.scheme + "://" + g.addr + "/"
	_, loopback, err := a.check()
	if err != nil || !loopback || a.Open {
		return page, ""
	}
	note = fmt.Sprintf("  Code: %s (the page asks for it: one login, within ten minutes)\n", g.code)
	const shared = "every other server there that the browser visits gets the page's cookie"
	host, port, _ := net.SplitHostPort(g.addr) // a listener's address has a port
	switch {
	case g.ownHosts(a):
		note += fmt.Sprintf("        The login leads to a name below localhost. If the browser does not find that: %s?host=shared and the next code. But then %s.\n", page, shared)
	case g.scheme == "http" && (host == "127.0.0.1" || host == "::1"):
		note += fmt.Sprintf("        Another program listens at port %s of the other loopback address, so the page has no host name of its own, and its buttons are off. At %s?host=shared they are on. But then %s.\n", port, page, shared)
	default:
		note += fmt.Sprintf("        The page has no host name of its own at %s, so its buttons are off. At %s?host=shared they are on. But then %s.\n", host, page, shared)
	}
	return page, note
}

func webProject(p project.Project) web.Project {
	return web.Project{Hash: p.Hash, Name: p.Name, Root: p.Root}
}

// webCalls is what the HTTP server asks. Its own project is that of the scope.
type webCalls struct {
	*account
	scope op.Scope
}

// projects lists the projects that a server can serve: those whose directory is there.
func (c webCalls) projects(ctx context.Context) ([]web.Project, error) {
	projects, _, err := c.stores.projectRegistry(c.scope)
	if err != nil {
		return nil, err
	}
	list, err := projects.List(ctx)
	var all []web.Project
	for _, p := range list {
		all = append(all, webProject(p))
	}
	return all, err
}

// mcp serves MCP for a project.
func (c webCalls) mcp(p web.Project) http.Handler {
	return mcpCalls{c.account, op.Scope{Project: p.Root}}.server().HTTP()
}

// changed is what changed, as /events tells it.
type changed struct {
	At    time.Time     `json:"at"` // when it was seen
	Facts []changedFact `json:"facts,omitempty"`
}

type changedFact struct {
	Kind     string `json:"kind"` // as diff says it: true, false, corrected, retracted, archived
	Category string `json:"category"`
	Key      string `json:"key"`
}

// watch follows what is written about a project, by whatever process. A look costs a
// few stats as long as nothing is written.
func (c webCalls) watch(ctx context.Context, p web.Project) (web.Poll, error) {
	w, err := c.stores.of(ctx, op.Scope{Project: p.Root})
	if err != nil {
		return nil, err
	}
	store, err := w.factStore()
	if err != nil {
		return nil, err
	}
	registry, err := w.agents()
	if err != nil {
		return nil, err
	}
	taskStore, err := w.tasks()
	if err != nil {
		return nil, err
	}
	facts, since := c.stamp(p), store.Now()
	others := []*revision{{kind: "agent", read: registry.Revision}, {kind: "task", read: taskStore.Revision}}
	for _, r := range others {
		if _, err := r.changed(ctx); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context) (list []web.Event, err error) {
		at := time.Now().UTC()
		if now := c.stamp(p); now != facts {
			facts = now
			d, err := history.Diff(ctx, store, history.Interval{From: since.Format(time.RFC3339Nano), Limit: maxChanges})
			if err != nil {
				return nil, err
			}
			since = d.To
			news := changed{At: at}
			for _, x := range d.Changes {
				news.Facts = append(news.Facts, changedFact{x.Kind, x.Category, x.Key})
			}
			list = append(list, web.Event{Kind: "fact", Data: news})
		}
		for _, r := range others {
			news, err := r.changed(ctx)
			if err != nil {
				return list, err
			}
			if news {
				list = append(list, web.Event{Kind: r.kind, Data: changed{At: at}})
			}
		}
		return list, nil
	}, nil
}

// revision is the number of a store's last change, as it was read.
type revision struct {
	kind string // of the event
	read func(context.Context) (uint64, error)
	last uint64
}

// changed reads the number again, and reports whether it is another one.
func (r *revision) changed(ctx context.Context) (bool, error) {
	n, err := r.read(ctx)
	other := err == nil && n != r.last
	if other {
		r.last = n
	}
	return other, err
}

// maxChanges is how many facts one event names.
const maxChanges = 50

// stamp is another text whenever something was written about a project's facts. Where they
// are is read again each time: the project may join a team meanwhile.
func (c webCalls) stamp(p web.Project) string {
	m, err := c.stores.membership(p.Hash)
	if err != nil {
		return ""
	}
	return m.factStamp()
}
