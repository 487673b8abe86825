package answer

import (
	"fmt"
	"strings"
	"time"

	"leanctx/internal/prose"
)

// Held is a claim on a path, as a hook tells of it.
type Held struct {
	Path   string
	Holder string
	Left   time.Duration
	Token  uint64
	Whose  Owner // not [Own]
}

// Told is the line of a claim. It is told a session once, by its token.
func (h Held) Told() Told {
	unless := ""
	if h.Whose == Unsure {
		unless = "unless that is you, "
	}
	return Told{
		ID:   fmt.Sprintf("claim-%d", h.Token),
		Text: fmt.Sprintf("CLAIM %s: %s has it for another %s; %sask before you change it", Line(h.Path), Line(h.Holder), prose.Left(h.Left), unless),
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
