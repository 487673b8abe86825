package op

import (
	"leanctx/agents"
)

// Agent is the tool of the agents that work in the project.
func Agent(st Stores) *Tool {
	open := st.Agents
	return &Tool{
		Name: "ctx_agent", Command: "agent", Title: "Agents of the project",
		Summary: "Work with other agents in this project: messages, claims on files, diary, handoff.",
		Hint:    "multi-agent: messages, diary, claim files, handoff",
		Words:   agentWords(),
		Operations: []Operation{
			New("register", "Say who you are; pass the id it gives as agent from then on.", Adds, on(open, (*agents.Store).Register), "agent_type").
				Describe("role").Shown("agent_type", "cursor", "role", "implementing auth module").Guesses("join", "hello", "login", "start", "connect"),
			New("list", "List the agents.", Reads, on(open, (*agents.Store).List)).Shown().Guesses("agents", "who", "presence"),
			New("post", "Message everybody, an agent or a type.", Adds, on(open, (*agents.Store).Post), "message").
				Describe("category", "to_agent", "ttl", "private").Shown("message", "schema is migrated, rebase first", "category", "warning").Guesses("send", "message", "broadcast", "say", "write", "share_knowledge"),
			New("read", "Your unread messages, each once.", Changes, on(open, (*agents.Store).Read)).Describe().ByAgent().Shown().Guesses("inbox", "receive", "messages", "poll", "poll_events", "receive_knowledge"),
			New("status", "Set your status.", Changes, on(open, (*agents.Store).Status)).
				Describe("status", "message").ByAgent().Shown("status", "active", "message", "writing the tests").Guesses("set_status", "state"),
			New("info", "Counts of agents, and who you are.", Reads, on(open, (*agents.Store).Info)).Shown().Guesses("whoami", "stats"),
			New("handoff", "Give your open tasks and claims away.", Changes, on(open, (*agents.Store).Handoff), "to_agent", "message").
				Describe().ByAgent().Shown("to_agent", "claude", "message", "tests are green; the docs are left").Guesses("transfer", "delegate", "pass"),
			New("sync", "Who is here, claims, your open tasks, what was handed to you.", Changes, on(open, (*agents.Store).Sync)).Describe().ByAgent().Shown().Guesses("refresh", "update"),
			New("diary", "Note what you found, decided or finished.", Adds, on(open, (*agents.Store).Diary), "message").
				Describe("category").ByAgent().Shown("message", "Found N+1 query in user loading", "category", "discovery").Guesses("log", "note", "journal"),
			New("recall_diary", "Read a diary, yours or another agent's.", Reads, on(open, (*agents.Store).RecallDiary)).
				Shown("agent_id", "cursor-a3f8").Guesses("read_diary", "diary_read"),
			New("diaries", "List the diaries.", Reads, on(open, (*agents.Store).Diaries)).Shown().Guesses("list_diaries"),
			New("claim", "Reserve a file or directory before you edit it.", Changes, on(open, (*agents.Store).Claim), "path").
				Describe("ttl").ByAgent().Shown("path", "src/auth.ts", "ttl", "30m").Guesses("lock", "lease", "reserve", "acquire"),
			New("release", "Release a claim.", Changes, on(open, (*agents.Store).Release), "path").
				Describe().ByAgent().Shown("path", "src/auth.ts").Guesses("unlock", "unclaim", "free"),
		},
	}
}

func agentWords() Words {
	return Words{
		"agent_type": "e.g. cursor, reviewer",
		"category":   "diary: discovery, decision, blocker, progress, insight",
		"to_agent":   "id or type",
		"status":     "active, idle or finished",
		"ttl":        "e.g. 30m",
	}
}
