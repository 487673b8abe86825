package tasks

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// Task is what a list shows of a task. Times are recorded times, in UTC.
type Task struct {
	ID        string    `json:"id"`
	Project   string    `json:"project,omitempty"` // 16 hex digits; left out of answers
	State     State     `json:"state"`
	Assignee  string    `json:"assignee,omitempty"` // an agent's id, or a type of which any one agent may take it
	Title     string    `json:"title"`
	CreatedBy string    `json:"created_by"`
	StandsIn  string    `json:"stands_in,omitempty"` // an agent's id: it answers for CreatedBy, who handed its work over
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`         // when anything was last done with it
	WorkedAt  time.Time `json:"worked_at,omitzero"` // when it last was in, came to or left Working
	Parent    string    `json:"parent,omitempty"`   // id of the task that it is a part of
	Messages  int       `json:"message_count"`      // how many there are
}

// Message is one text of a task's thread.
type Message struct {
	By   string    `json:"by"`
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// Artifact is something that the work brought forth.
type Artifact struct {
	Name string    `json:"name"`
	By   string    `json:"by"`
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// Transition is one line of a task's history. From and To are the same where
// only the assignee or the parent changed, and where progress was told.
type Transition struct {
	From     State     `json:"from,omitempty"` // empty: the task was created
	To       State     `json:"to"`
	By       string    `json:"by"`
	At       time.Time `json:"at"`
	Why      string    `json:"why,omitempty"`
	Assignee string    `json:"assignee,omitempty"`  // who has the task from then on, where that changed
	Parent   string    `json:"parent,omitempty"`    // likewise
	StandsIn string    `json:"stands_in,omitempty"` // likewise
}

// thread is all of a task that a list does not need.
type thread struct {
	Description string       `json:"description"`
	References  []string     `json:"references,omitempty"`
	History     []Transition `json:"history"`
	Messages    []Message    `json:"messages,omitempty"`
	Artifacts   []Artifact   `json:"artifacts,omitempty"`
}

// whole is a task as it is written.
type whole struct {
	Task
	thread
}

// record is a task in memory. Records are never changed: a change makes a new
// one. The thread of one that was not touched since the file was read stays
// as text until somebody asks for it.
type record struct {
	Task
	thread *thread
	raw    []byte // of the whole task, while thread is nil
}

// open returns the thread. The error means that a text whose checksum was
// good cannot be read.
func (r *record) open() (*thread, error) {
	if r.thread != nil {
		return r.thread, nil
	}
	var w whole
	if err := json.Unmarshal(r.raw, &w); err != nil {
		return nil, corrupt(r.ID, err)
	}
	return &w.thread, nil
}

// newID makes an id that is not taken, from what is recorded and nothing else,
// so that a decision can be made again with the same outcome.
func newID(seed string, at time.Time, taken func(id string) bool) string {
	sum := sha256.Sum256([]byte(seed + "\x00" + at.UTC().Format(time.RFC3339Nano)))
	digits := hex.EncodeToString(sum[:])
	for n := idDigits; ; n++ {
		if id := idPrefix + digits[:n]; !taken(id) || n == len(digits) {
			return id
		}
	}
}

const (
	idPrefix  = "t-"
	idDigits  = 6 // of a new id, at least
	minPrefix = 3 // digits that a prefix must have
)

// find returns the task of a project with an id or a unique prefix of one;
// the letters before the digits may be left out. argument is the name of the
// argument that names it.
func (b *board) find(project, argument, name string) (*record, error) {
	text := strings.TrimSpace(name)
	if text == "" {
		return nil, refusal.Argument(argument, "needs %s", argument)
	}
	id := idPrefix + strings.TrimPrefix(strings.ToLower(text), idPrefix)
	if r, err := b.get(project, id); r != nil || err != nil {
		return r, err
	}
	missing := refusal.NotFound("No task found: %s", prose.Brief(prose.Clip(text, 60)))
	if len(id) < len(idPrefix)+minPrefix {
		return nil, refusal.Argument(argument, "%s %q is too short: give %d digits at least", argument, prose.Clip(text, 60), minPrefix)
	}
	all, err := b.each(project, b.oldMatch(project, id))
	if err != nil {
		return nil, err
	}
	var found []*record
	for r := range all {
		if strings.HasPrefix(r.ID, id) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return nil, missing
	case 1:
		return found[0], nil
	}
	return nil, refusal.Argument(argument, "%s %q is ambiguous: %s", argument, text, namesOf(found))
}

// named is a task in a sentence.
func (t Task) named() string { return fmt.Sprintf(`%s "%s"`, t.ID, prose.Brief(t.Title)) }

// namesOf lists at most five tasks, by id.
func namesOf(list []*record) string {
	sortByID(list)
	var names []string
	for _, r := range list[:min(len(list), 5)] {
		names = append(names, r.named())
	}
	if more := len(list) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// typeOf is the agent type that an id begins with, "" for what is no id.
func typeOf(id string) string {
	i := strings.LastIndexByte(id, '-')
	if i < 1 || len(id)-i-1 < 4 || strings.Trim(id[i+1:], "0123456789abcdef") != "" {
		return ""
	}
	return id[:i]
}

// giver is who says beside the assignee how the task stands: its creator, or who
// stands in for that one.
func (t Task) giver() string { return cmp.Or(t.StandsIn, t.CreatedBy) }

// freeFor reports whether an agent may take the task: it is nobody's, or
// addressed to the agent's type.
func (t Task) freeFor(agent string) bool {
	return t.Assignee == "" || t.Assignee == typeOf(agent)
}
