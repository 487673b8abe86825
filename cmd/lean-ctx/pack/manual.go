package main

import (
	_ "embed"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"leanctx/cmd/internal/app"
)

// about is what the program's page says beside the commands, in Markdown.
//
//go:embed manual.md
var about string

// manual writes the manual pages, one for each command. Their date is today's, or that of
// SOURCE_DATE_EPOCH.
func manual(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root := app.Command()
	asMarkdown(root)
	root.Long = about
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: program, Manual: program}, dir)
}

// asMarkdown escapes the texts of a command and of those below it: cobra/doc reads them as
// Markdown.
func asMarkdown(c *cobra.Command) {
	escape := strings.NewReplacer(`\`, `\\`, "<", `\<`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`).Replace
	c.Use, c.Short, c.Long = escape(c.Use), escape(c.Short), escape(c.Long)
	c.DisableAutoGenTag = true
	for _, sub := range c.Commands() {
		asMarkdown(sub)
	}
}
