package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"leanctx/cmd/internal/op"
)

// A name that leads here by somebody else's DNS, and a page of another site, get nothing.
func TestForeignHostsAndOrigins(t *testing.T) {
	f := serve(t, func(o *Options, _ *storeOptions) {
		o.Hosts, o.ProxyHosts = []string{"memory.example"}, []string{"proxy.example"}
	})
	_, port, _ := net.SplitHostPort(f.Listener.Addr().String())
	for _, c := range []struct {
		host, origin, fetch string
		status              int
	}{
		{"127.0.0.1:" + port, "", "", 200},
		{"localhost:" + port, "", "", 200},
		{"LOCALHOST.:" + port, "", "", 200},
		{"[::1]:" + port, "", "", 200},
		{"memory.example", "", "", 200},
		{"evil.example", "", "", 403},
		{"evil.example:" + port, "", "", 403},
		{"localhost.evil.example", "", "", 403},
		{"127.0.0.1.nip.io:" + port, "", "", 403},
		{"192.0.2.1:" + port, "", "", 403}, // it listens on a loopback address
		{"0.0.0.0:" + port, "", "", 403},
		{"127.0.0.1:" + port, "http://127.0.0.1:" + port, "", 200},
		{"127.0.0.1:" + port, "https://127.0.0.1:" + port, "", 403}, // it is reached without TLS
		{"127.0.0.1:" + port, "http://user@127.0.0.1:" + port, "", 403},
		{"127.0.0.1:" + port, "http://user:pw@127.0.0.1:" + port, "", 403},
		{"127.0.0.1:" + port, "http://127.0.0.1:" + port + "/", "", 403},
		{"127.0.0.1:" + port, "//127.0.0.1:" + port, "", 403},
		{"127.0.0.1:" + port, "ftp://127.0.0.1:" + port, "", 403},
		{"memory.example", "https://memory.example", "", 403},
		{"proxy.example", "https://proxy.example", "", 200}, // a proxy does TLS
		{"proxy.example", "https://memory.example", "", 403},
		{"127.0.0.1:" + port, "http://evil.example", "", 403},
		{"127.0.0.1:" + port, "http://127.0.0.1:9", "", 403},
		{"127.0.0.1:" + port, "null", "", 403},
		{"127.0.0.1:" + port, "", "cross-site", 403},
		{"127.0.0.1:" + port, "", "same-origin", 200},
	} {
		for _, path := range []string{"/api/knowledge/recall", "/mcp"} {
			if path == "/mcp" && c.status == 200 {
				continue
			}
			status, body := f.do(t, f.request(t, http.MethodPost, path, `{"query":"x"}`, func(r *http.Request) {
				r.Host = c.host
				r.Header.Set("Sec-Fetch-Site", c.fetch)
				if c.origin != "" {
					r.Header.Set("Origin", c.origin)
				}
			}))
			if status != c.status {
				t.Errorf("%+v at %s: got %d %s", c, path, status, body)
			}
		}
	}
	two := f.request(t, http.MethodGet, "/healthz", "", func(r *http.Request) {
		r.Header["Origin"] = []string{"http://" + r.URL.Host, "http://evil.example"}
	})
	if status, _ := f.do(t, two); status != 403 {
		t.Errorf("two origins: %d", status)
	}
	if status, _ := f.do(t, f.request(t, http.MethodGet, "/healthz", "", func(r *http.Request) { r.Host = "evil.example" })); status != 403 {
		t.Errorf("healthz by another name: %d", status)
	}
}

// A Host is a name or an address as a browser writes it, and nothing else. Go's client would
// mend these, so the server is called without one.
func TestMalformedHosts(t *testing.T) {
	f := serve(t, nil)
	for host, want := range map[string]int{
		"[::1]:7337": 200, "[::1]": 200, "127.0.0.1": 200, "Localhost.:7337": 200, "[::1%25x]:7337": 403, "[::1%25x]": 403, "[::1%x]": 403, "[fe80::1%25lo]": 403,
		"[127.0.0.1]:7337": 403, "user@127.0.0.1:7337": 403, "127.0.0.1:99999": 403, "127.0.0.1:": 403, "127.0.0.1:+80": 403, "127.0.0.1:0": 403, "127.0.0.1:x": 403,
		"::1": 403, "[::1": 403, "::1]": 403, "[::1]x": 403, "[]": 403, "": 403, ":7337": 403, "127.0.0.1/x": 403, "127.0.0.1,evil.example": 403, "127.1": 403, "2130706433": 403, "0x7f.1": 403,
	} {
		r := httptest.NewRequest(http.MethodGet, "/healthz", nil)
		r.Host = host
		w := httptest.NewRecorder()
		f.server.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%q: %d %s", host, w.Code, w.Body)
		}
	}
}

