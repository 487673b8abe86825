package agents

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"leanctx/internal/args"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// Registration is the arguments of register.
type Registration struct {
	AgentType string `json:"agent_type" arg:"1" alias:"type" jsonschema:"what you are, e.g. cursor, claude, reviewer"`
	Role      string `json:"role,omitempty" arg:"2" jsonschema:"what you are here for, in a few words"`
}

// Registered is the result of register.
type Registered struct {
	AgentID    string    `json:"agent_id"`
	AgentType  string    `json:"agent_type"`
	Role       string    `json:"role,omitempty"`
	Resumed    bool      `json:"resumed"`
	LastActive time.Time `json:"last_active,omitzero"` // before it was resumed
	Unread     int       `json:"unread"`
	Redacted   []string  `json:"redacted,omitempty"`
	now        time.Time
	absorbed   string // the agent that the session was until now
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
	triesAsBig = 3  // tries before an id gets more digits
	maxTries   = 30
)

// errTaken means that somebody else has the id.
var errTaken = errors.New("the id was taken")

// Register makes the caller an agent. If Actor.Agent names an agent, that one is resumed.
// Otherwise it resumes one of the same type and role that no live connection holds, with
// its diary and unread messages. If there is none, the agent that the session is named after
// gets the role, if it is of the type and has none yet; else Register creates a new agent.
func (s *Store) Register(ctx context.Context, a Registration) (Registered, error) {
	r, err := s.texts.registration(a)
	if err != nil {
		return Registered{}, err
	}
	person := ""
	if s.opts.Person != nil && !WorksIn(r.AgentType, s.caller.Client) { // somebody's login may be a client's name
		person = s.opts.Person()
	}
	if args.ClaimsUser(r.AgentType, person) {
		return Registered{}, refusal.Argument("agent_type", "agent_type %q would be read as the user: say what you are, e.g. codex or reviewer", r.AgentType)
	}
	if named := strings.ToLower(strings.TrimSpace(s.caller.Agent)); named != "" {
		err = s.resume(ctx, named, &r)
	} else {
		err = s.resumeOrCreate(ctx, &r)
	}
	if err == nil && r.absorbed != "" && s.opts.Tasks != nil {
		_, err = s.opts.Tasks.Reassign(ctx, r.absorbed, r.AgentID, "the same session")
	}
	if err == nil && s.caller.Session != "" {
		s.live.Registered(s.caller.Session, r.AgentID)
	}
	return r, err
}

func (x textRules) registration(a Registration) (r Registered, err error) {
	if err := x.withoutSecret("agent_type", a.AgentType); err != nil {
		return r, err
	}
	if r.AgentType, err = checkedWord("agent_type", a.AgentType, maxType); err != nil {
		return r, err
	}
	role := strings.TrimSpace(a.Role)
	if n := utf8.RuneCountInString(role); n > maxRole {
		return r, refusal.Argument("role", "role has %d characters, more than %d: say the rest with status", n, maxRole)
	}
	r.Role, r.Redacted = x.Clean(strings.ToValidUTF8(role, string(utf8.RuneError)))
	return r, nil
}

// maxResumable is how many agents a registration tries to lock.
const maxResumable = 64

// resumeOrCreate resumes an agent of the machine that nobody holds, the most recently active
// first, or creates one.
func (s *Store) resumeOrCreate(ctx context.Context, r *Registered) error {
	var idle []*agent
	err := s.view(ctx, func(p *project, _ time.Time) error {
		idle = slices.DeleteFunc(p.ofType(r.AgentType), func(a *agent) bool { return !sameRole(a.Role, r.Role) || a.Machine != s.opts.Machine })
		return nil
	})
	if err != nil {
		return err
	}
	for _, a := range idle[:min(len(idle), maxResumable)] {
		if s.live.Holds(a.ID) {
			continue
		}
		if err := s.hold(ctx, a.ID, r, s.resume); !errors.Is(err, errTaken) {
			return err
		}
	}
	if done, err := s.addRole(ctx, r); done || err != nil {
		return err
	}
	if args.AgentType(r.AgentType) != "" { // earlier versions took such types: their agents can still be resumed
		return refusal.Argument("agent_type", "agent_type %s has the form of an agent's id", r.AgentType)
	}
	for try := range maxTries {
		if err = s.hold(ctx, r.AgentType+"-"+randomHex(firstHex+try/triesAsBig), r, s.create); !errors.Is(err, errTaken) {
			break
		}
	}
	return err
}

