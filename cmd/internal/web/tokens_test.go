package web

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	reader   = "token-of-the-reader"
	writer   = "token-of-the-writer"
	stranger = "token-of-the-stranger"
)

// named writes a file of named tokens.
func named(t *testing.T, path, tokens string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(`{"tokens":[`+tokens+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
}

func entry(name, token, projects, rights string) string {
	return fmt.Sprintf(`{"name":%q,"token":%q,"projects":[%q],"rights":%q}`, name, token, projects, rights)
}

// withFile serves with named tokens.
func withFile(t *testing.T) (*fixture, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens.json")
	named(t, path, entry("reader", reader, "*", "read")+","+entry("writer", writer, here, "write")+","+entry("stranger", stranger, there, "write"))
	return serve(t, func(o *Options, _ *storeOptions) {
		var err error
		if o.Tokens, err = NewTokens(own, path, false, o.Logger); err != nil {
			t.Fatal(err)
		}
	}), path
}

// Only a known token comes in, and only as far as its grant goes.
func TestWhoGetsIn(t *testing.T) {
	f, _ := withFile(t)
	const recall, remember = "/api/knowledge/recall", "/api/knowledge/remember"
	const fact, question = `{"category":"a","key":"b","value":"c"}`, `{"query":"c"}`
	for _, c := range []struct {
		name, header, path, body string
		status                   int
		code                     string
	}{
		{"no token", "", recall, question, 401, "unauthorized"},
		{"an empty token", "Bearer ", recall, question, 401, "unauthorized"},
		{"a wrong token", "Bearer wrong-wrong-wrong-wrong", recall, question, 401, "unauthorized"},
		{"the beginning of a token", "Bearer " + own[:10], recall, question, 401, "unauthorized"},
		{"another scheme", "Basic " + own, recall, question, 401, "unauthorized"},
		{"this machine's", "Bearer " + own, remember, fact, 200, ""},
		{"the scheme in lower case", "bearer " + own, recall, question, 200, ""},
		{"a reader reads", "Bearer " + reader, recall, question, 200, ""},
		{"a reader writes", "Bearer " + reader, remember, fact, 403, "forbidden"},
		{"a writer writes", "Bearer " + writer, remember, fact, 200, ""},
		{"a writer in its project by hash", "Bearer " + writer, "/p/" + here + remember, fact, 200, ""},
		{"a writer elsewhere", "Bearer " + writer, "/p/" + there + recall, question, 404, "not_found"},
		{"a stranger at home", "Bearer " + stranger, recall, question, 403, "forbidden"},
		{"a stranger in its own", "Bearer " + stranger, "/p/" + there + remember, fact, 200, ""},
		{"a project that is none", "Bearer " + own, "/p/3333333333333333" + recall, question, 404, "not_found"},
		{"a file of the machine", "Bearer " + writer, "/api/knowledge/export", `{"file":"/tmp/x"}`, 403, "forbidden"},
		{"no file of the machine", "Bearer " + writer, "/api/knowledge/export", `{}`, 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, body := f.do(t, f.request(t, http.MethodPost, c.path, c.body, func(r *http.Request) {
				r.Header.Del("Authorization")
				if c.header != "" {
					r.Header.Set("Authorization", c.header)
				}
			}))
			if status != c.status || c.code != "" && code(t, body) != c.code {
				t.Errorf("got %d %s, want %d %s", status, body, c.status, c.code)
			}
		})
	}
	if status, body := f.do(t, f.request(t, http.MethodGet, "/projects", "", bearer(stranger))); status != 200 || strings.Contains(body, here) || !strings.Contains(body, there) {
		t.Errorf("projects: %d %s", status, body)
	}
	for _, path := range []string{"/healthz"} {
		if status, _ := f.do(t, f.request(t, http.MethodGet, path, "", func(r *http.Request) { r.Header.Del("Authorization") })); status != 200 {
			t.Errorf("%s: %d without a token", path, status)
		}
	}
	for _, path := range []string{"/", "/projects", "/events", "/p/" + here + "/", "/.well-known/agent-card.json", "/a2a/v1/tasks"} {
		if status, _ := f.do(t, f.request(t, http.MethodGet, path, "", func(r *http.Request) { r.Header.Del("Authorization") })); status != 401 {
			t.Errorf("%s: %d without a token", path, status)
		}
	}
}

