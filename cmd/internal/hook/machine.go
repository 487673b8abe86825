package hook

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Machine is the machine whose clients are connected.
type Machine struct {
	Home    string
	Root    string            // of the project
	Data    string            // our data directory
	Command string            // starts this program: a name that also a desktop program finds, or a path
	Shared  string            // the same in files that others share: its name, if that is on PATH; empty: Command
	Env     map[string]string // variables that a server of the user needs, such as LEAN_CTX_DATA_DIR
	Getenv  func(string) string
	OnPath  func(name string) bool
	System  string // as runtime.GOOS, which is the default
	// Git runs git in the project, for reading; nil: there is none.
	Git func(args ...string) ([]byte, error)
	// Probe starts a server and asks for its version and its tools.
	Probe func(context.Context, *exec.Cmd) (version string, tools []string, err error)
	// Person is whether a person reads the answer, who may have doctor start what a project's file names.
	Person bool
	// MayStart asks that person whether to start a client's server: its variables and its command line, as a
	// project's file names them. nil: it is not started.
	MayStart func(client string, line []string) bool
}

// sharedCommand starts this program in files that others share.
func (m Machine) sharedCommand() string { return cmp.Or(m.Shared, m.Command) }

func (m Machine) system() string {
	if m.System != "" {
		return m.System
	}
	return runtime.GOOS
}

// path is the file of a location on this machine.
func (m Machine) path(file string) string {
	options := strings.Split(file, "|")
	for _, f := range options {
		if f = m.expand(f); exists(f) {
			return f
		}
	}
	return m.expand(options[0])
}

// expand replaces the root of a path of the table.
func (m Machine) expand(file string) string {
	root, rest, _ := strings.Cut(file, "/")
	dir := func(variable string, standard ...string) string {
		if d := m.Getenv(variable); variable != "" && filepath.IsAbs(d) {
			return d
		}
		return filepath.Join(append([]string{m.Home}, standard...)...)
	}
	switch root {
	case "~":
		root = m.Home
	case "{project}":
		root = m.Root
	case "{claude}":
		root = dir("CLAUDE_CONFIG_DIR", ".claude")
	case "{claude.json}": // beside ~/.claude, but inside a directory that was given
		root = filepath.Join(dir("CLAUDE_CONFIG_DIR"), ".claude.json")
	case "{codex}":
		root = dir("CODEX_HOME", ".codex")
	case "{copilot}":
		root = dir("COPILOT_HOME", ".copilot")
	case "{xdg}": // on every system
		root = dir("XDG_CONFIG_HOME", ".config")
	case "{config}": // where desktop programs keep their settings
		switch m.system() {
		case "windows":
			root = dir("APPDATA", "AppData", "Roaming")
		case "darwin":
			root = dir("", "Library", "Application Support")
		default:
			root = dir("XDG_CONFIG_HOME", ".config")
		}
	}
	return filepath.Join(root, filepath.FromSlash(rest))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// has reports whether a client is installed on this machine.
func (m Machine) has(c *client) bool {
	return slices.ContainsFunc(c.binaries, m.OnPath) ||
		slices.ContainsFunc(c.signs, func(s string) bool { return exists(m.expand(s)) })
}

// Names lists the clients of the table.
func Names() []string { return slices.Clone(clientNames()) }

// clientNames is made once: a server asks at each call who makes it.
var clientNames = sync.OnceValue(func() (names []string) {
	for _, c := range clients() {
		names = append(names, c.name)
	}
	return names
})
