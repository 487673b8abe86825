package hook

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Scope is for whom a client is connected.
type Scope string

// The scopes.
const (
	User    Scope = "user"    // every project of this user
	Project Scope = "project" // this project, for everybody: files to commit
	Local   Scope = "local"   // this project, for this user
)

// server is the name of our entry in every client.
const server = "lean-ctx"

// format is how a file is written.
type format int

const (
	jsonc format = iota // JSON, with comments where the client allows them
	toml
	yaml
	whole  // a file that is ours alone
	marked // a block between markers, in a file for people
)

// client is one row of the table.
type client struct {
	name     string
	binaries []string        // one of them on PATH says that it is there
	signs    []string        // and so does one of these paths
	servers  map[Scope]place // where its MCP servers are
	entry    func(command string) any
	hooks    hooks
	note     string // what is left to do after hooks were written
	// says is what it calls itself to an MCP server, where its hooks bring the
	// briefing for certain once they are written.
	says string
}

// place is a file and what holds our entry in it. Of several files, set apart
// by |, it is the first that exists, else the first.
type place struct {
	file   string
	keys   []string
	format format
}

// hooks is how a client's hooks are written.
type hooks struct {
	files  map[Scope]string
	events []event
	// format is jsonc for a file that others write to as well.
	format format
	root   []pair // what the file needs beside its hooks
	entry  func(e event, command string) any
	text   func(command string) string // a whole file's
}

// event is one that a client tells of.
type event struct {
	theirs, ours string
	matcher      string
	seconds      int
}

// Place is the machine that clients are looked for on.
type Place struct {
	Home    string
	Root    string // of the project
	Data    string // our data directory
	Command string // what starts this program: a name on PATH, or a path
	Getenv  func(string) string
	Look    func(name string) bool // is there such a program on PATH
	System  string                 // as runtime.GOOS; by default that
}

func (p Place) system() string {
	if p.System != "" {
		return p.System
	}
	return runtime.GOOS
}

// path fills in what a path of the table begins with.
func (p Place) path(file string) string {
	options := strings.Split(file, "|")
	for _, f := range options {
		if f = p.fill(f); f != "" && exists(f) {
			return f
		}
	}
	return p.fill(options[0])
}

func (p Place) fill(file string) string {
	root, rest, _ := strings.Cut(file, "/")
	dir := func(variable string, standard ...string) string {
		if d := p.Getenv(variable); variable != "" && filepath.IsAbs(d) {
			return d
		}
		return filepath.Join(append([]string{p.Home}, standard...)...)
	}
	base := root
	switch root {
	case "~":
		base = p.Home
	case "{project}":
		base = p.Root
	case "{claude}":
		base = dir("CLAUDE_CONFIG_DIR", ".claude")
	case "{claude.json}": // stands beside ~/.claude, but in a directory that was given
		base = filepath.Join(dir("CLAUDE_CONFIG_DIR"), ".claude.json")
	case "{codex}":
		base = dir("CODEX_HOME", ".codex")
	case "{copilot}":
		base = dir("COPILOT_HOME", ".copilot")
	case "{config}":
		base = p.config(dir)
	case "{xdg}": // also where there is no such custom
		base = dir("XDG_CONFIG_HOME", ".config")
	}
	return filepath.Join(base, filepath.FromSlash(rest))
}

