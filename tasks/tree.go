package tasks

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// tree is the tasks of a project at one instant: the parts of each, and what holds it back.
type tree struct {
	project
	parts map[string][]*record
	done  map[string]bool  // what over has found
	waits map[string]*wait // what waitsFor has found
}

func (p project) tree() tree {
	return tree{p, parted(slices.SortedFunc(maps.Values(p), byAge)), map[string]bool{}, map[string]*wait{}}
}

func byAge(a, b *record) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
}

// parted lists the parts of each task in the order of their plan, else of the list. A task
// whose parent is not in the list is a part of "".
func parted(list []*record) map[string][]*record {
	listed, parts := map[string]bool{}, map[string][]*record{}
	for _, x := range list {
		listed[x.ID] = true
	}
	for _, x := range list {
		parent := x.Parent
		if !listed[parent] {
			parent = ""
		}
		parts[parent] = append(parts[parent], x)
	}
	for _, list := range parts {
		slices.SortStableFunc(list, func(a, b *record) int { return cmp.Compare(a.Order, b.Order) })
	}
	return parts
}

// inOrder visits tasks as a tree is read: a parent, then its parts. Those at the top have
// depth 0.
func inOrder(parts map[string][]*record) iter.Seq2[*record, int] {
	return func(yield func(*record, int) bool) {
		var below func(parent string, depth int) bool
		below = func(parent string, depth int) bool {
			for _, x := range parts[parent] {
				if !yield(x, depth) || !below(x.ID, depth+1) {
					return false
				}
			}
			return true
		}
		below("", 0)
	}
}

// over reports whether nothing is left to do of a task: it is completed or canceled, or
// all its parts are.
func (t tree) over(x *record) bool {
	done, known := t.done[x.ID]
	if known {
		return done
	}
	parts := t.parts[x.ID]
	if x.State.Final() && (!x.Phase || len(parts) == 0) { // a phase may have got new parts
		done = x.State == Completed || x.State == Canceled
	} else {
		done = len(parts) > 0 && t.allOver(parts)
	}
	t.done[x.ID] = done
	return done
}

func (t tree) allOver(list []*record) bool {
	return !slices.ContainsFunc(list, func(x *record) bool { return !t.over(x) })
}

// wait is why a task is held back.
type wait struct {
	task    *record  // the task itself, or the one above it that waits
	by      *record  // what it waits for
	blocked *Blocked // why that will not end by itself; nil if it may
}

// waitsFor is the first wait that holds x back, or nil. A task waits also for what the
// tasks above it wait for. Only a completed task frees what waits for it; a canceled one
// does not, since what it should have made is not there.
func (t tree) waitsFor(x *record) *wait {
	if x == nil {
		return nil
	}
	w, known := t.waits[x.ID]
	if known {
		return w
	}
	i := slices.IndexFunc(x.After, func(id string) bool {
		y := t.project[id]
		return y != nil && (y.State == Canceled || !t.over(y))
	})
	if i < 0 {
		w = t.waitsFor(t.project[x.Parent])
	} else {
		w = &wait{task: x, by: t.project[x.After[i]]}
		if ended := t.endedIn(w.by); ended != nil {
			w.blocked = &Blocked{x.ID, w.by.ID, ended.ID, ended.State}
		}
	}
	t.waits[x.ID] = w
	return w
}

// endedIn is x or the first part of it because of which x will never be completed, or nil.
func (t tree) endedIn(x *record) *record {
	if x.State.Final() {
		if x.State == Completed {
			return nil
		}
		return x
	}
	for _, part := range t.parts[x.ID] {
		if part.State == Canceled { // its parent does not need it
			continue
		}
		if ended := t.endedIn(part); ended != nil {
			return ended
		}
	}
	return nil
}

// ready reports whether somebody can work on an open task: it is no heading, waits for
// nothing and nobody, and all its parts are done.
func (t tree) ready(x *record) bool {
	return !x.Phase && !x.State.Interrupted() && t.waitsFor(x) == nil && t.allOver(t.parts[x.ID])
}

// Blocked is a task that waits for one which will never be completed.
type Blocked struct {
	ID       string `json:"id"`
	WaitsFor string `json:"waits_for"`
	Ended    string `json:"ended"` // that task, or the part of it that ended
	State    State  `json:"state"` // how it ended
}

// what says what the task waits for.
func (b Blocked) what() string {
	if b.Ended == b.WaitsFor {
		return fmt.Sprintf("%s, which is %s", b.WaitsFor, b.State)
	}
	return fmt.Sprintf("%s, of which %s is %s", b.WaitsFor, b.Ended, b.State)
}

