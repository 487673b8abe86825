// Package app connects all other packages: it makes the options of the stores from the
// configuration and fills the table of operations with the stores.
//
// A call goes through these files:
//
//   - app.go runs one command, reports its error and returns the exit code. tools.go makes the
//     operations of the table into MCP tools and into commands. serve.go serves them over HTTP.
//   - stores.go finds the project of a call and opens, keeps and closes stores. projectstores.go
//     opens the agents, tasks, shared files and token counts of one project; adapters.go lets
//     these stores ask each other. overview.go makes the map of the project.
//   - account.go counts what a call took, and records that its agent is at work.
//   - hook.go gives the events of a client's session the stores of its project.
//   - connect.go writes into the settings of clients, and doctor.go examines it all.
//   - projects.go, sensitive.go, embeddings.go, sync.go, compact.go and version.go have one
//     command each, complete.go completes their arguments.
//   - membership.go says where a project's stores are: at home, or in the copies of a team.
//     team.go joins and leaves a team, teamstatus.go shows it, teamserve.go runs its server.
//
// # Start-up time
//
// Hooks and commands start the program dozens of times an hour. So everything is opened when it
// is first needed. The configuration is read at the first call, a project's store at the first
// call for that project. Open stores stay open until the process ends.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/demo"
	"leanctx/cmd/internal/op"
	"leanctx/embed"
	"leanctx/internal/journal"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// Main runs one command and returns the exit code. The end of ctx, SIGINT and SIGTERM
// interrupt it; a second signal kills the process.
func Main(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
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
	root := r.command()
	root.SetArgs(args)
	return r.end(ctx, execute(withBar(op.WithCaller(ctx, caller(in, out, errs)), errs), root.ExecuteContext))
}

// command makes all commands of the program.
func (r *run) command() *cli.Command {
	return cli.New(cli.Options{
		In: r.in, Out: r.out, Err: r.errs, Version: strings.TrimPrefix(build().Text(), cli.Name+" "), Known: r.known, Args: r.args,
		Tools: r.tools, Plain: r.plain(), Begin: r.begin, Warn: r.warn, OnAnswer: r.countCall,
	})
}

// Command is the program's command with all others below it, for their manual pages.
func Command() *cli.Command { return new(run).command() }

// clientMarks are environment variables that clients set for the commands of their agents.
var clientMarks = []struct{ variable, client string }{
	{"CLAUDECODE", "claude-code"}, {"CURSOR_AGENT", "cursor"}, {"GEMINI_CLI", "gemini"},
	{"CODEX_THREAD_ID", "codex"}, {"CODEX_SANDBOX", "codex"}, {"OPENCODE", "opencode"},
	{"GOOSE_TERMINAL", "goose"}, {"CLINE_ACTIVE", "cline"}, {"AMP_CURRENT_THREAD_ID", "amp"},
}

// markedShell is the client whose mark the environment bears; empty: none.
func markedShell() string {
	for _, m := range clientMarks {
		if config.Getenv(m.variable) != "" {
			return m.client
		}
	}
	return ""
}

// caller is who runs a command: the agent of a client that set its variable, or a user. A user
// may read the answer through a pipe or into a file, so one terminal of the three is enough. What
// has none is a program: a script of cron or CI, or a command over ssh.
func caller(in io.Reader, out, errs io.Writer) op.Caller {
	if client := markedShell(); client != "" {
		return op.Caller{Kind: "agent", Name: client}
	}
	if config.Getenv(config.AgentVar) != "" {
		return op.Caller{Kind: "agent"}
	}
	if cli.Terminal(in) || cli.Terminal(out) || cli.Terminal(errs) {
		return op.Caller{Kind: "user"}
	}
	return op.Caller{Kind: "tool"}
}

