package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/op"
	"leanctx/cmd/internal/web"
)

// address is a server over HTTP within the test.
type address struct {
	url, token string
	run        *run
	code       func() string // logs this machine's user in at the page
}

// serveHTTP serves the project of home.
func serveHTTP(t testing.TB, a serveArgs) address {
	t.Helper()
	r := &run{out: io.Discard, errs: io.Discard, globals: &cli.Globals{}}
	r.stores = serving(t)
	r.account = &account{stores: r.stores}
	server, _, err := r.listening(t.Context(), op.Scope{}, a, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(server)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close(); server.Close() })
	token, err := web.OwnToken(r.stores.config.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	return address{s.URL, token, r, server.Code}
}

// RoundTrip sends a request with the token.
func (a address) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+a.token)
	return http.DefaultTransport.RoundTrip(r)
}

// dial opens MCP at a path.
func (a address) dial(t *testing.T, path, protocol string) client {
	t.Helper()
	return connect(t, &mcp.StreamableClientTransport{Endpoint: a.url + path, HTTPClient: &http.Client{Transport: a}, DisableStandaloneSSE: true}, protocol)
}

func (a address) post(t *testing.T, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	answer, err := a.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(data)
}

// Both protocol eras work over HTTP. Without a connection an agent is known by the id that it
// passes. So two clients of one server are not taken for each other.
func TestMCPOverHTTP(t *testing.T) {
	home(t)
	a := serveHTTP(t, serveArgs{})
	for _, protocol := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(protocol, func(t *testing.T) {
			one, two := a.dial(t, "/mcp", protocol), a.dial(t, "/mcp", protocol)
			tools, err := one.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) != len(a.run.stores.tools()) {
				t.Fatalf("%+v, %v", tools, err)
			}
			one.must("ctx_knowledge", fmt.Sprintf(`{"action":"remember","category":"era","key":%q,"value":"spoken"}`, protocol))
			if got := two.must("ctx_recall", `{"action":"recall","category":"era"}`); !strings.Contains(got, protocol) {
				t.Errorf("recalled %s", got)
			}
			first, second := one.register("cursor", "dev "+protocol), two.register("cursor", "dev "+protocol)
			if first == second {
				t.Fatalf("both are %s", first)
			}
			if got := one.call("ctx_agent", `{"action":"diary","message":"whose?"}`); !strings.HasPrefix(got, "!") || !strings.Contains(got, `needs "agent"`) {
				t.Errorf("without an agent: %s", got)
			}
			one.must("ctx_agent", fmt.Sprintf(`{"action":"post","agent":%q,"to_agent":%q,"message":"hello"}`, first, second))
			if got := two.must("ctx_agent", fmt.Sprintf(`{"action":"read","agent":%q}`, second)); !strings.Contains(got, "hello") {
				t.Errorf("read %s", got)
			}
		})
	}
}

// What a client remembers over HTTP is its own, also by the older protocol, where a request
// does not say who makes it: connect writes the client's name beside its token.
func TestAuthorOverHTTP(t *testing.T) {
	home(t)
	a := serveHTTP(t, serveArgs{})
	for _, c := range []struct{ header, author string }{{"codex", "codex"}, {"gemini", "gemini"}, {"", ""}, {"<b>", ""}} {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ctx_knowledge","arguments":{"action":"remember","category":"by","key":%q,"value":"said over HTTP","output":"json"}}}`, "k"+c.header)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.url+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25", "X-Lean-Ctx-Client": c.header} {
			req.Header.Set(name, value)
		}
		answer, err := a.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		want := `"sources":[{"kind":"agent","by":"` + c.author + `","at"`
		if c.author == "" {
			want = `"sources":[{"kind":"agent","at"`
		}
		if _, got := a.post(t, "/api/knowledge/why", fmt.Sprintf(`{"category":"by","key":%q}`, "k"+c.header)); !strings.Contains(got, want) {
			t.Errorf("%q is not known as %q: %d %s", c.header, c.author, answer.StatusCode, got)
		}
	}
}