// The answer of an operation is its JSON, or its text for who asks for it; an error names the
// argument and has an example.
func TestAnswers(t *testing.T) {
	f := serve(t, nil)
	status, body := f.post(t, "/api/ctx_task/create", `{"title":"Fix <auth>","nosuch":1}`)
	var a struct {
		Result  struct{ Task struct{ Title string } }
		Notices []string
	}
	if err := json.Unmarshal([]byte(body), &a); err != nil || status != 200 || a.Result.Task.Title != "Fix <auth>" || len(a.Notices) != 1 {
		t.Errorf("%d %s, %v", status, body, err)
	}
	if _, body := f.post(t, "/api/task/list", `{"output":"text"}`); !strings.Contains(body, `{"text":"Tasks (1):`) {
		t.Errorf("as text: %s", body)
	}
	_, body = f.post(t, "/api/knowledge/remember", `{"category":"a"}`)
	var e errorBody
	if err := json.Unmarshal([]byte(body), &e); err != nil || e.Error.Argument != "value" || e.Error.Example["value"] == nil {
		t.Errorf("%s, %v", body, err)
	}
}

func TestBadBodies(t *testing.T) {
	f := serve(t, nil)
	text := func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }
	for _, c := range []struct {
		name, path, body string
		set              func(*http.Request)
		status           int
	}{
		{"too large", "/api/knowledge/recall", `{"query":"` + strings.Repeat("x", maxBody) + `"}`, nil, 413},
		{"too large, without a length", "/api/knowledge/recall", `{"query":"` + strings.Repeat("x", maxBody) + `"}`, func(r *http.Request) { r.ContentLength = -1 }, 413},
		{"too large for A2A", "/a2a", strings.Repeat(" ", maxBody+1), nil, 413},
		{"no JSON", "/api/knowledge/recall", `query=x`, nil, 400},
		{"half of it", "/api/knowledge/recall", `{"query":"x"`, nil, 400},
		{"two objects", "/api/knowledge/recall", `{"query":"x"}{}`, nil, 400},
		{"a list", "/api/knowledge/recall", `["x"]`, nil, 400},
		{"deeply nested", "/api/knowledge/recall", strings.Repeat(`{"query":`, 20000), nil, 400},
		{"deeply nested for MCP", "/mcp", strings.Repeat(`[`, 2<<20), nil, 400},
		{"deeply nested for A2A", "/a2a", strings.Repeat(`[`, 2<<20), nil, 400},
		{"another type", "/api/knowledge/recall", `{"query":"x"}`, text, 415},
		{"null", "/api/knowledge/recall", `null`, nil, 200},
		{"nothing", "/api/knowledge/status", ``, nil, 200},
		{"an argument of another type", "/api/knowledge/recall", `{"query":"x","limit":{"a":1}}`, nil, 400},
		{"no such tool", "/api/nosuch/recall", `{}`, nil, 404},
		{"no such action", "/api/knowledge/nosuch", `{}`, nil, 400},
		{"what is missing", "/api/knowledge/remember", `{"category":"a"}`, nil, 400},
		{"no such task", "/api/task/get", `{"task_id":"t-000000"}`, nil, 404},
		{"what needs confirmation", "/api/knowledge/remove", `{"category":"a","key":"b","erase":true}`, nil, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			if status, body := f.do(t, f.request(t, http.MethodPost, c.path, c.body, c.set)); status != c.status {
				t.Errorf("got %d %.200s, want %d", status, body, c.status)
			}
		})
	}
	if status, _ := f.get(t, "/api/knowledge/recall"); status != 405 {
		t.Errorf("GET: %d", status)
	}
}

