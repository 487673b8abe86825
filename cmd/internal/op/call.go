package op

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"leanctx/internal/language"
	"leanctx/internal/prose"
)

const actionName = "action"

// Call runs one operation. The action may also be given as args["action"]. args come from
// a request or a command line. Numbers should be json.Number, so that a long number keeps
// its digits if a text is wanted. A mistake in the arguments is a [*UsageError]; other
// errors come from the domain, and [Classify] says what they mean. The answer has its
// notices also when there is an error.
func (t *Tool) Call(ctx context.Context, action string, args map[string]any) (Answer, error) {
	o, err := t.find(action, args)
	if err != nil {
		return Answer{}, err
	}
	c, err := t.check(o, args, inShell(ctx))
	if err != nil {
		return Answer{}, err
	}
	c.scope.Caller, _ = CallerOf(ctx)
	if err := GrantOf(ctx).admit(c); err != nil {
		return Answer{}, err
	}
	if err := o.forbids(t.Command, c.scope); err != nil {
		return Answer{}, err
	}
	result, err := o.run(context.WithValue(ctx, noticesKey{}, c), c.scope, c)
	for i, n := range c.notices { // it may quote what a stranger wrote
		c.notices[i] = prose.Line(strings.Join(strings.Fields(n), " "))
	}
	a := Answer{Result: result, Notices: c.notices, Away: c.away, Output: c.scope.Output, Tool: t.Name, Action: o.Name, Scope: c.scope}
	if c.shell {
		a.syntax = t.shell
	} else {
		a.syntax = t.mcp
		a.again = func() string {
			if line := "lean-ctx " + t.commandLine(o.Name, c.values); len(line) <= maxAgain {
				return ": " + line
			}
			return ""
		}
	}
	if err != nil {
		return a, c.explain(err)
	}
	return a, nil
}

// find returns the operation that the arguments name.
func (t *Tool) find(action string, args map[string]any) (*Operation, error) {
	if t.Actionless() {
		return &t.Operations[0], nil
	}
	if action == "" {
		action, _ = args[actionName].(string)
	}
	names := make([]string, 0, len(t.Operations))
	for i := range t.Operations {
		same := func(name string) bool { return prose.Fold(name) == prose.Fold(action) }
		if same(t.Operations[i].Name) || slices.ContainsFunc(t.Operations[i].Names, same) {
			return &t.Operations[i], nil
		}
		names = append(names, t.Operations[i].Name)
	}
	list := strings.Join(names, ", ")
	if prose.Fold(action) == "" {
		problem := fmt.Sprintf("%s needs %q: one of %s", t.Name, actionName, list)
		if given, ok := args[actionName]; ok && given != nil && given != "" {
			problem = fmt.Sprintf("%q must be one of %s, not %s", actionName, list, brief(given))
		}
		return nil, t.usage(&t.Operations[0], problem, actionName)
	}
	if t.Sibling != nil {
		if o, err := t.Sibling.find(action, nil); err == nil {
			return nil, t.Sibling.usage(o, fmt.Sprintf("%s is an action of %s, not of %s", o.Name, t.Sibling.Name, t.Name), actionName)
		}
	}
	problem, example := fmt.Sprintf("unknown action %s.", brief(action)), &t.Operations[0]
	if near := t.guess(action, names); near != nil {
		problem, example = fmt.Sprintf("unknown action %s; did you mean %q?", brief(action), near.Name), near
	}
	return nil, t.usage(example, problem+" Actions: "+list, actionName)
}

// guess returns the operation that an unknown action probably means.
func (t *Tool) guess(action string, names []string) *Operation {
	for i := range t.Operations {
		if slices.ContainsFunc(t.Operations[i].Also, func(s string) bool { return prose.Fold(s) == prose.Fold(action) }) {
			return &t.Operations[i]
		}
	}
	if near, ok := prose.Nearest(action, names); ok {
		o, _ := t.Operation(near)
		return o
	}
	return nil
}

