package app

import (
	"context"

	"leanctx/agents/session"
	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/hook"
	"leanctx/cmd/internal/op"
	"leanctx/formats/transcript"
	"leanctx/internal/prose"
	"leanctx/knowledge"
	"leanctx/knowledge/listing"
)

// known lists the clients, categories and keys that complete an argument, each with a
// description. It opens one store, for reading. It ignores errors: a shell would print them
// into the line that is being typed.
func (r *run) known(ctx context.Context, b cli.Blank) []string {
	r.stores.warn = func(string) {}
	facts := b.Tool != "agent" && (b.Argument == "category" || b.Argument == "key") // a message has a category too
	switch {
	case b.Argument == "clients":
		return hook.Names()
	case b.Tool == "session" && b.Argument == "id" && r.begin(new(op.Tool)) == nil:
		return r.knownSessions(ctx)
	case b.Tool == "session" && b.Argument == "sources":
		return transcript.Names()
	case !facts || b.Argument == "key" && b.Category == "" || r.begin(new(op.Tool)) != nil:
		return nil
	}
	var out []string
	store, err := r.stores.facts(ctx, op.Scope{Project: r.globals.Project, Agent: r.globals.Agent})
	if err != nil {
		return out
	}
	if b.Argument == "category" {
		list, _ := listing.Rooms(ctx, store, listing.RoomQuery{})
		for _, x := range list.Rooms {
			if x.Foreign {
				continue // what others brought is no name to type
			}
			out = append(out, x.Category+"\t"+prose.Count(x.Facts, "fact"))
		}
		return out
	}
	list, _ := store.Recall(ctx, knowledge.Question{Category: b.Category, Limit: 200})
	for _, f := range list.Facts {
		if f.Unconfirmed {
			continue
		}
		out = append(out, f.Key+"\t"+prose.Line(prose.Clip(f.Value, 60)))
	}
	return out
}

// maxCompleted is how many sessions a shell is offered, the newest.
const maxCompleted = 40

// knownSessions are the ids of the newest sessions, each with its day and what it was about.
func (r *run) knownSessions(ctx context.Context) (out []string) {
	w, err := r.stores.of(ctx, op.Scope{Project: r.globals.Project, Agent: r.globals.Agent})
	if err != nil {
		return nil
	}
	store, err := w.sessions()
	if err != nil {
		return nil
	}
	list, _ := store.List(ctx, session.Listing{Limit: maxCompleted})
	for _, x := range list.Sessions {
		out = append(out, x.ID+"\t"+x.Last.UTC().Format("2006-01-02 ")+prose.Line(prose.Clip(x.Title, 60)))
	}
	return out
}
