package op

import "leanctx/tasks"

// Task is the tool of tasks.
func Task(st Stores) *Tool {
	open := st.Tasks
	return &Tool{
		Name: "ctx_task", Command: "task", Title: "Tasks of the project",
		Summary: "Give work to other agents of this project and follow it.",
		Words: Words{
			"state": "Working, InputRequired, Completed, Failed, Rejected …",
			"after": "task ids it waits for",
		},
		Operations: []Operation{
			New("create", "Create a task for an agent, a type, or whoever claims it.", Adds, on(open, (*tasks.Store).Create), "title").
				Describe("description", "to_agent", "parent", "after").Shown("title", "Fix auth middleware", "to_agent", "claude").Guesses("add", "new", "delegate", "assign"),
			New("update", "Change a task's state.", Changes, on(open, (*tasks.Store).Update), "task_id").
				Describe("state", "message", "artifact").Shown("task_id", "t-a3f8c1", "state", "Working").Guesses("set", "state", "progress", "complete", "done", "finish"),
			New("claim", "Take a free task.", Changes, on(open, (*tasks.Store).Claim), "task_id").
				Describe().ByAgent().Shown("task_id", "t-a3f8c1").Guesses("take", "accept", "start"),
			New("next", "Claim the next free task of the plan, with the results of the tasks before it.", Changes, on(open, (*tasks.Store).Next)).
				Describe().ByAgent().Shown().Guesses("pick", "pull", "ready"),
			New("list", "List tasks, open ones first.", Reads, on(open, (*tasks.Store).List)).Describe("state", "agent_id").Shown("state", "open").Guesses("tasks", "all"),
			New("get", "One task in full.", Reads, on(open, (*tasks.Store).Get), "task_id").Describe().Shown("task_id", "t-a3f8c1").Guesses("show", "read", "view"),
			New("cancel", "Cancel a task.", Changes, on(open, (*tasks.Store).Cancel), "task_id").Describe("message").Shown("task_id", "t-a3f8c1").Guesses("abort", "remove", "delete"),
			New("message", "Write to those who work on it.", Adds, on(open, (*tasks.Store).Message), "task_id", "message").
				Describe().Shown("task_id", "t-a3f8c1", "message", "the token is in the vault").Guesses("comment", "reply", "say"),
			New("import", "Make tasks of a Markdown checklist or of beads' issues.", Changes, on(open, (*tasks.Store).Import), "file").ReadsFile("file").
				Shown("file", "PLAN.md").Guesses("plan", "load"),
			New("export", "Print the tasks as a Markdown checklist, or write them to a file.", Adds, on(open, (*tasks.Store).Export)).WritesFile("file").
				Shown("file", "PLAN.md").Guesses("dump"),
			New("info", "Counts by state, and the agent card.", Reads, on(open, (*tasks.Store).Info)).Shown().Guesses("card", "stats"),
		},
	}
}
