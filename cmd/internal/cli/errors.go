package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"leanctx/cmd/internal/op"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// explain turns an argument error into one for the command line, with a command as the
// example.
func (k *call) explain(err error) error {
	u, ok := errors.AsType[*op.UsageError](err)
	if !ok {
		return err
	}
	return &refusal.HintError{Problem: u.Problem, Hint: Name + " " + u.CommandLine(), Cause: u}
}

// flagError explains an error of the flag parser. A flag of a command that there is not says less than
// which commands there are.
func (g guide) flagError(c *cobra.Command, err error) error {
	if words := c.Flags().Args(); c.HasAvailableSubCommands() && len(words) > 0 {
		return g.group(c, words)
	}
	e := &refusal.HintError{Problem: fmt.Sprintf("%s: %v", c.CommandPath(), err), Hint: c.Example}
	missing, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return e
	}
	name := missing.GetSpecifiedName()
	e.Problem = fmt.Sprintf("%s: unknown flag %s", c.CommandPath(), dashed(name))
	e.Hint = fmt.Sprintf("%s --help lists the flags; -- ends them, for a value that begins with -", c.CommandPath())
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near, ok := prose.Nearest(name, names); ok {
		e.Hint = fmt.Sprintf("did you mean --%s?", near)
	}
	return e
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// suggest is the subcommand of c that word probably means, or empty. Of names that are equally near
// a command's own comes before those that people try for it.
func suggest(c *cobra.Command, word string) string {
	var own, tried []string
	commands := map[string]string{} // by all these names
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		own, tried = append(own, sub.Name()), append(tried, sub.SuggestFor...)
		for _, name := range append(slices.Clone(sub.SuggestFor), sub.Name()) {
			commands[name] = sub.Name()
		}
	}
	near, _ := prose.Nearest(word, slices.Concat(own, tried))
	return commands[near]
}
