package app

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"leanctx/cmd/internal/cli"
	"leanctx/cmd/internal/op"
)

const readme = "../../../README.md"

// The program knows every command and flag that the README and the reference
// show.
func TestReadmeCommandLines(t *testing.T) {
	data, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	reference, err := os.ReadFile("../op/REFERENCE.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for i, block := range strings.Split(string(data)+string(reference), "\n```") {
		text, shell := strings.CutPrefix(block, "sh\n")
		if i == 0 || !shell {
			continue
		}
		for line := range strings.Lines(text) {
			words := shellWords(line)
			if len(words) == 0 || words[0] != cli.Name {
				continue
			}
			seen++
			if problem := unparsed(words[1:]); problem != "" {
				t.Errorf("%s: %s", strings.TrimSpace(line), problem)
			}
		}
	}
	if seen < 60 {
		t.Errorf("only %d command lines were found", seen)
	}
	for _, bad := range []string{"nothing rooms", "knowledge rooms --nothing"} {
		if unparsed(strings.Fields(bad)) == "" {
			t.Errorf("%s was taken", bad)
		}
	}
}

// The README is short enough to be read.
func TestReadmeLength(t *testing.T) {
	data, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), "\n"); n > 300 {
		t.Errorf("%d lines, 300 at most", n)
	}
}

// The README counts the tools, and names each where it does.
func TestReadmeTools(t *testing.T) {
	data, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(data), "From then on an agent has ")
	text, _, _ = strings.Cut(text, "\n\n")
	tools := op.All(op.Stores{})
	if count, _, _ := strings.Cut(text, " "); len(tools) >= 10 || count != [...]string{6: "six", 7: "seven", 8: "eight", 9: "nine"}[len(tools)] {
		t.Errorf("there are %d tools, not %s", len(tools), count)
	}
	for _, tool := range tools {
		if !strings.Contains(text, "`"+tool.Name+"`") {
			t.Errorf("%s is not named in: %s", tool.Name, text)
		}
	}
}

// unparsed is what the program's commands do not know of a command line.
func unparsed(words []string) string {
	r := &run{}
	root := cli.New(cli.Options{Tools: r.tools, Plain: r.plain()})
	c, rest, err := root.Find(words)
	switch {
	case err != nil:
		return err.Error()
	case c.HasSubCommands() && c.Runnable() && len(rest) == 0:
		// It runs by itself, as sync does, or prints its subcommands.
		return ""
	case c.HasSubCommands() && !slices.ContainsFunc(rest, func(w string) bool { return strings.HasPrefix(w, "--") }):
		return "no such command under " + c.CommandPath()
	}
	if err := c.ParseFlags(rest); err != nil {
		return err.Error()
	}
	return missing(c)
}

// missing is which words without which a command does nothing are not there.
func missing(c *cobra.Command) string {
	needed := strings.Count(c.Use, "<")
	given := len(c.Flags().Args())
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && strings.Contains(c.Use, "<"+f.Name+">") {
			given++
		}
	})
	if given < needed {
		return c.Use + ": an argument is missing"
	}
	return ""
}

// shellWords splits a line as a shell does, up to a comment or the next command.
func shellWords(line string) (words []string) {
	var b strings.Builder
	quote, open := rune(0), false
	flush := func() {
		if open {
			words = append(words, b.String())
		}
		b.Reset()
		open = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(r)
		case r == '"' || r == '\'':
			quote, open = r, true
		case r == '#' && !open, r == '|', r == ';', r == '&', r == '>', r == '<':
			flush()
			return words
		case r == ' ' || r == '\n':
			flush()
		default:
			b.WriteRune(r)
			open = true
		}
	}
	flush()
	return words
}

// Each file and folder of ours that the README sends a reader to is there.
func TestReadmeNamesFilesThatAreThere(t *testing.T) {
	data, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(data), "| to change | look at |")
	paths := regexp.MustCompile("`((?:cmd|knowledge|agents|formats|internal|tasks|overview|embed)/[a-z/_.]+)`").FindAllStringSubmatch(table, -1)
	if !found || len(paths) < 15 {
		t.Fatalf("%d paths", len(paths))
	}
	for _, m := range paths {
		if _, err := os.Stat(filepath.Join("../../..", m[1])); err != nil {
			t.Error(err)
		}
	}
}