// addRole gives the agent that the session is named after its role. It does not if that is of another type, or has another role
// already.
func (s *Store) addRole(ctx context.Context, r *Registered) (done bool, err error) {
	var a *agent
	id := ""
	if err := s.view(ctx, func(p *project, _ time.Time) error {
		id = s.caller.session(p)
		a = p.agents[id]
		return nil
	}); err != nil {
		return false, err
	}
	switch {
	case id == "" || KindOf(id) != r.AgentType:
		return false, nil
	case a == nil:
		err = s.hold(ctx, id, r, s.create)
	case a.Role != "" && !sameRole(a.Role, r.Role):
		return false, nil
	default:
		err = s.resume(ctx, id, r)
	}
	if errors.Is(err, errTaken) {
		return false, nil
	}
	return true, err
}

func sameRole(a, b string) bool {
	return strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
}

func randomHex(digits int) string {
	b := make([]byte, (digits+1)/2)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)[:digits]
}

// hold takes an agent's liveness lock and commits the registration. The lock comes first, so
// two callers never resume the same agent. If somebody has it, the error is errTaken.
func (s *Store) hold(ctx context.Context, id string, r *Registered, commit func(context.Context, string, *Registered) error) error {
	if ok, err := s.live.Hold(id, s.caller.Session); err != nil {
		return err
	} else if !ok {
		return errTaken
	}
	if err := commit(ctx, id, r); err != nil {
		return errors.Join(err, s.live.Leave(id))
	}
	return nil
}

// resume lets the caller continue as a registered agent. The caller acts as it before the
// commit, so nobody takes it for free meanwhile. A live connection may act as it too: one that
// names the agent may be the caller's own.
func (s *Store) resume(ctx context.Context, id string, r *Registered) error {
	return s.update(ctx, func(p *project, now time.Time) ([]event, error) {
		old := p.agents[id]
		switch {
		case old == nil:
			return nil, unknownAgent(id, " (register without agent gives a new id)")
		case old.Type != r.AgentType:
			return nil, &refusal.ArgumentError{Argument: "agent_type", Subject: id,
				Problem: fmt.Sprintf("%s is of type %s, not %s: register without agent for another one", id, old.Type, r.AgentType)}
		}
		if err := s.live.Join(id, s.caller.Session); err != nil { // the next call tries again
			s.opts.Logger.Warn("an agent that is resumed is not held", "agent", id, "error", err)
		}
		a := *old
		if a.Status == statusFinished {
			a.Cursor = max(a.Cursor, p.messages.newsCursor(now)) // it does not get what was posted after it finished
		}
		r.Role = cmp.Or(r.Role, a.Role)
		a.Status, a.Message, a.HandedTo, a.Role, a.Client, a.Joined = statusActive, "", "", r.Role, s.caller.Client, now
		a.Machine = s.opts.Machine
		was := s.caller.session(p)
		a.Aliases = withAlias(withAlias(a.Aliases, id, was), id, s.caller.Name)
		r.AgentID, r.Resumed, r.LastActive, r.now = id, true, old.Active, now
		r.Unread = p.unread(&a, now)
		former := p.absorb(was, id, now)
		if r.absorbed = ""; len(former) > 0 {
			r.absorbed = was
		}
		return append(former, event{By: id, Agent: &a}), nil
	})
}

// create registers a new agent under an id that was never used.
func (s *Store) create(ctx context.Context, id string, r *Registered) error {
	return s.updateAll(ctx, func(st *state, now time.Time) ([]event, error) {
		p := st.project(s.opts.ProjectHash)
		if st.owners[id] != "" || len(p.ofType(id)) > 0 { // earlier versions took types of the form of an id
			return nil, errTaken
		}
		if err := p.mayEnter(now); err != nil {
			return nil, err
		}
		was := s.caller.session(p)
		a := &agent{
			ID: id, Type: r.AgentType, Role: r.Role, Status: statusActive, Client: s.caller.Client, Machine: s.opts.Machine,
			Registered: now, Active: now, position: position{Cursor: p.messages.newsCursor(now)},
			Aliases: withAlias(withAlias(nil, id, was), id, s.caller.Name),
		}
		r.AgentID, r.Resumed, r.now, r.Unread = id, false, now, p.unread(a, now)
		former := p.absorb(was, id, now)
		if r.absorbed = ""; len(former) > 0 {
			r.absorbed = was
		}
		return append(former, event{By: id, Agent: a}), nil
	})
}

// StatusArgs is the arguments of status.
type StatusArgs struct {
	Status  string `json:"status,omitempty" arg:"1" jsonschema:"active, idle, or finished: the agent leaves the list and its claims (default: as it is)"`
	Message string `json:"message,omitempty" arg:"2" short:"m" long:"true" jsonschema:"what it is doing"`
}

