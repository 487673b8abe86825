package probe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Start is how a client starts a server.
type Start struct {
	command string
	args    []string
	Env     map[string]string
}

// Of reads an entry, in whatever form its client has it.
func Of(entry map[string]any) (s Start, ok bool) {
	for _, key := range []string{"command", "cmd"} {
		switch c := entry[key].(type) {
		case string:
			s.command = c
		case []any: // program and arguments in one list
			if list := words(c); len(list) > 0 {
				s.command, s.args = list[0], list[1:]
			}
		}
	}
	if args, ok := entry["args"].([]any); ok {
		s.args = words(args)
	}
	s.Env = map[string]string{}
	for _, key := range []string{"env", "envs", "environment"} {
		vars, _ := entry[key].(map[string]any)
		for name, v := range vars {
			if text, ok := v.(string); ok {
				s.Env[name] = text
			}
		}
	}
	return s, s.command != ""
}

func words(list []any) (out []string) {
	for _, x := range list {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func (s Start) String() string { return strings.Join(append([]string{s.command}, s.args...), " ") }

// Answer is what a server said of itself.
type Answer struct {
	Version string
	Tools   []string
}

// Patience is how long a server may take to its list of tools.
const Patience = 10 * time.Second

// handshake is what a client says first. It is written by hand: the whole of
// an MCP client would be a large library for two questions.
const handshake = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"lean-ctx-doctor","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

// Ask starts a server as a client would, in dir, and asks for its tools. It
// takes no longer than [Patience].
func (s Start) Ask(ctx context.Context, dir string) (a Answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.command, s.args...)
	cmd.Dir, cmd.Env = dir, os.Environ()
	cmd.WaitDelay = time.Second
	for name, v := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+v)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return a, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return a, err
	}
	if err := cmd.Start(); err != nil {
		return a, err
	}
	_, _ = io.WriteString(in, handshake) // who ends without reading it has said why
	a, err = listen(bufio.NewReaderSize(out, 1<<16))
	_ = in.Close() // it ends with its input
	_ = cmd.Wait() // how it ends says nothing about its answer
	if ctx.Err() != nil && err != nil {
		err = fmt.Errorf("no answer within %s", Patience)
	}
	if line := strings.TrimSpace(said.String()); err != nil && line != "" {
		err = fmt.Errorf("%w; it said: %s", err, clip(strings.Join(strings.Fields(line), " "), 200))
	}
	return a, err
}

// listen reads until the list of tools has come.
func listen(r *bufio.Reader) (a Answer, err error) {
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return a, errors.New("it ended without an answer")
		}
		var m struct {
			ID     int `json:"id"`
			Result struct {
				ServerInfo struct {
					Version string `json:"version"`
				} `json:"serverInfo"`
				Tools []struct {
					Name string `json:"name"`
				} `json:"tools"`
			} `json:"result"`
			Error *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if json.Unmarshal(line, &m) != nil {
			return a, fmt.Errorf("it printed what is no MCP: %s", clip(strings.TrimSpace(string(line)), 80))
		}
		switch {
		case m.Error != nil:
			return a, errors.New("it refused: " + m.Error.Message)
		case m.ID == 1:
			a.Version = m.Result.ServerInfo.Version
		case m.ID == 2:
			for _, t := range m.Result.Tools {
				a.Tools = append(a.Tools, t.Name)
			}
			return a, nil
		}
	}
}

// clip is the beginning of a text, in bytes, at a whole character.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
