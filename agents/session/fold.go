package session

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"leanctx/formats/transcript"
	"leanctx/internal/language"
	"leanctx/internal/prose"
)

// Fold is what the list and the outline need of a session. It grows with each turn and stays under maxFold bytes, so
// that their price does not grow with the session.
type Fold struct {
	Version int       `json:"v"`
	Turns   int       `json:"turns"`
	Prompts int       `json:"prompts"`
	LastID  string    `json:"last_id,omitempty"` // of the last turn
	First   time.Time `json:"first,omitzero"`
	Last    time.Time `json:"last,omitzero"`

	Asks    []Point   `json:"asks,omitempty"`    // what the user asked, its first sentence: the first and the last ones
	Changed []string  `json:"changed,omitempty"` // files, in the order of their first change
	Files   int       `json:"files,omitempty"`   // how many were changed
	Passed  []Point   `json:"passed,omitempty"`  // commands that passed, by their last time
	Failed  []Failure `json:"failed,omitempty"`
	Commits []Point   `json:"commits,omitempty"` // subjects
	Facts   []Point   `json:"facts,omitempty"`   // calls of ours that changed facts
	Kept    int       `json:"kept,omitempty"`    // how many
	Todos   []todo    `json:"todos,omitempty"`
	Answer  *Point    `json:"answer,omitempty"` // the beginning of the last one
	since   int64     // bytes after the last fold that was written
}

type todo = transcript.Todo

// Point is a text of a turn.
type Point struct {
	N    int    `json:"n"`
	Text string `json:"text"`
}

// Failure is a command that failed.
type Failure struct {
	N      int      `json:"n"` // the last time that it failed
	Text   string   `json:"text"`
	Error  string   `json:"error,omitempty"` // its first line
	Times  int      `json:"times"`
	Fixed  int      `json:"fixed,omitempty"`  // the turn at which it passed
	Needed []string `json:"needed,omitempty"` // files that were changed between
}

const (
	foldVersion = 1
	maxFold     = 16 << 10
	maxPoint    = 160 // characters
	maxAnswer   = 400
	maxAsks     = 40
	maxChanged  = 60
	maxPoints   = 24
)

// add folds a turn in.
func (f *Fold) add(t *Turn) {
	f.Turns, f.LastID = t.N, t.ID
	if !t.At.IsZero() {
		if f.First.IsZero() {
			f.First = t.At
		}
		if t.At.After(f.Last) {
			f.Last = t.At
		}
	}
	switch t.Role {
	case transcript.User, transcript.Program:
		f.Prompts++
		f.Asks = append(f.Asks, Point{t.N, firstSentence(t.Text)})
		if len(f.Asks) > maxAsks {
			f.Asks = slices.Delete(f.Asks, maxAsks/2, maxAsks/2+1)
		}
	case transcript.Agent:
		f.Answer = &Point{t.N, prose.Clip(strings.Join(strings.Fields(t.Text), " "), maxAnswer)}
	case transcript.Tool:
		f.addTool(t)
	}
}

func (f *Fold) addTool(t *Turn) {
	if t.Todos != nil {
		f.addTodos(t.Todos)
	}
	passed := t.OK == nil || *t.OK
	if t.Edits && passed {
		for _, file := range t.Files {
			f.change(file)
		}
	}
	if isOurs(t.Tool) {
		if action, _, _ := strings.Cut(t.Input, " "); passed && changesFacts(action) {
			f.Kept++
			f.Facts = bounded(append(f.Facts, Point{t.N, prose.Clip(t.Input, maxPoint)}), maxPoints)
		}
		return
	}
	if t.OK == nil || t.Input == "" || t.Edits || !runsCommands(t.Tool) {
		return
	}
	command := prose.Clip(strings.Join(strings.Fields(t.Input), " "), maxPoint)
	i := slices.IndexFunc(f.Failed, func(x Failure) bool { return x.Text == command && x.Fixed == 0 })
	if *t.OK {
		if i >= 0 {
			f.Failed[i].Fixed = t.N
		}
		if m := commitLine.FindStringSubmatch(t.Text); m != nil && strings.Contains(command, "commit") {
			f.Commits = bounded(append(f.Commits, Point{t.N, prose.Clip(m[1], maxPoint)}), maxPoints)
		}
		if isCheck(command) {
			f.Passed = slices.DeleteFunc(f.Passed, func(p Point) bool { return p.Text == command })
			f.Passed = bounded(append(f.Passed, Point{t.N, command}), maxPoints)
		}
		return
	}
	if i < 0 {
		f.Failed = append(f.Failed, Failure{Text: command})
		if i = len(f.Failed) - 1; i >= maxPoints { // one that was mended gives way
			old := max(0, slices.IndexFunc(f.Failed, func(x Failure) bool { return x.Fixed > 0 }))
			f.Failed = slices.Delete(f.Failed, old, old+1)
			i--
		}
	}
	x := &f.Failed[i]
	x.N, x.Error, x.Needed = t.N, errorLine(t.Text), nil
	x.Times++
}

