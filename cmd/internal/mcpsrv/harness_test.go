package mcpsrv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"leanctx/cmd/internal/op"
)

// notebook is what the table of the tests works on: enough of a store to see
// the order of calls.
type notebook struct {
	mu    sync.Mutex
	lines []string
	gate  chan struct{} // what "wait" waits for
}

type note struct {
	Value string   `json:"value" jsonschema:"what to note"`
	Key   string   `json:"key,omitempty"`
	Tags  []string `json:"tags,omitempty"`
}

type about struct {
	Category string `json:"category,omitempty"`
	Limit    int    `json:"limit,omitempty"`
	Budget   int    `json:"budget,omitempty"`
}

type result string

func (s result) Text() string { return string(s) + "\n" }

func (n *notebook) add(_ context.Context, _ op.Scope, a note) (result, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, a.Value)
	return result("noted " + a.Value), nil
}

func (n *notebook) list(_ context.Context, _ op.Scope, a about) (result, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return result(a.Category + "[" + strings.Join(n.lines, " ") + "]"), nil
}

// wokenUp is a briefing, which has a heading.
type wokenUp string

func (b wokenUp) Text() string { return "WAKE-UP BRIEFING:\n" + b.Body() + "\n" }
func (b wokenUp) Body() string { return string(b) }

func (n *notebook) wakeup(context.Context, op.Scope, about) (wokenUp, error) {
	return "ARCHITECTURE:auth=JWT★★★", nil
}

func (n *notebook) wait(ctx context.Context, _ op.Scope, _ struct{}) (result, error) {
	select {
	case <-n.gate:
		return "waited", nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (n *notebook) who(_ context.Context, sc op.Scope, _ struct{}) (result, error) {
	return result(sc.Caller.Kind + " " + sc.Caller.Name), nil
}

func fail(context.Context, op.Scope, struct{}) (result, error) {
	return "", errors.New("the disk is full")
}

func explode(context.Context, op.Scope, struct{}) (result, error) {
	var n *notebook
	return result(n.lines[0]), nil
}

// table is the table of operations of the tests.
func (n *notebook) table() []*op.Tool {
	reads := []op.Operation{
		op.New("recall", "List.", op.Reads, n.list),
		op.New("timeline", "List.", op.Reads, n.list),
		op.New("wakeup", "Brief.", op.Reads, n.wakeup),
		op.New("wait", "Wait.", op.Reads, n.wait),
		op.New("who", "Say who asks.", op.Reads, n.who),
		op.New("fail", "Fail.", op.Reads, fail),
		op.New("explode", "Panic.", op.Reads, explode),
	}
	writes := append([]op.Operation{op.New("remember", "Note.", op.Adds, n.add).Shown("value", "JWT")}, reads...)
	return []*op.Tool{
		{Name: "ctx_knowledge", Command: "knowledge", Title: "Notes", Summary: "Notes.", Hint: "memory notes", Operations: writes},
		{Name: "ctx_recall", Command: "recall", Title: "Notes, read-only", Summary: "Read notes.", Operations: reads},
	}
}

// answer is one line of output.
type answer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int
		Message string
	} `json:"error"`
}

// text is the text of a tool's answer, with "!" before an error.
func (a answer) text(t *testing.T) string {
	t.Helper()
	if a.Error != nil {
		return fmt.Sprintf("%d %s", a.Error.Code, a.Error.Message)
	}
	var r struct {
		Content []struct{ Text string }
		IsError bool
	}
	if err := json.Unmarshal(a.Result, &r); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if r.IsError {
		b.WriteString("!")
	}
	for i, c := range r.Content {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(c.Text)
	}
	return b.String()
}

// serve pipes input through a server and gives what came out. Every request is waited for, unless
// the options say how long.
func serve(t *testing.T, tools []*op.Tool, o *Options, input io.Reader) []answer {
	t.Helper()
	if o == nil {
		o = &Options{Grace: time.Hour}
	}
	var out bytes.Buffer
	if err := New(tools, o).ServeStdio(t.Context(), input, &out); err != nil {
		t.Errorf("serving: %v", err)
	}
	return answers(t, out.Bytes())
}

func answers(t *testing.T, out []byte) []answer {
	t.Helper()
	var list []answer
	for line := range bytes.Lines(out) {
		var a answer
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		if a.Version != "2.0" {
			t.Errorf("not JSON-RPC: %q", line)
		}
		list = append(list, a)
	}
	return list
}

// one is the answer to an id, of which there must be one.
func one(t *testing.T, list []answer, id string) answer {
	t.Helper()
	var found []answer
	for _, a := range list {
		if a.Method == "" && string(a.ID) == id {
			found = append(found, a)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d answers to %s in %+v", len(found), id, list)
	}
	return found[0]
}

const meta2026 = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"tester","version":"1"}}`

// call is a tools/call of the stateless era.
func call(id, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`+"\n", id, tool, args, meta2026)
}

// handshake opens a session of the older era.
const handshake = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`
