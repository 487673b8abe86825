package hook

import (
	"bytes"
	_ "embed"
	"strings"
)

// madeBy is what every file that is ours alone says of itself, near its top.
const madeBy = "Made by `lean-ctx connect"

// isOurs tells whether a whole file is one that we wrote.
func isOurs(data []byte) bool {
	return bytes.Contains(data[:min(len(data), 300)], []byte(madeBy))
}

//go:embed opencode.js
var openCodeText string

// openCodePlugin is OpenCode's plugin with the command in it.
func openCodePlugin(_ event, command string) string { return withCommand(openCodeText, command) }

//go:embed amp.ts
var ampText string

// ampPlugin is Amp's plugin with the command in it.
func ampPlugin(_ event, command string) string { return withCommand(ampText, command) }

func withCommand(text, command string) string {
	return strings.ReplaceAll(text, `"lean-ctx"`, string(compact(command)))
}

// clineScript is the program that Cline runs at an event. Cline wants an answer
// from every hook.
func clineScript(e event, command string) string {
	return `#!/bin/sh
# ` + madeBy + ` cline` + "`, removed by `lean-ctx disconnect cline`" + `.
answer=$(` + line(command, "cline", e.ours) + ` 2>/dev/null)
[ -n "$answer" ] || answer='{"cancel":false}'
printf '%s\n' "$answer"
`
}

// text is a rule as it stands in its file.
func (r rule) text(client string) string {
	return "---\n" + r.front + "\n---\n<!-- " + madeBy + " " + client + " --scope project`, removed by `lean-ctx disconnect`. -->\n" + strings.TrimSpace(advice) + "\n"
}
