package hook

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
	PostTool      = "post-tool"
	PreCompact    = "pre-compact"
	SessionEnd    = "session-end"
	Stop          = "stop"
	SubagentStart = "subagent-start"
)

// Events lists them.
func Events() []string {
	return []string{SessionStart, UserPrompt, PostTool, PreCompact, SessionEnd, Stop, SubagentStart}
}

// client is one row of the table.
type client struct {
	name     string
	binaries []string           // the client is installed if one of them is on PATH
	signs    []string           // or if one of these paths exists
	servers  map[Scope]location // where its MCP servers are listed
	entry    func(command string) object
	remote   func(Remote) object // the entry of an HTTP server; nil: the client has no project scope
	hooks    hooks
	rule     rule   // of the project
	note     string // what the user must do after hooks were written
	asks     string // before it uses a server that a project names
	// mcpName is the name the client gives to an MCP server. It is set where
	// hooks, once written, certainly bring the briefing to the model.
	mcpName string
	plugin  plugin
}

// location is a file and the keys of the list of servers in it. If there are several files,
// separated by |, the first one that exists counts, or else the first. A file begins with ~,
// {project} or another root of Machine.path.
type location struct {
	file   string
	keys   []string
	format format
}

// format says how a file is edited.
type format int

const (
	jsonc    format = iota // JSON, with comments where the client allows them
	toml                   // one table
	yaml                   // one mapping
	ownFile                // the file is ours alone
	ownBlock               // a block between markers, in a file for people
)

// hooks says how a client's hooks are written.
type hooks struct {
	files  map[Scope]string
	events []event
	format format // jsonc: others write to the file too; ownFile: ours alone
	root   []pair // members that the file needs beside its hooks
	entry  func(e event, command string) object
	text   func(e event, command string) string // of a whole file
	run    bool                                 // whole files are programs, one for each event
}

// event is an event that a client reports: its name there and here.
type event struct {
	theirs, ours string
	matcher      string
	seconds      int // until the client gives up
}

// rule is a file of the project that the client shows its model in every session. It is for
// clients whose hooks may not run.
type rule struct {
	file  string
	front string // front matter that the client wants
}

// plugin says how to find out whether the client has installed our plugin. Either the keys of a
// file lead to true for pluginName, or a path exists.
type plugin struct {
	files  []string
	keys   []string
	format format
	sign   string
}

const pluginName = "lean-ctx@lean-ctx-market"

