// Package briefing chooses what an agent should know when it begins, and says
// it in as few bytes as are given.
//
// [Wakeup] and [Begin] select, of the facts that hold, those that matter most.
// The [Selection] is worded as a briefing ([Selection.Text]) or for an overview
// ([Selection.OverviewText]); both say the same.
//
// # Order
//
// Pinned facts come first, then those of more salience; those within a point of
// each other by what the caller works on. Rooms come in the order of their best
// fact. After them come the newest decisions, the worst gotchas, the reminders
// that are met or due, and who is at work: five of each at most, in half of the
// budget. What is left out is counted.
//
// # The same bytes
//
// The same state on the same day gives the same bytes, because prompt caches
// live on equal bytes. So stars and salience are those of the start of the day,
// and retrievals have no part in them. Only a valid period that begins or ends
// within the day changes the text, because truth comes first.
//
// A token is taken for four bytes. A tokenizer was rejected because it costs
// more than the facts that it counts.
package briefing

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/intent"
	"leanctx/knowledge/reminder"
	"leanctx/knowledge/state"
)

// DefaultBudget is how much a briefing holds unless it is said, in tokens.
const DefaultBudget = 800

// bytesPerToken is how a budget in tokens is estimated.
const bytesPerToken = 4

// Query asks for the briefing.
type Query struct {
	Budget int    `json:"budget,omitempty" jsonschema:"most tokens, estimated as bytes/4 (default 800)"`
	AsOf   string `json:"as_of,omitempty" jsonschema:"what was true then: RFC 3339, a day or an age"`
}

// Wakeup selects the facts worth knowing at once: pinned ones first, then by
// salience, whole facts only, within the budget.
func Wakeup(ctx context.Context, s *knowledge.Store, q Query) (Selection, error) {
	if q.Budget < 0 {
		return Selection{}, refusal.Argument("budget", "budget %d is negative", q.Budget)
	}
	o := occasionOf(ctx, s)
	o.Budget = q.Budget
	return o.selection(ctx, s, q.AsOf)
}

// Work is a piece of work that begins.
type Work struct {
	Task   string   // what is to be done, in a sentence; empty: not known
	Files  []string // what it is about, from the project's root, with / between the parts
	Budget int      // most tokens, estimated as bytes/4; 0: [DefaultBudget]
}

// Begin is the briefing for one who begins a piece of work. The selection is
// that of [Wakeup]. The task decides between facts that matter the same, and the
// reminders begin with those whose keyword stands in the task or whose path is
// that of a file.
func Begin(ctx context.Context, s *knowledge.Store, w Work) (Selection, error) {
	if strings.TrimSpace(w.Task) != "" {
		s = s.On(w.Task)
	}
	o := occasionOf(ctx, s)
	o.Budget = w.Budget
	o.Meets = func(r formats.Reminder) bool {
		return reminder.AtWords(r, w.Task) || slices.ContainsFunc(w.Files, func(file string) bool { return reminder.AtFile(r, file) })
	}
	return o.selection(ctx, s, "")
}

// Occasion is what a briefing is for, and what is known of it that no fact
// says. The zero value is one for nobody in particular.
type Occasion struct {
	Budget int          // most tokens, estimated as bytes/4; 0: [DefaultBudget]
	Intent intent.Words // what the caller works on

	LastTask string   // the project's task last worked on
	Agents   []string // at work, as id(role)
	Unread   int      // messages the caller has not read

	Reached map[string]bool             // ids of reminders whose task has come to its state
	Meets   func(formats.Reminder) bool // a reminder is met by what is about to be done; may be nil
}

// occasionOf asks the store's coworkers. What they cannot tell is left out with
// a notice: facts must not become silent because a list of agents is damaged.
func occasionOf(ctx context.Context, s *knowledge.Store) Occasion {
	o := Occasion{Intent: s.Intent(ctx)}
	w := s.Options().Coworkers
	if w == nil {
		return o
	}
	var err error
	if o.LastTask, err = w.LastTask(ctx); err != nil {
		s.Warn("the last task is not known: %v", err)
	}
	if o.Agents, o.Unread, err = w.Company(ctx, s.Actor().Agent); err != nil {
		s.Warn("the agents at work are not known: %v", err)
	}
	var open []formats.Reminder
	if err := s.Look(ctx, func(st state.Known, _ time.Time) error {
		open = reminder.Open(st.Reminders)
		return nil
	}); err == nil {
		o.Reached = s.Reached(ctx, open)
	}
	return o
}

