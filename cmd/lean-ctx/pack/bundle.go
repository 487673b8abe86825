package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"time"

	"leanctx/cmd/internal/app"
)

// manifest is the manifest.json of a bundle, in version 0.3 of the format:
// every client that installs bundles takes it.
type manifest struct {
	Schema      string                `json:"$schema,omitempty"`
	Format      string                `json:"manifest_version"`
	Name        string                `json:"name"`
	DisplayName string                `json:"display_name"`
	Version     string                `json:"version"`
	Description string                `json:"description"`
	Long        string                `json:"long_description"`
	Author      map[string]string     `json:"author"`
	Repository  *npmRepository        `json:"repository,omitempty"`
	License     string                `json:"license"`
	Keywords    []string              `json:"keywords"`
	Server      manifestServer        `json:"server"`
	Tools       []manifestTool        `json:"tools"`
	Prompts     bool                  `json:"prompts_generated"`
	User        map[string]userConfig `json:"user_config"`
	Runs        map[string][]string   `json:"compatibility"`
}

type manifestServer struct {
	Type  string         `json:"type"`
	Entry string         `json:"entry_point"`
	MCP   manifestLaunch `json:"mcp_config"`
}

type manifestLaunch struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

type manifestTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type userConfig struct {
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Default     string `json:"default,omitempty"`
	Required    bool   `json:"required"`
}

// manifest is the one of a program. What a user leaves empty is passed on as
// it stands here, so all that goes into the environment has a value: the
// project is asked for, the rest has a default.
func (p plan) manifest(b built) manifest {
	m := manifest{
		Format: "0.3", Name: program, DisplayName: program, Version: p.version, Description: description,
		Long: "Agents remember what is so in a project, since when and who said it; they find it again by words, by meaning and as of any day, " +
			"are told when a new value contradicts an old one, and begin each session with a short briefing. Everything stays on this machine.",
		Author: map[string]string{"name": "The lean-ctx authors"}, License: license,
		Keywords: []string{"memory", "knowledge", "agents", "tasks"},
		Server: manifestServer{Type: "binary", Entry: "server/" + b.file(), MCP: manifestLaunch{
			Command: "${__dirname}/server/" + b.file(), Args: []string{"mcp"},
			Env: map[string]string{"LEAN_CTX_DATA_DIR": "${user_config.data_dir}", "LEAN_CTX_PROJECT_ROOT": "${user_config.project}"},
		}},
		User: map[string]userConfig{
			"project": {Type: "directory", Title: "Project", Required: true,
				Description: "The directory of the project that is worked on; a call can name another."},
			"data_dir": {Type: "directory", Title: "Data directory", Default: "${HOME}/.lean-ctx",
				Description: "Where everything is kept; other clients on this machine share it."},
		},
		Prompts: true,
		Runs:    map[string][]string{"platforms": {b.npmOS}},
	}
	if p.repository != "" {
		m.Repository = &npmRepository{Type: "git", URL: p.repository}
	}
	for _, t := range app.Tools() {
		m.Tools = append(m.Tools, manifestTool{t.Name, t.Summary})
	}
	return m
}

// bundle is one that was made.
type bundle struct {
	built
	path, sum string // sum is SHA-256, in hex
}

// bundles makes one for each program: a manifest tells systems apart, but not
// machines.
func (p plan) bundles(found []built) ([]bundle, error) {
	var all []bundle
	for _, b := range found {
		data, err := p.bundle(b)
		if err != nil {
			return all, err
		}
		path := filepath.Join(p.out, strings.Join([]string{program, p.version, b.os, b.arch}, "-")+".mcpb")
		if err := put(path, data, 0o644); err != nil {
			return all, err
		}
		sum := sha256.Sum256(data)
		all = append(all, bundle{b, path, hex.EncodeToString(sum[:])})
	}
	return all, nil
}

// bundle is a zip archive, the same for the same program.
func (p plan) bundle(b built) ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	add := func(name string, data []byte, mode os.FileMode) error {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		h.SetMode(mode)
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	}
	about, err := document(p.manifest(b))
	if err != nil {
		return nil, err
	}
	binary, err := os.ReadFile(b.path)
	if err != nil {
		return nil, err
	}
	if err := add("manifest.json", about, 0o644); err != nil {
		return nil, err
	}
	if err := add("server/"+b.file(), binary, 0o755); err != nil {
		return nil, err
	}
	if err := p.copyNotices(func(name string, data []byte) error { return add(name, data, 0o644) }); err != nil {
		return nil, err
	}
	err = z.Close()
	return out.Bytes(), err
}
