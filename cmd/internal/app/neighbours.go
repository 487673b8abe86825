package app

import (
	"context"
	"strings"
	"time"

	"leanctx/agents"
	"leanctx/cmd/internal/hook/answer"
	"leanctx/cmd/internal/op"
)

// neighbours is who works in a project, as a hook of a client sees it.
type neighbours struct {
	crew     *crew         // nil: nothing is known of the project
	registry *agents.Store // the crew's
	around   agents.Synced
	client   string
	me       string // who works in the client; empty where nobody can tell
}

// neighbours looks around in the project of a scope. It marks nothing as read.
func (s *stores) neighbours(ctx context.Context, sc op.Scope, client string) (neighbours, error) {
	n := neighbours{client: client}
	p, err := s.lookup(ctx, sc)
	if err != nil || !p.Known {
		return n, err
	}
	if n.crew, err = s.crew(sc, p); err != nil {
		return n, err
	}
	if n.registry, err = n.crew.agents(); err != nil {
		return n, err
	}
	n.around, err = n.registry.As(agents.Actor{}).Sync(ctx, agents.Nothing{}) // by nobody
	n.me = atWork(n.around.Agents, sc.Agent, client)
	return n, err
}

// claimed lists the claims of others on a file, a path within the project.
// Where two of the client's kind are at work, either may be the caller.
func (n neighbours) claimed(file string) (told []answer.Told) {
	for _, c := range n.around.Claims {
		if c.AgentID == n.me || !covers(strings.ToLower(c.Path), strings.ToLower(file)) {
			continue
		}
		name := c.AgentID
		kind, _, _ := strings.Cut(c.AgentID, "-")
		for _, a := range n.around.Agents {
			if a.AgentID == c.AgentID {
				name, kind = a.AgentID+" ("+a.Role+")", a.AgentType
			}
		}
		if n.me == "" && akin(kind, n.client) {
			continue
		}
		told = append(told, answer.Claim(c.Path, strings.TrimSuffix(name, " ()"), time.Until(c.Until), c.Token))
	}
	return told
}

// covers tells whether a claim on a path is one on a file: a directory stands
// for all that is in it. Where case counts, one more is told of than need be.
func covers(path, file string) bool {
	return path == "." || path == file || strings.HasPrefix(file, path+"/")
}

// waiting says how much lies unread, and what was shared and not pulled. It says
// so once, and again when the agent did something and left it where it is.
func (n neighbours) waiting(ctx context.Context) ([]answer.Told, error) {
	if n.me == "" {
		return nil, nil
	}
	p, err := n.registry.As(agents.Actor{Agent: n.me}).Presence(ctx)
	if err != nil {
		return nil, err
	}
	shares, err := n.crew.unpulled(ctx, n.me)
	if p.Unread+shares == 0 {
		return nil, err
	}
	var active time.Time
	for _, a := range n.around.Agents {
		if a.AgentID == n.me {
			active = a.LastActive
		}
	}
	return []answer.Told{answer.Unread(n.me, p.Unread, shares, active)}, nil
}

// akin tells whether agents of a kind work in a client.
func akin(kind, client string) bool {
	kind = strings.ToLower(kind)
	return kind != "" && (strings.Contains(client, kind) || strings.Contains(kind, client))
}
