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
			New("report", "Tokens by agent and by tool.", Reads, on(open, (*cost.Usage).Report)).Shown().Tried("summary", "total", "usage"),
			New("agent", "What one agent's calls cost, by tool.", Reads, on(open, (*cost.Usage).Agent), "agent_id").
				Shown("agent_id", "cursor-a3f8").Tried("by_agent"),
			New("tool", "What each tool and action costs.", Reads, on(open, (*cost.Usage).Tool)).Shown().Tried("tools", "by_tool"),
			New("session", "What this session costs.", Reads, on(open, (*cost.Usage).Session)).Shown().Tried("current"),
			New("json", "Everything that is counted, as data.", Reads, on(open, (*cost.Usage).JSON)).Shown().Tried("export", "raw"),
			New("reset", "Begin counting anew.", Destroys, on(open, (*cost.Usage).Reset)).Shown("confirm", true).Tried("clear", "delete"),
		},
	}
}

// TokenReportName is the name of the tool that [TokenReport] makes.
const TokenReportName = "token-report"

// TokenReport is the session's costs under the name by which scripts know
// them: lean-ctx token-report --json.
func TokenReport(st Stores) *Tool {
	return &Tool{
		Name: TokenReportName, Command: TokenReportName, Summary: "Token usage of the current session.",
		Operations: []Operation{New("", "Token usage of the current session.", Reads, on(st.Costs, (*cost.Usage).Session))},
	}
}
