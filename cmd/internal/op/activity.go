package op

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/agents"
	"leanctx/formats"
	"leanctx/internal/args"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/history"
)

// ActivityQuery asks what happened.
type ActivityQuery struct {
	Since    string `json:"since,omitempty" arg:"1" jsonschema:"from then on: day, time, age or words such as last Friday (default 7d)"`
	Until    string `json:"until,omitempty" jsonschema:"up to then, a day to its end (default now)"`
	Author   string `json:"author,omitempty" jsonschema:"only what this agent or person did, or one whose name begins so"`
	Category string `json:"category,omitempty" alias:"room" flag:"room" jsonschema:"only facts of this room"`
	Kind     string `json:"kind,omitempty" enum:"facts,tasks,messages" jsonschema:"only these"`
	Limit    int    `json:"limit,omitempty" jsonschema:"most events to show, the newest first (default 50)"`
}

// The kinds of things that happen, as a query names them.
const (
	factsKind    = "facts"
	tasksKind    = "tasks"
	messagesKind = "messages"
)

// Activity is what happened in a project, the newest first.
type Activity struct {
	Since  time.Time  `json:"since"`
	Until  time.Time  `json:"until"`
	Events []Happened `json:"events"`
	Total  int        `json:"total"`
	Days   []DayCount `json:"days"` // those on which something happened, the oldest first; of all events

	since string
	limit int
}

// Happened is one thing that happened. Changes of facts by one author in one room that follow each
// other within the hour are one, see More.
type Happened struct {
	At   time.Time `json:"at"`
	Kind string    `json:"kind"` // facts, tasks or messages
	What string    `json:"what"` // as [history.Change] has it; of a task the state that it reached
	By   string    `json:"by,omitempty"`

	Fact *history.Change  `json:"fact,omitempty"`
	More []history.Change `json:"more,omitempty"` // further facts of which the same is told, the newest first

	Task  string `json:"task,omitempty"`  // its id
	Title string `json:"title,omitempty"` // of the task
	Why   string `json:"why,omitempty"`   // of a task's change

	To      string `json:"to,omitempty"` // whom a message is for; empty: everybody
	Message string `json:"message,omitempty"`
}

// DayCount is how much happened on a day.
type DayCount struct {
	Day          string `json:"day"`
	Events       int    `json:"events"`
	Contradicted bool   `json:"contradicted,omitempty"` // a fact was disputed or changed
}

// activity collects what happened from the stores.
func activity(st Stores) func(context.Context, Scope, ActivityQuery) (Activity, error) {
	return func(ctx context.Context, sc Scope, q ActivityQuery) (r Activity, err error) {
		now := time.Now()
		from, err := args.ParseInstant("since", cmp.Or(q.Since, "7d"), now, false)
		if err != nil {
			return r, err
		}
		to := args.Instant{Time: now}
		if q.Until != "" {
			if to, err = args.ParseInstant("until", q.Until, now, true); err != nil {
				return r, err
			}
		}
		if to.Before(from.Time) {
			return r, refusal.Argument("until", "until %s is before since %s", to.Text, from.Text)
		}
		if q.Limit, err = refusal.Limit(q.Limit, 50); err != nil {
			return r, err
		}
		r = Activity{Since: from.Time, Until: to.Time, Events: []Happened{}, Days: []DayCount{}, since: from.Text, limit: q.Limit}
		wants := func(kind string) bool {
			return q.Kind == kind || q.Kind == "" && (q.Category == "" || kind == factsKind)
		}
		if wants(factsKind) {
			store, err := st.Knowledge(ctx, sc)
			if err != nil {
				return r, err
			}
			list, err := history.Happened(ctx, store, from.Time, to.Time, q.Category)
			if err != nil {
				return r, err
			}
			for _, c := range list {
				r.Events = append(r.Events, Happened{At: c.At, Kind: factsKind, What: c.Kind, By: c.By, Fact: &c})
			}
		}
		if wants(tasksKind) {
			store, err := st.Tasks(ctx, sc)
			if err != nil {
				return r, err
			}
			steps, err := store.Happened(ctx, from.Time, to.Time)
			if err != nil {
				return r, err
			}
			for _, s := range steps {
				r.Events = append(r.Events, Happened{At: s.At, Kind: tasksKind, What: string(s.Transition.To), By: s.By, Task: s.ID, Title: s.Title, Why: s.Why})
			}
		}
		if wants(messagesKind) {
			store, err := st.Agents(ctx, sc)
			if err != nil {
				return r, err
			}
			info, err := store.Info(ctx, agents.NoArgs{})
			if err != nil {
				return r, err
			}
			for _, m := range info.Recent {
				if m.At.After(from.Time) && !m.At.After(to.Time) {
					r.Events = append(r.Events, Happened{At: m.At, Kind: messagesKind, What: m.Category, By: m.From, To: m.To, Message: m.Message})
				}
			}
		}
		if author := formats.FoldName(q.Author); author != "" {
			r.Events = slices.DeleteFunc(r.Events, func(e Happened) bool { return !strings.HasPrefix(formats.FoldName(e.By), author) })
		}
		slices.SortStableFunc(r.Events, func(a, b Happened) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.name(), b.name())) })
		r.Days = days(r.Events)
		r.Events = folded(r.Events)
		r.Total = len(r.Events)
		r.Events = r.Events[:min(r.Total, q.Limit)]
		return r, nil
	}
}