// selection is the briefing of what held at an instant; "" is now.
func (o *Occasion) selection(ctx context.Context, s *knowledge.Store, asOf string) (r Selection, err error) {
	err = s.View(ctx, func(st *state.State, now time.Time) error {
		f := state.Filter{Now: now, AsOf: now}
		if asOf != "" {
			t, err := fact.ParseInstant("as_of", asOf, s.Now(), true)
			if err != nil {
				return err
			}
			f.AsOf, f.Archived = t.Time, true // history is whole
		}
		r = o.Select(st, &f)
		return nil
	})
	return r, err
}

// Selection is what an agent should know when it begins. The same state on the
// same day gives the same bytes.
type Selection struct {
	Rooms         []formats.Room `json:"rooms"`
	Decisions     []string       `json:"recent_decisions"` // the newest, those aside that stand in Rooms
	Gotchas       []string       `json:"gotchas"`
	Reminders     []string       `json:"reminders"`
	Disputes      []string       `json:"disputes,omitempty"`  // open ones, by name
	LastTask      string         `json:"last_task,omitempty"` // the project's task last worked on
	Agents        []string       `json:"agents,omitempty"`    // at work, as id(role)
	Unread        int            `json:"unread,omitempty"`    // messages the caller has not read
	MoreFacts     int            `json:"more_facts"`          // left out over the budget
	MoreRooms     int            `json:"more_rooms"`
	MorePinned    int            `json:"more_pinned,omitempty"` // of the facts left out
	MoreGotchas   int            `json:"more_gotchas,omitempty"`
	MoreDisputes  int            `json:"more_disputes,omitempty"`
	MoreReminders int            `json:"more_reminders,omitempty"`
	MoreAgents    int            `json:"more_agents,omitempty"`
	Uncounted     bool           `json:"-"` // the budget has no room for the line that counts facts
}

// Select makes the briefing of what passes a filter: pinned facts first, then by
// salience, whole facts only, within the budget.
func (o *Occasion) Select(st *state.State, f *state.Filter) Selection {
	today := fact.StartOfDay(f.AsOf)
	all, rooms := &candidates{}, map[string]int{}
	var decisions []candidate
	add := func(n fact.ID, v *fact.Version) {
		x := candidate{name: n, version: v, salience: fact.Salience(v, today, fact.Retrievals{}), shared: o.Intent.Meets(v.Category, v.Key)}
		*all = append(*all, x)
		rooms[n.Category]++
		if v.Archetype == "decision" {
			decisions = newest(decisions, x)
		}
	}
	for n, v := range st.Matching(f) {
		add(n, v)
	}
	for i := range st.Patterns {
		if v := state.PatternVersion(&st.Patterns[i]); f.Matches(st, v) {
			add(fact.IDOf(v.Category, v.Key), v)
		}
	}
	heap.Init(all)
	r := Selection{
		Decisions: texts(decisions), Gotchas: gotchaLines(st, f), Reminders: o.dueLines(st.Reminders, today),
		LastTask: prose.Clip(o.LastTask, 120), Agents: o.Agents, Unread: o.Unread,
	}
	for _, d := range state.OpenDisputes(st, st.Disputed, f.AsOf) {
		r.Disputes = append(r.Disputes, prose.Line(d.Category)+"/"+prose.Line(d.Key)+" ("+d.ID+")")
	}
	budget := max(cmp.Or(o.Budget, DefaultBudget)*bytesPerToken-len(heading), 0)
	r.fit(budget / 2)
	shown := r.fill(*all, rooms, today, budget-len(r.tail()))
	if r.MoreFacts > 0 { // the line that counts them takes room too
		shown = r.fill(*all, rooms, today, budget-len(r.tail())-len(r.more())-len("99"))
		r.Uncounted = len(r.tail())+len(r.more()) > budget
	}
	decisions = slices.DeleteFunc(decisions[:len(r.Decisions)], func(d candidate) bool { return shown[d.name] })
	r.Decisions = texts(decisions)
	return r
}

