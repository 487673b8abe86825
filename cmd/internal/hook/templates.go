package hook

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// server is the name of our entry in every client.
const server = "lean-ctx"

// pair is a member of an object.
type pair struct {
	key   string
	value any
}

// object is a JSON object whose members keep their order.
type object []pair

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, p := range o {
		b.WriteByte("{,"[min(i, 1)])
		b.Write(compact(p.key))
		b.WriteByte(':')
		b.Write(compact(p.value))
	}
	if len(o) == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// compact is a value of the table as JSON, which can always be encoded.
func compact(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("hook: a value of the table: " + err.Error())
	}
	return bytes.TrimSpace(b.Bytes())
}

// commandLine is the command of a hook. It must stay the same from version to
// version: Codex asks for approval again when it changes.
func commandLine(command, client, event string) string {
	return fmt.Sprintf("%s hook %s %s", Shell(command), client, event)
}

// Shell quotes the path of a program for a shell.
func Shell(command string) string {
	if strings.ContainsAny(command, " \t'&()$;") {
		return strconv.Quote(command)
	}
	return command
}

// ownCommand matches the command of a hook of ours, with any name and path of the program.
var ownCommand = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\S\s+hook\s+(` + strings.Join(Names(), "|") + `)\s+(` + strings.Join(Events(), "|") + `)\s*$`)
})

// madeBy stands near the top of every file that is ours alone.
const madeBy = "Made by `lean-ctx connect"

// isOurs tells whether a whole file is one that we wrote.
func isOurs(data []byte) bool {
	return bytes.Contains(data[:min(len(data), 300)], []byte(madeBy))
}

//go:embed opencode.js
var openCodeText string

//go:embed amp.ts
var ampText string

//go:embed agents.md
var advice string

// plugIn is a plugin's text with the command that starts this program.
func plugIn(text string) func(event, string) string {
	return func(_ event, command string) string {
		return strings.ReplaceAll(text, `"lean-ctx"`, string(compact(command)))
	}
}

// clineScript is the program that Cline runs at an event. Cline wants an answer
// from every hook.
func clineScript(e event, command string) string {
	return `#!/bin/sh
# ` + madeBy + ` cline` + "`, removed by `lean-ctx disconnect cline`" + `.
answer=$(` + commandLine(command, "cline", e.ours) + ` 2>/dev/null)
[ -n "$answer" ] || answer='{"cancel":false}'
printf '%s\n' "$answer"
`
}

// text is the content of a rule's file.
func (r rule) text(client string) string {
	return "---\n" + r.front + "\n---\n<!-- " + madeBy + " " + client + " --scope project`, removed by `lean-ctx disconnect`. -->\n" + strings.TrimSpace(advice) + "\n"
}
