package tasks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/formats/plan"
	"leanctx/internal/args"
	"leanctx/internal/atomicfile"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// maxPlan is the most bytes of a plan's file, and maxItems the most tasks in it.
const (
	maxPlan  = 16 << 20
	maxItems = 5_000
)

// PlanFile is the arguments of import.
type PlanFile struct {
	File   string `json:"file" arg:"1" jsonschema:"a Markdown checklist, or the issues.jsonl of beads"`
	DryRun bool   `json:"dry_run,omitempty" jsonschema:"say what would change, write nothing"`
}

// ImportedPlan is the result of import. Completed also counts those of the created and changed
// tasks that are completed.
type ImportedPlan struct {
	File         string         `json:"file"`
	Program      string         `json:"program,omitempty"` // that wrote it, when it is no checklist
	Created      int            `json:"created"`
	Changed      int            `json:"changed"`
	Completed    int            `json:"completed"`
	Canceled     int            `json:"canceled"` // no longer in the file
	Unchanged    int            `json:"unchanged"`
	FinishedHere []string       `json:"kept,omitempty"`      // finished here, open in the file
	OfOthers     []string       `json:"of_others,omitempty"` // which the caller may not change as the file would, with their assignees
	Problems     []string       `json:"problems,omitempty"`  // links of the file that cannot be
	LeftOut      map[string]int `json:"left_out,omitempty"`
	Redacted     []string       `json:"redacted,omitempty"`
	DryRun       bool           `json:"dry_run"`
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
	if len(r.FinishedHere) > 0 {
		text.WriteString("\n  finished here and open in the file, so left as they are: " + strings.Join(r.FinishedHere, ", "))
	}
	if len(r.OfOthers) > 0 {
		text.WriteString("\n  of other agents, so not changed as in the file: " + strings.Join(r.OfOthers, ", "))
	}
	for _, problem := range r.Problems {
		text.WriteString("\n  " + problem)
	}
	for _, what := range slices.Sorted(maps.Keys(r.LeftOut)) {
		if n := r.LeftOut[what]; n > 0 {
			fmt.Fprintf(&text, "\n  no place for %s", prose.CountOf(n, what))
		}
	}
	return text.String() + prose.Redacted(r.Redacted)
}

// Import makes tasks of a plan, in one commit. A second import of the same file changes only
// what changed in it. An item is known by the id in its comment, or by its file and name. An
// item that is no longer there is canceled if nobody began it. The caller changes what it may
// change with update, and the answer names the rest.
func (s *Store) Import(ctx context.Context, a PlanFile) (ImportedPlan, error) {
	text, name, err := a.read(s.opts.ProjectRoot)
	if err != nil {
		return ImportedPlan{}, err
	}
	if name, err = s.planName(ctx, a.File, name); err != nil {
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
		x.References = in.references(x.References)
		x.Why = in.text(fmt.Sprintf("line %d: state", x.Line), x.Why)
	}
	if in.err != nil {
		return ImportedPlan{}, in.err
	}
	var r ImportedPlan
	decide := func(p project, now time.Time) ([]event, error) {
		r = ImportedPlan{File: name, Program: file.Program, LeftOut: file.LeftOut, Problems: slices.Clone(file.Problems), DryRun: a.DryRun, Redacted: in.redacted}
		return p.adopt(s.opts.ProjectHash, taskChange{agent: s.actor.Agent, by: s.actor.name()}, name, file, now.UTC(), &r)
	}
	if a.DryRun {
		err = s.view(ctx, func(p project, now time.Time) error { _, err := decide(p, now); return err })
	} else {
		err = s.update(ctx, decide)
	}
	return r, err
}

// read gives the text of the file and its name from the root of the project.
func (a PlanFile) read(root string) (text []byte, name string, err error) {
	if err := refusal.Required("file", a.File); err != nil {
		return nil, "", err
	}
	name, within := formats.PathIn(root, a.File)
	if !within {
		name = filepath.Base(a.File)
	}
	text, err = args.File(root, a.File, maxPlan)
	switch _, ofFile := errors.AsType[*fs.PathError](err); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", refusal.NotFound("No such file: %s", a.File)
	case err != nil && !ofFile:
		return nil, "", refusal.Argument("file", "%s %v", a.File, err)
	}
	return text, name, err
}

