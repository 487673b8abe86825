package tasks

import (
	"fmt"
	"slices"
	"time"

	"leanctx/tasks/a2a"
)

// A2A is the task as A2A 1.0 has it. It is pure: what a server or a client of
// that protocol is told is what Get tells.
func (r Got) A2A() a2a.Task {
	t := a2a.Task{
		ID: r.ID, ContextID: r.Context,
		Status: a2a.Status{State: r.State.Wire(), Timestamp: r.UpdatedAt},
		Metadata: a2a.Metadata("title", r.Title, "assignee", r.Assignee, "createdBy", r.CreatedBy,
			"createdAt", r.CreatedAt.Format(time.RFC3339Nano), "parent", r.Parent),
	}
	if len(r.References) > 0 {
		t.Metadata["references"] = r.References
	}
	text := r.Title
	if r.Description != "" {
		text += "\n\n" + r.Description
	}
	first := r.message(r.ID+"-m0", Message{By: r.CreatedBy, At: r.CreatedAt, Text: text})
	first.Role = "ROLE_USER" // also of one who took the task back
	for _, ref := range r.References {
		if typeOf(ref) == "t" {
			first.ReferenceTaskIDs = append(first.ReferenceTaskIDs, ref)
		}
	}
	t.History = append(t.History, first)
	for i, m := range r.Thread {
		t.History = append(t.History, r.message(fmt.Sprintf("%s-m%d", r.ID, i+1), m))
	}
	for i, a := range r.Artifacts {
		t.Artifacts = append(t.Artifacts, a2a.Artifact{
			ArtifactID: fmt.Sprintf("%s-a%d", r.ID, i+1), Name: a.Name, Parts: a2a.Text(a.Text),
			Metadata: a2a.Metadata("by", a.By, "at", a.At.Format(time.RFC3339Nano)),
		})
	}
	r.status(&t.Status)
	return t
}

// status adds when the task came to its state or last told of progress, and why.
func (r Got) status(s *a2a.Status) {
	for i, h := range slices.Backward(r.History) {
		if h.From == h.To && (h.Assignee != "" || h.Parent != "" || h.StandsIn != "") {
			continue // it went from hand to hand
		}
		s.Timestamp = h.At
		if h.Why != "" {
			s.Message = new(r.message(fmt.Sprintf("%s-s%d", r.ID, i), Message{By: h.By, At: h.At, Text: h.Why}))
		}
		return
	}
}

// message is one of the thread. Whoever has or had the task is the agent, all
// others are its users.
func (r Got) message(id string, m Message) a2a.Message {
	role := "ROLE_USER"
	if m.By != "" && slices.ContainsFunc(r.History, func(h Transition) bool { return h.Assignee == m.By }) {
		role = "ROLE_AGENT"
	}
	return a2a.Message{
		MessageID: id, ContextID: r.Context, TaskID: r.ID, Role: role, Parts: a2a.Text(m.Text),
		Metadata: a2a.Metadata("by", m.By, "at", m.At.Format(time.RFC3339Nano)),
	}
}
