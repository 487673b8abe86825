package hook

import (
	"bytes"
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"leanctx/internal/prose"
)

// server is the name of our entry in every client.
const server = "lean-ctx"

const (
	// dataDirVar names the data directory.
	dataDirVar = "LEAN_CTX_DATA_DIR"
	// foldersVar is the variable in which editors give the project's directory.
	foldersVar = "WORKSPACE_FOLDER_PATHS"
	// workspaceFolder is what an editor replaces by the project's directory.
	workspaceFolder = "${workspaceFolder}"
)

// What the templates of the table and our own files are filled with:
//
//	COMMAND  starts this program, as a JSON string
//	LINE     the command line that answers an event, as a JSON string; in a script as it is
//	PSLINE   the same for PowerShell
//	VARS     the variables that the server needs, as a JSON object
//	ENV      a member with them, if there are any, after a comma
//	MATCHER  of the event, as a JSON string
//	SECONDS  that the client waits for an answer
//	URL      the address of the server, as a JSON string
//	HEADERS  that each request to it needs, as a JSON object

// encoded is a value as JSON. Every value of ours can be encoded.
func encoded(v any) string {
	text, err := prose.JSON(v)
	if err != nil {
		panic("hook: " + err.Error())
	}
	return text
}

// commandLine is the command of a hook for a POSIX shell. It must stay the same from version to
// version: Codex asks for approval again when it changes. So double quotes stay where they were
// enough; single quotes keep a shell from reading anything between them.
func commandLine(command, client, event string) string {
	switch {
	case plainPath(command):
	case strings.ContainsAny(command, "$`\"\\!\n"):
		command = "'" + strings.ReplaceAll(command, "'", `'\''`) + "'"
	default:
		command = `"` + command + `"`
	}
	return fmt.Sprintf("%s hook %s %s", command, client, event)
}

// powerShellLine is the same for PowerShell. There a quoted path is a text, which & starts. Its
// quotation marks are also the typographic ones.
func powerShellLine(command, client, event string) string {
	if !plainPath(command) {
		for _, mark := range []string{"'", "‘", "’", "‚", "‛"} {
			command = strings.ReplaceAll(command, mark, mark+mark)
		}
		command = "& '" + command + "'"
	}
	return fmt.Sprintf("%s hook %s %s", command, client, event)
}

// plainPath reports whether a path has only characters that no shell reads as anything else.
func plainPath(path string) bool {
	return path != "" && !strings.HasPrefix(path, "-") && !strings.ContainsFunc(path, func(r rune) bool {
		letter := 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9'
		return !letter && !strings.ContainsRune("/._-:@+", r)
	})
}

// ownCommand matches the command of a hook of ours, with any name and path of the program.
var ownCommand = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\S\s+hook\s+(` + strings.Join(Names(), "|") + `)\s+(` + strings.Join(Events(), "|") + `)\s*$`)
})

// madeBy marks a file that only we write. It is near the top.
const madeBy = "Made by `lean-ctx connect"

// isOurs reports whether a whole file is one that we wrote.
func isOurs(data []byte) bool {
	return bytes.Contains(data[:min(len(data), 300)], []byte(madeBy))
}

// The files that contain nothing but ours: plug-ins of OpenCode and Amp, the program that Cline
// runs at each event, and the rule for clients without hooks.
var (
	//go:embed opencode.js
	openCodePlugin string
	//go:embed amp.ts
	ampPlugin string
	//go:embed cline.sh
	clineScript string
	//go:embed rule.md
	ruleText string
)
