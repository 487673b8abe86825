package briefing

import (
	"fmt"
	"strconv"
	"strings"

	"leanctx/formats"
	"leanctx/internal/prose"
)

// Text gives the answer's lines.
func (r Selection) Text() string {
	body := r.Body()
	switch {
	case body == "" && r.MoreFacts > 0:
		return fmt.Sprintf("The budget has no room for any of %s.", prose.Count(r.MoreFacts, "fact"))
	case body == "":
		return "No knowledge for wake-up briefing."
	}
	return heading + body
}

const heading = "WAKE-UP BRIEFING:\n"

// Body is the briefing without its heading; empty when there is nothing to say.
func (r Selection) Body() string {
	return strings.TrimSuffix(formats.FormatAAAK(r.Rooms)+r.Map+r.tail(), "\n")
}

// OverviewText is the same selection as [Selection.Body] for an overview of the
// project: the facts on one line, as category/key=value without stars.
func (r Selection) OverviewText() string {
	var facts, foreign []string
	for _, room := range r.Rooms {
		for _, p := range room.Pairs {
			if p.Unconfirmed { // what others wrote comes after what was said here, whatever its room
				foreign = append(foreign, overviewFact(room.Category, p))
			} else {
				facts = append(facts, overviewFact(room.Category, p))
			}
		}
	}
	facts = append(facts, foreign...)
	text := ""
	if len(facts) > 0 {
		text = "FACTS:" + strings.Join(facts, "|") + "\n"
	}
	return strings.TrimSuffix(text+r.Map+r.tail(), "\n")
}

func overviewFact(category string, p formats.Pair) string {
	text := formats.Escape(category) + "/" + formats.Escape(p.Key) + "=" + formats.Escape(p.Value)
	if p.Unconfirmed {
		text += "?"
	}
	return text
}

// tail is the lines that follow the rooms, each left out when empty.
func (r Selection) tail() string {
	var b strings.Builder
	line := func(name, separator string, list []string, more int) {
		parts := make([]string, 0, len(list)+1)
		for _, text := range list {
			parts = append(parts, formats.Escape(text))
		}
		if more > 0 {
			parts = append(parts, fmt.Sprintf("+%d more", more))
		}
		if len(parts) > 0 {
			fmt.Fprintf(&b, "%s:%s\n", name, strings.Join(parts, separator))
		}
	}
	line("NEW", "|", r.News, r.MoreNews)
	line("TASKS", "|", r.Tasks, r.MoreTasks)
	if r.NextTask != "" {
		line("NEXT_TASK", "|", []string{r.NextTask}, 0)
	}
	if r.LastTask != "" {
		line("LAST_TASK", "|", []string{r.LastTask}, 0)
	}
	line("RECENT_DECISIONS", "|", r.Decisions, 0)
	line("DISPUTES", "|", r.Disputes, r.MoreDisputes)
	line("GOTCHAS", "|", r.Gotchas, r.MoreGotchas)
	line("REMINDERS", "|", r.Reminders, r.MoreReminders)
	line("AGENTS", ",", r.Agents, r.MoreAgents)
	if r.Unread > 0 {
		line("UNREAD", "", []string{strconv.Itoa(r.Unread)}, 0)
	}
	return b.String()
}
