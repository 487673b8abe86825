package agents

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"leanctx/agents/arg"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// Registration is an agent that comes in.
type Registration struct {
	AgentType string `json:"agent_type" arg:"1" alias:"type" jsonschema:"what you are, e.g. cursor, claude, reviewer"`
	Role      string `json:"role,omitempty" arg:"2" jsonschema:"what you are here for, in a few words"`
}

// Registered is an agent that may act now.
type Registered struct {
	AgentID    string    `json:"agent_id"`
	AgentType  string    `json:"agent_type"`
	Role       string    `json:"role,omitempty"`
	Resumed    bool      `json:"resumed"`
	LastActive time.Time `json:"last_active,omitzero"` // before, of one that was resumed
	Unread     int       `json:"unread"`
	Redacted   []string  `json:"redacted,omitempty"`
	now        time.Time
}

// Text gives the answer's lines.
func (r Registered) Text() string {
	text := "Registered: " + r.AgentID
	if r.Role != "" {
		text += " (role: " + prose.Line(r.Role) + ")"
	}
	if r.Resumed {
		text += fmt.Sprintf("\n  Resumed, last active %s, %s", prose.Ago(r.now, r.LastActive), prose.Count(r.Unread, "unread message"))
	}
	return text + prose.Redacted(r.Redacted)
}

const (
	maxType    = 32 // bytes
	firstHex   = 4  // digits of an id
	triesAsBig = 3  // tries with as many digits
	maxTries   = 30
)

// errTaken means that another process took an id meanwhile.
var errTaken = errors.New("the id was taken")

// Register makes the caller an agent. It resumes the agent that Actor.Agent
// names, else one of the same type and role that no living connection holds,
// with its diary and what it has not read; else it makes a new one. The liveness
// lock is taken before the commit, so that two never resume one agent.
func (s *Store) Register(ctx context.Context, a Registration) (Registered, error) {
	r, err := s.registration(a)
	if err != nil {
		return Registered{}, err
	}
	if err := s.begin(ctx); err != nil {
		return Registered{}, err
	}
	if named := strings.ToLower(strings.TrimSpace(s.actor.Agent)); named != "" {
		err = s.resume(ctx, &r, named, true)
	} else {
		err = s.registerAny(ctx, &r)
	}
	if err == nil && s.actor.Session != "" {
		s.live.Registered(s.actor.Session, r.AgentID)
	}
	return r, err
}

func (s *Store) registration(a Registration) (r Registered, err error) {
	if err := s.plain("agent_type", a.AgentType); err != nil {
		return r, err
	}
	if r.AgentType, err = arg.Word("agent_type", a.AgentType, maxType); err != nil {
		return r, err
	}
	role := strings.TrimSpace(a.Role)
	if n := utf8.RuneCountInString(role); n > maxRole {
		return r, refusal.Argument("role", "role has %d characters, more than %d: say the rest with status", n, maxRole)
	}
	r.Role, r.Redacted = s.redact(strings.ToValidUTF8(role, string(utf8.RuneError)))
	return r, nil
}

// registerAny resumes an agent that nobody holds, or makes a new one.
func (s *Store) registerAny(ctx context.Context, r *Registered) error {
	var idle []string
	err := s.view(ctx, func(p *project, _ moment) error {
		idle = p.resumable(r.AgentType, r.Role)
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range idle {
		if s.live.Holds(id) {
			continue
		}
		if ok, err := s.live.Hold(id, s.actor.Session); err != nil {
			return err
		} else if !ok {
			continue
		}
		if err := s.resume(ctx, r, id, false); err != nil {
			return errors.Join(err, s.live.Leave(id))
		}
		return nil
	}
	for try := range maxTries {
		err := s.create(ctx, r, r.AgentType+"-"+randomHex(firstHex+try/triesAsBig))
		if !errors.Is(err, errTaken) {
			return err
		}
	}
	return errTaken
}

func randomHex(digits int) string {
	b := make([]byte, (digits+1)/2)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)[:digits]
}

// maxResumable bounds how many locks a registration tries.
const maxResumable = 64

// resumable lists the agents of a type and role, the last active one first.
func (p *project) resumable(kind, role string) []string {
	var ids []string
	for _, a := range p.ofType(kind) {
		if sameRole(a.Role, role) && len(ids) < maxResumable {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

func sameRole(a, b string) bool {
	return strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
}

// resume goes on as an agent that is registered. named tells whether the
// caller gave the id: then it may go on although a living connection has it,
// which may be its own.
func (s *Store) resume(ctx context.Context, r *Registered, id string, named bool) error {
	if named && s.known(ctx, id) {
		if err := s.live.Join(id, s.actor.Session); err != nil {
			return err
		}
	}
	return s.update(ctx, func(p *project, m moment) ([]event, error) {
		old := p.agents[id]
		switch {
		case old == nil:
			return nil, refusal.NotFound("No agent found: %s (register without agent gives a new id)", prose.Line(prose.Clip(id, maxWord)))
		case old.Type != r.AgentType:
			return nil, refusal.Argument("agent_type", "%s is of type %s, not %s: register without agent for another one", id, old.Type, r.AgentType)
		}
		a := *old
		if a.Status == statusFinished {
			a.Cursor = max(a.Cursor, p.messages.newsCursor(m.now)) // it gave up what was posted meanwhile
		}
		if r.Role == "" {
			r.Role = a.Role
		}
		a.Status, a.Message, a.Role, a.Client, a.Joined = statusActive, "", r.Role, s.actor.Client, m.now
		r.AgentID, r.Resumed, r.LastActive, r.now = id, true, old.Active, m.now
		r.Unread = p.messages.countUnread(p.reader(&a, m.now), m.now)
		return []event{{By: id, Agent: &a}}, nil
	})
}

func (s *Store) known(ctx context.Context, id string) (ok bool) {
	_ = s.view(ctx, func(p *project, _ moment) error { ok = p.agents[id] != nil; return nil })
	return ok
}

// create registers a new agent under an id, if nobody ever had it.
func (s *Store) create(ctx context.Context, r *Registered, id string) error {
	if ok, err := s.live.Hold(id, s.actor.Session); err != nil {
		return err
	} else if !ok {
		return errTaken
	}
	err := s.updateAll(ctx, func(st *state, m moment) ([]event, error) {
		p := st.project(s.opts.ProjectHash)
		switch {
		case st.owners[id] != "" || len(p.types[id]) > 0:
			return nil, errTaken
		case p.agents[r.AgentType] != nil:
			return nil, refusal.Argument("agent_type", "agent_type %s is the id of an agent", r.AgentType)
		}
		a := &agent{
			ID: id, Type: r.AgentType, Role: r.Role, Status: statusActive, Client: s.actor.Client,
			Registered: m.now, Active: m.now, position: position{Cursor: p.messages.newsCursor(m.now)},
		}
		r.AgentID, r.Resumed, r.now, r.Unread = id, false, m.now, p.messages.countUnread(p.reader(a, m.now), m.now)
		return []event{{By: id, Agent: a}}, nil
	})
	if err != nil {
		return errors.Join(err, s.live.Leave(id))
	}
	return nil
}
