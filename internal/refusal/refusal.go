// Package refusal has the two errors with which every package of the domain rejects a
// call, and the one for a wrong command line or configuration, so that a caller checks
// for one type each.
//
// A type in each package was rejected. The code that maps errors to exit codes had to know
// every one. A forgotten one counted as an internal error.
package refusal

import (
	"fmt"
	"strings"
)

// ArgumentError says which argument is wrong and why.
type ArgumentError struct {
	Argument string // its name as callers know it: to_agent
	Problem  string // names the subject: message has 70,000 bytes
	Missing  bool   // the argument was not given
	Why      string // for a missing argument, what is expected; may be empty
	Subject  string // the name in the call that is wrong, if that is the problem
	AskUser  bool   // only the user may decide it; a caller passes on the answer with source=user
}

// Error is the problem.
func (e *ArgumentError) Error() string {
	if e.AskUser {
		return e.Problem + ": ask the user, and pass on the answer with source=user"
	}
	return e.Problem
}

// NotFoundError means that a named thing does not exist.
type NotFoundError struct {
	What    string
	Subject string // the name that was not found, if one was given
}

// Error says what does not exist.
func (e *NotFoundError) Error() string { return e.What }

// HintError is a mistake on the command line or in the configuration, with what to do
// about it.
type HintError struct {
	Problem string
	Hint    string // what to type or change; may be empty
	Cause   error  // may be nil
}

// Error is the problem.
func (e *HintError) Error() string { return e.Problem }

// Unwrap is the cause.
func (e *HintError) Unwrap() error { return e.Cause }

// Argument formats an [*ArgumentError].
func Argument(name, format string, args ...any) error {
	return &ArgumentError{Argument: name, Problem: fmt.Sprintf(format, args...)}
}

// ForUser is an [*ArgumentError] about something that only the user may decide.
func ForUser(format string, args ...any) error {
	return &ArgumentError{Argument: "source", Problem: fmt.Sprintf(format, args...), AskUser: true}
}

// Missing is an [*ArgumentError] about an argument that was not given.
func Missing(name, why string) error {
	problem := "needs " + name
	if why != "" {
		problem += ": " + why
	}
	return &ArgumentError{Argument: name, Problem: problem, Missing: true, Why: why}
}

// NotFound formats a [*NotFoundError].
func NotFound(format string, args ...any) error {
	return &NotFoundError{What: fmt.Sprintf(format, args...)}
}

// Required returns an [*ArgumentError] for the first blank argument. pairs alternates
// names and values.
func Required(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if strings.TrimSpace(pairs[i+1]) == "" {
			return Missing(pairs[i], "")
		}
	}
	return nil
}

// MaxLimit is the maximum number of rows in any list.
const MaxLimit = 10_000

// Limit checks an argument "limit". 0 means standard; values above [MaxLimit] are lowered
// to it.
func Limit(limit, standard int) (int, error) {
	switch {
	case limit < 0:
		return 0, Argument("limit", "limit %d is negative", limit)
	case limit == 0:
		return standard, nil
	}
	return min(limit, MaxLimit), nil
}
