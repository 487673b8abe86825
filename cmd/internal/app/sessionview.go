package app

import (
	"context"
	"strings"
	"time"

	"leanctx/agents"
	"leanctx/cmd/internal/hook"
	"leanctx/cmd/internal/op"
	"leanctx/overview/project"
)

// sessionView is who works in a project, as a session of a client sees it.
type sessionView struct {
	stores   *projectStores // nil: nothing is known of the project
	registry *agents.Store  // of stores
	around   agents.Synced
	named    string // the agent that the environment names
	session  *hook.Session
	sessions []hook.SeenSession // of its client
	me       string             // the session's one agent; empty where nobody can tell
}

// sessionView looks around in the project of a scope. It marks nothing as read.
func (s *stores) sessionView(ctx context.Context, sc op.Scope, p project.Project, session *hook.Session) (n sessionView, err error) {
	n = sessionView{named: sc.Agent, session: session, sessions: session.SeenIn(p.Hash)}
	if !p.Known {
		return n, nil
	}
	if n.stores, err = s.projectStores(sc, p); err != nil {
		return n, err
	}
	if n.registry, err = n.stores.agents.get(); err != nil {
		return n, err
	}
	n.around, err = n.registry.As(agents.Actor{}).Sync(ctx, agents.NoArgs{}) // by nobody
	n.me = n.self()
	return n, err
}

// self is the agent that works in the session. Of two nobody can tell which one
// is asked, and none is better than the wrong one.
func (n sessionView) self() string {
	var own []string
	for _, a := range n.around.Agents {
		if n.whose(a) == hook.Own {
			own = append(own, a.AgentID)
		}
	}
	if len(own) != 1 {
		return ""
	}
	return own[0]
}

// whose tells whether an agent works in the session: the one that the
// environment names does, else those that registered in it.
func (n sessionView) whose(a agents.Present) hook.Owner {
	switch {
	case n.named != "" && a.AgentID == n.named:
		return hook.Own
	case n.named != "" && n.named == n.me || !akin(a.AgentType, n.session.Client):
		return hook.Other
	case n.named != "" || a.Joined.IsZero():
		return hook.Unsure
	}
	return hook.OwnerOf(n.sessions, a.Joined)
}

// claimed lists the claims on a file, a path within the project, but for the
// session's own. A holder that is not listed may be anybody of its kind.
func (n sessionView) claimed(file string) (list []hook.Notice) {
	for _, c := range n.around.Claims {
		if !covers(strings.ToLower(c.Path), strings.ToLower(file)) {
			continue
		}
		name, holder := c.AgentID, agents.Present{AgentID: c.AgentID, AgentType: kindOf(c.AgentID)}
		for _, a := range n.around.Agents {
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

// kindOf is the kind of an agent, which its id begins with; a client's name is its own.
func kindOf(agent string) string {
	if idForm.MatchString(agent) {
		return agent[:strings.LastIndex(agent, "-")]
	}
	return agent
}

// covers tells whether a claim on a path is one on a file: a directory stands
// for all that is in it. Where case counts, one more is told of than need be.
func covers(path, file string) bool {
	return path == "." || path == file || strings.HasPrefix(file, path+"/")
}

// waiting says how much lies unread, and what was shared and not pulled. It says
// so once, and again when the agent did something and left it where it is.
func (n sessionView) waiting(ctx context.Context) ([]hook.Notice, error) {
	if n.me == "" {
		return nil, nil
	}
	p, err := n.registry.As(agents.Actor{Agent: n.me}).Presence(ctx)
	if err != nil {
		return nil, err
	}
	shares, err := n.stores.unpulled(ctx, n.me)
	if p.Unread+shares == 0 {
		return nil, err
	}
	var active time.Time
	for _, a := range n.around.Agents {
		if a.AgentID == n.me {
			active = a.LastActive
		}
	}
	return []hook.Notice{hook.UnreadNotice(n.me, p.Unread, shares, active)}, nil
}

// akin tells whether agents of a kind work in a client: its parts begin with the
// client's, or the client's with its, as claude, claude-code and gemini-cli do.
func akin(kind, client string) bool {
	kind, client = strings.ToLower(kind)+"-", client+"-"
	return kind != "-" && (strings.HasPrefix(client, kind) || strings.HasPrefix(kind, client))
}