// candidate is a fact that may stand in a briefing.
type candidate struct {
	name     fact.ID
	version  *fact.Version
	salience float64
	shared   int // how many words its name shares with the caller's task
}

// pinned is 2 for what a user pinned, 1 for another pinned fact.
func (c *candidate) pinned() int {
	switch {
	case !c.version.Pinned:
		return 0
	case slices.ContainsFunc(c.version.Sources, func(s formats.Source) bool { return s.Kind == fact.KindUser }):
		return 2
	}
	return 1
}

// candidates is a heap, the best first: a store has a hundred thousand, and a
// briefing takes thirty.
type candidates []candidate

func (c candidates) Len() int           { return len(c) }
func (c candidates) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c candidates) Less(i, j int) bool { return bestFirst(&c[i], &c[j]) < 0 }
func (c *candidates) Push(x any)        { *c = append(*c, x.(candidate)) }

func (c *candidates) Pop() any {
	last := len(*c) - 1
	x := (*c)[last]
	*c = (*c)[:last]
	return x
}

// bestFirst puts pinned facts first, a user's before others, then the more
// salient. Those within a point are ordered by the words they share with the
// task; ties by name.
func bestFirst(a, b *candidate) int {
	if c := cmp.Or(cmp.Compare(b.pinned(), a.pinned()), cmp.Compare(math.Floor(b.salience), math.Floor(a.salience)), cmp.Compare(b.shared, a.shared), cmp.Compare(b.salience, a.salience)); c != 0 {
		return c
	}
	return byName(a, b) // the dearest, and most are told apart before
}

func byName(a, b *candidate) int {
	return cmp.Or(a.name.Compare(b.name), cmp.Compare(a.version.ID, b.version.ID))
}

// decisionsMost is how many recent decisions a briefing has.
const decisionsMost = 3

// newest adds a decision to the newest ones, newest first.
func newest(list []candidate, x candidate) []candidate {
	i, _ := slices.BinarySearchFunc(list, x, func(a, b candidate) int {
		return cmp.Or(b.version.ValidFrom.Compare(a.version.ValidFrom), byName(&a, &b))
	})
	list = slices.Insert(list, i, x)
	return list[:min(len(list), decisionsMost)]
}

func texts(decisions []candidate) []string {
	out := make([]string, len(decisions))
	for i, d := range decisions {
		out[i] = prose.Clip(d.version.Value, 120)
	}
	return out
}

// gotchaLines are the gotchas, the worst first: by severity, then by how often.
func gotchaLines(st *state.State, f *state.Filter) []string {
	rank := map[string]int{"critical": 0, "warning": 1, "info": 2}
	list := slices.Clone(st.Gotchas)
	slices.SortFunc(list, func(a, b formats.Gotcha) int {
		return cmp.Or(cmp.Compare(rank[strings.ToLower(a.Severity)], rank[strings.ToLower(b.Severity)]), cmp.Compare(b.Occurrences, a.Occurrences), cmp.Compare(a.Trigger, b.Trigger))
	})
	out := []string{}
	for _, g := range list {
		if !g.FirstSeen.After(f.AsOf) {
			out = append(out, prose.Clip(g.Trigger, 80)+" → "+prose.Clip(g.Resolution, 120))
		}
	}
	return out
}

// dueLines are the reminders that the work at hand meets, then those due by the
// end of the day, and those whose task has come to the state they wait for.
func (o *Occasion) dueLines(list []formats.Reminder, today time.Time) []string {
	met, out := []string{}, []string{}
	for _, r := range reminder.Open(list) {
		switch line := prose.Clip(r.Text, 120); {
		case o.Meets != nil && o.Meets(r):
			met = append(met, line)
		case o.Reached[r.ID] || reminder.Due(r, today):
			out = append(out, line)
		}
	}
	return append(met, out...)
}

// tailMost is how many entries each line after the rooms has at most.
const tailMost = 5

