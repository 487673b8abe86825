package op

import "leanctx/agents/share"

// Share is the tool of shared files.
func Share(st Stores) *Tool {
	open := st.Shares
	return &Tool{
		Name: "ctx_share", Command: "share", Title: "Shared files",
		Summary: "Give files of the project, as they are now, to other agents.",
		Words: Words{
			"to_agent": "default everybody",
		},
		Operations: []Operation{
			New("push", "Share files.", Adds, on(open, (*share.Store).Push), "paths").
				Describe("to_agent", "message").ByAgent().Shown("paths", []string{"src/auth.ts", "src/middleware.ts"}, "to_agent", "claude", "message", "auth files for review").Guesses("share", "send", "give", "add"),
			New("pull", "What was shared with you, each once.", Changes, on(open, (*share.Store).Pull)).Describe("content").ByAgent().Shown("content", true).Guesses("get", "read", "receive", "fetch"),
			New("list", "List what is shared.", Reads, on(open, (*share.Store).List)).Describe().Shown().Guesses("shares", "show"),
			New("clear", "Take back what you shared.", Changes, on(open, (*share.Store).Clear)).Describe().ByAgent().Shown().Guesses("remove", "delete", "unshare"),
		},
	}
}
