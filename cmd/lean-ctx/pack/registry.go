package main

import (
	"path/filepath"
	"strings"
)

// registryEntry is a server.json.
type registryEntry struct {
	Schema      string            `json:"$schema"`
	Name        string            `json:"name"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Version     string            `json:"version"`
	Repository  map[string]string `json:"repository"`
	Packages    []registryPackage `json:"packages"`
}

type registryPackage struct {
	Type       string             `json:"registryType"`
	Identifier string             `json:"identifier"`
	Version    string             `json:"version,omitempty"`
	Sum        string             `json:"fileSha256,omitempty"`
	Transport  map[string]string  `json:"transport"`
	Arguments  []registryArgument `json:"packageArguments,omitempty"`
	Variables  []registryVariable `json:"environmentVariables,omitempty"`
}

type registryArgument struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

type registryVariable struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Format      string `json:"format"`
	Required    bool   `json:"isRequired"`
}

// registryName is what the server is called in the registry: the owner of the
// repository proves that it is theirs. Without a repository it has no name.
func (p plan) registryName() string {
	path, ok := strings.CutPrefix(p.repository, "https://github.com/")
	if !ok {
		return ""
	}
	owner, _, _ := strings.Cut(path, "/")
	return "io.github." + owner + "/" + program
}

// registry writes server.json. It names the npm package, and the bundles as
// they will lie with the release.
func (p plan) registry(bundles []bundle) (string, error) {
	stdio := map[string]string{"type": "stdio"}
	entry := registryEntry{
		Schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		Name:   p.registryName(), Title: program, Description: description, Version: p.version,
		Repository: map[string]string{"url": p.repository, "source": "github"},
		Packages: []registryPackage{{
			Type: "npm", Identifier: program, Version: p.version, Transport: stdio,
			Arguments: []registryArgument{{"positional", "mcp"}},
			Variables: []registryVariable{
				{"LEAN_CTX_DATA_DIR", "Where everything is kept (default ~/.lean-ctx)", "filepath", false},
				{"LEAN_CTX_PROJECT_ROOT", "The project (default: that of the working directory)", "filepath", false},
			},
		}},
	}
	for _, b := range bundles {
		entry.Packages = append(entry.Packages, registryPackage{
			Type: "mcpb", Identifier: p.repository + "/releases/download/v" + p.version + "/" + filepath.Base(b.path), Sum: b.sum, Transport: stdio,
		})
	}
	path := filepath.Join(p.out, "server.json")
	data, err := document(entry)
	if err != nil {
		return path, err
	}
	return path, put(path, data, 0o644)
}
