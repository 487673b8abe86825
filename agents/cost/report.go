package cost

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

const defaultLimit = 10

// Report is the cost of the project's calls.
type Report struct {
	Total  Counts    `json:"total"`
	Since  time.Time `json:"since,omitzero"` // the last reset
	Agent  string    `json:"agent,omitempty"`
	Agents []Share   `json:"by_agent,omitzero"`
	Tools  []Share   `json:"by_tool,omitzero"`
	Days   []Share   `json:"by_day,omitzero"` // UTC, the newest first

	limit int
}

// ReportQuery is the arguments of report.
type ReportQuery struct {
	Limit   int    `json:"limit,omitempty" jsonschema:"most agents and tools to show (default 10)"`
	AgentID string `json:"agent_id,omitempty" jsonschema:"only the calls of this agent"`
	By      string `json:"by,omitempty" enum:"agent,tool,day" jsonschema:"one list only: by agent, by tool, or by day, the newest first (default: by agent and by tool)"`
}

// Report sums the project's costs by agent and by tool, or by one of agent, tool and day.
func (u *Usage) Report(ctx context.Context, q ReportQuery) (Report, error) {
	limit, err := refusal.Limit(q.Limit, defaultLimit)
	if err != nil {
		return Report{}, err
	}
	t, err := u.totals(ctx)
	if err != nil {
		return Report{}, err
	}
	r := Report{Since: t.since, limit: limit}
	rows := t.rows
	if q.AgentID = clean(q.AgentID); q.AgentID != "" {
		if r.Agent, err = t.agent(q.AgentID); err != nil {
			return Report{}, err
		}
		rows = t.where(func(k key) bool { return k.Agent == r.Agent })
	}
	r.Total = sum(rows)
	by := strings.ToLower(strings.TrimSpace(q.By))
	if !slices.Contains([]string{"", "agent", "tool", "day"}, by) {
		return Report{}, refusal.Argument("by", "by %q is none of agent, tool, day", prose.Clip(q.By, 40))
	}
	if by == "" || by == "agent" {
		r.Agents = shares(rows, byAgent)
	}
	if by == "" || by == "tool" {
		r.Tools = shares(rows, byTool)
	}
	if by == "day" {
		r.Days = shares(rows, byDay)
		slices.SortFunc(r.Days, func(x, y Share) int { return cmp.Compare(y.Name, x.Name) })
	}
	return r, nil
}

// Text gives the answer's lines.
func (r Report) Text() string { return r.TextIn(prose.MCP) }

// TextIn is Text with suggested calls in the caller's syntax.
func (r Report) TextIn(call prose.Syntax) string {
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
		list(&b, call, "By Agent:", agentColumn, r.Agents, r.limit)
	}
	if r.Tools != nil {
		list(&b, call, "By Tool:", toolColumn, r.Tools, r.limit)
	}
	if r.Days != nil {
		list(&b, call, "By Day:", 0, r.Days, r.limit)
	}
	estimated(&b, r.Total)
	return b.String()
}

