package tasks

import (
	"time"

	"leanctx/internal/args"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// The tasks of all projects are read whole, by calls and by hooks, and nobody takes a task away. These are the most of a
// project. An agent that comes to them is told so; what ends a task is never refused.
const (
	maxOpen     = maxItems // tasks that are not finished: a plan as long as one can be
	maxOpenOf   = 2_500    // of them, those that one agent gave
	maxOfDay    = 2 * maxItems
	maxDayBytes = 16 << 20 // of the texts of the tasks that changed within a day
	maxWhy      = 1 << 10  // bytes of a reason that count for nothing
)

// mayGrow refuses events that add more than that.
func (p project) mayGrow(events []event, now time.Time) error {
	added, ended, bytes := map[string]*record{}, map[string]bool{}, 0
	for _, e := range events {
		switch c := e.Change; {
		case e.Create != nil:
			if added[e.Create.ID] = e.Create; p[e.Create.ID] != nil {
				bytes -= p[e.Create.ID].bytes()
			}
			bytes += e.Create.bytes()
		case c != nil:
			if c.To.Final() {
				ended[c.ID] = true
			}
			bytes += len(c.Message)
			if c.Artifact != nil {
				bytes += len(c.Artifact.Text)
			}
			if len(c.Why) > maxWhy {
				bytes += len(c.Why)
			}
		}
	}
	if bytes <= 0 {
		return nil
	}
	grows := false
	open, ofDay, givers := 0, 0, map[string]int{}
	count := func(r *record) {
		if now.Sub(r.CreatedAt) < 24*time.Hour {
			ofDay++
		}
		if !r.State.Final() && !ended[r.ID] {
			open++
			givers[r.giver()]++
		}
	}
	for id, r := range p {
		if added[id] == nil {
			count(r)
		}
		if now.Sub(r.UpdatedAt) < 24*time.Hour {
			bytes += r.bytes()
		}
	}
	giver := ""
	for id, r := range added {
		count(r)
		if p[id] == nil {
			grows = true
			giver = r.giver()
		}
	}
	switch {
	case bytes > maxDayBytes:
		return refusal.Argument("message", "the texts of this project's tasks of one day would have %d MiB, more than %d: keep a text in a file and name it", bytes>>20, maxDayBytes>>20)
	case grows && (open > maxOpen || ofDay > maxOfDay):
		return refusal.Argument("title", "this project would have %s that are not finished, and %d of one day: the most are %d and %d", prose.Count(open, "task"), ofDay, maxOpen, maxOfDay)
	case grows && args.AgentType(giver) != "" && givers[giver] > maxOpenOf:
		return refusal.Argument("title", "%s would be the giver of %s that are not finished: the most of one agent are %d, and a person imports a longer plan", prose.Brief(giver), prose.Count(givers[giver], "task"), maxOpenOf)
	}
	return nil
}

// bytes is about how long the texts of a task are.
func (r *record) bytes() int {
	n := len(r.Title) + len(r.Description)
	for _, ref := range r.References {
		n += len(ref)
	}
	for _, m := range r.thread.Messages {
		n += len(m.Text)
	}
	for _, h := range r.History {
		if len(h.Why) > maxWhy {
			n += len(h.Why)
		}
	}
	for _, a := range r.Artifacts {
		n += len(a.Text)
	}
	return n
}
