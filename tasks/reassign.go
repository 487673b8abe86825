package tasks

import (
	"cmp"
	"context"
	"slices"
	"time"

	"leanctx/internal/refusal"
)

// Reassignment moves what one agent has to another.
type Reassignment struct {
	From   string // an agent's id
	To     string // an agent's id or a type; nobody is asked whether there is one
	Reason string // for the history
	Key    string // names this reassignment for good; may be empty
}

// Reassign moves all open tasks of an agent to another in one commit and gives
// their ids. With the open tasks that the agent gave to others, an agent that
// takes over stands in for it: it may cancel them and answer what they wait for. Nothing is left to move when it is done again, and then nothing
// is written; but tasks that the agent was given in between would move too:
// see [Store.Move].
func (s *Store) Reassign(ctx context.Context, from, to, reason string) ([]string, error) {
	return s.Move(ctx, Reassignment{From: from, To: to, Reason: reason})
}

// Move is Reassign under a key: with one that was used in the last 90 days it
// changes nothing and gives the ids that were moved then, so that who crashed
// before the answer can ask again. The directory is not asked: it may be
// its own writer that moves tasks.
func (s *Store) Move(ctx context.Context, a Reassignment) ([]string, error) {
	in := &input{s: s}
	from, to := in.agentName("from", a.From), in.agentName("to", a.To)
	reason, key := in.text("reason", a.Reason), in.line("key", a.Key, MaxReference)
	switch {
	case in.err != nil:
		return nil, in.err
	case from == "":
		return nil, refusal.Argument("from", "needs from")
	case to == "":
		return nil, refusal.Argument("to", "needs to")
	}
	var ids []string
	err := s.update(ctx, func(b *board, now time.Time) ([]event, error) {
		ids = nil
		if m := b.moved(s.opts.ProjectHash, key); m != nil {
			ids = slices.Clone(m.Tasks)
			return nil, nil
		}
		var events []event
		if from != to {
			events, ids = b.handOver(s.opts.ProjectHash, from, to)
		}
		for _, e := range events {
			e.Change.By, e.Change.Why = cmp.Or(s.actor.Agent, from), reason
		}
		if key != "" {
			events = append(events, event{Move: &move{Key: key, Project: s.opts.ProjectHash, At: now.UTC(), Tasks: ids}})
		}
		return events, nil
	})
	if err != nil {
		return nil, err
	}
	return ids, nil
}

// handOver gives an agent's open tasks to another, who also stands in for it with
// those that it gave to others. ids are the former.
func (b *board) handOver(project, from, to string) (events []event, ids []string) {
	ids = []string{}
	for _, r := range b.open(project, func(t *Task) bool { return t.Assignee == from || t.giver() == from }) {
		c := &change{Project: project, ID: r.ID, To: r.State}
		if r.Assignee == from {
			c.Assignee = to
			ids = append(ids, r.ID)
		}
		if r.giver() == from && typeOf(to) != "" {
			c.StandsIn = to
		}
		if c.Assignee != "" || c.StandsIn != "" {
			events = append(events, event{Change: c})
		}
	}
	return events, ids
}

// OpenTasks lists the ids of an agent's open tasks, the newest activity first.
// Those that its type may claim are not its own.
func (s *Store) OpenTasks(ctx context.Context, agent string) ([]string, error) {
	var ids []string
	err := s.view(ctx, func(b *board, _ time.Time) error {
		ids = b.openOf(s.opts.ProjectHash, agent)
		return nil
	})
	return ids, err
}

// FreeFor lists the ids of the open tasks that an agent may claim, addressed to
// its type or to nobody, the newest activity first. Those it gave are not among
// them.
func (s *Store) FreeFor(ctx context.Context, agent string) ([]string, error) {
	ids := []string{}
	err := s.view(ctx, func(b *board, _ time.Time) error {
		ids = ids[:0]
		for _, r := range b.open(s.opts.ProjectHash, func(t *Task) bool { return t.freeFor(agent) && t.giver() != agent }) {
			ids = append(ids, r.ID)
		}
		return nil
	})
	return ids, err
}

func (b *board) openOf(project, agent string) []string {
	ids := []string{}
	for _, r := range b.open(project, func(t *Task) bool { return agent != "" && t.Assignee == agent }) {
		ids = append(ids, r.ID)
	}
	return ids
}
