package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"leanctx/agents/session"
	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/hook"
	"leanctx/cmd/internal/mcpsrv"
	"leanctx/cmd/internal/op"
	"leanctx/cmd/internal/web"
	"leanctx/internal/atomicfile"
	"leanctx/overview/tree"
)

// clientCommands are the commands about clients.
type clientCommands struct{ *run }

func clientTools(r *run) []*op.Tool {
	c := clientCommands{r}
	return []*op.Tool{
		{Name: "connect", Command: "connect", Summary: "Write the MCP server and the hooks into the settings of clients.",
			Operations: []op.Operation{op.New("", "Write the MCP server and the hooks into the settings of the named clients, or of every client that is found.", op.Changes, c.connect).
				Shown("clients", []string{"claude-code"})}},
		{Name: "disconnect", Command: "disconnect", Summary: "Undo connect.",
			Operations: []op.Operation{op.New("", "Undo connect: give the named clients, or all, their former settings back.", op.Changes, c.disconnect)}},
		{Name: "briefings", Command: "briefings", Summary: "Show what hooks gave to each session of the last 30 days.",
			Operations: []op.Operation{op.New("", "Show what hooks gave to each session of the last 30 days: when, which client, which facts.", op.Reads, hookCalls{r.stores}.briefings)}},
		{Name: "doctor", Command: "doctor", Summary: "Check the clients, the server and the store.",
			Operations: []op.Operation{op.New("", "Check the clients, the server and the store; say what is wrong and what to do. The exit code is 1 if there is a problem.", op.Changes, c.doctor)}},
	}
}

type connection struct {
	Clients   []string `json:"clients,omitempty" arg:"1" jsonschema:"claude-code, codex, gemini, copilot, vscode, cursor, windsurf, opencode, zed, cline, amp, goose"`
	Scope     string   `json:"scope,omitempty" enum:"user,project,local" jsonschema:"user: all your projects; project: everybody in this project; local: you in this project (default user)"`
	DryRun    bool     `json:"dry_run,omitempty" jsonschema:"show what would change, change nothing"`
	URL       string   `json:"url,omitempty" jsonschema:"reach a running lean-ctx serve instead of starting a server: its address, such as http://127.0.0.1:7337; writes into the project's files only"`
	TokenFile string   `json:"token_file,omitempty" jsonschema:"file with a token for --url (default: one for this project alone); other users see the words of a command"`
}

type disconnection struct {
	Clients []string `json:"clients,omitempty" arg:"1" jsonschema:"which clients (default: all)"`
	Scope   string   `json:"scope,omitempty" enum:"user,project,local" jsonschema:"which entries (default: all that were connected from this machine)"`
	DryRun  bool     `json:"dry_run,omitempty" jsonschema:"show what would change, change nothing"`
}

// plainText is an answer without fields.
type plainText string

func (t plainText) Text() string { return string(t) }

func (c clientCommands) connect(ctx context.Context, sc op.Scope, a connection) (op.Result, error) {
	p, err := c.machine(ctx, sc)
	if err != nil {
		return nil, err
	}
	o := hook.ConnectOptions{Clients: a.Clients, Scope: hook.Scope(a.Scope), DryRun: a.DryRun}
	if a.URL != "" {
		if sc.ByAgent() { // it would give itself a token
			return nil, &op.ForbiddenError{What: "connect --url is for a person: ask the user to type it at a terminal"}
		}
		if o.Remote, err = c.remote(ctx, sc, a); err != nil {
			return nil, err
		}
	}
	report, err := p.Connect(o)
	if err != nil && len(report.Files) == 0 {
		return nil, err
	}
	if !a.DryRun && err == nil && len(report.Files) > report.Failed() {
		fresh, e := session.Consenting(p.Data, "connect", time.Now(), c.stores.transcriptFolders(), !sc.ByAgent())
		if err = e; fresh {
			report.Notes = append(report.Notes, string(keptHere))
		}
	}
	return c.shown(sc, report, cmp.Or(err, leftAlone(report)))
}

