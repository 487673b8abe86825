// Package briefing chooses what an agent should know when it begins, within a budget of tokens.
//
// [Wakeup], [Start] and [Begin] select the current facts that matter most. The [Selection] has
// two forms with the same content: the text of a briefing ([Selection.Text]), and that for an
// overview ([Selection.OverviewText]).
//
// # Order
//
// Facts come first. What is pinned has a quarter of the budget. Then come the facts that recall finds
// for the caller's task, up to half of the budget. The others follow by class: critical, a user's
// rules, a user's other facts, other rules, the rest by salience, and what nobody has confirmed here.
// Rules take turns by room, so that no room takes the place of the others. Rooms are in the order of
// their best fact. A line counts what is left out, by room.
//
// The lines after the facts tell the news since the last session, the caller's tasks, disputes,
// gotchas, reminders, who works here, and the newest decisions. Each has a share of the budget
// ([newsShare], [gotchaShare], [tailShare]), and what the facts leave.
//
// # The same bytes
//
// The same state on the same day gives the same bytes, because prompt caches
// compare bytes. So stars and salience are those of the start of the day,
// and do not depend on retrievals. Only a valid period that begins or ends
// within the day changes the text, because truth comes first.
//
// A cold command orders all facts by their summaries ([state.Reader.Summaries]), and
// reads only those that it shows.
//
// A token is estimated as four bytes. A tokenizer was rejected because it costs
// more time than selecting the facts.
package briefing

import (
	"context"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/args"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/reminder"
	"leanctx/knowledge/state"
)

// DefaultBudget is the size of a briefing in tokens, if the caller sets none.
const DefaultBudget = 800

// bytesPerToken is how a budget in tokens is estimated.
const bytesPerToken = 4

// Query asks for the briefing.
type Query struct {
	Budget int    `json:"budget,omitempty" jsonschema:"most tokens, estimated as bytes/4 (default 800)"`
	Task   string `json:"task,omitempty" long:"true" jsonschema:"what you are about to do"`
	Since  string `json:"since,omitempty" jsonschema:"adds what others recorded since: last (your last session), a day, an age or words (yesterday)"`
	AsOf   string `json:"as_of,omitempty" jsonschema:"what was true then: RFC 3339, a day, an age or words (last week)"`
}

// sinceLast asks for what is new since the caller's last session.
const sinceLast = "last"

// Wakeup selects the facts worth knowing at once: those for the caller's task,
// pinned ones, then by salience, whole facts only, within the budget.
func Wakeup(ctx context.Context, s *knowledge.Store, q Query) (Selection, error) {
	if q.Budget < 0 {
		return Selection{}, refusal.Argument("budget", "budget %d is negative", q.Budget)
	}
	if strings.TrimSpace(q.Task) != "" {
		s = s.On(q.Task)
	}
	o := Inputs{Budget: q.Budget}
	var err error
	switch strings.TrimSpace(q.Since) {
	case "":
	case sinceLast:
		o.News, err = lastSession(ctx, s)
	default:
		var t args.Instant
		t, err = args.ParseInstant("since", q.Since, s.Now(), false)
		o.News = News{Since: t.Time, Own: ownOf(s)}
	}
	if err != nil {
		return Selection{}, err
	}
	if q.AsOf != "" {
		return o.past(ctx, s, q.AsOf)
	}
	return o.present(ctx, s, nil)
}

// Start is the briefing of a client's session that begins, with what is new to it.
func Start(ctx context.Context, s *knowledge.Store, client string, n News) (Selection, error) {
	o := Inputs{Client: client, News: n}
	return o.present(ctx, s, nil)
}

// Work is a piece of work that begins.
type Work struct {
	Task   string   // what is to be done, in a sentence; empty: not known
	Files  []string // what it is about, from the project's root, with / between the parts
	Budget int      // most tokens, estimated as bytes/4; 0: [DefaultBudget]
}

// Begin is the briefing for one who begins a piece of work. The selection is
// that of [Wakeup]. The reminders begin with those whose keyword stands in the task
// or whose path is that of a file.
func Begin(ctx context.Context, s *knowledge.Store, w Work) (Selection, error) {
	if strings.TrimSpace(w.Task) != "" {
		s = s.On(w.Task)
	}
	o := Inputs{Budget: w.Budget}
	return o.present(ctx, s, w.Files)
}

// News says which changes by others a briefing reports.
type News struct {
	Since time.Time                // those recorded after it; zero: none
	Own   func(author string) bool // whether an author is the caller; nil: nobody is
}

