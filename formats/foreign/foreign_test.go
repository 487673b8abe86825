package foreign

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// facts shows what a memory holds, a line a record.
func facts(m *Memory) (out []string) {
	for i, r := range m.Records {
		s := fmt.Sprintf("[%s/%s] %s", r.Category, r.Key, r.Value)
		if r.Source != "" {
			s += " <" + r.Source + ">"
		}
		if len(r.Tags) > 0 {
			s += " #" + strings.Join(r.Tags, " #")
		}
		if r.ValidFrom != nil {
			s += r.ValidFrom.Format(" from 2006-01-02")
		}
		if r.ValidUntil != nil {
			s += r.ValidUntil.Format(" until 2006-01-02")
		}
		if r.Questions != "" {
			s += " ? " + r.Questions
		}
		out = append(out, s)
		if len(m.Lines) <= i {
			panic("a record without a line")
		}
	}
	for _, l := range m.LeftOut {
		out = append(out, fmt.Sprintf("left out: %d %s", l.Count, l.What))
	}
	for _, b := range m.Bad {
		out = append(out, b.Error())
	}
	return out
}

func parse(t *testing.T, files ...File) *Memory {
	t.Helper()
	m, err := Parse(files, "shop")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func check(t *testing.T, program string, m *Memory, want ...string) {
	t.Helper()
	if m.Program != program {
		t.Errorf("program %q, want %q", m.Program, program)
	}
	if d := cmp.Diff(want, facts(m)); d != "" {
		t.Error(d)
	}
}

// The file was written by @modelcontextprotocol/server-memory 2026.8.31.
func TestMemoryServer(t *testing.T) {
	text, err := os.ReadFile("testdata/memory.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	check(t, "MCP memory server", parse(t, File{"memory.jsonl", text}),
		"[service/checkout-service#1] written in Go 1.26 <memory.jsonl:1>",
		"[service/checkout-service#2] owns the payments table <memory.jsonl:1>",
		"[service/checkout-service#3] deployed to eu-central-1 <memory.jsonl:1>",
		"[person/Ana Pires#1] maintains checkout-service <memory.jsonl:2>",
		"[person/Ana Pires maintains] checkout-service <memory.jsonl:4>",
		"[service/checkout-service stores data in] PostgreSQL <memory.jsonl:5>",
		"left out: 1 entities without observations")
	bad := parse(t, File{"memory.jsonl", []byte(`{"type":"entity","name":"a","entityType":"b","observations":["c"]}` + "\n{\n" + `{"type":"note"}`)})
	if len(bad.Records) != 1 || len(bad.Bad) != 2 || bad.Bad[0].Line != 2 || bad.Bad[1].Line != 3 {
		t.Errorf("%+v", bad)
	}
}

// An odd entry hides no others, wherever it stands.
func TestOddEntriesAreNamed(t *testing.T) {
	const entity, relation = `{"type":"entity","name":"a","entityType":"b","observations":["c"]}`, `{"type":"relation","from":"a","to":"x","relationType":"uses"}`
	for odd, want := range map[string]int{
		`{"type":"entity","name":"bare"}`:                                     0, // it has no observations
		`{"type":"entity","name":"a2","entityType":null,"observations":null}`: 0,
		`{"type":"entity","name":"a3","entityType":"b","observations":"c"}`:   1,
		`{"type":"entity","name":"a4","entityType":"b","observations":[1]}`:   1,
		`{"type":"entity","entityType":"b","observations":["c"]}`:             1,
		`{"name":"a5","entityType":"b","observations":["c"]}`:                 1,
		`{"type":"relation","from":"a"}`:                                      1,
		`{"type":"note"}`:                                                     1, `{}`: 1, `null`: 1, `[]`: 1, `"text"`: 1, `{`: 1, `{"type":`: 1, `text`: 1, "\x00": 1,
	} {
		for at := range 3 {
			lines := slices.Insert([]string{entity, relation}, at, odd)
			m, err := Parse([]File{{"memory.jsonl", []byte(strings.Join(lines, "\n") + "\n")}}, "shop")
			if err != nil {
				t.Errorf("%s as line %d: %v", odd, at+1, err)
				continue
			}
			if len(m.Records) != 2 || len(m.Bad) != want || want == 1 && m.Bad[0].Line != at+1 {
				t.Errorf("%s as line %d: %q", odd, at+1, facts(m))
			}
		}
	}
	for odd, want := range map[string]int{`{"id":"2"}`: 0, `{"id":"2","memory":null}`: 0, `{"id":"2","memory":5}`: 1, `{"id":"2","memory":"x","metadata":"y"}`: 1, `"text"`: 1, `[]`: 1, `null`: 0} {
		for at := range 2 {
			m, err := Parse([]File{{"m.json", []byte(`[` + strings.Join(slices.Insert([]string{`{"id":"1","memory":"a"}`}, at, odd), ",") + `]`)}}, "shop")
			if err != nil {
				t.Errorf("%s as element %d: %v", odd, at+1, err)
				continue
			}
			if len(m.Records) != 1 || len(m.Bad) != want || want == 1 && m.Bad[0].Position.String() != fmt.Sprintf("element %d", at+1) {
				t.Errorf("%s as element %d: %q", odd, at+1, facts(m))
			}
		}
	}
	for odd, want := range map[string]string{
		`{"type":"entity","name":"a","observations":"c"}`: "line 2: observations is text, not a list",
		`{"type":"entity","name":"a","observations":[7]}`: "line 2: observations is a number, not text", `[]`: "line 2: is a list, not an object", `{`: "line 2: is no JSON: unexpected end of JSON input",
	} {
		if m := parse(t, File{"memory.jsonl", []byte(entity + "\n" + odd)}); len(m.Bad) != 1 || m.Bad[0].Error() != want {
			t.Errorf("%s: %q, want %s", odd, m.Bad, want)
		}
	}
	m := parse(t, File{"e.json", []byte(strings.Replace(engramText, `"observations":[`, `"observations":[{"id":0,"content":7},`, 1))})
	if len(m.Records) != 2 || len(m.Bad) != 1 {
		t.Errorf("%q", facts(m))
	}
}

const engramText = `{"version":"1.20.0","exported_at":"2026-11-01","sessions":[{"id":"s1","project":"shop","summary":"x"}],"prompts":[],
"observations":[
 {"id":1,"type":"decision","title":"Auth uses JWT","content":"RS256, keys rotate monthly","project":"shop","scope":"project","topic_key":"architecture/auth","created_at":"2026-03-20 09:30:00","updated_at":"2026-04-01 00:00:00"},
 {"id":2,"type":"bugfix","title":"Double charge","content":"Double charge came from a retried webhook","project":"shop","created_at":"2026-05-02 10:00:00"},
 {"id":3,"type":"decision","title":"Other","content":"of another project","project":"blog"},
 {"id":4,"type":"decision","title":"Gone","content":"deleted","project":"shop","deleted_at":"2026-05-03 10:00:00"},
 {"id":5,"type":"preference","title":"Tea","content":"mine","project":"shop","scope":"personal"}]}`

func TestEngramOfOneProject(t *testing.T) {
	check(t, "engram", parse(t, File{"e.json", []byte(engramText)}),
		"[architecture/auth] Auth uses JWT: RS256, keys rotate monthly from 2026-03-20",
		"[bugfix/double-charge] Double charge came from a retried webhook from 2026-05-02",
		"left out: 1 sessions", "left out: 1 observations of other projects", "left out: 1 deleted observations", "left out: 1 personal observations")
	_, err := Parse([]File{{"e.json", []byte(engramText)}}, "another")
	if e, ok := errors.AsType[*ProjectError](err); !ok || len(e.Have) != 2 {
		t.Errorf("a file without the project: %v", err)
	}
}

// Code comes along with the line that it belongs to: the one above it, or the heading.
func TestCodeBelongsToALine(t *testing.T) {
	fenced := func(code string) string { return "```sh\n" + code + "\n```\n" }
	const rest = "\n    indented: code\n"
	check(t, "CLAUDE.md", parse(t, File{"CLAUDE.md", []byte("# Build\n" + fenced("make all\nmake test: x") + "\n## Deploy\nDeploy on Mondays\n" + fenced("make deploy") + fenced("make check") +
		"\n## Style\n- Format before a commit\n\n  " + strings.ReplaceAll(fenced("gofmt -w ."), "\n", "\n  ") + "\n- Tabs\n\n" + fenced("expand") + "\n## Build\n" + rest + fenced(""))}),
		"[convention/build] make all\nmake test: x <CLAUDE.md:3-4>",
		"[convention/deploy-deploy-on-mondays] Deploy on Mondays\nmake deploy\nmake check <CLAUDE.md:8-13>",
		"[convention/style-format-before-a-commit] Format before a commit\ngofmt -w . <CLAUDE.md:17-20>",
		"[convention/style-tabs] Tabs <CLAUDE.md:23>",
		"[convention/style] expand <CLAUDE.md:26>",
		"[convention/build-2] indented: code <CLAUDE.md:31>")
}

func TestMem0(t *testing.T) {
	const item = `{"id":"1","memory":"Prefers pnpm over npm","hash":"h","metadata":{"category":"tooling","app":"x"},"created_at":"2026-02-03T04:05:06.123456-07:00","updated_at":null}`
	want := []string{"[tooling/prefers-pnpm-over-npm] Prefers pnpm over npm from 2026-02-03", "left out: 1 fields of metadata"}
	check(t, "mem0", parse(t, File{"m.json", []byte(`{"count":1,"results":[` + item + `]}`)}), want...)
	check(t, "mem0", parse(t, File{"m.json", []byte(`[` + item + `]`)}), want...)
	check(t, "mem0", parse(t, File{"m.json", []byte(`{"results":[{"id":"1","memory":"Node SDK","createdAt":"2026-01-02T00:00:00Z","metadata":{}}]}`)}),
		"[memory/node-sdk] Node SDK from 2026-01-02")
	// Whose a memory is has no place here, and is named as left out.
	check(t, "mem0", parse(t, File{"m.json", []byte(`[{"id":"1","memory":"a","user_id":"ann","agent_id":"x","run_id":"r","app_id":"p","actor_id":"c"},{"id":"2","memory":"b","userId":"bob","agentId":null}]`)}),
		"[memory/a] a", "[memory/b] b", "left out: 2 user ids", "left out: 1 agent ids", "left out: 1 run ids", "left out: 1 app ids", "left out: 1 actor ids")
}

func TestInstructions(t *testing.T) {
	const text = `# Shop

Payments are in cents. ![a picture](p.png)

## Stack
- **Database**: PostgreSQL 16
- Queue: ` + "`NATS`" + ` (see [the notes](docs/queue.md))
- Never deploy on Friday
  afternoons
- Releases are cut on Monday. Before one:
  - run ` + "`make check`" + `
  - tag it

<!-- lean-ctx:begin v1 -->
## Memory
- call ctx_knowledge
<!-- lean-ctx:end -->

## Build
Build with:

` + "```sh\nmake build\n```" + `

` + "```sh\nmake alone\n```" + `

| command | does |
|---|---|
| make test | runs all tests |
`
	check(t, "CLAUDE.md", parse(t, File{"CLAUDE.md", []byte(text)}),
		"[convention/shop-payments-are-in-cents] Payments are in cents. <CLAUDE.md:3>",
		"[convention/stack-database] PostgreSQL 16 <CLAUDE.md:6>",
		"[convention/stack-queue] `NATS` (see the notes (docs/queue.md)) <CLAUDE.md:7>",
		"[convention/stack-never-deploy-on-friday-afternoons] Never deploy on Friday afternoons <CLAUDE.md:8-9>",
		"[convention/stack-releases-are-cut-on-monday] Releases are cut on Monday. <CLAUDE.md:10>",
		"[convention/stack-before-one-run-make-check] Before one: run `make check` <CLAUDE.md:11>",
		"[convention/stack-before-one-tag-it] Before one: tag it <CLAUDE.md:12>",
		"[convention/build-build-with] make build\nmake alone <CLAUDE.md:20-27>",
		"[convention/build-make-test] runs all tests <CLAUDE.md:32>")
}

func TestClaudeAutoMemory(t *testing.T) {
	m := parse(t,
		File{"memory/MEMORY.md", []byte("- [Testing](testing.md) — how tests run\n- Uses bun\n")},
		File{"memory/testing.md", []byte("---\nname: testing\ndescription: How are tests run?\ntype: feedback\n---\n\nRun one package at a time.\n\n**Why:** memory is short.\n")})
	check(t, "Claude Code's auto memory", m,
		"[memory/uses-bun] Uses bun <memory/MEMORY.md:2>",
		"[convention/testing] Run one package at a time.\nWhy: memory is short. <memory/testing.md:6-9> ? How are tests run?",
		"left out: 1 lines of the index")
}

func TestBasicMemory(t *testing.T) {
	check(t, "basic-memory", parse(t, File{"auth.md", []byte("---\ntitle: Auth\ntype: note\ntags: [auth]\npermalink: architecture/auth\n---\n# Auth\n\n- [decision] JWT RS256 #security (chosen over HS256)\n- depends_on [[Database]] (users table)\n- depends_on [[Mail]]\n- plain words\n")}),
		"[decision/auth-jwt-rs256-chosen-over-hs256] JWT RS256 (chosen over HS256) <auth.md:9> #auth #security",
		"[note/Auth depends_on] Database, Mail <auth.md> #auth",
		"[note/auth-plain-words] plain words <auth.md:12> #auth")
}

func TestOpenKnowledge(t *testing.T) {
	check(t, "Open Knowledge Format", parse(t, File{"k/auth.md", []byte("---\ntype: decision\ntitle: Auth uses JWT\ndescription: how do users log in\ntags: [auth]\ngenerated: {by: \"x/1.0\", at: 2026-11-01T10:00:00Z}\nleanctx_category: architecture\nleanctx_key: auth\nleanctx_valid_from: 2026-10-01T10:00:00Z\n---\nJWT RS256, verified against the public key.\n")}),
		"[architecture/auth] JWT RS256, verified against the public key. <k/auth.md:11> #auth from 2026-10-01 ? how do users log in")
	check(t, "Open Knowledge Format", parse(t, File{"old.md", []byte("---\ntype: decision\nstatus: deprecated\n---\nGone.\n")}), "left out: 1 deprecated notes")
}

func TestOthersAreNotTaken(t *testing.T) {
	for _, text := range []string{"", "  ", "words alone", `{"schema":1,"facts":[]}`, `[{"category":"a","key":"b","value":"c"}]`, `{"category":"a","key":"b","value":"c"}`, "{", "[", "[1]", "\x00\x01"} {
		if m, err := Parse([]File{{"f", []byte(text)}}, "shop"); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %+v, %v", text, m, err)
		}
	}
	if _, err := Parse([]File{{"issues.jsonl", []byte(`{"id":"bd-1","title":"x","status":"open","issue_type":"task"}`)}}, ""); !errors.Is(err, ErrTasks) {
		t.Errorf("beads: %v", err)
	}
	if _, err := Parse([]File{{"a.md", []byte("---\ntitle: [\n---\nx\n")}}, ""); err == nil || !strings.Contains(err.Error(), "a.md: front matter") {
		t.Errorf("broken front matter: %v", err)
	}
}

