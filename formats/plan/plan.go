// Package plan reads and writes plans: a Markdown checklist, and the issues of
// beads. It decides nothing about tasks; it imports formats alone.
//
// # Checklist
//
// A heading above items is a phase; a heading below another is a part of it. A
// phase waits for the phase before it at its level. An item is "- [ ] text" or
// "- [x] text"; one that is indented belongs to the item above it. Other text
// describes the item or phase above it. A heading with no item below it is no
// phase.
//
// Write puts a task's id, state and assignee in a comment at the end of the
// line. Markdown does not show it. Parse finds the task by that id again, also
// when the text was changed.
package plan

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"leanctx/formats"
)

// Item is one task of a plan.
type Item struct {
	ID          string // of the task, when the file names it
	Name        string // what the item is called in the file, the same at the next reading
	Title       string
	Description string
	State       string // Completed, Working, Canceled, or InputRequired of a task of beads that rests; empty: to be done
	Why         string // of that state, in words
	Assignee    string // read from beads only
	Parent      int    // index of the item above it, -1 for none
	After       []int  // indexes of the items that it waits for
	Line        int    // 1 is the first
	Phase       bool   // a heading

	References []string
}

// Plan is the items of a file in its order. An item stands after its parent.
type Plan struct {
	Program string // that wrote the file when it is not a checklist: "beads"
	Items   []Item
	LeftOut map[string]int // what an item has no place for, and how often

	Problems []string // links that were left out since they cannot be, each with its line
}

// ErrNone says that a text is neither a checklist nor issues of beads.
var ErrNone = errors.New("no item of a checklist (- [ ] text) and no issue of beads")

var (
	heading = formats.Regexp(`^(#{1,6})\s+(.*?)\s*#*$`)
	item    = formats.Regexp(`^(\s*)(?:[-*+]|\d+[.)])\s+\[([ xX])\]\s+(.*)$`)
	marked  = formats.Regexp(`\s*<!--\s*(t-[0-9a-f]{3,64})(?:\s+(\w+))?(?:\s+\S+)?\s*-->\s*$`)
)

// Parse reads a plan. A mistake is named with its line.
func Parse(text []byte) (*Plan, error) {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	if start := bytes.TrimSpace(text); len(start) > 0 && start[0] == '{' {
		return parseBeads(text)
	}
	return parseChecklist(text)
}

// level is an open heading or item while a checklist is read.
type level struct {
	index int
	depth int // of a heading: its number of #; of an item: its indentation
}

// What a file may hold: more than any task takes, so that whoever makes tasks of it says what is too much.
const (
	maxItems       = 20_000
	maxDepth       = 100 // the name of an item has those of all that it stands in
	maxDescription = 1 << 20
)

func parseChecklist(text []byte) (*Plan, error) {
	p := &Plan{LeftOut: map[string]int{}}
	var phases, items []level
	fence := "" // of code, while it is open
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	n := 0
	var description strings.Builder
	end := func(item int) {
		if item >= 0 {
			p.Items[item].Description = description.String()
		}
		description.Reset()
	}
	last, indent := -1, 0 // the item that text belongs to, and how far its text is indented
	within := 0           // how far the text is indented of the item that the open fence stands in
	for lines.Scan() {
		n++
		if len(p.Items) > maxItems {
			return nil, fmt.Errorf("line %d: more than %d headings and items", n, maxItems)
		}
		line := strings.TrimRight(lines.Text(), " \t\r")
		blanks := indentation(line)
		if line != "" && blanks < within { // the item that the fence stands in has ended
			fence = ""
		}
		before := fence
		if fence = fenceAfter(fence, line); before == "" {
			within = 0
			if blanks >= indent {
				within = indent
			}
		}
		if fence == "" && before == "" {
			if m := heading().FindStringSubmatch(line); m != nil {
				depth := len(m[1])
				phases = slices.DeleteFunc(phases, func(l level) bool { return l.depth >= depth })
				items = nil
				end(last)
				last, indent = p.add(m[2], above(phases), n, true), 0
				phases = append(phases, level{last, depth})
				continue
			}
			if m := item().FindStringSubmatch(line); m != nil {
				depth := blanks
				items = slices.DeleteFunc(items, func(l level) bool { return l.depth >= depth })
				if len(items) > maxDepth {
					return nil, fmt.Errorf("line %d: nested more than %d deep", n, maxDepth)
				}
				end(last)
				last, indent = p.add(m[3], above(append(slices.Clone(phases), items...)), n, false), depth+2
				if m[2] != " " {
					p.Items[last].State = "Completed"
				}
				items = append(items, level{last, depth})
				continue
			}
		}
		if last >= 0 && description.Len() <= maxDescription {
			description.WriteString(described(line, indent) + "\n")
		}
	}
	end(last)
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n+1, err)
	}
	p.prune()
	if len(p.Items) == 0 {
		return nil, ErrNone
	}
	if err := p.name(); err != nil {
		return nil, err
	}
	p.chain()
	return p, nil
}

