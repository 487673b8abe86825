package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// What a repository may cost a start of a session beside an empty one, before anybody has agreed to
// take anything of it in.
const (
	cloneMillis = 60
	cloneMiB    = 30
)

// clone is a repository that somebody made to stall whoever opens it.
type clone struct {
	name string
	fill func(dir string) error
}

func logLine(replica string, i, size int) string {
	return fmt.Sprintf(`{"id":"%s-%d","at":"2026-03-20T09:30:00Z","by":"x","op":"assert","category":"c%d","key":"k%d","value":"%s","policy":1,"crc":"00000000"}`+"\n", replica, i+1, i%50, i, strings.Repeat("v", size))
}

// logs writes the lines of some replicas.
func logs(files, lines, size int) func(string) error {
	return func(dir string) error {
		dir = filepath.Join(dir, ".lean-ctx", "log")
		err := os.MkdirAll(dir, 0o755)
		for f := range files {
			// Written bit by bit: what this process holds counts for the peak of the one that it starts.
			file, e := os.Create(filepath.Join(dir, fmt.Sprintf("%08x.jsonl", f)))
			if err = errors.Join(err, e); err != nil {
				return err
			}
			b := bufio.NewWriter(file)
			for i := range lines {
				_, _ = b.WriteString(logLine(fmt.Sprintf("%08x", f), i, size)) // Flush gives the error
			}
			err = errors.Join(err, b.Flush(), file.Close())
		}
		return err
	}
}

// sparse is a file of zeros of some MiB, with a beginning.
func sparse(name, begin string, mib int64) func(string) error {
	return func(dir string) error {
		path := filepath.Join(dir, filepath.FromSlash(name))
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(begin), 0o644), os.Truncate(path, mib<<20))
	}
}

func pipes(names ...string) func(string) error {
	return func(dir string) (err error) {
		for _, name := range names {
			path := filepath.Join(dir, filepath.FromSlash(name))
			err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), syscall.Mkfifo(path, 0o644))
		}
		return err
	}
}

func rules(n int, pattern string) func(string) error {
	return func(dir string) error {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"id":"r%d","pattern":%q}`, i, pattern))
		}
		return os.WriteFile(filepath.Join(dir, ".lean-ctx.json"), []byte(`{"sensitive":[`+strings.Join(all, ",")+`]}`), 0o644)
	}
}

var clones = []clone{
	{"empty", func(string) error { return nil }},
	{"8,000 lines of each of two replicas", logs(2, 8_000, 20)},
	{"a replica of 200,000 lines", logs(1, 200_000, 20)},
	{"lines of 60 KiB, 120 MB", logs(2, 1_000, 60<<10)},
	{"a line of 500 MB", sparse(".lean-ctx/log/deadbeef.jsonl", `{"id":"`, 500)},
	{"5,000 files of a line", logs(5_000, 1, 20)},
	{"50 rules", rules(50, `T-[0-9]+`)},
	{"the dearest rules", rules(4, `[a-z ,.;]{1,100}\x00`)},
	{"a configuration of 92 KB", rules(1_000, `SEC-[0-9]{4,64}-[A-Za-z]{1,20}[0-9]{1,9}[A-Z]{1,9}[a-z]{1,9}`)},
	{"a configuration of 3 GB", sparse(".lean-ctx.json", "{", 3<<10)},
	{"an id file of 1 GB", sparse(".lean-ctx-id", "x", 1<<10)},
	{"pipes", pipes(".lean-ctx/log/aaaaaaaa.jsonl", ".lean-ctx/log/bbbbbbbb.jsonl", ".lean-ctx.json", ".lean-ctx-id", ".lean-ctx/.gitattributes")},
	{"pipes in place of git's files", func(dir string) error {
		return errors.Join(os.Remove(filepath.Join(dir, ".git", "config")), pipes(".git/config", ".git/commondir")(dir))
	}},
}

// runClones measures the start of a session in clones that nobody has agreed to take anything from.
func runClones(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("clones", flag.ContinueOnError)
	program := flags.String("program", "", "the lean-ctx to measure, a `file`; needed")
	runs := flags.Int("runs", 11, "`runs` in each clone")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "lean-ctx-clones-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p, err := newProduct(*program, filepath.Join(dir, "home"))
	if err != nil {
		return fmt.Errorf("clones: %w", err)
	}
	over, empty := 0, filepath.Join(dir, "clone0")
	fmt.Fprintf(out, "%-40s %8s %8s %8s %8s\n", "a session's start in a clone", "ms", "MiB", "+ms", "+MiB")
	for i, c := range clones {
		at := filepath.Join(dir, fmt.Sprint("clone", i))
		if err := exec.CommandContext(ctx, "git", "init", "-q", at).Run(); err != nil {
			return err
		}
		if err := c.fill(at); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		// In turn with the empty one, the least of each: other programs only add time.
		var beside, x sessionStart
		for range max(*runs, 1) {
			if err := errors.Join(p.start(ctx, empty, &beside), p.start(ctx, at, &x)); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
		mark := ""
		if x.millis-beside.millis > cloneMillis || x.mib-beside.mib > cloneMiB {
			mark, over = "  too much", over+1
		}
		fmt.Fprintf(out, "%-40s %8.1f %8.1f %8.1f %8.1f%s\n", c.name, x.millis, x.mib, x.millis-beside.millis, x.mib-beside.mib, mark)
	}
	if over > 0 {
		return fmt.Errorf("clones: %d cost more than %d ms or %d MiB beside an empty one", over, cloneMillis, cloneMiB)
	}
	return nil
}

// sessionStart is what starts cost: the least time, and the greatest peak of resident memory.
type sessionStart struct{ millis, mib float64 }

func (p *product) start(ctx context.Context, dir string, x *sessionStart) error {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	c := exec.CommandContext(ctx, p.path, "hook", "claude-code", "session-start")
	c.Dir, c.Env = dir, p.env
	c.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"s1","hook_event_name":"SessionStart","source":"startup","cwd":%q}`, dir))
	begun := time.Now()
	err := c.Run()
	if took := float64(time.Since(begun).Microseconds()) / 1000; x.millis == 0 || took < x.millis {
		x.millis = took
	}
	if use, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		x.mib = max(x.mib, float64(use.Maxrss)/1024)
	}
	return err
}