// planName is the name under which the plan in a file is known: it may have been imported by another
// name of the same file, such as a link. Else it is the file's own name, not a link's.
func (s *Store) planName(ctx context.Context, path, name string) (string, error) {
	root := s.opts.ProjectRoot
	info, err := os.Stat(path)
	if err != nil || root == "" {
		return name, nil // it was read a moment ago: the name that was given serves
	}
	names := map[string]bool{}
	err = s.view(ctx, func(p project, _ time.Time) error {
		for _, x := range p {
			for _, item := range append(slices.Clone(x.FormerPlans), x.Plan) {
				if file, _, ok := strings.Cut(item, "#"); ok {
					names[file] = true
				}
			}
		}
		return nil
	})
	if err != nil || names[name] {
		return name, err
	}
	for _, known := range slices.Sorted(maps.Keys(names)) {
		if other, err := os.Stat(filepath.Join(root, filepath.FromSlash(known))); err == nil && os.SameFile(info, other) {
			return known, nil
		}
	}
	real, err := filepath.EvalSymlinks(path)
	realRoot, rootErr := filepath.EvalSymlinks(root)
	if err == nil && rootErr == nil {
		if own, within := formats.PathIn(realRoot, real); within {
			return own, nil
		}
	}
	return name, nil
}

// adopt returns the events that make the tasks be as a plan says: each new or changed task whole.
// What the file says as it did before changes nothing: somebody may have set it otherwise here.
func (p project) adopt(hash string, w taskChange, file string, from *plan.Plan, now time.Time, r *ImportedPlan) (events []event, err error) {
	known, taken, named := map[string]*record{}, map[string]bool{}, map[string]bool{} // by item, by id, by id
	issues := map[string]*record{}                                                    // by id in another program, wherever its file was
	all := slices.SortedFunc(maps.Values(p), byAge)
	for _, x := range all {
		taken[x.ID] = true
		for _, name := range append(slices.Clone(x.FormerPlans), x.Plan) {
			if known[name] == nil || name == x.Plan {
				known[name] = x
			}
			if file, id, _ := strings.Cut(name, "#"); strings.HasSuffix(file, ".jsonl") {
				issues[id] = x
			}
		}
	}
	for _, it := range from.Items {
		named[it.ID] = true
	}
	tasks, used := make([]*record, len(from.Items)), map[string]bool{}
	for i, it := range from.Items {
		name := file + "#" + it.Name
		old := p[it.ID]
		if old == nil || used[old.ID] { // a line that was copied with its comment is a new item
			if old = known[name]; old != nil && (used[old.ID] || named[old.ID]) {
				old = nil
			}
		}
		if old == nil && from.Program != "" {
			if old = issues[it.Name]; old != nil && used[old.ID] {
				old = nil
			}
		}
		if old == nil {
			id := newID(hash+"\x00"+name, now, func(id string) bool { return taken[id] })
			taken[id] = true
			tasks[i] = &record{Task: Task{Project: hash, ID: id, CreatedBy: w.by, CreatedAt: now}}
		} else {
			tasks[i] = new(*old)
		}
		used[tasks[i].ID] = true
	}
	// A file may hold a part of the tree. It says nothing about a task that was never in it.
	outside := func(id string) bool {
		x := p[id]
		return x != nil && !used[id] && !strings.HasPrefix(x.Plan, file+"#")
	}
	partial := false
	left := map[string]bool{} // tasks that stay as they are, although the file says otherwise
	for i, it := range from.Items {
		x, parent, after := tasks[i], "", []string(nil)
		below := it.Parent < 0 && outside(x.Parent)
		partial = partial || below
		if it.Parent >= 0 {
			parent = tasks[it.Parent].ID
		}
		for _, j := range it.After {
			after = append(after, tasks[j].ID)
		}
		for _, id := range x.PlanAfter {
			if outside(id) {
				after = append(after, id)
			}
		}
		switch {
		case x.State.Final() && x.State != "":
			if left[x.ID] = x.State == Completed && it.State != string(Completed) && !it.Phase; left[x.ID] {
				r.FinishedHere = append(r.FinishedHere, x.ID)
			}
			continue
		case !x.plan(w, it, from.Program != "", parent, after, now):
			left[x.ID] = true
			r.OfOthers = append(r.OfOthers, x.ID+" ("+x.Assignee+")")
		}
		x.name(file, it.Name)
		if !below {
			x.place(parent, i+1)
		}
	}
	removed := func(x *record) bool {
		if !strings.HasPrefix(x.Plan, file+"#") || used[x.ID] || x.State != Created {
			return false
		}
		up := p[x.Parent]
		for up != nil && !used[up.ID] {
			up = p[up.Parent]
		}
		return up != nil || !partial
	}
	var canceled []event
	after := p.with(tasks...)
	for _, x := range all {
		switch {
		case !removed(x):
		case !w.may(x.Task):
			r.OfOthers = append(r.OfOthers, x.ID+" ("+x.Assignee+")")
		default:
			c := &change{ID: x.ID, By: w.by, To: Canceled, Why: "no longer in " + file}
			after.put(x.with(c, now))
			canceled = append(canceled, event{Change: c})
		}
	}
	r.Canceled = len(canceled)
	for i, x := range tasks {
		tasks[i] = after[x.ID]
	}
	t := after.tree()
	if err := t.sound(file, from, tasks, r); err != nil {
		return nil, err
	}
	for _, x := range tasks {
		old := p[x.ID]
		if x.Phase && !x.State.Final() && t.over(x) {
			x.complete(w.by, allFinished, now)
		}
		switch {
		case old == nil:
			r.Created++
		case old.Title != x.Title || old.Description != x.Description || old.Parent != x.Parent || !slices.Equal(old.After, x.After),
			old.Assignee != x.Assignee, old.State != x.State && x.State != Completed:
			r.Changed++
		case old.State == x.State && !left[x.ID]:
			r.Unchanged++
		}
		if x.State == Completed && (old == nil || old.State != Completed) {
			r.Completed++
		}
		if old == nil || !reflect.DeepEqual(old, x) {
			x.UpdatedAt = now
			events = append(events, event{Create: x})
		}
	}
	for _, x := range tasks { // phases that are in no item of this file
		for up := t.project[x.Parent]; up != nil && up.Phase && !up.State.Final() && !used[up.ID] && t.over(up); up = t.project[up.Parent] {
			used[up.ID] = true
			r.Completed++
			events = append(events, event{Change: &change{ID: up.ID, By: w.by, To: Completed, Why: allFinished}})
		}
	}
	return append(events, canceled...), nil
}

