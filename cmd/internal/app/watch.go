package app

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/op"
)

// watch is a command that prints what happens in the project, line by line as
// it happens, until it is interrupted.
func (r *run) watch(ctx context.Context, g cli.Globals, start func(context.Context, op.Scope) (follower, error)) error {
	restoreGC()
	store, err := start(ctx, op.Scope{Project: g.Project, Agent: g.Agent, Caller: op.Caller{Kind: "user"}})
	if err != nil {
		return err
	}
	if cli.Terminal(r.out) {
		fmt.Fprintf(r.errs, "%s: watching; Ctrl-C ends it\n", cli.Name)
	}
	return store.Follow(ctx, func(line string) error {
		if g.JSON {
			data, err := json.Marshal(watched{time.Now().UTC(), line})
			if err != nil {
				return err
			}
			line = string(data)
		}
		_, err := fmt.Fprintln(r.out, line)
		return err
	})
}

// watched is a line under --json.
type watched struct {
	At   time.Time `json:"at"` // when it was seen
	Text string    `json:"text"`
}

// follower is a store that tells what happens to it. The end of ctx is no
// error.
type follower interface {
	Follow(ctx context.Context, line func(string) error) error
}

func (r *run) watchAgents(ctx context.Context, g cli.Globals) error {
	return r.watch(ctx, g, func(ctx context.Context, sc op.Scope) (follower, error) {
		return r.stores.working(r.stores.lookup)(ctx, sc)
	})
}

func (r *run) watchTasks(ctx context.Context, g cli.Globals) error {
	return r.watch(ctx, g, func(ctx context.Context, sc op.Scope) (follower, error) {
		return r.stores.doing(r.stores.lookup)(ctx, sc)
	})
}
