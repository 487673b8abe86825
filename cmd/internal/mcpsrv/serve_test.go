package mcpsrv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"leanctx/cmd/internal/op"
)

func TestCallsAreAnswered(t *testing.T) {
	tests := []struct{ name, args, want string }{
		{"a write", `{"action":"remember","value":"x"}`, "noted x"},
		{"a number for a text", `{"action":"remember","value":1.10}`, "noted 1.10"},
		{"arguments encoded twice", `"{\"action\":\"remember\",\"value\":\"x\"}"`, "noted x"},
		{"nothing needed", `{"action":"who"}`, "agent tester"},
		{"JSON", `{"action":"recall","output":"json"}`, `"[]"`},
		{"a notice", `{"action":"who","value":"x"}`, "agent tester\nnote: \"value\" is not an argument of who and was ignored"},
		{"missing", `{"action":"remember"}`, `!remember needs "value". Example: {"action":"remember","value":"JWT"}`},
		{"no arguments", `null`, `!ctx_knowledge needs "action": one of remember, recall, timeline, wakeup, wait, who, fail, explode. Example: {"action":"remember","value":"JWT"}`},
		{"a list", `[1]`, `!arguments must be an object such as {"action":"recall","query":"auth"}: json: cannot unmarshal array into Go value of type map[string]interface {}`},
		{"failing", `{"action":"fail"}`, "!the disk is full"},
		{"panicking", `{"action":"explode"}`, "!internal error in tools/call: runtime error: invalid memory address or nil pointer dereference; the server's log has the stack"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for era, prelude := range map[string]string{"2026-07-28": "", "2025-11-25": handshake} {
				request := call("7", "ctx_knowledge", tt.args)
				if prelude != "" {
					request = prelude + strings.Replace(request, ","+meta2026, "", 1)
				}
				list := serve(t, new(notebook).table(), nil, strings.NewReader(request))
				if got := one(t, list, "7").text(t); got != tt.want {
					t.Errorf("%s: got %q, want %q", era, got, tt.want)
				}
			}
		})
	}
}

func TestPanicIsLogged(t *testing.T) {
	var log bytes.Buffer
	o := &Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	input := call("1", "ctx_recall", `{"action":"explode"}`) + call("2", "ctx_recall", `{"action":"who"}`)
	list := serve(t, new(notebook).table(), o, strings.NewReader(input))
	if got := one(t, list, "2").text(t); got != "agent tester" {
		t.Errorf("after a panic: %q", got)
	}
	if !strings.Contains(log.String(), "mcpsrv.explode") {
		t.Errorf("no stack in the log: %s", &log)
	}
}

func TestOneRequestAndEndOfInput(t *testing.T) {
	for i := range 100 {
		request := call("1", "ctx_knowledge", fmt.Sprintf(`{"action":"remember","value":"%d"}`, i))
		if i%2 == 1 {
			request = strings.TrimSuffix(request, "\n") // not even a line feed
		}
		n := new(notebook)
		list := serve(t, n.table(), nil, strings.NewReader(request))
		if got, want := one(t, list, "1").text(t), fmt.Sprintf("noted %d", i); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

// Piped requests are done in their order. So a later value is the later one, and a question
// sees what was said before it.
func TestWritesKeepTheirOrder(t *testing.T) {
	n := new(notebook)
	var in, want strings.Builder
	for i := range 200 {
		if i > 0 {
			want.WriteString(" ")
		}
		fmt.Fprint(&want, i)
		in.WriteString(call(fmt.Sprint(2*i), "ctx_knowledge", fmt.Sprintf(`{"action":"remember","value":"%d"}`, i)))
		in.WriteString(call(fmt.Sprint(2*i+1), "ctx_recall", `{"action":"recall"}`))
	}
	list := serve(t, n.table(), nil, strings.NewReader(in.String()))
	if got := strings.Join(n.lines, " "); got != want.String() {
		t.Errorf("order: %s", got)
	}
	for i := range 200 {
		got := one(t, list, fmt.Sprint(2*i+1)).text(t)
		if words := strings.Count(got, " ") + 1; words != i+1 {
			t.Errorf("question %d saw %d values", i, words)
		}
	}
}

// Reads run side by side, and a write behind them waits for them; what is no
// operation goes past.
func TestReadsRunTogether(t *testing.T) {
	n := &notebook{gate: make(chan struct{})}
	in, feed := io.Pipe()
	out, w := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- New(n.table(), nil).ServeStdio(t.Context(), in, w); w.Close() }()
	results := make(chan answer, 10)
	go func() {
		d := json.NewDecoder(out)
		for {
			var a answer
			if d.Decode(&a) != nil {
				close(results)
				return
			}
			results <- a
		}
	}()
	io.WriteString(feed, call("1", "ctx_recall", `{"action":"wait"}`)+
		call("2", "ctx_knowledge", `{"action":"remember","value":"x"}`)+
		call("3", "ctx_recall", `{"action":"recall"}`)+
		call("5", "ctx_recall", `{"action":"recall"}`)+
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`+"\n"+
		// Its answer tells that all lines before it have been read.
		`{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{`+meta2026+`}}`+"\n")
	if a := <-results; string(a.ID) != "4" {
		t.Errorf("first came the answer to %s", a.ID)
	}
	close(n.gate)
	feed.Close()
	var order []string
	for a := range results {
		order = append(order, string(a.ID)+" "+a.text(t))
	}
	if want := []string{"1 waited", "2 noted x", "3 [x]"}; !slices.Equal(order, want) {
		t.Errorf("got %q, want %q", order, want)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// A request that never ends holds the end of input up for the grace period,
// and is then cancelled.
func TestEndOfInputCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &notebook{gate: make(chan struct{})} // nobody opens it
		began := time.Now()
		list := serve(t, n.table(), new(Options), strings.NewReader(call("1", "ctx_recall", `{"action":"wait"}`)))
		if len(list) != 0 || time.Since(began) != 5*time.Second {
			t.Errorf("after %v: %+v", time.Since(began), list)
		}
	})
}

// A request that the client takes back while it runs ends at once.
func TestCancelledEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &notebook{gate: make(chan struct{})} // nobody opens it
		began := time.Now()
		list := serve(t, n.table(), nil, strings.NewReader(call("1", "ctx_recall", `{"action":"wait"}`)+
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`+"\n"+
			call("2", "ctx_recall", `{"action":"recall"}`)))
		if one(t, list, "2").text(t) != "[]" || time.Since(began) != 0 {
			t.Errorf("after %v: %+v", time.Since(began), list)
		}
	})
}