// plan makes an open task, whose state is empty if it is new, what its item says. The item of another
// program also says who works on it, or that it rests. ok is false if that is for others to change.
func (x *record) plan(w taskChange, it plan.Item, program bool, parent string, after []string, now time.Time) (ok bool) {
	created, completed := x.State == "", it.State == string(Completed)
	waits := !slices.Equal(after, x.PlanAfter) && !slices.Equal(after, x.After)
	steps := program && !created && (it.State != x.PlanState || it.Assignee != x.PlanAssignee)
	switch {
	case created:
		x.State, x.Phase, x.References = Created, it.Phase, it.References // Created also if somebody works on it: nobody here does yet
		if s := State(it.State); s == Canceled || s == Completed || program && s != "" {
			x.State = s
		}
		x.History = []Transition{{To: x.State, By: w.by, At: now, Why: it.Why, Parent: parent}}
		if program {
			x.Assignee, x.History[0].Assignee = it.Assignee, it.Assignee
		}
	case !w.may(x.Task) && (completed || waits || steps || it.Title != x.Title || it.Description != x.Description):
		return false
	case completed:
		x.complete(w.by, "completed in the plan", now)
	case steps:
		x.follow(w.by, it, now)
	}
	if program {
		x.PlanState, x.PlanAssignee = it.State, it.Assignee
	}
	if waits {
		x.After = after
	}
	x.Title, x.Description, x.PlanAfter = it.Title, it.Description, after
	return true
}

// follow does to a task what became of its item in another program since it was last read. What
// was done here meanwhile stays.
func (x *record) follow(by string, it plan.Item, now time.Time) {
	to := State(it.State)
	switch {
	case it.State == x.PlanState:
		to = x.State
	case to == "" && x.State == InputRequired: // it no longer rests
		to = Created
	case to == "" || x.State == Working && to != InputRequired:
		to = x.State
	}
	step := Transition{From: x.State, To: to, By: by, At: now, Why: it.Why}
	if it.Assignee != x.PlanAssignee && x.Assignee == x.PlanAssignee {
		x.Assignee, step.Assignee = it.Assignee, it.Assignee
	} else if to == x.State {
		return
	}
	if x.State == Working && to != Working {
		x.WorkedAt = now
	}
	x.State, x.History = to, append(slices.Clip(x.History), step)
}

