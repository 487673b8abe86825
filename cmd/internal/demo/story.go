package demo

// call is one tool call, its arguments as they go over the wire.
type call struct{ tool, arguments string }

func (c call) String() string { return c.tool + " " + c.arguments }

type chapter struct {
	title string
	calls []call
}

const opening = `A project's memory, told in the calls that an agent makes. Each line that begins
with > goes to "lean-ctx mcp" over MCP; what follows is its answer. Everything
happens in a temporary directory, which is removed at the end.`

const closing = `That was the real server. To have it in your project: lean-ctx mcp in the
configuration of your MCP client, or lean-ctx knowledge --help in a terminal.`

func knowledge(arguments string) call { return call{"ctx_knowledge", arguments} }
func recall(arguments string) call    { return call{"ctx_recall", arguments} }

// The dates are those of the story; nothing in it is valid from "now".
var story = [...]chapter{
	{"January: an agent remembers what it has learned", []call{
		knowledge(`{"action":"remember","category":"architecture","key":"auth","value":"JWT RS256","confidence":0.95,"valid_from":"2026-01-15","source":"src/auth.ts:12"}`),
		knowledge(`{"action":"remember","category":"architecture","key":"db","value":"PostgreSQL 16","confidence":0.95,"valid_from":"2026-01-15"}`),
		knowledge(`{"action":"remember","category":"deployment","key":"host","value":"AWS ECS","confidence":0.8,"valid_from":"2026-01-20"}`),
	}},
	{"The same again, in other letters, is a confirmation and not a second fact", []call{
		knowledge(`{"action":"remember","category":"architecture","key":"auth","value":"jwt rs256.","confidence":0.9}`),
	}},
	{"March: the world has changed, and the contradiction is named", []call{
		knowledge(`{"action":"remember","category":"architecture","key":"auth","value":"OAuth2 + PKCE","confidence":0.9,"valid_from":"2026-03-20"}`),
	}},
	{"Nothing was overwritten: every version and its period", []call{
		recall(`{"action":"timeline","category":"architecture","key":"auth"}`),
	}},
	{"What is so now, and what was so in February", []call{
		recall(`{"action":"recall","query":"auth"}`),
		recall(`{"action":"recall","category":"architecture","key":"auth","as_of":"2026-02-01"}`),
		recall(`{"action":"recall","query":"favourite colour"}`),
	}},
	{"A mistake not to repeat", []call{
		knowledge(`{"action":"gotcha","trigger":"migrations run twice on deploy","resolution":"take the advisory lock first","severity":"warning"}`),
	}},
	{"The rooms, and a search across all projects", []call{
		recall(`{"action":"rooms"}`),
		recall(`{"action":"search","query":"postgres"}`),
	}},
	{"What the next session begins with", []call{
		recall(`{"action":"wakeup"}`),
	}},
}
