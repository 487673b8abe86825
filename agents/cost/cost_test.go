package cost

import (
	"fmt"
	"leanctx/internal/tokens"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	own   = "0123456789abcdef"
	other = "fedcba9876543210"
)

var noon = time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)

// open opens a usage that the test closes.
func open(t testing.TB, dir string, o Options) *Usage {
	t.Helper()
	if o.ProjectHash == "" {
		o.ProjectHash, o.ProjectRoot = own, "/home/you/my-app"
	}
	if o.Now == nil {
		o.Now = func() time.Time { return noon }
	}
	l, err := Open(dir, &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// noted leaves receipts as a command does that ends.
func noted(t testing.TB, dir string, o Options, receipts ...Receipt) {
	t.Helper()
	l := open(t, dir, o)
	for _, r := range receipts {
		l.Note(r)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func report(t testing.TB, l *Usage) Report {
	t.Helper()
	r, err := l.Report(t.Context(), ReportQuery{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func same(t testing.TB, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// sized is a receipt of a number of tokens, as a command estimates them.
func sized(agent, tool string, tokens int) Receipt {
	return Receipt{Agent: agent, Tool: tool, Action: "recall", Session: "s1", OutSize: 4 * tokens}
}

// The report's lines are the contract, to the letter.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	noted(t, dir, Options{},
		sized("cursor-a3f8", "ctx_knowledge", 78_200), sized("cursor-a3f8", "ctx_overview", 11_180), sized("cursor-a3f8", "ctx_agent", 40),
		sized("claude-b7e2", "ctx_agent", 55_810))
	l := open(t, dir, Options{})
	same(t, report(t, l).Text(), `COST ATTRIBUTION REPORT
  Total tokens: 145,230

  By Agent:
    cursor-a3f8    89,420 tok (61.6%)
    claude-b7e2    55,810 tok (38.4%)

  By Tool:
    ctx_knowledge       78,200 tok (53.8%)
    ctx_agent           55,850 tok (38.5%)
    ctx_overview        11,180 tok (7.7%)

  Of these, 145,230 tokens estimated from bytes alone.`)
	a, err := l.Agent(t.Context(), AgentQuery{"curs"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, a.Text(), `Agent cursor-a3f8: 89,420 tokens (in 0, out 89,420) in 3 calls

  By Tool:
    ctx_knowledge       78,200 tok (87.5%)
    ctx_overview        11,180 tok (12.5%)
    ctx_agent               40 tok (0.0%)

  Of these, 89,420 tokens estimated from bytes alone.`)
	s, err := l.Session(t.Context(), SessionQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if got, _, _ := strings.Cut(s.Text(), "\n"); got != "Session s1: 145,230 tokens (in 0, out 145,230) in 4 calls" {
		t.Error(got)
	}
	tools, err := l.Tool(t.Context(), ToolQuery{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	same(t, tools.Text(), `Tool costs (145,230 tokens, 4 calls):
  ctx_knowledge: 78,200 tok (53.8%), in 0, out 78,200, 1 call
    recall: 78,200 tok (100.0%), 1 call
  … 2 more (limit=1)

  Of these, 145,230 tokens estimated from bytes alone.`)
}

func TestByDay(t *testing.T) {
	l := open(t, t.TempDir(), Options{Now: func() time.Time { return noon }})
	for i, tokens := range []int{100, 250, 650} {
		l.Note(Receipt{Agent: "cursor-a3f8", Tool: "x", OutSize: 4 * tokens, At: noon.AddDate(0, 0, i-2)})
	}
	days := func(q ReportQuery) (Report, error) { q.By = " Day "; return l.Report(t.Context(), q) }
	r, err := days(ReportQuery{Limit: 2})
	if err != nil || r.Agents != nil || r.Tools != nil {
		t.Error(r, err)
	}
	same(t, r.Text(), `COST ATTRIBUTION REPORT
  Total tokens: 1,000

  By Day:
    2026-03-20  650 tok (65.0%)
    2026-03-19  250 tok (25.0%)
  … 1 more (limit=2)

  Of these, 1,000 tokens estimated from bytes alone.`)
	if r, err := days(ReportQuery{AgentID: "cursor-a3f8"}); err != nil || len(r.Days) != 3 {
		t.Error(r, err)
	}
	if _, err := l.Report(t.Context(), ReportQuery{By: "week"}); err == nil || !strings.Contains(err.Error(), `by "week" is none of agent, tool, day`) {
		t.Error(err)
	}
}

func TestEmpty(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	l := open(t, dir, Options{})
	same(t, report(t, l).Text(), "COST ATTRIBUTION REPORT\n  Total tokens: 0\n\n  No calls recorded.")
	e, err := l.JSON(t.Context(), JSONQuery{})
	if err != nil || !strings.Contains(e.Text(), `"by_agent": []`) {
		t.Error(e.Text(), err)
	}
	s, err := l.As(Actor{Session: "s9"}).Session(t.Context(), SessionQuery{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, s.Text(), "Session s9: 0 tokens (in 0, out 0) in 0 calls")
	tools, err := l.Tool(t.Context(), ToolQuery{})
	if err != nil || tools.Text() != "No calls recorded." {
		t.Error(tools.Text(), err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("looking made a directory")
	}
}

func TestBadArguments(t *testing.T) {
	dir := t.TempDir()
	noted(t, dir, Options{}, sized("cursor-a3f8", "x", 1), sized("cursor-a3ff", "x", 1))
	l := open(t, dir, Options{})
	for _, c := range []struct {
		want string
		ask  func() error
	}{
		{"limit -1 is negative", func() error { _, err := l.Report(t.Context(), ReportQuery{Limit: -1}); return err }},
		{"limit -2 is negative", func() error { _, err := l.Tool(t.Context(), ToolQuery{-2}); return err }},
		{"No costs recorded for agent nobody", func() error { _, err := l.Agent(t.Context(), AgentQuery{"nobody"}); return err }},
		{"No costs recorded for agent ../etc", func() error { _, err := l.Report(t.Context(), ReportQuery{AgentID: "../etc"}); return err }},
		{`agent_id "cursor" is ambiguous: cursor-a3f8 or cursor-a3ff`, func() error { _, err := l.Agent(t.Context(), AgentQuery{"cursor"}); return err }},
		{"needs agent_id", func() error { _, err := l.Agent(t.Context(), AgentQuery{}); return err }},
		{"No costs recorded for session zz", func() error { _, err := l.Session(t.Context(), SessionQuery{"zz"}); return err }},
	} {
		if err := c.ask(); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// Nobody sees another project's costs, and resets no others.
func TestProjects(t *testing.T) {
	dir := t.TempDir()
	noted(t, dir, Options{}, sized("a", "x", 10))
	noted(t, dir, Options{ProjectHash: other}, sized("b", "y", 20), Receipt{Project: own, Agent: "c", Tool: "z", OutSize: 4})
	mine, theirs := open(t, dir, Options{}), open(t, dir, Options{ProjectHash: other})
	if got := report(t, mine).Total.Tokens(); got != 11 {
		t.Error(got)
	}
	f, err := mine.Reset(t.Context(), Reset{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, f.Text(), "Costs reset: 11 tokens in 2 calls forgotten.")
	if got := report(t, mine).Total; got != (Counts{}) {
		t.Error(got)
	}
	if r := report(t, theirs); r.Total.Tokens() != 20 || len(r.Agents) != 1 {
		t.Error(r)
	}
}

// What was said is in no file, only how long it was.
func TestNoContents(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{LongLived: true})
	l.Note(Receipt{Tool: "ctx_knowledge", Action: "remember", Agent: "a", In: "the launch code is zanzibar", Out: "Remembered zanzibar"})
	if r := report(t, l); r.Total.In != int64(tokens.Estimate("the launch code is zanzibar")) || r.Total.Estimated != 0 {
		t.Error(r.Total)
	}
	files := 0
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files++
			data, err := os.ReadFile(name)
			if err != nil || strings.Contains(string(data), "zanzibar") {
				t.Errorf("%s: %s %v", name, data, err)
			}
		}
		return err
	})
	if err != nil || files != 1 {
		t.Error(files, err)
	}
}

func TestNamesAreOneLine(t *testing.T) {
	dir := t.TempDir()
	noted(t, dir, Options{}, Receipt{Agent: "evil\n  By Tool:\x1b[2J", Tool: strings.Repeat("é", 300) + "\xff", OutSize: 4})
	text := report(t, open(t, dir, Options{})).Text()
	if strings.ContainsRune(text, 0x1b) || strings.Count(text, "\n  By Tool:\n") != 1 || len(text) > 500 {
		t.Errorf("%q", text)
	}
}

// What a connection did before it registered is its agent's; what cannot be anybody's for
// certain is its client's.
func TestAgentsBeforeTheyRegister(t *testing.T) {
	dir := t.TempDir()
	u := open(t, dir, Options{})
	one, several, none := u.As(Actor{Client: "cursor", Session: "s1"}), u.As(Actor{Client: "codex", Session: "s2"}), u.As(Actor{Client: "gemini"})
	one.Note(Receipt{Tool: "x", OutSize: 4})
	one.Note(Receipt{Tool: "x", OutSize: 8, Agent: "cursor-ff59"})
	several.Note(Receipt{Tool: "x", OutSize: 12})
	several.Note(Receipt{Tool: "x", OutSize: 16, Agent: "codex-0001"})
	several.Note(Receipt{Tool: "x", OutSize: 20, Agent: "codex-0002"})
	none.Note(Receipt{Tool: "x", OutSize: 24})
	none.Note(Receipt{Tool: "x", OutSize: 28, Agent: "gemini-0001"})
	got := map[string]int64{}
	for _, a := range report(t, u).Agents {
		got[a.Name] = a.Tokens()
	}
	same(t, got, map[string]int64{"cursor-ff59": 3, "codex": 3, "codex-0001": 4, "codex-0002": 5, "gemini": 6, "gemini-0001": 7})
}

// A session that only asked what it costs is not the session that a command reports. A session
// says how often its intent was stated.
func TestSessionOfACommand(t *testing.T) {
	dir := t.TempDir()
	noted(t, dir, Options{}, Receipt{Session: "work", Tool: "ctx_overview", Intent: Explicit, OutSize: 40, At: noon},
		Receipt{Session: "work", Tool: "ctx_task", Action: "claim", Intent: Inferred, OutSize: 40, At: noon},
		Receipt{Session: "shell", Tool: "ctx_cost", Action: "session", OutSize: 40, At: noon.Add(time.Minute)})
	s, err := open(t, dir, Options{}).As(Actor{Session: "shell-2"}).Session(t.Context(), SessionQuery{})
	if err != nil || s.Session != "work" || s.Explicit != 1 || s.Inferred != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if !strings.Contains(s.Text(), "\n  Intents: 1 explicit, 1 inferred") {
		t.Error(s.Text())
	}
}

// A command has no session of its own. It belongs to the one of the agent that runs it, and what it reports is an agent's.
func TestCommandsBelongToTheirAgentsSession(t *testing.T) {
	dir := t.TempDir()
	call := func(session, agent, client string, size, minute int) Receipt {
		return Receipt{Session: session, Agent: agent, Client: client, Tool: "x", OutSize: size, At: noon.Add(time.Duration(minute) * time.Minute)}
	}
	noted(t, dir, Options{},
		call("s1", "cursor-a3f8", "cursor", 40, 0), call("s2", "claude-b7e2", "claude-code", 80, 1),
		call("page", "", "", 400, 2),
		call("", "cursor-a3f8", "", 4, 3), // cursor's command
		call("", "", "claude-code", 8, 4), // in the shell of the only session of this client
		call("", "", "", 4000, 5))         // a person's
	u := open(t, dir, Options{})
	for _, tt := range []struct {
		by      Actor
		session string
		tokens  int64
	}{
		{Actor{}, "s2", 22},
		{Actor{Agent: "cursor-a3f8"}, "s1", 11},
		{Actor{Agent: "gemini-0001"}, "s2", 22},
	} {
		s, err := u.As(tt.by).Session(t.Context(), SessionQuery{})
		if err != nil || s.Session != tt.session || s.Total.Tokens() != tt.tokens {
			t.Errorf("%+v: session %s with %d tokens, want %s with %d; %v", tt.by, s.Session, s.Total.Tokens(), tt.session, tt.tokens, err)
		}
	}
	if all := report(t, u).Total.Tokens(); all != 1133 {
		t.Errorf("%d tokens in all", all)
	}
}

// The sums over agents, tools, days and sessions are equal, also when not all sessions
// are listed.
func TestSums(t *testing.T) {
	u := open(t, t.TempDir(), Options{})
	const calls = 1500
	for i := range calls {
		u.Note(Receipt{Agent: fmt.Sprint("agent-", i%70), Tool: "x", Action: "y", Session: fmt.Sprint("s", i), OutSize: 4, At: noon.Add(time.Duration(i) * 12 * time.Hour)})
	}
	e, err := u.JSON(t.Context(), JSONQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for name, list := range map[string][]Share{"agents": e.Agents, "tools": e.Tools, "days": e.Days, "sessions": append(e.Sessions, Share{Counts: e.Older})} {
		var sum Counts
		for _, x := range list {
			sum = sum.plus(x.Counts)
		}
		if sum != e.Total || sum.Calls != calls {
			t.Errorf("%s: %+v", name, sum)
		}
	}
	if len(e.Sessions) != maxSessions || e.Older.Calls != calls-maxSessions || e.Days[0].Name > e.Days[1].Name {
		t.Errorf("%d sessions, %d calls in others", len(e.Sessions), e.Older.Calls)
	}
}

func TestPercentages(t *testing.T) {
	for _, c := range []struct {
		parts []int64
		want  []float64
	}{
		{nil, nil},
		{[]int64{0, 0}, []float64{0, 0}},
		{[]int64{7}, []float64{100}},
		{[]int64{1, 1, 1}, []float64{33.3, 33.3, 33.3}},
		{[]int64{89420, 55810}, []float64{61.6, 38.4}},
		{[]int64{1 << 60, 1, 1}, []float64{100, 0, 0}},
	} {
		rows := map[key]Counts{}
		for i, n := range c.parts {
			rows[key{Tool: string(rune('a' + i))}] = Counts{In: n}
		}
		var got []float64
		for _, s := range shares(rows, byTool) {
			got = append(got, s.Percent)
		}
		same(t, got, c.want)
	}
}

// The last session of an agent is known from its receipts. For a new agent it is its client's.
// The present session is not the last.
func TestLastSession(t *testing.T) {
	dir, hour := t.TempDir(), func(n int) time.Time { return noon.Add(time.Duration(n) * time.Hour) }
	noted(t, dir, Options{},
		Receipt{At: hour(1), Agent: "cursor-a3f8", Client: "cursor", Session: "one", Tool: "t"}, Receipt{At: hour(5), Agent: "cursor-a3f8", Client: "cursor", Session: "one", Tool: "t"},
		Receipt{At: hour(6), Client: "cursor", Session: "two", Tool: "t"},
		Receipt{At: hour(8), Agent: "codex-1acc", Client: "codex", Session: "three", Tool: "t"},
		Receipt{At: hour(9), Agent: "cursor-beef", Client: "cursor", Session: "now", Tool: "t"}, Receipt{At: hour(9), Agent: "cursor-a3f8", Client: "cursor", Session: "now", Tool: "t"},
		Receipt{At: hour(2), Tool: "t"}, Receipt{At: hour(3), Tool: "t"},
	)
	u := open(t, dir, Options{})
	for _, tt := range []struct {
		agent, session string
		want           time.Time
	}{
		{"cursor-a3f8", "now", hour(1)},
		{"cursor-beef", "now", hour(6)},
		{"cursor", "new", hour(9)},
		{"", "", hour(3)},
		{"gemini", "new", time.Time{}},
	} {
		if got, err := u.LastSession(t.Context(), tt.agent, tt.session); err != nil || !got.Equal(tt.want) {
			t.Errorf("%q in %q: %v, %v, want %v", tt.agent, tt.session, got, err, tt.want)
		}
	}
}