// Two statements never share a name, and a statement told twice is one.
func TestNamesAreUnique(t *testing.T) {
	m := parse(t, File{"AGENTS.md", []byte("# A\n- run the tests first\n- run the tests first\n- run the tests first!\n- 日本語の規則\n- !!!\n")})
	check(t, "AGENTS.md", m,
		"[convention/a-run-the-tests-first] run the tests first <AGENTS.md:2>",
		"[convention/a-run-the-tests-first-2] run the tests first! <AGENTS.md:4>",
		"[convention/a-日本語の規則] 日本語の規則 <AGENTS.md:5>",
		"[convention/a] !!! <AGENTS.md:6>")
}

func FuzzParse(f *testing.F) {
	f.Add("CLAUDE.md", "# A\n- b: c\n\n```\nd\n```\n|a|b|\n|-|-|\n|c|d|\n")
	f.Add("n.md", "---\ntitle: x\ntags: a, b\n---\n- [a] b #c\n- d [[E]]\n")
	f.Add("m.jsonl", `{"type":"entity","name":"a","entityType":"b","observations":["c"]}`)
	f.Add("e.json", engramText)
	f.Fuzz(func(t *testing.T, name, text string) {
		m, err := Parse([]File{{name, []byte(text)}}, "shop")
		if err != nil {
			return
		}
		names := map[string]bool{}
		for i, r := range m.Records {
			n := strings.ToLower(r.Category + "\x00" + r.Key)
			if strings.TrimSpace(r.Value) == "" || r.Key == "" || names[n] {
				t.Errorf("record %d: %+v", i, r)
			}
			names[n] = true
		}
	})
}

