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
	whole  // a file that is ours alone, or a directory of such, one for each event
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
	rule     rule   // of the project
	note     string // what is left to do after hooks were written
	// says is what it calls itself to an MCP server, where its hooks bring the
	// briefing for certain once they are written.
	says string
	// plugin is what it calls our plugin where its hooks' file enables it.
	plugin string
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
	text   func(e event, command string) string // a whole file's
	run    bool                                 // whole files are programs
}

// rule is a file of the project that stands before the model in every session,
// where hooks may not be run.
type rule struct {
	file  string
	front string // what the client wants to read at its top
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
