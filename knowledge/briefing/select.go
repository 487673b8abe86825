package briefing

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/intent"
	"leanctx/knowledge/ledger"
	"leanctx/knowledge/reminder"
)

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

// Selection is what an agent should know when it begins. The same state on the
// same day gives the same bytes.
type Selection struct {
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

// Select makes the briefing of what a frame holds: pinned facts first, then by
// salience, whole facts only, within the budget.
func (o *Occasion) Select(st *ledger.State, f *ledger.Frame) Selection {
	r, short := o.selected(st, f, candidatesKept)
	if short {
		r, _ = o.selected(st, f, 0)
	}
	return r
}

// selected makes the briefing of so many of the best candidates, 0 all, and
// tells whether more were needed.
func (o *Occasion) selected(st *ledger.State, f *ledger.Frame, most int) (r Selection, short bool) {
	today := fact.StartOfDay(f.AsOf)
	c := candidates{state: st, most: most, rooms: map[string]int{}, intent: o.Intent}
	for n, v := range st.Held(f) {
		c.add(n, v, today)
	}
	for i := range st.Patterns {
		if v := ledger.PatternVersion(&st.Patterns[i]); f.Holds(v) {
			c.add(fact.IDOf(v.Category, v.Key), v, today)
		}
	}
	recent := c.decisions()
	r = Selection{
		Decisions: texts(recent), Gotchas: gotchaLines(st, f), Reminders: o.dueLines(st.Reminders, today),
		LastTask: prose.Clip(o.LastTask, 120), Agents: o.Agents, Unread: o.Unread,
	}
	budget := cmp.Or(o.Budget, DefaultBudget) * bytesPerToken
	r.fit(budget / 2)
	told := r.fill(&c, today, budget-len(r.tail()))
	r.Decisions = texts(slices.DeleteFunc(recent[:len(r.Decisions)], func(d decision) bool { return told[d.name] }))
	return r, c.short
}

// gotchaLines are the gotchas, the worst first: by severity, then by how often.
func gotchaLines(st *ledger.State, f *ledger.Frame) []string {
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
