package hook

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/knowledge/briefing"
)

// Briefings lists what sessions were given, the newest first.
type Briefings struct {
	Briefings []SessionEvent `json:"briefings"`
	More      int            `json:"more"` // left out by the limit
}

// ReadBriefings lists the events of a project at which facts were shown. limit is 20 if it is
// not positive. explain adds why each fact was chosen.
func ReadBriefings(data, project string, limit int, explain bool, now time.Time) (Briefings, error) {
	if limit <= 0 {
		limit = 20
	}
	list, err := readLog(data, project, now.AddDate(0, 0, -logDays))
	list = slices.DeleteFunc(list, func(x SessionEvent) bool { return len(x.Facts) == 0 })
	for i := range list {
		list[i].trace = trace{} // nobody's business
		if !explain {
			list[i].Why = nil
		}
	}
	slices.SortStableFunc(list, func(x, y SessionEvent) int { return y.At.Compare(x.At) })
	b := Briefings{Briefings: append([]SessionEvent{}, list[:min(limit, len(list))]...)}
	b.More = len(list) - len(b.Briefings)
	return b, err
}

// Text gives the answer's lines.
func (b Briefings) Text() string { return b.TextIn(prose.MCP) }

// TextIn is Text with suggested calls in the caller's syntax.
func (b Briefings) TextIn(call prose.Syntax) string {
	if len(b.Briefings) == 0 {
		return "No session was briefed in the last 30 days."
	}
	var t strings.Builder
	fmt.Fprintf(&t, "Briefings (%s):\n", prose.Count(len(b.Briefings)+b.More, "session event"))
	for _, x := range b.Briefings {
		names := make([]string, len(x.Facts))
		for i, f := range x.Facts {
			if names[i] = prose.ShortLine(f); i < len(x.Why) && x.Why[i] != "" {
				names[i] += " (" + prose.ShortLine(x.Why[i]) + ")"
			}
		}
		session := ""
		if x.Session != "" {
			session = " " + prose.ShortLine(x.Session)
		}
		fmt.Fprintf(&t, "  %s %s%s %s: %s\n", x.At.UTC().Format("2006-01-02 15:04"), x.Client, session, x.Event, strings.Join(names, ", "))
	}
	return strings.TrimSuffix(t.String(), "\n") + prose.More(call, b.More, len(b.Briefings))
}

// ToldIn are the facts that hooks told a session of the last 30 days, by the client's name of it, or of its subagent, the
// earliest first.
func ToldIn(data, project, session string, now time.Time) (list []briefing.Told) {
	log, _ := readLog(data, project, now.AddDate(0, 0, -logDays)) // what cannot be read tells nothing
	for _, x := range log {
		if session == "" || x.Reader != session && (x.Reader != "" || x.Session != session) {
			continue
		}
		list = append(list, x.told()...)
	}
	return list
}
