package mcpsrv

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// BenchmarkServe is what one call costs apart from what it does. It is New and a whole
// connection with one request. The table's own part is the floor.
func BenchmarkServe(b *testing.B) {
	n := new(notebook)
	tools := n.table()
	request := call("1", "ctx_recall", `{"action":"who"}`)
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			args, err := arguments(json.RawMessage(`{"action":"who"}`))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := tools[1].Call(b.Context(), "", args); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("connection", func(b *testing.B) {
		for b.Loop() {
			var out bytes.Buffer
			if err := New(tools, nil).ServeStdio(b.Context(), strings.NewReader(request), &out); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("warm", func(b *testing.B) {
		st, ct := mcp.NewInMemoryTransports()
		if _, err := New(tools, nil).MCP().Connect(b.Context(), st, nil); err != nil {
			b.Fatal(err)
		}
		c, err := mcp.NewClient(&mcp.Implementation{Name: "tester"}, nil).Connect(b.Context(), ct, nil)
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		for b.Loop() {
			if _, err := c.CallTool(b.Context(), &mcp.CallToolParams{Name: "ctx_recall", Arguments: map[string]any{"action": "who"}}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