// Updated is an agent's new status.
type Updated struct {
	AgentID  string   `json:"agent_id"`
	Status   string   `json:"status"`
	Message  string   `json:"message,omitempty"`
	Released []string `json:"released,omitempty"` // claims
	Unread   int      `json:"unread"`
	Redacted []string `json:"redacted,omitempty"`
}

// Text gives the answer's lines.
func (u Updated) Text() string {
	text := fmt.Sprintf("Status updated: %s → %s", u.AgentID, u.Status)
	if u.Message != "" {
		text += " (" + prose.Brief(u.Message) + ")"
	}
	if len(u.Released) > 0 {
		text += fmt.Sprintf("\n  Released %s: %s", prose.Count(len(u.Released), "claim"), prose.Line(strings.Join(u.Released, ", ")))
	}
	if u.Status == statusFinished && u.Unread > 0 {
		text += fmt.Sprintf("\n  %s will stay unread: read before you go", prose.Count(u.Unread, "message"))
	}
	return text + prose.Redacted(u.Redacted)
}

// Status sets the caller's status and message. An agent that finishes leaves the list and
// releases its claims; register makes it active again.
func (s *Store) Status(ctx context.Context, a StatusArgs) (Updated, error) {
	status := statusOf(a.Status)
	u := Updated{}
	var err error
	switch {
	case status == "" && strings.TrimSpace(a.Status) != "":
		err = refusal.Argument("status", "status %q is none of active, idle, finished: say the rest in message", prose.Clip(a.Status, maxWord))
	case strings.TrimSpace(a.Message) != "":
		u.Message, u.Redacted, err = s.texts.clean("message", a.Message, maxText/16)
	case status == "":
		err = refusal.Missing("status", "")
	}
	if err != nil {
		return Updated{}, err
	}
	if err := s.Enter(ctx); err != nil {
		return Updated{}, err
	}
	err = s.update(ctx, func(p *project, now time.Time) ([]event, error) {
		me, err := s.caller.agent(p)
		if err != nil {
			return nil, err
		}
		events := p.statusEvents(me, status, u.Message)
		u.AgentID, u.Status, u.Unread, u.Released = me.ID, events[0].Agent.Status, p.unread(me, now), nil
		for _, e := range events[1:] {
			u.Released = append(u.Released, e.Release)
		}
		return events, nil
	})
	if err == nil && u.Status == statusFinished {
		err = s.live.Leave(u.AgentID)
	}
	return u, err
}

// statusOf is the status for a word, in the spellings that agents try, else empty. Busy,
// blocked and paused are refused: they say more than a status can hold.
func statusOf(word string) string {
	switch strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(word)) {
	case statusActive, "working", "inprogress", "running":
		return statusActive
	case statusIdle, "waiting":
		return statusIdle
	case statusFinished, "done", "complete", "completed":
		return statusFinished
	}
	return ""
}

// statusEvents are the agent's new record, followed by the claims it releases.
func (p *project) statusEvents(me *agent, status, message string) []event {
	a := *me
	a.Status, a.Message, a.HandedTo = cmp.Or(status, a.Status), message, ""
	events := []event{{By: me.ID, Agent: &a}}
	if a.Status == statusFinished {
		for _, l := range p.leases.Of(me.ID) {
			events = append(events, event{By: me.ID, Release: l.Path})
		}
	}
	return events
}

// Self is the id of the caller: the one it passed, else the one its connection registered
// last. It is empty if there is neither. The id may be one that nobody registered.
func (s *Store) Self() string { return s.caller.id() }

func (c caller) id() string {
	if id := strings.ToLower(strings.TrimSpace(c.Agent)); id != "" {
		return id
	}
	return c.live.Agent(c.Session)
}

// agent is the caller's agent.
func (c caller) agent(p *project) (*agent, error) {
	id := c.id()
	if id == "" {
		return nil, refusal.Missing("agent", "the id that register gave; register first")
	}
	if a := p.named(id); a != nil {
		return a, nil
	}
	a, err := p.only("agent", id, "", time.Time{})
	if _, unknown := errors.AsType[*refusal.NotFoundError](err); unknown {
		err = unknownAgent(id, " (register gives an id)")
	}
	return a, err
}

