package web

import (
	"bufio"
	"crypto/sha256"
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

// The token of a project reaches that project alone, and logs nobody in.
func TestTokenOfOneProject(t *testing.T) {
	f := serve(t, nil)
	sum := sha256.Sum256([]byte(own))
	at, other := projectToken(sum, here), projectToken(sum, there)
	if at == other || at == own {
		t.Fatal("tokens are equal")
	}
	for _, c := range []struct {
		token, path string
		status      int
	}{
		{at, "/api/knowledge/rooms", 200},
		{at, "/p/" + here + "/api/knowledge/rooms", 200},
		{at, "/p/" + there + "/api/knowledge/rooms", 401},
		{other, "/p/" + there + "/api/knowledge/rooms", 200},
		{other, "/api/knowledge/rooms", 401},
		{other, "/p/" + here + "/api/knowledge/rooms", 401},
		{projectToken(sum, "x"), "/p/x/api/knowledge/rooms", 401},
	} {
		r := f.request(t, http.MethodPost, "/", "{}", bearer(c.token))
		r.URL.Path = c.path
		if status, body := f.do(t, r); status != c.status {
			t.Errorf("%s with the token of here %v: got %d %s, want %d", c.path, c.token == at, status, body, c.status)
		}
	}
	if status, _ := f.do(t, f.request(t, http.MethodGet, "/?token="+at, "", func(r *http.Request) { r.Header.Del("Authorization") })); status != 401 {
		t.Errorf("in the address: %d", status)
	}
	if status, body := f.do(t, f.request(t, http.MethodGet, "/projects", "", bearer(at))); status != 200 || strings.Contains(body, there) {
		t.Errorf("projects: %d %s", status, body)
	}
}

// The token comes once in the address, and stays in a cookie that no script and no other
// site can use.
func TestTheAddressLogsIn(t *testing.T) {
	f := serve(t, nil)
	bare := func(r *http.Request) { r.Header.Del("Authorization") }
	answer, err := http.DefaultTransport.RoundTrip(f.request(t, http.MethodGet, "/projects?token="+own+"&x=1", "", bare))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "/projects?x=1" {
		t.Fatalf("got %s to %q", answer.Status, answer.Header.Get("Location"))
	}
	cookies := answer.Cookies()
	if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode || cookies[0].Path != "/" {
		t.Fatalf("cookies %v", cookies)
	}
	if status, body := f.do(t, f.request(t, http.MethodGet, "/projects", "", func(r *http.Request) { bare(r); r.AddCookie(cookies[0]) })); status != 200 {
		t.Errorf("with the cookie: %d %s", status, body)
	}
	if status, _ := f.do(t, f.request(t, http.MethodGet, "/?token=wrong-wrong-wrong-wrong", "", nil)); status != 401 {
		t.Errorf("a wrong token in the address: %d", status)
	}
	r := f.request(t, http.MethodGet, "/?token="+own, "", bare)
	r.URL.Path = "//evil.example/"
	answer, err = http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if to := answer.Header.Get("Location"); strings.HasPrefix(to, "//") || strings.Contains(to, "://") {
		t.Errorf("it leads to another site: %s", to)
	}
	if log := f.log.String(); strings.Contains(log, own) {
		t.Errorf("the log has the token:\n%s", log)
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
	k := tokens.find(writer, here)
	go tokens.Watch(t.Context(), time.Millisecond)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	<-k.valid.Done()
}

// A file of the same size and time that takes the place of the former one is read too, as a copy
// of a kept file is. On Windows both may pass for one file.
func TestAReplacedTokenFileIsRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file's identity is asked for by its name")
	}
	dir := t.TempDir()
	path, other, at := filepath.Join(dir, "tokens.json"), filepath.Join(dir, "other.json"), time.Now().Add(-time.Hour)
	for file, text := range map[string]string{path: strings.Repeat("a", minToken), other: strings.Repeat("b", minToken)} {
		named(t, file, entry("ci", text, "*", "read"))
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	tokens, err := NewTokens("", path, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if tokens.find(strings.Repeat("a", minToken), here) != nil || tokens.find(strings.Repeat("b", minToken), here) == nil {
		t.Error("the former file's token is valid, and the new one's is not")
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