// fit shortens the lines after the rooms to what a budget in bytes holds, and
// counts what it leaves out. Decisions are facts, and counted with them.
func (r *Selection) fit(budget int) {
	keep := func(name string, list []string) ([]string, int) {
		cost, n := len(name)+len(":\n"), 0
		for n < min(len(list), tailMost) && cost+len(formats.Escape(list[n]))+len("|") <= budget {
			cost += len(formats.Escape(list[n])) + len("|")
			n++
		}
		if len(list) > 0 {
			budget -= cost
		}
		return list[:n], len(list) - n
	}
	if r.LastTask != "" {
		task, _ := keep("LAST_TASK", []string{r.LastTask})
		r.LastTask = strings.Join(task, "")
	}
	r.Decisions, _ = keep("RECENT_DECISIONS", r.Decisions)
	r.Disputes, r.MoreDisputes = keep("DISPUTES", r.Disputes)
	r.Gotchas, r.MoreGotchas = keep("GOTCHAS", r.Gotchas)
	r.Reminders, r.MoreReminders = keep("REMINDERS", r.Reminders)
	r.Agents, r.MoreAgents = keep("AGENTS", r.Agents)
}

// fillTries is how many facts in a row may be too long for what is left of the
// budget before no more are looked at.
const fillTries = 64

// fill takes facts of a heap best first while they fit. Rooms come in the order of their
// best fact. It returns the names of the facts taken.
func (r *Selection) fill(all candidates, rooms map[string]int, today time.Time, budget int) (shown map[fact.ID]bool) {
	shown = map[fact.ID]bool{}
	at, taken := map[string]int{}, map[string]int{} // by folded room: its place, and how many facts of it are taken
	r.Rooms, r.MoreFacts, r.MoreRooms, r.MorePinned = nil, len(all), 0, 0
	c := slices.Clone(all) // a heap as well
	for tries := 0; tries < fillTries && c.Len() > 0; {
		x := heap.Pop(&c).(candidate)
		n, v := x.name, x.version
		i, known := at[n.Category]
		room := roomOf(v, today)
		cost := costOf(room, known)
		if cost > budget {
			if v.Pinned {
				r.MorePinned++
			}
			tries++
			continue
		}
		tries = 0
		budget -= cost
		r.MoreFacts--
		shown[n] = true
		taken[n.Category]++
		if known {
			r.Rooms[i].Pairs = append(r.Rooms[i].Pairs, room.Pairs...)
			continue
		}
		at[n.Category] = len(r.Rooms)
		r.Rooms = append(r.Rooms, room)
	}
	for _, x := range c { // those that were not looked at
		if x.version.Pinned {
			r.MorePinned++
		}
	}
	for name, n := range rooms {
		if n > taken[name] {
			r.MoreRooms++
		}
	}
	return shown
}

// valueBytes is the most of a value that a briefing shows: 60 tokens.
const valueBytes = 60 * bytesPerToken

// shorten cuts a text at a word, in so many bytes.
func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	cut := most - len("…")
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	if i := strings.LastIndexFunc(text[:cut+1], unicode.IsSpace); i > cut/2 {
		cut = i
	}
	return strings.TrimRightFunc(text[:cut], unicode.IsSpace) + "…"
}

// roomOf is the room of one fact that has nothing else.
func roomOf(v *fact.Version, today time.Time) formats.Room {
	stars := formats.Stars(fact.DayConfidence(v, today))
	return formats.Room{Category: v.Category, Pairs: []formats.Pair{{Key: v.Key, Value: shorten(v.Value, valueBytes), Stars: stars, Unconfirmed: fact.Unconfirmed(v)}}}
}

// costOf is how many bytes the fact of a room takes, known: where there is a
// line of the room already. It is that of the longer of the two renderings.
func costOf(room formats.Room, known bool) int {
	cost := len(formats.FormatAAAK([]formats.Room{room}))
	if known {
		cost -= len(formats.FormatAAAK([]formats.Room{{Category: room.Category, Pairs: []formats.Pair{{}}}})) - len("=★") - len("|")
	}
	return max(cost, len(overviewFact(room.Category, room.Pairs[0]))+len("|"))
}