// only finds the single agent for a name: an id, a prefix of one, or a type. A type must have
// just one agent, or just one that has not finished. me is not meant where there are others. With a
// time, neither are those that are away then, if any is here.
func (p *project) only(argument, name, me string, now time.Time) (*agent, error) {
	to, err := p.resolve(argument, name)
	if err != nil || to.agent != nil {
		return to.agent, err
	}
	list := p.ofType(to.kind)
	working := slices.DeleteFunc(slices.Clone(list), func(a *agent) bool { return a.Status == statusFinished })
	if len(working) > 1 {
		working = slices.DeleteFunc(working, func(a *agent) bool { return a.ID == me })
	}
	if here := slices.DeleteFunc(slices.Clone(working), func(a *agent) bool { return !a.present(now) }); !now.IsZero() && len(here) > 0 {
		working = here
	}
	switch {
	case len(working) == 1:
		return working[0], nil
	case len(list) == 1:
		return list[0], nil
	case len(working) == 0:
		return nil, refusal.NotFound("No agent found: every %s has finished; give the id: %s", to.kind, alternatives(idsOf(list)))
	}
	return nil, refusal.Argument(argument, "%s %q may be %s: give the id", argument, to.kind, alternatives(idsOf(working)))
}

// Named is the id of the single agent for a name. The name is an id, a prefix of at least three
// characters, or a type with just one agent. The error is a [*refusal.NotFoundError], or an
// [*refusal.ArgumentError] that lists the candidates.
func (s *core) Named(ctx context.Context, name string) (id string, err error) {
	err = s.view(ctx, func(p *project, _ time.Time) error {
		a, err := p.only("agent", name, "", time.Time{})
		if err == nil {
			id = a.ID
		}
		return err
	})
	return id, err
}

// touchAfter is how old the recorded activity of an agent must be before Touch writes it
// again.
const touchAfter = 5 * time.Minute

// Touch records that the caller is active, if it is an agent. It writes at most once in
// five minutes. A server also takes the agent's liveness lock. Otherwise somebody else
// could resume an agent that continues after a restart of the server.
func (s *Store) Touch(ctx context.Context) error {
	id, due := "", false
	if me := s.caller.id(); me != "" && s.caller.Name != "" {
		if err := s.rename(ctx, me); err != nil {
			return err
		}
	}
	err := s.view(ctx, func(p *project, now time.Time) error {
		if a, err := s.caller.agent(p); err == nil && a.Status != statusFinished {
			id, due = a.ID, now.Sub(a.Active).Abs() >= touchAfter // Abs: the clock may have been set back
		}
		return nil
	})
	if err == nil && id != "" && s.opts.LongLived {
		err = s.live.Join(id, s.caller.Session)
	}
	if err != nil || !due {
		return err
	}
	return s.update(ctx, func(p *project, _ time.Time) ([]event, error) {
		if p.agents[id] == nil {
			return nil, nil
		}
		return []event{{By: id}}, nil
	})
}

// touchQuietly is Touch for a call that may commit nothing by which the agent counts as active.
// A failure is only logged.
func (s *Store) touchQuietly(ctx context.Context) {
	if err := s.Touch(ctx); err != nil {
		s.opts.Logger.Debug("the agent's activity was not recorded", "agent", s.Self(), "error", err)
	}
}

// Leave ends a connection: others may resume the agents it registered. A process that
// exits need not call it.
func (s *core) Leave(session string) error { return s.live.End(session) }

// Resolve finds a recipient by an id, a unique prefix of at least three characters, or a
// type. For a type it returns the type: any one agent of it may take what is sent. note
// says so if no agent of that type has registered yet. The error is a [*refusal.NotFoundError], or
// an [*refusal.ArgumentError] that lists the ids with that prefix.
func (s *core) Resolve(ctx context.Context, name string) (id, note string, err error) {
	err = s.view(ctx, func(p *project, _ time.Time) error {
		to, err := p.addressee(name)
		switch {
		case err != nil:
		case to.agent != nil:
			id, note = to.agent.ID, ""
		default:
			if id, note = to.kind, ""; len(p.ofType(id)) == 0 {
				note = waits(id)
			}
		}
		return err
	})
	return id, note, err
}

// Silent reports whether an agent, or every agent of a type, has finished or was inactive
// for 24 hours, and its last activity.
func (s *core) Silent(ctx context.Context, id string) (since time.Time, silent bool, err error) {
	err = s.view(ctx, func(p *project, now time.Time) error {
		to, err := p.resolve("agent_id", id)
		if err != nil {
			return err
		}
		list := p.ofType(to.kind)
		if to.agent != nil {
			list = []*agent{to.agent}
		}
		silent = true
		for _, a := range list {
			silent = silent && !a.present(now)
			if a.Active.After(since) {
				since = a.Active
			}
		}
		return nil
	})
	return since, silent, err
}

// unknownAgent is the error for an id that does not exist, with what to do.
func unknownAgent(id, advice string) error {
	return &refusal.NotFoundError{What: "No agent found: " + prose.Line(prose.Clip(id, maxWord)) + advice, Subject: id}
}
