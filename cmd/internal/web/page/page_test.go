package page_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	unescape "html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"leanctx/agents"
	"leanctx/agents/cost"
	"leanctx/cmd/internal/op"
	"leanctx/cmd/internal/web/page"
	"leanctx/knowledge"
	"leanctx/tasks"
)

// fixture is a page over real stores in a directory of the test.
type fixture struct {
	t        testing.TB
	handler  http.Handler
	tools    []*op.Tool
	store    *knowledge.Store
	given    briefings
	readOnly bool
}

// briefings stands in for the record of hooks, which is another package's.
type briefings struct {
	Briefings []map[string]any `json:"briefings"`
	More      int              `json:"more"`
}

func (briefings) Text() string { return "" }

func newFixture(t testing.TB) *fixture {
	t.Helper()
	dir := t.TempDir()
	f := &fixture{t: t}
	store := must[*knowledge.Store](t)(knowledge.Open(dir+"/knowledge", &knowledge.Options{ProjectRoot: dir}))
	registry := must[*agents.Store](t)(agents.Open(dir+"/agents", &agents.Options{ProjectRoot: dir, ProjectHash: "0123456789abcdef"}))
	todo := must[*tasks.Store](t)(tasks.Open(dir+"/agents", &tasks.Options{ProjectHash: "0123456789abcdef"}))
	usage := must[*cost.Usage](t)(cost.Open(dir, &cost.Options{ProjectHash: "0123456789abcdef"}))
	t.Cleanup(func() { store.Close(); registry.Close(); todo.Close(); usage.Close() })
	f.store = store
	f.tools = op.All(op.Stores{
		Knowledge: func(_ context.Context, sc op.Scope) (*knowledge.Store, error) {
			return store.As(knowledge.Actor{Agent: sc.Agent, Kind: sc.Caller.Kind, Session: sc.Caller.Session}), nil
		},
		Agents: func(_ context.Context, sc op.Scope) (*agents.Store, error) {
			return registry.As(agents.Actor{Agent: sc.Agent}), nil
		},
		Tasks: func(_ context.Context, sc op.Scope) (*tasks.Store, error) {
			return todo.As(tasks.Actor{Agent: sc.Agent}), nil
		},
		Costs:     func(context.Context, op.Scope) (*cost.Usage, error) { return usage, nil },
		Briefings: func(context.Context, op.Scope, op.BriefingsQuery) (op.Result, error) { return f.given, nil },
	})
	views := page.New(page.Options{Call: f.call, Project: "my-app"})
	f.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		views.ServeHTTP(w, r.WithContext(op.WithGrant(r.Context(), &op.Grant{ReadOnly: f.readOnly})))
	})
	return f
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func (f *fixture) call(ctx context.Context, tool, action string, args map[string]any) (op.Answer, error) {
	for _, t := range f.tools {
		if t.Name == "ctx_"+tool {
			return t.Call(ctx, action, args)
		}
	}
	return op.Answer{}, fmt.Errorf("no tool %s", tool)
}

// do runs an operation for an agent, or for a tool where it is empty. pairs are names and
// values of arguments.
func (f *fixture) do(agent, tool, action string, pairs ...any) string {
	f.t.Helper()
	args := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		args[pairs[i].(string)] = pairs[i+1]
	}
	kind := "tool"
	if agent != "" {
		args["agent"], kind = agent, "agent"
	}
	a, err := f.call(op.WithCaller(f.t.Context(), op.Caller{Kind: kind}), tool, action, args)
	if err != nil {
		f.t.Fatalf("%s %s: %v", tool, action, err)
	}
	text, err := a.Render()
	if err != nil {
		f.t.Fatal(err)
	}
	return text
}

func (f *fixture) remember(category, key, value string, pairs ...any) {
	f.t.Helper()
	f.do("", "knowledge", "remember", append([]any{"category", category, "key", key, "value", value}, pairs...)...)
}

// get loads a view.
func (f *fixture) get(path string, status int) string {
	f.t.Helper()
	w := f.answer(path)
	if w.Code != status {
		f.t.Errorf("GET %s: %d, want %d\n%.300s", path, w.Code, status, w.Body)
	}
	return w.Body.String()
}

func (f *fixture) answer(path string) *httptest.ResponseRecorder {
	f.t.Helper()
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, httptest.NewRequestWithContext(f.t.Context(), http.MethodGet, path, nil))
	return w
}