// ownOf tells what the caller asserted itself. Users' facts have no other name, and an agent whose
// name is not known asserted nothing that is known.
func ownOf(s *knowledge.Store) func(string) bool {
	self, user := s.Actor().Name(), s.Actor().Kind == knowledge.KindUser
	return func(author string) bool { return author == self && (self != "" || user) }
}

// lastSession is the news since the caller's last session; none where that is not
// known.
func lastSession(ctx context.Context, s *knowledge.Store) (News, error) {
	ask := s.Options().LastSession
	if ask == nil {
		return News{}, nil
	}
	at, err := ask(ctx, s.Actor())
	return News{Since: at, Own: ownOf(s)}, err
}

// Inputs is what a briefing needs beside the facts: who asks, for which task, and what
// waits for them. The zero value is a briefing for nobody in particular.
type Inputs struct {
	Budget  int      // most tokens, estimated as bytes/4; 0: [DefaultBudget]
	Related []string // ids of the versions that recall finds for the caller's task, the likeliest first
	News    News
	Client  string // whose session begins; empty: not known

	Logged []knowledge.Finding // decisions of diaries that are no facts yet, the newest first

	Tasks  knowledge.Tasks
	Agents []string // at work, as id(role)
	Unread int      // messages the caller has not read

	Reached map[string]bool             // ids of reminders whose task has come to its state
	Applies func(formats.Reminder) bool // whether a reminder concerns the task at hand; may be nil
}

// gather reads the caller's task, coworkers and messages. Whatever cannot be read is left out
// with a notice: a damaged list of agents must not hide the facts.
func (o *Inputs) gather(ctx context.Context, s *knowledge.Store, files []string) {
	task := knowledge.Task(ctx, s)
	o.Applies = func(r formats.Reminder) bool {
		return reminder.AtWords(r, task) || slices.ContainsFunc(files, func(file string) bool { return reminder.AtFile(r, file) })
	}
	var err error
	if o.Related, err = knowledge.Related(ctx, s, task); err != nil && ctx.Err() == nil {
		s.Warn("the facts about the task could not be looked up: %v", err)
	}
	w := s.Options().Coworkers
	if w == nil {
		return
	}
	if o.Tasks, err = w.Tasks(ctx, s.Actor().Agent, o.Client); err != nil {
		s.Warn("the tasks are not known: %v", err)
	}
	if o.Agents, o.Unread, err = w.Presence(ctx, s.Actor().Agent); err != nil {
		s.Warn("the agents at work are not known: %v", err)
	}
	var open []formats.Reminder
	if err := s.ViewSome(ctx, func(st state.Reader, _ time.Time) error {
		open = reminder.Open(st.Reminders)
		return nil
	}); err == nil {
		o.Reached = knowledge.Reached(ctx, s.Options().Coworkers, open)
	}
}

// present is the briefing of what holds now. files are those that the work is about.
func (o *Inputs) present(ctx context.Context, s *knowledge.Store, files []string) (r Selection, err error) {
	o.gather(ctx, s, files)
	if o.Logged, err = knowledge.LoggedDecisions(ctx, s, maxDecisions); err != nil && ctx.Err() == nil {
		s.Warn("the decisions of diaries are not known: %v", err)
	}
	err = s.ViewSome(ctx, func(k state.Reader, now time.Time) error {
		c := newChoice(k, now)
		for n, x := range k.Summaries(now) {
			if !x.Archived && x.Period.Contains(now) {
				c.add(n, x, nil)
			}
		}
		r = o.selection(c)
		return nil
	})
	return r, err
}

// past is the briefing of what held at an instant. Dormant facts are a part of it.
func (o *Inputs) past(ctx context.Context, s *knowledge.Store, asOf string) (r Selection, err error) {
	o.gather(ctx, s, nil)
	err = s.View(ctx, func(st *state.State, now time.Time) error {
		t, err := args.ParseInstant("as_of", asOf, s.Now(), true)
		if err != nil {
			return err
		}
		r = o.at(st, &state.Filter{Now: now, AsOf: t.Time, Archived: true})
		return nil
	})
	return r, err
}

// at is the briefing of what passes a filter.
func (o *Inputs) at(st *state.State, f *state.Filter) Selection {
	c := newChoice(st.Reader(), f.AsOf)
	for n, v := range st.Matching(f) {
		c.add(n, fact.Summarize(v), v)
	}
	return o.selection(c)
}
