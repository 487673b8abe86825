// Package op is the one table of operations. The MCP tools, the commands, the
// web form and the README's reference are projections of it; none of them says
// again what an argument is called, which are required or how a mistake in
// them is worded.
//
// # A row
//
// An operation is a name, a sentence, an [Effect] and a method of the domain
// taking one struct and giving a [Result]:
//
//	New("remember", "Assert a fact.", Adds, on(st.Knowledge, (*knowledge.Store).Remember), "value")
//
// The fields of the struct are the only definition of the parameters. Tags:
//
//	json:"name,omitempty"        the name; omitempty (or omitzero): optional
//	jsonschema:"text,enum=a|b"   the description, and the values it may have
//	enum:"a,b"                   the same, as a tag of its own
//	arg:"1"                      may be given by position on the command line
//	flag:"output"                the flag's name there where it differs
//	short:"c"                    its one-letter form
//	alias:"value"                another name that is accepted for it
//
// Types: strings (times too, whose reading is the domain's), booleans, whole
// numbers, numbers, lists of strings, and pointers to the scalar ones.
//
// # What is forgiven and what is not
//
// Models and shells send "0.9" for 0.9, "true" for true, one string for a list
// and null for "not given": all are taken as meant. An argument of another
// action of the same tool is ignored, and the answer says so, since many
// models fill in every field of a flat schema. One that no action has is
// refused when it is near to one that this action has (a typing mistake that
// would change what happens) and ignored with a notice otherwise. An argument
// that promises no effect ("dry_run") is never ignored.
package op

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Effect is what an operation does to the store. It drives the annotations
// that MCP clients see, what needs confirmation, and the read-only surfaces.
type Effect int

// The effects, from the harmless up.
const (
	Reads    Effect = iota // changes nothing
	Adds                   // adds, and takes nothing away: done twice it is done once
	Changes                // changes what is there; history keeps what it was
	Destroys               // may take something away for good
)

// String is the effect's name in lower case.
func (e Effect) String() string {
	return [...]string{"reads", "adds", "changes", "destroys"}[e]
}

// Scope is what may be given to any operation.
type Scope struct {
	Project string // a path; empty: the surface's own project
	Agent   string // the id that register gave; empty: the caller's own
	Output  string // "text" or "json"
	Caller  Caller // who is at the other end, as the surface knows it
	Grant   *Grant // what the caller may do; nil: everything
}

// Caller is who an operation is done for, as far as the surface can tell.
type Caller struct {
	Kind    string // user, agent, tool
	Name    string // the client's name: "claude-code", "codex-mcp-client"
	Session string // one connection or one shell session
}

type (
	callerKey  struct{}
	noticesKey struct{} // where what a store has to say beside its result goes
)

// WithCaller gives ctx a caller; [Tool.Call] hands it on in the [Scope].
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf is the caller of ctx, if a surface gave it one.
func CallerOf(ctx context.Context) (c Caller, ok bool) {
	c, ok = ctx.Value(callerKey{}).(Caller)
	return c, ok
}

// Result is what an operation has to say: Text for people and models, its
// exported fields for those who asked for JSON.
type Result interface{ Text() string }

// Operation is a row of the table.
type Operation struct {
	Name     string
	Summary  string // one sentence
	Effect   Effect
	Params   []Param
	Confirms bool           // may ask for confirm=true
	Example  map[string]any // arguments of a call that is right; see [Operation.Shown]
	Also     []string       // names that people try for it; only suggested, never taken

	instead []example // see [Operation.Instead]
	byAgent bool      // see [Operation.ByAgent]
	long    bool      // see [Operation.Long]
	file    string    // see [Operation.Files]
	taught  []string  // the optional arguments that models are told of; nil: the operation is only named to them

	adjust func(ctx context.Context, sc Scope, args any) error // see [Adjust]
	run    func(ctx context.Context, sc Scope, b bound) (Result, error)
}

// example is a call that helps where one argument is wrong.
type example struct {
	argument, action string
	args             map[string]any
}

// Confirmer is met by arguments that may ask for something that cannot be
// undone. NeedsConfirm says what it is ("erasing takes the fact out of every
// file"), or nothing when these particular arguments are harmless.
type Confirmer interface{ NeedsConfirm() string }

// New makes a row of a function whose argument struct A is read as the package
// documentation says. Required are the arguments it cannot do without, beside
// those that are not optional by their tags. It panics on a struct that is not
// such an argument, which every test of the table would find.
func New[A any, R Result](name, summary string, e Effect, run func(context.Context, Scope, A) (R, error), required ...string) Operation {
	params, err := params(reflect.TypeFor[A](), required)
	if err != nil {
		panic(fmt.Sprintf("op: %s: %v", name, err))
	}
	// An argument called confirm is the tool's, shared by all its actions.
	var confirm Param
	if i := slices.IndexFunc(params, func(p Param) bool { return p.Name == confirmName }); i >= 0 {
		confirm = params[i]
		params = slices.Delete(params, i, i+1)
	}
	_, confirms := any(new(A)).(Confirmer)
	confirms = confirms || confirm.Name != ""
	return Operation{
		Name: name, Summary: summary, Effect: e, Params: params, Confirms: confirms,
		run: func(ctx context.Context, sc Scope, b bound) (Result, error) {
			a := new(A)
			v := reflect.ValueOf(a).Elem()
			b.into(v)
			if confirm.Name != "" {
				v.FieldByIndex(confirm.field).SetBool(b.confirmed)
			}
			if c, ok := any(a).(Confirmer); ok && !b.confirmed {
				if why := c.NeedsConfirm(); why != "" {
					return nil, &unconfirmedError{why}
				}
			}
			if b.adjust != nil {
				if err := b.adjust(ctx, sc, a); err != nil {
					return nil, err
				}
			}
			r, err := run(ctx, sc, *a)
			if err != nil {
				return nil, err
			}
			return r, nil
		},
	}
}

