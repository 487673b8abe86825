package cost

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"leanctx/internal/prose"
)

// ToolQuery asks for the costs of tools.
type ToolQuery struct {
	Limit int `json:"limit,omitempty" jsonschema:"how many tools to show (default 10)"`
}

// Tools is what each tool cost.
type Tools struct {
	Total Counts      `json:"total"`
	Tools []ToolShare `json:"by_tool"`

	limit int
}

// ToolShare is what a tool cost, and each of its actions.
type ToolShare struct {
	Share
	Actions []Share `json:"by_action"`
}

// Tool sums the project's costs up by tool and action.
func (l *Ledger) Tool(ctx context.Context, q ToolQuery) (Tools, error) {
	limit, err := limited(q.Limit)
	if err != nil {
		return Tools{}, err
	}
	b, err := l.book(ctx)
	if err != nil {
		return Tools{}, err
	}
	t := Tools{Total: total(b.tools), Tools: []ToolShare{}, limit: limit}
	for _, s := range shares(b.tools, func(r row) string { return r.Tool }) {
		rows := maps.Clone(b.tools)
		maps.DeleteFunc(rows, func(r row, _ Counts) bool { return r.Tool != s.Name })
		t.Tools = append(t.Tools, ToolShare{s, shares(rows, func(r row) string { return r.Action })})
	}
	return t, nil
}

// Text gives the answer's lines.
func (t Tools) Text() string {
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
	more(&b, "\n  ", len(t.Tools), t.limit)
	estimated(&b, t.Total)
	return b.String()
}
