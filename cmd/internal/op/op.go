// Package op is the table of operations. The MCP tools, the commands, the web API and the
// reference are made from it. So the name of an argument, whether it is required, and the
// wording of a mistake are written once.
//
// # A row
//
// An operation is a name, a sentence, an [Effect] and a method of the domain that takes
// one struct and returns a [Result]:
//
//	New("remember", "Assert a fact.", Adds, on(st.Knowledge, (*knowledge.Store).Remember), "value")
//
// The fields of the struct are the only definition of the parameters. Tags:
//
//	json:"name,omitempty"        the name; omitempty (or omitzero): optional
//	jsonschema:"text"            the description
//	enum:"a,b"                   the values it may have
//	arg:"1"                      may be given by position on the command line
//	flag:"output"                the flag's name, if it differs
//	short:"c"                    its one-letter form
//	alias:"value"                another name that is accepted for it
//
// Types: strings (also for times, which the domain parses), booleans, integers, numbers,
// lists of strings, and pointers to all but lists.
//
// # Which mistakes are corrected
//
// Models and shells send "0.9" for 0.9, "true" for true, one string for a list and null for
// "not given". All of these are accepted. An argument of another action of the same tool is
// ignored with a notice, since many models fill in every field of a schema. An argument that no
// action has is ignored with a notice too. If it looks like a typing mistake for one of this
// action, the call is refused. "dry_run" is never ignored.
package op

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"leanctx/internal/journal"
)

// Effect is what an operation does to the store. It decides the annotations that MCP
// clients see, and what a read-only surface allows.
type Effect int

// The effects, the least harmful first.
const (
	Reads    Effect = iota // changes nothing
	Adds                   // adds something; to repeat it changes nothing
	Changes                // changes something; the history keeps the former state
	Destroys               // may remove something for good
)

// String is the effect's name in lower case.
func (e Effect) String() string {
	return [...]string{"reads", "adds", "changes", "destroys"}[e]
}

// Scope is what every operation takes beside its arguments.
type Scope struct {
	Project string // a path; empty: the surface's own project
	Agent   string // the id that register gave; empty: the caller's own
	Output  string // "text" or "json"
	Effect  Effect // what the operation does
	Caller  Caller // who calls, as far as the surface knows
	Grant   *Grant // what the caller may do; nil: everything
}

// ByAgent reports whether an agent calls, by the mark of its client or under its id.
func (s Scope) ByAgent() bool { return s.Caller.Kind == agentName || s.Agent != "" }

// ByPerson reports whether a person calls, at a terminal and under no agent's id. A script is neither a person nor an agent.
func (s Scope) ByPerson() bool { return s.Caller.Kind == "user" && s.Agent == "" }

// Caller is who calls, as far as the surface knows.
type Caller struct {
	Kind    string // user, agent, tool
	Name    string // the client's name: "claude-code", "codex-mcp-client"
	Session string // one connection or one shell session

	// How a call over MCP finds the session of the client in which it is made.
	Thread string `json:",omitempty"` // that session, where the client says so
	CallID string `json:",omitempty"` // the client's name of the call
	Sum    string `json:",omitempty"` // [CallSum]

	Workspace *Workspace `json:",omitempty"` // of a call over MCP
}

type (
	callerKey  struct{}
	noticesKey struct{} // the call that collects the notices of stores
)

// WithCaller gives ctx a caller. [Tool.Call] puts it into the [Scope].
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf is the caller of ctx, if a surface gave it one.
func CallerOf(ctx context.Context) (c Caller, ok bool) {
	c, ok = ctx.Value(callerKey{}).(Caller)
	return c, ok
}

// Result is the answer of an operation: Text for people and models, its exported fields
// as JSON.
type Result interface{ Text() string }

// Operation is a row of the table.
type Operation struct {
	Name     string
	Summary  string // one sentence
	Effect   Effect
	Params   []Param
	Confirms bool           // may require confirm=true
	Example  map[string]any // arguments of a correct call; see [Operation.Shown]
	Also     []string       // names that people try for it; suggested, not accepted
	Names    []string       // other names, which are accepted

	byAgent   bool     // see [Operation.ByAgent]
	byPerson  bool     // see [Operation.ByPerson]
	long      bool     // see [Operation.Long]
	file      string   // see [Operation.ReadsFile]
	writes    bool     // see [Operation.WritesFile]
	described []string // optional arguments described to models; nil: the operation is only named

	guard  func(ctx context.Context, sc Scope, path string, write bool) (string, error) // see [Operation.GuardFile]
	adjust func(ctx context.Context, sc Scope, args any) error                          // see [Adjust]
	run    func(ctx context.Context, sc Scope, c *call) (Result, error)
}

