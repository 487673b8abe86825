package briefing

import (
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/knowledge/fact"
)

// DefaultBudget is how much a briefing holds unless it is said, in tokens.
const DefaultBudget = 800

// bytesPerToken is how a budget in tokens is estimated; a tokenizer would cost
// more than the facts it counts.
const bytesPerToken = 4

// tailMost is how many entries each line after the rooms has at most.
const tailMost = 5

// fit shortens the lines after the rooms to what a budget in bytes holds, and
// counts what it leaves out. Decisions are facts, and counted with them.
func (r *Selection) fit(budget int) {
	keep := func(name string, list []string) ([]string, int) {
		cost, n := len(name)+len(":\n"), 0
		for n < min(len(list), tailMost) && cost+len(formats.Escape(list[n]))+len("|") <= budget {
			cost += len(formats.Escape(list[n])) + len("|")
			n++
		}
		if len(list) > 0 {
			budget -= cost
		}
		return list[:n], len(list) - n
	}
	if r.LastTask != "" {
		task, _ := keep("LAST_TASK", []string{r.LastTask})
		r.LastTask = strings.Join(task, "")
	}
	r.Decisions, _ = keep("RECENT_DECISIONS", r.Decisions)
	r.Gotchas, r.MoreGotchas = keep("GOTCHAS", r.Gotchas)
	r.Reminders, r.MoreReminders = keep("REMINDERS", r.Reminders)
	r.Agents, r.MoreAgents = keep("AGENTS", r.Agents)
}

// fillTries is how many facts in a row may turn out too long for what is left
// of the budget before no more are looked at: every look may be a read.
const fillTries = 64

// fill takes facts best first while they fit, pinned ones in any case. Rooms come out in the order of
// their best fact, which is the order in which they are met. It says what it took.
func (r *Selection) fill(c *candidates, today time.Time, budget int) (told map[fact.ID]bool) {
	told = map[fact.ID]bool{}
	at := map[string]int{} // a room's place, by its folded name
	r.MoreFacts = c.total
	for tries := 0; tries < fillTries; {
		n, v := c.next()
		if v == nil {
			break
		}
		i, known := at[n.Category]
		room := roomOf(v, today)
		cost := costOf(room, known)
		if cost > budget && !v.Pinned {
			tries++
			continue
		}
		tries = 0
		budget -= cost
		r.MoreFacts--
		told[n] = true
		c.rooms[n.Category]--
		if known {
			r.Rooms[i].Pairs = append(r.Rooms[i].Pairs, room.Pairs...)
			continue
		}
		at[n.Category] = len(r.Rooms)
		r.Rooms = append(r.Rooms, room)
	}
	for _, left := range c.rooms {
		if left > 0 {
			r.MoreRooms++
		}
	}
	return told
}

// roomOf is the room of one fact that has nothing else.
func roomOf(v *fact.Version, today time.Time) formats.Room {
	stars := formats.Stars(fact.DayConfidence(v, today))
	return formats.Room{Category: v.Category, Pairs: []formats.Pair{{Key: v.Key, Value: v.Value, Stars: stars, Unconfirmed: fact.Unconfirmed(v)}}}
}

// costOf is how many bytes the fact of a room takes, known: where there is a
// line of the room already.
func costOf(room formats.Room, known bool) int {
	cost := len(formats.FormatAAAK([]formats.Room{room}))
	if known {
		cost -= len(formats.FormatAAAK([]formats.Room{{Category: room.Category, Pairs: []formats.Pair{{}}}})) - len("=★") - len("|")
	}
	return cost
}
