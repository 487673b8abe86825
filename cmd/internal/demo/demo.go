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
	if err := lay(filepath.Join(dir, "my-app"), files); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	var messages buffer
	err = playAll(ctx, o, filepath.Join(dir, "my-app"), func(ctx context.Context) (*mcp.ClientSession, error) {
		return connect(ctx, o, dir, &messages)
	})
	if err != nil && messages.String() != "" {
		fmt.Fprintf(o.Err, "the server said:\n%s", messages.String())
	}
	return err
}

// lay writes files of the project of the story.
func lay(project string, files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(project, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
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

// stage is the story as it is played.
type stage struct {
	project  string
	start    func(context.Context) (*mcp.ClientSession, error)
	sessions map[string]*mcp.ClientSession // by who calls
	names    names
}

// playAll plays the story. Each of its agents has a server of its own, as it
// has when it works in a client of its own.
func playAll(ctx context.Context, o Options, project string, start func(context.Context) (*mcp.ClientSession, error)) (err error) {
	s := &stage{project: project, start: start, sessions: map[string]*mcp.ClientSession{}}
	defer func() {
		for _, session := range s.sessions {
			err = errors.Join(err, session.Close())
		}
	}()
	return s.play(ctx, o.Out)
}

// session is that of who calls, connected at the first call.
func (s *stage) session(ctx context.Context, who string) (*mcp.ClientSession, error) {
	if session := s.sessions[who]; session != nil {
		return session, nil
	}
	session, err := s.start(ctx)
	if err == nil {
		s.sessions[who] = session
	}
	return session, err
}

// play makes the calls of the story one after the other.
func (s *stage) play(ctx context.Context, out io.Writer) error {
	if _, err := fmt.Fprintln(out, opening); err != nil {
		return err
	}
	for _, chapter := range story {
		if _, err := fmt.Fprintf(out, "\n# %s\n", chapter.title); err != nil {
			return err
		}
		if err := lay(s.project, chapter.files); err != nil {
			return err
		}
		for _, c := range chapter.calls {
			if err := s.tell(ctx, out, c); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintln(out, "\n"+closing)
	return err
}

// tell makes a call, or ends who makes none any more.
func (s *stage) tell(ctx context.Context, out io.Writer, c call) error {
	if c.tool == "" {
		session := s.sessions[c.who]
		delete(s.sessions, c.who)
		return session.Close()
	}
	session, err := s.session(ctx, c.who)
	if err != nil {
		return err
	}
	answer, err := say(ctx, session, call{c.who, c.tool, s.names.sent(c.arguments)})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\n%s\n%s\n", c, s.names.shown(answer))
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
	if result.IsError != strings.Contains(c.arguments, refused) {
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
