package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// program is the floor of everything that is a process of its own.
type program struct {
	path  []string // and arguments
	label string
	notes []string
}

const source = "package main\n\nfunc main() {}\n"

// patience is how long the compiler may take. It takes a second, and some more
// when it has to compile the runtime first.
const patience = time.Minute

// emptyProgram compiles a program that does nothing. This one can stand for
// itself only after its packages have initialised, which is part of what is to
// be measured; so where there is no compiler, the floor is the system's own
// smallest program, which is less than any program in Go, and is called so.
func emptyProgram(ctx context.Context, dir string, environ []string) (program, error) {
	file, exe := filepath.Join(dir, "empty.go"), filepath.Join(dir, "empty.exe") // the ending matters on Windows only
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		return program{}, err
	}
	building, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	build := exec.CommandContext(building, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", exe, file)
	build.Env = append(environ, "CGO_ENABLED=0", "GOTOOLCHAIN=local", "GOPROXY=off", "GOFLAGS=", "GOWORK=off", "GOTMPDIR="+filepath.Dir(exe))
	// An interrupted go command waits for its compilers and cleans up; a killed one leaves both behind.
	build.WaitDelay = interruptGrace
	build.Cancel = func() error {
		if err := build.Process.Signal(os.Interrupt); err != nil {
			return build.Process.Kill()
		}
		return nil
	}
	out, err := build.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return program{}, context.Cause(ctx)
	case err == nil:
		return program{path: []string{exe}, label: floorProgram}, nil
	}
	why := "no empty Go program could be compiled (" + firstLine(err, out) + ")"
	if path, err := exec.LookPath("true"); err == nil {
		return program{path: []string{path}, label: "true(1)", notes: []string{why + "; commands stand beside true(1)"}}, nil
	}
	if path, err := exec.LookPath("cmd"); err == nil {
		return program{path: []string{path, "/c", "exit"}, label: "cmd /c exit", notes: []string{why + "; commands stand beside cmd /c exit"}}, nil
	}
	return program{notes: []string{why + "; commands have no floor"}}, nil
}

func firstLine(err error, out []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if line == "" {
		return err.Error()
	}
	return line
}

// floor is the start and the end of the empty program.
func (p program) floor(dir string) timed {
	if len(p.path) == 0 {
		return nil
	}
	return stretch(func(ctx context.Context, _ int) error {
		_, err := spawn(ctx, dir, nil, p.path)
		return err
	})
}

// command runs lean-ctx on the project and gives what it printed.
func (b *bed) command(ctx context.Context, args ...string) (string, error) {
	return spawn(ctx, b.project, b.environ(), append([]string{b.Program}, args...))
}

func (b *bed) environ() []string { return b.Environ(map[string]string{"LEAN_CTX_DATA_DIR": b.data}) }

// interruptGrace is how long an interrupted go command has to clean up.
const interruptGrace = 5 * time.Second

// spawn runs a process until its end. A message of it, with exit code 0, is as
// much of an error as another code: what is measured must have nothing to warn
// about.
func spawn(ctx context.Context, dir string, env, line []string) (string, error) {
	c := exec.CommandContext(ctx, line[0], line[1:]...)
	var out, errs bytes.Buffer
	c.Dir, c.Env, c.Stdout, c.Stderr = dir, env, &out, &errs
	err := c.Run()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err == nil && errs.Len() > 0 {
		err = errors.New("unexpected message")
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(line, " "), err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}

// importAll is the import of all facts, a command.
func (b *bed) importAll(ctx context.Context) (Cell, error) {
	info, err := os.Stat(b.input)
	if err != nil {
		return Cell{}, err
	}
	do := stretch(func(ctx context.Context, _ int) error {
		_, err := b.command(ctx, "knowledge", "import", b.input)
		return err
	})
	return turns(ctx, effort{runs: 1, once: true}, do, b.write(info.Size()))
}