// press posts a form and loads the view that it leads to.
func (f *fixture) press(action string, pairs ...string) string {
	f.t.Helper()
	form := url.Values{"back": {"/doubts"}}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	w := f.post(action, form)
	if w.Code != http.StatusSeeOther {
		f.t.Fatalf("%s: %d %s", action, w.Code, w.Body)
	}
	return f.get(w.Header().Get("Location"), http.StatusOK)
}

func (f *fixture) post(action string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(f.t.Context(), http.MethodPost, "/do/"+action, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	return w
}

// expect holds a page against texts that must, and after "!" must not, be in it.
func expect(t testing.TB, view, html string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		text, not := strings.CutPrefix(text, "!")
		if strings.Contains(html, text) == not && strings.Contains(unescape.UnescapeString(html), text) == not {
			_, main, _ := strings.Cut(html, "</header>")
			t.Errorf("%s: %q, wanted: %v\n%.3000s", view, text, !not, main)
		}
	}
}

// story fills the stores with what every view has something of.
func (f *fixture) story() (cursor, codex string) {
	f.remember("architecture", "auth", "JWT RS256", "confidence", .95, "valid_from", "2026-01-15")
	f.remember("architecture", "auth", "JWT RS256", "confidence", .95)
	f.remember("architecture", "auth", "OAuth2 + PKCE", "valid_from", "2026-03-20", "questions", "how do users sign in", "source", "src/auth.ts:12")
	f.remember("architecture", "db", "PostgreSQL 16")
	f.remember("deploy", "host", "AWS ECS in eu-central-1", "source", "user")
	f.do("", "knowledge", "relate", "category", "architecture", "key", "auth", "target", "architecture/db", "kind", "depends_on")
	f.remember("workflow", "ci", "CI runs on Jenkins")
	f.remember("decision", "pipeline", "We moved from Jenkins to GitHub Actions")
	cursor = strings.Fields(f.do("", "agent", "register", "agent_type", "cursor", "role", "auth"))[1]
	codex = strings.Fields(f.do("", "agent", "register", "agent_type", "codex", "role", "review"))[1]
	f.do(codex, "knowledge", "remember", "category", "deploy", "key", "host", "value", "Fly.io in fra")
	f.do(cursor, "agent", "claim", "path", "src/auth.ts")
	f.do(cursor, "agent", "post", "message", "rebase first", "category", "warning")
	f.do(cursor, "task", "create", "title", "Fix the refresh", "to_agent", "codex")
	f.given.Briefings = []map[string]any{{"at": time.Now(), "client": "claude-code", "session": "s-1", "event": "session-start", "facts": []string{"architecture/auth", "deploy/host"}}}
	return cursor, codex
}