func (f *Fold) change(file string) {
	if !slices.Contains(f.Changed, file) {
		f.Files++
		f.Changed = bounded(append(f.Changed, prose.Clip(file, maxPoint)), maxChanged)
	}
	for i := range f.Failed {
		if x := &f.Failed[i]; x.Fixed == 0 && !slices.Contains(x.Needed, file) && len(x.Needed) < 5 {
			x.Needed = append(x.Needed, prose.Clip(file, maxPoint))
		}
	}
}

func (f *Fold) addTodos(t *transcript.Todos) {
	if t.All {
		f.Todos = nil
	}
	for _, x := range t.Items {
		x.Text = prose.Clip(x.Text, maxPoint)
		i := slices.IndexFunc(f.Todos, func(y todo) bool { return !t.All && x.ID != "" && x.ID == y.ID })
		if i < 0 {
			if x.Text != "" {
				f.Todos = append(f.Todos, x)
			}
			continue
		}
		if x.Text != "" {
			f.Todos[i].Text = x.Text
		}
		if x.State != "" {
			f.Todos[i].State = x.State
		}
	}
	f.Todos = bounded(slices.DeleteFunc(f.Todos, todo.Done), maxPoints)
}

// bounded is the end of a list.
func bounded[T any](list []T, most int) []T {
	if len(list) > most {
		return slices.Delete(list, 0, len(list)-most)
	}
	return list
}

// bounded is the fold as it is written. The longest lists give way until it is small enough.
func (f *Fold) bounded() *Fold {
	out := *f
	for {
		text, err := json.Marshal(&out)
		if err != nil || len(text) <= maxFold {
			return &out
		}
		half := func(n int) int { return n / 2 }
		out.Asks = append(slices.Clone(out.Asks[:half(half(len(out.Asks)))]), out.Asks[len(out.Asks)-half(half(len(out.Asks))):]...)
		out.Changed = out.Changed[half(len(out.Changed)):]
		out.Passed, out.Failed = out.Passed[half(len(out.Passed)):], out.Failed[half(len(out.Failed)):]
		out.Commits, out.Facts, out.Todos = out.Commits[half(len(out.Commits)):], out.Facts[half(len(out.Facts)):], out.Todos[half(len(out.Todos)):]
	}
}

// Title is what a session was about: what the user first asked.
func (f *Fold) Title() string {
	if len(f.Asks) == 0 {
		return ""
	}
	return prose.Clip(f.Asks[0].Text, 80)
}

// Open lists the client's items that are left to do.
func (f *Fold) Open() []todo { return f.Todos }

// minAsk is how many bytes the first sentence has that names a session: "Hi." does not.
const minAsk = 12

// firstSentence is the first sentence of a text, in one line.
func firstSentence(text string) string {
	return prose.Clip(strings.Join(strings.Fields(language.FirstSentence(text, minAsk)), " "), maxPoint)
}

// commitLine matches what Git says of a commit that was made.
var commitLine = regexp.MustCompile(`(?m)^\[[^\]\n]+ [0-9a-f]{7,40}\] (.+)$`)

// errorLine is the line of an output that tells the error: the first that is no mere exit code.
func errorLine(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "Output:"))
		if line == "" || strings.HasPrefix(line, "Exit code") || strings.HasPrefix(line, "Process ") || strings.HasPrefix(line, "> ") || strings.HasPrefix(line, "$ ") {
			continue
		}
		return prose.Clip(line, maxPoint)
	}
	return ""
}

// isOurs reports whether a turn is a call of our own tools.
func isOurs(tool string) bool { return strings.Contains(tool, ourTools) }

// ourTools is what the names of our tools begin with.
const ourTools = "ctx_"

func changesFacts(action string) bool {
	return slices.Contains([]string{"remember", "pattern", "gotcha", "remove", "rename", "judge", "relate", "consolidate", "undo"}, action)
}

// runsCommands reports whether a tool of a client runs commands.
func runsCommands(tool string) bool {
	tool = strings.ToLower(tool)
	return slices.ContainsFunc([]string{"bash", "shell", "exec", "terminal", "command"}, func(x string) bool { return strings.Contains(tool, x) })
}

// checks are the words of commands that build, test or run.
var checks = []string{"test", "build", "check", "lint", "vet", "run", "make", "cargo", "pytest", "tsc", "mvn", "gradle", "jest", "vitest"}

// isCheck reports whether a command builds, tests or runs something.
func isCheck(command string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(command), func(r rune) bool { return strings.ContainsRune(" \t&|;:/.\"'()", r) }), func(word string) bool {
		return slices.Contains(checks, path.Base(word))
	})
}
