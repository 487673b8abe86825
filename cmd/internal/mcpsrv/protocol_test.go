package mcpsrv

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tiktoken-go/tokenizer"

	"leanctx/cmd/internal/op"
	"leanctx/internal/prose"
)

const (
	recordings = "../../../testdata/clients"
	schemas    = "../../../testdata/mcp"
)

// Each request that a real client was seen to send gets one answer, and
// nothing else does.
func TestRecordedClients(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(recordings, "*.stdin.jsonl"))
	if err != nil || len(files) < 7 {
		t.Fatalf("recordings: %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".stdin.jsonl"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			list := serve(t, new(notebook).table(), nil, bytes.NewReader(data))
			requests := 0
			for line := range bytes.Lines(data) {
				var r answer
				if err := json.Unmarshal(line, &r); err != nil {
					t.Fatal(err)
				}
				if r.ID == nil {
					continue
				}
				requests++
				a := one(t, list, string(r.ID))
				// The recorded server had a tool that ours does not.
				if a.Error != nil && r.Method != "tools/call" {
					t.Errorf("%s: %s", r.Method, a.text(t))
				}
			}
			answered := slices.DeleteFunc(list, func(a answer) bool { return a.Method != "" })
			if len(answered) != requests {
				t.Errorf("%d answers to %d requests", len(answered), requests)
			}
		})
	}
}

