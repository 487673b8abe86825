package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// product is the program under measurement.
type product struct {
	path string
	env  []string // without anything of the user's
}

// errNoProgram is the error of a run that does not say what to measure.
var errNoProgram = errors.New("name the program: -program build/lean-ctx, as `go build -o build/ ./cmd/lean-ctx ./cmd/measure/empty` makes it")

// newProduct finds the program at path, and gives it home as its home.
func newProduct(path, home string) (*product, error) {
	if path == "" {
		return nil, errNoProgram
	}
	path, err := executable(path)
	return &product{path: path, env: cleanEnv(home)}, err
}

// executable is the absolute path of a program: it runs in other directories.
func executable(path string) (string, error) {
	path, err := exec.LookPath(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
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
	*mcp.ClientSession
	ctx     context.Context
	process *exec.Cmd
	errs    bytes.Buffer
}

type object = map[string]any

// serve starts a server in a directory and connects to it.
func (p *product) serve(ctx context.Context, dir string) (*server, error) {
	s := &server{ctx: ctx, process: exec.CommandContext(ctx, p.path, "mcp")}
	s.process.Dir, s.process.Env, s.process.Stderr = dir, p.env, &s.errs
	client := mcp.NewClient(&mcp.Implementation{Name: "measure", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: s.process, TerminateDuration: time.Minute}, nil)
	if err != nil {
		return nil, s.failed(err)
	}
	s.ClientSession = session
	return s, nil
}

// close ends the server as a client does, by the end of its input.
func (s *server) close() error { return s.failed(s.Close()) }

// failed adds what the server said to an error.
func (s *server) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the server: %w: %s", err, strings.TrimSpace(s.errs.String()))
}

// toolError is an answer of a tool that is an error.
type toolError string

func (e toolError) Error() string { return string(e) }

// call calls an action of ctx_knowledge and returns the text of the answer.
func (s *server) call(action string, args object) (string, error) {
	args = maps.Clone(args)
	args["action"] = action
	answer, err := s.CallTool(s.ctx, &mcp.CallToolParams{Name: "ctx_knowledge", Arguments: args})
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, c := range answer.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			text.WriteString(c.Text)
			break // notes for the caller stand in blocks of their own
		}
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

// recalledFact is one fact of an answer of recall.
type recalledFact struct {
	Category string `json:"category"`
	Key      string `json:"key"`
	Value    string `json:"value"`
	Maybe    bool   `json:"maybe"` // too weak to be an answer
}

// recall asks and tells how long it took.
func (s *server) recall(args object) ([]recalledFact, time.Duration, error) {
	var answer struct {
		Facts []recalledFact `json:"facts"`
	}
	start := time.Now()
	err := s.ask("recall", args, &answer)
	return answer.Facts, time.Since(start), err
}
