package app

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"leanctx/agents/session"
	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/hook"
	"leanctx/cmd/internal/op"
	"leanctx/internal/secret"
	"leanctx/overview/tree"
)

// hookName is the command that clients' hooks call. Main looks for it before it makes the other
// commands. That saves milliseconds. It also keeps usage errors from returning an exit code
// that a client would take for a decision.
const hookName = "hook"

// isHook reports whether a client's hook calls the program.
func isHook(args []string) bool {
	return len(args) > 1 && args[0] == hookName && !slices.ContainsFunc(args, func(a string) bool { return a == "-h" || a == "--help" })
}

const hookLong = `Answer an event of a client's session. Clients call it, because lean-ctx connect wrote that into their settings. ` +
	`It reads and writes the client's JSON. It prints nothing when it has nothing to say, or when something is wrong: see logs/hook.log in the data directory. ` +
	`It ends within a second, with exit code 0.

Events: session-start user-prompt pre-tool post-tool pre-compact session-end stop subagent-start subagent-stop`

// hookHelp runs if no client is named.
func (r *run) hookHelp(context.Context, cli.Globals) error {
	_, err := fmt.Fprintln(r.out, hookLong)
	return err
}

// hookGitWait is how long git may take in a hook. The configuration of a repository can have it wait for ever,
// and a hook that waits with it tells nothing of what the user said.
const hookGitWait = 150 * time.Millisecond

// runHook answers an event. It always succeeds.
func runHook(ctx context.Context, args []string, in io.Reader, out io.Writer) int {
	c, err := config.Load("", "")
	if err != nil {
		return done
	}
	call := hook.Call{Client: args[0], In: in, Dir: c.Project, Data: c.DataDir, InAgent: markedShell() != ""}
	if d := config.Getenv("DEVIN_PROJECT_DIR"); filepath.IsAbs(d) { // its input names no directory
		call.Dir = d
	}
	if len(args) > 1 {
		call.Event = args[1]
	}
	if cli.Terminal(in) {
		call.In = nil
	}
	if c.HooksOff {
		call.Paused(ctx)
		return done
	}
	call.Clean = func(text string) string {
		clean, _ := secret.BuiltIn().Clean(text)
		return clean
	}
	s := newStores(c, func(string) {})
	s.teamWait, s.gitWait, s.hurry = 0, hookGitWait, newHurry(ctx)
	call.Open = hookCalls{s}.open
	if answer := call.Run(ctx); len(answer) > 0 {
		// A client that has ended reads nothing. That is no failure.
		_, _ = fmt.Fprintln(out, string(answer))
	}
	return done
}

// hookCalls is what a client's hooks ask.
type hookCalls struct{ stores *stores }

// open opens the project of a session without creating anything. It returns nil if the
// settings switch hooks off.
func (c hookCalls) open(ctx context.Context, of *hook.Session) (hook.ProjectView, error) {
	sc := op.Scope{Project: c.place(of.Dir), Agent: c.stores.config.Agent}
	settings, _, err := c.stores.settings(sc)
	if err != nil || !settings.Hooks {
		return nil, err
	}
	w, err := c.stores.of(ctx, sc)
	if err != nil {
		return nil, err
	}
	p := w.project
	if !c.stores.config.Named && c.stores.everything(p.Root) {
		return nil, nil // the client was started in no project
	}
	roots := []string{p.Root}
	for _, place := range p.Places {
		roots = append(roots, filepath.FromSlash(place.Root))
	}
	store, err := w.factStore()
	return of.In(hook.Stores{
		Known: p.Known, Hash: p.Hash, Roots: roots, Agent: sc.Agent, Diary: settings.AutoDiary,
		Stamp: p.at.factStamp, LeftOut: c.stores.hurry.leftOut,
		Uncommitted: func(ctx context.Context, file string) (bool, error) {
			ctx, cancel := context.WithTimeout(ctx, hookGitWait)
			defer cancel()
			changed := tree.Uncommitted(ctx, filepath.FromSlash(p.Root), file)
			return changed, ctx.Err()
		},
		Facts: store, Agents: w.agents, Tasks: w.tasks, Shares: w.shares, Close: c.stores.close,
		Unasked: func() bool {
			_, given := session.ConsentIn(c.stores.config.DataDir)
			return !given && settings.Sessions != config.SessionsOff && !session.Open(session.Dir(c.stores.config.DataDir, p.Hash), nil).Off()
		},
		Sessions: func() (*session.Store, error) {
			if w.keepsSessions() != nil {
				return nil, nil
			}
			store, err := w.sessions()
			if given, ok := session.ConsentIn(c.stores.config.DataDir); ok && err == nil {
				store = store.Since(given.Since)
			}
			return store, err
		},
	}), err
}

// place is where the project of a session is looked for: where the client's server looks too.
func (c hookCalls) place(dir string) string {
	if c.stores.config.Named {
		return c.stores.config.Project
	}
	if roots := config.ClientRoots(); len(roots) == 1 {
		return roots[0]
	}
	return dir
}

// briefings lists what the hooks gave to the sessions of a project.
func (c hookCalls) briefings(ctx context.Context, sc op.Scope, q op.BriefingsQuery) (op.Result, error) {
	w, err := ofCall(c.stores, func(w projectStores) (projectStores, error) { return w, nil })(ctx, sc) // they name facts
	if err != nil {
		return nil, err
	}
	return hook.ReadBriefings(c.stores.config.DataDir, w.project.Hash, q.Limit, q.Explain, time.Now())
}