// A subscription has no end of its own and must not be waited for. However many are open, they take
// the place of no other request.
func TestSubscriptionsDelayNothing(t *testing.T) {
	listen := func(n int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":"listen:%d","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},%s}}`+"\n", n, meta2026)
	}
	var input strings.Builder
	for n := range maxPending + 1 {
		input.WriteString(listen(n))
	}
	input.WriteString(call("1", "ctx_recall", `{"action":"recall"}`))
	synctest.Test(t, func(t *testing.T) {
		s := New(new(notebook).table(), nil)
		// A server whose lists could change, so that the SDK keeps it open.
		listening := mcp.NewServer(&mcp.Implementation{Name: "x"}, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}}})
		s.mcp = listening
		began := time.Now()
		var out bytes.Buffer
		if err := s.ServeStdio(t.Context(), strings.NewReader(input.String()), &out); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("took %v", took)
		}
		list := answers(t, out.Bytes())
		one(t, list, `"listen:0"`)
		if refused := one(t, list, fmt.Sprintf(`"listen:%d"`, maxPending)); refused.Error == nil || refused.Error.Message != "1024 subscriptions are open: cancel one" {
			t.Errorf("%+v", refused)
		}
		one(t, list, "1") // the tool is unknown to this server
	})
}

// Cancelling the context ends the server, though the client does not.
func TestContextEndsServing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		in, _ := io.Pipe()
		go func() { synctest.Wait(); cancel() }()
		if err := New(new(notebook).table(), nil).ServeStdio(ctx, in, io.Discard); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// A subscriber is told when what the resource shows has changed, and not of every write.
func TestOnlyWhatChangedIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, writes := new(notebook), new(atomic.Int64)
		s := New(n.table(), &Options{Stamp: func(context.Context) string { return strconv.FormatInt(writes.Load(), 10) }})
		st, ct := mcp.NewInMemoryTransports()
		if _, err := s.MCP().Connect(t.Context(), st, nil); err != nil {
			t.Fatal(err)
		}
		told := make(chan string, 10)
		c, err := mcp.NewClient(&mcp.Implementation{Name: "tester"}, &mcp.ClientOptions{
			ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { told <- r.Params.URI },
		}).Connect(t.Context(), ct, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			t.Fatal(err)
		}
		both := []string{"leanctx://briefing", "leanctx://facts/auth"} // the briefing of a notebook never changes
		for _, uri := range both {
			if err := c.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
				t.Fatal(err)
			}
		}
		for _, value := range []string{"", "JWT", ""} { // the first and the last write change nothing that is shown
			if value != "" {
				_, _ = n.add(t.Context(), op.Scope{}, note{Value: value})
			}
			writes.Add(1)
			time.Sleep(2 * watchEvery)
		}
		for _, uri := range both {
			if err := c.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: uri}); err != nil {
				t.Error(err)
			}
		}
		if len(told) != 1 || <-told != both[1] || s.watch.stop != nil {
			t.Errorf("told of %d changes, still looking: %v", len(told), s.watch.stop != nil)
		}
		c.Close()
	})
}