// countCall counts a call, and its warnings for --strict. That a call was not carried out is said on
// standard error too, also under --quiet: a script reads no answer.
func (r *run) countCall(m op.AnsweredCall) {
	if m.Warned() {
		r.warnings++
	}
	if why := m.NotDone(); why != "" {
		r.notDone = true
		cli.Warn(r.errs, why)
	}
	r.found = r.found || m.Found()
	if m.Away && r.stores != nil {
		r.stores.away.Store(true)
	}
	r.account.count(m)
}

// execute turns a panic into an error. Go's exit code for a panic is 2, which is ours for a
// mistake in the arguments.
func execute(ctx context.Context, command func(context.Context) error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = &panicError{fmt.Sprintf("internal error: %v\n%s", cause, debug.Stack())}
		}
	}()
	return command(ctx)
}

// panicError has the stack of a panic.
type panicError struct{ text string }

func (e *panicError) Error() string { return e.text }

// run is one run of the program.
type run struct {
	in       io.Reader
	out      io.Writer
	errs     io.Writer
	args     []string
	globals  *cli.Globals
	stores   *stores
	account  *account
	warnings int
	found    bool // a check found something
	notDone  bool // a call was not carried out: what is believed has more authority
}

// tools are the tools of the table, and those that exist on the command line only.
func (r *run) tools(g *cli.Globals) []*op.Tool {
	r.globals = g
	r.stores = newStores(nil, r.warn)
	r.account = &account{stores: r.stores}
	own := []*op.Tool{projectTool(r.stores), syncTool(r.stores), compactTool(r.stores), sensitiveTool(r.stores), sessionTool(r.stores), embeddingsTool(r.stores), versionTool(), teamTool(r), r.serveTool()}
	return slices.Concat(shell{r.stores, r.in}.tools(), own, clientTools(r))
}

// begin reads the configuration, after the flags are parsed. The command version needs none.
func (r *run) begin(t *op.Tool) error {
	if t.Name == versionName {
		return nil
	}
	c, err := config.Load(r.globals.Project, r.globals.Agent)
	if err == nil {
		r.stores.config = c
	}
	return err
}

// plain are the commands that are no operations.
func (r *run) plain() []cli.Plain {
	return []cli.Plain{
		{Name: "mcp", Summary: "Serve MCP on standard input and output.", Run: r.mcp,
			Long: "Serve MCP on standard input and output, for the configuration of an MCP client.\nIt ends with its input."},
		{Name: hookName + " <client> <event>", Summary: "Answer an event of a client's session; connect writes the entries that call it.", Run: r.hookHelp, Long: hookLong},
		{Name: "demo", Summary: "Show the story of a project's memory, with the real server.", Run: r.demo,
			Long: "Show the story of a project's memory: starts the real server in a temporary directory,\ndrives it with a real MCP client and prints each call with its answer."},
	}
}

// warn prints a warning and counts it for --strict.
func (r *run) warn(text string) {
	r.warnings++
	if !r.globals.Quiet {
		cli.Warn(r.errs, text)
	}
}

// end closes the stores and reports the error, if any.
func (r *run) end(ctx context.Context, err error) int {
	code := exitCode(ctx, err)
	if code != done && code != interrupted {
		r.report(r.explainAgent(err), code)
	}
	if r.stores != nil {
		// All that was answered is on disk already. Closing only drops caches, so its
		// failure is no failure of the command.
		if e := r.stores.close(); e != nil {
			r.warn(e.Error())
		}
	}
	if code == done && (r.found || r.notDone || r.warnings > 0 && r.globals.Strict) {
		return warned
	}
	return code
}

// explainAgent explains an error about an agent's name that comes from the environment.
func (r *run) explainAgent(err error) error {
	c := r.stores.config
	if c == nil || c.Agent == "" || r.globals.Agent != "" {
		return err
	}
	if wrong, ok := errors.AsType[*refusal.ArgumentError](err); ok && wrong.Subject == c.Agent { // not if the call names another agent
		return &refusal.HintError{Problem: err.Error(), Hint: fmt.Sprintf("%s says who you are; unset it for: %s %s", config.AgentVar, cli.Name, strings.Join(r.args, " "))}
	}
	if missing, ok := errors.AsType[*refusal.NotFoundError](err); ok && missing.Subject == c.Agent {
		return fmt.Errorf("%w; the id comes from %s: unset it, or set it to the id that register gave", err, config.AgentVar)
	}
	return err
}

