package web

import (
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// logInAs opens the page's address with a token and gives the cookie.
func (f *fixture) logInAs(t *testing.T, token string) *http.Cookie {
	t.Helper()
	answer, err := http.DefaultTransport.RoundTrip(f.request(t, http.MethodGet, "/?token="+token+"&x=1", "", bare))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	cookies := answer.Cookies()
	if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "/?x=1" || len(cookies) != 1 {
		t.Fatalf("got %s to %q, cookies %v", answer.Status, answer.Header.Get("Location"), cookies)
	}
	return cookies[0]
}

// shared is what a person adds to the address who wants the buttons at a name that other servers share.
const shared = "&host=shared"

// bare takes the token away.
func bare(r *http.Request) { r.Header.Del("Authorization") }

// with sends a cookie and nothing else.
func with(c *http.Cookie) func(*http.Request) {
	return func(r *http.Request) { bare(r); r.AddCookie(c) }
}

// visit asks for the page with a cookie, and gives the cookies of the answer.
func (f *fixture) visit(t *testing.T, path string, c *http.Cookie) (int, []*http.Cookie) {
	t.Helper()
	answer, err := http.DefaultTransport.RoundTrip(f.request(t, http.MethodGet, path, "", with(c)))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode, answer.Cookies()
}

// The token comes once in the address. The browser gets a session id instead, which no script
// and no other site can use, and which does not tell the token.
func TestTheAddressLogsIn(t *testing.T) {
	f := serve(t, nil)
	c := f.logInAs(t, own)
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || strings.Contains(c.Value, own) || c.MaxAge != 12*60*60 {
		t.Fatalf("cookie %v", c)
	}
	if status, _ := f.visit(t, "/", c); status != 200 {
		t.Errorf("with the cookie: %d", status)
	}
	if status, _ := f.do(t, f.request(t, http.MethodGet, "/?token=wrong-wrong-wrong-wrong", "", nil)); status != 401 {
		t.Errorf("a wrong token in the address: %d", status)
	}
	if status, _ := f.do(t, f.request(t, http.MethodGet, "/?token="+c.Value, "", nil)); status != 401 {
		t.Errorf("a session id in the address: %d", status)
	}
	person := f.request(t, http.MethodGet, "/facts/a/b", "", bare)
	person.Header.Set("Accept", "text/html,application/xhtml+xml")
	if status, text := f.do(t, person); status != 401 || !strings.Contains(text, "<h1>This browser is not logged in</h1>") || !strings.Contains(text, "lean-ctx serve") {
		t.Errorf("a browser without a session: %d %s", status, text)
	}
	r := f.request(t, http.MethodGet, "/?token="+own, "", bare)
	r.URL.Path = "//evil.example/"
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if to := answer.Header.Get("Location"); strings.HasPrefix(to, "//") || strings.Contains(to, "://") {
		t.Errorf("it leads to another site: %s", to)
	}
	if log := f.log.String(); strings.Contains(log, own) || strings.Contains(log, c.Value) {
		t.Errorf("the log has the token or the session:\n%s", log)
	}
}

// A session id is good for the page alone: another server on the same host name gets it too.
func TestASessionIsGoodForThePageAlone(t *testing.T) {
	f := serve(t, func(o *Options, _ *storeOptions) {
		o.MCP = func(Project) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200) })
		}
	})
	c := f.logInAs(t, own)
	for _, prefix := range []string{"", "/p/" + here, "/p/" + there} {
		for _, page := range []string{"/", "/doubts", "/agents", "/facts/", "/health", "/page/page.css", "/events"} {
			if status, _ := f.visit(t, prefix+page, c); status == 401 {
				t.Errorf("%s: %d with a session", prefix+page, status)
			}
		}
		for _, call := range [][2]string{
			{"POST", "/api/knowledge/recall"}, {"POST", "/api/overview"}, {"GET", "/api/"}, {"POST", "/%61pi/knowledge/recall"}, {"POST", "/mcp"}, {"GET", "/mcp"}, {"DELETE", "/mcp"},
			{"POST", "/a2a"}, {"GET", "/a2a/v1/tasks"}, {"POST", "/a2a/v1/message:send"}, {"GET", "/.well-known/agent-card.json"},
		} {
			for name, set := range map[string]func(*http.Request){
				"as the cookie": with(c), "as Bearer": bearer(c.Value), "as both": func(r *http.Request) { bearer(c.Value)(r); r.AddCookie(c) },
			} {
				if status, body := f.do(t, f.request(t, call[0], prefix+call[1], `{"query":"x"}`, set)); status != 401 {
					t.Errorf("%s %s %s: %d %s", call, prefix, name, status, body)
				}
			}
		}
		if status, _ := f.do(t, f.request(t, "GET", prefix+"/", "", bearer(c.Value))); status != 401 {
			t.Errorf("the page by a session as Bearer: %d", status)
		}
	}
	if status, _ := f.visit(t, "/projects", c); status != 401 {
		t.Errorf("/projects: %d", status)
	}
}