// A body that does not come is given up, and so is a header.
func TestSlowClients(t *testing.T) {
	f := serve(t, nil)
	f.server.limits.body = 20 * time.Millisecond
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.server.limits.header = 20 * time.Millisecond
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.server.Serve(ctx, time.Minute, l) }()
	for name, sent := range map[string]string{
		"the body":   "POST /api/knowledge/recall HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + own + "\r\nContent-Length: 100\r\n\r\n{",
		"the header": "GET /projects HTTP/1.1\r\nHost: loc",
	} {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, sent); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(c) // until the server closes it
		if err != nil && !errors.Is(err, syscall.ECONNRESET) || strings.Contains(string(got), "200 OK") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		c.Close()
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A refusal does not wait for a body that does not come.
func TestRefusalsDoNotWaitForTheBody(t *testing.T) {
	f := serve(t, nil)
	f.server.limits.body = time.Hour
	chunk := fmt.Sprintf("%x\r\n%s\r\n", maxBody+1, strings.Repeat(" ", maxBody+1))
	for _, c := range []struct{ name, token, rest, status string }{
		{"too large by its length", own, "Content-Length: 4194305\r\n\r\n{", "413"},
		{"too large by what came", own, "Transfer-Encoding: chunked\r\n\r\n" + chunk, "413"},
		{"not chunked as it says", own, "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "400"},
		{"no such token", "wrong-wrong-wrong-wrong", "Content-Length: 100\r\n\r\n{", "401"},
	} {
		conn, err := net.Dial("tcp", f.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(time.Minute)) // so that it fails rather than hangs
		if _, err := fmt.Fprintf(conn, "POST /api/knowledge/recall HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s", c.token, c.rest); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || !strings.HasPrefix(answer.Status, c.status) || !answer.Close {
			t.Errorf("%s: %+v, %v", c.name, answer, err)
		}
	}
}

// No address leads to a file, or out of what its project and token allow.
func TestPathTraversal(t *testing.T) {
	f, _ := withFile(t)
	for _, path := range []string{
		"/p/../../../etc/passwd", "/p/%2e%2e/%2e%2e/etc/passwd", "/p/" + here + "/../" + there + "/api/task/list", "/p/" + here + "%2f..%2f" + there + "/api/task/list",
		"/p/" + there + "/api/task/list", "/p/" + strings.ToUpper("abcdefabcdefabcd") + "/", "/p/" + here + "/a2a/v1/tasks/..%2f..%2fetc", "/api/../../etc/passwd/x", "/api/..%2f..%2f/x", "/p//api/task/list",
		"/p/" + here + "\x00/", "/p/" + strings.Repeat("1", 5000) + "/",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			r := f.request(t, method, "/", "", bearer(writer))
			r.URL.Opaque = "//" + f.Listener.Addr().String() + strings.ReplaceAll(path, "\x00", "%00")
			status, body := f.do(t, r)
			if status < 300 || status >= 500 || strings.Contains(body, "root:") {
				t.Errorf("%s %.80s: %d %.200s", method, path, status, body)
			}
		}
	}
}

// The log tells who did what when, and nothing of what was said.
func TestTheLogHasNoContents(t *testing.T) {
	f := serve(t, nil)
	f.post(t, "/api/knowledge/remember", `{"category":"secretroom","key":"secretkey","value":"secretvalue"}`)
	f.post(t, "/api/knowledge/recall", `{"query":"secretquery"}`)
	f.get(t, "/facts/secretroom/secretkey?query=secretquery")
	f.get(t, "/p/"+here+"/facts/secretroom/secretkey")
	f.post(t, "/api/knowledge/secretaction", `{`)
	f.post(t, "/a2a", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"secretid","role":"ROLE_USER","parts":[{"text":"secrettext"}]},"configuration":{"returnImmediately":true}}}`)
	log := f.log.String()
	for _, want := range []string{"route=/api/knowledge/remember status=200", "route=/facts/…", "route=/p/" + here + "/facts/…", "method=POST"} {
		if !strings.Contains(log, want) {
			t.Errorf("no %q in the log", want)
		}
	}
	for _, kept := range []string{"secretroom", "secretkey", "secretvalue", "secretquery", "secretid", "secrettext", own} {
		if strings.Contains(log, kept) {
			t.Errorf("%q is in the log:\n%s", kept, log)
		}
	}
}

// What was taken in is answered, though the server is told to stop; streams end.
func TestShutdownAnswersWhatIsInFlight(t *testing.T) {
	begun, gate := make(chan bool, 1), make(chan bool)
	f := serve(t, nil)
	f.server.o.Tools = append(f.server.o.Tools, &op.Tool{Name: "ctx_slow", Command: "slow", Operations: []op.Operation{
		op.New("wait", "Wait.", op.Reads, func(context.Context, op.Scope, struct{}) (said, error) {
			begun <- true
			<-gate
			return "waited", nil
		}),
		op.New("also", "Also.", op.Reads, func(context.Context, op.Scope, struct{}) (said, error) { return "", nil }),
	}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.server.Serve(ctx, time.Minute, l) }()
	f.URL = "http://" + l.Addr().String()

	stream, err := http.DefaultTransport.RoundTrip(f.request(t, http.MethodGet, "/events", "", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	type answer struct {
		status int
		body   string
	}
	answers := make(chan answer, 1)
	go func() {
		status, body := f.post(t, "/api/slow/wait", `{"output":"text"}`)
		answers <- answer{status, body}
	}()
	<-begun
	stop()
	if _, err := io.ReadAll(stream.Body); err != nil { // it ends while the other one is still running
		t.Error(err)
	}
	close(gate)
	if a := <-answers; a.status != 200 || !strings.Contains(a.body, "waited") {
		t.Errorf("got %+v", a)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) { // its port may be another process's by now
		t.Errorf("it still listens: %v", err)
	}
}

type said string

func (s said) Text() string { return string(s) }

// A panic of an operation is one failed request.
func TestAPanicIsOneAnswer(t *testing.T) {
	f := serve(t, nil)
	f.server.o.Tools = append(f.server.o.Tools, &op.Tool{Name: "ctx_broken", Operations: []op.Operation{
		op.New("", "Panic.", op.Reads, func(context.Context, op.Scope, struct{}) (said, error) { panic("broken") }),
	}})
	if status, body := f.post(t, "/api/broken", "{}"); status != 500 || code(t, body) != "failed" {
		t.Errorf("got %d %s", status, body)
	}
	if status, _ := f.post(t, "/api/task/list", "{}"); status != 200 {
		t.Errorf("afterwards: %d", status)
	}
}

// A full disk is an answer that says so, and nothing of the write is left. Reads go on, and
// so do writes when there is room again.
func TestAFullDiskWhileServing(t *testing.T) {
	var mu sync.Mutex
	full := false
	f := serve(t, func(_ *Options, o *storeOptions) {
		o.tasks.Fault = func(op, _ string) error {
			mu.Lock()
			defer mu.Unlock()
			if full && op == "write" {
				return &os.PathError{Op: "write", Path: "tasks.journal", Err: syscall.ENOSPC}
			}
			return nil
		}
	})
	fill := func(is bool) { mu.Lock(); full = is; mu.Unlock() }
	create := func(title string) (int, string) { return f.post(t, "/api/task/create", `{"title":"`+title+`"}`) }
	if status, body := create("before"); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	fill(true)
	if status, body := create("during"); status != 507 || code(t, body) != "full" {
		t.Errorf("got %d %s", status, body)
	}
	if status, body := f.post(t, "/a2a", rpc("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"during"}]},"configuration":{"returnImmediately":true}}`)); status != 200 || !strings.Contains(body, "no space left") {
		t.Errorf("A2A: %d %s", status, body)
	}
	if status, body := f.post(t, "/api/task/list", `{}`); status != 200 || !strings.Contains(body, "before") || strings.Contains(body, "during") {
		t.Errorf("reading: %d %s", status, body)
	}
	fill(false)
	if status, body := create("after"); status != 200 {
		t.Errorf("afterwards: %d %s", status, body)
	}
}

