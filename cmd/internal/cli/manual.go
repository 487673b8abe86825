package cli

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Term is a word with its meaning.
type Term struct{ Name, Meaning string }

// Manual are the texts of the program's manual page beside its commands. The zero value
// works.
type Manual struct {
	Date        time.Time // of the program; zero: today
	About       string    // what the program is for
	Environment []Term
	Files       []Term
	Exits       []Term // exit codes
}

// manual is the command that writes the manual pages, one for each command.
func manual(about func() Manual) *cobra.Command {
	return &cobra.Command{
		Use: "man <dir>", Short: "Write the manual pages into a directory.",
		Long:    "Write the manual pages into a directory, one for each command. man finds them in ~/.local/share/man/man1.",
		Example: Name + " man ~/.local/share/man/man1",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &UsageError{Problem: c.CommandPath() + " needs the directory to write into", Advice: c.Example}
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(c *cobra.Command, args []string) error {
			var m Manual
			if about != nil {
				m = about()
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			header := &doc.GenManHeader{Section: "1", Source: Name, Manual: Name}
			if !m.Date.IsZero() {
				header.Date = &m.Date
			}
			asMarkdown(c.Root())
			if m.About != "" {
				c.Root().Long = markdown().Replace(m.About) + termSection("ENVIRONMENT", m.Environment) + termSection("FILES", m.Files) + termSection("EXIT STATUS", m.Exits)
			}
			if err := doc.GenManTree(c.Root(), header, args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "manual pages written to %s\n", args[0])
			return err
		},
	}
}

// markdown escapes markup: cobra/doc reads the texts as Markdown.
func markdown() *strings.Replacer {
	return strings.NewReplacer(`\`, `\\`, "<", `\<`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`)
}

// asMarkdown escapes the texts of a command and of those below it.
func asMarkdown(c *cobra.Command) {
	c.Use, c.Short, c.Long = markdown().Replace(c.Use), markdown().Replace(c.Short), markdown().Replace(c.Long)
	c.DisableAutoGenTag = true
	for _, sub := range c.Commands() {
		asMarkdown(sub)
	}
}

func termSection(title string, terms []Term) string {
	if len(terms) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n\n# %s\n", title)
	for _, t := range terms {
		fmt.Fprintf(&b, "**%s**\n: %s\n\n", t.Name, markdown().Replace(t.Meaning))
	}
	return b.String()
}
