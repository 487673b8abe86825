package a2a

import "time"

// Task is lf.a2a.v1.Task.
type Task struct {
	ID        string         `json:"id"`
	ContextID string         `json:"contextId"`
	Status    Status         `json:"status"`
	Artifacts []Artifact     `json:"artifacts,omitempty"`
	History   []Message      `json:"history,omitempty"` // the description, then the thread
	Metadata  map[string]any `json:"metadata,omitempty"`
}

// Status is lf.a2a.v1.TaskStatus.
type Status struct {
	State     string    `json:"state"` // TASK_STATE_…
	Message   *Message  `json:"message,omitempty"`
	Timestamp time.Time `json:"timestamp"`
}

// Message is lf.a2a.v1.Message.
type Message struct {
	MessageID        string         `json:"messageId"`
	ContextID        string         `json:"contextId,omitempty"`
	TaskID           string         `json:"taskId,omitempty"`
	Role             string         `json:"role"` // ROLE_USER or ROLE_AGENT
	Parts            []Part         `json:"parts"`
	Metadata         map[string]any `json:"metadata,omitempty"`
	ReferenceTaskIDs []string       `json:"referenceTaskIds,omitempty"`
}

// Part is lf.a2a.v1.Part; ours are texts.
type Part struct {
	Text      string `json:"text"`
	MediaType string `json:"mediaType,omitempty"`
}

// Artifact is lf.a2a.v1.Artifact.
type Artifact struct {
	ArtifactID string         `json:"artifactId"`
	Name       string         `json:"name,omitempty"`
	Parts      []Part         `json:"parts"`
	Metadata   map[string]any `json:"metadata,omitempty"`
}

// Text is a plain text as the parts of a message or an artifact.
func Text(text string) []Part { return []Part{{Text: text, MediaType: "text/plain"}} }

// Metadata is names and values in turn, those without a value left out.
func Metadata(pairs ...string) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			m[pairs[i]] = pairs[i+1]
		}
	}
	return m
}
