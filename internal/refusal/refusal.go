// Package refusal has the two errors by which every package of the domain says
// that a call cannot be done as it was made. The packages have them under their
// own names as aliases, so that who serves them all asks for one type each.
//
// We have one type for all of them; a type in each package was rejected because
// what maps errors to exit codes and examples had to know every one, and one
// that was forgotten passed for a failure of the program.
package refusal

import "fmt"

// ArgumentError says which argument is wrong and why.
type ArgumentError struct {
	Argument string // its name as callers know it: to_agent
	Problem  string // names the thing: needs message
}

// Error is the problem.
func (e *ArgumentError) Error() string { return e.Problem }

// NotFoundError says that a named thing does not exist.
type NotFoundError struct{ What string }

// Error is what does not exist.
func (e *NotFoundError) Error() string { return e.What }

// Argument is an [*ArgumentError] whose problem is formatted.
func Argument(name, format string, args ...any) error {
	return &ArgumentError{name, fmt.Sprintf(format, args...)}
}

// NotFound is a [*NotFoundError] that is formatted.
func NotFound(format string, args ...any) error {
	return &NotFoundError{fmt.Sprintf(format, args...)}
}