func TestEveryViewShowsItsSubject(t *testing.T) {
	f := newFixture(t)
	cursor, codex := f.story()
	for path, texts := range map[string][]string{
		"/":              {"Latest facts", "OAuth2 + PKCE", `href="/facts/architecture/auth"`, `href="/?room=deploy"`, "disputed", "<title>Facts · my-app</title>", `data-events="/events"`},
		"/?room=deploy":  {"AWS ECS", "!PostgreSQL"},
		"/?q=postgresql": {"What matches “postgresql”", "PostgreSQL 16", "!AWS"},
		"/?q=zzzqqq":     {"Nothing matches", "Try other words"},
		"/?q=" + url.QueryEscape("what did we use for auth before OAuth2 + PKCE?"): {"Before &#39;OAuth2 &#43; PKCE&#39; (2026-03-20), read from the question:", "JWT RS256", "true 2026-01-15 to 2026-03-20", "!since 2026-01-15"},
		"/?q=" + url.QueryEscape("what did we use on 2026-02-30?"):                 {"There is no 2026-02-30", "!Try other words"},
		"/?q=" + url.QueryEscape("auth in February 2026"):                          {"Facts as of 2026-02-28, read from the question:", "true 2026-01-15 to 2026-03-20", "!since 2026-01-15"},
		"/?q=" + url.QueryEscape("what changed since yesterday?"):                  {"read from the question:", "architecture/db", "PostgreSQL 16", "!Try other words"},
		"/?q=" + url.QueryEscape("what changed in 1999?"):                          {"Changed 1999-01-01 → 1999-12-31, read from the question: nothing.", "!Try other words"},
		"/?as_of=2026-02-01":               {"JWT RS256", "!OAuth2", "As of Sunday, 1 February 2026", "Back to now", `class="past"`, `data-events=""`, "/facts/architecture/auth?as_of=2026-02-01"},
		"/facts/architecture/auth":         {"<svg", "OAuth2 + PKCE", "JWT RS256", "contradiction", "src/auth.ts:12", "how do users sign in", "depends on", "Confirm", "Pin", "Remove", "half-life", `<a href="#f-`, `href="/facts/architecture/auth" aria-current="true"`},
		"/facts/Architecture/AUTH":         {"OAuth2"},
		"/facts/architecture/db":           {"is needed by"},
		"/facts/deploy/host":               {"Disputes", "d-", "Fly.io", "▼?: dispute"},
		"/facts/?category=deploy&key=host": {"AWS"},
		"/activity":                        {"<del>JWT RS256</del> OAuth2 + PKCE", "disputed", "against “AWS", "Fix the refresh", "rebase first", `href="/activity?author=`, `href="/activity?kind=tasks"`, `<svg class="strip"`, "learned"},
		"/activity?kind=tasks":             {"Fix the refresh", "!JWT", "!rebase first"},
		"/activity?room=deploy&since=28d":  {"AWS", "!JWT", "in all rooms"},
		"/activity?author=nobody":          {"Nothing happened in the last seven days"},
		"/activity?as_of=2026-01-01":       {"Nothing happened"},
		"/doubts":                          {"Keep this", "Accept this", "<mark>Fly.io</mark>", "Look for contradictions", "/doubts?look=1", "!This still holds"},
		"/doubts?look=1":                   {"Keep this", "Accept this", "<mark>Fly.io</mark>", "Contradictions", "This still holds", "Possible conflicts", "decision/pipeline", "seems to replace"},
		"/doubts?as_of=2026-02-01":         {"No open dispute", "!Accept this"},
		"/agents":                          {cursor, codex, "holds <code>src/auth.ts</code>", "rebase first", "Fix the refresh", "Created"},
		"/briefings":                       {"claude-code", "session s-1, 2 facts", "session-start", "architecture:", `href="/facts/deploy/host"`},
		"/health":                          {"Active facts", "Tokens by day", "Open disputes", "/health?look=1", "!Damage"},
		"/health?look=1":                   {"Damage", "Stale", "Nearly the same"},
	} {
		expect(t, path, f.get(path, http.StatusOK), texts...)
	}
	expect(t, "nothing", f.get("/nowhere", http.StatusNotFound), "no page at this address", "!as of now")
	expect(t, "nothing then", f.get("/facts/a/b?as_of=2026-02-01", http.StatusNotFound), "as of now")
	expect(t, "no fact", f.get("/facts/a/b", http.StatusNotFound), "There is no fact a/b")
	expect(t, "no time", f.get("/activity?since=soon", http.StatusBadRequest), "is not a time")
	expect(t, "no date", f.get("/?as_of=soon", http.StatusBadRequest), "is no date")
}

// Of very many pairs the first are shown, with how many follow. What may be in conflict
// cannot be merged, what says the same can.
func TestManyPairs(t *testing.T) {
	f := newFixture(t)
	for i := range 25 {
		f.remember("a", fmt.Sprint("k", i), fmt.Sprintf("the value number %d that two facts have", i))
		f.remember("b", fmt.Sprint("k", i), fmt.Sprintf("the value number %d that two facts have", i))
	}
	html := f.get("/doubts?look=1", http.StatusOK)
	if n := strings.Count(html, "Merge into this"); n != 2*20 {
		t.Errorf("%d buttons to merge", n)
	}
	expect(t, "many", html, `The same value under two names <span class="n">25`, "5 more follow")
	f = newFixture(t)
	f.remember("workflow", "ci", "CI runs on Jenkins")
	f.remember("decision", "pipeline", "We moved from Jenkins to GitHub Actions")
	expect(t, "a conflict", f.get("/doubts?look=1", http.StatusOK), "Keep only this", "Keep both", "!Merge into this")
}

