package cost

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

const (
	defaultLimit = 10
	maxLimit     = 1000
)

// Share is a part of a whole.
type Share struct {
	Name string `json:"name"`
	Counts
	Percent float64 `json:"percent"` // of the tokens of the list, in tenths; a whole list adds up to 100
}

// Report is what everything cost.
type Report struct {
	Total  Counts    `json:"total"`
	Since  time.Time `json:"since,omitzero"` // of the last reset
	Agent  string    `json:"agent,omitempty"`
	Agents []Share   `json:"by_agent,omitzero"`
	Tools  []Share   `json:"by_tool,omitzero"`
	Days   []Share   `json:"by_day,omitzero"` // UTC, the newest first; days that are no longer kept apart come last, as one

	limit int
}

// ReportQuery asks for a report.
type ReportQuery struct {
	Limit   int    `json:"limit,omitempty" jsonschema:"how many agents and tools to show (default 10)"`
	AgentID string `json:"agent_id,omitempty" jsonschema:"only the calls of this agent"`
	By      string `json:"by,omitempty" enum:"agent,tool,day" jsonschema:"one list only: by agent, by tool, or by day, the newest first (default: by agent and by tool)"`
}

// Report sums the project's costs up by agent and by tool, or by one of agent,
// tool and day. Days are not kept by agent.
func (l *Ledger) Report(ctx context.Context, q ReportQuery) (Report, error) {
	limit, err := limited(q.Limit)
	if err != nil {
		return Report{}, err
	}
	b, err := l.book(ctx)
	if err != nil {
		return Report{}, err
	}
	r := Report{Since: b.since, limit: limit}
	if q.AgentID = clean(q.AgentID); q.AgentID != "" {
		if r.Agent, err = b.agent(q.AgentID); err != nil {
			return Report{}, err
		}
	}
	rows := b.of(r.Agent)
	r.Total = total(rows)
	return r, r.split(b, rows, q.By)
}

// split sums rows up by what was asked for.
func (r *Report) split(b *book, rows map[row]Counts, by string) error {
	word := strings.ToLower(strings.TrimSpace(by))
	switch word {
	case "", "agent", "tool":
	case "day":
		if r.Agent != "" {
			return refusal.Argument("by", "days are not kept by agent: leave out agent_id or by")
		}
		r.Days = b.byDay()
	default:
		return refusal.Argument("by", "by %q is none of agent, tool, day", prose.Clip(by, 40))
	}
	if word == "" || word == "agent" {
		r.Agents = shares(rows, func(k row) string { return k.Agent })
	}
	if word == "" || word == "tool" {
		r.Tools = shares(rows, func(k row) string { return k.Tool })
	}
	return nil
}

// earlierDays is the row of days that are no longer kept apart.
const earlierDays = "(earlier)"

// byDay is what each day cost, the newest first.
func (b *book) byDay() []Share {
	days := maps.Clone(b.days)
	if b.earlier.Calls > 0 {
		days[earlierDays] = b.earlier
	}
	list := ranked(days)
	slices.SortFunc(list, func(x, y Share) int { return cmp.Compare(y.Name, x.Name) }) // "(" comes before all digits
	return list
}

func limited(limit int) (int, error) {
	if limit < 0 || limit > maxLimit {
		return 0, refusal.Argument("limit", "limit %d is not in 1..%d", limit, maxLimit)
	}
	return cmp.Or(limit, defaultLimit), nil
}

// Text gives the answer's lines.
func (r Report) Text() string {
	var b strings.Builder
	b.WriteString("COST ATTRIBUTION REPORT")
	if r.Agent != "" {
		b.WriteString(" - " + r.Agent)
	}
	fmt.Fprintf(&b, "\n  Total tokens: %s", prose.Number(r.Total.Tokens()))
	if r.Total.Calls == 0 {
		b.WriteString("\n\n  No calls recorded.")
		return b.String()
	}
	if r.Agent == "" && r.Agents != nil {
		list(&b, "By Agent:", agentColumn, r.Agents, r.limit)
	}
	if r.Tools != nil {
		list(&b, "By Tool:", toolColumn, r.Tools, r.limit)
	}
	if r.Days != nil {
		list(&b, "By Day:", len(earlierDays), r.Days, r.limit)
	}
	estimated(&b, r.Total)
	return b.String()
}

// of is the rows of one agent, or of all.
func (b *book) of(agent string) map[row]Counts {
	if agent == "" {
		return b.tools
	}
	rows := maps.Clone(b.tools)
	maps.DeleteFunc(rows, func(r row, _ Counts) bool { return r.Agent != agent })
	return rows
}