// Confirmer is implemented by arguments of operations that cannot be undone. NeedsConfirm
// says what they would do ("erasing takes the fact out of every file"). It returns nothing
// if these arguments are harmless.
type Confirmer interface{ NeedsConfirm() string }

// New makes a row. The package documentation describes the argument struct A. required
// names required arguments whose tags say omitempty. New panics on a struct that cannot be
// one; every test of the table finds that.
func New[A any, R Result](name, summary string, e Effect, run func(context.Context, Scope, A) (R, error), required ...string) Operation {
	params, err := params(reflect.TypeFor[A](), required)
	if err != nil {
		panic(fmt.Sprintf("op: %s: %v", name, err))
	}
	_, confirms := any(new(A)).(Confirmer)
	o := Operation{Name: name, Summary: summary, Effect: e, Params: params, Confirms: confirms}
	once := func(ctx context.Context, sc Scope, c *call) (Result, error) {
		if err := c.guarded(ctx, sc); err != nil {
			return nil, err
		}
		a := new(A)
		if err := c.into(a); err != nil {
			return nil, err
		}
		if x, ok := any(a).(Confirmer); ok && !c.confirmed {
			if why := x.NeedsConfirm(); why != "" {
				return nil, &unconfirmedError{why}
			}
		}
		if c.o.adjust != nil {
			if err := c.o.adjust(ctx, sc, a); err != nil {
				return nil, err
			}
		}
		r, err := run(ctx, sc, *a)
		if err != nil {
			return nil, err
		}
		return r, nil
	}
	o.run = func(ctx context.Context, sc Scope, c *call) (Result, error) {
		r, err := once(ctx, sc, c)
		if errors.Is(err, journal.ErrElsewhere) { // nothing was written, and what it opens now is where the project is
			r, err = once(ctx, sc, c)
		}
		return r, err
	}
	return o
}

// Shown sets the example that errors and the reference show: names and values in turn.
func (o Operation) Shown(pairs ...any) Operation {
	o.Example = named(pairs)
	return o
}

// Adjust sets a function that changes the arguments of a row before it runs. The command
// line resolves paths relative to the working directory with it.
func Adjust[A any](o *Operation, change func(context.Context, Scope, *A) error) {
	o.adjust = func(ctx context.Context, sc Scope, args any) error { return change(ctx, sc, args.(*A)) }
}

// ByAgent marks an operation that only a registered agent may call. In a shell it must
// give its id, so examples of commands contain one.
func (o Operation) ByAgent() Operation {
	o.byAgent = true
	return o
}

// ByPerson marks an operation that no agent does: it decides whom the memory is shared with, what is
// taken out of all files, or what is kept. What an agent reads may have told it to.
func (o Operation) ByPerson() Operation {
	o.byPerson = true
	return o
}

// forbids refuses a caller who is an agent what is a person's.
func (o *Operation) forbids(command string, sc Scope) error {
	if !o.byPerson || !sc.ByAgent() {
		return nil
	}
	return &ForbiddenError{strings.TrimSpace("lean-ctx "+command+" "+o.Name) + " is for a person: ask the user to type it at a terminal"}
}

// Long marks an operation that may take many seconds. Calls that read do not wait for it
// on a connection.
func (o Operation) Long() Operation {
	o.long = true
	return o
}

// CommandLine is the operation's example as a command without the program's name. It is
// empty if there is no example.
func (t *Tool) CommandLine(o *Operation) string {
	if len(o.Example) == 0 && !o.byAgent {
		return ""
	}
	return t.commandLine(o.Name, o.byAnAgent(o.Example))
}

// byAnAgent is an example with the id of an agent, where the operation needs one.
func (o *Operation) byAnAgent(example map[string]any) map[string]any {
	if _, given := example[agentName]; given || !o.byAgent {
		return example
	}
	example = maps.Clone(example)
	if example == nil {
		example = map[string]any{}
	}
	example[agentName] = someAgent
	return example
}

