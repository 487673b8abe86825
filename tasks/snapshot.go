package tasks

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"leanctx/internal/journal"
)

// The file is one JSON object, "tasks" its last member. What a list needs of a
// task stands in one line, which begins with taskMark as no other line does;
// each entry of its thread has a line of its own. So a command that wants one
// task finds where each begins without parsing the others, and a person can
// read and diff the file.
const (
	tasksMark = "\n  \"tasks\": ["
	taskMark  = "\n    {"
	tasksEnd  = "\n  ]\n}\n"
)

// encode writes the board: projects by hash, tasks by age.
func encode(out io.Writer, b *board, h journal.Header) error {
	w := &writer{Writer: bufio.NewWriterSize(out, 1<<16)}
	w.text(fmt.Sprintf("{\n  \"schema\": %d,\n  \"checksum\": %q,\n  \"seq\": %d,\n  \"generation\": %d,\n  \"updated_at\": ", h.Schema, h.Checksum, h.Seq, h.Generation))
	w.json(h.At.UTC())
	w.text(",\n  \"moves\": [")
	for i, m := range b.moves {
		w.item(i, "\n    ", m)
	}
	w.text("],")
	w.text(tasksMark)
	n := 0
	for _, hash := range slices.Sorted(keysOf(b.projects)) {
		list := make([]*record, 0, len(b.projects[hash]))
		for _, r := range b.projects[hash] {
			list = append(list, r)
		}
		slices.SortFunc(list, func(a, b *record) int {
			return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
		})
		for _, r := range list {
			w.task(n, r)
			n++
		}
	}
	w.text(tasksEnd)
	return cmp.Or(w.err, w.Flush())
}

func keysOf(m map[string]map[string]*record) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// writer keeps the first error.
type writer struct {
	*bufio.Writer
	err error
}

func (w *writer) text(s string) {
	if w.err == nil {
		_, w.err = w.WriteString(s)
	}
}

func (w *writer) bytes(b []byte) {
	if w.err == nil {
		_, w.err = w.Write(b)
	}
}

func (w *writer) json(v any) {
	b, err := compact(v)
	w.err = cmp.Or(w.err, err)
	w.bytes(b)
}

// compact is v as JSON in one line, letters as they are.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

func (w *writer) item(i int, lead string, v any) {
	if i > 0 {
		w.text(",")
	}
	w.text(lead)
	w.json(v)
}

// task writes one, or copies it if nobody has touched it since it was read.
func (w *writer) task(i int, r *record) {
	if i > 0 {
		w.text(",")
	}
	if r.thread == nil {
		w.text(taskMark[:len(taskMark)-1])
		w.bytes(r.raw)
		return
	}
	head, err := compact(r.Task)
	w.err = cmp.Or(w.err, err)
	if w.err != nil {
		return
	}
	w.text(taskMark)
	w.bytes(head[1 : len(head)-1])
	w.text(",\n     \"description\": ")
	w.json(r.thread.Description)
	if len(r.thread.References) > 0 {
		w.text(",\n     \"references\": ")
		w.json(r.thread.References)
	}
	entries(w, "history", r.thread.History)
	entries(w, "messages", r.thread.Messages)
	entries(w, "artifacts", r.thread.Artifacts)
	w.text("}")
}

func entries[T any](w *writer, name string, list []T) {
	if len(list) == 0 {
		return
	}
	w.text(",\n     \"" + name + "\": [")
	for i, x := range list {
		w.item(i, "\n       ", x)
	}
	w.text("]")
}

// file is the snapshot as far as it is parsed at once.
type file struct {
	Moves []move            `json:"moves"`
	Tasks []json.RawMessage `json:"tasks"`
}

// decode reads a board. Threads stay text. A file that is laid out in another
// way than ours is read too, only slower.
func decode(data []byte) (*board, error) {
	f, ok := split(data)
	if !ok {
		f = file{}
		if err := json.Unmarshal(data, &f); err != nil {
			return nil, err
		}
	}
	b := newBoard()
	b.moves = f.Moves
	names := interned{}
	for _, raw := range f.Tasks {
		r := &record{raw: raw}
		if !names.head(raw, &r.Task) {
			r.Task = Task{}
			if err := json.Unmarshal(raw, &r.Task); err != nil {
				return nil, err
			}
		}
		if r.ID == "" {
			return nil, fmt.Errorf("a task has no id: %s", clip(string(raw), 80))
		}
		b.put(r)
	}
	return b, nil
}

// split finds where each task begins.
func split(data []byte) (f file, ok bool) {
	start := bytes.Index(data, []byte(tasksMark))
	if start < 0 || !bytes.HasSuffix(data, []byte(tasksEnd)) {
		return f, false
	}
	head := bytes.TrimSuffix(slices.Clone(data[:start]), []byte(","))
	if json.Unmarshal(append(head, '}'), &f) != nil {
		return f, false
	}
	rest := data[start+len(tasksMark) : max(len(data)-len(tasksEnd), start+len(tasksMark))]
	for len(rest) > 0 {
		if !bytes.HasPrefix(rest, []byte(taskMark)) {
			return f, false
		}
		raw, after, _ := bytes.Cut(rest[len(taskMark)-1:], []byte(","+taskMark))
		if raw[len(raw)-1] != '}' {
			return f, false
		}
		f.Tasks = append(f.Tasks, raw)
		if rest = after; len(after) > 0 {
			rest = data[len(data)-len(tasksEnd)-len(after)-len(taskMark):][:len(taskMark)+len(after)]
		}
	}
	return f, true
}