// call is one call of an operation. All mistakes of its arguments are collected, so that one
// answer names them all.
type call struct {
	tool  *Tool
	o     *Operation
	shell bool

	scope     Scope
	values    map[string]any // by the parameter's name, as coerce makes them
	confirmed bool
	notices   []string
	away      bool // one of them says that the team's server is away

	given    map[string]bool // parameters that have a value, right or wrong
	problems []string
	argument string   // the first wrong argument
	unknown  []string // ignored arguments that no action of the tool has
}

// into sets the fields of an argument struct.
func (c *call) into(args any) error {
	data, err := json.Marshal(c.values)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, args)
}

// check makes a call of its arguments.
func (t *Tool) check(o *Operation, args map[string]any, shell bool) (*call, error) {
	c := &call{tool: t, o: o, shell: shell, scope: Scope{Output: "text", Effect: o.Effect}, values: map[string]any{}, given: map[string]bool{}}
	names := slices.Sorted(maps.Keys(args))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(c.rank(a), c.rank(b)) })
	for _, name := range names {
		if name != actionName || t.Actionless() {
			c.take(name, args[name])
		}
	}
	c.readNames()
	c.splitName()
	var missing []string
	for _, p := range o.Params {
		if p.Required && !c.given[p.Name] {
			missing = append(missing, p.Name)
		}
	}
	switch {
	case len(missing) > 0:
		c.problems = slices.Insert(c.problems, 0, c.needs(missing...))
		c.argument = missing[0]
	case len(c.problems) > 0:
		c.problems[0] = c.label() + ": " + c.problems[0]
	default:
		return c, nil
	}
	for _, name := range c.unknown { // perhaps the missing argument under a wrong name
		c.problems = append(c.problems, "unknown argument "+brief(name))
	}
	return c, t.usage(o, strings.Join(c.problems, "; "), c.argument)
}

// readNames reads back the escapes with which answers show the names of facts.
func (c *call) readNames() {
	if _, ofFact := c.o.Param("category"); !ofFact {
		return
	}
	for _, name := range []string{"category", "key", "target", "to"} {
		if text, ok := c.values[name].(string); ok {
			c.values[name] = prose.ReadName(text)
		}
	}
}

// splitName reads category/key where only one of the two was given: a key without its category, or the
// category of an action that needs a key. Where a key may be missing, the domain knows which rooms there are.
func (c *call) splitName() {
	category, hasCategory := c.o.Param("category")
	key, hasKey := c.o.Param("key")
	if !hasCategory || !hasKey || c.given["category"] == c.given["key"] {
		return
	}
	from := "category"
	switch {
	case c.given["key"] && c.o.Name != "recall": // recall takes any name as its key
		from = "key"
	case c.given["key"] || !key.Required && category.Required: // remember, timeline
		return
	}
	text, _ := c.values[from].(string)
	room, name, ok := strings.Cut(text, "/")
	if ok && room != "" && name != "" && c.o.Name != "recall" {
		c.values["category"], c.values["key"] = room, name
		c.given["category"], c.given["key"] = true, true
	}
}

// take checks one argument and stores it.
func (c *call) take(name string, v any) {
	p, own := c.param(name)
	if !own {
		c.foreign(name, v)
		return
	}
	if c.given[p.Name] || c.absent(p, v) {
		return
	}
	value, present, err := coerce(p, v)
	if err != nil {
		what := ""
		if p.Type == TypeNumber && p.Description != "" { // the description gives the range
			what = ": " + p.Description
		}
		c.given[p.Name] = true
		c.problem(p.Name, fmt.Sprintf("%s %v%s", p.in(c.shell), err, what))
		return
	}
	if !present || c.absent(p, value) {
		return
	}
	c.given[p.Name] = true
	switch p.Name {
	case "project":
		c.scope.Project = value.(string)
	case "agent":
		c.scope.Agent = value.(string)
	case "output":
		c.scope.Output = value.(string)
	case confirmName:
		c.confirmed = value.(bool)
	default:
		c.values[p.Name] = value
	}
}

