package mcpsrv

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// serveEnv makes the test binary a server on its standard streams.
const serveEnv = "LEANCTX_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(serveEnv) == "" {
		os.Exit(m.Run())
	}
	o := &Options{Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)), Grace: time.Hour}
	if err := New(new(notebook).table(), o).ServeStdio(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A request piped into the program, which sees the end of input at once, is
// answered, each time.
func TestHundredPipes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a hundred processes")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	turns := make(chan struct{}, 4)
	for i := range 100 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			turns <- struct{}{}
			defer func() { <-turns }()
			id := fmt.Sprint(i)
			var input, want string
			switch i % 3 {
			case 0:
				input, want = call(id, "ctx_knowledge", `{"action":"remember","value":"x"}`), "noted x"
			case 1:
				input, want = strings.TrimSpace(call(id, "ctx_recall", `{"action":"who"}`)), "agent tester"
			case 2:
				input, want = handshake+`{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"ctx_recall","arguments":{"action":"recall"}}}`, "[]"
			}
			var out, errs bytes.Buffer
			c := exec.CommandContext(t.Context(), exe)
			c.Env = append(os.Environ(), serveEnv+"=1", "GORACE=atexit_sleep_ms=0") // the race detector's pause at exit
			c.Stdin, c.Stdout, c.Stderr = strings.NewReader(input), &out, &errs
			if err := c.Run(); err != nil {
				t.Fatalf("%v: %s", err, &errs)
			}
			if got := one(t, answers(t, out.Bytes()), id).text(t); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
