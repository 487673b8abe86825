package op

import (
	"errors"
	"fmt"
	"strings"

	"leanctx/internal/journal"
	"leanctx/knowledge"
)

// classifyDomain knows the errors of the packages below.
func classifyDomain(err error) (Class, bool) {
	if _, ok := errors.AsType[*knowledge.ArgumentError](err); ok {
		return Usage, true
	}
	if _, ok := errors.AsType[*knowledge.NotFoundError](err); ok {
		return NotFound, true
	}
	switch {
	case errors.Is(err, journal.ErrLocked):
		return Locked, true
	case errors.Is(err, journal.ErrCorrupt), errors.Is(err, journal.ErrNewer), errors.Is(err, journal.ErrForeign):
		return Unreadable, true
	}
	return Failed, false
}

// explain words the domain's own complaints about arguments as those found
// here are worded.
func (t *Tool) explain(o *Operation, c checked, err error) error {
	if u, ok := errors.AsType[*unconfirmedError](err); ok {
		e := t.usage(o, t.label(o)+": "+u.Error(), confirmName)
		e.Example = c.given()
		e.Example[confirmName] = true
		return e
	}
	a, ok := errors.AsType[*knowledge.ArgumentError](err)
	if !ok {
		return err
	}
	problem := t.label(o) + ": " + strings.TrimSuffix(a.Problem, ".")
	if p, ok := o.Param(a.Argument); ok && a.Problem == "needs "+p.Name {
		problem = fmt.Sprintf("%s needs %q", t.label(o), p.Name)
	}
	return t.usage(o, problem, a.Argument)
}

// given is the arguments of the call as they were understood.
func (c checked) given() map[string]any {
	out := make(map[string]any, len(c.bound.values)+1)
	for _, v := range c.bound.values {
		out[v.param.Name] = v.value
	}
	return out
}
