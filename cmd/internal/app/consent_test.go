package app

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"leanctx/cmd/internal/config"
)

// The page says to the person what a repository brings and what waits, each with a button that does
// what lean-ctx sync and sync --yes do at a terminal. Another site's form, a program's token and
// somebody who reaches no files of this machine press neither.
func TestConsentAtThePage(t *testing.T) {
	dir := home(t)
	ours, theirs := filepath.Join(dir, "data"), filepath.Join(dir, "theirs")
	run := func(data string, args ...string) string {
		t.Helper()
		t.Setenv(config.DataDirVar, data)
		defer t.Setenv(config.DataDirVar, ours)
		code, out, errs := do(t, "", args...)
		if code != 0 {
			t.Fatalf("%q: %d %s%s", args, code, out, errs)
		}
		return out
	}
	run(theirs, "remember", "JWT RS256", "-c", "architecture", "-k", "auth")
	run(theirs, "remember", "PostgreSQL 16", "-c", "architecture", "-k", "db")
	run(theirs, "sync")
	tokens := filepath.Join(dir, "tokens.json")
	if err := os.WriteFile(tokens, []byte(`{"tokens":[{"name":"guest","token":"a-token-of-the-guest-1234567890abcdef","projects":["*"],"rights":"write"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serveHTTP(t, serveArgs{TokenFile: tokens})
	browse := func(token string) *http.Client {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		c := &http.Client{Jar: jar}
		s.get(t, c, "/?token="+token+"&host=shared")
		return c
	}
	me, guest := browse(s.code()), browse("a-token-of-the-guest-1234567890abcdef")
	press := func(c *http.Client, action, origin, bearer string, form url.Values) (int, string) {
		t.Helper()
		form.Set("back", "/doubts")
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/do/"+action, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		if bearer != "" {
			r.Header.Set("Authorization", "Bearer "+bearer)
		}
		answer, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body)
	}
	const brings = "This repository brings 2 facts"
	for path, c := range map[string]*http.Client{"/": me, "/doubts": me, "/health": me} {
		if page := s.get(t, c, path); !strings.Contains(page, brings) || !strings.Contains(page, `action="/do/take-in"`) {
			t.Errorf("%s does not say what the repository brings:\n%s", path, page)
		}
	}
	if page := s.get(t, guest, "/"); !strings.Contains(page, brings) || strings.Contains(page, "take-in") || !strings.Contains(page, "<code>lean-ctx sync</code>") {
		t.Errorf("the page of a guest:\n%s", page)
	}
	for name, refused := range map[string]func() (int, string){
		"another site":      func() (int, string) { return press(me, "take-in", "http://evil.example", "", url.Values{}) },
		"a program's token": func() (int, string) { return press(&http.Client{}, "take-in", "", s.token, url.Values{}) },
		"nobody":            func() (int, string) { return press(&http.Client{}, "take-in", "", "", url.Values{}) },
		"a guest":           func() (int, string) { return press(guest, "take-in", "", "", url.Values{}) },
	} {
		if code, body := refused(); code == http.StatusOK && !strings.Contains(body, "which this access does not reach") {
			t.Errorf("%s took it in: %d %s", name, code, body)
		}
	}
	if page := s.get(t, me, "/"); !strings.Contains(page, brings) {
		t.Fatalf("something was taken in:\n%s", page)
	}
	if code, page := press(me, "take-in", s.url, "", url.Values{}); code != http.StatusOK || !strings.Contains(page, "2 facts new") || strings.Contains(page, brings) {
		t.Errorf("%d:\n%s", code, page)
	}
	if out := run(ours, "wakeup"); !regexp.MustCompile(`auth=JWT RS256★+\?`).MatchString(out) {
		t.Error(out)
	}

	// What was confirmed here, a replica that is not trusted cannot erase: it waits.
	if code, page := press(me, "add", s.url, "", url.Values{"category": {"architecture"}, "key": {"auth"}, "value": {"JWT RS256"}}); code != http.StatusOK {
		t.Fatalf("%d:\n%s", code, page)
	}
	run(ours, "sync")
	run(theirs, "sync")
	run(theirs, "knowledge", "remove", "architecture", "auth", "--erase", "--yes")
	run(theirs, "sync")
	run(ours, "sync")
	page := s.get(t, me, "/doubts")
	for _, text := range []string{"Waiting from the repository", "[architecture/auth]", "would be erased", "Accept it", "lean-ctx sync trust "} {
		if !strings.Contains(page, text) {
			t.Errorf("%q is not at the page:\n%s", text, page)
		}
	}
	if !regexp.MustCompile(`from <code>[0-9a-f]{8}</code>`).MatchString(page) {
		t.Errorf("it does not say whose lines they are:\n%s", page)
	}
	if page := s.get(t, guest, "/doubts"); strings.Contains(page, "Waiting from the repository") {
		t.Errorf("the page of a guest:\n%s", page)
	}
	id := regexp.MustCompile(`name="id" value="([0-9a-f]+)"`).FindStringSubmatch(page)
	if id == nil {
		t.Fatal(page)
	}
	for origin, form := range map[string]url.Values{"http://evil.example": {"id": {id[1]}}, s.url: {"id": {"0123"}}} {
		if code, page := press(me, "accept", origin, "", form); code == http.StatusOK && !strings.Contains(page, "what waits has changed since") {
			t.Errorf("from %s: %d\n%s", origin, code, page)
		}
	}
	if out := run(ours, "recall", "auth"); !strings.Contains(out, "JWT") {
		t.Fatal(out)
	}
	if code, page := press(me, "accept", s.url, "", url.Values{"id": {id[1]}}); code != http.StatusOK || !strings.Contains(page, "Accepted what replicas") || strings.Contains(page, "Waiting from the repository") {
		t.Errorf("%d:\n%s", code, page)
	}
	if out := run(ours, "recall", "auth"); strings.Contains(out, "JWT") {
		t.Error(out)
	}
}

// get loads a view as a browser does.
func (a address) get(t *testing.T, c *http.Client, path string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v\n%s", path, answer.Status, err, body)
	}
	return string(body)
}
