// Package demo shows a newcomer the story of a project's memory. A real MCP client calls
// the real server, a child process, and each call is printed with its answer.
//
// The output does not depend on the day, since every assertion gives its valid_from. So
// it is compared with a golden file.
package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options are what the demonstration needs.
type Options struct {
	Server  []string                             // the program and its arguments
	Environ func(set map[string]string) []string // the child's environment with these variables set
	Out     io.Writer
	Err     io.Writer // for the child's messages; there are none if all is well
}

// timeout ends a demonstration that hangs. The story takes well under a second.
const timeout = time.Minute

// Run plays the story in a temporary directory and removes it, also after an error.
func Run(ctx context.Context, o Options) (err error) {
	dir, err := os.MkdirTemp("", "lean-ctx-demo-")
	if err != nil {
		return err
	}
	messages, err := os.Create(filepath.Join(dir, "messages"))
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	p := &player{options: o, dir: dir, messages: messages, sessions: map[string]*mcp.ClientSession{}}
	defer func() {
		for _, session := range p.sessions {
			err = errors.Join(err, session.Close())
		}
		if text, _ := os.ReadFile(messages.Name()); err != nil && len(text) > 0 {
			fmt.Fprintf(o.Err, "messages of the server:\n%s", text)
		}
		err = errors.Join(err, messages.Close(), os.RemoveAll(dir))
	}()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return p.play(ctx)
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

// player makes the calls of the story. Each agent has its own server, as each client has.
type player struct {
	options  Options
	dir      string                        // of the project and the data
	messages *os.File                      // of the servers
	sessions map[string]*mcp.ClientSession // by who calls
	names    names
}

func (p *player) project() string { return filepath.Join(p.dir, "my-app") }

// session is the session of an agent. Its server is started at its first call. exec does not
// get ctx, since it would kill the server; closing the session ends it in order.
func (p *player) session(ctx context.Context, who string) (*mcp.ClientSession, error) {
	if session := p.sessions[who]; session != nil {
		return session, nil
	}
	server := exec.Command(p.options.Server[0], p.options.Server[1:]...)
	server.Dir, server.Stderr = p.project(), p.messages
	server.Env = p.options.Environ(map[string]string{"LEAN_CTX_DATA_DIR": filepath.Join(p.dir, "data")})
	client := mcp.NewClient(&mcp.Implementation{Name: "demo", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		return nil, fmt.Errorf("the server did not answer: %w", err)
	}
	p.sessions[who] = session
	return session, nil
}

// play makes the calls of the story one after the other.
func (p *player) play(ctx context.Context) error {
	out := p.options.Out
	if err := writeFiles(p.project(), files); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, opening); err != nil {
		return err
	}
	for _, chapter := range story {
		if _, err := fmt.Fprintf(out, "\n# %s\n", chapter.title); err != nil {
			return err
		}
		if err := writeFiles(p.project(), chapter.files); err != nil {
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
