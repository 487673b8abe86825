package hook

// The events, by the names that the command line has for them.
const (
	sessionStart  = "session-start"
	userPrompt    = "user-prompt"
	postTool      = "post-tool"
	preCompact    = "pre-compact"
	sessionEnd    = "session-end"
	stop          = "stop"
	subagentStart = "subagent-start"
)
