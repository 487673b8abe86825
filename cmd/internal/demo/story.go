package demo

// call is one tool call with its arguments in JSON. A call without a tool ends the
// session of its agent. One of the tool [said] is a session in which the user says
// something and no tool is called.
type call struct{ who, tool, arguments string }

func (c call) String() string { return c.who + "> " + c.tool + " " + c.arguments }

// storyIDs are the ids that the story prints. A run has other ids on the wire.
var storyIDs = [...]string{"cursor-a3f8", "claude-b7e2", "t-a3f8c1", "d-3f2a"}

// refused marks the one call that the story wants to be refused.
const refused = `"path":"src"`

// files are those of the story's project.
var files = map[string]string{
	"src/auth.ts":       "export const algorithm = 'RS256'\n\nexport function sign(claims) { return jwt.sign(claims, key, { algorithm }) }\n",
	"src/middleware.ts": "import { verify } from './auth'\n\nexport const guard = (req) => verify(req.headers.authorization)\n",
}

type chapter struct {
	title string
	calls []call
	files map[string]string // written before the calls
}

const opening = `A project's memory, told in the calls that agents make. Each line that begins
with > goes to "lean-ctx mcp" over MCP; what follows is its answer. Everything
happens in a temporary directory, which is removed at the end.`

const closing = `That was the real server. To have it in your project: lean-ctx mcp in the
configuration of your MCP client, or lean-ctx knowledge --help in a terminal.`

func knowledge(arguments string) call { return call{"", "ctx_knowledge", arguments} }
func recall(arguments string) call    { return call{"", "ctx_recall", arguments} }

// The two agents of the second part, each in a client and a server of its own.
func cursor(tool, arguments string) call { return call{"cursor", tool, arguments} }
func claude(tool, arguments string) call { return call{"claude", tool, arguments} }

