package mcpsrv

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Whatever comes in, it gets one answer that says what was wrong, and the next
// request is answered too.
func TestBadLines(t *testing.T) {
	tests := []struct{ name, line, id, want string }{
		{"not JSON", `hello`, "null", "-32700 parse error: the line is not JSON"},
		{"cut off", `{"jsonrpc":"2.0","id":1,"method":"tools/list"`, "null", "-32700 parse error: the line is not JSON"},
		{"two on a line", `{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"ping"}`, "null", "-32700 parse error: the line is not JSON"},
		{"control characters", "\x00\x01\x02", "null", "-32700 parse error: the line is not JSON"},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{\"x\":\"a\xffb\"}}", "7", "-32700 parse error: the line is not valid UTF-8"},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "null", "-32600 batches are not part of MCP: send one message a line"},
		{"an empty batch", `[]`, "null", "-32600 batches are not part of MCP: send one message a line"},
		{"a number", `42`, "null", "-32600 invalid request: a message is an object"},
		{"no version", `{"id":1,"method":"ping"}`, "1", `-32600 invalid request: invalid message version tag ""; expected "2.0"`},
		{"nothing", `{}`, "null", `-32600 invalid request: invalid message version tag ""; expected "2.0"`},
		{"no method", `{"jsonrpc":"2.0"}`, "null", "-32600 invalid request: invalid request"},
		{"method of another type", `{"jsonrpc":"2.0","id":"a","method":7}`, `"a"`, `-32600 invalid request: unmarshaling jsonrpc message: json: cannot unmarshal "7" into Go value of type string`},
		{"id of another type", `{"jsonrpc":"2.0","id":{"id":5},"method":"ping"}`, "null", "-32600 invalid request: parse error: invalid ID type map[string]interface {}"},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null", "-32600 invalid request: an id is a text or a whole number"},
		{"broken id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "1.5", "-32600 invalid request: an id is a text or a whole number"},
		{"id too great for the SDK", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "9007199254740993", "-32600 invalid request: an id is a text or a whole number"},
		{"params of another type", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":7}`, "1", ""},
		{"name of another type", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7,` + meta2026 + `}}`, "1", ""},
		{"unknown tool", call("1", "ctx_nothing", "{}"), "1", `-32602 unknown tool "ctx_nothing"`},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"tools/dance","params":{` + meta2026 + `}}`, "1", `-32601 method not found: "tools/dance"`},
		{"unknown version", strings.Replace(call("1", "ctx_recall", "{}"), "2026-07-28", "2099-01-01", 1), "1", "-32022 unsupported protocol version"},
		{"no handshake", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "1", `-32600 method "tools/list" is invalid during session initialization`},
		{"handshake without params", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, "1", `-32600 invalid request: missing required "params"`},
		{"handshake of another type", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":{}}}`, "1", ""},
		{"unknown resource", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"leanctx://nothing",` + meta2026 + `}}`, "1", "-32602 Resource not found"},
		{"no category", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"leanctx://facts/",` + meta2026 + `}}`, "1", "-32602 Resource not found"},
		{"unknown prompt", `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"x",` + meta2026 + `}}`, "1", ""},
		{"too deep", `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, "1", ""},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\",\"params\":{" + meta2026 + "}}", "1", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := new(notebook)
			input := strings.TrimSpace(tt.line) + "\n" + call(`"after"`, "ctx_recall", `{"action":"who"}`)
			list := serve(t, n.table(), nil, strings.NewReader(input))
			if len(list) != 2 {
				t.Fatalf("%d answers: %+v", len(list), list)
			}
			bad := one(t, list, tt.id)
			if bad.Error == nil || bad.Error.Code == 0 || len(bad.Error.Message) > 2*maxMessage {
				t.Fatalf("got %+v, want an error", bad)
			}
			if got := bad.text(t); tt.want != "" && got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if got := one(t, list, `"after"`).text(t); !strings.HasPrefix(got, "agent") {
				t.Errorf("the next request: %q", got)
			}
		})
	}
}

func TestHarmlessLines(t *testing.T) {
	n := new(notebook)
	input := "\xef\xbb\xbf" + "\n\r\n  \n" + // a byte order mark and empty lines
		`{"jsonrpc":"2.0","method":"notifications/nonsense"}` + "\n" +
		`{"jsonrpc":"2.0","id":99,"result":{}}` + "\n" + // an answer to nothing
		strings.TrimSpace(call("1", "ctx_recall", `{"action":"who"}`)) + "\r\n"
	list := serve(t, n.table(), nil, strings.NewReader(input))
	if got := one(t, list, "1").text(t); got != "agent tester" || len(list) != 1 {
		t.Errorf("got %q of %+v", got, list)
	}
}

func TestLongLine(t *testing.T) {
	long := strings.Repeat("x", 20<<20)
	tests := []struct{ name, line string }{
		{"a call", call("1", "ctx_knowledge", `{"action":"remember","value":"`+long+`"}`)},
		{"no JSON at all", long},
		{"white space at its end", long + strings.Repeat(" ", maxLine)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := new(notebook)
			input := strings.TrimSpace(tt.line) + "\n" + call("2", "ctx_knowledge", `{"action":"remember","value":"y"}`)
			list := serve(t, n.table(), nil, strings.NewReader(input))
			if got := one(t, list, "null").text(t); got != "-32600 message over 16 MiB" {
				t.Errorf("got %q", got)
			}
			if got := one(t, list, "2").text(t); got != "noted y" {
				t.Errorf("the next request: %q", got)
			}
		})
	}
}

func TestSameIDTwice(t *testing.T) {
	n := new(notebook)
	input := strings.Repeat(call("1", "ctx_knowledge", `{"action":"remember","value":"x"}`), 2)
	list := serve(t, n.table(), nil, strings.NewReader(input))
	if len(list) != 2 {
		t.Errorf("%d answers: %+v", len(list), list)
	}
}

func FuzzLines(f *testing.F) {
	f.Add(call("1", "ctx_recall", `{"action":"who"}`))
	f.Add(handshake + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ctx_knowledge","arguments":{"action":"remember","value":"x"}}}`)
	f.Add("[]\n{}\n\"\"\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\"}")
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{},` + meta2026 + `}}`)
	// In the bubble the grace ends only when nothing runs any more, however slow the machine is.
	f.Fuzz(func(t *testing.T, input string) { synctest.Test(t, func(t *testing.T) { answersAll(t, input) }) })
}

// answersAll checks that a request after any input is answered, and that no request is left open.
func answersAll(t *testing.T, input string) {
	n := new(notebook)
	n.gate = make(chan struct{})
	close(n.gate)
	last := call(`"the last"`, "ctx_recall", `{"action":"who"}`)
	var log bytes.Buffer // says when a request was never answered
	o := &Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})), Grace: time.Second}
	list := serve(t, n.table(), o, strings.NewReader(input+"\n"+last))
	if strings.Contains(log.String(), "still running") {
		t.Fatalf("no answer: %s", &log)
	}
	if strings.Contains(input, "the last") {
		return
	}
	if got := one(t, list, `"the last"`).text(t); !strings.HasPrefix(got, "agent") {
		t.Error(got)
	}
}

// A request of millions of elements is refused before it is decoded: decoded
// it would take forty times its bytes.
func TestTooManyElementsAreNotDecoded(t *testing.T) {
	many := strings.Repeat("1,", 1_000_000) + "1"
	text, err := json.Marshal(`{"action":"remember","value":[` + many + `]}`)
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string]string{
		"a list":             `{"action":"remember","value":[` + many + `]}`,
		"a list in a text":   `{"action":"remember","value":"x","tags":"[` + many + `]"}`,
		"an object in text":  string(text),
		"commas":             `{"action":"remember","value":"x","tags":"` + many + `"}`,
		"nested":             `{"action":"remember","value":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`,
		"nested in a string": `{"action":"remember","value":"x","tags":"` + strings.Repeat("[", 100) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			line := call("1", "ctx_knowledge", args)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			n := new(notebook)
			list := serve(t, n.table(), nil, strings.NewReader(line+"\n"+call("2", "ctx_recall", `{"action":"who"}`)))
			runtime.ReadMemStats(&after)
			if got := one(t, list, "1").text(t); !strings.Contains(got, "more than") {
				t.Errorf("got %.200q", got)
			}
			if len(list) != 2 || len(n.lines) > 0 {
				t.Errorf("%d answers, noted %d", len(list), len(n.lines))
			}
			// The line is read into a buffer that grows; its strings are copied at each step.
			if took, most := after.TotalAlloc-before.TotalAlloc, uint64(28*len(line)+8<<20); took > most {
				t.Errorf("%d MiB were allocated for a line of %d MiB, %d at most", took>>20, len(line)>>20, most>>20)
			}
		})
	}
}