// mcp serves one client until its input ends.
func (r *run) mcp(ctx context.Context, _ cli.Globals) error {
	if err := r.begin(new(op.Tool)); err != nil {
		return err
	}
	r.stores.serve(newLogger(r.stores.config, r.errs, r.stores.config.LogLevel))
	if cli.Terminal(r.in) {
		fmt.Fprintf(r.errs, "%s: this is an MCP server; it waits for a client's messages on standard input (Ctrl-C ends it)\n", cli.Name)
	}
	return mcpCalls{account: r.account}.server().ServeStdio(ctx, r.in, r.out)
}

// demo runs the demonstration with this program as the server.
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

// The exit codes. No other place knows them.
const (
	done        = 0
	failed      = 1
	usage       = 2
	notFound    = 3
	warned      = 4 // warnings under --strict, a check that found something, or a value that is not believed
	locked      = 11
	unreadable  = 12 // corrupt, or written by a newer version
	interrupted = 130
)

// exitCode is the exit code for err.
func exitCode(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return done
	case errors.Is(err, syscall.EPIPE) && !is[*net.OpError](err):
		// The reader of a pipe has closed it. The operation itself is done. A connection to a server
		// that broke is another matter: nothing was written there.
		return done
	case is[*refusal.HintError](err):
		return usage
	}
	if code, known := exitCodes[op.Classify(err)]; known {
		return code
	}
	if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, journal.ErrInDoubt) {
		return notFound
	}
	return failed
}

var exitCodes = map[op.Class]int{
	op.Usage: usage, op.NotFound: notFound, op.Locked: locked, op.Unreadable: unreadable, op.Interrupted: interrupted,
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// report prints an error and, on its own line, a hint. Under --json it prints one object,
// also if the command line itself is wrong.
func (r *run) report(err error, code int) {
	text, hint := op.ErrorText(err), ""
	if is[*panicError](err) {
		text = err.Error() // with the stack
	}
	if h, ok := errors.AsType[*refusal.HintError](err); ok {
		hint = h.Hint
	}
	if r.globals.JSON || slices.Contains(r.args, "--json") {
		object, _ := prose.JSON(struct { // texts and numbers can be encoded
			Error string `json:"error"`
			Hint  string `json:"hint,omitempty"`
			Code  int    `json:"exit_code"`
		}{text, hint, code})
		fmt.Fprintln(r.errs, object)
		return
	}
	fmt.Fprintf(r.errs, "%s: error: %s\n", cli.Name, prose.Visible(text, "\n\t"))
	if hint != "" {
		fmt.Fprintf(r.errs, "%s: hint: %s\n", cli.Name, prose.Visible(hint, "\t"))
	}
}

// withBar shows the progress of a long operation, if standard error is a terminal.
func withBar(ctx context.Context, errs io.Writer) context.Context {
	if !cli.Terminal(errs) {
		return ctx
	}
	return op.WithProgress(ctx, bar(errs, time.Second))
}

// bar shows how far an operation is, at most so often, and clears the line at the end.
func bar(out io.Writer, every time.Duration) func(done, total int) {
	const width = 30
	last, drawn := time.Now(), false
	return func(done, total int) {
		switch {
		case done >= total && drawn:
			fmt.Fprint(out, "\r\033[K")
			drawn = false
		case done < total && time.Since(last) >= every:
			last, drawn = time.Now(), true
			full := done * width / total
			fmt.Fprintf(out, "\r[%s%s] %d of %d", strings.Repeat("#", full), strings.Repeat(" ", width-full), done, total)
		}
	}
}
