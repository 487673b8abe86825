package hook

import "slices"

// Scope says for whom a client is connected.
type Scope string

// The scopes.
const (
	User    Scope = "user"    // all projects of this user
	Project Scope = "project" // this project, for everybody: files to commit
	Local   Scope = "local"   // this project, for this user
)

var scopes = []Scope{User, Project, Local}

// The events of a session, by their names on the command line.
const (
	SessionStart  = "session-start"
	UserPrompt    = "user-prompt"
	PreTool       = "pre-tool"
	PostTool      = "post-tool"
	PreCompact    = "pre-compact"
	SessionEnd    = "session-end"
	Stop          = "stop"
	SubagentStart = "subagent-start"
	SubagentStop  = "subagent-stop"
)

// Events lists them.
func Events() []string {
	return []string{SessionStart, UserPrompt, PreTool, PostTool, PreCompact, SessionEnd, Stop, SubagentStart, SubagentStop}
}

// client is one row of the table. Its JSON is a template (templates.go).
type client struct {
	name     string
	binaries []string // the client is installed if one of them is on PATH
	signs    []string // or if one of these paths exists
	servers  files    // where its MCP servers are listed
	key      string   // of the list of servers
	format   format   // of those files
	entry    string   // of our server
	env      string   // the member of the entry with variables; empty: env
	folder   files    // what the client replaces by the project's directory, where it must be asked for
	remote   string   // the same, for a server that is reached by its address
	hooks    hooks
	rule     string // a file of the project that the client shows its model in every session
	front    string // the front matter of that file
	note     string // what the user must do after hooks were written

	toggles   []toggle                             // that turn us off
	untrusted func(m Machine, hooks string) string // says why the client does not trust a file of hooks
}

// files has a file for each scope. If there are several, separated by |, the first one that
// exists counts, or else the first. A file begins with ~, {project} or another root of
// Machine.path.
type files map[Scope]string

// format says how a file is edited.
type format int

const (
	jsonc      format = iota // JSON, with comments where the client allows them
	toml                     // one table
	yaml                     // one mapping
	ownFile                  // the file is ours alone
	lineOfFile               // one line of it is ours
)

// hooks says how a client's hooks are written: as entries of a JSON file, or as whole files.
type hooks struct {
	files     files
	events    []event
	entry     string // in a list of the event
	grouped   bool   // the list has groups of entries, each with a matcher
	versioned bool   // the file needs a version
	text      string // of a whole file
	programs  bool   // files is a directory, with a program for each event

	powerShell bool // on Windows the client runs them in PowerShell, not in a POSIX shell
}

// event is an event that a client reports: its name there and here.
type event struct {
	clientName, name string
	matcher          string
	seconds          int // until the client gives up
}

// tellsBefore reports whether what a client's hook before a tool says reaches the model. Claude Code, Codex 0.171 and Copilot
// CLI 1.0 were tried against a model on this machine, and Gemini CLI 0.61, which takes it only after the tool.
func tellsBefore(client string) bool {
	for _, c := range clients() {
		if c.name == client {
			return slices.ContainsFunc(c.hooks.events, func(e event) bool { return e.name == PreTool })
		}
	}
	return false
}

// The forms that several clients share.
const (
	stdio       = `{"command": COMMAND, "args": ["mcp"]ENV}`
	typedStdio  = `{"type": "stdio", "command": COMMAND, "args": ["mcp"]ENV}`
	byURL       = `{"url": URL, "headers": HEADERS}`
	typedURL    = `{"type": "http", "url": URL, "headers": HEADERS}`
	commandHook = `{"type": "command", "command": LINE, "timeout": SECONDS}`
)