// Words that differ are marked where two texts are alike; where nothing is alike, none is.
func TestDifferencesAreMarkedWhereTextsAreAlike(t *testing.T) {
	f := newFixture(t)
	f.remember("user", "pref", "Never force push to the main branch", "source", "user")
	f.remember("user", "shell", "zsh with the plugins that everybody here likes", "source", "user")
	codex := strings.Fields(f.do("", "agent", "register", "agent_type", "codex", "role", "review"))[1]
	f.do(codex, "knowledge", "remember", "category", "user", "key", "pref", "value", "Always force push to the main branch")
	f.do(codex, "knowledge", "remember", "category", "user", "key", "shell", "value", "Bash, since nobody has anything else on these machines")
	expect(t, "doubts", f.get("/doubts", http.StatusOK), "<mark>Never</mark>", "<mark>Always</mark>", "nobody has anything else", "!<mark>Bash", "!<mark>zsh")
}

// An empty store says what would be there and what puts it there.
func TestEmptyViewsSayWhatFillsThem(t *testing.T) {
	f := newFixture(t)
	for path, text := range map[string]string{
		"/": "lean-ctx remember", "/doubts": "No open dispute", "/agents": "lean-ctx agent register", "/briefings": "lean-ctx connect", "/health": "No call has been counted", "/?as_of=2020-01-01": "Nothing was known",
	} {
		expect(t, path, f.get(path, http.StatusOK), text)
	}
}

func TestEveryButton(t *testing.T) {
	f := newFixture(t)
	f.story()
	id := func(category, key string) string {
		var r knowledge.Recalled
		if err := json.Unmarshal([]byte(f.do("", "knowledge", "recall", "category", category, "key", key, "output", "json")), &r); err != nil || len(r.Facts) == 0 {
			t.Fatalf("no %s/%s: %v", category, key, err)
		}
		return r.Facts[0].ID
	}
	dispute := regexp.MustCompile(`d-[0-9a-f]{4,}`).FindString(f.get("/doubts", http.StatusOK))
	host := []string{"category", "deploy", "key", "host"}
	auth := []string{"category", "architecture", "key", "auth"}
	expect(t, "reject", f.press("judge", append(host, "target", dispute, "verdict", "reject")...), "Judged: "+dispute, "rejected", "Settled lately", "!Keep this")
	expect(t, "accept", f.press("judge", append(host, "target", dispute, "verdict", "accept")...), "accepted")
	expect(t, "accepted", f.get("/facts/deploy/host", http.StatusOK), "Fly.io in fra", "user")
	expect(t, "confirm", f.press("confirm", append(auth, "id", id("architecture", "auth"))...), "Confirmed [architecture] auth: OAuth2 + PKCE")
	expect(t, "pin", f.press("pin", append(auth, "id", id("architecture", "auth"))...), "Confirmed")
	expect(t, "pinned", f.get("/facts/architecture/auth", http.StatusOK), "pinned", "Unpin")
	expect(t, "unpin", f.press("unpin", append(auth, "id", id("architecture", "auth"))...), "Confirmed")
	expect(t, "unpinned", f.get("/facts/architecture/auth", http.StatusOK), "!>pinned<")
	expect(t, "stale form", f.press("confirm", append(auth, "id", "f-gone")...), "has changed since the page was loaded")
	expect(t, "change", f.press("change", append(auth, "value", "Passkeys\r\nand OAuth2", "correct", "true")...), "Believed now: “Passkeys and OAuth2”; the former value was never true.")
	expect(t, "changed", f.get("/facts/architecture/auth", http.StatusOK), "Passkeys\nand OAuth2")
	expect(t, "add", f.press("add", "category", "team", "key", "owner", "value", "Mira"), "Believed now: “Mira”.")
	expect(t, "question", f.press("question", append(auth, "questions", "what signs users in")...), "[architecture] auth")
	expect(t, "relate", f.press("relate", append(auth, "target", "team/owner", "kind", "supports")...), "Relation added")
	expect(t, "unrelate", f.press("unrelate", append(auth, "target", "team/owner", "kind", "supports")...), "Relation removed")
	expect(t, "compatible", f.press("judge", append(auth, "target", "team/owner", "verdict", "compatible")...), "are compatible")
	expect(t, "also", f.press("change", "category", "team", "key", "owner", "value", "Jonas", "also", "true"), "Believed now: “Mira”, “Jonas”.")
	expect(t, "two values", f.get("/facts/team/owner", http.StatusOK), "all of them", "In the place of", `<option value="Jonas">`)
	expect(t, "replace", f.press("change", "category", "team", "key", "owner", "value", "Anna", "replaces", "Jonas"), "Anna")
	expect(t, "remove one", f.press("remove", "category", "team", "key", "owner", "value", "Anna"), "Removed [team] owner")
	expect(t, "one left", f.get("/facts/team/owner", http.StatusOK), "Mira")
	expect(t, "remove", f.press("remove", "category", "team", "key", "owner", "reason", "<b>she left</b>\u202e"), "Removed [team] owner")
	expect(t, "removed", f.get("/facts/team/owner", http.StatusOK), "Nothing is believed under this name now", "Add a value", "by user: “", "&lt;b&gt;she left&lt;/b&gt;", "!\u202e")
	expect(t, "restore", f.press("restore", "category", "team", "key", "owner"), "No archived facts")
	expect(t, "undo", f.press("undo"), "Undone: what you changed at", "!>Undo<")
	expect(t, "undone", f.get("/facts/team/owner", http.StatusOK), "Mira")
	expect(t, "rename", f.press("rename", "category", "team", "key", "owner", "to", "people/lead"), "Renamed", ">Undo<")
	expect(t, "renamed", f.get("/facts/people/lead", http.StatusOK), "Mira")
	f.remember("people", "head", "Mira", "source", "user")
	expect(t, "merge", f.press("rename", "category", "people", "key", "head", "to", "people/lead", "merge", "true"), "people")
	expect(t, "failed", f.press("remove", "category", "team", "key", "nobody"), "Not found", "nobody", `class="outcome failed"`)
	expect(t, "nothing given", f.press("change", auth...), "Not possible", "value")
	// Where a fact was renamed, its old address leads to it.
	if w := f.answer("/facts/team/owner"); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/facts/people/lead" {
		t.Errorf("the old address: %d %s", w.Code, w.Header().Get("Location"))
	}
	expect(t, "its names", f.get("/facts/people/lead", http.StatusOK), "Renamed from team/owner on ")
	expect(t, "an empty room", f.get("/?room=team", http.StatusOK), "No fact of this room is believed now", "!No facts yet")
	expect(t, "a page after the last", f.get("/?page=99", http.StatusOK), "Latest facts", `class="rows"`, "!No facts yet")
	if w := f.post("erase", url.Values{}); w.Code != http.StatusNotFound {
		t.Errorf("a button that is none: %d", w.Code)
	}
}

