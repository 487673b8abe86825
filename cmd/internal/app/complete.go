package app

import (
	"context"

	"leanctx/agents"
	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/hook"
	"leanctx/cmd/internal/op"
	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/knowledge"
	"leanctx/knowledge/listing"
	"leanctx/tasks"
)

// known lists the values of an argument for completion. It opens one store, for reading.
// It ignores errors: a shell would print them into the line that is being typed.
func (r *run) known(ctx context.Context, b cli.Blank) []string {
	r.stores.warn = func(string) {}
	if r.begin(new(op.Tool)) != nil {
		return nil
	}
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

// completions lists what a store has, each a value and its description. open opens the store.
// After an error the list is empty: nil would make the shell complete names of files.
func completions[S, T any](ctx context.Context, r *run, open func(context.Context, op.Scope) (S, error), list func(S) ([]T, error), word func(T) (value, about string)) []string {
	out := []string{}
	store, err := open(ctx, r.scope())
	if err != nil {
		return out
	}
	all, err := list(store)
	if err != nil {
		return out
	}
	for _, x := range all {
		value, about := word(x)
		out = append(out, value+"\t"+about)
	}
	return out
}

func (r *run) rooms(ctx context.Context) []string {
	return completions(ctx, r, r.stores.facts, func(s *knowledge.Store) ([]listing.Room, error) {
		list, err := listing.Rooms(ctx, s, listing.RoomQuery{})
		return list.Rooms, err
	}, func(x listing.Room) (string, string) { return x.Category, prose.Count(x.Facts, "fact") })
}

// keys lists the keys of a category.
func (r *run) keys(ctx context.Context, category string) []string {
	return completions(ctx, r, r.stores.facts, func(s *knowledge.Store) ([]knowledge.Found, error) {
		list, err := s.Recall(ctx, knowledge.Question{Category: category, Limit: 200})
		return list.Facts, err
	}, func(f knowledge.Found) (string, string) { return f.Key, f.Value })
}

func (r *run) present(ctx context.Context) []string {
	return completions(ctx, r, r.stores.agentStore, func(s *agents.Store) ([]agents.Coworker, error) {
		p, err := s.As(agents.Actor{}).Presence(ctx)
		return p.Agents, err
	}, func(a agents.Coworker) (string, string) { return a.ID, a.Role })
}

func (r *run) openTasks(ctx context.Context) []string {
	return completions(ctx, r, r.stores.taskStore, func(s *tasks.Store) ([]tasks.Listed, error) {
		list, err := s.List(ctx, tasks.Query{State: "open"})
		return list.Tasks, err
	}, func(t tasks.Listed) (string, string) { return t.ID, t.Title })
}

func (r *run) reminders(ctx context.Context, b cli.Blank) []string {
	if b.Tool != "knowledge" {
		return nil
	}
	return completions(ctx, r, r.stores.facts, func(s *knowledge.Store) ([]formats.Reminder, error) {
		list, err := listing.Reminders(ctx, s, listing.ReminderQuery{})
		return list.Reminders, err
	}, func(x formats.Reminder) (string, string) { return x.ID, x.Text })
}

func (r *run) projects(ctx context.Context, b cli.Blank) []string {
	if b.Tool != "project" {
		return nil
	}
	list, err := r.stores.listProjects(ctx, r.scope(), noArgs{})
	out := []string{}
	if err == nil {
		for _, p := range list.Projects {
			out = append(out, p.Hash+"\t"+p.Name+" "+p.Root)
		}
	}
	return out
}
