package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leanctx/agents"
	"leanctx/agents/session"
	"leanctx/agents/share"
	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/knowledge"
	"leanctx/knowledge/briefing"
	"leanctx/knowledge/listing"
	"leanctx/knowledge/reminder"
	"leanctx/tasks"
)

// Stores is the [ProjectView] of a session: what the stores of its project hold.
type Stores struct {
	Known bool // something is recorded of the project
	Hash  string
	Roots []string // its directories
	Agent string   // the id that the environment names, or empty
	Diary bool     // write the automatic entries
	Facts *knowledge.Store

	Stamp func() string // another text whenever the facts may have changed

	LeftOut func() []string // lines on what was not read, because there is too much of it; nil: everything is read

	// Uncommitted reports whether a file, from the project's root, differs from its last commit. It takes no longer than a hook
	// may wait for git: then its error says so.
	Uncommitted func(ctx context.Context, file string) (bool, error)

	// These open stores when an event needs them.
	Agents func() (*agents.Store, error)
	Tasks  func() (*tasks.Store, error)
	Shares func() (*share.Store, error)
	Close  func() error // all that were opened
	// Sessions opens what was said in the project's sessions; nil without an error: they are not kept.
	Sessions func() (*session.Store, error)
	// Unasked reports whether nobody was asked yet whether sessions may be kept on this machine.
	Unasked func() bool

	session   *Session
	sessions  *session.Store // nil until an event needs them
	coworkers *coworkers     // nil until an event needs them
}

// In says in which project the session is.
func (s *Session) In(p Stores) *Stores {
	p.session = s
	s.enter(p.Hash)
	return &p
}

// Briefing is the briefing of a session, and the names of its facts.
func (p *Stores) Briefing(ctx context.Context) (text string, facts []Told, err error) {
	store := p.Facts
	if n, err := p.present(ctx); err == nil && n.self != "" { // a session that continues
		store = store.As(knowledge.Actor{Agent: n.self})
	}
	b, err := briefing.Start(ctx, store, p.session.Client, briefing.News{
		Since: p.session.briefedBefore(),
		Own: func(author string) bool {
			return author == p.Agent || agents.WorksIn(agents.KindOf(author), p.session.Client)
		},
	})
	for _, x := range b.Chosen {
		t := Told{Fact: prose.ShortLine(x.Category) + "/" + prose.ShortLine(x.Key), Why: x.Why}
		if t.Part = x.ID; x.Whole { // one that was cut may be told again
			t.ID = x.ID
		}
		facts = append(facts, t)
	}
	return b.Body(), facts, err
}

// ForPerson says what the repository brings that nobody has taken in.
func (p *Stores) ForPerson(ctx context.Context) string {
	if brings := knowledge.RepositoryBrings(ctx, p.Facts); brings != "" {
		return brings + ": lean-ctx sync"
	}
	return ""
}

// Relevant lists facts, lessons and reminders for a prompt. Nobody asked for them, so only
// what is well founded is shown.
func (p *Stores) Relevant(ctx context.Context, prompt string) ([]Notice, error) {
	met, failed := knowledge.Met(ctx, p.Facts, prompt) // they are few, and take no time
	lines, err := inTime(ctx, func(ctx context.Context) ([]briefing.Line, error) {
		return briefing.Beside(ctx, p.Facts, prompt, p.session.told, p.session.toldPart)
	})
	list := p.factNotices(lines)
	for i := range lines {
		if lines[i].Mind { // it is told again with each prompt that changes something
			n := &list[i]
			n.Told, n.ID = n.ID+" "+n.Fact, "mind-"+shortHash(n.ID, prompt)
		}
	}
	for _, x := range withFewOfOthers(met) {
		list = append(list, reminderNotice(x.ID, x.Text+reminder.By(x), x.Keyword == ""))
	}
	return list, errors.Join(err, failed)
}

// withFewOfOthers leaves out reminders of other replicas, but for the first: they would take the place of messages and claims.
func withFewOfOthers(list []formats.Reminder) []formats.Reminder {
	others := 0
	return slices.DeleteFunc(slices.Clone(list), func(x formats.Reminder) bool {
		if x.Replica != "" {
			others++
		}
		return x.Replica != "" && others > 1
	})
}

// Changed lists what the session was told and what somebody else has changed since. It looks only where the facts may have
// changed since it last did.
func (p *Stores) Changed(ctx context.Context) (list []Notice, err error) {
	if p.Stamp == nil || p.session.event.Session == "" {
		return nil, nil
	}
	told, heard := p.session.toldFacts()
	stamp := p.Stamp()
	if stamp != heard && len(told) > 0 {
		own := p.session.authors(p)
		changes, err := briefing.Changes(ctx, p.Facts, told, func(author string) bool { return slices.Contains(own, author) })
		if err != nil {
			return nil, err
		}
		for i := range changes {
			if n := changedNotice(&changes[i]); !p.session.told(n.ID) {
				list = append(list, n)
			}
		}
	}
	if len(list) <= maxChanges {
		p.session.event.Stamp = stamp
	}
	return list[:min(len(list), maxChanges)], nil
}