// The dates are those of the story; nothing in it is valid from "now".
var story = [...]chapter{
	{"January: an agent remembers what it has learned", []call{
		knowledge(`{"action":"remember","category":"architecture","key":"auth","value":"JWT RS256","confidence":0.95,"valid_from":"2026-01-15","source":"src/auth.ts:1"}`),
		knowledge(`{"action":"remember","category":"architecture","key":"db","value":"PostgreSQL 16","confidence":0.95,"valid_from":"2026-01-15"}`),
		knowledge(`{"action":"remember","category":"deployment","key":"host","value":"AWS ECS","confidence":0.8,"valid_from":"2026-01-20"}`),
	}, nil},
	{"The same again, in other letters, is a confirmation and not a second fact", []call{
		knowledge(`{"action":"remember","category":"architecture","key":"auth","value":"jwt rs256.","confidence":0.9}`),
	}, nil},
	{"March: the world has changed, and the contradiction is named", []call{
		knowledge(`{"action":"remember","category":"architecture","key":"auth","value":"OAuth2 + PKCE","confidence":0.9,"valid_from":"2026-03-20"}`),
	}, map[string]string{"src/auth.ts": "export const flow = 'authorization_code'\n\nexport function challenge(verifier) { return base64url(sha256(verifier)) }\n"}},
	{"Nothing was overwritten: every version and its period", []call{
		recall(`{"action":"timeline","category":"architecture","key":"auth"}`),
	}, nil},
	{"What is so now, and what was so in February", []call{
		recall(`{"action":"recall","query":"auth"}`),
		recall(`{"action":"recall","category":"architecture","key":"auth","as_of":"2026-02-01"}`),
		recall(`{"action":"recall","query":"what did we use for auth before OAuth2"}`),
		recall(`{"action":"recall","query":"favourite colour"}`),
	}, nil},
	{"A question that shares no word with the fact is answered by its meaning", []call{
		recall(`{"action":"recall","query":"which amazon cloud is it"}`),
	}, nil},
	{"A mistake not to repeat", []call{
		knowledge(`{"action":"gotcha","trigger":"migrations run twice on deploy","resolution":"take the advisory lock first","severity":"warning"}`),
	}, nil},
	{"The rooms, and a search across all projects", []call{
		recall(`{"action":"rooms"}`),
		recall(`{"action":"search","query":"postgres"}`),
	}, nil},
	{"What the next session begins with", []call{
		recall(`{"action":"wakeup"}`),
	}, nil},
	{"Two agents come in, each in a client and with a server process of its own", []call{
		cursor("ctx_agent", `{"action":"register","agent_type":"cursor","role":"implementing auth module"}`),
		claude("ctx_agent", `{"action":"register","agent_type":"claude","role":"review"}`),
	}, nil},
	{"They talk, and write down what outlives them", []call{
		cursor("ctx_agent", `{"action":"diary","message":"Found N+1 query in user loading","category":"discovery"}`),
		cursor("ctx_agent", `{"action":"diary","message":"Switched to batch loading with DataLoader","category":"decision"}`),
		cursor("ctx_agent", `{"action":"post","message":"schema is migrated, rebase first","category":"warning"}`),
		claude("ctx_agent", `{"action":"read"}`),
	}, nil},
	{"One file, one holder", []call{
		cursor("ctx_agent", `{"action":"claim","path":"src/auth.ts","ttl":"30m"}`),
		claude("ctx_agent", `{"action":"claim","path":"src"}`),
	}, nil},
	{"A task and two files, and a handoff that brings all of it", []call{
		claude("ctx_task", `{"action":"create","title":"Fix auth middleware","to_agent":"cursor"}`),
		cursor("ctx_task", `{"action":"update","task_id":"t-a3f8c1","state":"Working"}`),
		cursor("ctx_share", `{"action":"push","paths":["src/auth.ts","src/middleware.ts"],"to_agent":"claude","message":"auth files for review"}`),
		cursor("ctx_agent", `{"action":"handoff","to_agent":"claude","message":"tests are green; the docs are left"}`),
		claude("ctx_agent", `{"action":"sync"}`),
		claude("ctx_share", `{"action":"pull"}`),
		claude("ctx_task", `{"action":"update","task_id":"t-a3f8c1","state":"Completed","message":"the middleware checks the token once, before routing"}`),
		claude("ctx_task", `{"action":"list"}`),
	}, nil},
	{"What was found and done becomes memory, and what it cost is known", []call{
		knowledge(`{"action":"consolidate"}`),
		recall(`{"action":"wakeup"}`),
		{who: "claude"}, {who: "cursor"},
		{"", "ctx_cost", `{"action":"report"}`},
	}, nil},
	{"A user's word: in more words it is refined, an agent's other value is disputed, and the user settles it", []call{
		claude("ctx_knowledge", `{"action":"remember","category":"workflow","key":"push","value":"never push to main","confidence":1,"source":"user","agent":"claude-b7e2"}`),
		claude("ctx_knowledge", `{"action":"remember","category":"workflow","key":"push","value":"never push to main without review","confidence":1,"source":"user","agent":"claude-b7e2"}`),
		cursor("ctx_knowledge", `{"action":"remember","category":"workflow","key":"push","value":"pushing to main is fine","confidence":0.3,"agent":"cursor-a3f8"}`),
		cursor("ctx_recall", `{"action":"recall","query":"push to main","agent":"cursor-a3f8"}`),
		claude("ctx_knowledge", `{"action":"judge","category":"workflow","key":"push","target":"d-3f2a","verdict":"reject","source":"user","agent":"claude-b7e2"}`),
		cursor("ctx_knowledge", `{"action":"remember","category":"workflow","key":"push","value":"Pushing to main is fine.","agent":"cursor-a3f8"}`),
	}, nil},
	{"What was said and nobody remembered: the client's hooks keep it, on this machine, and it is no fact", []call{
		{"ann", said, "Please add a router. We never deploy on Fridays: releases go out on Tuesday mornings."},
		recall(`{"action":"recall","query":"when do releases go out?"}`),
		recall(`{"action":"sessions"}`),
	}, nil},
}
