// Package demo shows a newcomer the story of a project's memory. A real MCP client calls
// the real server, a child process, and each call is printed with its answer.
//
// The output does not depend on the day, since every assertion gives its valid_from. So
// it is compared with a golden file.
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

// timeout ends a demonstration that hangs. The story takes well under a second.
const timeout = time.Minute

// Run plays the story in a temporary directory and removes it, also after an error.
func Run(ctx context.Context, o Options) (err error) {
	dir, err := os.MkdirTemp("", "lean-ctx-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := writeFiles(filepath.Join(dir, "my-app"), files); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	var messages buffer
	err = playAll(ctx, o, filepath.Join(dir, "my-app"), func(ctx context.Context) (*mcp.ClientSession, error) {
		return connect(ctx, o, dir, &messages)
	})
	if err != nil && messages.String() != "" {
		fmt.Fprintf(o.Err, "messages of the server:\n%s", messages.String())
	}
	return err
}

// writeFiles writes files into the project of the story.
func writeFiles(project string, files map[string]string) error {
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

// connect starts the server and connects to it. exec does not get ctx, since it would
// kill the server; closing the session ends it in order.
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

// player makes the calls of the story.
type player struct {
	project  string
	start    func(context.Context) (*mcp.ClientSession, error)
	sessions map[string]*mcp.ClientSession // by who calls
	names    names
}

// playAll plays the story. Each agent has its own server, as each client has.
func playAll(ctx context.Context, o Options, project string, start func(context.Context) (*mcp.ClientSession, error)) (err error) {
	p := &player{project: project, start: start, sessions: map[string]*mcp.ClientSession{}}
	defer func() {
		for _, session := range p.sessions {
			err = errors.Join(err, session.Close())
		}
	}()
	return p.play(ctx, o.Out)
}

// session is the session of an agent. It is connected at its first call.
func (p *player) session(ctx context.Context, who string) (*mcp.ClientSession, error) {
	if session := p.sessions[who]; session != nil {
		return session, nil
	}
	session, err := p.start(ctx)
	if err == nil {
		p.sessions[who] = session
	}
	return session, err
}

// play makes the calls of the story one after the other.
func (p *player) play(ctx context.Context, out io.Writer) error {
	if _, err := fmt.Fprintln(out, opening); err != nil {
		return err
	}
	for _, chapter := range story {
		if _, err := fmt.Fprintf(out, "\n# %s\n", chapter.title); err != nil {
			return err
		}
		if err := writeFiles(p.project, chapter.files); err != nil {
			return err
		}
		for _, c := range chapter.calls {
			if err := p.step(ctx, out, c); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintln(out, "\n"+closing)
	return err
}

// step makes one call and prints it with its answer, or ends the session of an agent.
func (p *player) step(ctx context.Context, out io.Writer, c call) error {
	if c.tool == "" {
		session := p.sessions[c.who]
		delete(p.sessions, c.who)
		return session.Close()
	}
	session, err := p.session(ctx, c.who)
	if err != nil {
		return err
	}
	answer, err := send(ctx, session, call{c.who, c.tool, p.names.sent(c.arguments)})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\n%s\n%s\n", c, p.names.shown(answer))
	return err
}

// send makes one call and returns the text of its answer.
func send(ctx context.Context, session *mcp.ClientSession, c call) (string, error) {
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

// buffer holds the messages of the child process. It is safe for concurrent use.
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
