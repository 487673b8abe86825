package tasks

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"leanctx/internal/journal"
)

// The file is one JSON object. What a list needs of a task stands in one line,
// which begins with taskMark as no other line does; each entry of its thread
// has a line of its own. So where each task begins is found without parsing
// it, and a person can read and diff the file.
//
// Tasks that were finished long ago stand in a part of their own at the end.
// They never change any more, and a command reads them only when it is asked
// for one: the names of those there are, and where the parts begin, with their
// checksums, stand behind them.
const (
	tasksMark  = "\n  \"tasks\": ["
	oldMark    = "\n  \"old\": ["
	namesMark  = "\n  \"old_names\": ["
	taskMark   = "\n    {"
	listEnd    = "\n  ],"
	layoutForm = "\n  \"layout\": \"old %012d names %012d sums %08x %08x %08x\"\n}\n"
	layoutSize = 85 // bytes of it; offsets of up to twelve digits
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// layout tells where the parts of a file begin: the first one at 0, and the
// layout itself in the last layoutSize bytes.
type layout struct {
	old, names int64
	sums       [3]uint32
}

// encode writes the board: projects by hash, open tasks by age, before them
// the finished ones in the order they were finished.
func encode(out io.Writer, b *board, h journal.Header) error {
	w := &writer{Writer: bufio.NewWriterSize(out, 1<<16)}
	live, old, err := b.parts(h.At.Add(-oldAfter))
	if err != nil {
		return err
	}
	w.text(fmt.Sprintf("{\n  \"schema\": %d,\n  \"checksum\": %q,\n  \"seq\": %d,\n  \"generation\": %d,\n  \"updated_at\": ", h.Schema, h.Checksum, h.Seq, h.Generation))
	w.json(h.At.UTC())
	w.text(",\n  \"moves\": [")
	for i, m := range b.moves {
		w.item(i, "\n    ", m)
	}
	w.text("]," + tasksMark)
	for i, r := range live {
		w.task(i, r)
	}
	var l layout
	w.text(listEnd)
	l.old, l.sums[0] = w.part()
	w.text(oldMark)
	for i, r := range old {
		w.task(i, r)
	}
	w.text(listEnd)
	l.names, l.sums[1] = w.part()
	w.text(namesMark)
	for i, n := range namesOfOld(old) {
		w.item(i, "\n    ", n)
	}
	w.text(listEnd)
	_, l.sums[2] = w.part()
	w.text(fmt.Sprintf(layoutForm, l.old, l.names, l.sums[0], l.sums[1], l.sums[2]))
	return cmp.Or(w.err, w.Flush())
}

// parts sorts the records into those that stay at hand and those finished
// before an instant. One whose parent stays at hand does too, so that a task's
// children are found without the old ones.
func (b *board) parts(before time.Time) (live, old []*record, err error) {
	all, err := b.everything()
	if err != nil {
		return nil, nil, err
	}
	for _, hash := range slices.Sorted(maps.Keys(all)) {
		list := slices.SortedFunc(maps.Values(all[hash]), func(a, b *record) int {
			return cmp.Or(openness(a)-openness(b), a.filed().Compare(b.filed()), strings.Compare(a.ID, b.ID))
		})
		for _, r := range list {
			if isOld(all[hash], r, before) {
				old = append(old, r)
			} else {
				live = append(live, r)
			}
		}
	}
	return live, old, nil
}

// isOld climbs to the root; a circle in the file is nothing old.
func isOld(list map[string]*record, r *record, before time.Time) bool {
	for range len(list) + 1 {
		if !r.State.Final() || !r.UpdatedAt.Before(before) {
			return false
		}
		if r = list[r.Parent]; r == nil {
			return true
		}
	}
	return false
}

func openness(r *record) int {
	if r.State.Final() {
		return 0
	}
	return 1
}

// filed is the instant by which a task stands in the file.
func (r *record) filed() time.Time {
	if r.State.Final() {
		return r.UpdatedAt
	}
	return r.CreatedAt
}

// writer keeps the first error, and counts.
type writer struct {
	*bufio.Writer
	err error
	n   int64
	sum uint32 // of the part
}

// part ends a part of the file: where the next one begins, and its sum.
func (w *writer) part() (next int64, sum uint32) {
	sum, w.sum = w.sum, 0
	return w.n, sum
}

func (w *writer) text(s string) { w.bytes([]byte(s)) }

func (w *writer) bytes(b []byte) {
	if w.err == nil {
		_, w.err = w.Write(b)
		w.n += int64(len(b))
		w.sum = crc32.Update(w.sum, castagnoli, b)
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
