package tasks

import (
	"fmt"
	"slices"
	"time"
)

// Tasks as A2A 1.0 has them. The conversions are pure: what a server or a
// client of that protocol is told is what Get tells.

// A2ATask is lf.a2a.v1.Task.
type A2ATask struct {
	ID        string         `json:"id"`
	ContextID string         `json:"contextId"`
	Status    A2AStatus      `json:"status"`
	Artifacts []A2AArtifact  `json:"artifacts,omitempty"`
	History   []A2AMessage   `json:"history,omitempty"` // the description, then the thread
	Metadata  map[string]any `json:"metadata,omitempty"`
}

// A2AStatus is lf.a2a.v1.TaskStatus.
type A2AStatus struct {
	State     string      `json:"state"` // TASK_STATE_…
	Message   *A2AMessage `json:"message,omitempty"`
	Timestamp time.Time   `json:"timestamp"`
}

// A2AMessage is lf.a2a.v1.Message.
type A2AMessage struct {
	MessageID        string         `json:"messageId"`
	ContextID        string         `json:"contextId,omitempty"`
	TaskID           string         `json:"taskId,omitempty"`
	Role             string         `json:"role"` // ROLE_USER or ROLE_AGENT
	Parts            []A2APart      `json:"parts"`
	Metadata         map[string]any `json:"metadata,omitempty"`
	ReferenceTaskIDs []string       `json:"referenceTaskIds,omitempty"`
}

// A2APart is lf.a2a.v1.Part; ours are texts.
type A2APart struct {
	Text      string `json:"text"`
	MediaType string `json:"mediaType,omitempty"`
}

// A2AArtifact is lf.a2a.v1.Artifact.
type A2AArtifact struct {
	ArtifactID string         `json:"artifactId"`
	Name       string         `json:"name,omitempty"`
	Parts      []A2APart      `json:"parts"`
	Metadata   map[string]any `json:"metadata,omitempty"`
}

// A2A is the task as A2A 1.0 has it.
func (r Got) A2A() A2ATask {
	t := A2ATask{
		ID: r.ID, ContextID: r.Context,
		Status: A2AStatus{State: r.State.Wire(), Timestamp: r.UpdatedAt},
		Metadata: metadata("title", r.Title, "assignee", r.Assignee, "createdBy", r.CreatedBy,
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
		t.Artifacts = append(t.Artifacts, A2AArtifact{
			ArtifactID: fmt.Sprintf("%s-a%d", r.ID, i+1), Name: a.Name, Parts: parts(a.Text),
			Metadata: metadata("by", a.By, "at", a.At.Format(time.RFC3339Nano)),
		})
	}
	r.status(&t.Status)
	return t
}

// status adds when the task came to its state or last told of progress, and why.
func (r Got) status(s *A2AStatus) {
	for i, h := range slices.Backward(r.History) {
		if h.From == h.To && (h.Assignee != "" || h.Parent != "") {
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
func (r Got) message(id string, m Message) A2AMessage {
	role := "ROLE_USER"
	if m.By != "" && slices.ContainsFunc(r.History, func(h Transition) bool { return h.Assignee == m.By }) {
		role = "ROLE_AGENT"
	}
	return A2AMessage{
		MessageID: id, ContextID: r.Context, TaskID: r.ID, Role: role, Parts: parts(m.Text),
		Metadata: metadata("by", m.By, "at", m.At.Format(time.RFC3339Nano)),
	}
}

func parts(text string) []A2APart { return []A2APart{{Text: text, MediaType: "text/plain"}} }

// metadata is names and values in turn, those without a value left out.
func metadata(pairs ...string) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			m[pairs[i]] = pairs[i+1]
		}
	}
	return m
}