// A session lives twelve hours from its last use, also over a restart of the server, and not
// an hour longer. Nothing about it can be changed.
func TestASessionEnds(t *testing.T) {
	f := serve(t, nil)
	at := time.Now()
	f.server.now = func() time.Time { return at }
	c := f.logInAs(t, own)
	if _, again := f.visit(t, "/", c); len(again) != 0 {
		t.Errorf("renewed at once: %v", again)
	}
	for range 4 {
		at = at.Add(11 * time.Hour)
		tokens, err := NewTokens(own, "", false, nil) // as after a restart
		if err != nil {
			t.Fatal(err)
		}
		f.server.o.Tokens = tokens
		status, again := f.visit(t, "/", c)
		if status != 200 || len(again) != 1 || again[0].Name != c.Name {
			t.Fatalf("within twelve hours of its last use: %d, %v", status, again)
		}
		c = again[0]
	}
	for _, forged := range []string{
		"", ".", "..", "...", "x.y.z", strings.ToUpper(c.Value), c.Value + "0", c.Value[1:], strings.Replace(c.Value, ".", ".7", 1), own, "..." + c.Value,
		strings.Join([]string{"a", strings.Split(c.Value, ".")[1], strings.Split(c.Value, ".")[2]}, "."),
	} {
		if status, _ := f.visit(t, "/", &http.Cookie{Name: c.Name, Value: forged}); status != 401 {
			t.Errorf("forged %q: %d", forged, status)
		}
	}
	at = at.Add(12*time.Hour + time.Second)
	if status, again := f.visit(t, "/", c); status != 401 || len(again) != 0 {
		t.Errorf("after twelve hours: %d, %v", status, again)
	}
}

