package tasks

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/formats/plan"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// maxPlan is the most bytes of a plan's file, and maxItems the most tasks in it.
const (
	maxPlan  = 16 << 20
	maxItems = 5_000
)

// inOrder lists the project's tasks as a tree is read. Parts are in the order of their plan,
// else by age.
func (p project) inOrder() (out []*record) {
	walk(slices.SortedFunc(maps.Values(p), func(a, b *record) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	}), func(x *record, _ int) { out = append(out, x) })
	return out
}

// walk visits tasks as a tree is read: a parent, then its parts. A task whose parent is not in
// the list is at the top, at depth 0. Parts are in the order of their plan, else of the list.
func walk(list []*record, visit func(x *record, depth int)) {
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
	var below func(parent string, depth int)
	below = func(parent string, depth int) {
		slices.SortStableFunc(parts[parent], func(a, b *record) int { return cmp.Compare(a.Order, b.Order) })
		for _, x := range parts[parent] {
			visit(x, depth)
			below(x.ID, depth+1)
		}
	}
	below("", 0)
}

// over reports whether nothing is left to do of a task: it is completed or canceled, or
// all its parts are.
func (p project) over(x *record) bool { return p.overWith(x, nil) }

// overWith is over once some tasks are changed as given.
func (p project) overWith(x *record, changed map[string]*record) bool {
	if c := changed[x.ID]; c != nil {
		x = c
	}
	parts := p.children(x.ID)
	if x.State.Final() && (!x.Phase || len(parts) == 0) { // a phase may have got new parts
		return x.State == Completed || x.State == Canceled
	}
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(part *record) bool { return !p.overWith(part, changed) })
}

// wait is why a task is held back.
type wait struct {
	held *record // the task itself, or the one above it that waits
	by   *record // what it waits for
}

// waitsFor is the first wait that holds x back, or nil. A task waits also for what the
// tasks above it wait for. Only a completed task frees what waits for it; a canceled one
// does not, since what it should have made is not there.
func (p project) waitsFor(x *record) *wait {
	for ; x != nil; x = p[x.Parent] {
		for _, id := range x.After {
			if y := p[id]; y != nil && (y.State == Canceled || !p.over(y)) {
				return &wait{x, y}
			}
		}
	}
	return nil
}

// endedIn is x or the first part of it because of which x will never be completed, or nil.
func (p project) endedIn(x *record) *record {
	if x.State == Completed {
		return nil
	}
	if x.State.Final() {
		return x
	}
	for _, part := range p.children(x.ID) {
		if part.State == Canceled { // its parent goes on without it
			continue
		}
		if ended := p.endedIn(part); ended != nil {
			return ended
		}
	}
	return nil
}