// clients is the table. To add a client, add a row, and run
// UPDATE_GOLDEN=1 go test ./cmd/internal/hook to see the files it gets.
func clients() []client {
	servers := []string{"mcpServers"}
	const clineStorage = "{config}/Code/User/globalStorage/saoudrizwan.claude-dev"
	return []client{{
		name: "claude-code", mcpName: "claude-code", binaries: []string{"claude"}, signs: []string{"{claude}", "{claude.json}"},
		servers: map[Scope]location{
			User:    {file: "{claude.json}", keys: servers},
			Project: {file: "{project}/.mcp.json", keys: servers},
			Local:   {file: "{claude.json}", keys: []string{"projects", "{project}", "mcpServers"}},
		},
		entry:  typed("stdio"),
		remote: remoteTyped("http"),
		asks:   "Claude Code asks at its next start whether to use this project's server",
		hooks: hooks{
			files:  map[Scope]string{User: "{claude}/settings.json", Project: "{project}/.claude/settings.json", Local: "{project}/.claude/settings.local.json"},
			events: claudeEvents(), entry: grouped("claude-code", 1),
		},
		plugin: plugin{files: []string{"{claude}/settings.json", "{project}/.claude/settings.json", "{project}/.claude/settings.local.json"}, keys: []string{"enabledPlugins"}},
	}, {
		name: "codex", binaries: []string{"codex"}, signs: []string{"{codex}"},
		servers: map[Scope]location{
			User:    {file: "{codex}/config.toml", keys: []string{"mcp_servers"}, format: toml},
			Project: {file: "{project}/.codex/config.toml", keys: []string{"mcp_servers"}, format: toml},
		},
		entry:  plain,
		remote: remoteNamed("url", "http_headers"),
		asks:   "Codex reads it in a trusted project only: it asks at its start",
		hooks: hooks{
			files: map[Scope]string{User: "{codex}/hooks.json", Project: "{project}/.codex/hooks.json"},
			events: []event{
				{"SessionStart", SessionStart, "startup|resume|clear|compact", 10},
				{"UserPromptSubmit", UserPrompt, "", 5},
				{"PostToolUse", PostTool, "apply_patch|Edit|Write", 5},
				{"PreCompact", PreCompact, "", 10},
				{"SubagentStart", SubagentStart, "", 5},
				{"SessionEnd", SessionEnd, "", 3},
			},
			entry: grouped("codex", 1),
		},
		note:   "Codex skips hooks until you approve them: it asks at its next start, or type /hooks in Codex",
		plugin: plugin{files: []string{"{codex}/config.toml"}, keys: []string{"plugins"}, format: toml},
	}, {
		name: "gemini", mcpName: "gemini-cli-mcp-client", binaries: []string{"gemini"}, signs: []string{"~/.gemini"},
		servers: map[Scope]location{User: {file: "~/.gemini/settings.json", keys: servers}, Project: {file: "{project}/.gemini/settings.json", keys: servers}},
		entry:   plain,
		remote:  remoteNamed("httpUrl", "headers"),
		asks:    "Gemini CLI reads it in a trusted folder only: it asks at its start",
		hooks: hooks{
			files: map[Scope]string{User: "~/.gemini/settings.json", Project: "{project}/.gemini/settings.json"},
			events: []event{
				{"SessionStart", SessionStart, "", 10},
				{"BeforeAgent", UserPrompt, "", 5},
				{"AfterTool", PostTool, "read_file|write_file|replace", 5},
				{"PreCompress", PreCompact, "", 10},
				{"SessionEnd", SessionEnd, "", 10},
			},
			entry: grouped("gemini", 1000), // its timeouts are in milliseconds
		},
		plugin: plugin{sign: "~/.gemini/extensions/lean-ctx"},
	}, {
		name: "copilot", binaries: []string{"copilot"}, signs: []string{"{copilot}"},
		servers: map[Scope]location{User: {file: "{copilot}/mcp-config.json", keys: servers}, Project: {file: "{project}/.github/mcp.json", keys: servers}},
		entry: func(command string) object {
			return object{{"type", "local"}, {"command", command}, {"args", []string{"mcp"}}, {"tools", []string{"*"}}}
		},
		remote: remoteTyped("http", pair{"tools", []string{"*"}}),
		hooks: hooks{
			files: map[Scope]string{User: "{copilot}/hooks/lean-ctx.json", Project: "{project}/.github/hooks/lean-ctx.json"},
			events: []event{
				{"sessionStart", SessionStart, "", 10},
				{"userPromptSubmitted", UserPrompt, "", 5},
				{"postToolUse", PostTool, "", 5},
				{"sessionEnd", SessionEnd, "", 10},
			},
			root: []pair{{"version", 1}},
			entry: func(e event, command string) object {
				line := commandLine(command, "copilot", e.ours)
				return object{{"type", "command"}, {"bash", line}, {"powershell", line}, {"timeoutSec", e.seconds}}
			},
		},
	}, {
		name: "opencode", mcpName: "opencode", binaries: []string{"opencode"}, signs: []string{"{xdg}/opencode"},
		servers: map[Scope]location{
			User:    {file: "{xdg}/opencode/opencode.json|{xdg}/opencode/opencode.jsonc", keys: []string{"mcp"}},
			Project: {file: "{project}/opencode.json|{project}/opencode.jsonc", keys: []string{"mcp"}},
		},
		entry: func(command string) object {
			return object{{"type", "local"}, {"command", []string{command, "mcp"}}, {"enabled", true}}
		},
		remote: remoteTyped("remote", pair{"enabled", true}),
		hooks: hooks{
			files:  map[Scope]string{User: "{xdg}/opencode/plugins/lean-ctx.js", Project: "{project}/.opencode/plugins/lean-ctx.js"},
			format: ownFile, text: plugIn(openCodeText),
		},
	}, {
		name: "amp", binaries: []string{"amp"}, signs: []string{"{xdg}/amp"},
		servers: map[Scope]location{
			User:    {file: "{xdg}/amp/settings.json|{xdg}/amp/settings.jsonc", keys: []string{"amp.mcpServers"}},
			Project: {file: "{project}/.amp/settings.json|{project}/.amp/settings.jsonc", keys: []string{"amp.mcpServers"}},
		},
		entry:  plain,
		remote: remotePlain,
		hooks: hooks{
			files:  map[Scope]string{User: "{xdg}/amp/plugins/lean-ctx.ts", Project: "{project}/.amp/plugins/lean-ctx.ts"},
			format: ownFile, text: plugIn(ampText),
		},
	}, {
		name: "goose", binaries: []string{"goose"}, signs: []string{"{xdg}/goose", "{config}/Block/goose"},
		servers: map[Scope]location{User: {file: "{xdg}/goose/config.yaml|{config}/Block/goose/config/config.yaml", keys: []string{"extensions"}, format: yaml}},
		entry: func(command string) object {
			return object{{"name", server}, {"type", "stdio"}, {"cmd", command}, {"args", []string{"mcp"}}, {"envs", object{}}, {"enabled", true}, {"timeout", 300}}
		},
	}, {
		name: "vscode", binaries: []string{"code"}, signs: []string{"{config}/Code"},
		servers: map[Scope]location{User: {file: "{config}/Code/User/mcp.json", keys: []string{"servers"}}, Project: {file: "{project}/.vscode/mcp.json", keys: []string{"servers"}}},
		entry:   typed("stdio"),
		remote:  remoteTyped("http"),
		// Copilot CLI reads these directories too, and VS Code reads Copilot's file.
		hooks: hooks{
			files: map[Scope]string{User: "~/.copilot/hooks/lean-ctx-vscode.json", Project: "{project}/.github/hooks/lean-ctx-vscode.json"},
			events: []event{
				{"SessionStart", SessionStart, "", 10},
				{"UserPromptSubmit", UserPrompt, "", 5},
				{"PostToolUse", PostTool, "", 5},
				{"PreCompact", PreCompact, "", 10},
				{"SubagentStart", SubagentStart, "", 5},
				{"Stop", Stop, "", 10},
			},
			entry: func(e event, command string) object {
				return object{{"type", "command"}, {"command", commandLine(command, "vscode", e.ours)}, {"timeout", e.seconds}}
			},
		},
	}, {
		name: "cursor", binaries: []string{"cursor", "cursor-agent"}, signs: []string{"~/.cursor"},
		servers: map[Scope]location{User: {file: "~/.cursor/mcp.json", keys: servers}, Project: {file: "{project}/.cursor/mcp.json", keys: servers}},
		entry:   plain,
		remote:  remotePlain,
		hooks: hooks{
			files: map[Scope]string{User: "~/.cursor/hooks.json", Project: "{project}/.cursor/hooks.json"},
			events: []event{
				{"sessionStart", SessionStart, "", 10},
				{"postToolUse", PostTool, "", 5},
				{"preCompact", PreCompact, "", 10},
				{"sessionEnd", SessionEnd, "", 10},
			},
			root: []pair{{"version", 1}},
			entry: func(e event, command string) object {
				return object{{"command", commandLine(command, "cursor", e.ours)}, {"timeout", e.seconds}}
			},
		},
		rule: rule{"{project}/.cursor/rules/lean-ctx.mdc", "description: Project memory\nalwaysApply: true"},
	}, {
		name: "windsurf", binaries: []string{"windsurf"}, signs: []string{"~/.codeium/windsurf", "{xdg}/devin"},
		servers: map[Scope]location{
			User:    {file: "~/.codeium/windsurf/mcp_config.json|{xdg}/devin/mcp_config.json", keys: servers},
			Project: {file: "{project}/.devin/mcp_config.json", keys: servers},
		},
		entry:  plain,
		remote: remoteNamed("serverUrl", "headers"),
		// The hooks are those of Devin's own agent. Cascade's hooks can stop what
		// it does and add nothing, so Cascade gets the rule.
		hooks: hooks{
			files: map[Scope]string{User: "{xdg}/devin/config.json|{config}/devin/config.json", Project: "{project}/.devin/config.json"},
			events: []event{
				{"SessionStart", SessionStart, "", 10},
				{"UserPromptSubmit", UserPrompt, "", 5},
				{"PostToolUse", PostTool, "read|edit|write", 5},
				{"SessionEnd", SessionEnd, "", 10},
			},
			entry: grouped("windsurf", 1),
		},
		rule: rule{"{project}/.windsurf/rules/lean-ctx.md", "trigger: always_on"},
	}, {
		name: "zed", binaries: []string{"zed", "zeditor"}, signs: []string{"{xdg}/zed", "{config}/Zed"},
		servers: map[Scope]location{
			User:    {file: "{xdg}/zed/settings.json|{config}/Zed/settings.json", keys: []string{"context_servers"}},
			Project: {file: "{project}/.zed/settings.json", keys: []string{"context_servers"}},
		},
		entry: func(command string) object {
			return object{{"source", "custom"}, {"command", command}, {"args", []string{"mcp"}}, {"env", object{}}}
		},
		remote: remotePlain,
	}, {
		name: "cline", binaries: []string{"cline"}, signs: []string{"~/.cline", clineStorage},
		servers: map[Scope]location{User: {file: "~/.cline/data/settings/cline_mcp_settings.json|" + clineStorage + "/settings/cline_mcp_settings.json", keys: servers}},
		entry: func(command string) object {
			return object{{"command", command}, {"args", []string{"mcp"}}, {"disabled", false}}
		},
		hooks: hooks{
			files: map[Scope]string{User: "~/Documents/Cline/Hooks"},
			events: []event{
				{"TaskStart", SessionStart, "", 0},
				{"TaskResume", SessionStart, "", 0},
				{"UserPromptSubmit", UserPrompt, "", 0},
				{"PostToolUse", PostTool, "", 0},
				{"PreCompact", PreCompact, "", 0},
				{"TaskComplete", Stop, "", 0},
			},
			format: ownFile, text: clineScript, run: true,
		},
		note: "Cline in an editor runs hooks when they are enabled in its settings",
	}}
}