// clients is the table. To add a client, add a row, and run
// UPDATE_GOLDEN=1 go test ./cmd/internal/hook to see the files it gets.
func clients() []client {
	const claudeManaged = "/etc/claude-code/managed-settings.json|/Library/Application Support/ClaudeCode/managed-settings.json"
	const clineStorage = "{config}/Code/User/globalStorage/saoudrizwan.claude-dev"
	return []client{{
		name: "claude-code", binaries: []string{"claude"}, signs: []string{"{claude}", "{claude.json}"},
		servers: files{User: "{claude.json}", Project: "{project}/.mcp.json", Local: "{claude.json}"},
		key:     "mcpServers", entry: typedStdio, remote: typedURL,
		hooks: hooks{
			files: files{User: "{claude}/settings.json", Project: "{project}/.claude/settings.json", Local: "{project}/.claude/settings.local.json"},
			events: []event{ // a client that reports the end of a session need not report that of each answer
				{"SessionStart", SessionStart, "startup|resume|clear|compact", 10},
				{"UserPromptSubmit", UserPrompt, "", 5},
				{"PreToolUse", PreTool, "Bash|Edit|MultiEdit|Write|NotebookEdit|mcp__lean-ctx__.*", 5},
				{"PostToolUse", PostTool, "Read|Edit|MultiEdit|Write|NotebookEdit|mcp__lean-ctx__ctx_knowledge", 5},
				{"PreCompact", PreCompact, "manual|auto", 10},
				{"SubagentStart", SubagentStart, "", 5},
				{"SubagentStop", SubagentStop, "", 5},
				{"SessionEnd", SessionEnd, "", 10},
			},
			entry: commandHook, grouped: true,
		},
		toggles: []toggle{
			{file: claudeManaged, keys: []string{"allowManagedHooksOnly"}, off: true, hooks: true},
			{file: claudeManaged + "|{project}/.claude/settings.local.json|{project}/.claude/settings.json|{claude}/settings.json", keys: []string{"disableAllHooks"}, off: true, hooks: true},
			{file: "{claude.json}", keys: []string{"projects", "{project}", "disabledMcpServers"}, lists: true},
			{file: claudeManaged + "|{project}/.claude/settings.local.json|{project}/.claude/settings.json|{claude}/settings.json", keys: []string{"deniedMcpServers"}, lists: true},
			{file: "{project}/.claude/settings.local.json|{project}/.claude/settings.json|{claude}/settings.json", keys: []string{"disabledMcpjsonServers"}, lists: true, scope: Project},
		},
	}, {
		name: "codex", binaries: []string{"codex"}, signs: []string{"{codex}"},
		servers: files{User: "{codex}/config.toml", Project: "{project}/.codex/config.toml"},
		key:     "mcp_servers", format: toml, entry: stdio, remote: `{"url": URL, "http_headers": HEADERS}`,
		hooks: hooks{
			files: files{User: "{codex}/hooks.json", Project: "{project}/.codex/hooks.json"},
			events: []event{
				{"SessionStart", SessionStart, "startup|resume|clear|compact", 10},
				{"UserPromptSubmit", UserPrompt, "", 5},
				{"PreToolUse", PreTool, "Bash|apply_patch|Edit|Write|mcp__lean-ctx__.*", 5},
				{"PostToolUse", PostTool, "apply_patch|Edit|Write|mcp__lean-ctx__ctx_knowledge", 5},
				{"PreCompact", PreCompact, "", 10},
				{"SubagentStart", SubagentStart, "", 5},
				{"SubagentStop", SubagentStop, "", 5},
				{"SessionEnd", SessionEnd, "", 3},
			},
			entry: commandHook, grouped: true, powerShell: true,
		},
		toggles: []toggle{
			{file: "{project}/.codex/config.toml|{codex}/config.toml", keys: []string{"features", "hooks"}, off: false, hooks: true},
			{file: "{project}/.codex/config.toml|{codex}/config.toml", keys: []string{"features", "codex_hooks"}, off: false, hooks: true},
		},
		untrusted: codexTrust,
		note:      "Codex skips hooks until you approve them: it asks at its next start, or type /hooks in Codex",
	}, {
		name: "gemini", binaries: []string{"gemini"}, signs: []string{"~/.gemini"},
		servers: files{User: "~/.gemini/settings.json", Project: "{project}/.gemini/settings.json"},
		key:     "mcpServers", entry: stdio, remote: `{"httpUrl": URL, "headers": HEADERS}`,
		hooks: hooks{
			files: files{User: "~/.gemini/settings.json", Project: "{project}/.gemini/settings.json"},
			events: []event{
				{"SessionStart", SessionStart, "", 10},
				{"BeforeAgent", UserPrompt, "", 5},
				// What its hook before a tool says does not reach the model.
				{"AfterTool", PostTool, "run_shell_command|read_file|write_file|replace", 5},
				{"PreCompress", PreCompact, "", 10},
				{"SessionEnd", SessionEnd, "", 10},
			},
			entry: `{"type": "command", "command": LINE, "timeout": SECONDS000}`, grouped: true, powerShell: true, // in milliseconds
		},
		toggles: []toggle{
			{file: "{project}/.gemini/settings.json|~/.gemini/settings.json", keys: []string{"hooksConfig", "enabled"}, off: false, hooks: true},
			{file: "{project}/.gemini/settings.json|~/.gemini/settings.json", keys: []string{"hooksConfig", "disabled"}, lists: true, hooks: true},
			{file: "{project}/.gemini/settings.json|~/.gemini/settings.json", keys: []string{"mcp", "excluded"}, lists: true},
			{file: "{project}/.gemini/settings.json|~/.gemini/settings.json", keys: []string{"mcp", "allowed"}, lacks: true},
			{file: "~/.gemini/mcp-server-enablement.json", keys: []string{server, "enabled"}, off: false},
		},
	}, {
		name: "copilot", binaries: []string{"copilot"}, signs: []string{"{copilot}"},
		servers: files{User: "{copilot}/mcp-config.json", Project: "{project}/.github/mcp.json"},
		key:     "mcpServers",
		entry:   `{"type": "local", "command": COMMAND, "args": ["mcp"], "tools": ["*"]ENV}`,
		remote:  `{"type": "http", "url": URL, "headers": HEADERS, "tools": ["*"]}`,
		hooks: hooks{
			files: files{User: "{copilot}/hooks/lean-ctx.json", Project: "{project}/.github/hooks/lean-ctx.json"},
			events: []event{
				{"sessionStart", SessionStart, "", 10},
				{"userPromptSubmitted", UserPrompt, "", 5},
				{"preToolUse", PreTool, "", 5},
				{"postToolUse", PostTool, "", 5},
				{"sessionEnd", SessionEnd, "", 10},
			},
			entry: `{"type": "command", "bash": LINE, "powershell": PSLINE, "timeoutSec": SECONDS}`, versioned: true,
		},
	}, {
		name: "opencode", binaries: []string{"opencode"}, signs: []string{"{xdg}/opencode"},
		servers: files{User: "{xdg}/opencode/opencode.json|{xdg}/opencode/opencode.jsonc", Project: "{project}/opencode.json|{project}/opencode.jsonc"},
		key:     "mcp",
		entry:   `{"type": "local", "command": [COMMAND, "mcp"], "enabled": trueENV}`, env: "environment",
		remote: `{"type": "remote", "url": URL, "headers": HEADERS, "enabled": true}`,
		hooks:  hooks{files: files{User: "{xdg}/opencode/plugins/lean-ctx.js", Project: "{project}/.opencode/plugins/lean-ctx.js"}, text: openCodePlugin},
	}, {
		name: "amp", binaries: []string{"amp"}, signs: []string{"{xdg}/amp"},
		servers: files{User: "{xdg}/amp/settings.json|{xdg}/amp/settings.jsonc", Project: "{project}/.amp/settings.json|{project}/.amp/settings.jsonc"},
		key:     "amp.mcpServers", entry: stdio, remote: byURL,
		hooks: hooks{files: files{User: "{xdg}/amp/plugins/lean-ctx.ts", Project: "{project}/.amp/plugins/lean-ctx.ts"}, text: ampPlugin},
	}, {
		name: "goose", binaries: []string{"goose"}, signs: []string{"{xdg}/goose", "{config}/Block/goose"},
		servers: files{User: "{xdg}/goose/config.yaml|{config}/Block/goose/config/config.yaml"},
		key:     "extensions", format: yaml,
		entry: `{"name": "` + server + `", "type": "stdio", "cmd": COMMAND, "args": ["mcp"], "envs": VARS, "enabled": true, "timeout": 300}`,
	}, {
		name: "vscode", binaries: []string{"code"}, signs: []string{"{config}/Code"},
		servers: files{User: "{config}/Code/User/mcp.json", Project: "{project}/.vscode/mcp.json"},
		key:     "servers", entry: typedStdio, remote: typedURL,
		folder: files{Project: workspaceFolder}, // in the user's file it would fail where no folder is open
		toggles: []toggle{
			{file: "{config}/Code/User/settings.json", keys: []string{"chat.mcp.access"}, off: "none"},
			{file: "{config}/Code/User/settings.json", keys: []string{"chat.useHooks"}, off: false, hooks: true},
		},
		// Copilot CLI reads these directories too, and VS Code reads Copilot's file.
		hooks: hooks{
			files: files{User: "~/.copilot/hooks/lean-ctx-vscode.json", Project: "{project}/.github/hooks/lean-ctx-vscode.json"},
			events: []event{
				{"SessionStart", SessionStart, "", 10},
				{"UserPromptSubmit", UserPrompt, "", 5},
				{"PostToolUse", PostTool, "", 5},
				{"PreCompact", PreCompact, "", 10},
				{"SubagentStart", SubagentStart, "", 5},
				{"Stop", Stop, "", 10},
			},
			entry: commandHook,
		},
	}, {
		name: "cursor", binaries: []string{"cursor", "cursor-agent"}, signs: []string{"~/.cursor"},
		servers: files{User: "~/.cursor/mcp.json", Project: "{project}/.cursor/mcp.json"},
		key:     "mcpServers", entry: stdio, remote: byURL,
		folder: files{User: workspaceFolder, Project: workspaceFolder}, // it starts servers in the home directory
		hooks: hooks{
			files: files{User: "~/.cursor/hooks.json", Project: "{project}/.cursor/hooks.json"},
			events: []event{
				{"sessionStart", SessionStart, "", 10},
				{"postToolUse", PostTool, "", 5},
				{"preCompact", PreCompact, "", 10},
				{"sessionEnd", SessionEnd, "", 10},
			},
			entry: `{"command": LINE, "timeout": SECONDS}`, versioned: true,
		},
		// Its hooks may not run.
		rule: "{project}/.cursor/rules/lean-ctx.mdc", front: "description: Project memory\nalwaysApply: true",
	}, {
		name: "windsurf", binaries: []string{"windsurf"}, signs: []string{"~/.codeium/windsurf", "{xdg}/devin"},
		servers: files{User: "~/.codeium/windsurf/mcp_config.json|{xdg}/devin/mcp_config.json", Project: "{project}/.devin/mcp_config.json"},
		key:     "mcpServers", entry: stdio, remote: `{"serverUrl": URL, "headers": HEADERS}`,
		// The hooks are those of Devin's own agent. Cascade's hooks can stop what
		// it does and add nothing, so Cascade gets the rule.
		hooks: hooks{
			files: files{User: "{xdg}/devin/config.json|{config}/devin/config.json", Project: "{project}/.devin/config.json"},
			events: []event{
				{"SessionStart", SessionStart, "", 10},
				{"UserPromptSubmit", UserPrompt, "", 5},
				{"PostToolUse", PostTool, "read|edit|write", 5},
				{"SessionEnd", SessionEnd, "", 10},
			},
			entry: commandHook, grouped: true,
		},
		rule: "{project}/.windsurf/rules/lean-ctx.md", front: "trigger: always_on",
	}, {
		name: "zed", binaries: []string{"zed", "zeditor"}, signs: []string{"{xdg}/zed", "{config}/Zed"},
		servers: files{User: "{xdg}/zed/settings.json|{config}/Zed/settings.json", Project: "{project}/.zed/settings.json"},
		key:     "context_servers", remote: byURL,
		entry: `{"source": "custom", "command": COMMAND, "args": ["mcp"], "env": VARS}`,
	}, {
		name: "cline", binaries: []string{"cline"}, signs: []string{"~/.cline", clineStorage},
		servers: files{User: "~/.cline/data/settings/cline_mcp_settings.json|" + clineStorage + "/settings/cline_mcp_settings.json"},
		key:     "mcpServers",
		entry:   `{"command": COMMAND, "args": ["mcp"], "disabled": falseENV}`,
		hooks: hooks{
			files: files{User: "~/Documents/Cline/Hooks"},
			events: []event{
				{clientName: "TaskStart", name: SessionStart},
				{clientName: "TaskResume", name: SessionStart},
				{clientName: "UserPromptSubmit", name: UserPrompt},
				{clientName: "PostToolUse", name: PostTool},
				{clientName: "PreCompact", name: PreCompact},
				{clientName: "TaskComplete", name: Stop},
			},
			text: clineScript, programs: true,
		},
		note: "Cline in an editor runs hooks when they are enabled in its settings",
	}}
}