// No token presses the page's buttons, which speak as a person.
func TestTheButtonsAreForPeople(t *testing.T) {
	f, _ := withFile(t)
	for _, text := range []string{own, writer, projectToken(newToken(token{Token: own}, nil), here)} {
		form := func(r *http.Request) {
			bearer(text)(r)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		for _, action := range []string{"add", "change", "remove", "pin", "judge"} {
			if status, body := f.do(t, f.request(t, http.MethodPost, "/p/"+here+"/do/"+action, "category=a&key=b&value=c", form)); status != 403 || !strings.Contains(body, "for people") {
				t.Errorf("%s: %d %.200s", action, status, body)
			}
		}
	}
}

// Nor does a session of a named token, however much it may write, nor who comes without one to an open
// server. A session that a code began does.
func TestTheButtonsAreForTheUser(t *testing.T) {
	f, _ := withFile(t)
	press := func(f *fixture, set func(*http.Request)) (int, string) {
		return f.do(t, f.request(t, http.MethodPost, "/do/remember", "category=a&key=b&value=c", func(r *http.Request) {
			if set != nil {
				set(r)
			}
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}))
	}
	if status, body := press(f, with(f.logInAs(t, writer))); status != 403 || !strings.Contains(body, "for people") {
		t.Errorf("a named token: %d %.200s", status, body)
	}
	if status, body := press(f, with(f.logInAs(t, own))); status != 403 || !strings.Contains(body, "for people") {
		t.Errorf("the token of this machine, which each program can read: %d %.200s", status, body)
	}
	if status, body := press(f, with(f.logInAs(t, f.server.Code()+shared))); status == 403 {
		t.Errorf("the user: %d %.200s", status, body)
	}
	opened, err := NewTokens(own, "", true, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.server.o.Tokens = opened
	if status, body := press(f, nil); status != 403 || !strings.Contains(body, "for people") {
		t.Errorf("nobody: %d %.200s", status, body)
	}
	if status, body := press(f, with(f.logInAs(t, f.server.Code()+shared))); status == 403 {
		t.Errorf("the user of an open server: %d %.200s", status, body)
	}
}

// At a name that other servers share, the buttons are off until the person asks for them: a stranger can take the page's own
// name away by listening at its port first.
func TestTheButtonsAreOffAtASharedName(t *testing.T) {
	f := serve(t, nil)
	press := func(c *http.Cookie) int {
		status, _ := f.do(t, f.request(t, http.MethodPost, "/do/remember", "category=a&key=b&value=c", func(r *http.Request) {
			with(c)(r)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}))
		return status
	}
	c := f.logInAs(t, f.server.Code())
	if status, _ := f.visit(t, "/", c); status != 200 {
		t.Errorf("the page: %d", status)
	}
	if status := press(c); status != 403 {
		t.Errorf("its buttons: %d", status)
	}
	if status := press(f.logInAs(t, f.server.Code()+shared)); status == 403 {
		t.Errorf("where the person wants them: %d", status)
	}
}

// A session ends with the token that it was opened with, and reaches no more than that token.
func TestASessionIsItsTokens(t *testing.T) {
	f, path := withFile(t)
	c := f.logInAs(t, reader)
	if status, _ := f.visit(t, "/", c); status != 200 {
		t.Fatalf("%d", status)
	}
	form := func(r *http.Request) { with(c)(r); r.Header.Set("Content-Type", "application/x-www-form-urlencoded") }
	if status, body := f.do(t, f.request(t, http.MethodPost, "/do/remember", "category=a&key=b&value=c", form)); status != 403 {
		t.Errorf("a reader writes: %d %.200s", status, body)
	}
	named(t, path, entry("writer", writer, "*", "write"))
	if status, _ := f.visit(t, "/", c); status != 401 {
		t.Errorf("its token was withdrawn: %d", status)
	}
}

// The cookie of former versions held the token. It is no good, and is taken away.
func TestTheFormerCookieIsTakenAway(t *testing.T) {
	f := serve(t, nil)
	_, port, _ := splitHost(f.Listener.Addr().String())
	status, cookies := f.visit(t, "/", &http.Cookie{Name: "lean-ctx-" + port, Value: own})
	if status != 401 || len(cookies) != 1 || cookies[0].Name != "lean-ctx-"+port || cookies[0].MaxAge >= 0 {
		t.Errorf("got %d, %v", status, cookies)
	}
}

// The code of a printed address logs a browser in at its server. It is no token, and no other
// server knows it.
func TestTheCodeOfAnAddress(t *testing.T) {
	f, other := serve(t, nil), serve(t, nil)
	told := make(chan bool, 2)
	f.server.OnNextCode(func() { told <- true })
	code := f.server.Code()
	c := f.logInAs(t, code)
	if c.Value == "" || strings.Contains(c.Value, code) {
		t.Errorf("cookie %v", c)
	}
	// It logs one browser in. Another needs the next one.
	if status, text := f.do(t, f.request(t, http.MethodGet, "/?token="+code, "", bare)); status != 401 || !strings.Contains(text, "each logs in once") {
		t.Errorf("a second login: %d %s", status, text)
	}
	if status, _ := f.visit(t, "/?token="+code, c); status == 401 {
		t.Error("the same browser opens its address again")
	}
	<-told
	next := f.server.Code()
	if c := f.logInAs(t, next); c.Value == "" {
		t.Error("the next code logs nobody in")
	}
	code = f.server.Code()
	f.server.o.Tokens.codeMade = time.Now().Add(-codeLasts - time.Second)
	if status, _ := f.do(t, f.request(t, http.MethodGet, "/?token="+code, "", bare)); status != 401 || f.server.Code() == code {
		t.Errorf("%d: a code of long ago logs in, or no other takes its place", status)
	}
	code = f.server.Code()
	for _, path := range []string{"/", "/projects", "/events"} {
		if status, _ := f.do(t, f.request(t, http.MethodGet, path, "", bearer(code))); status != 401 {
			t.Errorf("as a token at %s: %d", path, status)
		}
	}
	if status, _ := f.do(t, f.request(t, http.MethodPost, "/api/recall/recall", `{"query":"x"}`, bearer(code))); status != 401 {
		t.Errorf("as a token at /api: %d", status)
	}
	if status, _ := other.do(t, other.request(t, http.MethodGet, "/?token="+code, "", bare)); status != 401 {
		t.Errorf("at another server: %d", status)
	}
	if log := f.log.String(); strings.Contains(log, code) {
		t.Errorf("the log has it:\n%s", log)
	}
}

// A project's own token is good for that project alone, and ends with the token of the machine.
func TestTheTokenOfAProject(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	text, err := ProjectToken(dir, here)
	if err != nil {
		t.Fatal(err)
	}
	machine, err := OwnToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	f := serve(t, func(o *Options, _ *storeOptions) { o.Tokens, _ = NewTokens(machine, "", false, nil) })
	const recall = "/api/knowledge/recall"
	for _, c := range []struct {
		name, token, path string
		status            int
	}{
		{"its project", text, "/p/" + here + recall, 200}, {"its project at /", text, recall, 200},
		{"another", text, "/p/" + there + recall, 404}, {"a forged one for another", there + text[16:], "/p/" + there + recall, 401},
		{"cut", text[:20], recall, 401}, {"the hash alone", here, recall, 401}, {"with an empty rest", here + "-", recall, 401},
	} {
		if status, body := f.do(t, f.request(t, http.MethodPost, c.path, `{"query":"x"}`, bearer(c.token))); status != c.status {
			t.Errorf("%s: %d %s", c.name, status, body)
		}
	}
	if status, _ := f.do(t, f.request(t, http.MethodGet, "/?token="+text, "", bare)); status != 401 {
		t.Errorf("it logs in: %d", status)
	}
	if status, body := f.do(t, f.request(t, http.MethodGet, "/projects", "", bearer(text))); status != 200 || strings.Contains(body, there) {
		t.Errorf("projects: %d %s", status, body)
	}
	if strings.Contains(text, machine) {
		t.Error("it tells the machine's token")
	}
	for _, hash := range []string{"", "../../etc/passwd", strings.ToUpper("abcdefabcdefabcd"), "*"} {
		if _, err := ProjectToken(dir, hash); err == nil {
			t.Errorf("%q has a token", hash)
		}
	}
	other, _ := ProjectToken(filepath.Join(t.TempDir(), "data"), here)
	if other == text {
		t.Error("another machine's is the same")
	}
}

// at makes a request for one of the server's names, without a token.
func (f *fixture) at(t *testing.T, host, path string, c *http.Cookie) *http.Response {
	t.Helper()
	r := f.request(t, http.MethodGet, path, "", bare)
	_, port, _ := splitHost(f.Listener.Addr().String())
	r.Host = host + ":" + port
	if c != nil {
		r.AddCookie(c)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer
}

// A printed address is seen by other users: it stands in the arguments of the browser's process. It leads to a host name that
// nobody knows, and only there is a cookie given and taken.
func TestThePageHasAHostNameOfItsOwn(t *testing.T) {
	f := serve(t, nil)
	now := time.Now()
	f.server.now = func() time.Time { return now }
	f.server.OwnHosts()
	lead := func() (host, path string) {
		answer := f.at(t, "127.0.0.1", "/facts/?token="+f.server.Code()+"&x=1", nil)
		to, err := answer.Location()
		if err != nil || answer.StatusCode != http.StatusSeeOther || len(answer.Cookies()) != 0 {
			t.Fatalf("%s, %v, cookies %v", answer.Status, err, answer.Cookies())
		}
		host, _, _ = splitHost(to.Host)
		if !regexp.MustCompile(`^[0-9a-f]{16}\.localhost$`).MatchString(host) {
			t.Fatalf("it leads to %s", to)
		}
		return host, to.RequestURI()
	}
	host, path := lead()
	other, _ := lead()
	if host == other {
		t.Errorf("two logins have one name: %s", host)
	}
	for _, wrong := range []string{other, "127.0.0.1", "localhost"} {
		if answer := f.at(t, wrong, path, nil); answer.StatusCode != 401 || len(answer.Cookies()) != 0 {
			t.Errorf("its code at %s: %s", wrong, answer.Status)
		}
	}
	answer := f.at(t, host, path, nil)
	if answer.StatusCode != 200 || len(answer.Cookies()) != 1 {
		t.Fatalf("at the name: %s, cookies %v", answer.Status, answer.Cookies())
	}
	c := answer.Cookies()[0]
	if again := f.at(t, host, path, nil); again.StatusCode != 401 {
		t.Errorf("its code once more: %s", again.Status)
	}
	if answer := f.at(t, host, "/", c); answer.StatusCode != 200 {
		t.Errorf("with the cookie: %s", answer.Status)
	}
	for _, wrong := range []string{other, "127.0.0.1", "localhost"} {
		if answer := f.at(t, wrong, "/", c); answer.StatusCode != 401 {
			t.Errorf("the cookie at %s: %s", wrong, answer.Status)
		}
	}
	for _, foreign := range []string{"0123456789abcdef.localhost", "x.localhost", host[1:], "a" + host, strings.ToUpper(host[:1]) + "." + host} {
		if answer := f.at(t, foreign, "/", c); answer.StatusCode != 403 {
			t.Errorf("%s is a name of this server: %s", foreign, answer.Status)
		}
	}
	host, path = lead()
	now = now.Add(handOverLasts)
	if answer := f.at(t, host, path, nil); answer.StatusCode != 401 {
		t.Errorf("a minute later: %s", answer.Status)
	}
	// Where the browser finds no name below localhost.
	if answer := f.at(t, "127.0.0.1", "/?token="+f.server.Code()+"&host=shared", nil); answer.StatusCode != 303 || answer.Header.Get("Location") != "/" || len(answer.Cookies()) != 1 {
		t.Errorf("a shared name: %s to %q", answer.Status, answer.Header.Get("Location"))
	}
}

// The page asks for the code, in a form: an address is seen by other users of the machine.
func TestThePageAsksForTheCode(t *testing.T) {
	f := serve(t, nil)
	f.server.OwnHosts()
	person := f.request(t, http.MethodGet, "/facts/a/b?x=1&token=nonsense&host=shared", "", bare)
	person.Header.Set("Accept", "text/html")
	status, text := f.do(t, person)
	if status != 401 || !strings.Contains(text, `<form method="post" action="/login">`) || !strings.Contains(text, `name="to" value="/facts/a/b?x=1"`) || !strings.Contains(text, `name="host" value="shared"`) {
		t.Fatalf("%d %s", status, text)
	}
	give := func(code, to, host string) *http.Response {
		r := f.request(t, http.MethodPost, "/login", url.Values{"code": {code}, "to": {to}, "host": {host}}.Encode(), bare)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Accept", "text/html")
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer
	}
	code := f.server.Code()
	if answer := give("AAAA-AAAA-AAAA", "/", ""); answer.StatusCode != 401 || len(answer.Cookies()) != 0 {
		t.Errorf("a wrong code: %s", answer.Status)
	}
	if answer := give(" "+strings.ToLower(code)+" ", "/facts/a/b?x=1", ""); answer.StatusCode != 303 || !regexp.MustCompile(`^http://[0-9a-f]{16}\.localhost:\d+/facts/a/b\?token=[A-Z2-7]+&x=1$`).MatchString(answer.Header.Get("Location")) {
		t.Errorf("the code: %s to %q", answer.Status, answer.Header.Get("Location"))
	}
	if answer := give(code, "/", ""); answer.StatusCode != 401 {
		t.Errorf("the code once more: %s", answer.Status)
	}
	for _, to := range []string{"//evil.example/", "http://evil.example/", "\\\\evil.example", "/\\evil.example", "", "javascript:alert(1)"} {
		answer := give(f.server.Code(), to, "shared")
		if at, err := answer.Location(); err != nil || at.Host != f.Listener.Addr().String() || len(answer.Cookies()) != 1 {
			t.Errorf("to %q: %s, %v", to, answer.Header.Get("Location"), answer.Cookies())
		}
	}
	huge := f.request(t, http.MethodPost, "/login", "code="+strings.Repeat("a", maxLogin), bare)
	huge.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if status, _ := f.do(t, huge); status != 401 {
		t.Errorf("a form that is too long: %d", status)
	}
	foreign := f.request(t, http.MethodPost, "/login", "code="+f.server.Code(), bare)
	foreign.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	foreign.Header.Set("Origin", "http://evil.example")
	if status, _ := f.do(t, foreign); status != 403 {
		t.Errorf("another site's form: %d", status)
	}
	if log := f.log.String(); strings.Contains(log, code) {
		t.Errorf("the log has the code:\n%s", log)
	}
}

// Who can read the token's file can read the page, and no more: the buttons speak as the person who saw the code of this start.
func TestTheFileOfTheTokenMakesNoPerson(t *testing.T) {
	f := serve(t, nil)
	press := func(c *http.Cookie) int {
		status, _ := f.do(t, f.request(t, http.MethodPost, "/do/remember", "category=a&key=b&value=c", func(r *http.Request) {
			with(c)(r)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}))
		return status
	}
	c := f.logInAs(t, f.server.Code()+shared)
	if status := press(c); status == 403 {
		t.Fatalf("the person: %d", status)
	}
	thief, err := NewTokens(own, "", false, nil) // it is all made of the file, but for what a running server knows
	if err != nil {
		t.Fatal(err)
	}
	forged := &http.Cookie{Name: c.Name, Value: thief.newSession(thief.own, "127.0.0.1", "p-AAAA", true, time.Now())}
	if status := press(forged); status != 403 {
		t.Errorf("who read the token: %d", status)
	}
	parts := strings.Split(c.Value, ".")
	for name, value := range map[string]string{
		"another's signature": strings.Join(append(strings.Split(forged.Value, ".")[:3:3], parts[3]), "."),
		"a later end":         strings.Join([]string{parts[0], strings.Split(forged.Value, ".")[1] + "0", parts[2], parts[3]}, "."),
	} {
		if status := press(&http.Cookie{Name: c.Name, Value: value}); status != 403 && status != 401 {
			t.Errorf("%s: %d", name, status)
		}
	}
	if f.server.o.Tokens, err = NewTokens(own, "", false, nil); err != nil {
		t.Fatal(err)
	}
	if status, _ := f.visit(t, "/", c); status != 200 {
		t.Errorf("after a restart the page is there: %d", status)
	}
	if status := press(c); status != 403 {
		t.Errorf("after a restart its buttons need a new code: %d", status)
	}
}
