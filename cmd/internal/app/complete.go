package app

import (
	"context"

	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/hook"
	"leanctx/cmd/internal/op"
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
			out = append(out, x.Category+"\t"+prose.Count(x.Facts, "fact"))
		}
		return out
	}
	list, _ := store.Recall(ctx, knowledge.Question{Category: b.Category, Limit: 200})
	for _, f := range list.Facts {
		out = append(out, f.Key+"\t"+prose.Line(prose.Clip(f.Value, 60)))
	}
	return out
}
