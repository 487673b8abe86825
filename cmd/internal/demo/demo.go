// Package demo plays the story of a project's memory to a newcomer: the real
// server as a child process, a real MCP client, and what each call printed.
//
// What it prints does not depend on the day: every assertion says since when
// it is valid, so a golden file holds.
package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options are what the demonstration needs.
type Options struct {
	Server  []string                             // the program and its arguments
	Environ func(set map[string]string) []string // the child's environment with these variables set
	Out     io.Writer
	Err     io.Writer // the child's messages, if the demonstration fails
}

// patience is for a machine that is very busy; the story takes well under a
// second.
const patience = time.Minute

// Run plays the story in a temporary directory, which is gone when it returns,
// however it ends.
func Run(ctx context.Context, o Options) (err error) {
	dir, err := os.MkdirTemp("", "lean-ctx-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	project := filepath.Join(dir, "my-app")
	if err := os.Mkdir(project, 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	var messages buffer
	session, err := connect(ctx, o, dir, &messages)
	if err == nil {
		err = errors.Join(play(ctx, session, o.Out), session.Close())
	}
	if err != nil && messages.String() != "" {
		fmt.Fprintf(o.Err, "the server said:\n%s", messages.String())
	}
	return err
}

// connect starts the server and shakes hands with it. The server is not tied
// to ctx by exec, which would kill it: closing the session ends it in order.
func connect(ctx context.Context, o Options, dir string, messages io.Writer) (*mcp.ClientSession, error) {
	server := exec.Command(o.Server[0], o.Server[1:]...)
	server.Dir = filepath.Join(dir, "my-app")
	server.Env = o.Environ(map[string]string{"LEAN_CTX_DATA_DIR": filepath.Join(dir, "data")})
	server.Stderr = messages
	client := mcp.NewClient(&mcp.Implementation{Name: "demo", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		return nil, fmt.Errorf("the server did not answer: %w", err)
	}
	return session, nil
}

// play makes the calls of the story one after the other.
func play(ctx context.Context, session *mcp.ClientSession, out io.Writer) error {
	if _, err := fmt.Fprintln(out, opening); err != nil {
		return err
	}
	for _, chapter := range story {
		if _, err := fmt.Fprintf(out, "\n# %s\n", chapter.title); err != nil {
			return err
		}
		for _, c := range chapter.calls {
			answer, err := say(ctx, session, c)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(out, "\n> %s\n%s\n", c, answer); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintln(out, "\n"+closing)
	return err
}

// say makes one call and gives the text of its answer.
func say(ctx context.Context, session *mcp.ClientSession, c call) (string, error) {
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: c.tool, Arguments: json.RawMessage(c.arguments)})
	if err != nil {
		return "", fmt.Errorf("%s: %w", c, err)
	}
	var texts []string
	for _, content := range result.Content {
		if t, ok := content.(*mcp.TextContent); ok {
			texts = append(texts, t.Text)
		}
	}
	text := strings.Join(texts, "\n")
	if result.IsError {
		return "", fmt.Errorf("%s: %s", c, text)
	}
	return text, nil
}

// buffer holds what the child says while another goroutine reads it.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
