package op

import "leanctx/agents/share"

// Share is the tool of files that agents give each other.
func Share(st Stores) *Tool {
	open := st.Shares
	return &Tool{
		Name: "ctx_share", Command: "share", Title: "Shared files",
		Summary: "Give files of the project to other agents as they are now, with a word on what they are for.",
		Hint:    "multi-agent: share files, context, hand files to another agent",
		Words: Words{
			"paths": "files of the project", "message": "what they are for",
			"to_agent": "an agent's id, the beginning of it, or a type (default: everybody)",
		},
		Operations: []Operation{
			New("push", "Share files.", Adds, on(open, (*share.Store).Push), "paths").
				Shown("paths", []string{"src/auth.ts", "src/middleware.ts"}, "to_agent", "claude", "message", "auth files for review").Tried("share", "send", "give", "add"),
			New("pull", "What was shared with you, each once.", Changes, on(open, (*share.Store).Pull)).Shown("content", true).Tried("get", "read", "receive", "fetch"),
			New("list", "Everything that is shared.", Reads, on(open, (*share.Store).List)).Shown().Tried("shares", "show"),
			New("clear", "Take back what you shared.", Changes, on(open, (*share.Store).Clear)).Shown().Tried("remove", "delete", "unshare"),
		},
	}
}
