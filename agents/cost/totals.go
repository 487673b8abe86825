package cost

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"
)

// Counts is the cost of some calls.
type Counts struct {
	Calls     int64     `json:"calls"`
	In        int64     `json:"tokens_in"`
	Out       int64     `json:"tokens_out"`
	Estimated int64     `json:"tokens_estimated"` // part of in and out that is a quarter of the bytes
	BytesIn   int64     `json:"bytes_in"`
	BytesOut  int64     `json:"bytes_out"`
	First     time.Time `json:"first_used,omitzero"`
	Last      time.Time `json:"last_used,omitzero"`
}

// Tokens is the sum of in and out.
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

// LastSession is when the last session before the present one began, of an agent or
// else of its client; zero if there was none. A call by a command, which has no session,
// is one by itself. An empty name is that of callers without a name.
func (u *Usage) LastSession(ctx context.Context, agent, present string) (time.Time, error) {
	t, err := u.read(ctx)
	if err != nil {
		return time.Time{}, err
	}
	client := agent
	for k := range t.rows {
		if k.Session == present && present != "" && k.Agent == agent && k.Client != "" {
			client = k.Client
		}
	}
	at := t.lastSession(present, func(k key) bool { return k.Agent == agent && (agent != "" || k.Client == "") })
	if at.IsZero() && client != "" {
		at = t.lastSession(present, func(k key) bool { return k.Client == client })
	}
	return at, nil
}

// lastSession is when the session began that ended last, of those but the present one
// that have wanted rows.
func (t *totals) lastSession(present string, wanted func(key) bool) time.Time {
	var last Counts
	for _, s := range shares(t.where(func(k key) bool { return wanted(k) && (present == "" || k.Session != present) }), bySession) {
		if s.Name == "" {
			s.First = s.Last // each call without a session is one by itself
		}
		if s.Last.After(last.Last) {
			last = s.Counts
		}
	}
	return last.First
}

// key is everything known about a call except its time of day.
type key struct{ Session, Agent, Client, Tool, Action, Day string }

// totals is the cost of one project's calls.
type totals struct {
	since   time.Time // the last reset, zero if there was none
	rows    map[key]Counts
	intents map[string]map[Intent]int64 // by session
}

func newTotals() *totals {
	return &totals{rows: map[key]Counts{}, intents: map[string]map[Intent]int64{}}
}

func (t *totals) add(n *line) {
	at := time.UnixMilli(n.At).UTC()
	c := Counts{
		Calls: 1, In: int64(n.In), Out: int64(n.Out),
		BytesIn: int64(n.BytesIn), BytesOut: int64(n.BytesOut), First: at, Last: at,
	}
	if n.Estimated {
		c.Estimated = c.Tokens()
	}
	k := key{n.Session, n.Agent, n.Client, n.Tool, n.Action, at.Format(time.DateOnly)}
	t.rows[k] = t.rows[k].plus(c)
	if n.Intent != Unstated {
		if t.intents[n.Session] == nil {
			t.intents[n.Session] = map[Intent]int64{}
		}
		t.intents[n.Session][n.Intent]++
	}
}

// attribute completes calls. One without a session is a command: it gets the session of the agent that
// ran it. One without an agent gets the single agent of its session, else its client.
func (t *totals) attribute() {
	t.attributeCommands()
	type agents struct {
		name    string
		several bool
	}
	bySession := map[string]agents{}
	for k := range t.rows {
		if a, known := bySession[k.Session]; k.Agent != "" && k.Session != "" {
			bySession[k.Session] = agents{k.Agent, a.several || known && a.name != k.Agent}
		}
	}
	rows := make(map[key]Counts, len(t.rows))
	for k, c := range t.rows {
		if a := bySession[k.Session]; k.Agent == "" && !a.several {
			k.Agent = a.name
		}
		k.Agent, k.Client = cmp.Or(k.Agent, k.Client), ""
		rows[k] = rows[k].plus(c)
	}
	t.rows = rows
}

// attributeCommands gives each command the session that its agent, or else its client, had on
// that day: the last one of an agent, the only one of a client.
func (t *totals) attributeCommands() {
	type worker struct{ agent, client, day string }
	type session struct {
		name    string
		last    time.Time
		several bool
	}
	sessions := map[worker]session{}
	for k, c := range t.rows {
		if k.Session == "" {
			continue
		}
		for _, w := range [...]worker{{agent: k.Agent, day: k.Day}, {client: k.Client, day: k.Day}} {
			if w.agent == "" && w.client == "" {
				continue
			}
			s, known := sessions[w]
			s.several = s.several || known && s.name != k.Session
			if !known || c.Last.After(s.last) || c.Last.Equal(s.last) && k.Session > s.name {
				s.name, s.last = k.Session, c.Last
			}
			sessions[w] = s
		}
	}
	rows := make(map[key]Counts, len(t.rows))
	for k, c := range t.rows {
		if k.Session == "" && k.Agent != "" {
			k.Session = sessions[worker{agent: k.Agent, day: k.Day}].name
		}
		if s := sessions[worker{client: k.Client, day: k.Day}]; k.Session == "" && k.Agent == "" && k.Client != "" && !s.several {
			k.Session = s.name
		}
		rows[k] = rows[k].plus(c)
	}
	t.rows = rows
}

// where selects rows.
func (t *totals) where(wanted func(key) bool) map[key]Counts {
	rows := map[key]Counts{}
	for k, c := range t.rows {
		if wanted(k) {
			rows[k] = c
		}
	}
	return rows
}

func sum(rows map[key]Counts) (total Counts) {
	for _, c := range rows {
		total = total.plus(c)
	}
	return total
}

// Share is one row of a list, with its percentage.
type Share struct {
	Name string `json:"name"`
	Counts
	Percent float64 `json:"percent"` // of the tokens of the list, rounded to tenths
}

func byAgent(k key) string   { return k.Agent }
func byTool(k key) string    { return k.Tool }
func byAction(k key) string  { return k.Action }
func byDay(k key) string     { return k.Day }
func bySession(k key) string { return k.Session }

// shares sums rows by a name, the most expensive first.
func shares(rows map[key]Counts, by func(key) string) []Share {
	sums := map[string]Counts{}
	for k, c := range rows {
		sums[by(k)] = sums[by(k)].plus(c)
	}
	out := make([]Share, 0, len(sums))
	for name, c := range sums {
		out = append(out, Share{Name: name, Counts: c})
	}
	slices.SortFunc(out, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Tokens(), a.Tokens()), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
	if total := sum(rows).Tokens(); total > 0 {
		for i := range out {
			out[i].Percent = math.Round(1000*float64(out[i].Tokens())/float64(total)) / 10
		}
	}
	return out
}
