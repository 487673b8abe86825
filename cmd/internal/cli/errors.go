package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"leanctx/cmd/internal/op"
)

// UsageError is a wrong command line.
type UsageError struct {
	Problem, Advice string
	Cause           error // may be nil
}

// Unwrap is the cause.
func (e *UsageError) Unwrap() error { return e.Cause }

func (e *UsageError) Error() string { return e.Problem }

// Hint is what to type instead, or nothing.
func (e *UsageError) Hint() string { return e.Advice }

// explain turns an argument error into one for the command line, with a command as the
// example.
func (k *call) explain(err error) error {
	u, ok := errors.AsType[*op.UsageError](err)
	if !ok {
		return err
	}
	return &UsageError{Problem: u.Problem, Advice: Name + " " + u.CommandLine(), Cause: u}
}

// flagError explains an error of the flag parser.
func flagError(c *cobra.Command, err error) error {
	e := &UsageError{Problem: fmt.Sprintf("%s: %v", c.CommandPath(), err), Advice: c.Example}
	missing, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return e
	}
	name := missing.GetSpecifiedName()
	e.Problem = fmt.Sprintf("%s: unknown flag %s", c.CommandPath(), dashed(name))
	if near := suggest(flagNames(c), name); near != "" {
		e.Advice = fmt.Sprintf("did you mean --%s?", near)
	} else {
		e.Advice = fmt.Sprintf("%s --help lists the flags; -- ends them, for a value that begins with -", c.CommandPath())
	}
	return e
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// flagNames is a command whose subcommands have the names of c's flags, since cobra
// suggests the nearest subcommand only.
func flagNames(c *cobra.Command) *cobra.Command {
	names := new(cobra.Command)
	c.Flags().VisitAll(func(f *pflag.Flag) {
		names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
	})
	return names
}

// suggest is the subcommand of c that word probably means, or empty.
func suggest(c *cobra.Command, word string) string {
	if len(word) < 2 {
		return ""
	}
	c.SuggestionsMinimumDistance = max(1, min(2, len(word)/3))
	near := c.SuggestionsFor(strings.ReplaceAll(word, "_", "-"))
	if len(near) == 0 {
		return ""
	}
	// Those that begin with the word first, then by name.
	slices.SortStableFunc(near, func(a, b string) int {
		if x, y := strings.HasPrefix(a, word), strings.HasPrefix(b, word); x != y {
			if x {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return near[0]
}
