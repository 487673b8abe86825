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
	p := &player{options: o, dir: dir, sessions: map[string]*mcp.ClientSession{}}
	defer func() {
		for _, session := range p.sessions {
			err = errors.Join(err, session.Close())
		}
		err = errors.Join(err, os.RemoveAll(dir))
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
	server.Dir, server.Stderr = p.project(), p.options.Err
	server.Env = p.options.Environ(map[string]string{
		"LEAN_CTX_DATA_DIR": filepath.Join(p.dir, "data"),
		"GIT_CONFIG_COUNT":  "1", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "Ann", // the story tells of her on every machine
	})
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
	if err := writeFiles(p.project(), files); err != nil {
		return err
	}
	text := opening + "\n"
	for _, chapter := range story {
		if err := writeFiles(p.project(), chapter.files); err != nil {
			return err
		}
		text += "\n# " + chapter.title + "\n"
		for _, c := range chapter.calls {
			answer, err := p.step(ctx, c)
			if err != nil {
				return err
			}
			if _, err := io.WriteString(p.options.Out, text+answer); err != nil {
				return err
			}
			text = ""
		}
	}
	_, err := fmt.Fprintln(p.options.Out, "\n"+closing)
	return err
}

// step makes one call and returns it with its answer, or ends the session of an agent.
func (p *player) step(ctx context.Context, c call) (string, error) {
	if c.tool == "" {
		session := p.sessions[c.who]
		delete(p.sessions, c.who)
		return "", session.Close()
	}
	if c.tool == said {
		return "\n" + c.who + " says in Claude Code: " + c.arguments + "\n", p.say(ctx, c.arguments)
	}
	session, err := p.session(ctx, c.who)
	if err != nil {
		return "", err
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: c.tool, Arguments: json.RawMessage(p.names.sent(c.arguments))})
	if err != nil {
		return "", fmt.Errorf("%s: %w", c, err)
	}
	var text strings.Builder
	for _, content := range result.Content {
		if t, ok := content.(*mcp.TextContent); ok {
			text.WriteString(t.Text + "\n")
		}
	}
	if result.IsError != strings.Contains(c.arguments, refused) {
		return "", fmt.Errorf("%s: %s", c, text.String())
	}
	return fmt.Sprintf("\n%s\n%s", c, p.names.shown(text.String())), nil
}

// said is the tool of a call that is a session of a client instead: what the user says in it.
const said = "said"

// say has the hook of a client take in a session in which the user says something.
func (p *player) say(ctx context.Context, prompt string) error {
	const name = "7c1e22a0-5b1f-4d3c-9a77-2f6d1c0e8b45"
	folder := filepath.Join(p.dir, "claude", "projects")
	transcript := filepath.Join(folder, "my-app", name+".jsonl")
	consent, err := json.Marshal(map[string]any{"since": "2026-01-01T00:00:00Z", "by": "demo", "folders": map[string][]string{"claude-code": {folder}}})
	if err != nil {
		return err
	}
	line, err := json.Marshal(map[string]any{
		"type": "user", "uuid": "1", "sessionId": name, "cwd": p.project(), "timestamp": "2026-11-20T14:05:00Z", "entrypoint": "cli",
		"message": map[string]string{"role": "user", "content": prompt},
	})
	if err == nil {
		err = writeFiles(p.dir, map[string]string{
			filepath.Join("data", "sessions", "consent.json"):            string(consent),
			filepath.Join("claude", "projects", "my-app", name+".jsonl"): string(line) + "\n",
		})
	}
	if err != nil {
		return err
	}
	event, err := json.Marshal(map[string]string{"session_id": name, "transcript_path": transcript, "cwd": p.project()})
	if err != nil {
		return err
	}
	hook := exec.CommandContext(ctx, p.options.Server[0], "hook", "claude-code", "session-end")
	hook.Dir, hook.Stderr, hook.Stdin = p.project(), p.options.Err, bytes.NewReader(event)
	hook.Env = p.options.Environ(map[string]string{"LEAN_CTX_DATA_DIR": filepath.Join(p.dir, "data")})
	return hook.Run()
}