// remote is the server that --url names. Without a path it is the one of this project; the
// project is recorded, so that the server knows it by its hash.
func (c clientCommands) remote(ctx context.Context, sc op.Scope, a connection) (hook.Remote, error) {
	p, err := c.stores.project(ctx, sc)
	if err != nil {
		return hook.Remote{}, err
	}
	token := ""
	if a.TokenFile != "" {
		if err := c.stores.config.Paths(&a.TokenFile); err != nil {
			return hook.Remote{}, err
		}
		text, err := atomicfile.ReadSecret(a.TokenFile)
		if err != nil {
			return hook.Remote{}, err
		}
		token = strings.TrimSpace(string(text))
	}
	remote, err := hook.ParseRemote(a.URL, token, p.Hash)
	if err == nil && remote.Token == "" {
		remote.Token, err = web.ProjectToken(c.stores.config.DataDir, cmp.Or(remote.Project(), p.Hash))
	}
	return remote, err
}

func (c clientCommands) disconnect(ctx context.Context, sc op.Scope, a disconnection) (op.Result, error) {
	p, err := c.machine(ctx, sc)
	if err != nil {
		return nil, err
	}
	if len(a.Clients) == 0 && a.Scope == "" && !a.DryRun {
		if err := session.Withdraw(p.Data, "connect"); err != nil {
			return nil, err
		}
	}
	report, err := p.Disconnect(hook.ConnectOptions{Clients: a.Clients, Scope: hook.Scope(a.Scope), DryRun: a.DryRun})
	if err != nil {
		return nil, err
	}
	return c.shown(sc, report, leftAlone(report))
}

// shown is an answer. If there is a problem with it, it prints the answer and returns the
// problem.
func (c clientCommands) shown(sc op.Scope, x op.Result, problem error) (op.Result, error) {
	switch {
	case problem == nil:
		return x, nil
	case sc.Output == "json":
		return nil, cmp.Or(json.NewEncoder(c.out).Encode(x), problem)
	}
	_, err := fmt.Fprintln(c.out, x.Text())
	return nil, cmp.Or(err, problem)
}

// leftAlone says how many files could not be edited.
func leftAlone(report hook.Report) error {
	switch n := report.Failed(); n {
	case 0:
		return nil
	case 1:
		return errors.New("1 file left as it is")
	default:
		return fmt.Errorf("%d files left as they are", n)
	}
}

// gitTimeout is how long git may take to tell what is committed.
const gitTimeout = 10 * time.Second

// machine describes this machine to package hook.
func (c clientCommands) machine(ctx context.Context, sc op.Scope) (hook.Machine, error) {
	home, err := c.stores.config.Home()
	if err != nil {
		return hook.Machine{}, err
	}
	p := hook.Machine{Home: home, Data: c.stores.config.DataDir, Getenv: config.Getenv, OnPath: onPath, Probe: mcpsrv.Probe}
	p.Command, p.Shared = program(p)
	if config.Getenv(config.DataDirVar) != "" { // some clients give a server no variable that its entry does not name
		p.Env = map[string]string{config.DataDirVar: p.Data}
	}
	if p.Root, err = c.stores.dir(sc); err != nil {
		return p, err
	}
	p.Git = func(args ...string) ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, gitTimeout)
		defer cancel()
		return tree.Git(ctx, "git", p.Root, "", args...)
	}
	// A broken configuration must not keep connect and doctor from working.
	if projects, dir, err := c.stores.projectRegistry(sc); err == nil {
		if project, err := projects.Lookup(ctx, dir); err == nil {
			p.Root = project.Root
		}
	}
	return p, nil
}

func onPath(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// program is the command that clients start: lean-ctx, if that is this program also for a client
// that was started from the desktop, or else its path. shared is the same for files that others
// share: lean-ctx, if that is this program on PATH. Symbolic links are kept, since a package
// manager's link stays when it replaces a version.
func program(m hook.Machine) (command, shared string) {
	exe, err := os.Executable()
	if err != nil {
		return cli.Name, cli.Name
	}
	found, err := exec.LookPath(cli.Name)
	if err != nil || !sameFile(found, exe) {
		return slashed(exe), slashed(exe)
	}
	if near, ok := m.OnShortPath(cli.Name); ok && sameFile(near, exe) {
		return cli.Name, cli.Name
	}
	if found, err = filepath.Abs(found); err != nil {
		return cli.Name, cli.Name
	}
	return slashed(found), cli.Name
}

// slashed is a path as a shell takes it that runs hooks: it may treat backslashes specially.
func slashed(path string) string {
	if filepath.Separator == '\\' {
		return filepath.ToSlash(path)
	}
	return path
}

func sameFile(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}
