package mcpsrv

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"leanctx/cmd/internal/op"
)

// rootsTool says where the client works.
func rootsTool() []*op.Tool {
	where := func(_ context.Context, sc op.Scope, _ struct{}) (result, error) {
		return result("[" + strings.Join(sc.Caller.Workspace.Roots, " ") + "]"), nil
	}
	return []*op.Tool{{Name: "ctx_recall", Command: "recall", Title: "T", Summary: "S.", Operations: []op.Operation{op.New("where", "Say it.", op.Reads, where), op.New("wakeup", "B.", op.Reads, where)}}}
}

// The client is asked at the first call and never before, once, and again when it says that its
// roots have changed. What is no directory of this machine is left out.
func TestRootsOfTheClient(t *testing.T) {
	toServer, in := io.Pipe()
	out, fromServer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := New(rootsTool(), nil).ServeStdio(t.Context(), toServer, fromServer)
		fromServer.Close()
		done <- err
	}()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	send := func(format string, args ...any) {
		t.Helper()
		if _, err := fmt.Fprintf(in, format+"\n", args...); err != nil {
			t.Fatal(err)
		}
	}
	next := func() answer {
		t.Helper()
		if !lines.Scan() {
			t.Fatal("the server has ended: ", lines.Err())
		}
		return answers(t, append(lines.Bytes(), '\n'))[0]
	}
	where := func(id, want string) {
		t.Helper()
		a := next()
		if string(a.ID) != id || a.text(t) != want {
			t.Fatalf("got %s %s, want %s %s", a.ID, a.text(t), id, want)
		}
	}
	asked := func(roots string) {
		t.Helper()
		a := next()
		if a.Method != "roots/list" {
			t.Fatalf("got %+v, want the question", a)
		}
		send(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[%s]}}`, a.ID, roots)
	}
	callOf := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"ctx_recall","arguments":{"action":"where"}}}`
	}
	send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true}},"clientInfo":{"name":"tester","version":"1"}}}`)
	if a := next(); string(a.ID) != "0" {
		t.Fatalf("%+v", a)
	}
	send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if a := next(); string(a.ID) != "1" {
		t.Fatalf("asked before the first call: %+v", a)
	}
	send(callOf("2"))
	asked(`{"uri":"file:///home/you/my%20app"},{"uri":"https://example.com/x"},{"uri":"file://server/share"},{"uri":"no uri %"},{"uri":"file:relative"}`)
	where("2", "[/home/you/my app]")
	send(callOf("3"))
	where("3", "[/home/you/my app]")
	send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	send(`{"jsonrpc":"2.0","id":4,"method":"ping"}`) // the notification is handled
	next()
	send(callOf("5"))
	asked(`{"uri":"file:///a"},{"uri":"file:///b"}`)
	where("5", "[/a /b]")
	in.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A client that does not answer is not waited for after its input has ended; one that offers no
// roots, and one of the newer protocol, is not asked.
func TestRootsOfASilentClient(t *testing.T) {
	const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"tester","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`
	ask := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ctx_recall","arguments":{"action":"where"}}}` + "\n"
	for name, input := range map[string]string{"silent": hello + ask, "none offered": handshake + ask, "the newer protocol": call("7", "ctx_recall", `{"action":"where"}`)} {
		list := serve(t, rootsTool(), nil, strings.NewReader(input))
		if got := one(t, list, "7").text(t); got != "[]" {
			t.Errorf("%s: %s", name, got)
		}
		for _, a := range list {
			if a.Method == "roots/list" && name != "silent" {
				t.Errorf("%s: the client was asked", name)
			}
		}
	}
}
