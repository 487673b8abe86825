package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// help prints what a command does, an example first: that is what one looks
// for.
func help(c *cobra.Command, _ []string) {
	w := c.OutOrStdout()
	text := c.Long
	if text == "" {
		text = c.Short
	}
	fmt.Fprintln(w, text)
	if c.Example != "" {
		section(w, "Example", indent(c.Example))
	}
	section(w, "Usage", indent(usageLine(c)))
	if list := commands(c); list != "" {
		section(w, "Commands", list)
	}
	c.InitDefaultHelpFlag()
	if own := c.LocalNonPersistentFlags(); own.HasAvailableFlags() {
		section(w, "Flags", strings.TrimRight(own.FlagUsagesWrapped(100), "\n"))
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

// commands is the subcommands, one a line.
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
			lines = append(lines, fmt.Sprintf("  %-*s  %s", width, sub.Name(), firstSentence(sub.Short)))
		}
	}
	return strings.Join(lines, "\n")
}

// commonFlags is the flags that a command has from the root.
func commonFlags(c *cobra.Command) string {
	set := c.InheritedFlags()
	if !c.HasParent() {
		set = pflag.NewFlagSet("", pflag.ContinueOnError)
		set.AddFlagSet(c.PersistentFlags())
	}
	return strings.TrimRight(set.FlagUsagesWrapped(100), "\n")
}
