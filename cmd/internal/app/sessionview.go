package app

import (
	"context"
	"strings"
	"time"

	"leanctx/agents"
	"leanctx/agents/share"
	"leanctx/cmd/internal/hook"
)

// sessionView is what a session of a client sees of the agents in a project.
type sessionView struct {
	stores   projectStores
	registry *agents.Store // of stores
	agents   agents.Synced
	named    string // the agent that the environment names
	session  *hook.Session
	sessions []hook.SeenSession // of its client
	me       string             // the session's agent; empty if it is not known
}

// sessionView reads the agents of a project. It marks nothing as read.
func (w projectStores) sessionView(ctx context.Context, session *hook.Session) (n sessionView, err error) {
	n = sessionView{stores: w, named: w.scope.Agent, session: session, sessions: session.SeenIn(w.project.Hash)}
	if !w.project.Known {
		return n, nil
	}
	if n.registry, err = w.agents(); err != nil {
		return n, err
	}
	n.agents, err = n.registry.As(agents.Actor{}).Sync(ctx, agents.NoArgs{}) // without an agent, so that nothing is marked as read
	n.me = n.self()
	return n, err
}

// self is the agent of the session, or empty. If there are two candidates, no agent is
// better than the wrong one.
func (n sessionView) self() (me string) {
	for _, a := range n.agents.Agents {
		if n.whose(a) == hook.Own {
			if me != "" {
				return ""
			}
			me = a.AgentID
		}
	}
	return me
}

// whose tells whether an agent belongs to the session: the one that the environment names,
// or else those that registered in it.
func (n sessionView) whose(a agents.Present) hook.Owner {
	switch {
	case n.named != "" && a.AgentID == n.named:
		return hook.Own
	case n.named != "" && n.named == n.me || !sameKind(a.AgentType, n.session.Client):
		return hook.Other
	case n.named != "" || a.Joined.IsZero():
		return hook.Unsure
	}
	return hook.OwnerOf(n.sessions, a.Joined)
}

// claimed lists the claims of others on a file, given by its path within the project. A
// holder that is not registered may be any agent of its kind.
func (n sessionView) claimed(file string) (list []hook.Notice) {
	for _, c := range n.agents.Claims {
		if !covers(strings.ToLower(c.Path), strings.ToLower(file)) {
			continue
		}
		name, holder := c.AgentID, agents.Present{AgentID: c.AgentID, AgentType: kindOf(c.AgentID)}
		for _, a := range n.agents.Agents {
			if a.AgentID == c.AgentID {
				name, holder = a.AgentID+" ("+a.Role+")", a
			}
		}
		if whose := n.whose(holder); whose != hook.Own {
			list = append(list, hook.ClaimNotice(c.Path, strings.TrimSuffix(name, " ()"), time.Until(c.Until), c.Token, whose))
		}
	}
	return list
}

// kindOf is the kind of an agent: the beginning of its id, or a client's name.
func kindOf(agent string) string {
	if idForm.MatchString(agent) {
		return agent[:strings.LastIndex(agent, "-")]
	}
	return agent
}

// covers tells whether a claim on a path covers a file. A claim on a directory covers all
// files in it.
func covers(path, file string) bool {
	return path == "." || path == file || strings.HasPrefix(file, path+"/")
}

// waiting counts unread messages and shares that were not pulled. The notice is repeated
// only after the agent was active and has not read them.
func (n sessionView) waiting(ctx context.Context) ([]hook.Notice, error) {
	if n.me == "" {
		return nil, nil
	}
	p, err := n.registry.As(agents.Actor{Agent: n.me}).Presence(ctx)
	if err != nil {
		return nil, err
	}
	shares, err := method(n.stores.shares, (*share.Store).Waiting)(ctx, n.me)
	if p.Unread+shares == 0 {
		return nil, err
	}
	var active time.Time
	for _, a := range n.agents.Agents {
		if a.AgentID == n.me {
			active = a.LastActive
		}
	}
	return []hook.Notice{hook.UnreadNotice(n.me, p.Unread, shares, active)}, nil
}

// sameKind tells whether agents of a kind work in a client: one name begins with all words of
// the other, as with claude and claude-code.
func sameKind(kind, client string) bool {
	kind, client = strings.ToLower(kind)+"-", client+"-"
	return kind != "-" && (strings.HasPrefix(client, kind) || strings.HasPrefix(kind, client))
}
