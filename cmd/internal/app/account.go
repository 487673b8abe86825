package app

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"leanctx/agents"
	"leanctx/agents/cost"
	"leanctx/cmd/internal/op"
	"leanctx/internal/refusal"
	"leanctx/tasks"
)

// account keeps what calls took and which agents are at work. A process has one.
type account struct {
	stores    *stores
	lastTouch sync.Map // when an agent was last active
}

// count records the tokens of a call that was answered, and the activity of its agent. A
// call without an operation or a project is not counted.
func (a *account) count(m op.AnsweredCall) {
	found, ok := a.stores.lastProjects.Load(m.Scope.Project)
	if m.Scope == (op.Scope{}) || !ok || m.Tool == op.TokenReportName { // a report does not count itself
		return
	}
	p := found.(projectPlace)
	w := a.stores.in(m.Scope, p)
	agent, err := w.self()
	if registry, open := opened[*agents.Store](a.stores, p.at.key()); err == nil && open && agent != "" {
		_, err = registry.Named(context.Background(), agent) // a command that needs no registry reads none
	}
	if is[*refusal.NotFoundError](err) || is[*refusal.ArgumentError](err) {
		agent = "" // it counts for the client
	}
	if a.stores.longLived || slices.Contains([]string{"ctx_agent", "ctx_task", "ctx_share"}, m.Tool) { // a command about facts reads no registry
		a.touch(w, agent)
	}
	a.noteTold(m, w)
	usage, err := w.usage()
	if err != nil {
		a.stores.logger.Warn("a call is not counted", "error", err)
		return
	}
	usage.Note(cost.Receipt{
		Tool: m.Tool, Action: m.Action, Agent: agent, Client: m.Scope.Caller.Name,
		Session: m.Scope.Caller.Session, Intent: intentOf(m), In: m.In, Out: m.Out,
	})
}

// intentOf reports whether a call says what the session is working on. It does so by naming a
// task or by claiming one.
func intentOf(m op.AnsweredCall) cost.Intent {
	var args struct{ Task, State string }
	switch {
	case m.Tool == "ctx_task" && m.Action == "claim":
		return cost.Inferred
	case m.Tool == "ctx_task" && m.Action == "update", m.Tool == "ctx_overview", m.Action == "wakeup":
		_ = json.Unmarshal([]byte(m.In), &args) // other types were refused
	}
	switch {
	case args.Task != "":
		return cost.Explicit
	case strings.EqualFold(args.State, string(tasks.Working)):
		return cost.Inferred
	}
	return cost.Unstated
}

const (
	touchEvery   = time.Minute            // for each agent; the registry writes less often
	touchTimeout = 5 * time.Second        // then it is given up
	touchAfter   = 200 * time.Millisecond // the same after a command, which waits for it
)

// touch records in the background that an agent is active. Otherwise an agent that only
// remembers and recalls, or only reports on its tasks, would count as inactive.
func (a *account) touch(w projectStores, agent string) {
	if agent == "" {
		return
	}
	timeout := touchAfter
	if a.stores.longLived {
		timeout = touchTimeout
	}
	now, key := time.Now(), w.project.Hash+agent+w.sessionName()
	if last, ok := a.lastTouch.Load(key); ok && now.Sub(last.(time.Time)) < touchEvery {
		return
	}
	a.lastTouch.Store(key, now)
	a.stores.background.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		registry, err := w.agents()
		if err == nil {
			err = registry.As(w.actor(agent)).Touch(ctx)
		}
		if err != nil {
			a.stores.logger.Debug("an agent's sign of life is not recorded", "agent", agent, "error", err)
		}
	})
}

// left releases the agents of a connection that has ended, so that others may resume them.
func (a *account) left(session string) {
	a.stores.mu.Lock()
	all := slices.Collect(maps.Values(a.stores.open))
	a.stores.mu.Unlock()
	for _, x := range all {
		if registry, ok := x.(*agents.Store); ok {
			if err := registry.Leave(session); err != nil {
				a.stores.logger.Warn("an idle agent could not be removed", "error", err)
			}
		}
	}
}
