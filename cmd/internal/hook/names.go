package hook

// The events of a session, by the names that the command line has for them.
const (
	SessionStart  = "session-start"
	UserPrompt    = "user-prompt"
	PostTool      = "post-tool"
	PreCompact    = "pre-compact"
	SessionEnd    = "session-end"
	Stop          = "stop"
	SubagentStart = "subagent-start"
)

// Events lists them.
func Events() []string {
	return []string{SessionStart, UserPrompt, PostTool, PreCompact, SessionEnd, Stop, SubagentStart}
}

// Theirs is what a client calls an event; Claude Code's name where it has none.
func Theirs(client, event string) string {
	for _, c := range clients() {
		for _, e := range c.hooks.events {
			if c.name == client && e.ours == event {
				return e.theirs
			}
		}
	}
	for _, e := range claudeEvents() {
		if e.ours == event {
			return e.theirs
		}
	}
	return event
}
