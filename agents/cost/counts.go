package cost

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Counts is what some calls cost.
type Counts struct {
	Calls     int64     `json:"calls"`
	In        int64     `json:"tokens_in"`
	Out       int64     `json:"tokens_out"`
	Estimated int64     `json:"tokens_estimated"` // of those in and out: bytes/4, not counted
	BytesIn   int64     `json:"bytes_in"`
	BytesOut  int64     `json:"bytes_out"`
	First     time.Time `json:"first_used,omitzero"`
	Last      time.Time `json:"last_used,omitzero"`
}

// Tokens is in and out together.
func (c Counts) Tokens() int64 { return c.In + c.Out }

func (c Counts) plus(d Counts) Counts {
	c.Calls += d.Calls
	c.In += d.In
	c.Out += d.Out
	c.Estimated += d.Estimated
	c.BytesIn += d.BytesIn
	c.BytesOut += d.BytesOut
	if c.First.IsZero() || !d.First.IsZero() && d.First.Before(c.First) {
		c.First = d.First
	}
	if d.Last.After(c.Last) {
		c.Last = d.Last
	}
	return c
}

// row is a key of what a book counts: the most that is known of a call but its
// time.
type row struct {
	Session string `json:"session,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Tool    string `json:"tool,omitempty"`
	Action  string `json:"action,omitempty"`
	Day     string `json:"day,omitempty"`
}

// entry is a row with its counts.
type entry struct {
	row
	Counts
}

// counts of one receipt.
func (n *line) counts() Counts {
	at := time.UnixMilli(n.At).UTC()
	c := Counts{
		Calls: 1, In: int64(n.In), Out: int64(n.Out),
		BytesIn: int64(n.BytesIn), BytesOut: int64(n.BytesOut), First: at, Last: at,
	}
	if n.Estimated {
		c.Estimated = c.Tokens()
	}
	return c
}

func (n *line) row() row {
	return row{n.Session, n.Agent, n.Tool, n.Action, day(time.UnixMilli(n.At))}
}

// summed adds receipts up, project by project.
func summed(lines []line) map[string]map[row]Counts {
	out := map[string]map[row]Counts{}
	for i := range lines {
		n := &lines[i]
		if out[n.Project] == nil {
			out[n.Project] = map[row]Counts{}
		}
		out[n.Project][n.row()] = out[n.Project][n.row()].plus(n.counts())
	}
	return out
}

// entries lists rows in a fixed order.
func entries(rows map[row]Counts) []entry {
	out := make([]entry, 0, len(rows))
	for r, c := range rows {
		out = append(out, entry{r, c})
	}
	slices.SortFunc(out, func(a, b entry) int { return a.row.compare(b.row) })
	return out
}

func (r row) compare(q row) int {
	return cmp.Or(cmp.Compare(r.Session, q.Session), cmp.Compare(r.Agent, q.Agent),
		cmp.Compare(r.Tool, q.Tool), cmp.Compare(r.Action, q.Action), cmp.Compare(r.Day, q.Day))
}

// Bounds of a book. What goes beyond them is kept as one row.
const (
	maxSessions = 500
	maxAgents   = 200
	maxDays     = 400
)

// book is the costs of one project. Every receipt is in tools, in days and in
// sessions, once each.
type book struct {
	root     string
	since    time.Time         // of the last reset, zero if there was none
	tools    map[row]Counts    // by agent, tool and action
	days     map[string]Counts // by day
	sessions map[string]session
	older    Counts // of sessions that were let go
	gone     int64  // how many they were
	earlier  Counts // of days that were
}

// session is one connection. Its rows are by agent and tool.
type session struct {
	Counts
	rows map[row]Counts
}

func newBook() *book {
	return &book{tools: map[row]Counts{}, days: map[string]Counts{}, sessions: map[string]session{}}
}

// earlierAgents is the row of agents whose own was given up.
const earlierAgents = "(earlier agents)"

// add counts what a row and its counts say. bound is called once after many.
func (b *book) add(r row, c Counts) {
	t := row{Agent: r.Agent, Tool: r.Tool, Action: r.Action}
	b.tools[t] = b.tools[t].plus(c)
	b.days[r.Day] = b.days[r.Day].plus(c)
	b.addSession(r, c)
}

func (b *book) addSession(r row, c Counts) {
	s := b.sessions[r.Session]
	if s.rows == nil {
		s.rows = map[row]Counts{}
	}
	t := row{Agent: r.Agent, Tool: r.Tool}
	s.rows[t] = s.rows[t].plus(c)
	s.Counts = s.Counts.plus(c)
	b.sessions[r.Session] = s
}

// bound folds what is oldest until the book is small again. It gives way by an
// eighth at a time, so that it is seldom done.
func (b *book) bound() {
	if len(b.sessions) > maxSessions {
		ids := oldest(b.sessions, func(s session) time.Time { return s.Last })
		for _, id := range ids[:len(ids)-maxSessions*7/8] {
			b.older = b.older.plus(b.sessions[id].Counts)
			b.gone++
			delete(b.sessions, id)
		}
	}
	if len(b.days) > maxDays {
		days := slices.Sorted(maps.Keys(b.days))
		for _, d := range days[:len(days)-maxDays*7/8] {
			b.earlier = b.earlier.plus(b.days[d])
			delete(b.days, d)
		}
	}
	b.boundAgents()
}

func (b *book) boundAgents() {
	agents := map[string]Counts{}
	for r, c := range b.tools {
		agents[r.Agent] = agents[r.Agent].plus(c)
	}
	delete(agents, earlierAgents)
	if len(agents) <= maxAgents {
		return
	}
	names := oldest(agents, func(c Counts) time.Time { return c.Last })
	for _, name := range names[:len(names)-maxAgents*7/8] {
		for r, c := range b.tools {
			if r.Agent == name {
				delete(b.tools, r)
				r.Agent = earlierAgents
				b.tools[r] = b.tools[r].plus(c)
			}
		}
	}
}

// oldest lists keys, the longest unused first.
func oldest[V any](m map[string]V, last func(V) time.Time) []string {
	return slices.SortedFunc(maps.Keys(m), func(x, y string) int {
		return cmp.Or(last(m[x]).Compare(last(m[y])), cmp.Compare(x, y))
	})
}

func (b *book) clone() *book {
	c := *b
	c.tools, c.days = maps.Clone(b.tools), maps.Clone(b.days)
	c.sessions = make(map[string]session, len(b.sessions))
	for id, s := range b.sessions {
		s.rows = maps.Clone(s.rows)
		c.sessions[id] = s
	}
	return &c
}