// authors are the names under which the session writes.
func (s *Session) authors(p *Stores) []string {
	own := []string{Joined{Client: s.Client, Session: s.event.Session}.Name(p.Hash)}
	if p.Agent != "" {
		own = append(own, p.Agent)
	}
	return own
}

// Asserted lists the ids of the current versions of a fact that the session itself asserted just now. A call that failed
// stored nothing, and what others said under that name was not told by it.
func (p *Stores) Asserted(ctx context.Context, category, key string) (ids []string, err error) {
	own := p.session.authors(p)
	if n, err := p.present(ctx); err == nil && n.self != "" {
		own = append(own, n.self)
	}
	since := p.session.event.At.Add(-callWindow)
	r, err := p.Facts.Recall(ctx, knowledge.Question{Category: category, Key: key, Prompt: true})
	for _, f := range r.Facts {
		if slices.ContainsFunc(f.Version.Sources, func(x formats.Source) bool { return slices.Contains(own, x.By) && x.At.After(since) }) {
			ids = append(ids, f.ID)
		}
	}
	return ids, err
}

func (p *Stores) factNotices(lines []briefing.Line) (list []Notice) {
	now := p.Facts.Now()
	for _, x := range lines {
		mark := ""
		if source := p.Facts.SourceState(x.Version, now); source != "" {
			mark = " [source " + source + "]"
		}
		list = append(list, factNotice(&x, mark))
	}
	return list
}

// AtTool lists the claims of other agents on the files of a call, the reminders and gotchas, and the facts that the files or
// the command are about. What a user said comes first, whatever agents wrote, and what agents want to be reminded of last. What
// is outside of the project is nobody's business.
func (p *Stores) AtTool(ctx context.Context, files []string, command string) (list []Notice, failed error) {
	within := p.Within(files)
	defer func() { slices.SortStableFunc(list, usersFirst) }()
	var later []Notice
	type edited struct {
		at          int // in the list
		file, agent string
		event       SessionEvent
	}
	var edits []edited
	defer func() { // git is asked last: what is known does not wait for it
		for _, x := range slices.Backward(edits) {
			if changed, err := p.Uncommitted(ctx, x.file); changed || err != nil {
				list = slices.Insert(list, x.at, editNotice(x.file, x.agent, x.event, p.session.event.At, err == nil))
			}
		}
	}()
	for _, rel := range within {
		n, err := p.present(ctx)
		if err == nil {
			list = append(list, n.claimed(rel)...)
		}
		if x, ok := p.session.editOf(rel); ok && p.Uncommitted != nil {
			edits = append(edits, edited{len(list), rel, n.agentOf(x, p.Hash), x})
		}
		reminders, e := listing.Triggered(ctx, p.Facts, rel)
		for _, x := range withFewOfOthers(reminders) {
			n := reminderNotice(x.ID, x.Text+reminder.By(x), false)
			if n.User = reminder.Users(x); n.User {
				list = append(list, n)
			} else {
				later = append(later, n)
			}
		}
		gotchas, e2 := listing.GotchasAt(ctx, p.Facts, rel)
		for _, x := range gotchas {
			list = append(list, gotchaNotice(x))
		}
		failed = errors.Join(failed, e, e2)
	}
	if len(within) == 0 && command == "" {
		return append(list, later...), failed
	}
	lines, e := inTime(ctx, func(ctx context.Context) ([]briefing.Line, error) {
		return briefing.Before(ctx, p.Facts, briefing.Tool{Command: command, Files: within}, p.session.told, p.session.toldPart)
	})
	for _, n := range p.factNotices(lines) {
		if !slices.ContainsFunc(list, func(x Notice) bool { return x.ID == n.ID }) { // a gotcha may be both
			list = append(list, n)
		}
	}
	return append(list, later...), errors.Join(failed, e)
}

// NotRead lists, once in a session, what hooks do not read.
func (p *Stores) NotRead() (list []Notice) {
	if p.LeftOut == nil {
		return nil
	}
	for _, line := range p.LeftOut() {
		what, _, _ := strings.Cut(line, ":")
		list = append(list, Notice{ID: "left-out-" + shortHash(what), Text: line, Once: true})
	}
	return list
}

// Within are the paths of those files that are in the project, from its root.
func (p *Stores) Within(files []string) (within []string) {
	for _, file := range files {
		for _, root := range p.Roots {
			if rel, ok := formats.PathIn(resolved(root), resolved(file)); ok {
				within = append(within, rel)
				break
			}
		}
	}
	return within
}

