package op

import "leanctx/agents/cost"

// Cost is the tool of what the calls to this program cost.
func Cost(st Stores) *Tool {
	open := st.Costs
	return &Tool{
		Name: "ctx_cost", Command: "cost", Title: "Token costs",
		Summary: "What the calls to lean-ctx in this project cost in tokens, in and out, by agent, tool, session and day.",
		Hint:    "token cost, usage, attribution by agent and tool",
		Words:   Words{"agent_id": "whose calls: an agent's id", "limit": "most rows to show"},
		Operations: []Operation{
			New("report", "Tokens by agent and by tool.", Reads, on(open, (*cost.Ledger).Report)).Shown().Tried("summary", "total", "usage"),
			New("agent", "What one agent's calls cost, by tool.", Reads, on(open, (*cost.Ledger).Agent), "agent_id").
				Shown("agent_id", "cursor-a3f8").Tried("by_agent"),
			New("tool", "What each tool and action costs.", Reads, on(open, (*cost.Ledger).Tool)).Shown().Tried("tools", "by_tool"),
			New("session", "What this session costs.", Reads, on(open, (*cost.Ledger).Session)).Shown().Tried("current"),
			New("json", "Everything that is counted, as data.", Reads, on(open, (*cost.Ledger).JSON)).Shown().Tried("export", "raw"),
			New("reset", "Begin counting anew.", Destroys, on(open, (*cost.Ledger).Reset)).Shown("confirm", true).Tried("clear", "delete"),
		},
	}
}

// TokenReport is the session's costs under the name by which scripts know
// them: lean-ctx token-report --json.
func TokenReport(st Stores) *Tool {
	return &Tool{
		Name: "token-report", Command: "token-report", Summary: "The session's tokens, with their counters.",
		Operations: []Operation{New("", "The session's tokens, with their counters.", Reads, on(st.Costs, (*cost.Ledger).Session))},
	}
}