// config is where programs of a desktop keep their settings.
func (p Place) config(dir func(string, ...string) string) string {
	switch p.system() {
	case "windows":
		return dir("APPDATA", "AppData", "Roaming")
	case "darwin":
		return dir("", "Library", "Application Support")
	}
	return dir("XDG_CONFIG_HOME", ".config")
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// found tells whether a client is on this machine.
func (p Place) found(c *client) bool {
	return slices.ContainsFunc(c.binaries, p.Look) ||
		slices.ContainsFunc(c.signs, func(s string) bool { return exists(p.fill(s)) })
}

// Names lists the clients of the table.
func Names() []string {
	var names []string
	for _, c := range clients() {
		names = append(names, c.name)
	}
	return names
}

// clients is the table.
func clients() []client {
	return append(terminals(), editors()...)
}

// terminals are the clients that are worked in a terminal.
func terminals() []client {
	servers := []string{"mcpServers"}
	return []client{{
		name: "claude-code", says: "claude-code", binaries: []string{"claude"}, signs: []string{"{claude}", "{claude.json}"},
		servers: map[Scope]place{
			User:    {file: "{claude.json}", keys: servers},
			Project: {file: "{project}/.mcp.json", keys: servers},
			Local:   {file: "{claude.json}", keys: []string{"projects", "{project}", "mcpServers"}},
		},
		entry: typed("stdio"),
		hooks: hooks{
			files:  map[Scope]string{User: "{claude}/settings.json", Project: "{project}/.claude/settings.json", Local: "{project}/.claude/settings.local.json"},
			events: claudeEvents(), entry: grouped("claude-code", 1),
		},
	}, {
		name: "codex", binaries: []string{"codex"}, signs: []string{"{codex}"},
		servers: map[Scope]place{
			User:    {file: "{codex}/config.toml", keys: []string{"mcp_servers"}, format: toml},
			Project: {file: "{project}/.codex/config.toml", keys: []string{"mcp_servers"}, format: toml},
		},
		entry: plain,
		hooks: hooks{
			files:  map[Scope]string{User: "{codex}/hooks.json", Project: "{project}/.codex/hooks.json"},
			events: codexEvents(), entry: grouped("codex", 1),
		},
		note: "Codex skips hooks until you approve them: type /hooks in Codex",
	}, {
		name: "gemini", says: "gemini-cli-mcp-client", binaries: []string{"gemini"}, signs: []string{"~/.gemini"},
		servers: map[Scope]place{User: {file: "~/.gemini/settings.json", keys: servers}, Project: {file: "{project}/.gemini/settings.json", keys: servers}},
		entry:   plain,
		hooks: hooks{
			files:  map[Scope]string{User: "~/.gemini/settings.json", Project: "{project}/.gemini/settings.json"},
			events: geminiEvents(), entry: grouped("gemini", 1000),
		},
	}, {
		name: "copilot", binaries: []string{"copilot"}, signs: []string{"{copilot}"},
		servers: map[Scope]place{User: {file: "{copilot}/mcp-config.json", keys: servers}, Project: {file: "{project}/.github/mcp.json", keys: servers}},
		entry: func(command string) any {
			return object{{"type", "local"}, {"command", command}, {"args", []string{"mcp"}}, {"tools", []string{"*"}}}
		},
		hooks: hooks{
			files:  map[Scope]string{User: "{copilot}/hooks/lean-ctx.json", Project: "{project}/.github/hooks/lean-ctx.json"},
			events: copilotEvents(), root: []pair{{"version", 1}}, entry: copilotEntry,
		},
	}, {
		name: "opencode", says: "opencode", binaries: []string{"opencode"}, signs: []string{"{xdg}/opencode"},
		servers: map[Scope]place{
			User:    {file: "{xdg}/opencode/opencode.json|{xdg}/opencode/opencode.jsonc", keys: []string{"mcp"}},
			Project: {file: "{project}/opencode.json|{project}/opencode.jsonc", keys: []string{"mcp"}},
		},
		entry: func(command string) any {
			return object{{"type", "local"}, {"command", []string{command, "mcp"}}, {"enabled", true}}
		},
		hooks: hooks{
			files:  map[Scope]string{User: "{xdg}/opencode/plugins/lean-ctx.js", Project: "{project}/.opencode/plugins/lean-ctx.js"},
			format: whole, text: openCodePlugin,
		},
	}, {
		name: "amp", binaries: []string{"amp"}, signs: []string{"{xdg}/amp"},
		servers: map[Scope]place{
			User:    {file: "{xdg}/amp/settings.json|{xdg}/amp/settings.jsonc", keys: []string{"amp.mcpServers"}},
			Project: {file: "{project}/.amp/settings.json|{project}/.amp/settings.jsonc", keys: []string{"amp.mcpServers"}},
		},
		entry: plain,
	}, {
		name: "goose", binaries: []string{"goose"}, signs: []string{"{xdg}/goose", "{config}/Block/goose"},
		servers: map[Scope]place{User: {file: "{xdg}/goose/config.yaml|{config}/Block/goose/config/config.yaml", keys: []string{"extensions"}, format: yaml}},
		entry: func(command string) any {
			return object{{"name", server}, {"type", "stdio"}, {"cmd", command}, {"args", []string{"mcp"}}, {"envs", object{}}, {"enabled", true}, {"timeout", 300}}
		},
	}}
}

// editors are the clients that live in an editor.
func editors() []client {
	servers := []string{"mcpServers"}
	const storage = "/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
	return []client{{
		name: "vscode", binaries: []string{"code"}, signs: []string{"{config}/Code"},
		servers: map[Scope]place{User: {file: "{config}/Code/User/mcp.json", keys: []string{"servers"}}, Project: {file: "{project}/.vscode/mcp.json", keys: []string{"servers"}}},
		entry:   typed("stdio"),
	}, {
		name: "cursor", binaries: []string{"cursor", "cursor-agent"}, signs: []string{"~/.cursor"},
		servers: map[Scope]place{User: {file: "~/.cursor/mcp.json", keys: servers}, Project: {file: "{project}/.cursor/mcp.json", keys: servers}},
		entry:   plain,
		hooks: hooks{
			files:  map[Scope]string{User: "~/.cursor/hooks.json", Project: "{project}/.cursor/hooks.json"},
			events: cursorEvents(), root: []pair{{"version", 1}}, entry: cursorEntry,
		},
	}, {
		name: "windsurf", binaries: []string{"windsurf"}, signs: []string{"~/.codeium/windsurf", "{xdg}/devin"},
		servers: map[Scope]place{
			User:    {file: "~/.codeium/windsurf/mcp_config.json|{xdg}/devin/mcp_config.json", keys: servers},
			Project: {file: "{project}/.devin/mcp_config.json", keys: servers},
		},
		entry: plain,
	}, {
		name: "zed", binaries: []string{"zed", "zeditor"}, signs: []string{"{xdg}/zed", "{config}/Zed"},
		servers: map[Scope]place{
			User:    {file: "{xdg}/zed/settings.json|{config}/Zed/settings.json", keys: []string{"context_servers"}},
			Project: {file: "{project}/.zed/settings.json", keys: []string{"context_servers"}},
		},
		entry: func(command string) any {
			return object{{"source", "custom"}, {"command", command}, {"args", []string{"mcp"}}, {"env", object{}}}
		},
	}, {
		name: "cline", binaries: []string{"cline"}, signs: []string{"~/.cline", "{config}/Code/User/globalStorage/saoudrizwan.claude-dev"},
		servers: map[Scope]place{User: {file: "~/.cline/data/settings/cline_mcp_settings.json|{config}/Code" + storage, keys: servers}},
		entry: func(command string) any {
			return object{{"command", command}, {"args", []string{"mcp"}}, {"disabled", false}}
		},
	}}
}