// A thousand connections are served, and while they stay open a further one is, too.
func TestAThousandConnections(t *testing.T) {
	f := serve(t, nil)
	const clients = 1000
	open := make([]net.Conn, clients)
	var wg sync.WaitGroup
	for i := range clients {
		c, err := net.Dial("tcp", f.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		open[i] = c
	}
	for _, c := range open {
		wg.Go(func() {
			if _, err := fmt.Fprintf(c, "GET /projects HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", own); err != nil {
				t.Error(err)
				return
			}
			line, err := bufio.NewReader(c).ReadString('\n')
			if err != nil || !strings.Contains(line, "200 OK") {
				t.Errorf("%q, %v", line, err)
			}
		})
	}
	wg.Wait()
	if status, _ := f.get(t, "/projects"); status != 200 {
		t.Errorf("one more: %d", status)
	}
}

// A server for reading alone refuses the token that may do everything.
func TestReadOnly(t *testing.T) {
	f := serve(t, func(o *Options, _ *storeOptions) { o.ReadOnly = true })
	if status, body := f.post(t, "/api/task/create", `{"title":"x"}`); status != 403 || code(t, body) != "forbidden" {
		t.Errorf("create: %d %s", status, body)
	}
	if status, body := f.post(t, "/a2a", rpc("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]},"configuration":{"returnImmediately":true}}`)); !strings.Contains(body, "read-only") {
		t.Errorf("A2A: %d %s", status, body)
	}
	if status, _ := f.post(t, "/api/task/list", `{}`); status != 200 {
		t.Errorf("list: %d", status)
	}
}

// Whoever has no token is let in where the server is open, but never gets a file of the machine.
func TestOpen(t *testing.T) {
	f := serve(t, func(o *Options, _ *storeOptions) {
		var err error
		if o.Tokens, err = NewTokens(own, "", true, nil); err != nil {
			t.Fatal(err)
		}
	})
	bare := func(r *http.Request) { r.Header.Del("Authorization") }
	if status, body := f.do(t, f.request(t, http.MethodPost, "/api/task/create", `{"title":"x"}`, bare)); status != 200 {
		t.Errorf("create: %d %s", status, body)
	}
	file := filepath.Join(t.TempDir(), "out.json")
	if status, body := f.do(t, f.request(t, http.MethodPost, "/api/knowledge/export", fmt.Sprintf(`{"file":%q}`, file), bare)); status != 403 {
		t.Errorf("export: %d %s", status, body)
	}
	if status, body := f.do(t, f.request(t, http.MethodPost, "/api/task/list", `{}`, bearer("wrong-wrong-wrong-wrong"))); status != 401 {
		t.Errorf("a wrong token: %d %s", status, body)
	}
}