// Describe puts the operation and these of its optional arguments into the schema. Other
// operations are only named in the list of actions; they are accepted too, and errors show
// how to call them. Each word of a description costs tokens in every session.
func (o Operation) Describe(optional ...string) Operation {
	o.described = append([]string{}, optional...)
	return o
}

// shows reports whether a parameter is described to models.
func (o *Operation) shows(p Param) bool {
	return o.described != nil && (p.Required || slices.Contains(o.described, p.Name))
}

// Guesses sets wrong names for the operation that callers are likely to try.
func (o Operation) Guesses(names ...string) Operation {
	o.Also = names
	return o
}

// Named sets other names of the operation, under which it may be called too.
func (o Operation) Named(names ...string) Operation {
	o.Names = names
	return o
}

// Param finds a parameter by its name.
func (o *Operation) Param(name string) (Param, bool) {
	i := slices.IndexFunc(o.Params, func(p Param) bool { return p.Name == name })
	if i < 0 {
		return Param{}, false
	}
	return o.Params[i], true
}

// allParams are all that the operation takes: its own, confirm if it may be required, and those
// that every operation takes.
func (o *Operation) allParams() []Param {
	all := slices.Clone(o.Params)
	if o.Confirms {
		all = append(all, confirmParam)
	}
	return append(all, scopeParams[:]...)
}

// on makes a row's function of a method and of the function that opens its store.
func on[T, A, R any](open func(context.Context, Scope) (T, error), method func(T, context.Context, A) (R, error)) func(context.Context, Scope, A) (R, error) {
	return func(ctx context.Context, sc Scope, a A) (R, error) {
		store, err := open(ctx, sc)
		if err != nil {
			var none R
			return none, err
		}
		r, err := method(store, ctx, a)
		if c, ok := ctx.Value(noticesKey{}).(*call); ok {
			c.heed(store)
		}
		return r, err
	}
}

// function turns a function on a store into a method, as [on] wants it.
func function[T, A, R any](f func(context.Context, T, A) (R, error)) func(T, context.Context, A) (R, error) {
	return func(store T, ctx context.Context, a A) (R, error) { return f(ctx, store, a) }
}

// heed takes the notices of a store. That the team's server is away is said once.
func (c *call) heed(store any) {
	if n, ok := store.(noticer); ok {
		c.notices = append(c.notices, n.Notices()...)
	}
	if s, ok := store.(interface{ Away() string }); ok && !c.away {
		if text := s.Away(); text != "" {
			c.notices, c.away = append(c.notices, text), true
		}
	}
}

// noticer is a store with notices beside its results, each given once: damage that was
// repaired, facts that were adopted from another program.
type noticer interface{ Notices() []string }

// Tool is a group of operations that share one name in MCP and one command.
// A tool of a single operation without a name has no action.
type Tool struct {
	Name       string // in MCP: ctx_knowledge
	Command    string // on the command line: knowledge; the read-only twin has the same
	Title      string
	Summary    string // its first sentence must tell a model when to use the tool
	Hint       string // words by which a client's search for tools finds it
	Words      Words  // descriptions of arguments in the MCP schema
	Operations []Operation
	Sibling    *Tool // the tool that has the actions missing here
}

// Words are the descriptions of a schema by the name of the argument, much shorter than
// those of the command line: each word costs tokens in every session. An argument without
// words is not described.
type Words map[string]string

// Actionless reports whether the tool has no action argument.
func (t *Tool) Actionless() bool { return len(t.Operations) == 1 && t.Operations[0].Name == "" }

// Effect is the most harmful effect of the tool's operations.
func (t *Tool) Effect() Effect {
	worst := Reads
	for _, o := range t.Operations {
		worst = max(worst, o.Effect)
	}
	return worst
}

// Operation finds a row by its exact name.
func (t *Tool) Operation(name string) (*Operation, bool) {
	i := slices.IndexFunc(t.Operations, func(o Operation) bool { return o.Name == name })
	if i < 0 {
		return nil, false
	}
	return &t.Operations[i], true
}

// EffectOf is the effect of the operation that args name, or else of the tool.
func (t *Tool) EffectOf(args map[string]any) Effect {
	if o, err := t.find("", args); err == nil {
		return o.Effect
	}
	return t.Effect()
}

// TakesLong reports whether the operation that args name may take many seconds.
func (t *Tool) TakesLong(args map[string]any) bool {
	o, err := t.find("", args)
	return err == nil && o.long
}
