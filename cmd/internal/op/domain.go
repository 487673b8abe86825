package op

import (
	"errors"
	"maps"
	"strconv"
	"strings"

	"leanctx/internal/journal"
	"leanctx/internal/refusal"
)

// suggestingError is an error that tells what to type next.
type suggestingError interface {
	error
	suggesting
}

// unknown reports whether one of the packages below says that a named thing
// does not exist.
func unknown(err error) bool {
	_, ok := errors.AsType[*refusal.NotFoundError](err)
	return ok
}

// classifyDomain knows the errors of the packages below.
func classifyDomain(err error) (Class, bool) {
	if _, ok := errors.AsType[*refusal.ArgumentError](err); ok {
		return Usage, true
	}
	switch {
	case unknown(err):
		return NotFound, true
	case errors.Is(err, journal.ErrLocked):
		return Locked, true
	case errors.Is(err, journal.ErrCorrupt), errors.Is(err, journal.ErrNewer), errors.Is(err, journal.ErrForeign):
		return Unreadable, true
	}
	return Failed, false
}

// explain words the domain's own complaints about arguments as those found
// here are worded.
func (t *Tool) explain(o *Operation, c checked, err error, shell bool) error {
	if u, ok := errors.AsType[*unconfirmedError](err); ok {
		e := t.usage(o, t.label(o)+": "+u.in(shell), confirmName)
		e.Example = c.given()
		e.Example[confirmName] = true
		return e
	}
	if s, ok := errors.AsType[suggestingError](err); ok && shell {
		return inSyntax{err, s.TextIn(t.shell)}
	}
	wrong, ok := errors.AsType[*refusal.ArgumentError](err)
	if !ok {
		return err
	}
	argument := wrong.Argument
	problem := t.label(o) + ": " + strings.TrimSuffix(wrong.Problem, ".")
	if wrong.Missing {
		name := strconv.Quote(argument)
		for _, p := range append(ScopeParams(), o.Params...) {
			if p.Name == argument {
				name = p.in(shell)
			}
		}
		problem = t.label(o) + " needs " + name
		if wrong.Why != "" {
			problem += ": " + wrong.Why
		}
	}
	e := t.usage(o, problem, argument)
	e.Cause = err
	if argument == agentName {
		e.Example = c.given()
		e.Example[agentName] = someAgent
	}
	for _, x := range o.instead {
		if args := x.fits(o, argument, c.given()); args != nil {
			e.Action, e.Example = x.action, args
		}
	}
	return e
}

// fits gives the example's arguments, as the call gave them but for the wrong
// one, or nothing where the call is not like it.
func (x example) fits(o *Operation, wrong string, given map[string]any) map[string]any {
	if _, ok := given[wrong]; x.argument != wrong || ok && x.action != o.Name {
		return nil
	}
	out := maps.Clone(x.args)
	for name := range x.args {
		v, ok := given[name]
		if !ok {
			return nil
		}
		if name != wrong {
			out[name] = v
		}
	}
	return out
}

// An agent's name as an argument, and what one looks like.
const (
	agentName = "agent"
	someAgent = "cursor-a3f8"
)

// given is the arguments of the call as they were understood.
func (c checked) given() map[string]any {
	out := make(map[string]any, len(c.bound.values)+1)
	for _, v := range c.bound.values {
		out[v.param.Name] = v.value
	}
	return out
}
