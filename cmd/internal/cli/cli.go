// Package cli turns the table of operations into commands: knowledge remember, knowledge
// recall and so on. Flags, help and completion are made from the parameters. The caller of
// [New] adds commands that are no operations, such as mcp and demo.
//
// # Conventions
//
// Results go to standard output, everything else to standard error. Flags and
// arguments come in any order; -- ends the flags. A value may be given by
// position or by its flag, and - as an argument is standard input. --json gives
// the result as one line of JSON. There are no prompts: what needs consent needs --yes.
//
// Errors are returned, not printed, so that one place decides on the exit code.
package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"leanctx/cmd/internal/op"
	"leanctx/internal/language"
	"leanctx/internal/refusal"
)

// Name is the name of the program.
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

// Options configure the commands.
type Options struct {
	In       io.Reader
	Out, Err io.Writer
	// Version is what --version prints after the name of the program.
	Version string
	// Tools returns the tools, in the order of the help. It is called once. The
	// globals are filled in when a command runs.
	Tools func(*Globals) []*op.Tool
	Plain []Plain // commands that are no operations
	// Begin is called before an operation of a tool, when the flags are known; may be nil.
	Begin func(*op.Tool) error
	// Warn gets the notices of an answer: what was ignored or corrected. By
	// default they are printed.
	Warn func(text string)
	// Known lists values of an argument for completion: each a value, or a value, a
	// tab and its description. It ignores errors.
	Known func(context.Context, Blank) []string
	// Args is what was typed, for hints that repeat it.
	Args []string
	// OnAnswer is called for every operation after its answer is printed.
	OnAnswer func(op.AnsweredCall)
}

// Plain is a command that is no operation.
type Plain struct {
	Name, Summary, Long string
	Run                 func(ctx context.Context, g Globals) error
}

// Command is a command of cobra, whose manual page can be written.
type Command = cobra.Command

