// Package refusal has the two errors by which every package of the domain says
// that a call cannot be done as it was made. The packages have them under their
// own names as aliases, so that who serves them all asks for one type each.
//
// We have one type for all of them; a type in each package was rejected because
// what maps errors to exit codes and examples had to know every one, and one
// that was forgotten passed for a failure of the program.
package refusal

import (
	"fmt"
	"strings"
)

// ArgumentError says which argument is wrong and why.
type ArgumentError struct {
	Argument string // its name as callers know it: to_agent
	Problem  string // names the thing: message has 70,000 bytes
	Missing  bool   // it was not given
	Why      string // of a missing one, what is wanted; may be empty
	Subject  string // the agent or thing that the call named, where that is what is wrong
}

// Error is the problem.
func (e *ArgumentError) Error() string { return e.Problem }

// NotFoundError says that a named thing does not exist.
type NotFoundError struct {
	What    string
	Subject string // the name that was not found, where one was given
}

// Error is what does not exist.
func (e *NotFoundError) Error() string { return e.What }

// Argument is an [*ArgumentError] whose problem is formatted.
func Argument(name, format string, args ...any) error {
	return &ArgumentError{Argument: name, Problem: fmt.Sprintf(format, args...)}
}

// Missing is an [*ArgumentError] about an argument that was not given.
func Missing(name, why string) error {
	problem := "needs " + name
	if why != "" {
		problem += ": " + why
	}
	return &ArgumentError{Argument: name, Problem: problem, Missing: true, Why: why}
}

// NotFound is a [*NotFoundError] that is formatted.
func NotFound(format string, args ...any) error {
	return &NotFoundError{What: fmt.Sprintf(format, args...)}
}

// Required is an [*ArgumentError] about the first argument that is blank: pairs
// are names and values in turn.
func Required(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if strings.TrimSpace(pairs[i+1]) == "" {
			return Missing(pairs[i], "")
		}
	}
	return nil
}

// MaxLimit is the most rows that any list shows.
const MaxLimit = 10_000

// Limit checks an argument "limit": 0 means standard, and more than [MaxLimit]
// means that.
func Limit(limit, standard int) (int, error) {
	switch {
	case limit < 0:
		return 0, Argument("limit", "limit %d is negative", limit)
	case limit == 0:
		return standard, nil
	}
	return min(limit, MaxLimit), nil
}
