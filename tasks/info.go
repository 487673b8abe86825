package tasks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/tasks/a2a"
	"leanctx/tasks/state"
)

// Nothing is the argument of what takes none.
type Nothing struct{}

// StateCount is how many tasks are in a state.
type StateCount struct {
	State State `json:"state"`
	Count int   `json:"count"`
}

// Info is the state of the project's tasks and the card of the server that
// keeps them.
type Info struct {
	Total      int           `json:"total"`
	Open       int           `json:"open"`
	States     []StateCount  `json:"states"` // all eight, in the table's order
	Unassigned int           `json:"unassigned"`
	Silent     []Listed      `json:"silent"` // open tasks whose assignee is silent, the newest activity first
	Card       a2a.AgentCard `json:"agent_card"`

	now time.Time
}

// Info counts tasks.
func (s *Store) Info(ctx context.Context, _ Nothing) (Info, error) {
	r := Info{Silent: []Listed{}, Card: a2a.Card(s.opts.Version, "")}
	counts := map[State]int{}
	var given []Task // open ones that somebody has
	s.settled(ctx)
	err := s.view(ctx, func(b *board, now time.Time) error {
		r.now = now
		for _, x := range b.projects[s.opts.ProjectHash] {
			counts[x.State]++
		}
		b.countOld(s.opts.ProjectHash, counts)
		for _, x := range b.open(s.opts.ProjectHash, func(*Task) bool { return true }) {
			if r.Open++; x.Assignee == "" {
				r.Unassigned++
			} else {
				given = append(given, x.shown())
			}
		}
		return nil
	})
	for _, s := range state.All() {
		r.States = append(r.States, StateCount{s, counts[s]})
		r.Total += counts[s]
	}
	known := map[string]*time.Time{}
	for _, t := range given {
		if since := s.silent(ctx, t, known); since != nil {
			r.Silent = append(r.Silent, Listed{t, since})
		}
	}
	return r, err
}

// silentShown is how many silent assignees the text of Info names.
const silentShown = 10

// Text gives the answer's lines.
func (r Info) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Task store: %s, %d open", prose.Count(r.Total, "task"), r.Open)
	for _, c := range r.States {
		if c.Count > 0 {
			fmt.Fprintf(&b, "\n  %s: %d", c.State, c.Count)
		}
	}
	if r.Unassigned > 0 {
		fmt.Fprintf(&b, "\n  Unassigned: %d", r.Unassigned)
	}
	if len(r.Silent) > 0 {
		fmt.Fprintf(&b, "\n  Assignee silent: %d", len(r.Silent))
	}
	for _, t := range r.Silent[:min(len(r.Silent), silentShown)] {
		b.WriteString("\n    " + t.line(r.now))
	}
	if more := len(r.Silent) - silentShown; more > 0 {
		fmt.Fprintf(&b, "\n    … %d more", more)
	}
	b.WriteString("\n" + r.Card.Text())
	return b.String()
}
