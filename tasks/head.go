package tasks

import (
	"bytes"
	"encoding/json"
	"time"
)

// interned keeps one copy of each name that many tasks share.
type interned map[string]string

func (n interned) of(b []byte) string {
	s, ok := n[string(b)]
	if !ok {
		s = string(b)
		n[s] = s
	}
	return s
}

// head reads the first line of a task as we write it. It gives up, and says
// so, at whatever is not as simple as that.
func (n interned) head(raw []byte, t *Task) bool {
	line, _, ok := bytes.Cut(raw, []byte(",\n"))
	line, open := bytes.CutPrefix(line, []byte("{"))
	for ok && open && len(line) > 0 {
		var name, value []byte
		if name, line, ok = quoted(line); !ok || !bytes.HasPrefix(line, []byte(":")) {
			return false
		}
		if line = line[1:]; len(line) > 0 && line[0] == '"' {
			value, line, ok = quoted(line)
		} else {
			end := bytes.IndexByte(line, ',')
			if end < 0 {
				end = len(line)
			}
			value, line = line[:end], line[end:]
		}
		ok = ok && n.set(t, string(name), value)
		line, open = bytes.CutPrefix(line, []byte(","))
		open = open || len(line) == 0
	}
	return ok && open && t.ID != ""
}

// quoted takes a string off the front of a line.
func quoted(line []byte) (text, rest []byte, ok bool) {
	if len(line) == 0 || line[0] != '"' {
		return nil, nil, false
	}
	for i := 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
			ok = true // there are escapes
		case '"':
			if !ok {
				return line[1:i], line[i+1:], true
			}
			var s string
			err := json.Unmarshal(line[:i+1], &s)
			return []byte(s), line[i+1:], err == nil
		}
	}
	return nil, nil, false
}

func (n interned) set(t *Task, name string, value []byte) bool {
	when := func(to *time.Time) bool {
		at, err := time.Parse(time.RFC3339Nano, string(value))
		*to = at.UTC()
		return err == nil
	}
	switch name {
	case "id":
		t.ID = string(value)
	case "project":
		t.Project = n.of(value)
	case "state":
		t.State = State(n.of(value))
	case "assignee":
		t.Assignee = n.of(value)
	case "title":
		t.Title = string(value)
	case "created_by":
		t.CreatedBy = n.of(value)
	case "stands_in":
		t.StandsIn = n.of(value)
	case "created_at":
		return when(&t.CreatedAt)
	case "updated_at":
		return when(&t.UpdatedAt)
	case "worked_at":
		return when(&t.WorkedAt)
	case "parent":
		t.Parent = string(value)
	case "message_count":
		return json.Unmarshal(value, &t.Messages) == nil
	default:
		return false
	}
	return true
}
