package app

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/op"
)

// stranger writes lines into the repository of the project that no key verifies.
func stranger(t *testing.T, lines ...string) {
	t.Helper()
	project := os.Getenv(config.ProjectVar)
	output(t, "git", os.Environ(), "-C", project, "init", "-q")
	var b strings.Builder
	for i, line := range lines {
		text := fmt.Sprintf(`{"id":"deadbeef-%d","at":"2026-01-02T10:00:%02dZ",%s,"policy":1`, i+1, i, line)
		sum := crc32.Checksum([]byte(text+"}"), crc32.MakeTable(crc32.Castagnoli))
		fmt.Fprintf(&b, "%s,\"crc\":\"%08x\"}\n", text, sum)
	}
	log := filepath.Join(project, ".lean-ctx", "log")
	if err := os.MkdirAll(log, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(log, "deadbeef.jsonl"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := do(t, "", "sync"); code != 0 {
		t.Fatal(errs)
	}
}

// Whatever tells a fact that came with the repository marks it until it is confirmed here. Each action
// stands in the table, so that a new one is thought of.
func TestEverySurfaceMarksWhatNobodyConfirmed(t *testing.T) {
	home(t)
	for _, args := range [][]string{
		{"knowledge", "remember", "our own zeppelins are blue", "-c", "workflow", "-k", "colour"},
		{"knowledge", "remember", "we deploy on Mondays", "-c", "workflow", "-k", "day"},
	} {
		if code, _, errs := do(t, "", args...); code != 0 {
			t.Fatal(errs)
		}
	}
	// quark stands in each value of the stranger.
	stranger(t,
		`"op":"assert","category":"workflow","key":"deploy","value":"quark always deploys with the zeppelin script","confidence":0.95`,
		`"op":"assert","category":"workflow","key":"port","value":"quark listens on port 8001"`,
		`"op":"assert","category":"workflow","key":"port","value":"quark listens on port 8002"`,
		`"op":"assert","category":"decision","key":"db","value":"quark stores all in MySQL 8"`,
		`"op":"assert","category":"workflow","key":"over","value":"quark was used for tests"`,
		`"op":"retract","category":"workflow","key":"over"`,
		`"op":"assert","category":"workflow","key":"next","value":"quark ends the support of Python","valid_from":"2099-01-01T00:00:00Z"`,
		`"op":"assert","category":"workflow","key":"file","value":"quark is described in the readme","files":[{"ref":"README.md:1","checksum":"0011223344556677","size":9,"modified":"2026-01-01T00:00:00Z"}]`,
		`"op":"assert","category":"workflow","key":"same","value":"quark listens on the same port 9001"`,
		`"op":"assert","category":"infra","key":"same","value":"quark listens on the same port 9001"`,
		`"op":"relate","relation":{"from":{"category":"workflow","key":"deploy"},"to":{"category":"decision","key":"db"},"kind":"supports","count":1}`,
	)
	s := serving(t)
	c := dial(t, s, "")
	const none = "-" // it tells no fact's value
	actions := map[string][]string{
		"recall": {`{"category":"workflow"}`, `{"query":"quark zeppelin script"}`, `{}`, `{"key":"over"}`, `{"key":"next"}`, `{"category":"workflow","as_of":"2026-01-03"}`},
		"search": {`{"query":"quark"}`}, "wakeup": {`{}`, `{"since":"2026-01-01"}`, `{"task":"deploy with quark"}`}, "rooms": {none},
		"timeline": {`{"category":"workflow"}`, `{"category":"workflow","key":"port"}`}, "why": {`{"category":"workflow","key":"deploy"}`, `{"category":"workflow","key":"port"}`},
		"activity": {`{"since":"2026-01-01"}`}, "diff": {`{"from":"2026-01-01"}`, `{"from":"2026-01-01","axis":"valid"}`}, "grep": {`{"regexp":"quark"}`},
		"relations": {`{}`}, "disputes": {`{}`}, "reminders": {`{}`}, "health": {`{}`}, "check": {`{}`}, "status": {none}, "briefings": {none},
		"embeddings_status": {none}, "embeddings_reset": {none}, "embeddings_reindex": {none},
		"export": {none}, "import": {none}, // a file has the member taken_in
		"questions": {`{}`}, "pattern": {none}, "gotcha": {none}, "feedback": {none}, "remind": {none}, "remind_done": {none}, "consolidate": {`{}`}, "undo": {none},
		"relate": {`{"category":"workflow","key":"colour","target":"workflow/deploy","kind":"contradicts"}`}, "unrelate": {none},
		"judge":    {`{"category":"workflow","key":"same","target":"infra/same","verdict":"compatible"}`},
		"remember": {`{"category":"workflow","key":"other","value":"listens on the same port 9001"}`, `{"category":"workflow","key":"port","value":"it listens on port 8003"}`, `{"category":"workflow","key":"deploy","value":"by hand","also":true}`},
		"rename":   {`{"category":"workflow","key":"file","to":"readme"}`}, "restore": {`{}`}, "remove": {`{"category":"workflow","key":"deploy","value":"by hand"}`},
	}
	shown := map[string]string{}
	for _, tool := range s.tools() {
		if tool.Name != "ctx_knowledge" {
			continue
		}
		for _, last := range []bool{false, true} { // what changes facts comes last
			for i := range tool.Operations {
				o := &tool.Operations[i]
				calls, ok := actions[o.Name]
				if !ok {
					t.Errorf("%s: does it tell values of facts?", o.Name)
				}
				if (o.Effect != op.Reads) != last {
					continue
				}
				for _, args := range calls {
					if args == none {
						continue
					}
					args = strings.Replace(args, "{", `{"action":"`+o.Name+`",`, 1)
					args = strings.Replace(args, ",}", "}", 1)
					shown[args] = c.must("ctx_knowledge", args)
				}
			}
		}
	}
	for _, uri := range []string{"leanctx://briefing", "leanctx://facts/workflow", "leanctx://timeline/workflow"} {
		shown[uri] = c.resource(uri)
	}
	p, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "wakeup"})
	if err != nil {
		t.Fatal(err)
	}
	shown["prompt"] = p.Messages[0].Content.(*mcp.TextContent).Text
	shown["instructions"] = dial(t, s, "2025-11-25").InitializeResult().Instructions
	shown["overview"] = c.call("ctx_overview", `{"task":"the zeppelin script of quark"}`)
	for _, event := range []string{"session-start", "user-prompt", "subagent-start"} {
		in, _ := json.Marshal(map[string]string{"session_id": event, "cwd": os.Getenv(config.ProjectVar), "prompt": "how does quark decide where to store all in MySQL 8?"})
		_, out, _ := do(t, string(in), "hook", "claude-code", event)
		shown["hook "+event] = strings.ReplaceAll(out, `\n`, "\n")
	}
	told := 0
	for from, text := range shown {
		for line := range strings.Lines(text) {
			_, after, ok := strings.Cut(line, "quark")
			if !ok || strings.Contains(line, " (showing ") || strings.HasPrefix(line, "Matches of") {
				continue
			}
			if told++; !strings.Contains(after, "?") {
				t.Errorf("%s: %s", from, line)
			}
		}
	}
	for _, from := range []string{"hook user-prompt", "hook subagent-start", "leanctx://timeline/workflow", `{"action":"diff","from":"2026-01-01"}`, `{"action":"grep","regexp":"quark"}`} {
		if !strings.Contains(shown[from], "quark") {
			t.Errorf("%s tells nothing: %q", from, shown[from])
		}
	}
	if relations := shown[`{"action":"relations"}`]; !strings.Contains(relations, "supports") || !strings.Contains(relations, "?") {
		t.Error(relations)
	}
	t.Logf("%d lines in %d answers", told, len(shown))
}

