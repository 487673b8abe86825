package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/ledger"
	"leanctx/knowledge/reminder"
)

// Moment asks for the briefing.
type Moment struct {
	Budget int    `json:"budget,omitempty" jsonschema:"most tokens, estimated as bytes/4 (default 800)"`
	AsOf   string `json:"as_of,omitempty" jsonschema:"what was true then: RFC 3339, a day or an age"`
}

const defaultBudget = 800 // tokens

// bytesPerToken is how a budget in tokens is estimated; a tokenizer would cost
// more than the facts it counts.
const bytesPerToken = 4

// Briefing is what an agent should know when it begins. The same state on the
// same day gives the same bytes.
type Briefing struct {
	Rooms         []formats.Room `json:"rooms"`
	Decisions     []string       `json:"recent_decisions"` // the newest, those aside that stand in Rooms
	Gotchas       []string       `json:"gotchas"`
	Reminders     []string       `json:"reminders"`
	LastTask      string         `json:"last_task,omitempty"` // the project's task last worked on
	Agents        []string       `json:"agents,omitempty"`    // at work, as id(role)
	Unread        int            `json:"unread,omitempty"`    // messages the caller has not read
	MoreFacts     int            `json:"more_facts"`          // left out over the budget
	MoreRooms     int            `json:"more_rooms"`
	MoreGotchas   int            `json:"more_gotchas,omitempty"`
	MoreReminders int            `json:"more_reminders,omitempty"`
	MoreAgents    int            `json:"more_agents,omitempty"`
}

// Wakeup selects the facts worth knowing at once and renders them as AAAK:
// pinned ones first, then by salience, whole facts only, within the budget.
func (s *Store) Wakeup(ctx context.Context, q Moment) (Briefing, error) {
	if q.Budget < 0 {
		return Briefing{}, refusal.Argument("budget", "budget %d is negative", q.Budget)
	}
	return s.briefed(ctx, q, s.surroundings(ctx))
}

// Outset is the beginning of a piece of work.
type Outset struct {
	Task   string   // what is to be done, in a sentence; empty: not known
	Files  []string // what it is about, from the project's root, with / between the parts
	Budget int      // most tokens, estimated as bytes/4; 0: the default of [Moment]
}

// Begin is the briefing for one who begins a piece of work. The selection is
// that of [Store.Wakeup]; the task decides between facts that matter the same,
// and the reminders begin with those whose keyword stands in the task or whose
// path is that of a file.
func (s *Store) Begin(ctx context.Context, o Outset) (Briefing, error) {
	if strings.TrimSpace(o.Task) != "" {
		s = s.On(o.Task)
	}
	around := s.surroundings(ctx)
	around.meets = o.meets
	return s.briefed(ctx, Moment{Budget: o.Budget}, around)
}

// meets reports whether a reminder is about the work.
func (o Outset) meets(r formats.Reminder) bool {
	return reminder.AtWords(r, o.Task) || slices.ContainsFunc(o.Files, func(file string) bool { return reminder.AtFile(r, file) })
}

func (s *Store) briefed(ctx context.Context, q Moment, around surroundings) (Briefing, error) {
	var r Briefing
	err := s.view(ctx, func(st *ledger.State, m moment) error {
		f, err := Question{AsOf: q.AsOf}.frame(m, s.clock())
		if err != nil {
			return err
		}
		r = brief(st, &f, around, cmp.Or(q.Budget, defaultBudget)*bytesPerToken)
		return nil
	})
	return r, err
}

func brief(st *ledger.State, f *frame, around surroundings, budget int) Briefing {
	r, short := briefFrom(st, f, around, budget, candidatesKept)
	if short {
		r, _ = briefFrom(st, f, around, budget, 0)
	}
	return r
}

// briefFrom makes the briefing of so many of the best candidates, 0 all, and
// tells whether more were needed.
func briefFrom(st *ledger.State, f *frame, around surroundings, budget, most int) (r Briefing, short bool) {
	today := fact.StartOfDay(f.held.AsOf)
	c := candidates{state: st, most: most, rooms: map[string]int{}, intent: around.intent}
	for n, v := range st.Held(&f.held) {
		c.add(n, v, today)
	}
	for i := range st.Patterns {
		if v := ledger.PatternVersion(&st.Patterns[i]); f.holds(v, false) {
			c.add(fact.IDOf(v.Category, v.Key), v, today)
		}
	}
	recent := c.decisions()
	r = Briefing{
		Decisions: texts(recent), Gotchas: gotchaLines(st, f), Reminders: dueLines(st.Reminders, around, today),
		LastTask: prose.Clip(around.task, 120), Agents: around.agents, Unread: around.unread,
	}
	r.fit(budget / 2)
	told := r.fill(&c, today, budget-len(r.tail()))
	r.Decisions = texts(slices.DeleteFunc(recent[:len(r.Decisions)], func(d decision) bool { return told[d.name] }))
	return r, c.short
}

// tailMost is how many entries each line after the rooms has at most.
const tailMost = 5

// fit shortens the lines after the rooms to what a budget in bytes holds, and
// counts what it leaves out. Decisions are facts, and counted with them.
func (r *Briefing) fit(budget int) {
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
	r.Gotchas, r.MoreGotchas = keep("GOTCHAS", r.Gotchas)
	r.Reminders, r.MoreReminders = keep("REMINDERS", r.Reminders)
	r.Agents, r.MoreAgents = keep("AGENTS", r.Agents)
}

// fillTries is how many facts in a row may turn out too long for what is left
// of the budget before no more are looked at: every look may be a read.
const fillTries = 64