// Texts that begin alike are numbered in a time that grows with their number alone, and what is
// said twice counts once.
func TestManyTextsThatBeginAlike(t *testing.T) {
	var text strings.Builder
	for i := range 5_000 {
		fmt.Fprintf(&text, "- one two three four five %d\n- one two three four five 7\n", i)
	}
	m, err := Parse([]File{{"notes.md", []byte(text.String())}}, "p")
	if err != nil || len(m.Records) != 5_000 || m.Records[4_999].Key != "one-two-three-four-five-5000" {
		t.Fatal(err, len(m.Records))
	}
}

// Each row of a table is a statement: the first cell, and the others under the names of their
// columns.
func TestTables(t *testing.T) {
	m := parse(t, File{"CLAUDE.md", []byte("# Commands\n\nWhat to run.\n| Command | Does | When |\n|:--|---|--:|\n| `make test` | runs **all** tests | before a push |\n| `a \\| b` | pipes | |\n| lonely |\n\n" +
		"Tool | Version\n--- | ---\nGo | 1.26\n\nNo | table\nhere | at all\n\n" +
		"> Limits.\n> | What | Limit |\n> |---|---|\n> | Delay | > 5 ms |\n> | Rank | # 3 |\n> | Order | 2. after it |\n> | Nothing | <none> |\n> | Sign | - |\n")})
	var got []string
	for _, r := range m.Records {
		got = append(got, r.Key+" = "+r.Value+" @"+r.Source)
	}
	want := []string{
		"commands-what-to-run = What to run. @CLAUDE.md:3",
		"commands-make-test-does-runs-all = `make test`: Does runs all tests, When before a push @CLAUDE.md:6",
		"commands-a-b-does-pipes = `a | b`: Does pipes @CLAUDE.md:7",
		"commands-go = 1.26 @CLAUDE.md:12",
		"commands-no-table-here-at-all = No | table here | at all @CLAUDE.md:14-15",
		"commands-limits = Limits. @CLAUDE.md:17",
		"commands-delay = > 5 ms @CLAUDE.md:20",
		"commands-rank = # 3 @CLAUDE.md:21",
		"commands-order = 2. after it @CLAUDE.md:22",
		"commands-sign = - @CLAUDE.md:24",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
