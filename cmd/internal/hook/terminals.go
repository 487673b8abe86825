package hook

// terminals are the clients that are worked in a terminal.
func terminals() []client {
	servers := []string{"mcpServers"}
	return []client{{
		name: "claude-code", says: "claude-code", plugin: "lean-ctx@lean-ctx-market", binaries: []string{"claude"}, signs: []string{"{claude}", "{claude.json}"},
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
		note: "Codex skips hooks until you approve them: it asks at its next start, or type /hooks in Codex",
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
		hooks: hooks{
			files:  map[Scope]string{User: "{xdg}/amp/plugins/lean-ctx.ts", Project: "{project}/.amp/plugins/lean-ctx.ts"},
			format: whole, text: ampPlugin,
		},
	}, {
		name: "goose", binaries: []string{"goose"}, signs: []string{"{xdg}/goose", "{config}/Block/goose"},
		servers: map[Scope]place{User: {file: "{xdg}/goose/config.yaml|{config}/Block/goose/config/config.yaml", keys: []string{"extensions"}, format: yaml}},
		entry: func(command string) any {
			return object{{"name", server}, {"type", "stdio"}, {"cmd", command}, {"args", []string{"mcp"}}, {"envs", object{}}, {"enabled", true}, {"timeout", 300}}
		},
	}}
}
