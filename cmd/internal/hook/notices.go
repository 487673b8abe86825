package hook

import (
	"fmt"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/knowledge/briefing"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/listing"
)

// Notice is a line for the model.
type Notice struct {
	ID   string // each id is shown once in a session
	Text string
	Fact string // category/key, if it is a fact
	Why  string // it was chosen, if it is a fact
	Told string // the version and its fact, where it tells a value beside facts that were found
	Once bool   // not shown where the client does not name its session
	User bool   // a user said it
}

// factNotice is a fact for a prompt or a tool. mark says how far to trust its source.
func factNotice(x *briefing.Line, mark string) Notice {
	return Notice{ID: x.Version.ID, Text: x.Text() + mark, Fact: prose.ShortLine(x.Version.Category) + "/" + prose.ShortLine(x.Version.Key), Why: x.Why, User: fact.Stated(x.Version)}
}

// reminderNotice is a reminder that was triggered. A reminder that is due by its date is
// shown once in a session, and not at every prompt.
func reminderNotice(id, text string, onlyDue bool) Notice {
	return Notice{ID: id, Text: fmt.Sprintf("REMINDER %s: %s", prose.ShortLine(id), prose.ShortLine(text)), Once: onlyDue}
}

// gotchaNotice is a mistake not to repeat in a file.
func gotchaNotice(g listing.Gotcha) Notice {
	text := "GOTCHA " + prose.ShortLine(g.Trigger)
	if g.Resolution != "" {
		text += ": " + prose.ShortLine(g.Resolution)
	}
	return Notice{ID: g.ID, Text: text + g.Mark, User: g.User}
}

// usersFirst orders what a user said before the rest.
func usersFirst(a, b Notice) int { return fact.First(a.User, b.User) }

// claimNotice is the claim of somebody else on a path. whose is not [Own].
func claimNotice(path, holder string, left time.Duration, token uint64, whose owner) Notice {
	unless := ""
	if whose == Unsure {
		unless = "unless that is you, "
	}
	return Notice{
		ID:   fmt.Sprintf("claim-%d", token),
		Text: fmt.Sprintf("CLAIM %s: %s has it for another %s; %sask before you change it", prose.ShortLine(path), prose.ShortLine(holder), prose.Left(left), unless),
	}
}

// editNotice is the change of a file by another session that is in no commit yet, or of which git did not say so in time.
func editNotice(file, agent string, x SessionEvent, now time.Time, certain bool) Notice {
	state := "not committed"
	if !certain {
		state = "perhaps not committed"
	}
	return Notice{
		ID:   "edited-" + shortHash(file, x.Session),
		Text: fmt.Sprintf("EDITED %s: %s %s, %s", prose.ShortLine(file), prose.ShortLine(agent), prose.Ago(now, x.At), state),
	}
}

// changedNotice is a value that the session was told and that is no longer true.
func changedNotice(c *briefing.Change) Notice {
	n := Notice{ID: c.ID(), Text: c.Text()}
	if c.Now != nil {
		n.Told = ToldAs(c.Now.ID, c.Now.Category, c.Now.Key)
	}
	return n
}

// unreadNotice counts an agent's unread messages and shares. It is shown again if the agent
// was active since the last time.
func unreadNotice(agent string, messages, shares int, active time.Time) Notice {
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
	return Notice{
		ID:   fmt.Sprintf("unread-%s-%d-%d-%d", agent, messages, shares, active.Unix()),
		Text: fmt.Sprintf("UNREAD %s for %s: %s", strings.Join(what, ", "), agent, strings.Join(how, ", ")),
	}
}