// name orders what happened at one instant.
func (e Happened) name() string {
	if e.Fact != nil {
		return e.Fact.Category + "/" + e.Fact.Key
	}
	return e.Task
}

// days counts events, which come the newest first, by their days (UTC).
func days(events []Happened) (out []DayCount) {
	out = []DayCount{}
	for _, e := range slices.Backward(events) {
		if day := fact.Day(e.At); len(out) == 0 || out[len(out)-1].Day != day {
			out = append(out, DayCount{Day: day})
		}
		last := &out[len(out)-1]
		last.Events++
		last.Contradicted = last.Contradicted || e.Fact != nil && (e.Fact.Kind == "disputed" || e.Fact.Was != "")
	}
	return out
}

// foldedWithin is how far the first and the last of the changes may be apart that are told as one.
const foldedWithin = time.Hour

// folded tells as one what one author learned or confirmed in one room within an hour.
func folded(events []Happened) (out []Happened) {
	out = []Happened{}
	type group struct{ what, by, room string }
	newest := map[group]int{} // where it stands in out
	for _, e := range events {
		if e.Fact != nil && e.Fact.Was == "" && (e.What == "learned" || e.What == "confirmed") {
			g := group{e.What, e.By, e.Fact.Category}
			if i, ok := newest[g]; ok && out[i].At.Sub(e.At) <= foldedWithin && fact.Day(out[i].At) == fact.Day(e.At) {
				out[i].More = append(out[i].More, *e.Fact)
				continue
			}
			newest[g] = len(out)
		}
		out = append(out, e)
	}
	return out
}

// Text gives the answer's lines.
func (a Activity) Text() string { return a.TextIn(prose.MCP) }

// TextIn is Text with suggested calls in the caller's syntax.
func (a Activity) TextIn(call prose.Syntax) string {
	if a.Total == 0 {
		return "Nothing happened since " + a.since + "."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Since %s (showing %d/%d), UTC:", a.since, len(a.Events), a.Total)
	day := ""
	for _, e := range a.Events {
		if d := fact.Day(e.At); d != day {
			day = d
			b.WriteString("\n" + d)
		}
		fmt.Fprintf(&b, "\n  %s %s", e.At.UTC().Format("15:04"), e.Line())
	}
	b.WriteString(prose.More(call, a.Total-len(a.Events), a.limit))
	return b.String()
}

// maxKeys is how many facts a line names. It counts the others.
const maxKeys = 6

// Line is the event in one line, without its time.
func (e Happened) Line() string {
	by := ""
	if e.By != "" {
		by = " (" + prose.Name(e.By) + ")"
	}
	switch {
	case e.Fact != nil && len(e.More) > 0:
		keys := []string{prose.Name(e.Fact.Key)}
		for _, c := range e.More[:min(len(e.More), maxKeys-1)] {
			keys = append(keys, prose.Name(c.Key))
		}
		if n := len(e.More) + 1 - len(keys); n > 0 {
			keys = append(keys, fmt.Sprintf("%d more", n))
		}
		return fmt.Sprintf("%s %s in [%s]: %s%s", e.What, prose.Count(len(e.More)+1, "fact"), prose.Name(e.Fact.Category), strings.Join(keys, ", "), by)
	case e.Fact != nil:
		return e.Fact.Line() + by
	case e.Kind == tasksKind:
		line := fmt.Sprintf("task %s %s: %s", prose.Name(e.Task), prose.Line(e.What), prose.Brief(e.Title))
		if e.Why != "" {
			line += " (" + prose.Brief(e.Why) + ")"
		}
		return line + by
	}
	to := ""
	if e.To != "" {
		to = " to " + prose.Name(e.To)
	}
	return "message" + to + ": " + prose.Brief(e.Message) + by
}
