package tasks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// Draft is a task to be created.
type Draft struct {
	Title       string   `json:"title" arg:"1" jsonschema:"what is to be done, in one line of 200 characters at most"`
	Description string   `json:"description,omitempty" short:"d" jsonschema:"all that is needed to do it"`
	ToAgent     string   `json:"to_agent,omitempty" alias:"to" jsonschema:"who is to do it: an agent's id, the beginning of one, or a type of which any one agent may claim it"`
	Parent      string   `json:"parent,omitempty" jsonschema:"the task that this one is a part of"`
	References  []string `json:"references,omitempty" jsonschema:"facts (category/key), tasks or files that belong to it"`
}

// Born is a task that was created.
type Born struct {
	Task     Task     `json:"task"`
	Redacted []string `json:"redacted,omitempty"`
}

// Text gives the answer's line.
func (r Born) Text() string {
	to := ""
	if r.Task.Assignee != "" {
		to = ", to_agent: " + prose.Brief(r.Task.Assignee)
	}
	return fmt.Sprintf(`Task created: %s (state: %s%s)`, r.Task.named(), r.Task.State, to) + prose.Redacted(r.Redacted)
}

// Create makes a task. To_agent must be somebody; without it the task is
// whoever's claims it first.
func (s *Store) Create(ctx context.Context, d Draft) (Born, error) {
	in := &input{s: s}
	w := whole{
		Task:   Task{Project: s.opts.ProjectHash, State: Created, Title: in.line("title", d.Title, MaxTitle), CreatedBy: s.actor.name()},
		thread: thread{Description: in.text("description", d.Description), References: in.references(d.References)},
	}
	to := in.agentName("to_agent", d.ToAgent)
	if in.err != nil {
		return Born{}, in.err
	}
	if w.Title == "" {
		return Born{}, refusal.Argument("title", "needs title")
	}
	err := s.settle(ctx) // what is created for an agent is no part of what it handed off before
	if err != nil {
		return Born{}, err
	}
	if w.Assignee, err = s.resolve(ctx, to); err != nil {
		if e, ok := errors.AsType[*NotFoundError](err); ok {
			err = refusal.NotFound("%s; without to_agent whoever claims the task does it", e.What)
		}
		return Born{}, err
	}
	err = s.update(ctx, func(b *board, now time.Time) ([]event, error) {
		return b.create(&w, d.Parent, now.UTC())
	})
	return Born{w.Task.shown(), in.redacted}, err
}

// create decides about a new task, of which everything is known but its id,
// its parent and when it is.
func (b *board) create(w *whole, parent string, now time.Time) ([]event, error) {
	if parent != "" {
		p, err := b.find(w.Project, "parent", parent)
		if err != nil {
			return nil, err
		}
		w.Parent = p.ID
	}
	w.ID = newID(w.Project+"\x00"+w.Title, now, func(id string) bool { return b.projects[w.Project][id] != nil || b.oldMatch(w.Project, id+" ") })
	w.CreatedAt, w.UpdatedAt = now, now
	w.History = []Transition{{To: Created, By: w.CreatedBy, At: now, Assignee: w.Assignee, Parent: w.Parent}}
	return []event{{Create: w}}, nil
}

// resolve asks the directory for whom a name stands.
func (s *Store) resolve(ctx context.Context, name string) (string, error) {
	if name == "" || s.opts.Agents == nil {
		return name, nil
	}
	return s.opts.Agents.Resolve(ctx, name)
}

// shown is a task as answers show it.
func (t Task) shown() Task {
	t.Project = ""
	return t
}
