package op

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"leanctx/agents"
	"leanctx/internal/journal"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/transfer"
	"leanctx/tasks"
)

// UsageError is a mistake in the arguments. Its text says what is wrong and shows a
// correct call.
type UsageError struct {
	Tool     *Tool
	Action   string         // of the example; empty if the tool has no actions
	Argument string         // the first wrong argument, or empty
	Problem  string         // what is wrong
	Example  map[string]any // arguments of a correct call
	Cause    error          // the domain's error, or nil
}

// Unwrap is the domain's error.
func (e *UsageError) Unwrap() error { return e.Cause }

// Error is the problem and the example as JSON arguments.
func (e *UsageError) Error() string {
	sep := ". Example: "
	if strings.HasSuffix(e.Problem, "?") || strings.HasSuffix(e.Problem, ".") {
		sep = " Example: "
	}
	return e.Problem + sep + callJSON(e.Action, e.Example)
}

// CommandLine is the example as a command: knowledge remember "JWT RS256"
// --category architecture --key auth.
func (e *UsageError) CommandLine() string {
	example := e.Example
	if o, ok := e.Tool.Operation(e.Action); ok {
		example = o.byAnAgent(example)
	}
	return e.Tool.commandLine(e.Action, example)
}

// usage words a problem with the example of o.
func (t *Tool) usage(o *Operation, problem, argument string) *UsageError {
	return &UsageError{Tool: t, Action: o.Name, Argument: argument, Problem: problem, Example: o.Example}
}

// unconfirmedError is a call that needs confirm=true.
type unconfirmedError struct{ why string }

func (e *unconfirmedError) Error() string { return e.why + `: repeat with "confirm":true` }

// in is the error worded in the caller's syntax.
func (e *unconfirmedError) in(shell bool) string {
	if shell {
		return e.why + ". Repeat with --yes to confirm."
	}
	return e.Error()
}

// callJSON is a call as MCP arguments, in the order of their names: the action is first.
func callJSON(action string, args map[string]any) string {
	args = maps.Clone(args)
	if args == nil {
		args = make(map[string]any)
	}
	if action != "" {
		args[actionName] = action
	}
	return compact(args)
}

// commandLine is a call as a command, without the program's name.
func (t *Tool) commandLine(action string, args map[string]any) string {
	words := []string{t.Command}
	if action != "" {
		words = append(words, strings.ReplaceAll(action, "_", "-"))
	}
	var flags []string
	o, ok := t.Operation(action)
	if !ok {
		return strings.Join(words, " ")
	}
	params := o.allParams()
	slices.SortStableFunc(params, func(a, b Param) int { return a.Arg - b.Arg })
	for _, p := range params {
		v, given := args[p.Name]
		switch {
		case !given:
		case p.Arg > 0 && strings.HasPrefix(fmt.Sprint(v), "-"): // else it would be a flag
			flags = append(flags, "--"+p.Flag+"="+ShellWord(v))
		case p.Arg > 0:
			words = append(words, ShellWord(v))
		case p.Switch() && fmt.Sprint(v) == "true": // a word behind it would not be its value
			flags = append(flags, "--"+p.Flag)
		case p.Switch():
			flags = append(flags, "--"+p.Flag+"="+ShellWord(v))
		default:
			flags = append(flags, "--"+p.Flag, ShellWord(v))
		}
	}
	return strings.Join(append(words, flags...), " ")
}

