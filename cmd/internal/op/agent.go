package op

import (
	"context"

	"leanctx/agents"
)

// Agent is the tool of those who work in the project.
func Agent(st Stores) *Tool {
	open := st.Agents
	return &Tool{
		Name: "ctx_agent", Command: "agent", Title: "Agents of the project",
		Summary: "Work beside other agents in this project: register, talk, keep a diary that outlives the session, " +
			"claim files before editing them, hand over.",
		Hint:  "multi-agent: register, messages, scratchpad, diary, claim, lease, handoff, who is here",
		Words: agentWords(),
		Operations: []Operation{
			New("register", "Say who you are; gives the id to pass as agent from then on.", Adds, on(open, (*agents.Store).Register), "agent_type").
				Shown("agent_type", "cursor", "role", "implementing auth module").Tried("join", "hello", "login", "start", "connect"),
			New("list", "Who is here.", Reads, on(open, (*agents.Store).List)).Shown().Tried("agents", "who", "presence"),
			New("post", "Leave a message for everybody, one agent, or any one of a type.", Adds, on(open, (*agents.Store).Post), "message").
				Shown("message", "schema is migrated, rebase first", "category", "warning").Tried("send", "message", "broadcast", "say", "write"),
			New("read", "The messages you have not read, each once.", Changes, on(open, (*agents.Store).Read)).Shown().Tried("inbox", "receive", "messages", "poll"),
			New("status", "Say how you stand.", Changes, on(open, (*agents.Store).Status)).
				Shown("status", "active", "message", "writing the tests").Tried("set_status", "state"),
			New("info", "The registry in numbers, and who you are.", Reads, on(open, (*agents.Store).Info)).Shown().Tried("whoami", "stats"),
			New("handoff", "Give your open tasks and claims to another agent, with what it should know.", Changes, on(open, (*agents.Store).Handoff), "to_agent", "message").
				Shown("to_agent", "claude", "message", "tests are green; the docs are left").Tried("transfer", "delegate", "pass"),
			New("sync", "Who is here, what is claimed, your open tasks, what was handed to you.", Changes, on(open, (*agents.Store).Sync)).Shown().Tried("refresh", "update"),
			New("diary", "Write down what you found, decided or finished.", Adds, on(open, (*agents.Store).Diary), "message").
				Shown("message", "Found N+1 query in user loading", "category", "discovery").Tried("log", "note", "journal"),
			New("recall_diary", "Read a diary, yours or another agent's.", Reads, on(open, (*agents.Store).RecallDiary)).
				Shown("agent_id", "cursor-a3f8").Tried("read_diary", "diary_read"),
			New("diaries", "Whose diaries there are.", Reads, on(open, (*agents.Store).Diaries)).Shown().Tried("list_diaries"),
			New("claim", "Take a file or directory for yourself for a while.", Changes, on(open, (*agents.Store).Claim), "path").
				Shown("path", "src/auth.ts", "ttl", "30m").Tried("lock", "lease", "reserve", "acquire"),
			New("release", "Give a claim back.", Changes, on(open, (*agents.Store).Release), "path").
				Shown("path", "src/auth.ts").Tried("unlock", "unclaim", "free"),
		},
	}
}

func agentWords() Words {
	return Words{
		"message":  "what to say, write down, or hand over, up to 64 KiB",
		"category": "post: a word such as status, finding, blocker; diary: discovery, decision, blocker, progress (default) or insight",
		"to_agent": "an agent's id, the beginning of one, or a type",
		"agent_id": "whose: an id or the beginning of one",
		"path":     "a file or directory of the project",
		"ttl":      "how long, e.g. 30m, 2h",
		"limit":    "most rows to show",
	}
}

// InboxName is the name of the tool that [Inbox] makes.
const InboxName = "inbox"

type inboxOf struct {
	AgentID string `json:"agent_id" arg:"1" jsonschema:"whose: an id, or the beginning of one"`
}

// Inbox is what an agent has not read, and leaves it unread. It is no tool of
// its own: a surface shows it where looking must change nothing.
func Inbox(st Stores) *Tool {
	const summary = "What an agent has not read; it stays unread."
	return &Tool{Name: InboxName, Command: InboxName, Summary: summary,
		Operations: []Operation{New("", summary, Reads, on(st.Agents, func(s *agents.Store, ctx context.Context, a inboxOf) (agents.Inbox, error) {
			return s.Inbox(ctx, a.AgentID)
		}))}}
}
