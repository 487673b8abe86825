package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Child runs Work with these arguments in another process of this program,
// with env (as "NAME=value") on top of this one's environment, and gives what
// it wrote. When the context ends, the process is ended.
type Child func(ctx context.Context, env []string, args ...string) ([]byte, error)

// Exec makes a Child of a command line whose rest is Work's arguments, as
// Exec("/usr/bin/lean-ctx", "embed-worker"). The error of a process that dies
// holds the first line of what it said.
func Exec(path string, args ...string) Child {
	return func(ctx context.Context, env []string, more ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, path, append(args[:len(args):len(args)], more...)...)
		cmd.Env = append(os.Environ(), env...)
		var out, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &said
		cmd.WaitDelay = 5 * time.Second
		if err := cmd.Run(); err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, fmt.Errorf("%w: %s", err, firstLine(said.String()))
		}
		return out.Bytes(), nil
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if line == "" {
		return "it said nothing"
	}
	return cut(line, 300)
}

// worked is what Work writes.
type worked struct {
	Report  *Report `json:"report,omitempty"`
	Dir     string  `json:"dir,omitempty"`
	Problem string  `json:"problem,omitempty"`
}

// Work does in this process what may end it, for the Child of Install and
// Download: "selftest DIR", or "fetch REPOSITORY FILE DIR". What it finds goes
// to out as a line of JSON, a failed test too; an error says that it could not
// even try.
func Work(ctx context.Context, args []string, out io.Writer) error {
	var w worked
	switch {
	case len(args) == 2 && args[0] == "selftest":
		report, err := SelfTest(ctx, args[1])
		w.Report = &report
		w.Problem = problem(err)
	case len(args) == 4 && args[0] == "fetch":
		dir, err := fetch(args[1], args[2], args[3])
		w.Dir = dir
		w.Problem = problem(err)
	default:
		return fmt.Errorf("unknown work %q: this command is for the program's own use", args)
	}
	return json.NewEncoder(out).Encode(w)
}

func problem(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// work runs a piece of work in a child.
func (c Child) work(ctx context.Context, env []string, args ...string) (worked, error) {
	out, err := c(ctx, env, args...)
	if err != nil {
		return worked{}, err
	}
	var w worked
	if err := json.Unmarshal(out, &w); err != nil {
		return worked{}, fmt.Errorf("the child process wrote %.100q instead of a report", out)
	}
	return w, nil
}
