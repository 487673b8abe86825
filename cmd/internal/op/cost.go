package op

import "leanctx/agents/cost"

// Cost is the tool of token counts.
func Cost(st Stores) *Tool {
	open := st.Costs
	return &Tool{
		Name: "ctx_cost", Command: "cost", Title: "Token costs",
		Summary: "Tokens that calls to lean-ctx in this project took.",
		Operations: []Operation{
			New("report", "Tokens by agent and by tool.", Reads, on(open, (*cost.Usage).Report)).Shown().Guesses("summary", "total", "usage"),
			New("agent", "One agent's tokens, by tool.", Reads, on(open, (*cost.Usage).Agent), "agent_id").
				Shown("agent_id", "cursor-a3f8").Guesses("by_agent"),
			New("tool", "Tokens by tool and action.", Reads, on(open, (*cost.Usage).Tool)).Shown().Guesses("tools", "by_tool"),
			New("session", "Tokens of this session.", Reads, on(open, (*cost.Usage).Session)).Shown().Guesses("current"),
			New("json", "All counts as JSON.", Reads, on(open, (*cost.Usage).JSON)).Shown().Guesses("export", "raw"),
			New("reset", "Reset all counts.", Destroys, on(open, (*cost.Usage).Reset)).Shown("confirm", true).Guesses("clear", "delete"),
		},
	}
}

// TokenReportName is the name of the tool that [TokenReport] makes.
const TokenReportName = "token-report"

// TokenReport shows the session's token counts under the name that scripts use:
// lean-ctx token-report --json.
func TokenReport(st Stores) *Tool {
	return &Tool{
		Name: TokenReportName, Command: TokenReportName, Summary: "Token usage of the current session.",
		Operations: []Operation{New("", "Token usage of the current session.", Reads, on(st.Costs, (*cost.Usage).Session))},
	}
}
