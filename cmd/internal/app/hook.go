package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"leanctx/agents"
	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/config"
	"leanctx/cmd/internal/hook"
	"leanctx/cmd/internal/op"
	"leanctx/formats"
	"leanctx/knowledge"
	"leanctx/knowledge/briefing"
	"leanctx/knowledge/listing"
	"leanctx/tasks"
)

// hookName is the command that clients' hooks call. Main looks for it before it makes the other
// commands. That saves milliseconds. It also keeps usage errors from returning an exit code
// that a client would take for a decision.
const hookName = "hook"

// isHook tells whether a client's hook calls the program.
func isHook(args []string) bool {
	return len(args) > 1 && args[0] == hookName && !slices.ContainsFunc(args, func(a string) bool { return a == "-h" || a == "--help" })
}

const hookLong = `Answer an event of a client's session. Clients call it, because lean-ctx connect wrote that into their settings. ` +
	`It reads and writes the client's JSON. It prints nothing when it has nothing to say, or when something is wrong: see logs/hook.log in the data directory. ` +
	`It ends within a second, with exit code 0.

Events: session-start user-prompt post-tool pre-compact session-end stop subagent-start`

// hookHelp runs if no client is named.
func (r *run) hookHelp(context.Context, cli.Globals) error {
	_, err := fmt.Fprintln(r.out, hookLong)
	return err
}

// runHook answers an event. It always succeeds.
func runHook(ctx context.Context, args []string, in io.Reader, out io.Writer) int {
	c, err := config.Load(nil)
	if err != nil || c.HooksOff {
		return done
	}
	call := hook.Call{Client: args[0], In: in, Dir: c.Project, Data: c.DataDir}
	if d := config.Getenv("DEVIN_PROJECT_DIR"); filepath.IsAbs(d) { // its input names no directory
		call.Dir = d
	}
	if len(args) > 1 {
		call.Event = args[1]
	}
	if cli.Terminal(in) {
		call.In = nil
	}
	s := newStores(c, func(string) {})
	s.teamWait = 0
	calls := hookCalls{s}
	call.Open = calls.open
	call.Conclude = func(ctx context.Context, session *hook.Session) error {
		return cmp.Or(calls.conclude(ctx, session), s.close())
	}
	if answer := call.Run(ctx); len(answer) > 0 {
		// A client that has ended reads nothing. That is no failure.
		_, _ = fmt.Fprintln(out, string(answer))
	}
	return done
}

// hookCalls is what a client's hooks ask.
type hookCalls struct{ stores *stores }

// projectView is the [hook.ProjectView] of a project.
type projectView struct {
	project located
	client  string
	store   *knowledge.Store // nil: nothing is known of the project
	agents  func() (sessionView, error)
	news    func() briefing.News
}

// open opens the project of a session without creating anything. It returns nil if the
// settings switch hooks off.
func (c hookCalls) open(ctx context.Context, session *hook.Session) (hook.ProjectView, error) {
	sc := op.Scope{Project: session.Dir, Agent: c.stores.config.Agent}
	if settings, _, err := c.stores.settings(sc); err != nil || !settings.Hooks {
		return nil, err
	}
	p, err := c.stores.project(ctx, sc)
	if err != nil {
		return nil, err
	}
	session.SeenIn(p.Hash) // at every event, also if it needs no list of agents
	store, err := c.stores.store(sc, p)
	return projectView{
		project: p, client: session.Client, store: store,
		agents: sync.OnceValues(func() (sessionView, error) { return c.stores.in(sc, p).sessionView(ctx, session) }),
		news: func() briefing.News {
			return briefing.News{Since: session.BriefedBefore(), Own: func(author string) bool { return author == sc.Agent || sameKind(kindOf(author), session.Client) }}
		},
	}, err
}

// Briefing is the briefing of a session, and the names of its facts.
func (v projectView) Briefing(ctx context.Context) (text string, facts []string, err error) {
	store := v.store
	if n, err := v.agents(); err == nil && n.me != "" { // a session that goes on
		store = store.As(knowledge.Actor{Agent: n.me})
	}
	b, err := briefing.Start(ctx, store, v.client, v.news())
	return b.Body(), b.Facts, err
}

// briefings lists what the hooks gave to the sessions of a project.
func (c hookCalls) briefings(ctx context.Context, sc op.Scope, q op.BriefingsQuery) (op.Result, error) {
	p, err := c.stores.project(ctx, sc)
	if err != nil {
		return nil, err
	}
	return hook.ReadBriefings(c.stores.config.DataDir, p.Hash, q.Limit, time.Now())
}

// Unread lists the notices on unread messages of the session's agent.
func (v projectView) Unread(ctx context.Context) ([]hook.Notice, error) {
	n, err := v.agents()
	if err != nil {
		return nil, err
	}
	return n.waiting(ctx)
}