// absent reports whether a client wrote null as a text, or as the only text of a list, for an optional
// argument: some cannot send the null of JSON. What may be said or changed is left as it is, and so is
// what somebody typed in a shell.
func (c *call) absent(p Param, v any) bool {
	if c.shell || p.Required {
		return false
	}
	switch v := v.(type) {
	case string:
		return nullWord(v) && !slices.Contains(p.Enum, v) && (p.Type != TypeString || len(p.Enum) > 0 || c.o.Effect == Reads && p.Name != "query")
	case []string:
		return !slices.ContainsFunc(v, func(s string) bool { return !nullWord(s) })
	}
	return false
}

// nullWord reports whether a text is the word for no value in the language of some client.
func nullWord(s string) bool { return s == "null" || s == "undefined" || s == "None" }

// rank puts other names of an argument after its own: a caller that fills in every field
// of a schema gives both.
func (c *call) rank(name string) int {
	if p, ok := c.param(name); ok && prose.Fold(p.Name) != prose.Fold(name) {
		return 1
	}
	return 0
}

// param finds the parameter that a name means: its own name, in any case and with any
// separators, or an alias.
func (c *call) param(name string) (Param, bool) {
	for _, own := range [][]Param{c.o.Params, scopeParams[:]} { // as most are written
		if i := slices.IndexFunc(own, func(p Param) bool { return p.Name == name }); i >= 0 {
			return own[i], true
		}
	}
	all := c.o.allParams()
	i := slices.IndexFunc(all, func(p Param) bool { return prose.Fold(p.Name) == prose.Fold(name) })
	if i < 0 {
		i = slices.IndexFunc(all, func(p Param) bool {
			return slices.ContainsFunc(p.Aliases, func(a string) bool { return prose.Fold(a) == prose.Fold(name) })
		})
	}
	if i < 0 {
		return Param{}, false
	}
	return all[i], true
}

// foreign handles an argument that the operation does not have.
func (c *call) foreign(name string, v any) {
	if empty(v) {
		return
	}
	if prose.Fold(name) == prose.Fold("dry_run") && c.o.Effect != Reads {
		c.problem(name, fmt.Sprintf("there is no %q, so nothing was done", name))
		return
	}
	if c.tool.has(name) {
		c.notices = append(c.notices, fmt.Sprintf("%q is not an argument of %s and was ignored", name, c.label()))
		return
	}
	var names []string
	for _, p := range c.o.allParams() {
		names = append(names, p.Name)
	}
	if near, ok := prose.Nearest(name, names); ok {
		c.problem(name, fmt.Sprintf("unknown argument %s; did you mean %q?", brief(name), near))
		return
	}
	c.unknown = append(c.unknown, name)
	c.notices = append(c.notices,
		fmt.Sprintf("unknown argument %s was ignored; %s takes %s", brief(name), c.label(), strings.Join(names, ", ")))
}

// has reports whether any operation of the tool has the argument.
func (t *Tool) has(name string) bool {
	return t.Sibling != nil && t.Sibling.has(name) || slices.ContainsFunc(t.Operations, func(o Operation) bool {
		return slices.ContainsFunc(o.allParams(), func(p Param) bool { return prose.Fold(p.Name) == prose.Fold(name) })
	})
}

func (c *call) problem(argument, text string) {
	c.problems = append(c.problems, text)
	c.argument = cmp.Or(c.argument, argument)
}

// label names the operation in a message.
func (c *call) label() string { return cmp.Or(c.o.Name, c.tool.Name) }

// needs says which arguments are missing: a, a and b, or a, b and c.
func (c *call) needs(names ...string) string {
	words := make([]string, len(names))
	for i, name := range names {
		p, own := c.param(name)
		if !own {
			p = Param{Name: name, Flag: name}
		}
		words[i] = p.in(c.shell)
	}
	text, last := strings.Join(words[:len(words)-1], ", "), words[len(words)-1]
	if text != "" {
		last = text + " and " + last
	}
	return c.label() + " needs " + last
}