// resolved resolves the links of a path, as far as the path exists.
func resolved(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// Unread lists the notices on unread messages of the session's agent, and on shares that it
// has not pulled. A notice is repeated only after the agent was active and has not read them.
func (p *Stores) Unread(ctx context.Context) ([]Notice, error) {
	n, err := p.present(ctx)
	if err != nil || n.self == "" {
		return nil, err
	}
	shares, err := p.Shares()
	if err != nil {
		return nil, err
	}
	waiting, err := shares.Waiting(ctx, n.self)
	if err != nil {
		return nil, err
	}
	seen, err := n.registry.As(agents.Actor{Agent: n.self}).Presence(ctx)
	if err != nil || seen.Unread+waiting == 0 {
		return nil, err
	}
	var active time.Time
	for _, a := range n.Agents {
		if a.AgentID == n.self {
			active = a.LastActive
		}
	}
	return []Notice{unreadNotice(n.self, seen.Unread, waiting, active)}, nil
}

// Conclude writes the automatic diary entry at the end of a session. It writes none if the
// agent of the session is not known.
func (p *Stores) Conclude(ctx context.Context) (err error) {
	if !p.Diary {
		return nil
	}
	defer func() { err = cmp.Or(err, p.Close()) }()
	n, err := p.present(ctx)
	if err != nil || n.self == "" {
		return err
	}
	store, err := p.Tasks()
	if err != nil {
		return err
	}
	open, err := store.List(ctx, tasks.Query{State: "open", AgentID: n.self})
	if err != nil {
		return err
	}
	var titles []string
	for _, t := range open.Tasks {
		if t.Assignee == n.self {
			titles = append(titles, fmt.Sprintf("%s %q [%s]", t.ID, t.Title, t.State))
		}
	}
	return n.registry.As(agents.Actor{Agent: n.self}).Summarize(ctx, titles)
}

// Consolidate makes facts of what agents wrote down, for the next session.
func (p *Stores) Consolidate(ctx context.Context) error {
	if !p.Known || p.Facts == nil {
		return nil
	}
	_, err := knowledge.Consolidate(ctx, p.Facts, knowledge.Promotion{Unasked: true})
	return err
}

// coworkers are the agents of the project, as a session sees them.
type coworkers struct {
	agents.Synced
	registry *agents.Store
	session  *Session
	named    string // the agent that the environment names
	self     string // the session's agent; empty if it is not known
}

// present reads the agents of the project. It marks nothing as read.
func (p *Stores) present(ctx context.Context) (n *coworkers, err error) {
	if p.coworkers != nil {
		return p.coworkers, nil
	}
	n = &coworkers{named: p.Agent, session: p.session}
	if !p.Known {
		return n, nil
	}
	if n.registry, err = p.Agents(); err != nil {
		return nil, err
	}
	// Without an agent, so that nothing is marked as read.
	if n.Synced, err = n.registry.As(agents.Actor{}).Sync(ctx, agents.NoArgs{}); err != nil {
		return nil, err
	}
	own := slices.DeleteFunc(slices.Clone(n.Agents), func(a agents.Present) bool { return n.owner(a) != Own })
	if len(own) == 1 { // of two candidates, no agent is better than the wrong one
		n.self = own[0].AgentID
	}
	p.coworkers = n
	return n, nil
}

// owner reports whether an agent belongs to the session: the one that the environment names,
// the one that is named after the session or was before it registered, or else those that registered in it.
func (n *coworkers) owner(a agents.Present) owner {
	for _, name := range append([]string{a.AgentID}, a.Aliases...) {
		if session, known := n.session.names()[name]; known {
			if session == n.session.event.Session {
				return Own
			}
			if n.named == "" || a.AgentID != n.named {
				return Other
			}
		}
	}
	switch {
	case n.named != "" && a.AgentID == n.named:
		return Own
	case n.named != "" && n.named == n.self || !agents.WorksIn(a.AgentType, n.session.Client):
		return Other
	case n.named != "" || a.Joined.IsZero():
		return Unsure
	}
	return n.session.ownerOf(a.Joined)
}

// agentOf is the agent that a session is.
func (n *coworkers) agentOf(x SessionEvent, project string) string {
	name := Joined{Client: x.Client, Session: x.Session}.Name(project)
	if n == nil {
		return name
	}
	for _, a := range n.Agents {
		if slices.Contains(a.Aliases, name) {
			return a.AgentID
		}
	}
	return name
}

// claimed lists the claims of others on a file, given by its path within the project. A
// holder that is not registered may be any agent of its kind.
func (n *coworkers) claimed(file string) (list []Notice) {
	for _, c := range n.Claims {
		if !agents.Covers(strings.ToLower(c.Path), strings.ToLower(file)) {
			continue
		}
		name, holder := c.AgentID, agents.Present{AgentID: c.AgentID, AgentType: agents.KindOf(c.AgentID)}
		for _, a := range n.Agents {
			if a.AgentID == c.AgentID {
				name, holder = a.AgentID+" ("+a.Role+")", a
			}
		}
		if owner := n.owner(holder); owner != Own {
			list = append(list, claimNotice(c.Path, strings.TrimSuffix(name, " ()"), time.Until(c.Until), c.Token, owner))
		}
	}
	return list
}
