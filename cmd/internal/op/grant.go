package op

import (
	"context"
	"fmt"
	"slices"
)

// Grant is what a caller over the network may do. A caller without a grant, such as a
// command, may do everything.
type Grant struct {
	// Project is the path that calls are about unless they name another.
	Project string

	// Projects are the hashes of the projects that the caller may reach; nil: all.
	// Whoever resolves a path checks it with [Grant.Reaches].
	Projects []string

	ReadOnly bool // only operations that read
	NoFiles  bool // no file of this machine by its name, as import and export take
	Sessions bool // what was said and done in clients' sessions
}

type grantKey struct{}

// WithGrant limits the calls that are made with ctx. [Tool.Call] enforces it and
// hands it on in the [Scope].
func WithGrant(ctx context.Context, g *Grant) context.Context {
	return context.WithValue(ctx, grantKey{}, g)
}

// GrantOf is the grant of ctx, or nil.
func GrantOf(ctx context.Context) *Grant {
	g, _ := ctx.Value(grantKey{}).(*Grant)
	return g
}

// Restricted reports whether some projects are out of reach.
func (g *Grant) Restricted() bool { return g != nil && g.Projects != nil }

// Reaches reports whether the caller may reach a project, by its hash.
func (g *Grant) Reaches(hash string) bool {
	return !g.Restricted() || slices.Contains(g.Projects, hash)
}

// ForbiddenError is a call that the caller's grant does not allow.
type ForbiddenError struct{ What string }

func (e *ForbiddenError) Error() string { return e.What }

// admit applies the grant to a call that was checked.
func (g *Grant) admit(c *call) error {
	c.scope.Grant = g
	if g == nil {
		return nil
	}
	if c.scope.Project == "" {
		c.scope.Project = g.Project
	}
	if g.ReadOnly && c.o.Effect != Reads {
		return &ForbiddenError{fmt.Sprintf("%s changes something, and this access is read-only", c.label())}
	}
	if _, named := c.values[c.o.file]; g.NoFiles && named {
		return &ForbiddenError{fmt.Sprintf("%s: %q names a file of the server's machine, which this access does not reach", c.label(), c.o.file)}
	}
	return nil
}

// ReadsFile says which argument names a file of the machine that the program runs on, to be
// read. A caller over the network may be kept from it.
func (o Operation) ReadsFile(argument string) Operation {
	o.file = argument
	return o
}

// WritesFile is [Operation.ReadsFile] of a file that is written.
func (o Operation) WritesFile(argument string) Operation {
	o.file, o.writes = argument, true
	return o
}

// mySessions refuses sessions to a caller over the network that was not given them.
func mySessions(g *Grant) error {
	if g != nil && !g.Sessions {
		return &ForbiddenError{`what was said in sessions stays on this machine: a token needs the right "sessions"`}
	}
	return nil
}

// File is the argument that names a file, or empty.
func (o Operation) File() string { return o.file }

// GuardFile sets what every path goes through that a caller gives the operation. guard returns
// the path that takes its place. An operation that takes no file has none.
func (o *Operation) GuardFile(guard func(ctx context.Context, sc Scope, path string, write bool) (string, error)) {
	if o.file != "" {
		o.guard = guard
	}
}

// guarded puts the path of a call through its guard.
func (c *call) guarded(ctx context.Context, sc Scope) error {
	path, _ := c.values[c.o.file].(string)
	if c.o.guard == nil || path == "" {
		return nil
	}
	path, err := c.o.guard(ctx, sc, path, c.o.writes)
	if err == nil {
		c.values[c.o.file] = path
	}
	return err
}