// Answer is the outcome of a call.
type Answer struct {
	Result  Result
	Notices []string // what was ignored or corrected: one sentence each, without a full stop
	Away    bool     // one of them says that the team's server is away
	Output  string   // "text" or "json"
	Tool    string
	Action  string // the operation's name
	Scope   Scope  // the project and the caller; zero if no operation was found

	syntax prose.Syntax  // of calls that the answer suggests
	again  func() string // the same call as a command; nil: it was one
}

// given is a result that is bounded by itself, since it can be had only once.
type given interface{ Given() }

// RenderWithin is [Answer.Render] for a reader who takes no more than a number of bytes. What is cut is
// named, with the ways to have it.
func (a Answer) RenderWithin(most int) (string, error) {
	text, err := a.Render()
	if _, once := a.Result.(given); once || err != nil || len(text) <= most {
		return text, err
	}
	hint := "ask for less (limit, key, a narrower query), or in a shell, where nothing is cut"
	if a.again != nil {
		hint += a.again()
	}
	if a.Output == "json" {
		return prose.FitJSON(text, most, hint), nil
	}
	const room = 200
	short, cut := prose.Fit(text, most-len(hint)-room)
	var parts []string
	if cut.Clipped > 0 {
		parts = append(parts, prose.Count(cut.Clipped, "long line")+" clipped")
	}
	if cut.Missing > 0 {
		parts = append(parts, prose.Count(cut.Missing, "line")+" left out")
	}
	return fmt.Sprintf("%s\n… cut to %s bytes (%s): %s", short, prose.Number(most), strings.Join(parts, ", "), hint), nil
}

// AnsweredCall is a call and its answer, for counting its tokens.
type AnsweredCall struct {
	Answer
	In, Out string // the arguments as JSON, the text of the answer
}

// suggesting is a result or an error that suggests a call.
type suggesting interface{ TextIn(prose.Syntax) string }

// Found reports whether the call was a check that found something.
func (a Answer) Found() bool {
	c, ok := a.Result.(interface{ Found() bool })
	return ok && c.Found()
}

// NotDone says why the call was not carried out, which is no error; empty if it was.
func (a Answer) NotDone() string {
	if x, ok := a.Result.(interface{ NotDone() string }); ok {
		return x.NotDone()
	}
	return ""
}

// Warned reports whether the result has something that a person should look at, which is no error.
func (a Answer) Warned() bool {
	w, ok := a.Result.(interface{ Warned() bool })
	return ok && w.Warned()
}

// Render is the result as text or JSON. The surface shows the notices: beside the text to
// a model, on standard error to a person.
func (a Answer) Render() (string, error) {
	if a.Output == "json" {
		return a.JSON()
	}
	return a.text(a.syntax), nil
}

func (a Answer) text(call prose.Syntax) string {
	text := ""
	if r, ok := a.Result.(suggesting); ok {
		text = r.TextIn(call)
	} else {
		text = a.Result.Text()
	}
	return strings.TrimRight(text, "\n")
}

// RenderPlain is the text for a person who has buttons: without the sentences that suggest a call.
func (a Answer) RenderPlain() string { return withoutCalls(a.text) }

// PlainError is what an error says to a person who has buttons.
func PlainError(err error) string {
	if s, ok := errors.AsType[suggestingError](err); ok {
		return withoutCalls(s.TextIn)
	}
	return err.Error()
}

// withoutCalls is a text without the sentences that suggest a call.
func withoutCalls(text func(prose.Syntax) string) string {
	const call = "\x00" // no text of ours has one
	var lines []string
	for line := range strings.SplitSeq(text(func(string, ...any) string { return call }), "\n") {
		kept := ""
		for len(line) > 0 {
			n := language.SentenceEnd(line, "")
			if sentence, rest := line[:n], line[n:]; strings.Contains(sentence, call) {
				line = strings.TrimPrefix(rest, " ")
			} else {
				kept, line = kept+sentence, rest
			}
		}
		if kept = strings.TrimRight(kept, " "); kept != "" {
			lines = append(lines, kept)
		}
	}
	return strings.Join(lines, "\n")
}