// A form acts on what the page showed. If that is no longer what is believed, nothing is changed, and both
// are named.
func TestAFormActsOnWhatThePageShowed(t *testing.T) {
	f := newFixture(t)
	f.remember("api", "limit", "100 requests", "source", "user")
	f.remember("api", "quota", "80 requests")
	form := func(path, action string) (out []string) {
		text := f.get(path, http.StatusOK)
		for part := range strings.SplitSeq(text, "<form") {
			if end := strings.Index(part, "</form>"); end > 0 && strings.Contains(part[:end], `action="/do/`+action+`"`) {
				for _, m := range regexp.MustCompile(`type="hidden" name="([^"]*)" value="([^"]*)"`).FindAllStringSubmatch(part[:end], -1) {
					out = append(out, m[1], unescape.UnescapeString(m[2]))
				}
				return out
			}
		}
		t.Fatalf("%s has no form for %s", path, action)
		return nil
	}
	change, remove := append(form("/facts/api/limit", "change"), "value", "300 requests"), form("/facts/api/limit", "remove")
	f.do("bot-1a2b", "knowledge", "remember", "category", "api", "key", "limit", "value", "50 requests")
	judge := form("/doubts", "judge")
	f.remember("api", "limit", "200 requests", "source", "user")
	for action, fields := range map[string][]string{"change": change, "remove": remove, "judge": judge} {
		expect(t, action, f.press(action, fields...), "nothing was changed", "The page showed “100 requests”, and it is “200 requests” now", `class="outcome failed"`)
	}
	expect(t, "still", f.get("/facts/api/limit", http.StatusOK), "200 requests")
	expect(t, "fresh", f.press("change", append(form("/facts/api/limit", "change"), "value", "300 requests")...), "Believed now: “300 requests”; before: “200 requests”, since ")
}

