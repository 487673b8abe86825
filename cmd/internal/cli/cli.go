// Package cli makes commands of the table of operations: knowledge remember,
// knowledge recall and so on, with the flags, the help and the completion that
// follow from their parameters. What is no operation (mcp, demo) is added by
// whoever calls [New].
//
// # Conventions
//
// Results go to standard output, everything else to standard error. Flags and
// arguments come in any order; -- ends the flags. A value may be given by
// position or by its flag, and - as an argument is standard input. --json gives
// the result as one line of JSON. Nothing is ever asked back: what needs
// consent needs --yes.
//
// Errors are returned, not printed, so that one place decides on the exit code.
package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"leanctx/cmd/internal/op"
)

// Name is the program's.
const Name = "lean-ctx"

// Globals are the flags that every command has.
type Globals struct {
	Project string
	Agent   string
	JSON    bool
	Strict  bool
	Quiet   bool

	known func(context.Context, Blank) []string // see [Options]
}

// Options are what the commands need beside the table.
type Options struct {
	In       io.Reader
	Out, Err io.Writer
	// Version is what --version prints after the name of the program.
	Version string
	// Tools give the commands, in the order of the help. It is called once,
	// with the place where the flags will stand when a command runs.
	Tools func(*Globals) []*op.Tool
	Plain []Plain // what is no operation
	// Warn is told what came with an answer: what was ignored, or understood
	// otherwise than it was said. By default it is printed.
	Warn func(text string)
	// Known lists what an argument may be, for a shell's completion: a value, or
	// a value, a tab and what it is. It gives nil for what it does not know, and
	// tells nobody of errors.
	Known func(context.Context, Blank) []string
	// Manual gives what the manual pages say beside the commands; may be nil.
	Manual func() Manual
	// Made is told of every operation once its answer is printed.
	Made func(op.Made)
}

// Plain is a command that is no operation.
type Plain struct {
	Name, Summary, Long string
	Run                 func(ctx context.Context, g Globals) error
}

// New makes the root command. The arguments are set and the command is run by
// the caller.
func New(o Options) *cobra.Command {
	if o.Warn == nil {
		o.Warn = func(text string) { Warn(o.Err, text) }
	}
	cobra.EnableCommandSorting = false // the table's order is the one in which one meets them
	g := &Globals{known: o.Known}
	root := &cobra.Command{
		Use:           Name,
		Short:         "Facts over time, shared by the agents of a project.",
		Version:       o.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE:          group,

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	root.SetIn(o.In)
	root.SetOut(o.Out)
	root.SetErr(o.Err)
	root.SetVersionTemplate(Name + " {{.Version}}\n")
	root.CompletionOptions.DisableDefaultCmd = true // it has one of its own
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(help)
	flags := root.PersistentFlags()
	flags.StringVar(&g.Project, "project", "", "path of the project (default: the working directory's)")
	flags.StringVar(&g.Agent, "agent", "", "your agent id")
	flags.BoolVar(&g.JSON, "json", false, "print results and errors as JSON")
	flags.BoolVarP(&g.Quiet, "quiet", "q", false, "no warnings, and no answer of commands that change something")
	flags.BoolVar(&g.Strict, "strict", false, "exit with 4 if there were warnings")
	for _, t := range o.Tools(g) {
		k := call{tool: t, globals: g, warn: o.Warn, made: o.Made}
		if t.Command == "knowledge" {
			for _, name := range everyday {
				if row, ok := t.Operation(name); ok {
					k.op = row
					root.AddCommand(operation(k))
				}
			}
		}
		root.AddCommand(tool(t, k))
	}
	for _, p := range o.Plain {
		root.AddCommand(plain(p, g))
	}
	root.AddCommand(completion(), manual(o.Manual))
	globalCompletions(root, g)
	root.InitDefaultHelpFlag()
	return root
}

// everyday are the actions of knowledge that also work without the noun.
var everyday = [...]string{"remember", "recall", "search", "wakeup", "status"}

func plain(p Plain, g *Globals) *cobra.Command {
	return &cobra.Command{
		Use: p.Name, Short: p.Summary, Long: p.Long,
		Args: none, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error { return p.Run(c.Context(), *g) },
	}
}

// none refuses all arguments.
func none(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &UsageError{Problem: fmt.Sprintf("%s takes no argument, but got %q", c.CommandPath(), args[0])}
	}
	return nil
}

// tool is a command of which the operations are subcommands; a tool without
// actions is a command itself.
func tool(t *op.Tool, k call) *cobra.Command {
	if t.Actionless() {
		k.op = &t.Operations[0]
		c := operation(k)
		c.Use = t.Command + strings.TrimPrefix(c.Use, c.Name())
		return c
	}
	c := &cobra.Command{
		Use:   t.Command,
		Short: firstSentence(t.Summary),
		Long:  t.Summary,
		Args:  cobra.ArbitraryArgs,
		RunE:  group,

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	for i := range t.Operations {
		k.op = &t.Operations[i]
		c.AddCommand(operation(k))
	}
	return c
}

// group runs for a command that only has subcommands: without a word it helps,
// with one that is no subcommand it says which was probably meant.
func group(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	e := &UsageError{
		Problem: fmt.Sprintf("unknown command %q for %s", args[0], c.CommandPath()),
		Advice:  fmt.Sprintf("%s --help lists the commands", c.CommandPath()),
	}
	if near := suggest(c, args[0]); near != "" {
		e.Advice = fmt.Sprintf("did you mean %s %s?", c.CommandPath(), near)
	}
	return e
}

// firstSentence is the text up to its first full stop.
func firstSentence(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if head, _, ok := strings.Cut(s, ". "); ok {
		return head + "."
	}
	return s
}
