package main

import (
	_ "embed"
	"os"
	"path/filepath"
)

//go:embed shim.js
var shim []byte

// npmScope is the scope of the packages with the programs.
const npmScope = "@lean-ctx"

// npmPackage is a package.json.
type npmPackage struct {
	Name            string            `json:"name"`
	Version         string            `json:"version"`
	Description     string            `json:"description"`
	Keywords        []string          `json:"keywords,omitempty"`
	License         string            `json:"license"`
	Repository      *npmRepository    `json:"repository,omitempty"`
	MCPName         string            `json:"mcpName,omitempty"` // proves to the MCP registry whose it is
	Bin             map[string]string `json:"bin,omitempty"`
	Files           []string          `json:"files"`
	OS              []string          `json:"os,omitempty"`
	CPU             []string          `json:"cpu,omitempty"`
	PreferUnplugged bool              `json:"preferUnplugged,omitempty"` // a program cannot run out of an archive
	Engines         map[string]string `json:"engines,omitempty"`
	Optional        map[string]string `json:"optionalDependencies,omitempty"`
}

type npmRepository struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// npm writes the package that is installed, and one for each program.
func (p plan) npm(found []built) ([]string, error) {
	main := npmPackage{
		Name: program, Version: p.version, Description: description, License: license,
		Keywords: []string{"mcp", "mcp-server", "memory", "agents", "claude-code", "codex", "cursor"},
		MCPName:  p.registryName(),
		Bin:      map[string]string{program: "bin/lean-ctx.js"}, Files: []string{"bin"},
		Engines: map[string]string{"node": ">=18"}, Optional: make(map[string]string),
	}
	var made []string
	for _, b := range found {
		one := npmPackage{
			Name: npmScope + "/" + b.npmOS + "-" + b.npmCPU, Version: p.version, License: license,
			Description: "The program of " + program + " for " + b.npmOS + " on " + b.npmCPU + ".",
			Files:       []string{"bin"}, OS: []string{b.npmOS}, CPU: []string{b.npmCPU}, PreferUnplugged: true,
		}
		main.Optional[one.Name] = p.version
		dir := filepath.Join(p.out, "npm", program+"-"+b.npmOS+"-"+b.npmCPU)
		if err := place(filepath.Join(dir, "bin", b.file()), b.path, 0o755); err != nil {
			return made, err
		}
		if err := p.npmFiles(dir, one); err != nil {
			return made, err
		}
		made = append(made, dir)
	}
	dir := filepath.Join(p.out, "npm", program)
	if err := put(filepath.Join(dir, "bin", "lean-ctx.js"), shim, 0o755); err != nil {
		return made, err
	}
	if err := place(filepath.Join(dir, "README.md"), filepath.Join(p.source, "README.md"), 0o644); err != nil {
		return made, err
	}
	return append(made, dir), p.npmFiles(dir, main)
}

// npmFiles writes what every package has.
func (p plan) npmFiles(dir string, about npmPackage) error {
	if p.repository != "" {
		about.Repository = &npmRepository{Type: "git", URL: "git+" + p.repository + ".git"}
	}
	about.Files = append(about.Files, notices()...)
	data, err := document(about)
	if err != nil {
		return err
	}
	if err := put(filepath.Join(dir, "package.json"), data, 0o644); err != nil {
		return err
	}
	return p.copyNotices(func(name string, data []byte) error {
		return put(filepath.Join(dir, name), data, 0o644)
	})
}

// notices are the files that go with every copy of the program.
func notices() []string { return []string{"LICENSE", "NOTICE"} }

func (p plan) copyNotices(put func(name string, data []byte) error) error {
	for _, name := range notices() {
		data, err := os.ReadFile(filepath.Join(p.source, name))
		if err != nil {
			return err
		}
		if err := put(name, data); err != nil {
			return err
		}
	}
	return nil
}