// A person's button answers a person: no call of a tool, and what the page tells is the whole.
func TestAnswersToAPersonSuggestNoCall(t *testing.T) {
	f := newFixture(t)
	f.remember("api", "auth", "JWT", "source", "user")
	f.remember("api", "sessions", "none", "source", "user")
	f.do("bot-1a2b", "knowledge", "remember", "category", "api", "key", "auth", "value", "OAuth2")
	var r knowledge.Recalled
	if err := json.Unmarshal([]byte(f.do("", "knowledge", "recall", "category", "api", "key", "auth", "output", "json")), &r); err != nil {
		t.Fatal(err)
	}
	expect(t, "disputed", f.get("/facts/api/auth", http.StatusOK), "Confirm and reject the dispute")
	said := f.press("confirm", "category", "api", "key", "auth", "id", r.Facts[0].ID, "settle", "true")
	expect(t, "confirm settles", said, "Confirmed [api] auth: JWT")
	expect(t, "settled", f.get("/facts/api/auth", http.StatusOK), "rejected", "!Confirm and reject")
	expect(t, "contradicts", f.press("relate", "category", "api", "key", "sessions", "target", "api/auth", "kind", "contradicts"), "is recorded as d-", "!action=judge", "!ask the user")
	expect(t, "a rival", f.get("/doubts", http.StatusOK), `<a href="/facts/api/sessions">api/sessions</a> contradicts it`, ">none<", "Both hold", "This holds, end api/auth")
	for _, fields := range [][]string{{"category", "api", "key", "auth", "value", "Passkeys"}, {"category", "api", "key", "nothing"}, {"category", "api", "key", "auth", "value", ""}} {
		expect(t, "change", f.press("change", fields...), "!action=remember", "!action=recall", "!category=api")
	}
	expect(t, "remove", f.press("remove", "category", "api", "key", "aut"), "!action=remember", "!action=recall", "!category=api")
}

// Who takes gzip gets the views and the script in it.
func TestViewsArePacked(t *testing.T) {
	f := newFixture(t)
	for _, path := range []string{"/", "/page/page.js", "/page/page.css"} {
		for accepted, want := range map[string]string{"gzip, deflate, br": "gzip", "": "", "gzip;q=0": "", "GZIP;q=0.5": "gzip", "br": ""} {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Header.Set("Accept-Encoding", accepted)
			w := httptest.NewRecorder()
			f.handler.ServeHTTP(w, r)
			var body io.Reader = w.Body
			if w.Header().Get("Content-Encoding") == "gzip" {
				body = must[*gzip.Reader](t)(gzip.NewReader(w.Body))
			}
			if text := must[[]byte](t)(io.ReadAll(body)); w.Header().Get("Content-Encoding") != want || w.Header().Get("Vary") != "Accept-Encoding" || len(text) < 1024 {
				t.Errorf("%s for %q: %v, %d bytes", path, accepted, w.Header(), len(text))
			}
		}
	}
}

// An outcome stands on the page once by an id that nobody can make up, and a form
// leads back to this site alone.
func TestAddressesCannotPutWordsOnThePage(t *testing.T) {
	f := newFixture(t)
	expect(t, "made up", f.get("/?outcome=You+must+log+in", http.StatusOK), "!You must log in")
	for _, back := range []string{"https://evil.example/", "//evil.example/", `/\evil.example`, "javascript:alert(1)", "/\n/evil", "", "doubts", "http:/evil"} {
		w := f.post("remove", url.Values{"category": {"a"}, "key": {"b"}, "back": {back}})
		if at := w.Header().Get("Location"); !strings.HasPrefix(at, "/?outcome=") {
			t.Errorf("back %q leads to %q", back, at)
		}
	}
}

// A title repeats the names of an address. What a person does not see in them is shown.
func TestTitlesShowWhatIsHidden(t *testing.T) {
	f := newFixture(t)
	for _, path := range []string{"/facts/a%1b%5B2J/b%E2%80%AEc", "/facts/?category=a%1b%5B2J&key=b%E2%80%AEc", "/?category=a%1b&q="} {
		w := httptest.NewRecorder()
		f.handler.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if html := w.Body.String(); strings.ContainsAny(html, "\x1b\u202e") {
			t.Errorf("%s: hidden characters in %.600q", path, html)
		}
	}
}