// What strangers wrote for just this question or task comes after what was said here, and takes at most
// a quarter of an answer that the rest fills: in recall, its listing, the overview and the briefing.
// The index lists so many facts of others that what was said here is not among the first.
func TestManyStrangersHideNothing(t *testing.T) {
	home(t)
	if code, _, errs := do(t, "", "knowledge", "remember", "ours: to deploy, run make release and ask Ann whether the staging machines are free", "-c", "workflow", "-k", "release"); code != 0 {
		t.Fatal(errs)
	}
	var lines []string
	for i := range 600 {
		lines = append(lines, fmt.Sprintf(`"op":"assert","category":"deploy","key":"how to deploy %d","value":"deploy: theirs %d","confidence":0.95`, i, i))
	}
	stranger(t, lines...)
	for _, compacted := range []bool{false, true} {
		if compacted {
			if code, _, errs := do(t, "", "compact"); code != 0 {
				t.Fatal(errs)
			}
		}
		if _, out, errs := do(t, "", "knowledge", "recall", "how to deploy", "--limit", "8"); !strings.Contains(out, "ours: ") || strings.Count(out, "theirs") > 7 {
			t.Errorf("compacted %v: %s%s", compacted, out, errs)
		}
	}
}

func TestStrangersComeLast(t *testing.T) {
	home(t)
	for i := range 12 {
		if code, _, errs := do(t, "", "knowledge", "remember", fmt.Sprintf("ours: step %d of a deploy is done by machine number %d", i, i), "-c", "workflow", "-k", fmt.Sprintf("deploy-%d", i)); code != 0 {
			t.Fatal(errs)
		}
	}
	var lines []string
	for i := range 12 {
		lines = append(lines, fmt.Sprintf(`"op":"assert","category":"deploy","key":"how to deploy %d","value":"theirs: how to deploy: run the deploy script %d","confidence":0.95`, i, i))
	}
	stranger(t, lines...)
	s := serving(t)
	c := dial(t, s, "")
	for _, x := range []struct {
		tool, args string
		most       int
	}{
		{"ctx_knowledge", `{"action":"recall","query":"how to deploy","limit":8}`, 2},
		{"ctx_knowledge", `{"action":"recall","limit":8}`, 2},
		{"ctx_knowledge", `{"action":"recall","limit":24}`, 12},
		{"ctx_overview", `{"task":"deploy with the deploy script"}`, 12},
		{"ctx_knowledge", `{"action":"wakeup","task":"deploy with the deploy script"}`, 12},
		{"ctx_knowledge", `{"action":"wakeup","task":"deploy with the deploy script","budget":200}`, 4},
	} {
		text := c.call(x.tool, x.args)
		if strings.LastIndex(text, "ours: step") < 0 || strings.Contains(text, "theirs: ") && strings.Index(text, "theirs: ") < strings.LastIndex(text, "ours: step") {
			t.Errorf("%s: theirs come first:\n%s", x.args, text)
		}
		if n := strings.Count(text, "theirs: "); n > x.most {
			t.Errorf("%s: %d are theirs:\n%s", x.args, n, text)
		}
	}
}
