package app

import (
	"context"
	"time"

	"leanctx/agents"
	"leanctx/cmd/internal/hook"
	"leanctx/cmd/internal/op"
	"leanctx/knowledge"
)

// clientSession is what is known of the client at the other end of a connection.
type clientSession struct {
	call    string // for which it was looked up last
	joined  hook.Joined
	ok      bool
	certain bool
}

// joined is the session of a client in which a call over MCP is made. A connection keeps the one that is certain.
func (w projectStores) joined() (hook.Joined, bool) {
	c := w.scope.Caller
	if !w.longLived || c.Session == "" {
		return hook.Joined{}, false
	}
	key, call := w.project.Hash+"\x00"+c.Session, c.CallID+"\x00"+c.Sum
	known, _ := w.clientSessions.Load(key)
	last, _ := known.(clientSession)
	if known != nil && last.call == call {
		return last.joined, last.ok
	}
	j, certain, ok := hook.SessionOf(w.config.DataDir, w.project.Hash, hook.ToolCall{Client: c.Name, ID: c.CallID, Sum: c.Sum, Thread: c.Thread, At: time.Now()})
	if last.call = call; certain || !last.certain {
		last.joined, last.ok, last.certain = j, ok, certain
	}
	w.clientSessions.Store(key, last)
	return last.joined, last.ok
}

// sessionName is the agent that a caller over MCP is without registering; empty for others.
func (w projectStores) sessionName() string {
	c := w.scope.Caller
	if !w.longLived || c.Session == "" {
		return ""
	}
	if j, ok := w.joined(); ok {
		return j.Name(w.project.Hash)
	}
	return agents.SessionName(hook.ClientOf(c.Name), c.Session, w.project.Hash)
}

// actor is the caller for the registry of agents.
func (w projectStores) actor(agent string) agents.Actor {
	c := w.scope.Caller
	return agents.Actor{Agent: agent, Client: c.Name, Session: c.Session, Name: w.sessionName()}
}

// enter makes a caller over MCP that has not registered an agent, for an operation that changes something.
func (w projectStores) enter(agent string) (string, error) {
	if agent != "" && agent != w.sessionName() || w.scope.Effect == op.Reads || w.sessionName() == "" {
		return agent, nil
	}
	registry, err := w.agents()
	if err != nil {
		return agent, err
	}
	me := registry.As(w.actor(""))
	if err := me.Enter(context.Background()); err != nil {
		return agent, err
	}
	return me.Self(), nil
}

// noteTold records what an answer tells the client's session: its hooks do not tell it again.
func (a *account) noteTold(m op.AnsweredCall, w projectStores) {
	var told []string
	add := func(id, category, key string) {
		if id != "" {
			told = append(told, hook.ToldAs(id, category, key))
		}
	}
	switch r := m.Result.(type) {
	case knowledge.Recalled:
		for _, f := range r.Facts {
			add(f.ID, f.Category, f.Key)
		}
	case knowledge.Remembered:
		add(r.ID, r.Category, r.Key)
	}
	if j, ok := w.joined(); ok && len(told) > 0 {
		j.Note(a.stores.config.DataDir, w.project.Hash, told, time.Now())
	}
}
