package answer

import (
	"fmt"
	"strings"
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

// Unread tells an agent how many messages lie unread, and how many shares were
// not pulled. They are told a session once, and again when the agent has been
// active since.
func Unread(agent string, messages, shares int, active time.Time) Told {
	var what, how []string
	for _, x := range []struct {
		n               int
		noun, tool, act string
	}{{messages, "message", "ctx_agent", "read"}, {shares, "share", "ctx_share", "pull"}} {
		if x.n > 0 {
			what = append(what, prose.Count(x.n, x.noun))
			how = append(how, fmt.Sprintf(`%s {"action":%q,"agent":%q}`, x.tool, x.act, agent))
		}
	}
	return Told{
		ID:   fmt.Sprintf("unread-%s-%d-%d-%d", agent, messages, shares, active.Unix()),
		Text: fmt.Sprintf("UNREAD %s for %s: %s", strings.Join(what, ", "), agent, strings.Join(how, ", ")),
	}
}
