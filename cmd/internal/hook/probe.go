package hook

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

	"leanctx/internal/prose"
)

// serverCommand is how a client starts a server.
type serverCommand struct {
	command string
	args    []string
	env     map[string]string
}

// serverCommandOf reads an entry in the form of any client.
func serverCommandOf(entry map[string]any) (s serverCommand, ok bool) {
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
	s.env = map[string]string{}
	for _, key := range []string{"env", "envs", "environment"} {
		vars, _ := entry[key].(map[string]any)
		for name, v := range vars {
			if text, ok := v.(string); ok {
				s.env[name] = text
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

func (s serverCommand) String() string {
	return strings.Join(append([]string{s.command}, s.args...), " ")
}

// probeTimeout is how long a server may take to list its tools.
const probeTimeout = 10 * time.Second

// handshake initializes the server and lists its tools. Two requests do not need the SDK's
// client.
const handshake = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"lean-ctx-doctor","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

// probe starts a server as a client would, in dir, and asks for its version and
// its tools.
func (s serverCommand) probe(ctx context.Context, dir string) (version string, tools []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.command, s.args...)
	cmd.Dir, cmd.Env = dir, os.Environ()
	cmd.WaitDelay = time.Second
	for name, v := range s.env {
		cmd.Env = append(cmd.Env, name+"="+v)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	_, _ = io.WriteString(in, handshake) // if the server has ended, its messages say why
	version, tools, err = listen(bufio.NewReaderSize(out, 1<<16))
	_ = in.Close() // it ends with its input
	_ = cmd.Wait() // how it ends says nothing about its answer
	if ctx.Err() != nil && err != nil {
		err = fmt.Errorf("no answer within %s", probeTimeout)
	}
	if line := strings.TrimSpace(stderr.String()); err != nil && line != "" {
		err = fmt.Errorf("%w; it said: %s", err, prose.Clip(strings.Join(strings.Fields(line), " "), 200))
	}
	return version, tools, err
}

// listen reads until the list of tools has come.
func listen(r *bufio.Reader) (version string, tools []string, err error) {
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return "", nil, errors.New("it ended without an answer")
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
			return "", nil, fmt.Errorf("it printed something that is not MCP: %s", prose.Clip(strings.TrimSpace(string(line)), 80))
		}
		switch {
		case m.Error != nil:
			return "", nil, errors.New("it refused: " + m.Error.Message)
		case m.ID == 1:
			version = m.Result.ServerInfo.Version
		case m.ID == 2:
			for _, t := range m.Result.Tools {
				tools = append(tools, t.Name)
			}
			return version, tools, nil
		}
	}
}