// ShellWord is v as one word of a shell.
func ShellWord(v any) string {
	s := fmt.Sprint(v)
	if list, ok := v.([]string); ok {
		s = strings.Join(list, ",")
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune("-_./:,@%+=", r) && !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}) < 0 {
		return s
	}
	if !strings.ContainsAny(s, "\"$`\\!\n") {
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// compact is v as JSON on one line, without HTML escaping.
func compact(v any) string {
	text, err := prose.JSON(v)
	if err != nil {
		return "null"
	}
	return text
}

// Class is what an error means to a surface: an exit code, an HTTP status.
type Class int

// The classes of errors. ARCHITECTURE's exit codes are in brackets.
const (
	Failed      Class = iota // anything else (1)
	Usage                    // a mistake in the arguments (2)
	NotFound                 // a named thing does not exist (3)
	Locked                   // another process holds the store (11)
	Unreadable               // the store is corrupt, or newer than this program (12)
	Interrupted              // the caller gave up (130)
	Forbidden                // the caller may not (1); only over the network
	Conflict                 // another agent has it, or it is final (1)
)

// Classify says what an error means.
func Classify(err error) Class {
	switch {
	case is[*UsageError](err), is[*refusal.ArgumentError](err), is[*transfer.BadFileError](err): // a file's content is as wrong as an argument
		return Usage
	case is[*refusal.NotFoundError](err):
		return NotFound
	case errors.Is(err, journal.ErrInDoubt):
		return Failed // it may be done: also if the server is away now, or the caller was interrupted
	case errors.Is(err, journal.ErrLocked), errors.Is(err, journal.ErrOffline):
		return Locked
	case errors.Is(err, journal.ErrCorrupt), errors.Is(err, journal.ErrNewer), errors.Is(err, journal.ErrForeign), errors.Is(err, journal.ErrDiverged):
		return Unreadable
	case is[*ForbiddenError](err):
		return Forbidden
	case is[*tasks.TransitionError](err), is[*tasks.TakenError](err), is[*agents.HeldError](err), is[*knowledge.UndoError](err):
		return Conflict
	case errors.Is(err, context.Canceled):
		return Interrupted
	}
	return Failed
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// ErrorText is an error as a person or a model reads it. What a repository or another program wrote may
// stand in it, so it is one line, but for errors that suggest calls: they write their lines themselves.
func ErrorText(err error) string {
	text := strings.TrimRight(err.Error(), "\n")
	if _, ok := errors.AsType[suggestingError](err); ok {
		return text
	}
	if _, ok := errors.AsType[inSyntax](err); ok {
		return text
	}
	var lines []string
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return prose.Clip(strings.Join(lines, " "), maxError)
}

// maxError is the most characters of an error on one line.
const maxError = 2000

// suggestingError is an error that suggests a call.
type suggestingError interface {
	error
	suggesting
}

// explain turns the domain's errors about arguments into a [*UsageError], so that they
// read like the errors found here.
func (c *call) explain(err error) error {
	syntax := prose.MCP
	if c.shell {
		syntax = c.tool.shell
	}
	usage := func(problem, argument string) *UsageError {
		e := c.tool.usage(c.o, problem, argument)
		e.Cause = err
		return e
	}
	again := func(e *UsageError, name string, value any) *UsageError { // the same call with one more argument
		e.Example = maps.Clone(c.values)
		e.Example[name] = value
		return e
	}
	if u, ok := errors.AsType[*unconfirmedError](err); ok {
		return again(usage(c.label()+": "+u.in(c.shell), confirmName), confirmName, true)
	}
	if s, ok := errors.AsType[suggestingError](err); ok && c.shell {
		return inSyntax{err, s.TextIn(syntax)}
	}
	wrong, ok := errors.AsType[*refusal.ArgumentError](err)
	if !ok {
		return err
	}
	problem := strings.TrimSuffix(wrong.Problem, ".")
	if c.shell {
		problem = c.o.withFlags(wrong.Argument, problem)
	}
	problem = c.label() + ": " + problem
	if wrong.Missing {
		problem = c.needs(wrong.Argument)
		if wrong.Why != "" {
			problem += ": " + wrong.Why
		}
	}
	if wrong.AskUser {
		problem += ": ask the user, and pass on the answer with " + syntax("", "source", "user")
	}
	e := usage(problem, wrong.Argument)
	p, own := c.o.Param(wrong.Argument)
	switch {
	case own && p.Switch() && c.values[p.Name] == nil:
		return again(e, p.Name, true)
	case wrong.Argument == agentName:
		return again(e, agentName, someAgent)
	case wrong.AskUser:
		return again(e, "source", "user")
	}
	return e
}

// withFlags names the arguments in a problem as a command line has them: --valid-from for
// valid_from, --merge for merge=true. Other names of one word stand as they are, since a text
// may mean the word, except the argument with which the problem begins: due "x" is not a time.
func (o *Operation) withFlags(wrong, text string) string {
	var pairs []string
	for _, p := range o.allParams() {
		if rest, begins := strings.CutPrefix(text, p.Name+" "); begins && p.Name == wrong && p.Arg == 0 {
			text = p.in(true) + " " + rest
		}
		if p.Switch() {
			pairs = append(pairs, p.Name+"=true", p.in(true))
		}
		if strings.Contains(p.Name, "_") {
			pairs = append(pairs, p.Name, p.in(true))
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// The name of the agent argument, and an example of an agent id.
const (
	agentName = "agent"
	someAgent = "cursor-a3f8"
)
