package op

import "leanctx/tasks"

// Task is the tool of the work that agents give each other.
func Task(st Stores) *Tool {
	open := st.Tasks
	return &Tool{
		Name: "ctx_task", Command: "task", Title: "Tasks of the project",
		Summary: "Give work to other agents of this project and follow it: states of A2A 1.0, messages, history, results.",
		Hint:    "multi-agent tasks: create, assign, delegate, claim, update, complete, list",
		Words: Words{
			"task_id":  "the task's id, or the beginning of it",
			"message":  "why, or what came of it",
			"to_agent": "who is to do it: an agent's id, the beginning of one, or a type",
			"state":    "Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected; list also: open, closed, all",
			"limit":    "most rows to show",
		},
		Operations: []Operation{
			New("create", "Make a task, for an agent, a type, or whoever claims it.", Adds, on(open, (*tasks.Store).Create), "title").
				Shown("title", "Fix auth middleware", "to_agent", "claude").Tried("add", "new", "delegate", "assign"),
			New("update", "Say how a task stands.", Changes, on(open, (*tasks.Store).Update), "task_id").
				Shown("task_id", "t-a3f8c1", "state", "Working").
				Instead("state", "message", "task_id", "t-a3f8c1", "message", "the token is in the vault").Tried("set", "state", "progress", "complete", "done", "finish"),
			New("claim", "Take a task that is free, or open to your type.", Changes, on(open, (*tasks.Store).Claim), "task_id").
				Shown("task_id", "t-a3f8c1").Tried("take", "accept", "start"),
			New("list", "The tasks, open ones first.", Reads, on(open, (*tasks.Store).List)).Shown("state", "open").Tried("tasks", "all"),
			New("get", "All about one task.", Reads, on(open, (*tasks.Store).Get), "task_id").Shown("task_id", "t-a3f8c1").Tried("show", "read", "view"),
			New("cancel", "Call a task off.", Changes, on(open, (*tasks.Store).Cancel), "task_id").Shown("task_id", "t-a3f8c1").Tried("abort", "remove", "delete"),
			New("message", "Say something to those who work on it.", Adds, on(open, (*tasks.Store).Message), "task_id", "message").
				Shown("task_id", "t-a3f8c1", "message", "the token is in the vault").Tried("comment", "reply", "say"),
			New("info", "Counts by state, and the agent card.", Reads, on(open, (*tasks.Store).Info)).Shown().Tried("card", "stats"),
		},
	}
}