// Shown gives the operation the example that its error messages and the
// reference show: names and values in turn.
func (o Operation) Shown(pairs ...any) Operation {
	o.Example = make(map[string]any, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		o.Example[pairs[i].(string)] = pairs[i+1]
	}
	return o
}

// Instead gives the operation the example for a mistake in one argument by calls
// that gave all of the example's arguments. It may be of another action: then it
// is shown to calls that lack the argument, since that action is what they mean.
func (o Operation) Instead(argument, action string, pairs ...any) Operation {
	shown := o.Shown(pairs...).Example
	o.instead = append(slices.Clone(o.instead), example{argument, action, shown})
	return o
}

// Alias lets an argument be given under another name. A field of that name, if
// the struct has one, is no argument of its own then.
func (o Operation) Alias(name, other string) Operation {
	o.Params = slices.DeleteFunc(slices.Clone(o.Params), func(p Param) bool { return p.Name == other })
	for i := range o.Params {
		if o.Params[i].Name == name {
			o.Params[i].Aliases = append(slices.Clone(o.Params[i].Aliases), other)
		}
	}
	return o
}

// Adjust has a surface change the arguments of a row before it runs, for example
// the paths that were typed in a directory of the project.
func Adjust[A any](o *Operation, change func(context.Context, Scope, *A) error) {
	o.adjust = func(ctx context.Context, sc Scope, args any) error { return change(ctx, sc, args.(*A)) }
}

// ByAgent says that only a registered agent may call the operation. In a shell
// its id must be given, so command lines that are shown give one.
func (o Operation) ByAgent() Operation {
	o.byAgent = true
	return o
}

// Long says that the operation may take many seconds. On one connection, calls
// that read do not wait for it.
func (o Operation) Long() Operation {
	o.long = true
	return o
}

// CommandLine is the operation's example as a command, without the program's
// name, or nothing where it has none.
func (t *Tool) CommandLine(o *Operation) string {
	if len(o.Example) == 0 && !o.byAgent {
		return ""
	}
	args := o.Example
	if o.byAgent {
		args = maps.Clone(args)
		args[agentName] = someAgent
	}
	return t.commandLine(o.Name, args)
}

// Teach has the operation described to models, with these of its optional
// arguments. What is not taught is accepted all the same; it is named in the
// list of actions, and the errors show how it is called. Models pay for each
// word of a tool's description in every session.
func (o Operation) Teach(optional ...string) Operation {
	o.taught = append([]string{}, optional...)
	return o
}

// shows reports whether models are told of a parameter.
func (o *Operation) shows(p Param) bool {
	return o.taught != nil && (p.Required || slices.Contains(o.taught, p.Name))
}

// Tried names what people call the operation when they guess.
func (o Operation) Tried(names ...string) Operation {
	o.Also = names
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

// on joins a method of a store to the way to open one.
func on[T, A, R any](open func(context.Context, Scope) (T, error), method func(T, context.Context, A) (R, error)) func(context.Context, Scope, A) (R, error) {
	return func(ctx context.Context, sc Scope, a A) (R, error) {
		store, err := open(ctx, sc)
		if err != nil {
			var none R
			return none, err
		}
		r, err := method(store, ctx, a)
		if n, ok := any(store).(noticer); ok {
			if list, ok := ctx.Value(noticesKey{}).(*[]string); ok {
				*list = append(*list, n.Notices()...)
			}
		}
		return r, err
	}
}

// function makes of a function on a store what [on] takes.
func function[T, A, R any](f func(context.Context, T, A) (R, error)) func(T, context.Context, A) (R, error) {
	return func(store T, ctx context.Context, a A) (R, error) { return f(ctx, store, a) }
}

// noticer is a store that has things to say beside its results, each once:
// damage that was repaired, facts taken over from another program.
type noticer interface{ Notices() []string }

// Tool is a group of operations that share one name in MCP and one command.
// A tool of a single operation without a name has no action.
type Tool struct {
	Name       string // in MCP: ctx_knowledge
	Command    string // on the command line: knowledge; a twin has its sibling's
	Title      string
	Summary    string // begins with the sentence that a model chooses it by
	Hint       string // words a client's search over tools should find it by
	Words      Words  // what an argument is for all actions that have it
	Operations []Operation
	Sibling    *Tool // where the actions are that people expect here
}

// Words are the descriptions of a schema by the name of the argument, in as few
// words as will do; an empty one leaves the description out.
type Words map[string]string

// Actionless reports whether the tool has no action argument.
func (t *Tool) Actionless() bool { return len(t.Operations) == 1 && t.Operations[0].Name == "" }

// Effect is the worst effect of the tool's operations.
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

// EffectOf is the effect of the operation that args call, or of the tool where
// they call none.
func (t *Tool) EffectOf(args map[string]any) Effect {
	if o, err := t.find("", args); err == nil {
		return o.Effect
	}
	return t.Effect()
}

// TakesLong reports whether the operation that args ask for may take many seconds.
func (t *Tool) TakesLong(args map[string]any) bool {
	o, err := t.find("", args)
	return err == nil && o.long
}