// A client of the newest protocol is told when a resource shows something else, also where
// another process wrote it.
func TestSubscriptionsOverHTTP(t *testing.T) {
	home(t)
	a := serveHTTP(t, serveArgs{})
	c := a.dial(t, "/mcp", "2026-07-28")
	const uri = "leanctx://facts/a"
	if err := c.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	<-c.booked
	if code, _, errs := do(t, "", "remember", "a/b", "c"); code != 0 {
		t.Fatal(errs)
	}
	if got := <-c.updated; got != uri {
		t.Errorf("updated %s", got)
	}
}

// Without a connection a subscription of the older protocol could never end, so there is none.
func TestNoSubscriptionWithoutAConnection(t *testing.T) {
	home(t)
	c := serveHTTP(t, serveArgs{}).dial(t, "/mcp", "2025-11-25")
	if c.InitializeResult().Capabilities.Resources.Subscribe {
		t.Error("it is offered")
	}
	if err := c.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "leanctx://facts/a"}); err == nil {
		t.Errorf("got %v", err)
	}
}

// A stream whose header does not name it would go on after its token was revoked, and hold up
// the end of the server.
func TestNoStreamWithoutItsHeader(t *testing.T) {
	home(t)
	a := serveHTTP(t, serveArgs{})
	const listen = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["leanctx://briefing"]}}}`
	for _, c := range []struct{ version, method, body string }{
		{"", "", listen},
		{"2025-11-25", "", listen},
		{"2025-11-25", "tools/call", listen},
		{"2025-03-26", "", "[" + listen + "]"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.url+"/mcp", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": c.version, "Mcp-Method": c.method} {
			req.Header.Set(name, value)
		}
		answer, err := a.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body) // it has an end
		_ = answer.Body.Close()
		if err != nil || !strings.Contains(string(text), "needs the header") {
			t.Errorf("%+v: %d %s, %v", c, answer.StatusCode, text, err)
		}
	}
}

// A token for one project reaches no other, whatever it names, and a search is of its own.
func TestATokenReachesItsProjectsAlone(t *testing.T) {
	dir := home(t)
	other := filepath.Join(dir, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"remember", "a/here", "visible"}, {"--project", other, "remember", "a/there", "hidden visible"}} {
		if code, _, errs := do(t, "", args...); code != 0 {
			t.Fatal(errs)
		}
	}
	var shown struct{ Hash string }
	_, out, _ := do(t, "", "--json", "project", "show")
	if err := json.Unmarshal([]byte(out), &shown); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "tokens.json")
	const token = "a-token-of-one-project"
	if err := os.WriteFile(file, fmt.Appendf(nil, `{"tokens":[{"name":"ci","token":%q,"projects":[%q],"rights":"write"}]}`, token, shown.Hash), 0o600); err != nil {
		t.Fatal(err)
	}
	a := serveHTTP(t, serveArgs{TokenFile: file})
	if status, body := a.post(t, "/api/recall/search", `{"query":"visible"}`); status != 200 || !strings.Contains(body, "hidden") {
		t.Errorf("this machine's token searches everywhere: %d %s", status, body)
	}
	own := a.token
	a.token = token
	if status, body := a.post(t, "/api/recall/search", `{"query":"visible"}`); status != 200 || !strings.Contains(body, "visible") || strings.Contains(body, "hidden") {
		t.Errorf("search: %d %s", status, body)
	}
	fresh := filepath.Join(dir, "fresh")
	if err := os.Mkdir(fresh, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{other, fresh, filepath.Join(dir, "nowhere"), "/etc/passwd", "../other", "~"} {
		for _, call := range [][2]string{{"/api/recall/recall", `"query":"visible"`}, {"/api/knowledge/remember", `"category":"a","key":"b","value":"c"`}, {"/api/task/list", ``}, {"/api/agent/list", ``}, {"/api/overview", ``}, {"/api/cost/report", ``}, {"/api/share/list", ``}, {"/api/knowledge/briefings", ``}} {
			status, body := a.post(t, call[0], strings.Replace(fmt.Sprintf(`{"project":%q,%s}`, path, call[1]), ",}", "}", 1))
			if status != 403 || strings.Contains(body, "hidden") || !strings.Contains(body, "does not reach") {
				t.Errorf("%s %s: %d %s", call[0], path, status, body)
			}
		}
	}
	of := fmt.Sprintf(`{"query":"visible","project":%q}`, other)
	a.token = own
	if status, body := a.post(t, "/api/recall/recall", of); status != 200 || !strings.Contains(body, "hidden") {
		t.Errorf("this machine's token: %d %s", status, body)
	}
	a.token = token // what was found for one token a moment ago is not another's
	if status, body := a.post(t, "/api/recall/recall", of); status != 403 || strings.Contains(body, "hidden") {
		t.Errorf("after somebody else: %d %s", status, body)
	}
	c := a.dial(t, "/p/"+shown.Hash+"/mcp", "2026-07-28")
	if got := c.call("ctx_recall", fmt.Sprintf(`{"action":"recall","query":"visible","project":%q}`, other)); !strings.HasPrefix(got, "!") || strings.Contains(got, "hidden") {
		t.Errorf("over MCP: %s", got)
	}
	if _, out, _ := do(t, "", "project", "list"); strings.Contains(out, "fresh") {
		t.Errorf("a project was made of what is out of reach:\n%s", out)
	}
}

// What would let strangers in is refused before anything listens.
func TestServeIsRefused(t *testing.T) {
	home(t)
	for want, args := range map[string][]string{
		"is no address":                {"--addr", "7337"},
		"\"127.0.0.1:99999\" is no":    {"--addr", "127.0.0.1:99999"},
		"needs --token-file":           {"--addr", "0.0.0.0:0"},
		"--tls-cert and --tls-key":     {"--addr", "0.0.0.0:0", "--token-file", "x"},
		"go together":                  {"--tls-cert", "x"},
		"let everybody on the network": {"--addr", "0.0.0.0:0", "--open"},
	} {
		code, _, errs := do(t, "", append([]string{"serve"}, args...)...)
		if code != usage || !strings.Contains(errs, want) {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
	if code, _, errs := do(t, "", "serve", "--token-file", filepath.Join(t.TempDir(), "none")); code == 0 || !strings.Contains(errs, "no such file") && !strings.Contains(errs, "cannot find") {
		t.Errorf("%d %s", code, errs)
	}
}

// A port that is taken is named with who has it. A second server of the same data directory
// may listen elsewhere, with the same token.
func TestOccupiedPort(t *testing.T) {
	home(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if code, _, errs := do(t, "", "serve", "--addr", l.Addr().String()); code != usage || !strings.Contains(errs, "another program listens there") {
		t.Errorf("%d %s", code, errs)
	}
	first, second := serveHTTP(t, serveArgs{}), serveHTTP(t, serveArgs{})
	if code, _, errs := do(t, "", "serve", "--addr", strings.TrimPrefix(first.url, "http://")); code != usage || !strings.Contains(errs, "perhaps another lean-ctx serve") {
		t.Errorf("%d %s", code, errs)
	}
	if status, body := first.post(t, "/api/knowledge/remember", `{"category":"a","key":"b","value":"c"}`); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	if status, body := second.post(t, "/api/recall/recall", `{"query":"c"}`); status != 200 || !strings.Contains(body, `"value":"c"`) || first.token != second.token {
		t.Errorf("the other server: %d %s", status, body)
	}
}

// A name below localhost may lead to 127.0.0.1 or ::1, so a server takes its port of both. Where
// another program has one of them, the page's address does not go there.
func TestServeTakesBothLoopbackAddresses(t *testing.T) {
	first, err := listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	twin, alone := listenTwin(t.Context(), first)
	if twin == nil {
		t.Skipf("no ::1 here (alone: %t)", alone)
	}
	port := strconv.Itoa(first.Addr().(*net.TCPAddr).Port)
	if !alone || twin.Addr().String() != "[::1]:"+port {
		t.Errorf("%v, alone %t", twin.Addr(), alone)
	}
	first.Close()
	// What is left stands for another user's program.
	first, err = listen(t.Context(), "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if l, alone := listenTwin(t.Context(), first); l != nil || alone {
		t.Errorf("a port that is taken: %v, alone %t", l, alone)
	}
	twin.Close()
	var out strings.Builder
	r := &run{out: &out}
	r.stores = serving(t)
	for _, alone := range []bool{true, false} {
		out.Reset()
		if err := r.greet(greeting{scheme: "http", addr: "127.0.0.1:" + port, code: "code", alone: alone}, serveArgs{}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "a name below localhost") != alone || strings.Contains(out.String(), "Another program listens") == alone || !strings.Contains(out.String(), "  Page: http://127.0.0.1:"+port+"/\n  Code: code (") {
			t.Errorf("alone %t:\n%s", alone, out.String())
		}
	}
}

// It prints where it is reached, and stops in order.
func TestServeGreets(t *testing.T) {
	home(t)
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- Main(ctx, []string{"serve", "--addr", "127.0.0.1:0"}, strings.NewReader(""), in, io.Discard)
		in.Close()
	}()
	var greeting bytes.Buffer
	b := make([]byte, 4096)
	for !strings.Contains(greeting.String(), "/a2a\n") {
		n, err := out.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		greeting.Write(b[:n])
	}
	_, page, _ := strings.Cut(greeting.String(), "Page: ")
	page, _, _ = strings.Cut(page, "\n")
	at, _, _ := strings.Cut(strings.TrimPrefix(greeting.String(), "Serving at http://"), "\n")
	if page != "http://"+at+"/" || !regexp.MustCompile(`\n  Code: [A-Z2-7]{4}-[A-Z2-7]{4}-[A-Z2-7]{4} `).MatchString(greeting.String()) || !strings.Contains(greeting.String(), "?host=shared") {
		t.Errorf("greeting:\n%s", greeting.String())
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	// A browser finds the name by itself, which this system may not.
	browser := &http.Client{Jar: jar, Transport: &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, at)
	}}}
	_, code, _ := strings.Cut(greeting.String(), "Code: ")
	code, _, _ = strings.Cut(code, " ")
	answer, err := browser.PostForm(page+"login", url.Values{"code": {strings.ToLower(code)}, "to": {"/"}, "host": {""}})
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK || !regexp.MustCompile(`^[0-9a-f]{16}\.localhost:[0-9]+$`).MatchString(answer.Request.URL.Host) {
		t.Errorf("%s at %s", answer.Status, answer.Request.URL)
	}
	for !strings.Contains(greeting.String(), "for one more login: ") || !strings.HasSuffix(greeting.String(), "\n") {
		n, err := out.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		greeting.Write(b[:n])
	}
	_, next, _ := strings.Cut(strings.TrimSpace(greeting.String()), "for one more login: ")
	stranger := &http.Client{Transport: browser.Transport}
	for given, want := range map[string]int{code: http.StatusUnauthorized, next: http.StatusOK} {
		stranger.Jar, _ = cookiejar.New(nil)
		if answer, err = stranger.PostForm(page+"login", url.Values{"code": {given}}); err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("another browser with %s: %s", given, answer.Status)
		}
	}
	if answer, err = browser.Get("http://" + at + "/"); err != nil { // the cookie is for the page's name alone
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("%s at the address", answer.Status)
	}
	browser.CloseIdleConnections()
	stop()
	go func() { _, _ = io.Copy(io.Discard, out) }()
	if code := <-done; code != 0 {
		t.Errorf("exit code %d", code)
	}
}
