package op

import (
	"context"
	"path/filepath"

	"leanctx/overview"
)

// Overview is the tool that finds the project's files for a task. It has no actions.
func Overview(st Stores) *Tool {
	return &Tool{
		Name: "ctx_overview", Command: "overview", Title: "Project overview",
		Summary: "Which files of this project matter for a task, and the briefing. Ask before you list or read files.",
		Hint:    "project overview: relevant files, structure",
		Words:   Words{"task": "what you are about to do", "path": "only this directory"},
		Operations: []Operation{
			New("", "The project's files in tiers for a task, and the briefing.", Reads, overviewOf(st.Overview)).
				Describe("task", "path", "budget").Shown("task", "fix the refresh of expired tokens"),
		},
	}
}

// overviewOf runs an overview in the project that path names, if that is an absolute path outside of
// the caller's own one. The caller may reach as much by it as by project.
func overviewOf(open func(context.Context, Scope) (*overview.Map, error)) func(context.Context, Scope, overview.Inquiry) (overview.Overview, error) {
	run := on(open, (*overview.Map).Overview)
	return func(ctx context.Context, sc Scope, q overview.Inquiry) (overview.Overview, error) {
		if named := sc.Project != "" && (sc.Grant == nil || sc.Project != sc.Grant.Project); !named && filepath.IsAbs(q.Path) {
			if own, err := open(ctx, sc); err != nil || !own.Holds(q.Path) {
				sc.Project = q.Path
			}
		}
		return run(ctx, sc, q)
	}
}
