package web

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"leanctx/cmd/internal/op"
	"leanctx/knowledge"
	"leanctx/tasks"
)

// Two projects, and the token of this machine.
const (
	here  = "1111111111111111"
	there = "2222222222222222"
	own   = "the-token-of-this-machine"
)

// fixture is a server over two projects with real stores.
type fixture struct {
	*httptest.Server
	server *Server
	log    *lines
	tasks  map[string]*tasks.Store // by project root
}

// storeOptions are the options of a fixture's stores.
type storeOptions struct {
	tasks tasks.Options
	facts knowledge.Options
}

// lines collects a log.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// serve starts a server. change may change its options and the options of its stores.
func serve(t testing.TB, change func(*Options, *storeOptions)) *fixture {
	t.Helper()
	f := &fixture{log: new(lines), tasks: map[string]*tasks.Store{}}
	tokens, err := NewTokens(own, "", false, nil)
	if err != nil {
		t.Fatal(err)
	}
	projects := []Project{{Hash: here, Name: "here", Root: t.TempDir()}, {Hash: there, Name: "there", Root: t.TempDir()}}
	o := Options{
		Version: "test", Own: projects[0], Tokens: tokens, Loopback: true,
		Projects: func(context.Context) ([]Project, error) { return projects, nil },
		Logger:   slog.New(slog.NewTextHandler(f.log, nil)),
	}
	var other storeOptions
	if change != nil {
		change(&o, &other)
	}
	facts := map[string]*knowledge.Store{}
	for _, p := range projects {
		taskOptions, factOptions := other.tasks, other.facts
		taskOptions.ProjectHash, factOptions.ProjectHash, factOptions.ProjectRoot = p.Hash, p.Hash, p.Root
		if f.tasks[p.Root], err = tasks.Open(filepath.Join(p.Root, "agents"), &taskOptions); err != nil {
			t.Fatal(err)
		}
		if facts[p.Root], err = knowledge.Open(filepath.Join(p.Root, "facts"), &factOptions); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.tasks[p.Root].Close(); _ = facts[p.Root].Close() })
	}
	stores := op.Stores{
		Knowledge: func(_ context.Context, sc op.Scope) (*knowledge.Store, error) { return facts[sc.Project], nil },
		Tasks: func(_ context.Context, sc op.Scope) (*tasks.Store, error) {
			return f.tasks[sc.Project].As(tasks.Actor{Client: sc.Caller.Name}), nil
		},
	}
	o.Tools, o.Tasks = slices.Concat(op.All(stores)[:2], []*op.Tool{op.Task(stores)}), stores.Tasks
	if o.Watch == nil {
		o.Watch = func(ctx context.Context, p Project) (Poll, error) {
			last, err := f.tasks[p.Root].Revision(ctx)
			return func(ctx context.Context) (list []Event, err error) {
				now, err := f.tasks[p.Root].Revision(ctx)
				if now != last {
					last, list = now, []Event{{"task", now}}
				}
				return list, err
			}, err
		}
	}
	f.server = New(o)
	f.server.limits.poll = 2 * time.Millisecond
	f.Server = httptest.NewServer(f.server)
	t.Cleanup(func() { f.server.close(); f.Server.Close(); f.server.Close() })
	return f
}

// request makes a request with the token of this machine; set changes it.
func (f *fixture) request(t testing.TB, method, path, body string, set func(*http.Request)) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, f.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body == "" {
		r.Body = nil
	}
	r.Header.Set("Authorization", "Bearer "+own)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", "1.0")
	if set != nil {
		set(r)
	}
	return r
}

// do is the status and body of an answer. It follows no redirect.
func (f *fixture) do(t testing.TB, r *http.Request) (int, string) {
	t.Helper()
	answer, err := http.DefaultTransport.RoundTrip(r)
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

func (f *fixture) get(t testing.TB, path string) (int, string) {
	t.Helper()
	return f.do(t, f.request(t, http.MethodGet, path, "", nil))
}

func (f *fixture) post(t testing.TB, path, body string) (int, string) {
	t.Helper()
	return f.do(t, f.request(t, http.MethodPost, path, body, nil))
}

// bearer is a token of its own.
func bearer(token string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
}

// code is the word for programs in an error.
func code(t *testing.T, body string) string {
	t.Helper()
	var e errorBody
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		t.Fatalf("%q: %v", body, err)
	}
	return e.Error.Code
}
