package app

import (
	"context"
	"slices"

	"leanctx/agents"
	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/hook"
	"leanctx/cmd/internal/op"
	"leanctx/internal/prose"
	"leanctx/knowledge"
	"leanctx/tasks"
)

// known lists the values of an argument for completion. It opens one store, for reading.
// It ignores errors: a shell would print them into the line that is being typed.
func (r *run) known(ctx context.Context, b cli.Blank) []string {
	r.stores.warn = func(string) {}
	switch b.Argument {
	case "clients":
		return hook.Names()
	case "state":
		if b.Tool == "task" {
			return taskStates(b.Action)
		}
		return []string{"open", "done", "all"}
	case "category":
		if b.Tool == "agent" {
			return agentCategories(b.Action)
		}
		return r.rooms(ctx)
	case "key":
		return r.keys(ctx, b.Category)
	case "agent_type":
		return []string{"claude", "codex", "cursor", "gemini", "copilot", "opencode"}
	case "agent", "agent_id", "to_agent":
		return r.present(ctx)
	case "task_id", "parent":
		return r.openTasks(ctx)
	case "id":
		return r.reminders(ctx, b)
	case "ref", "to":
		return r.projects(ctx, b)
	}
	return nil
}

// taskStates are the states that an agent can set, or list by.
func taskStates(action string) []string {
	states := []string{"Working", "InputRequired", "AuthRequired", "Completed", "Failed", "Canceled", "Rejected"}
	if action == "list" {
		return append([]string{"open", "closed", "all", "Created"}, states...)
	}
	return states
}

func agentCategories(action string) []string {
	if action == "diary" {
		return []string{"discovery", "decision", "blocker", "progress", "insight"}
	}
	return []string{"status", "finding", "warning", "request", "blocker"}
}

// scope is the scope that the flags give.
func (r *run) scope() op.Scope { return op.Scope{Project: r.globals.Project, Agent: r.globals.Agent} }

func (r *run) rooms(ctx context.Context) []string {
	store, err := r.stores.look(ctx, r.scope())
	if err != nil {
		return []string{}
	}
	list, err := store.Rooms(ctx, knowledge.RoomQuery{})
	if err != nil {
		return []string{}
	}
	out := make([]string, len(list.Rooms))
	for i, room := range list.Rooms {
		out[i] = room.Category + "\t" + prose.Count(room.Facts, "fact")
	}
	return out
}

// keys lists the keys of a category.
func (r *run) keys(ctx context.Context, category string) []string {
	store, err := r.stores.look(ctx, r.scope())
	if err != nil {
		return []string{}
	}
	list, err := store.Recall(ctx, knowledge.Question{Category: category, Limit: 200})
	if err != nil {
		return []string{}
	}
	out := make([]string, len(list.Facts))
	for i, f := range list.Facts {
		out[i] = f.Key + "\t" + f.Value
	}
	return out
}

func (r *run) present(ctx context.Context) []string {
	store, err := r.stores.working(r.stores.lookup)(ctx, r.scope())
	if err != nil {
		return []string{}
	}
	p, err := store.As(agents.Actor{}).Presence(ctx)
	if err != nil {
		return []string{}
	}
	out := make([]string, len(p.Agents))
	for i, a := range p.Agents {
		out[i] = a.ID + "\t" + a.Role
	}
	return out
}

func (r *run) openTasks(ctx context.Context) []string {
	store, err := r.stores.doing(r.stores.lookup)(ctx, r.scope())
	if err != nil {
		return []string{}
	}
	list, err := store.List(ctx, tasks.Query{State: "open"})
	if err != nil {
		return []string{}
	}
	out := make([]string, len(list.Tasks))
	for i, t := range list.Tasks {
		out[i] = t.ID + "\t" + t.Title
	}
	return out
}

func (r *run) reminders(ctx context.Context, b cli.Blank) []string {
	if b.Tool != "knowledge" {
		return nil
	}
	store, err := r.stores.look(ctx, r.scope())
	if err != nil {
		return []string{}
	}
	list, err := store.Reminders(ctx, knowledge.ReminderQuery{})
	if err != nil {
		return []string{}
	}
	out := make([]string, len(list.Reminders))
	for i, x := range list.Reminders {
		out[i] = x.ID + "\t" + x.Text
	}
	return out
}

func (r *run) projects(ctx context.Context, b cli.Blank) []string {
	if b.Tool != "project" {
		return nil
	}
	list, err := r.stores.listProjects(ctx, r.scope(), nothing{})
	if err != nil {
		return []string{}
	}
	out := make([]string, len(list.Projects))
	for i, p := range list.Projects {
		out[i] = p.Hash + "\t" + p.Name + " " + p.Root
	}
	return slices.Compact(out)
}