// agent finds the agent that an id or the beginning of one means.
func (b *book) agent(name string) (string, error) {
	var found []string
	for _, s := range shares(b.tools, func(r row) string { return r.Agent }) {
		if s.Name == name {
			return name, nil
		}
		if strings.HasPrefix(s.Name, name) {
			found = append(found, s.Name)
		}
	}
	switch len(found) {
	case 0:
		return "", refusal.NotFound("No costs recorded for agent %s", name)
	case 1:
		return found[0], nil
	}
	slices.Sort(found)
	return "", refusal.Argument("agent_id", "agent_id %q is ambiguous: %s or %s", name, found[0], found[1])
}

func total(rows map[row]Counts) (sum Counts) {
	for _, c := range rows {
		sum = sum.plus(c)
	}
	return sum
}

// shares sums rows up by a name, the dearest first.
func shares(rows map[row]Counts, by func(row) string) []Share {
	sums := map[string]Counts{}
	for r, c := range rows {
		sums[by(r)] = sums[by(r)].plus(c)
	}
	return ranked(sums)
}

func ranked(sums map[string]Counts) []Share {
	out := make([]Share, 0, len(sums))
	for name, c := range sums {
		out = append(out, Share{Name: name, Counts: c})
	}
	slices.SortFunc(out, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Tokens(), a.Tokens()), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
	tokens := make([]int64, len(out))
	for i := range out {
		tokens[i] = out[i].Tokens()
	}
	for i, tenths := range percentages(tokens) {
		out[i].Percent = float64(tenths) / 10
	}
	return out
}

// AgentQuery names an agent.
type AgentQuery struct {
	AgentID string `json:"agent_id,omitempty" arg:"1" jsonschema:"the agent's id, or the beginning of it (default: who asks)"`
}

// AgentCosts is what one agent's calls cost.
type AgentCosts struct {
	Agent string  `json:"agent"`
	Total Counts  `json:"total"`
	Tools []Share `json:"by_tool"`
}

// Agent sums up what one agent's calls cost.
func (l *Ledger) Agent(ctx context.Context, q AgentQuery) (AgentCosts, error) {
	name := cmp.Or(clean(q.AgentID), l.actor.Agent, l.actor.Client)
	if name == "" {
		return AgentCosts{}, refusal.Argument("agent_id", "needs agent_id")
	}
	b, err := l.book(ctx)
	if err != nil {
		return AgentCosts{}, err
	}
	a := AgentCosts{}
	if a.Agent, err = b.agent(name); err != nil {
		return AgentCosts{}, err
	}
	rows := b.of(a.Agent)
	a.Total, a.Tools = total(rows), shares(rows, func(r row) string { return r.Tool })
	return a, nil
}

// Text gives the answer's lines.
func (a AgentCosts) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Agent %s: %s", a.Agent, summary(a.Total))
	list(&b, "By Tool:", toolColumn, a.Tools, len(a.Tools))
	estimated(&b, a.Total)
	return b.String()
}

// Everything is all that the ledger knows of the project.
type Everything struct {
	Project  string    `json:"project_hash"`
	Root     string    `json:"project_root,omitempty"`
	Since    time.Time `json:"since,omitzero"`
	Total    Counts    `json:"total"`
	Agents   []Share   `json:"by_agent"`
	Tools    []Share   `json:"by_tool"`
	Days     []Share   `json:"by_day"`     // the oldest first
	Sessions []Share   `json:"by_session"` // the newest first
	Older    Counts    `json:"older_sessions,omitzero"`
	Earlier  Counts    `json:"earlier_days,omitzero"`
}

// JSONQuery asks for everything; it has no arguments.
type JSONQuery struct{}

// JSON gives all totals: by agent, tool, day and session.
func (l *Ledger) JSON(ctx context.Context, _ JSONQuery) (Everything, error) {
	b, err := l.book(ctx)
	if err != nil {
		return Everything{}, err
	}
	e := Everything{
		Project: l.opts.ProjectHash, Root: cmp.Or(l.opts.ProjectRoot, b.root), Since: b.since, Total: total(b.tools),
		Agents: shares(b.tools, func(r row) string { return r.Agent }), Tools: shares(b.tools, func(r row) string { return r.Tool }),
		Days: ranked(b.days), Older: b.older, Earlier: b.earlier,
	}
	slices.SortFunc(e.Days, func(a, b Share) int { return cmp.Compare(a.Name, b.Name) })
	sums := make(map[string]Counts, len(b.sessions))
	for id, s := range b.sessions {
		sums[id] = s.Counts
	}
	e.Sessions = ranked(sums)
	slices.SortStableFunc(e.Sessions, func(a, b Share) int { return b.Last.Compare(a.Last) })
	return e, nil
}

// Text is the JSON itself.
func (e Everything) Text() string {
	out, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return err.Error() // numbers and strings cannot do this
	}
	return string(out)
}