// described is a line of a description without its indentation and escape.
func described(line string, indent int) string {
	for ; indent > 0 && strings.HasPrefix(line, " "); indent-- {
		line = line[1:]
	}
	if rest, ok := strings.CutPrefix(line, `\`); ok && (heading().MatchString(rest) || item().MatchString(rest) || fenceAfter("", rest) != "") {
		return rest
	}
	return line
}

// indentation is how far a line is indented; a tab counts as four blanks.
func indentation(line string) int {
	text := strings.ReplaceAll(line, "\t", "    ")
	return len(text) - len(strings.TrimLeft(text, " "))
}

// fenceAfter is the fence of code that is open after a line; open is that before it.
func fenceAfter(open, line string) string {
	bare := strings.TrimSpace(line)
	switch {
	case open != "" && strings.HasPrefix(bare, open):
		return ""
	case open == "" && (strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~")):
		return bare[:3]
	}
	return open
}

func above(open []level) int {
	if len(open) == 0 {
		return -1
	}
	return open[len(open)-1].index
}

// add appends an item with the text of its line.
func (p *Plan) add(text string, parent, line int, phase bool) int {
	x := Item{Parent: parent, Line: line, Phase: phase}
	if m := marked().FindStringSubmatch(text); m != nil {
		text = text[:len(text)-len(m[0])]
		x.ID, x.State = m[1], m[2]
		if x.State == "Created" {
			x.State = ""
		}
	}
	x.Title = strings.TrimSpace(text)
	p.Items = append(p.Items, x)
	return len(p.Items) - 1
}

// prune drops the headings without an item below them.
func (p *Plan) prune() {
	keep := make([]bool, len(p.Items))
	for i := range p.Items {
		if !p.Items[i].Phase {
			for j := i; j >= 0 && !keep[j]; j = p.Items[j].Parent {
				keep[j] = true
			}
		}
	}
	index := make([]int, len(p.Items))
	var items []Item
	for i, x := range p.Items {
		index[i] = len(items)
		if !keep[i] {
			continue
		}
		if x.Parent >= 0 {
			x.Parent = index[x.Parent]
		}
		x.Description = strings.TrimSpace(x.Description)
		items = append(items, x)
	}
	p.Items = items
}

// name gives each item the path of its titles, which is the same in the next
// version of the file. Two items of one path get a number.
func (p *Plan) name() error {
	seen, next := map[string]bool{}, map[string]int{}
	for i := range p.Items {
		x := &p.Items[i]
		if x.Title == "" {
			return fmt.Errorf("line %d: an item without text", x.Line)
		}
		x.Name = slug(x.Title)
		if x.Parent >= 0 {
			x.Name = p.Items[x.Parent].Name + "/" + x.Name
		}
		base := x.Name
		for n := max(2, next[base]); seen[x.Name]; n++ {
			x.Name, next[base] = fmt.Sprintf("%s-%d", base, n), n+1
		}
		seen[x.Name] = true
	}
	return nil
}

// chain lets each phase wait for the one before it under the same parent.
func (p *Plan) chain() {
	before := map[int]int{} // a parent's last phase
	for i := range p.Items {
		x := &p.Items[i]
		if !x.Phase {
			continue
		}
		if j, ok := before[x.Parent]; ok {
			x.After = []int{j}
		}
		before[x.Parent] = i
	}
}

// slug is the letters and digits of a text in lower case, joined by hyphens, at
// most 60 runes.
func slug(text string) string {
	out := []rune(strings.Join(formats.Words(text), "-"))
	if len(out) == 0 {
		return "item"
	}
	return string(out[:min(60, len(out))])
}

// issue is a line of beads' issues.jsonl.
type issue struct {
	ID, Title, Description, Design, Notes, Status, Assignee string

	Criteria     string `json:"acceptance_criteria"`
	External     string `json:"external_ref"`
	Kind         string `json:"issue_type"`
	Reason       string `json:"close_reason"`
	Due          string `json:"due_at"`
	Until        string `json:"defer_until"` // it rests until then
	Priority     *int
	Labels       []string
	Comments     []json.RawMessage
	Dependencies []dependency
}

// dependency is a link to another issue.
type dependency struct {
	On   string `json:"depends_on_id"`
	Type string
}

// name is a name that a task can be assigned to.
var name = formats.Regexp(`^[\pL\d][\pL\d@._+-]{0,63}$`)

// usual is the priority of an issue that nobody gave another.
const usual = 2

// state is the state of a task that an issue becomes. One that rests waits for a person: nobody is
// offered it. What waits for other issues waits for their tasks.
func (x issue) state(p *Plan) (state, why string) {
	waits := slices.ContainsFunc(x.Dependencies, func(d dependency) bool { return d.Type == "blocks" || d.Type == "" })
	switch {
	case x.Status == "closed":
		return "Completed", ""
	case x.Status == "in_progress", x.Status == "hooked":
		return "Working", x.Status + " in beads"
	case x.Status == "deferred", x.Until != "":
		if x.Until != "" {
			return "InputRequired", "deferred in beads until " + x.Until
		}
		return "InputRequired", "deferred in beads"
	case x.Status == "blocked" && !waits:
		return "InputRequired", "blocked in beads"
	case x.Status != "" && x.Status != "open" && x.Status != "blocked":
		p.LeftOut["states of their own, such as "+x.Status]++
	}
	return "", ""
}

// parseBeads reads the issues of beads, one JSON object a line. Epics are phases,
// blocks is a wait, parent-child a part; other links become references.
func parseBeads(text []byte) (*Plan, error) {
	p := &Plan{Program: "beads", LeftOut: map[string]int{}}
	var all []issue
	index := map[string]int{}
	n := 0
	for raw := range bytes.Lines(text) {
		n++
		if raw = bytes.TrimSpace(raw); len(raw) == 0 {
			continue
		}
		var x issue
		if err := json.Unmarshal(raw, &x); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		_, twice := index[x.ID]
		switch {
		case x.ID == "" || x.Title == "" || x.Kind == "":
			return nil, fmt.Errorf("line %d: an issue has an id, a title and an issue_type", n)
		case twice:
			return nil, fmt.Errorf("line %d: %s appears twice", n, x.ID)
		case x.Status == "tombstone":
			p.LeftOut["deleted issues"]++
			continue
		}
		index[x.ID] = len(all)
		all = append(all, x)
		it := Item{Name: x.ID, Title: x.Title, Description: x.text(), Parent: -1, Line: n, Phase: x.Kind == "epic"}
		it.State, it.Why = x.state(p)
		if name().MatchString(x.Assignee) {
			it.Assignee = x.Assignee
		}
		p.Items = append(p.Items, it)
	}
	if len(all) == 0 {
		return nil, ErrNone
	}
	for i, x := range all {
		to := &p.Items[i]
		p.LeftOut["labels"] += len(x.Labels)
		p.LeftOut["comments"] += len(x.Comments)
		if x.Assignee != to.Assignee {
			p.LeftOut["assignees"]++
		}
		if x.Priority != nil && *x.Priority != usual {
			p.LeftOut["priorities"]++
		}
		if x.Due != "" {
			p.LeftOut["due dates"]++
		}
		if x.External != "" {
			to.References = append(to.References, x.External)
		}
		for _, d := range x.Dependencies {
			on, ok := index[d.On]
			switch {
			case !ok:
				p.LeftOut["links to issues that are not there"]++
			case d.Type == "parent-child" && to.Parent < 0:
				to.Parent = on
			case d.Type == "blocks" || d.Type == "":
				to.After = append(to.After, on)
			default:
				to.References = append(to.References, d.Type+" "+d.On)
			}
		}
	}
	p.sort()
	return p, nil
}

func (x issue) text() string {
	var b strings.Builder
	for _, part := range []struct{ name, text string }{{"", x.Description}, {"Design", x.Design}, {"Acceptance", x.Criteria}, {"Notes", x.Notes}, {"Closed", x.Reason}} {
		switch {
		case part.text == "":
		case part.name == "":
			b.WriteString(part.text + "\n")
		default:
			fmt.Fprintf(&b, "%s: %s\n", part.name, part.text)
		}
	}
	return strings.TrimSpace(b.String())
}

// sort puts each item after its parent and keeps the order of the file else. One that would be a
// part of itself comes to the top.
func (p *Plan) sort() {
	place := make([]int, len(p.Items)) // 1 + the new index; -1: its parent is being put
	var out []Item
	var put func(i int)
	put = func(i int) {
		if place[i] > 0 {
			return
		}
		place[i] = -1
		x := &p.Items[i]
		switch {
		case x.Parent < 0:
		case place[x.Parent] < 0:
			p.Problems = append(p.Problems, fmt.Sprintf("line %d: %s would be a part of itself: it stands at the top", x.Line, x.Name))
			x.Parent = -1
		default:
			put(x.Parent)
		}
		out = append(out, *x)
		place[i] = len(out)
	}
	for i := range p.Items {
		put(i)
	}
	for i := range out {
		if out[i].Parent >= 0 {
			out[i].Parent = place[out[i].Parent] - 1
		}
		for j, a := range out[i].After {
			out[i].After[j] = place[a] - 1
		}
	}
	p.Items = out
}

// IsWritten reports whether a text begins as [Write] does: its first line names a task.
func IsWritten(head []byte) bool {
	first, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	return marked().Match(first)
}

// Write prints items as a checklist. Parents stand before their parts.
func Write(w io.Writer, items []Item) error {
	b := bufio.NewWriter(w)
	children := map[int][]int{}
	for i, x := range items {
		children[x.Parent] = append(children[x.Parent], i)
	}
	var write func(i, headings, indent int)
	write = func(i, headings, indent int) {
		x := items[i]
		mark := strings.TrimRight(fmt.Sprintf("<!-- %s %s %s", x.ID, x.State, x.Assignee), " ") + " -->"
		title := strings.Join(strings.Fields(x.Title), " ")
		space := strings.Repeat("  ", indent)
		if x.Phase && indent == 0 && headings < 6 {
			if headings++; b.Buffered() > 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(b, "%s %s %s\n", strings.Repeat("#", headings), title, mark)
			space = ""
		} else {
			box := " "
			if x.State == "Completed" {
				box = "x"
			}
			fmt.Fprintf(b, "%s- [%s] %s %s\n", space, box, title, mark)
			indent++
			space += "  "
		}
		open := "" // a fence that the description does not close: it would hide the items after it
		for line := range strings.Lines(x.Description) {
			open = fenceAfter(open, line)
		}
		for line := range strings.Lines(x.Description) {
			line = strings.TrimRight(line, " \t\r\n")
			if heading().MatchString(line) || item().MatchString(line) || open != "" && fenceAfter("", line) != "" {
				line = `\` + line // it is text, not a part of the plan
			}
			fmt.Fprintf(b, "%s\n", strings.TrimRight(space+line, " "))
		}
		for _, c := range children[i] {
			write(c, headings, indent)
		}
	}
	for _, i := range children[-1] {
		write(i, 0, 0)
	}
	return b.Flush()
}