// definition is a part of the specification's schema.
func definition(t *testing.T, version, name string) *jsonschema.Resolved {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(schemas, "schema-"+version+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	s.Ref = "#/$defs/" + name
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What we answer is what the specification says an answer looks like.
func TestAnswersAreValid(t *testing.T) {
	methods := []struct{ method, params, schema string }{
		{"tools/list", ``, "ListToolsResult"},
		{"resources/list", ``, "ListResourcesResult"},
		{"resources/templates/list", ``, "ListResourceTemplatesResult"},
		{"prompts/list", ``, "ListPromptsResult"},
		{"tools/call", `"name":"ctx_knowledge","arguments":{"action":"remember","value":"x"}`, "CallToolResult"},
		{"tools/call", `"name":"ctx_knowledge","arguments":{"action":"remember"}`, "CallToolResult"},
		{"resources/read", `"uri":"leanctx://briefing"`, "ReadResourceResult"},
		{"resources/read", `"uri":"leanctx://timeline/a"`, "ReadResourceResult"},
		{"prompts/get", `"name":"wakeup","arguments":{"task":"x"}`, "GetPromptResult"},
		{"prompts/get", `"name":"handoff"`, "GetPromptResult"},
	}
	for version, hello := range map[string]struct{ prelude, id, schema, meta string }{
		"2025-11-25": {handshake, `"hello"`, "InitializeResult", ""},
		"2026-07-28": {`{"jsonrpc":"2.0","id":"hello","method":"server/discover","params":{` + meta2026 + "}}\n", `"hello"`, "DiscoverResult", meta2026},
	} {
		t.Run(version, func(t *testing.T) {
			var in strings.Builder
			in.WriteString(hello.prelude)
			for i, m := range methods {
				params := strings.Trim(m.params+","+hello.meta, ",")
				in.WriteString(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`+"\n", i, m.method, params))
			}
			list := serve(t, new(notebook).table(), nil, strings.NewReader(in.String()))
			check := func(id, name string) {
				a := one(t, list, id)
				var v any
				if a.Error != nil {
					t.Fatalf("%s: %s", name, a.text(t))
				}
				if err := json.Unmarshal(a.Result, &v); err != nil {
					t.Fatal(err)
				}
				if err := definition(t, version, name).Validate(v); err != nil {
					t.Errorf("%s: %v\n%s", name, err, a.Result)
				}
			}
			check(hello.id, hello.schema)
			for i, m := range methods {
				check(fmt.Sprint(i), m.schema)
			}
		})
	}
}

// connect opens a session of the SDK's own client.
func connect(t *testing.T, s *Server) *mcp.ClientSession {
	t.Helper()
	st, ct := mcp.NewInMemoryTransports()
	if _, err := s.MCP().Connect(t.Context(), st, nil); err != nil {
		t.Fatal(err)
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, nil).Connect(t.Context(), ct, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestToolsAsListed(t *testing.T) {
	c := connect(t, New(new(notebook).table(), nil))
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if tool.OutputSchema != nil {
			t.Errorf("%s has an output schema", tool.Name)
		}
	}
	if want := []string{"ctx_knowledge", "ctx_recall"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	got, err := json.Marshal([]any{list.Tools[0].Annotations, list.Tools[1].Annotations, list.Tools[0].Meta})
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"destructiveHint":false,"idempotentHint":true,"openWorldHint":false,"readOnlyHint":false},` +
		`{"destructiveHint":false,"idempotentHint":true,"openWorldHint":false,"readOnlyHint":true},` +
		`{"anthropic/maxResultSizeChars":200000,"anthropic/searchHint":"memory notes"}]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// Every session of every client pays for the list of tools.
func TestToolsCostAtMost3000Tokens(t *testing.T) {
	var out bytes.Buffer
	request := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta2026 + `}}`
	if err := New(op.All(op.Stores{}), &Options{Grace: time.Hour}).ServeStdio(t.Context(), strings.NewReader(request), &out); err != nil {
		t.Fatal(err)
	}
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := codec.Count(out.String()); err != nil || n > 3000 {
		t.Errorf("tools/list takes %d tokens, 3000 at most; %v", n, err)
	} else {
		t.Logf("%d tokens", n)
	}
}

func TestListsAreTheSameBytes(t *testing.T) {
	request := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta2026 + `}}`
	first := serve(t, new(notebook).table(), nil, strings.NewReader(request))
	for range 10 {
		again := serve(t, new(notebook).table(), nil, strings.NewReader(request))
		if diff := cmp.Diff(first, again); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestResources(t *testing.T) {
	n := &notebook{lines: []string{"x"}}
	c := connect(t, New(n.table(), nil))
	for uri, want := range map[string]string{
		"leanctx://briefing":                       "WAKE-UP BRIEFING:\nARCHITECTURE:auth=JWT★★★",
		"leanctx://facts/architecture":             "architecture[x]",
		"leanctx://timeline/two%20words":           "two words[x]",
		"leanctx://facts/a%2Fb":                    "a/b[x]",
		"leanctx://facts/%D0%B0%D1%80%D1%85":       "арх[x]",
		"leanctx://facts/session-decision":         "session-decision[x]",
		"leanctx://facts/50%":                      "50%[x]",
		"leanctx://facts/50%25":                    "50%[x]",
		"leanctx://timeline/v1.2_x~y":              "v1.2_x~y[x]",
		"leanctx://facts/%E6%9E%B6%E6%9E%84":       "架构[x]",
		"leanctx://facts/архитектура":              "архитектура[x]",
		"leanctx://facts/two words":                "two words[x]",
		"leanctx://facts/src/auth":                 "src/auth[x]",
		"leanctx://timeline/a:b,c;d@e!$&'()*+=%3F": "a:b,c;d@e!$&'()*+=?[x]",
	} {
		r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		if r.Contents[0].URI != uri {
			t.Errorf("%s: answered as %s", uri, r.Contents[0].URI)
		}
		if got := r.Contents[0].Text; got != want {
			t.Errorf("%s: got %q, want %q", uri, got, want)
		}
	}
	templates, err := c.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 2 {
		t.Errorf("templates: %+v, %v", templates, err)
	}
}

func TestPrompts(t *testing.T) {
	c := connect(t, New(new(notebook).table(), nil))
	for _, tt := range []struct {
		name string
		args map[string]string
		want []string
	}{
		{"wakeup", nil, []string{dataLine + "\nARCHITECTURE:auth=JWT★★★\n"}},
		{"wakeup", map[string]string{"task": "fix the login", "budget": "100"}, []string{dataLine, "fix the login"}},
		{"handoff", nil, []string{"choose who continues", dataLine}},
		{"handoff", map[string]string{"to_agent": "claude", "message": "mind the cache"}, []string{"over to claude", "mind the cache"}},
	} {
		r, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: tt.name, Arguments: tt.args})
		if err != nil {
			t.Fatal(err)
		}
		text := r.Messages[0].Content.(*mcp.TextContent).Text
		for _, want := range tt.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in %q", tt.name, want, text)
			}
		}
	}
	if _, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "wakeup", Arguments: map[string]string{"budget": "much"}}); err == nil {
		t.Error("a budget that is no number was taken")
	}
}

// A resource fills what a model reads no more than an answer of a tool does, and a prompt takes no argument that would.
func TestResourcesAndPromptsAreBounded(t *testing.T) {
	n := &notebook{lines: slices.Repeat([]string{strings.Repeat("long ", 1000)}, 300)}
	c := connect(t, New(n.table(), nil))
	for _, uri := range []string{"leanctx://facts/a", "leanctx://timeline/a"} {
		r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			t.Fatal(err)
		}
		if text := r.Contents[0].Text; len(text) > prose.MaxAnswer || !strings.Contains(text, "cut to") {
			t.Errorf("%s: %d bytes, %.60q", uri, len(text), text[max(0, len(text)-60):])
		}
	}
	for name, argument := range map[string]string{"wakeup": "task", "handoff": "message"} {
		args := map[string]string{argument: strings.Repeat("x", maxPromptArgument+1)}
		if _, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: name, Arguments: args}); err == nil || !strings.Contains(err.Error(), "4,097 bytes") {
			t.Errorf("%s of %s: %v", argument, name, err)
		}
	}
}

// Nothing is left running when a connection is over.
func TestGoroutinesEnd(t *testing.T) {
	tools := new(notebook).table()
	serve(t, tools, nil, strings.NewReader(handshake)) // what is started once for all
	before := runtime.NumGoroutine()
	for range 50 {
		serve(t, tools, nil, strings.NewReader(call("1", "ctx_knowledge", `{"action":"remember","value":"x"}`)))
	}
	// A goroutine that is past its last statement may still be counted, for as long as it gets no processor.
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}

// A server looks for changes only while somebody is subscribed, and one that
// cannot tell of any says so.
func TestNobodyLooksForNobody(t *testing.T) {
	subscribe := handshake + `{"jsonrpc":"2.0","id":"s","method":"resources/subscribe","params":{"uri":"leanctx://briefing"}}` + "\n"
	for name, o := range map[string]*Options{"with": {Stamp: func(context.Context) string { return "" }}, "without": {}} {
		s := New(new(notebook).table(), o)
		var out bytes.Buffer
		if err := s.ServeStdio(t.Context(), strings.NewReader(subscribe), &out); err != nil {
			t.Fatal(err)
		}
		if a := one(t, answers(t, out.Bytes()), `"s"`); (a.Error == nil) != (o.Stamp != nil) {
			t.Errorf("%s a stamp: %s", name, &out)
		}
		if s.watch.stop != nil || len(s.watch.all) > 0 {
			t.Errorf("%s a stamp: it still looks for %v", name, s.watch.all)
		}
	}
}