// RenderWide is [Answer.Render] for a terminal: a value of several lines stands on several lines. Where it is only
// shown in part it stays in one.
func (a Answer) RenderWide() (string, error) {
	text, err := a.Render()
	if err != nil || a.Output == "json" || !strings.Contains(text, `\n`) {
		return text, err
	}
	data, err := a.JSON()
	if err != nil {
		return text, nil
	}
	var result any
	if json.Unmarshal([]byte(data), &result) != nil {
		return text, nil
	}
	var values []string
	var collect func(any)
	collect = func(v any) {
		switch v := v.(type) {
		case string:
			if strings.Contains(strings.TrimSpace(v), "\n") {
				values = append(values, v)
			}
		case []any:
			for _, x := range v {
				collect(x)
			}
		case map[string]any:
			for _, x := range v {
				collect(x)
			}
		}
	}
	collect(result)
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) // a value may be the beginning of another
	var pairs []string
	for _, v := range slices.Compact(values) {
		pairs = append(pairs, prose.Line(v), prose.Block(v))
	}
	return strings.NewReplacer(pairs...).Replace(text), nil
}

// JSON is the result's struct as JSON. Times are in RFC 3339.
func (a Answer) JSON() (string, error) { return prose.JSON(a.Result) }

// maxAgain is how long the command that gives a cut answer whole may be.
const maxAgain = 400

type shellKey struct{}

// InShell marks the caller as one that types commands: answers and errors then name
// commands and flags instead of actions and arguments.
func InShell(ctx context.Context) context.Context { return context.WithValue(ctx, shellKey{}, true) }

func inShell(ctx context.Context) bool { return ctx.Value(shellKey{}) != nil }

// inSyntax is an error worded for a shell.
type inSyntax struct {
	error
	text string
}

func (e inSyntax) Error() string { return e.text }
func (e inSyntax) Unwrap() error { return e.error }

// mcp is the syntax of tools. An action that only the sibling has is named with it.
func (t *Tool) mcp(action string, pairs ...any) string {
	if _, own := t.Operation(action); !own && action != "" && t.Sibling != nil {
		if _, ok := t.Sibling.Operation(action); ok {
			action = t.Sibling.Name + " " + action
		}
	}
	return prose.MCP(action, pairs...)
}

// shell is the syntax of commands: lean-ctx knowledge restore "…".
func (t *Tool) shell(action string, pairs ...any) string {
	if tool, other, ok := strings.Cut(action, " "); ok {
		return "lean-ctx " + strings.TrimPrefix(tool, "ctx_") + " " + other
	}
	if action != "" {
		return "lean-ctx " + t.commandLine(action, named(pairs))
	}
	var flags []string
	for i := 0; i+1 < len(pairs); i += 2 {
		flag := "--" + strings.ReplaceAll(pairs[i].(string), "_", "-")
		if pairs[i+1] != true {
			flag += " " + ShellWord(pairs[i+1])
		}
		flags = append(flags, flag)
	}
	return strings.Join(flags, " ")
}

// named are names and values in turn as a map.
func named(pairs []any) map[string]any {
	args := make(map[string]any, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		args[pairs[i].(string)] = pairs[i+1]
	}
	return args
}

type progressKey struct{}

// WithProgress gives ctx a function that long operations call with their progress: done
// of total. They call it rarely, and never twice at once.
func WithProgress(ctx context.Context, tell func(done, total int)) context.Context {
	return context.WithValue(ctx, progressKey{}, tell)
}

// Progress returns the function that [WithProgress] set, or nil.
func Progress(ctx context.Context) func(done, total int) {
	tell, _ := ctx.Value(progressKey{}).(func(done, total int))
	return tell
}
