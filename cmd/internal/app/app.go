// Package app joins the parts: what the configuration says becomes the options
// of the stores, the stores fill the table of operations, and the table
// becomes commands or an MCP server. It alone knows all of them.
//
// # The start is a budget
//
// Hooks and commands start the program dozens of times an hour. So nothing is
// opened before an operation asks for it: the configuration is read at the
// first call, the store of a project at the first call for that project, and
// what is open is kept until the end, which for a server is long.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/demo"
	"leanctx/cmd/internal/op"
	"leanctx/embed"
	"leanctx/internal/refusal"
	"leanctx/knowledge/transfer"
)

// Main runs one command and gives the exit code. It is interrupted by ctx, by
// SIGINT and by SIGTERM; a second signal ends the process at once.
func Main(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	rest()
	if isHook(args) {
		return runHook(ctx, args[1:], in, out)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	if len(args) > 0 && args[0] == workerName {
		return exitCode(ctx, embed.Work(ctx, args[1:], out))
	}
	r := &run{in: in, out: out, errs: errs, args: args}
	root := cli.New(cli.Options{
		In: in, Out: out, Err: errs, Version: strings.TrimPrefix(build().Text(), cli.Name+" "), Known: r.known, Manual: manual,
		Tools: r.tools, Plain: r.plain(), Warn: r.warn, Made: func(m op.Made) { r.stores.count(m) },
	})
	root.SetArgs(args)
	return r.end(ctx, execute(withBar(op.WithCaller(ctx, op.Caller{Kind: "user"}), errs), root.ExecuteContext))
}

// execute turns a panic into an error: the exit code of one would be that of a
// mistake in the arguments.
func execute(ctx context.Context, command func(context.Context) error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("internal error: %v\n%s", cause, debug.Stack())
		}
	}()
	return command(ctx)
}

// run is one run of the program.
type run struct {
	in       io.Reader
	out      io.Writer
	errs     io.Writer
	args     []string
	globals  *cli.Globals
	stores   *stores
	warnings int
}

// tools are the operations, and beside them what is worked like one on the
// command line only.
func (r *run) tools(g *cli.Globals) []*op.Tool {
	r.globals = g
	r.stores = newStores(func() (*config.Config, error) {
		return config.Load(&config.Options{Project: g.Project, Agent: g.Agent})
	}, r.warn)
	return append(append(r.stores.commands(r.in), projectTool(r.stores), compactTool(r.stores), sensitiveTool(r.stores), embeddingsTool(r.stores), versionTool()), r.clientTools()...)
}

// plain are the commands that are no operations.
func (r *run) plain() []cli.Plain {
	return []cli.Plain{
		{Name: "mcp", Summary: "Serve MCP on standard input and output.", Run: r.mcp,
			Long: "Serve MCP on standard input and output, for the configuration of an MCP client.\nIt ends with its input."},
		{Name: hookName, Summary: "Answer an event of a client's session: lean-ctx hook <client> <event>.", Run: r.hookHelp, Long: hookLong},
		{Under: "agent", Name: "watch", Summary: "Follow what agents do, as it happens.", Run: r.watchAgents,
			Long: "Follow what agents do in this project, a line each: who comes and goes, what is posted, claimed,\nreleased and handed over. Private messages are shown to those they concern (--agent). With --json each\nline is an object: {\"at\":when it was seen,\"text\":the line}. Ctrl-C ends it, with exit code 0."},
		{Under: "task", Name: "watch", Summary: "Follow what is done with tasks, as it happens.", Run: r.watchTasks,
			Long: "Follow what is done with the tasks of this project, a line each; with --json an object each:\n{\"at\":when it was seen,\"text\":the line}. Ctrl-C ends it, with exit code 0."},
		{Name: "demo", Summary: "Show the story of a project's memory, with the real server.", Run: r.demo,
			Long: "Show the story of a project's memory: starts the real server in a temporary directory,\ndrives it with a real MCP client and prints each call with its answer."},
	}
}

// warn prints what is no error and counts it for --strict.
func (r *run) warn(text string) {
	r.warnings++
	if !r.globals.Quiet {
		cli.Warn(r.errs, text)
	}
}

// end closes what is open and says how it went.
func (r *run) end(ctx context.Context, err error) int {
	code := exitCode(ctx, err)
	switch {
	case is[*transfer.InterruptedError](err): // who ended it should know what is in, at once
		r.report(err, code)
	case code != done && code != interrupted:
		r.report(r.stale(err), code)
	}
	if r.stores != nil {
		// What was answered is on disk already; closing only drops caches, so a
		// failure here is no failure of the command.
		if e := r.stores.close(); e != nil {
			r.warn(e.Error())
		}
	}
	if code == done && r.warnings > 0 && r.globals.Strict {
		return warned
	}
	return code
}

// stale says where an agent's name comes from that nobody typed.
func (r *run) stale(err error) error {
	missing, _ := errors.AsType[*refusal.NotFoundError](err)
	wrong, _ := errors.AsType[*refusal.ArgumentError](err)
	if missing == nil && wrong == nil || r.globals.Agent != "" {
		return err
	}
	c, e := r.stores.config()
	if e != nil || c.Agent == "" {
		return err
	}
	if wrong != nil && wrong.Subject == c.Agent { // as when another agent is to be registered
		return &cli.UsageError{Problem: err.Error(), Advice: fmt.Sprintf("%s says who you are; unset it for: %s %s", config.AgentVar, cli.Name, strings.Join(r.args, " "))}
	}
	if missing == nil || missing.Subject != c.Agent {
		return err
	}
	return fmt.Errorf("%w; it is %s that says so: unset it, or set it to the id that register gives", err, config.AgentVar)
}

// mcp serves one client until its input ends.
func (r *run) mcp(ctx context.Context, _ cli.Globals) error {
	c, err := r.stores.config()
	if err != nil {
		return err
	}
	r.stores.serve(slog.New(slog.NewTextHandler(r.errs, &slog.HandlerOptions{Level: c.LogLevel})))
	if cli.Terminal(r.in) {
		fmt.Fprintf(r.errs, "%s: this is an MCP server; it waits for a client's messages on standard input (Ctrl-C ends it)\n", cli.Name)
	}
	return r.stores.server().ServeStdio(ctx, r.in, r.out)
}

// demo plays the story with this very program as the server.
func (r *run) demo(ctx context.Context, _ cli.Globals) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	err = demo.Run(ctx, demo.Options{Server: []string{exe, "mcp"}, Environ: config.Environ, Out: r.out, Err: r.errs})
	if err != nil && ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return err
}