// plain is the entry that most clients want.
func plain(command string) object {
	return object{{"command", command}, {"args", []string{"mcp"}}}
}

// typed is an entry that names its transport.
func typed(transport string) func(string) object {
	return func(command string) object {
		return object{{"type", transport}, {"command", command}, {"args", []string{"mcp"}}}
	}
}

// grouped is the form of Claude Code's hooks, which other clients use too: a group with a
// matcher and a list of hooks. unit is one second in the unit of its timeout.
func grouped(client string, unit int) func(event, string) object {
	return func(e event, command string) object {
		h := object{{"type", "command"}, {"command", commandLine(command, client, e.ours)}, {"timeout", e.seconds * unit}}
		if e.matcher == "" {
			return object{{"hooks", []any{h}}}
		}
		return object{{"matcher", e.matcher}, {"hooks", []any{h}}}
	}
}

// claudeEvents are the events of Claude Code. If a client reports the end of a session, we do
// not need the end of each answer.
func claudeEvents() []event {
	return []event{
		{"SessionStart", SessionStart, "startup|resume|clear|compact", 10},
		{"UserPromptSubmit", UserPrompt, "", 5},
		{"PostToolUse", PostTool, "Read|Edit|MultiEdit|Write|NotebookEdit", 5},
		{"PreCompact", PreCompact, "manual|auto", 10},
		{"SubagentStart", SubagentStart, "", 5},
		{"SessionEnd", SessionEnd, "", 10},
	}
}