// freeing is how to free a task that is blocked.
func freeing(call prose.Syntax, id string) string {
	return "to free it: " + call("update", "task_id", id, "after", noTask)
}

// blockedShown is how many blocked tasks an answer names.
const blockedShown = 5

// blockedLines names blocked tasks, each in a line made by say.
func blockedLines(list []Blocked, say func(Blocked) string) string {
	var text strings.Builder
	for _, b := range list[:min(len(list), blockedShown)] {
		text.WriteString("\n  " + say(b))
	}
	if more := len(list) - blockedShown; more > 0 {
		fmt.Fprintf(&text, "\n  … %d more", more)
	}
	return text.String()
}

// with is the project with some tasks added or changed.
func (p project) with(changed ...*record) project {
	after := project{}
	maps.Copy(after, p)
	for _, x := range changed {
		after.put(x)
	}
	return after
}

// blockedBy lists the tasks that wait in vain because one has ended, by id.
func (t tree) blockedBy(ended *record) (out []Blocked) {
	for _, x := range t.project {
		if w := t.waitsFor(x); w != nil && w.task == x && !x.State.Final() && w.blocked != nil && w.blocked.Ended == ended.ID {
			out = append(out, *w.blocked)
		}
	}
	slices.SortFunc(out, func(a, b Blocked) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// allFinished is why a phase is completed.
const allFinished = "all its tasks are finished"

// completeAbove completes the phases of a plan whose last part is finished in p.
func (p project) completeAbove(finished *record, by string) (events []event) {
	for up := p[finished.Parent]; up != nil && up.Phase && !up.State.Final() && p.tree().over(up); up = p[up.Parent] {
		events = append(events, event{Change: &change{ID: up.ID, By: by, To: Completed, Why: allFinished}})
		completed := *up
		completed.State = Completed
		p = p.with(&completed)
	}
	return events
}

// noTask in after says that a task waits for none.
const noTask = "none"

// waitList finds the tasks that a task shall wait for.
func (p project) waitList(ids []string) (out []string, err error) {
	if len(ids) == 1 && strings.EqualFold(strings.TrimSpace(ids[0]), noTask) {
		return nil, nil
	}
	for _, id := range ids {
		y, err := p.find("after", id)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, y.ID) {
			out = append(out, y.ID)
		}
	}
	return out, nil
}

// placed refuses a task that could never be completed where it now is: moved below another one,
// or with other tasks to wait for.
func (p project) placed(x *record, moved bool) error {
	switch {
	case p.with(x).tree().circle(x) == nil:
		return nil
	case moved:
		return refusal.Argument("parent", "task %s cannot be below %s: one of them waits for the other, or for a part of it", x.ID, x.Parent)
	}
	return refusal.Argument("after", "task %s cannot wait for %s: it is the same, above it, below it, or waits for it", x.ID, strings.Join(x.After, ", "))
}

// waiting is one thing that a task waits for.
type waiting struct {
	x  *record
	on string // the id of a task in x.After
}

// circle finds a circle of needs that some tasks lead to, and returns the waits in it, or nil. The
// end of a task needs its beginning and the ends of its parts. Its beginning needs that of the
// task above it, and the ends of the tasks that it waits for. So every circle has a wait in it.
func (t tree) circle(list ...*record) (waits []waiting) {
	type moment struct {
		id  string
		end bool
	}
	visited := map[moment]int{} // 1 + its place in path; -1: it leads to no circle
	var path []waiting          // the wait that led to each moment; the zero value: none did
	var visit func(x *record, end bool, by waiting) bool
	visit = func(x *record, end bool, by waiting) bool {
		if x == nil {
			return false
		}
		at := moment{x.ID, end}
		if place := visited[at]; place != 0 {
			if place > 0 {
				waits = slices.DeleteFunc(append(slices.Clone(path[place:]), by), func(w waiting) bool { return w.x == nil })
			}
			return place > 0
		}
		path = append(path, by)
		visited[at] = len(path)
		defer func() { path, visited[at] = path[:len(path)-1], -1 }()
		if end {
			return visit(x, false, waiting{}) || slices.ContainsFunc(t.parts[x.ID], func(part *record) bool { return visit(part, true, waiting{}) })
		}
		return visit(t.project[x.Parent], false, waiting{}) ||
			slices.ContainsFunc(x.After, func(id string) bool { return visit(t.project[id], true, waiting{x, id}) })
	}
	for _, x := range list {
		if visit(t.project[x.ID], true, waiting{}) {
			break
		}
	}
	return waits
}

// levels is how many levels a task and its parts have.
func (t tree) levels(x *record) int {
	n := 0
	for _, part := range t.parts[x.ID] {
		n = max(n, t.levels(part))
	}
	return n + 1
}