func TestReadOnlyPageHasNoButtons(t *testing.T) {
	f := newFixture(t)
	f.story()
	f.readOnly = true
	for _, path := range []string{"/", "/facts/architecture/auth", "/doubts", "/agents", "/health"} {
		expect(t, path, f.get(path, http.StatusOK), `!method="post"`)
	}
	if w := f.post("remove", url.Values{"category": {"architecture"}, "key": {"auth"}}); w.Code != http.StatusForbidden {
		t.Errorf("a form was taken: %d", w.Code)
	}
	expect(t, "left", f.get("/facts/architecture/auth", http.StatusOK), "OAuth2 + PKCE")
}

// hostile are texts that would break out of what they stand in.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'--></style></title><script>`, "{{.}}${alert(1)}`", `javascript:alert(1)`,
	"\u202egnp.exe", "a b\tc", "%2e%2e/../x?y#z&amp;", strings.Repeat("<b>\U0001F600&", 300), "تجربة 漢字",
}

func TestHostileValuesStayText(t *testing.T) {
	f := newFixture(t)
	codex := strings.Fields(f.do("", "agent", "register", "agent_type", "codex", "role", hostile[0]))[1]
	for i, text := range hostile {
		name := text[:min(len(text), 60)]
		name = strings.ToValidUTF8(strings.NewReplacer("\u202e", "", "\t", " ").Replace(name), "")
		f.remember("room"+name, name, text, "source", "user")
		f.do(codex, "knowledge", "remember", "category", "room"+name, "key", name, "value", "other "+text)
		f.remember("room"+name, fmt.Sprint("second", i), text)
		f.do(codex, "agent", "post", "message", text[:min(len(text), 2000)])
		f.do(codex, "task", "create", "title", name, "description", "d")
		f.given.Briefings = append(f.given.Briefings, map[string]any{"at": time.Now(), "client": name, "session": name, "event": name, "facts": []string{"room" + name + "/" + name}})
	}
	tags := regexp.MustCompile(`(?i)<(script|img|style|b|iframe)[\s>]`)
	hidden := regexp.MustCompile(`<input type="hidden"[^>]*>`)
	links := regexp.MustCompile(`(?:href|action|src)="([^"]*)"`)
	seen := map[string]bool{}
	check := func(path string) {
		html := f.get(path, http.StatusOK)
		for _, tag := range tags.FindAllString(html, -1) {
			if tag != "<script " {
				t.Errorf("%s: %s", path, tag)
			}
		}
		if n := strings.Count(html, "<script"); n != 1 {
			t.Errorf("%s: %d scripts", path, n)
		}
		if strings.Contains(hidden.ReplaceAllString(html, ""), "\u202e") || strings.Contains(html, "ZgotmplZ") || strings.Contains(html, ` style="`) || strings.Contains(html, " onerror=alert(1)>") && !strings.Contains(html, "&gt;&lt;img") && !strings.Contains(html, "&#34;&gt;&lt;img") {
			t.Errorf("%s: something got through", path)
		}
		for _, m := range links.FindAllStringSubmatch(html, -1) {
			if !strings.HasPrefix(m[1], "/") && !strings.HasPrefix(m[1], "#") {
				t.Errorf("%s links to %q", path, m[1])
			}
			if strings.HasPrefix(m[1], "/facts/") {
				seen[strings.ReplaceAll(m[1], "&amp;", "&")] = true
			}
		}
	}
	for _, path := range []string{"/", "/doubts?look=1", "/agents", "/briefings", "/health?look=1", "/?q=" + url.QueryEscape(hostile[0]), "/?room=" + url.QueryEscape(hostile[1])} {
		check(path)
	}
	if len(seen) < 2*len(hostile) {
		t.Errorf("only %d facts are linked", len(seen))
	}
	for path := range seen { // each name leads to its fact
		check(path)
	}
}

// The longest value there can be is whole on its own page and short in lists.
func TestLongestValue(t *testing.T) {
	f := newFixture(t)
	f.remember("c", "long", strings.Repeat("<b>&", 16<<10))
	if html := f.get("/facts/c/long", http.StatusOK); strings.Count(html, "&lt;b&gt;&amp;") < 2*16<<10 { // it is shown, and can be changed
		t.Errorf("the value is cut: %d bytes", len(html))
	}
	for _, path := range []string{"/", "/doubts?look=1", "/?q=b"} {
		if html := f.get(path, http.StatusOK); len(html) > 20_000 {
			t.Errorf("%s has %d bytes", path, len(html))
		}
	}
}

