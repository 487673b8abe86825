package language_test

import (
	"fmt"
	"time"

	"leanctx/internal/language"
)

// A question about another time than now: what it asks, and of what.
func ExampleReadPast() {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	p, ok := language.ReadPast("what did we use before Postgres?", now, now)
	fmt.Println(ok, p.Kind == language.AsksBefore, p.New)
	// Output: true true Postgres
}

// A prompt asks for several things in one sentence.
func ExampleClauses() {
	for _, c := range language.Clauses("Fix the login timeout, then update the changelog and push to main.") {
		fmt.Println(c)
	}
	// Output:
	// Fix the login timeout
	// update the changelog
	// push to main
}

// A shell command: what it is for, and which paths it names.
func ExampleReadCommand() {
	c := language.ReadCommand("cd web && npm test -- src/cart.test.ts")
	fmt.Println(c.Purposes, c.Paths)
	// Output: [test] [src/cart.test.ts]
}
