package op

import "leanctx/overview"

// Overview is the tool that finds the project's files for a task. It has no actions.
func Overview(st Stores) *Tool {
	return &Tool{
		Name: "ctx_overview", Command: "overview", Title: "Project overview",
		Summary: "Which files of this project matter for a task, and the briefing. Ask before you list or read files.",
		Hint:    "project overview: relevant files, structure",
		Words:   Words{"task": "what you are about to do", "path": "only this directory"},
		Operations: []Operation{
			New("", "The project's files in tiers for a task, and the briefing.", Reads, on(st.Overview, (*overview.Map).Overview)).
				Describe("task", "path", "budget").Shown("task", "fix the refresh of expired tokens"),
		},
	}
}