// New makes the root command. The caller sets the arguments and runs it.
func New(o Options) *cobra.Command {
	if o.Warn == nil {
		o.Warn = func(text string) { Warn(o.Err, text) }
	}
	cobra.EnableCommandSorting = false // keep the order of the table
	g := &Globals{known: o.Known}
	hints := guide{o.Args}
	root := &cobra.Command{
		Use:           Name,
		Short:         "Facts over time, shared by the agents of a project.",
		Version:       o.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE:          hints.group,

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	root.SetIn(o.In)
	root.SetOut(o.Out)
	root.SetErr(o.Err)
	root.SetVersionTemplate(Name + " {{.Version}}\n")
	root.SetFlagErrorFunc(hints.flagError)
	root.SetHelpTemplate(helpTemplate)
	flags := root.PersistentFlags()
	flags.StringVar(&g.Project, "project", "", "path of the project (default: the working directory's)")
	flags.StringVar(&g.Agent, "agent", "", "your agent id")
	flags.BoolVar(&g.JSON, "json", false, "print results and errors as JSON")
	flags.BoolVarP(&g.Quiet, "quiet", "q", false, "no warnings, and no answer of commands that change something")
	flags.BoolVar(&g.Strict, "strict", false, "exit with 4 if there were warnings")
	for _, t := range o.Tools(g) {
		k := call{tool: t, globals: g, hints: hints, begin: o.Begin, warn: o.Warn, onAnswer: o.OnAnswer}
		if t.Command == knowledgeGroup {
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
	completion(root, hints)
	_ = root.RegisterFlagCompletionFunc("agent", cobra.NoFileCompletions) // it fails for an unknown flag
	root.InitDefaultHelpFlag()
	return root
}

// knowledgeGroup is the command of the facts.
const knowledgeGroup = "knowledge"

// everyday are the actions of knowledge that work without the noun too.
var everyday = [...]string{"remember", "recall", "search", "wakeup", "activity", "status"}

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
		return &refusal.HintError{Problem: fmt.Sprintf("%s takes no argument, but got %q", c.CommandPath(), args[0])}
	}
	return nil
}

// tool is a command with the operations as subcommands. A tool without actions is one
// command.
func tool(t *op.Tool, k call) *cobra.Command {
	if t.Actionless() {
		k.op = &t.Operations[0]
		c := operation(k)
		c.Use = t.Command + strings.TrimPrefix(c.Use, c.Name())
		return c
	}
	c := &cobra.Command{
		Use:   t.Command,
		Short: language.FirstSentence(t.Summary, 0),
		Long:  t.Summary,
		Args:  cobra.ArbitraryArgs,
		RunE:  k.hints.group,

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	if o, ok := t.Operation(""); ok { // the command itself does something too
		k.op = o
		c = operation(k)
		c.Use = t.Command + strings.TrimPrefix(c.Use, c.Name())
		c.Args = cobra.NoArgs
	}
	for i := range t.Operations {
		if t.Operations[i].Name == "" {
			continue
		}
		k.op = &t.Operations[i]
		c.AddCommand(operation(k))
	}
	return c
}

// guide words the hints about commands that there are not.
type guide struct{ typed []string }

// group runs a command that only has subcommands. Without arguments it prints the help; for
// an unknown subcommand it suggests the nearest one.
func (g guide) group(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	e := &refusal.HintError{
		Problem: fmt.Sprintf("unknown command %q for %s", args[0], c.CommandPath()),
		Hint:    fmt.Sprintf("%s --help lists the commands", c.CommandPath()),
	}
	words := args[1:]
	others := elsewhere(c, args[0])
	if near := grouped(c, args); near != "" {
		others, words = []string{near}, args[2:]
	} else if near := suggest(c, args[0]); near != "" && len(others) == 0 {
		others = []string{c.CommandPath() + " " + near}
	}
	if len(others) == 1 { // the same call of the other command
		others[0] += g.rest(c.Root(), others[0], args[:len(args)-len(words)], words)
	}
	if len(others) > 0 {
		e.Hint = fmt.Sprintf("did you mean %s?", strings.Join(others, " or "))
	}
	return e
}

// grouped is the command that the second word names in the group that the first one nearly names: sessions
// list. It is empty if there is none.
func grouped(c *cobra.Command, args []string) string {
	if len(args) < 2 {
		return ""
	}
	name := suggest(c, args[0])
	for _, x := range c.Commands() {
		if x.Name() != name {
			continue
		}
		for _, sub := range x.Commands() {
			if sub.Name() == args[1] && sub.IsAvailableCommand() {
				return sub.CommandPath()
			}
		}
	}
	return ""
}

// rest is what was typed behind a command that there is not, as far as another one, named by its whole
// path, takes it.
func (g guide) rest(root *cobra.Command, path string, name, words []string) (text string) {
	x, _, err := root.Find(strings.Fields(path)[1:])
	if err != nil {
		return ""
	}
	if i := slices.Index(g.typed, name[len(name)-1]); i >= 0 && x.ParseFlags(g.typed[i+1:]) == nil && x.ValidateArgs(x.Flags().Args()) == nil {
		words = g.typed[i+1:]
	} else if x.ValidateArgs(words) != nil {
		return ""
	}
	for _, w := range words {
		text += " " + op.ShellWord(w)
	}
	if x.Name() == "remember" && len(words) == 1 && strings.Contains(words[0], "/") && !strings.Contains(words[0], " ") {
		text += " VALUE" // it is the name of a fact
	}
	return text
}

// elsewhere are the commands that somebody means who types an unknown one: what this group calls it, else
// what the facts call it, and the commands of that very name in other groups. Those of projects are asked
// last: who wants to forget a fact does not want to forget a project.
func elsewhere(c *cobra.Command, name string) []string {
	var found, projects []string
	if own := calledBy(c, name); own != "" && c.HasParent() {
		return []string{own}
	} else if own != "" {
		found = append(found, own)
	}
	var look func(*cobra.Command)
	look = func(group *cobra.Command) {
		if group.Name() == knowledgeGroup && !c.HasParent() && len(found) == 0 {
			if meant := calledBy(group, name); meant != "" {
				found = append(found, meant)
			}
		}
		for _, x := range group.Commands() {
			if x.Name() == name && x.IsAvailableCommand() {
				if group.Name() == "project" {
					projects = append(projects, x.CommandPath())
				} else {
					found = append(found, x.CommandPath())
				}
			}
			look(x)
		}
	}
	look(c.Root())
	if len(found) == 0 {
		found = projects
	}
	if len(found) > 3 {
		return nil // list, status: that says nothing
	}
	return found
}

// calledBy is the command of a group for which people try a name.
func calledBy(group *cobra.Command, name string) string {
	for _, x := range group.Commands() {
		if x.IsAvailableCommand() && slices.Contains(x.SuggestFor, name) {
			return x.CommandPath()
		}
	}
	return ""
}
