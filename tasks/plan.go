package tasks

import (
	"bytes"
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

// PlanFile is the arguments of import.
type PlanFile struct {
	File   string `json:"file" arg:"1" jsonschema:"a Markdown checklist, or the issues.jsonl of beads"`
	DryRun bool   `json:"dry_run,omitempty" jsonschema:"say what would change, write nothing"`

	Data io.Reader `json:"-"` // instead of the file, when the caller has it
}

// ImportedPlan is the result of import. A task counts once.
type ImportedPlan struct {
	File         string         `json:"file"`
	Program      string         `json:"program,omitempty"` // that wrote it, when it is no checklist
	Created      int            `json:"created"`
	Changed      int            `json:"changed"`
	Completed    int            `json:"completed"`
	Canceled     int            `json:"canceled"` // no longer in the file
	Unchanged    int            `json:"unchanged"`
	FinishedHere []string       `json:"kept,omitempty"` // finished here, open in the file
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
	depth := make([]int, len(file.Items)) // of the tasks above it
	for i := range file.Items {
		x := &file.Items[i]
		if x.Parent >= 0 {
			depth[i] = depth[x.Parent] + 1
		}
		if depth[i] >= maxDepth {
			in.fail("file", "line %d: more than %d levels", x.Line, maxDepth)
		}
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
		return p.adopt(s.opts.ProjectHash, s.actor.name(), name, file, now.UTC(), &r)
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
func (p project) adopt(hash, by, file string, from *plan.Plan, now time.Time, r *ImportedPlan) (events []event, err error) {
	known, taken := map[string]*record{}, map[string]bool{} // by item, by id
	for id, x := range p {
		taken[id] = true
		if strings.HasPrefix(x.Plan, file+"#") {
			known[x.Plan] = x
		}
	}
	for _, it := range from.Items {
		if x := p[it.ID]; x != nil { // the file names it by its id
			delete(known, x.Plan)
		}
	}
	tasks, used := make([]*record, len(from.Items)), map[string]bool{}
	finished := finishedPhases(from)
	for i, it := range from.Items {
		if finished[i] {
			it.State = string(Completed)
		}
		name := file + "#" + it.Name
		old := p[it.ID]
		if old == nil || used[old.ID] { // a line that was copied with its comment is a new item
			old = known[name]
		}
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
			tasks[i] = new(*old)
		}
		used[tasks[i].ID] = true
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
	if x := p.with(tasks...).tree().circle(tasks...); x != nil {
		return nil, refusal.Argument("file", "%s: %q needs itself to be completed first, by what it waits for or is part of", prose.Clip(file, 100), prose.Clip(x.Title, 60))
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if x := known[name]; x.State == Created {
			r.Canceled++
			events = append(events, event{Change: &change{ID: x.ID, By: by, To: Canceled, Why: "no longer in " + file}})
		}
	}
	return events, nil
}

// plan makes a task, whose state is empty if it is new, what its item says. A finished one stays.
func (x *record) plan(by, parent, name string, it plan.Item, order int, now time.Time, r *ImportedPlan) {
	created, completed := x.State == "", it.State == string(Completed)
	switch {
	case x.State.Final() && !created:
		if !completed && x.State == Completed && !it.Phase {
			r.FinishedHere = append(r.FinishedHere, x.ID)
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