// fill takes facts best first while they fit, pinned ones in any case. Rooms come out in the order of
// their best fact, which is the order in which they are met. It says what it took.
func (r *Briefing) fill(c *candidates, today time.Time, budget int) (told map[fact.ID]bool) {
	told = map[fact.ID]bool{}
	at := map[string]int{}
	r.MoreFacts = c.total
	for tries := 0; tries < fillTries; {
		n, v := c.next()
		if v == nil {
			break
		}
		p := formats.Pair{Key: v.Key, Value: v.Value, Stars: formats.Stars(fact.DayConfidence(v, today)), Unconfirmed: fact.Unconfirmed(v)}
		i, known := at[n.Category]
		room := formats.Room{Category: v.Category, Pairs: []formats.Pair{p}}
		cost := len(formats.FormatAAAK([]formats.Room{room}))
		if known {
			cost -= len(formats.FormatAAAK([]formats.Room{{Category: v.Category, Pairs: []formats.Pair{{}}}})) - len("=★") - len("|")
		}
		if cost > budget && !v.Pinned {
			tries++
			continue
		}
		tries = 0
		budget -= cost
		r.MoreFacts--
		told[n] = true
		c.rooms[n.Category]--
		if !known {
			at[n.Category] = len(r.Rooms)
			r.Rooms = append(r.Rooms, room)
		} else {
			r.Rooms[i].Pairs = append(r.Rooms[i].Pairs, p)
		}
	}
	for _, left := range c.rooms {
		if left > 0 {
			r.MoreRooms++
		}
	}
	return told
}

// gotchaLines are the gotchas, the worst first: by severity, then by how often.
func gotchaLines(st *ledger.State, f *frame) []string {
	rank := map[string]int{"critical": 0, "warning": 1, "info": 2}
	list := slices.Clone(st.Gotchas)
	slices.SortFunc(list, func(a, b formats.Gotcha) int {
		return cmp.Or(cmp.Compare(rank[strings.ToLower(a.Severity)], rank[strings.ToLower(b.Severity)]), cmp.Compare(b.Occurrences, a.Occurrences), cmp.Compare(a.Trigger, b.Trigger))
	})
	out := []string{}
	for _, g := range list {
		if !g.FirstSeen.After(f.held.AsOf) {
			out = append(out, prose.Clip(g.Trigger, 80)+" → "+prose.Clip(g.Resolution, 120))
		}
	}
	return out
}

// dueLines are the reminders that the work at hand meets, then those due by the
// end of the day, and those whose task has come to the state they wait for.
func dueLines(list []formats.Reminder, around surroundings, today time.Time) []string {
	met, out := []string{}, []string{}
	for _, r := range reminder.Open(list) {
		switch line := prose.Clip(r.Text, 120); {
		case around.meets != nil && around.meets(r):
			met = append(met, line)
		case around.reached[r.ID] || reminder.Due(r, today):
			out = append(out, line)
		}
	}
	return append(met, out...)
}

// Text gives the answer's lines.
func (r Briefing) Text() string {
	body := r.Body()
	if body == "" {
		return "No knowledge for wake-up briefing."
	}
	return "WAKE-UP BRIEFING:\n" + body
}

// Body is the briefing without its heading; empty when there is nothing to say.
func (r Briefing) Body() string {
	return strings.TrimSuffix(formats.FormatAAAK(r.Rooms)+r.more()+r.tail(), "\n")
}

// OverviewText is the same selection as [Briefing.Body] for an overview of the
// project: the facts on one line, as category/key=value without stars.
func (r Briefing) OverviewText() string {
	var facts []string
	for _, room := range r.Rooms {
		for _, p := range room.Pairs {
			fact := formats.Escape(room.Category) + "/" + formats.Escape(p.Key) + "=" + formats.Escape(p.Value)
			if p.Unconfirmed {
				fact += "?"
			}
			facts = append(facts, fact)
		}
	}
	text := ""
	if len(facts) > 0 {
		text = "FACTS:" + strings.Join(facts, "|") + "\n"
	}
	return strings.TrimSuffix(text+r.more()+r.tail(), "\n")
}

// more is the line that counts the facts over the budget.
func (r Briefing) more() string {
	if r.MoreFacts == 0 {
		return ""
	}
	return fmt.Sprintf("+%s in %s\n", prose.Count(r.MoreFacts, "more fact"), prose.Count(r.MoreRooms, "room"))
}

// tail is the lines that follow the rooms, each left out when empty.
func (r Briefing) tail() string {
	var b strings.Builder
	line := func(name, separator string, list []string, more int) {
		parts := make([]string, 0, len(list)+1)
		for _, text := range list {
			parts = append(parts, formats.Escape(text))
		}
		if more > 0 {
			parts = append(parts, fmt.Sprintf("+%d more", more))
		}
		if len(parts) > 0 {
			fmt.Fprintf(&b, "%s:%s\n", name, strings.Join(parts, separator))
		}
	}
	if r.LastTask != "" {
		line("LAST_TASK", "|", []string{r.LastTask}, 0)
	}
	line("RECENT_DECISIONS", "|", r.Decisions, 0)
	line("GOTCHAS", "|", r.Gotchas, r.MoreGotchas)
	line("REMINDERS", "|", r.Reminders, r.MoreReminders)
	line("AGENTS", ",", r.Agents, r.MoreAgents)
	if r.Unread > 0 {
		line("UNREAD", "", []string{strconv.Itoa(r.Unread)}, 0)
	}
	return b.String()
}