// Relevant lists facts, lessons and reminders for a prompt. Nobody asked for them,
// so only what package recall takes for an answer is told.
func (v projectView) Relevant(ctx context.Context, prompt string) ([]hook.Notice, error) {
	r, err := v.store.Recall(ctx, knowledge.Question{Query: prompt, Limit: 3, Prompt: true})
	if err != nil {
		return nil, err
	}
	var list []hook.Notice
	for _, f := range r.Facts {
		mark := ""
		if f.SourceState != "" {
			mark = " [source " + f.SourceState + "]"
		}
		list = append(list, hook.FactNotice(f.ID, f.Category, f.Key, f.Value, mark))
	}
	for _, x := range r.Reminders {
		list = append(list, hook.ReminderNotice(x.ID, x.Text, x.Keyword == ""))
	}
	return list, nil
}

// AtFile lists the reminders and gotchas on a file of the project, and the claims of other
// agents.
func (v projectView) AtFile(ctx context.Context, file string) (list []hook.Notice, err error) {
	roots := []string{v.project.Root}
	for _, p := range v.project.Places {
		roots = append(roots, filepath.FromSlash(p.Root))
	}
	for _, root := range roots {
		rel, within := formats.PathIn(resolved(root), resolved(file))
		if !within {
			continue
		}
		reminders, err := listing.Triggered(ctx, v.store, rel)
		for _, x := range reminders {
			list = append(list, hook.ReminderNotice(x.ID, x.Text, false))
		}
		gotchas, e := listing.GotchasAt(ctx, v.store, rel)
		for _, x := range gotchas {
			list = append(list, hook.GotchaNotice(x.ID, x.Trigger, x.Resolution))
		}
		if n, err := v.agents(); err == nil {
			list = append(list, n.claimed(rel)...)
		}
		return list, errors.Join(err, e)
	}
	return nil, nil
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

// conclude writes the automatic diary entry at the end of a session: the diary entries since
// the last one, open tasks and claims. It writes none if nothing is new, or if the agent of
// the session is not known.
func (c hookCalls) conclude(ctx context.Context, session *hook.Session) error {
	sc := op.Scope{Project: session.Dir, Agent: c.stores.config.Agent}
	settings, _, err := c.stores.settings(sc)
	if err != nil || !settings.Hooks {
		return err
	}
	p, err := c.stores.project(ctx, sc)
	if err != nil {
		return err
	}
	n, err := c.stores.in(sc, p).sessionView(ctx, session)
	if err != nil || n.me == "" || !settings.AutoDiary {
		return err
	}
	text, err := n.summary(ctx)
	if err != nil || text == "" {
		return err
	}
	_, err = n.registry.As(agents.Actor{Agent: n.me}).Diary(ctx, agents.Note{Message: text, Context: automatic})
	return err
}

// automatic marks an entry that no agent wrote.
const automatic = "automatic"

// diaryLook is the number of diary entries that are searched.
const diaryLook = 100

// summary is the text of an automatic entry. It is empty if the last entry says the same and
// the agent has written nothing since.
func (n sessionView) summary(ctx context.Context) (string, error) {
	diary, err := n.registry.As(agents.Actor{Agent: n.me}).RecallDiary(ctx, agents.DiaryQuery{AgentID: n.me, Limit: diaryLook})
	if err != nil {
		return "", err
	}
	var wrote []string
	last := ""
	for _, e := range diary.Entries {
		if e.Context == automatic {
			last = e.Message
			break
		}
		wrote = append(wrote, e.Type+": "+hook.Line(e.Message))
	}
	slices.Reverse(wrote)
	open, err := n.openTitles(ctx)
	if err != nil {
		return "", err
	}
	var held []string
	for _, c := range n.agents.Claims {
		if c.AgentID == n.me {
			held = append(held, hook.Line(c.Path))
		}
	}
	rest := paragraph("Open tasks", open) + paragraph("Claims", held)
	if len(wrote) == 0 && (rest == "" || strings.HasSuffix(last, rest)) {
		return "", nil
	}
	return "Session summary." + paragraph("Diary", wrote) + rest, nil
}

// mostNamed is the most things that a paragraph of a summary names.
const mostNamed = 10

func paragraph(title string, list []string) string {
	if len(list) == 0 {
		return ""
	}
	named := list[max(0, len(list)-mostNamed):]
	text := "\n" + title + ": " + strings.Join(named, "; ")
	if more := len(list) - len(named); more > 0 {
		text += fmt.Sprintf("; and %d before", more)
	}
	return text
}

func (n sessionView) openTitles(ctx context.Context) (titles []string, err error) {
	taskStore, err := n.stores.tasks()
	if err != nil {
		return nil, err
	}
	list, err := taskStore.List(ctx, tasks.Query{State: "open", AgentID: n.me})
	for _, t := range list.Tasks {
		if t.Assignee == n.me {
			titles = append(titles, fmt.Sprintf("%s %q [%s]", t.ID, hook.Line(t.Title), t.State))
		}
	}
	return titles, err
}