// A token that is taken out of the file is no good from then on, nor is a stream that was
// opened with it. A file that cannot be read has no tokens.
func TestRevokedToken(t *testing.T) {
	f, path := withFile(t)
	answer, err := http.DefaultTransport.RoundTrip(f.request(t, http.MethodGet, "/events", "", bearer(writer)))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	stream := bufio.NewReader(answer.Body)
	if line, err := stream.ReadString('\n'); err != nil || !strings.HasPrefix(line, "retry:") {
		t.Fatalf("%q, %v", line, err)
	}
	enters := func(token string) int {
		status, _ := f.do(t, f.request(t, http.MethodGet, "/projects", "", bearer(token)))
		return status
	}
	named(t, path, entry("reader", reader, "*", "read"))
	if got := []int{enters(writer), enters(reader), enters(own)}; got[0] != 401 || got[1] != 200 || got[2] != 200 {
		t.Errorf("after one was taken out: %v", got)
	}
	for err == nil {
		_, err = stream.ReadString('\n') // the test's timeout, if it does not end
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := []int{enters(reader), enters(own)}; got[0] != 401 || got[1] != 200 {
		t.Errorf("with a broken file: %v", got)
	}
	named(t, path, entry("reader", reader, "*", "write"))
	if status, body := f.do(t, f.request(t, http.MethodPost, "/api/task/create", `{"title":"x"}`, bearer(reader))); status != 200 {
		t.Errorf("with other rights: %d %s", status, body)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := enters(reader); got != 401 {
		t.Errorf("without a file: %d", got)
	}
}

// The file is watched also while nobody asks.
func TestTokensAreWatched(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	named(t, path, entry("writer", writer, here, "write"))
	tokens, err := NewTokens("", path, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	k := tokens.find(writer)
	go tokens.Watch(t.Context(), time.Millisecond)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	<-k.valid.Done()
}

// A withdrawal is seen whatever the file's size, time and identity say, as when it is written
// twice within a tick of the clock, or when a copy with its time takes its place.
func TestEveryWithdrawalIsSeen(t *testing.T) {
	dir := t.TempDir()
	path, at := filepath.Join(dir, "tokens.json"), time.Now().Add(-time.Hour)
	write := func(file, text string) {
		named(t, file, entry("ci", text, "*", "read"))
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	texts := []string{strings.Repeat("a", minToken), strings.Repeat("b", minToken), strings.Repeat("c", minToken)}
	write(path, texts[0])
	tokens, err := NewTokens("", path, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	first := tokens.find(texts[0])
	write(path, texts[1])
	if tokens.find(texts[0]) != nil || first.valid.Err() == nil || tokens.find(texts[1]) == nil {
		t.Error("in place: the former token is valid, or the new one is not")
	}
	other := filepath.Join(dir, "other.json")
	write(other, texts[2])
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if tokens.find(texts[1]) != nil || tokens.find(texts[2]) == nil {
		t.Error("by a rename: the former token is valid, or the new one is not")
	}
}

func TestBadTokenFiles(t *testing.T) {
	for want, text := range map[string]string{
		"must be JSON":                   `{"tokens":`,
		`"name" is missing`:              `{"tokens":[{"token":"0123456789abcdef","projects":["*"],"rights":"read"}]}`,
		"at least 16 characters":         `{"tokens":[{"name":"a","token":"short","projects":["*"],"rights":"read"}]}`,
		`"projects" must list`:           `{"tokens":[{"name":"a","token":"0123456789abcdef","rights":"read"}]}`,
		`"../x" is no project`:           `{"tokens":[{"name":"a","token":"0123456789abcdef","projects":["../x"],"rights":"read"}]}`,
		`"rights" must be`:               `{"tokens":[{"name":"a","token":"0123456789abcdef","projects":["*"],"rights":"all"}]}`,
		"another one has the same name":  `{"tokens":[{"name":"a","token":"0123456789abcdef","projects":["*"],"rights":"read"},{"name":"a","token":"0123456789abcdeX","projects":["*"],"rights":"read"}]}`,
		"more than 1048576 bytes":        strings.Repeat(" ", 1<<20+1),
		"another one has the same name ": `{"tokens":[{"name":"a","token":"0123456789abcdef","projects":["*"],"rights":"read"},{"name":"b","token":"0123456789abcdef","projects":["*"],"rights":"read"}]}`,
	} {
		path := filepath.Join(t.TempDir(), "tokens.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := NewTokens("", path, false, nil); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	path := filepath.Join(t.TempDir(), "tokens.json")
	named(t, path, entry("a", reader, "*", "read"))
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := NewTokens("", path, false, nil); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others can read: %v", err)
	}
}

// Servers that start at once agree on one token, in a file for the user alone.
func TestOneTokenForAllServers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	var wg sync.WaitGroup
	got := make([]string, 8)
	for i := range got {
		wg.Go(func() {
			var err error
			if got[i], err = OwnToken(dir); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, g := range got {
		if g != got[0] || len(g) < minToken {
			t.Fatalf("tokens %q", got)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("files %v, %v", left, err)
	}
	info, err := os.Stat(filepath.Join(dir, ownTokenName))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(filepath.Join(dir, ownTokenName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OwnToken(dir); err == nil || !strings.Contains(err.Error(), "holds no token") {
		t.Errorf("an empty file: %v", err)
	}
}
