package answer

import (
	"fmt"
	"time"

	"leanctx/internal/prose"
)

// Claim tells that somebody else has claimed a path, for as long as is left of
// it. A claim is told a session once, by its token.
func Claim(path, holder string, left time.Duration, token uint64) Told {
	return Told{
		ID:   fmt.Sprintf("claim-%d", token),
		Text: fmt.Sprintf("CLAIM %s: %s has it for another %s; ask before you change it", Line(path), Line(holder), prose.Left(left)),
	}
}

// Unread tells an agent how many messages lie unread. They are told a session
// once, and again when the agent has been active since.
func Unread(agent string, messages int, active time.Time) Told {
	return Told{
		ID:   fmt.Sprintf("unread-%s-%d-%d", agent, messages, active.Unix()),
		Text: fmt.Sprintf(`UNREAD %s for %s: ctx_agent {"action":"read","agent":%q}`, prose.Count(messages, "message"), agent, agent),
	}
}
