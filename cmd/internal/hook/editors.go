package hook

// editors are the clients that live in an editor.
func editors() []client {
	servers := []string{"mcpServers"}
	const storage = "/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
	return []client{{
		name: "vscode", binaries: []string{"code"}, signs: []string{"{config}/Code"},
		servers: map[Scope]place{User: {file: "{config}/Code/User/mcp.json", keys: []string{"servers"}}, Project: {file: "{project}/.vscode/mcp.json", keys: []string{"servers"}}},
		entry:   typed("stdio"),
		// Copilot CLI reads these directories too, and VS Code reads its file.
		hooks: hooks{
			files:  map[Scope]string{User: "~/.copilot/hooks/lean-ctx-vscode.json", Project: "{project}/.github/hooks/lean-ctx-vscode.json"},
			events: vscodeEvents(), entry: flat("vscode"),
		},
	}, {
		name: "cursor", binaries: []string{"cursor", "cursor-agent"}, signs: []string{"~/.cursor"},
		servers: map[Scope]place{User: {file: "~/.cursor/mcp.json", keys: servers}, Project: {file: "{project}/.cursor/mcp.json", keys: servers}},
		entry:   plain,
		hooks: hooks{
			files:  map[Scope]string{User: "~/.cursor/hooks.json", Project: "{project}/.cursor/hooks.json"},
			events: cursorEvents(), root: []pair{{"version", 1}}, entry: cursorEntry,
		},
		rule: rule{"{project}/.cursor/rules/lean-ctx.mdc", "description: Project memory\nalwaysApply: true"},
	}, {
		name: "windsurf", binaries: []string{"windsurf"}, signs: []string{"~/.codeium/windsurf", "{xdg}/devin"},
		servers: map[Scope]place{
			User:    {file: "~/.codeium/windsurf/mcp_config.json|{xdg}/devin/mcp_config.json", keys: servers},
			Project: {file: "{project}/.devin/mcp_config.json", keys: servers},
		},
		entry: plain,
		// Those of Devin's own agent. Cascade's, in hooks.json, can stop what it
		// does and add nothing: for it there is the rule.
		hooks: hooks{
			files:  map[Scope]string{User: "{xdg}/devin/config.json|{config}/devin/config.json", Project: "{project}/.devin/config.json"},
			events: devinEvents(), entry: grouped("windsurf", 1),
		},
		rule: rule{"{project}/.windsurf/rules/lean-ctx.md", "trigger: always_on"},
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
		hooks: hooks{
			files:  map[Scope]string{User: "~/Documents/Cline/Hooks"},
			events: clineEvents(), format: whole, text: clineScript, run: true,
		},
		note: "Cline in an editor runs hooks when they are enabled in its settings",
	}}
}
