package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// product is the program under measurement.
type product struct {
	path string
	env  []string // without anything of the user's
}

// build makes lean-ctx in dir, or takes the program at path.
func build(ctx context.Context, dir, path string) (*product, error) {
	p := &product{path: path, env: cleanEnv(dir)}
	if path != "" {
		abs, err := filepath.Abs(path)
		p.path = abs
		return p, err
	}
	p.path = filepath.Join(dir, "lean-ctx.exe") // the ending matters on Windows only
	return p, goBuild(ctx, p.path, "leanctx/cmd/lean-ctx")
}

// buildEmpty makes the program that does nothing.
func buildEmpty(ctx context.Context, dir string) (string, error) {
	source, path := filepath.Join(dir, "empty.go"), filepath.Join(dir, "empty.exe")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return "", err
	}
	return path, goBuild(ctx, path, source)
}

func goBuild(ctx context.Context, out, what string) error {
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, what)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w: %s", what, err, text)
	}
	return nil
}

// cleanEnv is the environment without the user's settings and home.
func cleanEnv(home string) []string {
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "LEAN_CTX_") {
			env = append(env, e)
		}
	}
	return append(env, "HOME="+home, "USERPROFILE="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home)
}

// with is the product with more variables set.
func (p *product) with(vars ...string) *product {
	return &product{p.path, append(p.env[:len(p.env):len(p.env)], vars...)}
}

// command runs the program to its end and returns what it printed. A message on
// standard error is an error: what is measured must have nothing to warn about.
func (p *product) command(ctx context.Context, dir, stdin string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, p.path, args...)
	var out, errs bytes.Buffer
	c.Dir, c.Env, c.Stdin, c.Stdout, c.Stderr = dir, p.env, strings.NewReader(stdin), &out, &errs
	err := c.Run()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err == nil && errs.Len() > 0 {
		err = errors.New("unexpected message")
	}
	if err != nil {
		return "", fmt.Errorf("lean-ctx %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}

// server is a running `lean-ctx mcp`. It is safe for concurrent use.
type server struct {
	process *exec.Cmd
	in      io.WriteCloser
	errs    bytes.Buffer
	ended   chan struct{} // closed when its output ends

	mu      sync.Mutex
	id      int
	waiting map[int]chan reply
}

type reply struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

type object = map[string]any

// serve starts a server in a directory and shakes hands with it.
func (p *product) serve(ctx context.Context, dir string) (*server, error) {
	s := &server{process: exec.CommandContext(ctx, p.path, "mcp"), ended: make(chan struct{}), waiting: map[int]chan reply{}}
	s.process.Dir, s.process.Env, s.process.Stderr = dir, p.env, &s.errs
	in, err := s.process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.in = in
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	go s.read(out)
	_, err = s.request("initialize", object{"protocolVersion": "2025-11-25", "capabilities": object{}, "clientInfo": object{"name": "measure", "version": "1"}})
	if err == nil {
		err = s.send(object{"jsonrpc": "2.0", "method": "notifications/initialized"})
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// read hands each answer to the call that waits for it.
func (s *server) read(out io.Reader) {
	defer close(s.ended)
	r := bufio.NewReaderSize(out, 1<<16)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var answer reply
		if json.Unmarshal(line, &answer) != nil {
			continue
		}
		s.mu.Lock()
		c := s.waiting[answer.ID]
		delete(s.waiting, answer.ID)
		s.mu.Unlock()
		if c != nil {
			c <- answer
		}
	}
}

func (s *server) send(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = s.in.Write(append(line, '\n'))
	return err
}

func (s *server) request(method string, params any) (json.RawMessage, error) {
	answer := make(chan reply, 1)
	s.mu.Lock()
	s.id++
	id := s.id
	s.waiting[id] = answer
	s.mu.Unlock()
	if err := s.send(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params}); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", method, err, s.errs.String())
	}
	select {
	case a := <-answer:
		if len(a.Error) > 0 {
			return nil, fmt.Errorf("%s: %s", method, a.Error)
		}
		return a.Result, nil
	case <-s.ended:
		return nil, fmt.Errorf("%s: the server ended", method)
	}
}

// close ends the server as a client does, by the end of its input.
func (s *server) close() error {
	err := s.in.Close()
	<-s.ended
	if err = errors.Join(err, s.process.Wait()); err != nil {
		return fmt.Errorf("the server: %w: %s", err, strings.TrimSpace(s.errs.String()))
	}
	return nil
}

// toolError is an answer of a tool that is an error.
type toolError string

func (e toolError) Error() string { return string(e) }

// call calls an action of ctx_knowledge and returns the text of the answer.
func (s *server) call(action string, args object) (string, error) {
	args = maps.Clone(args)
	args["action"] = action
	result, err := s.request("tools/call", object{"name": "ctx_knowledge", "arguments": args})
	if err != nil {
		return "", err
	}
	var answer struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	}
	if err := json.Unmarshal(result, &answer); err != nil {
		return "", err
	}
	var text strings.Builder
	for _, c := range answer.Content {
		text.WriteString(c.Text)
	}
	if answer.IsError {
		return "", toolError(text.String())
	}
	return text.String(), nil
}

// ask calls an action and decodes its answer as JSON.
func (s *server) ask(action string, args object, into any) error {
	args = maps.Clone(args)
	args["output"] = "json"
	text, err := s.call(action, args)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), into)
}

// has says whether ctx_knowledge takes an argument of this name.
func (s *server) has(argument string) (bool, error) {
	result, err := s.request("tools/list", object{})
	if err != nil {
		return false, err
	}
	var list struct {
		Tools []struct {
			Name        string `json:"name"`
			InputSchema struct {
				Properties map[string]json.RawMessage `json:"properties"`
			} `json:"inputSchema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(result, &list); err != nil {
		return false, err
	}
	for _, t := range list.Tools {
		if _, ok := t.InputSchema.Properties[argument]; ok && t.Name == "ctx_knowledge" {
			return true, nil
		}
	}
	return false, nil
}

// found is one fact of an answer of recall.
type found struct {
	Category string `json:"category"`
	Key      string `json:"key"`
	Value    string `json:"value"`
	Maybe    bool   `json:"maybe"` // too weak to be an answer
}

// recall asks and tells how long it took.
func (s *server) recall(args object) ([]found, time.Duration, error) {
	var answer struct {
		Facts []found `json:"facts"`
	}
	start := time.Now()
	err := s.ask("recall", args, &answer)
	return answer.Facts, time.Since(start), err
}
