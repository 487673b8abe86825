package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Term is a word with what it means.
type Term struct{ Name, Meaning string }

// Manual is what the manual pages say beside the commands. The zero value
// works.
type Manual struct {
	Date        time.Time // of the program; zero: today
	About       string    // what the program is for
	Environment []Term
	Files       []Term
	Exits       []Term // exit codes
}

// manual is the command that writes the manual pages.
//
// We write mdoc(7) from the commands ourselves; cobra's own way goes by
// Markdown, needs three more libraries in a program that is started dozens of
// times an hour, makes a page of each of the hundred actions, and mandoc has
// much to say about what comes out.
func manual(about func() Manual) *cobra.Command {
	return &cobra.Command{
		Use: "man <dir>", Short: "Write the manual pages into a directory.",
		Long:    "Write the manual pages into a directory: lean-ctx(1), and one for each command with all its actions.\nman finds them in ~/.local/share/man/man1.",
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
			n, err := m.write(c.Root(), args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%d manual pages written to %s\n", n, args[0])
			return err
		},
	}
}

// write writes all pages and counts them.
func (m Manual) write(root *cobra.Command, dir string) (int, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	pages := []*cobra.Command{root}
	for _, c := range root.Commands() {
		if documented(c) {
			pages = append(pages, c)
		}
	}
	for _, c := range pages {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-")
		if err := os.WriteFile(filepath.Join(dir, name+".1"), []byte(m.page(c, name)), 0o644); err != nil {
			return 0, err
		}
	}
	return len(pages), nil
}

func documented(c *cobra.Command) bool {
	return c.IsAvailableCommand() && c.Name() != "help"
}

// page is the manual page of a command, with all its subcommands but for the
// root's, which have pages of their own.
func (m Manual) page(c *cobra.Command, name string) string {
	var p mdoc
	date := m.Date
	if date.IsZero() {
		date = time.Now()
	}
	p.macro("Dd", date.UTC().Format("January 2, 2006"))
	p.macro("Dt", strings.ToUpper(name), "1")
	p.macro("Os")
	p.macro("Sh", "NAME")
	p.macro("Nm", name)
	p.macro("Nd", escape(strings.TrimSuffix(lowerFirst(firstSentence(c.Short)), ".")))
	p.macro("Sh", "SYNOPSIS")
	p.macro("Nm", c.CommandPath())
	for _, o := range operands(c) {
		p.macro(o)
	}
	p.macro("Sh", "DESCRIPTION")
	about := cmp.Or(c.Long, c.Short)
	if !c.HasParent() {
		about = cmp.Or(m.About, about)
	}
	p.text(about)
	p.flags(c.LocalNonPersistentFlags())
	p.example(c)
	if c.HasParent() {
		p.actions(c)
	} else {
		p.commands(c)
	}
	p.macro("Sh", "OPTIONS")
	p.text("Every command has these:")
	p.flags(c.Root().PersistentFlags())
	if !c.HasParent() {
		p.terms("ENVIRONMENT", "Ev", m.Environment)
		p.terms("FILES", "Pa", m.Files)
		p.terms("EXIT STATUS", "", m.Exits)
		return p.String()
	}
	p.macro("Sh", "SEE ALSO")
	p.macro("Xr", c.Root().Name(), "1")
	return p.String()
}

// operands are the arguments of a command as a manual page shows them.
func operands(c *cobra.Command) []string {
	var out []string
	if c.HasAvailableSubCommands() {
		out = append(out, "Ar command", "Op Ar argument ...")
	}
	for _, word := range strings.Fields(c.Use)[1:] {
		switch {
		case strings.HasPrefix(word, "<"):
			out = append(out, "Ar "+strings.Trim(word, "<>"))
		case word != "[flags]":
			out = append(out, "Op Ar "+strings.Trim(word, "[]"))
		}
	}
	return append(out, "Op Ar flags")
}

// inLine is operands one after the other: what is optional ends before the
// line does.
func inLine(operands []string) string {
	for i, o := range operands {
		if rest, ok := strings.CutPrefix(o, "Op "); ok {
			operands[i] = "Oo " + rest + " Oc"
		}
	}
	return strings.Join(operands, " ")
}

// commands is the list of the other pages.
func (p *mdoc) commands(root *cobra.Command) {
	p.macro("Sh", "COMMANDS")
	p.macro("Bl", "-tag", "-width", "Ds")
	for _, c := range root.Commands() {
		if documented(c) {
			p.macro("It", "Xr", root.Name()+"-"+c.Name(), "1")
			p.text(firstSentence(c.Short))
		}
	}
	p.macro("El")
}

// actions is a section for each subcommand.
func (p *mdoc) actions(c *cobra.Command) {
	if !c.HasAvailableSubCommands() {
		return
	}
	p.macro("Sh", "COMMANDS")
	for _, sub := range c.Commands() {
		if !documented(sub) {
			continue
		}
		p.macro("Ss", escape(sub.Name()))
		p.macro("D1", escape(sub.CommandPath()), inLine(operands(sub)))
		p.text(cmp.Or(sub.Long, sub.Short))
		p.flags(sub.LocalNonPersistentFlags())
		p.example(sub)
	}
}

func (p *mdoc) example(c *cobra.Command) {
	if c.Example == "" {
		return
	}
	p.line(".Pp", "For example:")
	p.macro("Bd", "-literal", "-offset", "indent")
	for line := range strings.SplitSeq(c.Example, "\n") {
		p.line(escape(strings.TrimSpace(line)))
	}
	p.macro("Ed")
}

// flags is a list of flags, those left out that the help leaves out.
func (p *mdoc) flags(set *pflag.FlagSet) {
	begun := false
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if !begun {
			p.macro("Bl", "-tag", "-width", "Ds")
			begun = true
		}
		words := []string{"It"}
		if f.Shorthand != "" {
			words = append(words, "Fl", f.Shorthand, ",")
		}
		words = append(words, "Fl", "-"+f.Name)
		if kind := f.Value.Type(); kind != "bool" {
			words = append(words, "Ar", kind)
		}
		p.macro(words...)
		p.text(upperFirst(f.Usage) + ".")
	})
	if begun {
		p.macro("El")
	}
}

// terms is a section of words with what they mean.
func (p *mdoc) terms(title, macro string, terms []Term) {
	if len(terms) == 0 {
		return
	}
	p.macro("Sh", title)
	p.macro("Bl", "-tag", "-width", "Ds")
	for _, t := range terms {
		if macro == "" {
			p.macro("It", t.Name)
		} else {
			p.macro("It", macro, t.Name)
		}
		p.text(t.Meaning)
	}
	p.macro("El")
}