// blockedBy lists the tasks that wait in vain once a task is changed as given, by id.
func (p project) blockedBy(changed *record) (out []Blocked) {
	if changed.State == Completed {
		return nil
	}
	after := maps.Clone(p)
	after[changed.ID] = changed
	for _, x := range after {
		if x.State.Final() {
			continue
		}
		if w := after.waitsFor(x); w != nil && w.held == x {
			if b := after.blocked(w); b != nil && b.Ended == changed.ID {
				out = append(out, *b)
			}
		}
	}
	slices.SortFunc(out, func(a, b Blocked) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// noTask in after says that a task waits for none.
const noTask = "none"

// waitList checks the ids that a task shall wait for. x is nil for a new task.
func (p project) waitList(ids []string, x *record) (out []string, err error) {
	if len(ids) == 1 && strings.EqualFold(strings.TrimSpace(ids[0]), noTask) {
		return nil, nil
	}
	for _, id := range ids {
		y, err := p.find("after", id)
		if err != nil {
			return nil, err
		}
		if x != nil && p.reaches(y, x.ID, map[string]bool{}) {
			return nil, refusal.Argument("after", "task %s cannot wait for %s, which is the same, above it, or waits for it", x.ID, y.ID)
		}
		if !slices.Contains(out, y.ID) {
			out = append(out, y.ID)
		}
	}
	return out, nil
}

// reaches reports whether a task cannot be completed before the one with an id. It is that
// task, waits for it, or is above it.
func (p project) reaches(x *record, id string, seen map[string]bool) bool {
	if x.ID == id {
		return true
	}
	if seen[x.ID] {
		return false
	}
	seen[x.ID] = true
	for _, part := range p.children(x.ID) {
		if p.reaches(part, id, seen) {
			return true
		}
	}
	for up := x; up != nil; up = p[up.Parent] {
		for _, before := range up.After {
			if y := p[before]; y != nil && p.reaches(y, id, seen) {
				return true
			}
		}
	}
	return false
}

// completeAbove completes the phases of a plan whose last part a change has finished.
func (p project) completeAbove(changed *record, by string) (events []event) {
	if !changed.State.Final() {
		return nil
	}
	all := map[string]*record{changed.ID: changed}
	for up := p[changed.Parent]; up != nil && up.Phase && !up.State.Final() && p.overWith(up, all); up = p[up.Parent] {
		events = append(events, event{Change: &change{ID: up.ID, By: by, To: Completed, Why: "all its tasks are finished"}})
		completed := *up
		completed.State = Completed
		all[up.ID] = &completed
	}
	return events
}

// NextTask is the result of next.
type NextTask struct {
	Task     *Details  `json:"task"` // nil: there is none
	Claimed  bool      `json:"claimed,omitempty"`
	Previous []Outcome `json:"previous,omitempty"` // what the tasks before it left, the newest first
	Open     int       `json:"open"`               // tasks that are not finished
	Held     int       `json:"held_back"`          // of them, those that wait for another task
	Others   int       `json:"of_others"`          // of them, those of other agents and types
	Blocked  []Blocked `json:"blocked,omitempty"`  // the tasks that hold the held ones back for good

	agent string
}

// Blocked is a task that waits for one which will never be completed.
type Blocked struct {
	ID       string `json:"id"`
	WaitsFor string `json:"waits_for"`
	Ended    string `json:"ended"` // that task, or the part of it that ended
	State    State  `json:"state"` // how it ended
}

// blocked is why a wait will not end by itself; nil if it may.
func (p project) blocked(w *wait) *Blocked {
	ended := p.endedIn(w.by)
	if ended == nil {
		return nil
	}
	return &Blocked{w.held.ID, w.by.ID, ended.ID, ended.State}
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

// Outcome is what a completed task left to those after it.
type Outcome struct {
	Task      Task       `json:"task"`
	Result    string     `json:"result,omitempty"` // what was said when it was completed
	Message   string     `json:"message,omitempty"`
	Artifacts []Artifact `json:"artifacts,omitempty"`
}

// previousShown is how many earlier tasks next tells about.
const previousShown = 3

// Next gives the caller its unfinished task. If it has none, Next claims the first task of the
// plan that is free for it and not held back. It does so in one step, so two callers never get
// the same one. A task of a silent agent is free too. A task with open parts is not given; its
// parts are.
func (s *Store) Next(ctx context.Context, _ NoArgs) (NextTask, error) {
	if err := s.registered(ctx); err != nil {
		return NextTask{}, err
	}
	agent := s.actor.Agent
	silent, err := s.silentAgents(ctx)
	if err != nil {
		return NextTask{}, err
	}
	var r NextTask
	err = s.update(ctx, func(p project, now time.Time) ([]event, error) {
		r = NextTask{agent: agent}
		x := p.next(agent, silent, func(t *Task) bool { return t.freeFor(agent) }, &r)
		if x == nil {
			return nil, nil
		}
		r.Previous = p.outcomes(x)
		w := taskChange{id: x.ID, agent: agent, by: s.actor.name(), claim: true}
		if silent[x.Assignee] != nil && x.Assignee != agent {
			w.silent, w.why = x.Assignee, x.Assignee+" is silent"
		}
		c, err := w.decide(p)
		if err != nil {
			return nil, err
		}
		changed := x.with(&c, now.UTC())
		r.Task, r.Claimed = new(p.details(changed, now)), x.Assignee != agent
		if c.empty() {
			return nil, nil
		}
		return []event{{Change: &c}}, nil
	})
	return r, err
}

// Ahead is the work that waits for somebody.
type Ahead struct {
	Own  []Task // its open tasks: first what next gives, then by the plan
	Next *Task  // what next would claim for it; nil if that is one of Own, or there is none
}

// Ahead tells which open tasks an agent has, and what next would give it. It claims
// nothing. An agent that has not registered yet has no id; then isKind reports whether
// tasks addressed to a type are for it.
func (s *core) Ahead(ctx context.Context, agent string, isKind func(kind string) bool) (a Ahead, err error) {
	silent, err := s.silentAgents(ctx)
	if err != nil {
		return a, err
	}
	free := func(t *Task) bool {
		return t.freeFor(agent) || agent == "" && t.unclaimed() && isKind(t.Assignee)
	}
	err = s.view(ctx, func(p project, _ time.Time) error {
		a = Ahead{}
		x := p.next(agent, silent, free, &NextTask{})
		if x != nil && (agent == "" || x.Assignee != agent) {
			a.Next = new(x.shown())
		}
		for _, y := range p.inOrder() {
			switch {
			case agent == "" || y.Assignee != agent || y.State.Final():
			case x != nil && y.ID == x.ID:
				a.Own = slices.Insert(a.Own, 0, y.shown())
			default:
				a.Own = append(a.Own, y.shown())
			}
		}
		return nil
	})
	return a, err
}

// next chooses the task for an agent, and counts the open ones.
func (p project) next(agent string, silent map[string]*time.Time, free func(*Task) bool, r *NextTask) (first *record) {
	known := map[string]bool{}
	for _, x := range p.inOrder() {
		if x.State.Final() {
			continue
		}
		r.Open++
		own, wait := agent != "" && x.Assignee == agent, p.waitsFor(x)
		switch {
		case !own && !free(&x.Task) && silent[x.Assignee] == nil:
			r.Others++
		case wait != nil:
			r.Held++
			if known[wait.held.ID] { // the parts of a phase wait for the same
				break
			}
			known[wait.held.ID] = true
			if b := p.blocked(wait); b != nil {
				r.Blocked = append(r.Blocked, *b)
			}
		case !p.ready(x):
		case own && x.State == Working:
			return x // what it has begun comes first
		case first == nil:
			first = x
		}
	}
	return first
}

// ready reports whether somebody can work on an open task: it is no heading, waits for
// nothing and nobody, and all its parts are done.
func (p project) ready(x *record) bool {
	return !x.Phase && !x.State.Interrupted() && p.waitsFor(x) == nil &&
		!slices.ContainsFunc(p.children(x.ID), func(part *record) bool { return !p.over(part) })
}

// silentAgents tells since when the assignees of open tasks are silent; nil: they are not.
func (s *core) silentAgents(ctx context.Context) (map[string]*time.Time, error) {
	silent := map[string]*time.Time{}
	var open []Task
	err := s.view(ctx, func(p project, _ time.Time) error {
		open = nil
		for _, x := range p.open(func(t *Task) bool { return !t.unclaimed() }) {
			open = append(open, x.Task)
		}
		return nil
	})
	for _, t := range open {
		s.silent(ctx, t, silent)
	}
	return silent, err
}

// outcomes is what the completed tasks before x left: those it waits for with their parts, and
// its earlier siblings.
func (p project) outcomes(x *record) (out []Outcome) {
	before := map[string]*record{}
	var add func(y *record)
	add = func(y *record) {
		if y == nil || before[y.ID] != nil {
			return
		}
		before[y.ID] = y
		for _, part := range p.children(y.ID) {
			add(part)
		}
	}
	for up := x; up != nil; up = p[up.Parent] {
		for _, id := range up.After {
			add(p[id])
		}
		for _, sibling := range p.children(up.Parent) {
			if up.Parent != "" && sibling.Order < up.Order {
				add(sibling)
			}
		}
	}
	list := slices.SortedFunc(maps.Values(before), func(a, b *record) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(b.Order, a.Order), strings.Compare(a.ID, b.ID))
	})
	for _, y := range list {
		if y.State != Completed || y.Phase {
			continue
		}
		l := Outcome{Task: y.shown(), Artifacts: y.Artifacts}
		if n := len(y.History); n > 0 {
			l.Result = y.History[n-1].Why
		}
		if n := len(y.thread.Messages); n > 0 {
			l.Message = y.thread.Messages[n-1].Text
		}
		if out = append(out, l); len(out) == previousShown {
			break
		}
	}
	return out
}

// blockedShown is how many blocked tasks next names.
const blockedShown = 5

// Text gives the answer's lines.
func (r NextTask) Text() string { return r.TextIn(prose.MCP) }

// TextIn gives the answer's lines in the caller's syntax.
func (r NextTask) TextIn(call prose.Syntax) string {
	if r.Task == nil {
		var text strings.Builder
		text.WriteString("No task is next for " + prose.Brief(r.agent) + ".")
		if r.Open > 0 {
			fmt.Fprintf(&text, " Open: %d, held back: %d, of others: %d.", r.Open, r.Held, r.Others)
		}
		for _, b := range r.Blocked[:min(len(r.Blocked), blockedShown)] {
			fmt.Fprintf(&text, "\n  %s waits for %s; %s", b.ID, b.what(), freeing(call, b.ID))
		}
		if more := len(r.Blocked) - blockedShown; more > 0 {
			fmt.Fprintf(&text, "\n  … %d more", more)
		}
		return text.String()
	}
	var b strings.Builder
	if r.Claimed {
		fmt.Fprintf(&b, "Next, claimed by %s:\n", prose.Brief(r.agent))
	} else {
		fmt.Fprintf(&b, "Next, already of %s:\n", prose.Brief(r.agent))
	}
	b.WriteString(r.Task.Text())
	for i, l := range r.Previous {
		if i == 0 {
			b.WriteString("\nLeft by the tasks before it:")
		}
		fmt.Fprintf(&b, "\n  %s", l.Task.named())
		if l.Result != "" {
			fmt.Fprintf(&b, "\n%s", prose.Indent(l.Result, "    "))
		}
		if l.Message != "" {
			fmt.Fprintf(&b, "\n    Message:\n%s", prose.Indent(l.Message, "      "))
		}
		for _, a := range l.Artifacts {
			fmt.Fprintf(&b, "\n    Artifact %s:\n%s", prose.Brief(a.Name), prose.Indent(a.Text, "      "))
		}
	}
	return b.String()
}

// PlanFile is the arguments of import.
type PlanFile struct {
	File   string `json:"file" arg:"1" jsonschema:"a Markdown checklist, or the issues.jsonl of beads"`
	DryRun bool   `json:"dry_run,omitempty" jsonschema:"say what would change, write nothing"`

	Data io.Reader `json:"-"` // instead of the file, when the caller has it
}

// ImportedPlan is the result of import. A task counts once.
type ImportedPlan struct {
	File      string         `json:"file"`
	Program   string         `json:"program,omitempty"` // that wrote it, when it is no checklist
	Created   int            `json:"created"`
	Changed   int            `json:"changed"`
	Completed int            `json:"completed"`
	Canceled  int            `json:"canceled"` // no longer in the file
	Unchanged int            `json:"unchanged"`
	Kept      []string       `json:"kept,omitempty"` // finished here, open in the file
	LeftOut   map[string]int `json:"left_out,omitempty"`
	Redacted  []string       `json:"redacted,omitempty"`
	DryRun    bool           `json:"dry_run"`
}

// Text gives the answer's lines.
func (r ImportedPlan) Text() string {
	lead := "Plan " + prose.Line(r.File)
	if r.Program != "" {
		lead += " (" + r.Program + ")"
	}
	if r.DryRun {
		lead = "[DRY RUN] " + lead
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %d created, %d changed, %d completed, %d canceled, %d unchanged", lead, r.Created, r.Changed, r.Completed, r.Canceled, r.Unchanged)
	if len(r.Kept) > 0 {
		text.WriteString("\n  finished here and open in the file, so left as they are: " + strings.Join(r.Kept, ", "))
	}
	for _, what := range slices.Sorted(maps.Keys(r.LeftOut)) {
		if n := r.LeftOut[what]; n > 0 {
			fmt.Fprintf(&text, "\n  no place for %d %s", n, what)
		}
	}
	return text.String() + prose.Redacted(r.Redacted)
}

// Import makes tasks of a plan, in one commit. A second import of the same file changes only
// what changed in it. An item is known by the id in its comment, or by its file and name. An
// item that is no longer there is canceled if nobody began it.
func (s *Store) Import(ctx context.Context, a PlanFile) (ImportedPlan, error) {
	text, name, err := a.read(s.opts.ProjectRoot)
	if err != nil {
		return ImportedPlan{}, err
	}
	file, err := plan.Parse(text)
	if err == nil && len(file.Items) > maxItems {
		err = fmt.Errorf("%d items, more than %d", len(file.Items), maxItems)
	}
	if err != nil {
		return ImportedPlan{}, refusal.Argument("file", "%s: %v", prose.Clip(name, 100), err)
	}
	in := &input{s: s}
	for i := range file.Items {
		x := &file.Items[i]
		where := fmt.Sprintf("line %d: title", x.Line)
		if runes := []rune(x.Title); len(runes) > MaxTitle {
			x.Title, x.Description = string(runes[:MaxTitle-1])+"…", strings.TrimSpace(string(runes)+"\n"+x.Description)
		}
		x.Title = in.line(where, x.Title, MaxTitle)
		x.Description = in.text(fmt.Sprintf("line %d: description", x.Line), x.Description)
		x.Assignee = in.agentName(fmt.Sprintf("line %d: assignee", x.Line), x.Assignee)
		x.References = in.references(x.References)
	}
	if in.err != nil {
		return ImportedPlan{}, in.err
	}
	var r ImportedPlan
	decide := func(p project, now time.Time) ([]event, error) {
		r = ImportedPlan{File: name, Program: file.Program, LeftOut: file.LeftOut, DryRun: a.DryRun, Redacted: in.redacted}
		return p.adopt(s.opts.ProjectHash, s.actor.name(), name, file, now.UTC(), &r), nil
	}
	if a.DryRun {
		return r, s.view(ctx, func(p project, now time.Time) error { _, err := decide(p, now); return err })
	}
	return r, s.update(ctx, decide)
}

// read gives the text of the file and its name from the root of the project.
func (a PlanFile) read(root string) (text []byte, name string, err error) {
	if a.Data != nil {
		text, err = io.ReadAll(io.LimitReader(a.Data, maxPlan+1))
		name = "standard input"
	} else {
		if err := refusal.Required("file", a.File); err != nil {
			return nil, "", err
		}
		var within bool
		if name, within = formats.PathIn(root, a.File); !within {
			name = filepath.Base(a.File)
		}
		var info os.FileInfo
		switch info, err = os.Stat(a.File); {
		case errors.Is(err, os.ErrNotExist):
			return nil, "", refusal.NotFound("No such file: %s", a.File)
		case err == nil && !info.Mode().IsRegular():
			return nil, "", refusal.Argument("file", "%s is no ordinary file", a.File)
		case err == nil && info.Size() <= maxPlan:
			text, err = os.ReadFile(a.File)
		case err == nil:
			text = make([]byte, maxPlan+1)
		}
	}
	if err == nil && len(text) > maxPlan {
		err = refusal.Argument("file", "%s has more than %d MiB", name, maxPlan>>20)
	}
	return text, name, err
}

// adopt returns the events that make the tasks be as a plan says: each new or changed task whole.
func (p project) adopt(hash, by, file string, from *plan.Plan, now time.Time, r *ImportedPlan) (events []event) {
	known, taken := map[string]*record{}, map[string]bool{} // by item, by id
	for id, x := range p {
		taken[id] = true
		if strings.HasPrefix(x.Plan, file+"#") {
			known[x.Plan] = x
		}
	}
	tasks := make([]*record, len(from.Items))
	finished := finishedPhases(from)
	for i, it := range from.Items {
		if finished[i] {
			it.State = string(Completed)
		}
		name := file + "#" + it.Name
		old := cmp.Or(p[it.ID], known[name])
		delete(known, name)
		parent := ""
		if it.Parent >= 0 {
			parent = tasks[it.Parent].ID
		}
		if old == nil {
			id := newID(hash+"\x00"+name, now, func(id string) bool { return taken[id] })
			taken[id] = true
			tasks[i] = &record{Task: Task{Project: hash, ID: id, CreatedBy: by, CreatedAt: now}}
		} else {
			delete(known, old.Plan)
			tasks[i] = new(*old)
		}
		tasks[i].plan(by, parent, name, it, i+1, now, r)
	}
	// What an item waits for may stand after it in the file.
	for i, x := range tasks {
		old := p[x.ID]
		if old == nil || !old.State.Final() {
			x.After = nil
			for _, j := range from.Items[i].After {
				x.After = append(x.After, tasks[j].ID)
			}
		}
		if old == nil || !reflect.DeepEqual(old, x) {
			x.UpdatedAt = now
			events = append(events, event{Create: x})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if x := known[name]; x.State == Created {
			r.Canceled++
			events = append(events, event{Change: &change{ID: x.ID, By: by, To: Canceled, Why: "no longer in " + file}})
		}
	}
	return events
}

// plan makes a task, whose state is empty if it is new, what its item says. A finished one stays.
func (x *record) plan(by, parent, name string, it plan.Item, order int, now time.Time, r *ImportedPlan) {
	created, completed := x.State == "", it.State == string(Completed)
	switch {
	case x.State.Final() && !created:
		if !completed && x.State == Completed && !it.Phase {
			r.Kept = append(r.Kept, x.ID)
		} else {
			r.Unchanged++
		}
		return
	case created:
		r.Created++
	case it.Title != x.Title || it.Description != x.Description || parent != x.Parent:
		r.Changed++
	case !completed:
		r.Unchanged++
	}
	to := Created // also of one that is worked on: nobody here works on it yet
	switch {
	case completed:
		to = Completed
		r.Completed++
	case it.State == string(Canceled):
		to = Canceled
	}
	h := Transition{From: x.State, To: to, By: by, At: now}
	if created {
		h.Parent = parent
	} else {
		h.Why = "completed in the plan"
	}
	if x.State == Working && completed {
		x.WorkedAt = now
	}
	if created || completed {
		x.State, x.History = to, append(slices.Clip(x.History), h)
	}
	x.Title, x.Description, x.Parent, x.Plan, x.Order = it.Title, it.Description, parent, name, order
	if created {
		x.Phase, x.References = it.Phase, it.References
	}
}

// finishedPhases marks the phases of which every part is completed.
func finishedPhases(p *plan.Plan) []bool {
	finished := make([]bool, len(p.Items))
	for i, x := range p.Items {
		finished[i] = x.Phase
	}
	for i, x := range slices.Backward(p.Items) {
		done := x.State == string(Completed) || finished[i]
		if x.Parent >= 0 && !done {
			finished[x.Parent] = false
		}
	}
	return finished
}

// PlanExport is the arguments of export.
type PlanExport struct {
	TaskID string `json:"task_id,omitempty" arg:"1" jsonschema:"only this task and its parts"`
	Format string `json:"format,omitempty" short:"f" enum:"md" jsonschema:"md, a Markdown checklist (default)"`
	File   string `json:"file,omitempty" flag:"output" short:"o" jsonschema:"where to write it; without it the answer is the plan"`
}

// ExportedPlan is the result of export.
type ExportedPlan struct {
	File  string `json:"file,omitempty"`
	Tasks int    `json:"tasks"`
	Data  string `json:"data,omitempty"`
}

// Text gives the plan itself, or where it was written.
func (r ExportedPlan) Text() string {
	if r.File == "" {
		return strings.TrimSuffix(r.Data, "\n")
	}
	return fmt.Sprintf("Exported to %s (%s)", prose.Line(r.File), prose.Count(r.Tasks, "task"))
}

// Export writes the tasks as a checklist with states, which import reads again.
func (s *core) Export(ctx context.Context, a PlanExport) (ExportedPlan, error) {
	if a.Format != "" && a.Format != "md" {
		return ExportedPlan{}, refusal.Argument("format", "format %q is not md", prose.Clip(a.Format, 40))
	}
	var items []plan.Item
	err := s.view(ctx, func(p project, _ time.Time) error {
		root := ""
		if items = nil; a.TaskID != "" {
			x, err := p.find("task_id", a.TaskID)
			if err != nil {
				return err
			}
			root = x.ID
		}
		items = p.items(root)
		return nil
	})
	if err != nil {
		return ExportedPlan{}, err
	}
	var b bytes.Buffer
	if err := plan.Write(&b, items); err != nil {
		return ExportedPlan{}, err
	}
	if a.File == "" {
		return ExportedPlan{Tasks: len(items), Data: b.String()}, nil
	}
	return ExportedPlan{File: a.File, Tasks: len(items)}, os.WriteFile(a.File, b.Bytes(), 0o600)
}

// items is the tasks as a plan; root limits it to one task and its parts.
func (p project) items(root string) (items []plan.Item) {
	index := map[string]int{}
	for _, x := range p.inOrder() {
		up, inside := index[x.Parent]
		switch {
		case root == "" && !inside, x.ID == root:
			up = -1
		case !inside:
			continue
		}
		index[x.ID] = len(items)
		items = append(items, plan.Item{
			ID: x.ID, Title: x.Title, Description: x.Description, State: string(x.State), Assignee: x.Assignee, Parent: up, Phase: x.Phase,
		})
	}
	return items
}
