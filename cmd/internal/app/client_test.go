package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"leanctx/cmd/internal/config"
)

// asProgram makes the test binary the program.
const asProgram = "LEANCTX_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	for _, m := range clientMarks { // whoever runs the tests
		os.Unsetenv(m.variable)
	}
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	os.Exit(Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// client is the SDK's, at the other end of a connection.
type client struct {
	*mcp.ClientSession
	t       *testing.T
	updated chan string // the resources that show something else
	booked  chan bool   // the subscriptions that the server has taken, in the newest protocol
	served  chan bool   // closed when the server's end of the connection is; only of [dial]
}

// testerName is the variable with the name by which the client of a test goes; "tester" without it.
const testerName = "TESTER_NAME"

// connect shakes hands, in the newest protocol unless another is named.
func connect(t *testing.T, transport mcp.Transport, protocol string, prepare ...func(*mcp.Client)) client {
	t.Helper()
	c := client{t: t, updated: make(chan string, 100), booked: make(chan bool, 100)}
	sdk := mcp.NewClient(&mcp.Implementation{Name: cmp.Or(os.Getenv(testerName), "tester"), Version: "1"}, &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { c.updated <- r.Params.URI },
	})
	sdk.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "notifications/subscriptions/acknowledged" {
				c.booked <- true
			}
			return next(ctx, method, req)
		}
	})
	for _, p := range prepare {
		p(sdk)
	}
	session, err := sdk.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		t.Fatal(err)
	}
	c.ClientSession = session
	t.Cleanup(func() { session.Close() })
	return c
}

// call is the text of a call's answer; "!" stands before an error.
func (c client) call(tool, args string) string {
	c.t.Helper()
	text, err := c.try(tool, args)
	if err != nil {
		c.t.Fatalf("%s %s: %v", tool, args, err)
	}
	return text
}

func (c client) try(tool, args string) (string, error) {
	r, err := c.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if r.IsError {
		b.WriteString("!")
	}
	for _, content := range r.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	return b.String(), nil
}

// must is call, for what has to go well.
func (c client) must(tool, args string) string {
	c.t.Helper()
	text := c.call(tool, args)
	if strings.HasPrefix(text, "!") {
		c.t.Fatalf("%s %s: %s", tool, args, text)
	}
	return text
}

// into asks for JSON.
func (c client) into(result any, tool, args string) {
	c.t.Helper()
	text := c.must(tool, strings.Replace(args, "{", `{"output":"json",`, 1))
	if err := json.Unmarshal([]byte(text), result); err != nil {
		c.t.Fatalf("%s %s: %v: %s", tool, args, err, text)
	}
}

// register gives the id.
func (c client) register(kind, role string) string {
	c.t.Helper()
	var r struct {
		AgentID string `json:"agent_id"`
	}
	c.into(&r, "ctx_agent", `{"action":"register","agent_type":"`+kind+`","role":"`+role+`"}`)
	return r.AgentID
}

func configured(t testing.TB) *config.Config {
	t.Helper()
	c, err := config.Load("", "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// serving is a server within the test, over the data directory that home made.
func serving(t testing.TB) *stores {
	t.Helper()
	s := newStores(configured(t), nil)
	s.serve(slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// dial opens one more connection to a server.
func dial(t *testing.T, s *stores, protocol string) client {
	t.Helper()
	return dialWith(t, s, protocol)
}

// dialWith is dial for a client that is prepared before it connects.
func dialWith(t *testing.T, s *stores, protocol string, prepare ...func(*mcp.Client)) client {
	t.Helper()
	server := mcpCalls{account: &account{stores: s}}.server()
	toServer, in := io.Pipe()
	out, fromServer := io.Pipe()
	served := make(chan bool)
	var err error
	go func() {
		defer close(served)
		err = server.ServeStdio(context.Background(), toServer, fromServer)
		fromServer.Close()
	}()
	c := connect(t, &mcp.IOTransport{Reader: out, Writer: in}, protocol, prepare...)
	c.served = served
	t.Cleanup(func() {
		c.Close()
		if <-served; err != nil && !errors.Is(err, io.ErrClosedPipe) { // the client does not wait for the last answer
			t.Errorf("serving: %v", err)
		}
	})
	return c
}

// start is a server of its own, with its process.
func start(t *testing.T) (client, *exec.Cmd) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "mcp")
	cmd.Env = append(os.Environ(), asProgram+"=1", "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return connect(t, &mcp.CommandTransport{Command: cmd}, ""), cmd
}