// agent finds the agent with an id or a prefix of one.
func (t *totals) agent(name string) (string, error) {
	var found []string
	for _, s := range shares(t.rows, byAgent) {
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

// AgentQuery is the arguments of agent.
type AgentQuery struct {
	AgentID string `json:"agent_id,omitempty" arg:"1" jsonschema:"the agent's id, or a prefix of it"`
}

// AgentCosts is the cost of one agent's calls.
type AgentCosts struct {
	Agent string  `json:"agent"`
	Total Counts  `json:"total"`
	Tools []Share `json:"by_tool"`
}

// Agent sums the cost of one agent's calls.
func (u *Usage) Agent(ctx context.Context, q AgentQuery) (AgentCosts, error) {
	name := cmp.Or(clean(q.AgentID), u.actor.Agent, u.actor.Client)
	if name == "" {
		return AgentCosts{}, refusal.Missing("agent_id", "")
	}
	t, err := u.totals(ctx)
	if err != nil {
		return AgentCosts{}, err
	}
	id, err := t.agent(name)
	if err != nil {
		return AgentCosts{}, err
	}
	rows := t.where(func(k key) bool { return k.Agent == id })
	return AgentCosts{id, sum(rows), shares(rows, byTool)}, nil
}

// Text gives the answer's lines.
func (a AgentCosts) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Agent %s: %s", a.Agent, summary(a.Total))
	list(&b, prose.MCP, "By Tool:", toolColumn, a.Tools, len(a.Tools))
	estimated(&b, a.Total)
	return b.String()
}

// maxSessions is the maximum number of sessions in a list.
const maxSessions = 500

// Everything is all recorded costs of the project.
type Everything struct {
	Project  string    `json:"project_hash"`
	Root     string    `json:"project_root,omitempty"`
	Since    time.Time `json:"since,omitzero"`
	Total    Counts    `json:"total"`
	Agents   []Share   `json:"by_agent"`
	Tools    []Share   `json:"by_tool"`
	Days     []Share   `json:"by_day"`                  // the oldest first
	Sessions []Share   `json:"by_session"`              // the newest first
	Older    Counts    `json:"older_sessions,omitzero"` // those beyond 500
}

// JSONQuery is the argument of json: nothing.
type JSONQuery struct{}

// JSON gives all totals: by agent, tool, day and session.
func (u *Usage) JSON(ctx context.Context, _ JSONQuery) (Everything, error) {
	t, err := u.totals(ctx)
	if err != nil {
		return Everything{}, err
	}
	e := Everything{
		Project: u.opts.ProjectHash, Root: u.opts.ProjectRoot, Since: t.since, Total: sum(t.rows),
		Agents: shares(t.rows, byAgent), Tools: shares(t.rows, byTool), Days: shares(t.rows, byDay), Sessions: shares(t.rows, bySession),
	}
	slices.SortFunc(e.Days, func(a, b Share) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortStableFunc(e.Sessions, func(a, b Share) int { return b.Last.Compare(a.Last) })
	for _, s := range e.Sessions[min(maxSessions, len(e.Sessions)):] {
		e.Older = e.Older.plus(s.Counts)
	}
	e.Sessions = e.Sessions[:min(maxSessions, len(e.Sessions))]
	return e, nil
}

// Text is the JSON itself.
func (e Everything) Text() string {
	out, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return err.Error() // unreachable: numbers and strings can be encoded
	}
	return string(out)
}

// ToolQuery is the arguments of tool.
type ToolQuery struct {
	Limit int `json:"limit,omitempty" jsonschema:"most tools to show (default 10)"`
}

// Tools is the cost of each tool.
type Tools struct {
	Total Counts      `json:"total"`
	Tools []ToolShare `json:"by_tool"`

	limit int
}

// ToolShare is the cost of a tool and of each of its actions.
type ToolShare struct {
	Share
	Actions []Share `json:"by_action"`
}

// Tool sums the project's costs by tool and action.
func (u *Usage) Tool(ctx context.Context, q ToolQuery) (Tools, error) {
	limit, err := refusal.Limit(q.Limit, defaultLimit)
	if err != nil {
		return Tools{}, err
	}
	all, err := u.totals(ctx)
	if err != nil {
		return Tools{}, err
	}
	t := Tools{Total: sum(all.rows), Tools: []ToolShare{}, limit: limit}
	for _, s := range shares(all.rows, byTool) {
		t.Tools = append(t.Tools, ToolShare{s, shares(all.where(func(k key) bool { return k.Tool == s.Name }), byAction)})
	}
	return t, nil
}

// Text gives the answer's lines.
func (t Tools) Text() string { return t.TextIn(prose.MCP) }

// TextIn is Text with suggested calls in the caller's syntax.
func (t Tools) TextIn(call prose.Syntax) string {
	if len(t.Tools) == 0 {
		return "No calls recorded."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Tool costs (%s tokens, %s):", prose.Number(t.Total.Tokens()), prose.Count(t.Total.Calls, "call"))
	for _, s := range t.Tools[:min(len(t.Tools), t.limit)] {
		fmt.Fprintf(&b, "\n  %s: %s tok (%.1f%%), in %s, out %s, %s", named(s.Name), prose.Number(s.Tokens()), s.Percent,
			prose.Number(s.In), prose.Number(s.Out), prose.Count(s.Calls, "call"))
		for _, a := range s.Actions {
			if a.Name != "" {
				fmt.Fprintf(&b, "\n    %s: %s tok (%.1f%%), %s", a.Name, prose.Number(a.Tokens()), a.Percent, prose.Count(a.Calls, "call"))
			}
		}
	}
	b.WriteString(prose.More(call, len(t.Tools)-t.limit, t.limit))
	estimated(&b, t.Total)
	return b.String()
}

// SessionQuery is the arguments of session.
type SessionQuery struct {
	SessionID string `json:"session_id,omitempty" arg:"1" jsonschema:"the session's id (default: this one, or else the most recent one)"`
}

// SessionCosts is the cost of one session, and its counters.
type SessionCosts struct {
	Session string    `json:"session"`
	Started time.Time `json:"started,omitzero"`
	Total   Counts    `json:"total"`
	Agents  []Share   `json:"by_agent"`
	Tools   []Share   `json:"by_tool"`

	// How often a call of the session named or took up a task.
	Explicit int64 `json:"intents_explicit"` // the call named its task
	Inferred int64 `json:"intents_inferred"` // the call took up a task of the project
}

// Session sums the cost of a session's calls. A command has no session: its user means the most
// recent one of the agent that runs it, or else of any agent. Only if no agent had a session,
// the commands themselves are shown.
func (u *Usage) Session(ctx context.Context, q SessionQuery) (SessionCosts, error) {
	t, err := u.totals(ctx)
	if err != nil {
		return SessionCosts{}, err
	}
	id := clean(q.SessionID)
	of := func(id string) map[key]Counts { return t.where(func(k key) bool { return k.Session == id }) }
	rows := of(cmp.Or(id, u.actor.Session))
	switch {
	case len(rows) > 0 && (id != "" || u.actor.Session != "") || id == "" && u.opts.LongLived:
		id = cmp.Or(id, u.actor.Session)
	case id != "":
		return SessionCosts{}, refusal.NotFound("No costs recorded for session %s", id)
	default:
		id = cmp.Or(t.lastWork(func(k key) bool { return u.actor.Agent != "" && k.Agent == u.actor.Agent }),
			t.lastWork(func(k key) bool { return k.Agent != "" }), t.lastWork(func(key) bool { return true }), u.actor.Session)
		rows = of(id)
	}
	total := sum(rows)
	return SessionCosts{
		Session: id, Started: total.First, Total: total, Agents: shares(rows, byAgent), Tools: shares(rows, byTool),
		Explicit: t.intents[id][Explicit], Inferred: t.intents[id][Inferred],
	}, nil
}

// lastWork is the session of the newest call of the wanted ones, or nothing. Sessions that only
// asked what they cost are left out.
func (t *totals) lastWork(wanted func(key) bool) string {
	work := shares(t.where(func(k key) bool { return k.Session != "" && k.Tool != toolName && wanted(k) }), bySession)
	if len(work) == 0 {
		return ""
	}
	return slices.MaxFunc(work, func(a, b Share) int { return cmp.Or(a.Last.Compare(b.Last), cmp.Compare(a.Name, b.Name)) }).Name
}

// toolName is the tool that reports costs.
const toolName = "ctx_cost"

// Text gives the answer's lines.
func (s SessionCosts) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Session %s: %s", named(s.Session), summary(s.Total))
	if s.Total.Calls == 0 {
		return b.String()
	}
	list(&b, prose.MCP, "By Agent:", agentColumn, s.Agents, len(s.Agents))
	list(&b, prose.MCP, "By Tool:", toolColumn, s.Tools, len(s.Tools))
	if s.Explicit+s.Inferred > 0 {
		fmt.Fprintf(&b, "\n\n  Intents: %d explicit, %d inferred", s.Explicit, s.Inferred)
	}
	estimated(&b, s.Total)
	return b.String()
}

// Reset is the argument of reset: nothing.
type Reset struct{}

// NeedsConfirm says why the operation asks for confirmation.
func (Reset) NeedsConfirm() string { return "a reset deletes all token counts of the project" }

// Forgotten is the result of reset.
type Forgotten struct {
	Total Counts    `json:"total"`
	At    time.Time `json:"at"`
}

// Reset drops the project's costs. Calls recorded while it runs are either dropped or
// counted afterwards, never both.
func (u *Usage) Reset(ctx context.Context, _ Reset) (Forgotten, error) {
	t, err := u.totals(ctx)
	if err != nil {
		return Forgotten{}, err
	}
	f := Forgotten{Total: sum(t.rows), At: u.opts.Now().UTC()}
	return f, u.append([]line{{At: f.At.UnixMilli(), Project: u.opts.ProjectHash, Reset: true}}, true)
}

// Text gives the answer's line.
func (f Forgotten) Text() string {
	return fmt.Sprintf("Costs reset: %s in %s forgotten.", prose.Count(f.Total.Tokens(), "token"), prose.Count(f.Total.Calls, "call"))
}

// Minimum widths of the name columns in a report, in characters.
const (
	agentColumn = 13
	toolColumn  = 18
)

// list writes one section of a report.
func list(b *strings.Builder, call prose.Syntax, title string, column int, shares []Share, limit int) {
	shown := shares[:min(len(shares), limit)]
	digits := 0
	for _, s := range shown {
		column = max(column, utf8.RuneCountInString(named(s.Name)))
		digits = max(digits, len(prose.Number(s.Tokens())))
	}
	b.WriteString("\n\n  " + title)
	for _, s := range shown {
		pad := strings.Repeat(" ", column-utf8.RuneCountInString(named(s.Name)))
		fmt.Fprintf(b, "\n    %s%s  %*s tok (%.1f%%)", named(s.Name), pad, digits, prose.Number(s.Tokens()), s.Percent)
	}
	b.WriteString(prose.More(call, len(shares)-limit, limit))
}

// estimated notes how many of the tokens are estimated from a size.
func estimated(b *strings.Builder, c Counts) {
	if c.Estimated > 0 {
		fmt.Fprintf(b, "\n\n  Of these, %s estimated from bytes alone.", prose.Count(c.Estimated, "token"))
	}
}

func summary(c Counts) string {
	return fmt.Sprintf("%s (in %s, out %s) in %s", prose.Count(c.Tokens(), "token"), prose.Number(c.In), prose.Number(c.Out), prose.Count(c.Calls, "call"))
}

func named(name string) string { return cmp.Or(name, "(unnamed)") }
