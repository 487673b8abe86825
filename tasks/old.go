package tasks

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"strings"
	"sync"
	"time"
)

// oldAfter is how long after its end a task becomes old: it leaves the lists
// that nobody asked for it in, and what a command reads at once.
const oldAfter = 90 * 24 * time.Hour

// oldNames says which old tasks a project has.
type oldNames struct {
	Project string        `json:"project"`
	States  map[State]int `json:"states"`
	IDs     string        `json:"ids"` // with a blank before and behind each
}

// namesOfOld gathers the names, in the order of the projects.
func namesOfOld(old []*record) []*oldNames {
	var out []*oldNames
	for _, r := range old {
		if len(out) == 0 || out[len(out)-1].Project != r.Project {
			out = append(out, &oldNames{Project: r.Project, States: map[State]int{}, IDs: " "})
		}
		n := out[len(out)-1]
		n.States[r.State]++
		n.IDs += r.ID + " "
	}
	return out
}

// archive is the old tasks of a file. They are final, so it never changes;
// they are read when the first of them is asked for.
type archive struct {
	names map[string]*oldNames
	text  func() ([]byte, error)

	once  sync.Once
	tasks map[string]map[string]*record
	err   error
}

// newArchive reads the names.
func newArchive(part []byte, text func() ([]byte, error)) (*archive, bool) {
	list, marked := bytes.CutPrefix(part, []byte(namesMark))
	list, ended := bytes.CutSuffix(list, []byte(listEnd))
	var names []*oldNames
	if !marked || !ended || json.Unmarshal([]byte("["+string(list)+"]"), &names) != nil {
		return nil, false
	}
	a := &archive{text: text, names: map[string]*oldNames{}}
	for _, n := range names {
		a.names[n.Project] = n
	}
	return a, true
}

// oldError says that the old tasks cannot be read. Then the file is read whole,
// and the journal knows what to do if it is damaged.
type oldError struct{ reason error }

func (e *oldError) Error() string { return "the old tasks cannot be read: " + e.reason.Error() }

func (e *oldError) Unwrap() error { return e.reason }

func (a *archive) load() (map[string]map[string]*record, error) {
	a.once.Do(func() {
		text, err := a.text()
		if err == nil {
			var raws []json.RawMessage
			if raws, err = split(text, oldMark); err == nil {
				b := newBoard()
				err = b.putAll(raws)
				a.tasks = b.projects
			}
		}
		if err != nil {
			a.err = &oldError{err}
		}
	})
	return a.tasks, a.err
}

// oldOf are the old tasks of a project, read from the file if need be.
func (b *board) oldOf(project string) (map[string]*record, error) {
	if b.old == nil || b.old.names[project] == nil {
		return nil, nil
	}
	all, err := b.old.load()
	return all[project], err
}

// oldMatch reports whether an old task has an id that begins like this; with a
// blank behind it, has this id.
func (b *board) oldMatch(project, id string) bool {
	return b.old != nil && b.old.names[project] != nil && strings.Contains(b.old.names[project].IDs, " "+id)
}

// each yields the tasks of a project, with the old ones if asked for them.
func (b *board) each(project string, old bool) (iter.Seq[*record], error) {
	lists := []map[string]*record{b.projects[project], nil}
	if old {
		var err error
		if lists[1], err = b.oldOf(project); err != nil {
			return nil, err
		}
	}
	return func(yield func(*record) bool) {
		for _, list := range lists {
			for _, r := range list {
				if !yield(r) {
					return
				}
			}
		}
	}, nil
}

// get is the task with an id, old or not; nil if there is none.
func (b *board) get(project, id string) (*record, error) {
	if r := b.projects[project][id]; r != nil || !b.oldMatch(project, id+" ") {
		return r, nil
	}
	list, err := b.oldOf(project)
	return list[id], err
}

// countOld adds how many old tasks of a project are in each state.
func (b *board) countOld(project string, counts map[State]int) {
	if b.old == nil || b.old.names[project] == nil {
		return
	}
	for state, n := range b.old.names[project].States {
		counts[state] += n
	}
}

// everything is all tasks of all projects.
func (b *board) everything() (map[string]map[string]*record, error) {
	out := maps.Clone(b.projects)
	if b.old == nil {
		return out, nil
	}
	old, err := b.old.load()
	for project, list := range old {
		list = maps.Clone(list)
		maps.Copy(list, b.projects[project])
		out[project] = list
	}
	return out, err
}