// Names that a browser would take for steps in a path are in the query.
func TestNamesOfDots(t *testing.T) {
	f := newFixture(t)
	f.remember("..", ".", "dots")
	expect(t, "/", f.get("/", http.StatusOK), `href="/facts/?category=..&amp;key=."`)
	expect(t, "dots", f.get("/facts/?category=..&key=.", http.StatusOK), "dots")
}

func TestEveryAnswerHasThePolicy(t *testing.T) {
	f := newFixture(t)
	html := f.get("/", http.StatusOK)
	paths := []string{"/", "/nowhere", "/?as_of=x"}
	for _, m := range regexp.MustCompile(`"(/page/[a-z.]+)"`).FindAllStringSubmatch(html, -1) {
		paths = append(paths, m[1])
	}
	if len(paths) != 6 {
		t.Fatalf("style, script and icon are not linked: %v", paths)
	}
	size := 0
	for _, path := range paths {
		w := httptest.NewRecorder()
		f.handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		h := w.Header()
		for name, want := range map[string]string{"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"} {
			if !strings.Contains(h.Get(name), want) {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
		}
		if strings.Contains(h.Get("Content-Security-Policy"), "unsafe") {
			t.Errorf("%s: %s", path, h.Get("Content-Security-Policy"))
		}
		asset := strings.HasPrefix(path, "/page/")
		if want := map[bool]string{true: "no-cache", false: "no-store"}[asset]; h.Get("Cache-Control") != want {
			t.Errorf("%s: Cache-Control %q", path, h.Get("Cache-Control"))
		}
		if asset {
			size += w.Body.Len()
			again := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			again.Header.Set("If-Modified-Since", h.Get("Last-Modified"))
			w := httptest.NewRecorder()
			if f.handler.ServeHTTP(w, again); w.Code != http.StatusNotModified {
				t.Errorf("%s is sent again: %d", path, w.Code)
			}
		}
	}
	if size > 60<<10 {
		t.Errorf("style and script have %d bytes", size)
	}
	for _, path := range []string{"/page/page.png", "/page/page.go", "/page/..%2fpage.go"} {
		f.get(path, http.StatusNotFound)
	}
}

// The first view of many facts is one page of them, and at most 150 KB on the wire.
func TestFirstViewOfManyFactsIsSmall(t *testing.T) {
	f := newFixture(t)
	var lines strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&lines, `{"category":"room%d","key":"key-%d","value":"%d %s"}`+"\n", i%4, i, i, strings.Repeat("a value of some length, ", 10))
	}
	file := t.TempDir() + "/facts.jsonl"
	writeFile(t, file, lines.String())
	f.do("", "knowledge", "import", "file", file)
	html := f.get("/", http.StatusOK)
	if n := strings.Count(html, `class="name"`); n != 100 {
		t.Errorf("%d rows", n)
	}
	if len(html) > 150_000 {
		t.Errorf("%d bytes", len(html))
	}
	expect(t, "page 2", f.get("/?page=2&room=room3", http.StatusOK), "101–200 of 250", `rel="next"`, `rel="prev"`)
	expect(t, "last page", f.get("/?page=3&room=room3", http.StatusOK), "201–250 of 250", `!rel="next"`)
	f.get("/?page=999999999999", http.StatusOK)
	f.get("/?page=-1", http.StatusOK)
}

// A mounted page links below its prefix only.
func TestPrefix(t *testing.T) {
	f := newFixture(t)
	f.story()
	const prefix = "/p/0123456789abcdef"
	f.handler = http.StripPrefix(prefix, page.New(page.Options{Call: f.call, Project: "other", Prefix: prefix}))
	links := regexp.MustCompile(`(?:href|action|src|value)="(/[^"]*)"`)
	for _, path := range []string{"/", "/facts/architecture/auth", "/doubts?look=1", "/agents", "/briefings", "/health?look=1", "/nowhere", "/?as_of=2026-02-01"} {
		status := http.StatusOK
		if path == "/nowhere" {
			status = http.StatusNotFound
		}
		for _, m := range links.FindAllStringSubmatch(f.get(prefix+path, status), -1) {
			if !strings.HasPrefix(m[1], prefix+"/") {
				t.Errorf("%s links to %s", path, m[1])
			}
		}
	}
}

func writeFile(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
