package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// help prints the help of a command, the example first.
func help(c *cobra.Command, _ []string) {
	w := c.OutOrStdout()
	text := c.Long
	if text == "" {
		text = c.Short
	}
	fmt.Fprintln(w, wrap(text, 0))
	if c.Example != "" {
		section(w, "Example", indent(c.Example))
	}
	section(w, "Usage", indent(usageLine(c)))
	if list := commands(c); list != "" {
		section(w, "Commands", list)
	}
	c.InitDefaultHelpFlag()
	if own := c.LocalNonPersistentFlags(); own.HasAvailableFlags() {
		section(w, "Flags", strings.TrimRight(own.FlagUsagesWrapped(columns), "\n"))
	}
	if common := commonFlags(c); common != "" {
		section(w, "Flags of every command", common)
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n%s <command> --help says more about a command.\n", c.CommandPath())
	}
}

func section(w io.Writer, title, text string) {
	fmt.Fprintf(w, "\n%s:\n%s\n", title, text)
}

func indent(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n  ")
}

func usageLine(c *cobra.Command) string {
	if c.HasAvailableSubCommands() {
		return c.CommandPath() + " <command> [flags]"
	}
	return c.UseLine()
}

// commands lists the subcommands, one on each line.
func commands(c *cobra.Command) string {
	width := 0
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			width = max(width, len(sub.Name()))
		}
	}
	var lines []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			lines = append(lines, fmt.Sprintf("  %-*s  %s", width, sub.Name(), wrap(firstSentence(sub.Short), width+4)))
		}
	}
	return strings.Join(lines, "\n")
}

// commonFlags lists the flags that a command inherits from the root.
func commonFlags(c *cobra.Command) string {
	set := c.InheritedFlags()
	if !c.HasParent() {
		set = pflag.NewFlagSet("", pflag.ContinueOnError)
		set.AddFlagSet(c.PersistentFlags())
	}
	return strings.TrimRight(set.FlagUsagesWrapped(columns), "\n")
}

// columns is the width of a help text.
const columns = 80

// wrap breaks long lines at spaces. The first line begins at column indent; the others are
// indented as far, in addition to their own indentation.
func wrap(text string, indent int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		own := len(line) - len(strings.TrimLeft(line, " "))
		if b.Len() > 0 {
			b.WriteString("\n" + strings.Repeat(" ", indent))
		}
		b.WriteString(line[:own])
		at := indent + own
		for i, word := range strings.Fields(line) {
			n := utf8.RuneCountInString(word)
			switch {
			case i == 0:
			case at+1+n > columns:
				b.WriteString("\n" + strings.Repeat(" ", indent+own))
				at = indent + own
			default:
				b.WriteByte(' ')
				at++
			}
			b.WriteString(word)
			at += n
		}
	}
	return b.String()
}