// name records the item that a task was read from.
func (x *record) name(file, item string) {
	if name := file + "#" + item; x.Plan != name {
		x.FormerPlans = slices.DeleteFunc(append(slices.Clone(x.FormerPlans), x.Plan), func(other string) bool {
			return other == "" || strings.HasPrefix(other, file+"#")
		})
		x.Plan = name
	}
}

// place moves a task to the place of its item in the file.
func (x *record) place(parent string, order int) {
	if parent != x.PlanParent {
		x.Parent = parent
	}
	x.Order, x.PlanParent = order, parent
}

// complete ends a task that is in nobody else's view yet.
func (x *record) complete(by, why string, now time.Time) {
	if x.State == Working {
		x.WorkedAt = now
	}
	x.History = append(slices.Clip(x.History), Transition{From: x.State, To: Completed, By: by, At: now, Why: why})
	x.State = Completed
}

// sound takes out of the tasks of a plan the waits that could never end. It refuses a tree that is
// too deep.
func (t tree) sound(file string, from *plan.Plan, tasks []*record, r *ImportedPlan) error {
	line := map[string]int{}
	for i, x := range tasks {
		line[x.ID] = from.Items[i].Line
		if t.level(x)-1+t.levels(x) > maxDepth {
			return refusal.Argument("file", "%s: line %d: more than %d levels", prose.Clip(file, 100), from.Items[i].Line, maxDepth)
		}
	}
	for {
		circle := t.circle(tasks...)
		if circle == nil {
			return nil
		}
		i := slices.IndexFunc(circle, func(w waiting) bool {
			return line[w.x.ID] > 0 && !w.x.State.Final() && slices.Contains(w.x.PlanAfter, w.on)
		})
		if i < 0 {
			x := circle[0].x
			return refusal.Argument("file", "%s: %q would need itself to be completed first, by what it waits for or is part of", prose.Clip(file, 100), prose.Clip(x.Title, 60))
		}
		x, on := circle[i].x, circle[i].on
		x.After = slices.DeleteFunc(slices.Clone(x.After), func(id string) bool { return id == on })
		r.Problems = append(r.Problems, fmt.Sprintf("line %d: %q does not wait for %q, which would need it first", line[x.ID], prose.Clip(x.Title, 60), prose.Clip(t.project[on].Title, 60)))
	}
}

// PlanExport is the arguments of export.
type PlanExport struct {
	TaskID string `json:"task_id,omitempty" arg:"1" jsonschema:"only this task and its parts"`
	Format string `json:"format,omitempty" short:"f" enum:"md" jsonschema:"md, a Markdown checklist (default)"`
	File   string `json:"file,omitempty" flag:"output" short:"o" jsonschema:"where to write it; without it the answer is the plan"`

	Below string `json:"-"` // a directory above File: folders below it are made, and no link is followed; see [atomicfile.WriteBelow]
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
	if err := args.Inside(s.opts.ProjectRoot, a.File); err != nil {
		return ExportedPlan{}, refusal.Argument("file", "%s %v", prose.Line(a.File), err)
	}
	if a.Below != "" {
		name, err := filepath.Rel(a.Below, a.File)
		if err != nil {
			return ExportedPlan{}, err
		}
		return ExportedPlan{File: a.File, Tasks: len(items)}, atomicfile.WriteBelow(a.Below, name, b.Bytes())
	}
	return ExportedPlan{File: a.File, Tasks: len(items)}, atomicfile.WriteOutput(a.File, b.Bytes())
}

// IsExport reports whether a path is that of a checklist that [Store.Export] wrote.
func IsExport(path string) (bool, error) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 64<<10))
	return plan.IsWritten(head), err
}

// items is the tasks as a plan; root limits it to one task and its parts.
func (p project) items(root string) (items []plan.Item) {
	index := map[string]int{}
	for x := range inOrder(p.tree().parts) {
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
