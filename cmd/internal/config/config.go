// Package config reads the environment, the configuration files and the home directory. No
// other package does; they get their Options.
//
// # Precedence
//
// Flags, then the environment, the project's file, the user's file,
// then the default; the first one that is set wins. An environment
// variable with an empty value counts as not set.
//
//	LEAN_CTX_DATA_DIR       where everything is kept    (default ~/.lean-ctx): absolute, or from ~
//	LEAN_CTX_PROJECT_ROOT   the project                 (default: where the client works, else the working directory)
//	LEAN_CTX_AGENT          the agent's id
//	LEAN_CTX_LOG            debug, info, warn, error    (default warn)
//	LEAN_CTX_MODELS_DIR     sentence transformers       (default: models in the data directory)
//	LEAN_CTX_HOOKS          off: hooks say nothing      (default on)
//	LEAN_CTX_SESSIONS       full, prompts, off: what is kept of clients' sessions
//	LEAN_CTX_SYNC_ACCEPT    1: sync takes in what waits for a person, for CI: not at a terminal (default 0)
//	LEAN_CTX_EMBEDDINGS_AUTO_DOWNLOAD   1: a server fetches one when it first needs it (default 0)
//
// The files are JSON objects: config.json for the user, .lean-ctx.json at the
// root of a project. JSON and not TOML or YAML, because `lean-ctx sensitive
// add` rewrites the file and the standard library reads and writes it.
//
//	{
//	  "worktrees": "share",            // or "isolate": a memory for each work tree
//	  "cross_project_search": true,    // false: search and agents stay in their own project
//	  "cross_project_write": false,    // true: an agent may write into another project that it names
//	  "auto_diary": true,              // false: hooks write no diary entry when a session ends
//	  "hooks": true,                   // false: hooks say nothing
//	  "sessions": "full",              // "prompts": keep only what users said; "off": nothing
//	  "sessions_days": 0,              // remove a session so many days after its last turn was kept; 0: never
//	  "sensitive": [{"id": "ticket", "pattern": "SEC-[0-9]{6}"}]
//	}
//
// A project's file comes with a clone, so it is not trusted. It can switch what crosses projects
// off, but not on again. It can add rules for secrets, but remove none. Its size and its rules are
// bounded, and a rule that matches ordinary words does not count. It takes out what looks like a
// secret, and [REDACTED:repository] stands for that. A file that cannot be read stops nothing.
package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"leanctx/internal/refusal"
)

// The environment variables.
const (
	varPrefix    = "LEAN_CTX_"
	DataDirVar   = varPrefix + "DATA_DIR"
	ProjectVar   = varPrefix + "PROJECT_ROOT"
	AgentVar     = varPrefix + "AGENT"
	LogVar       = varPrefix + "LOG"
	ModelsDirVar = varPrefix + "MODELS_DIR"
	HooksVar     = varPrefix + "HOOKS"
	SessionsVar  = varPrefix + "SESSIONS"
	DownloadVar  = varPrefix + "EMBEDDINGS_AUTO_DOWNLOAD"
	AcceptVar    = varPrefix + "SYNC_ACCEPT"
)

const (
	dataDirName   = ".lean-ctx"
	userFileName  = "config.json"
	projectFile   = ".lean-ctx.json"
	legacyDirName = "lean-ctx"
	modelsDirName = "models"
)

// Config holds the flags and the environment. Paths are absolute and clean.
type Config struct {
	DataDir   string
	Project   string     // where to look for the project: a path in it
	Named     bool       // a person named it, by the flag or by the environment
	Agent     string     // the agent's id; may be empty
	LogLevel  slog.Level // of the log on standard error
	ModelsDir string     // the directory of models for recall by meaning
	Legacy    []string   // data directories of the existing program, which are read and never written: DataDir, and two others if it is the default

	AutoDownload bool // a server may download a model
	HooksOff     bool // hooks of clients say nothing
	SyncAccept   bool // a sync takes in what waits for a person

	Sessions string // what the environment says of sessions; empty: nothing
}

// Adoptable are the data directories of the existing program that this user alone can have filled: what others put there would be
// taken for what was said here.
func (c *Config) Adoptable() []string {
	return slices.DeleteFunc(slices.Clone(c.Legacy), func(dir string) bool { return dir != c.DataDir && !ownedAlone(dir) })
}

// env is a variable's value. One of white space counts as not set.
func env(name string) string { return strings.TrimSpace(os.Getenv(name)) }

// ofProcess reports whether a path leads somewhere else in each process: /proc/self/cwd is where it runs. A
// repository's entry for a client would have our own program keep the memory within the repository.
func ofProcess(path string) bool {
	path = filepath.ToSlash(filepath.Clean(path))
	for _, dir := range []string{"/proc", "/dev/fd"} {
		if path == dir || strings.HasPrefix(path, dir+"/") {
			return true
		}
	}
	return false
}

// Load reads the environment; it opens no file. project and agent are the flags of these names.
func Load(project, agent string) (*Config, error) {
	c := &Config{DataDir: env(DataDirVar), Agent: cmp.Or(strings.TrimSpace(agent), env(AgentVar)), LogLevel: slog.LevelWarn}
	home, err := c.Home()
	if c.DataDir != "" && !filepath.IsAbs(c.DataDir) && !strings.HasPrefix(c.DataDir, "~") {
		// A client that expands no variables would make a directory in every project.
		return nil, &refusal.HintError{Problem: fmt.Sprintf("%s: %q is no absolute path", DataDirVar, c.DataDir), Hint: "give the whole path, or one that begins with ~"}
	}
	if ofProcess(c.DataDir) {
		return nil, &refusal.HintError{Problem: fmt.Sprintf("%s: %q is another directory for each process", DataDirVar, c.DataDir), Hint: "give the path of a directory of yours"}
	}
	if c.DataDir == "" {
		if err != nil {
			return nil, &refusal.HintError{Problem: "data directory: " + err.Error(), Hint: "set " + DataDirVar}
		}
		c.DataDir = filepath.Join(home, dataDirName)
	}
	root := env(ProjectVar)
	if strings.Contains(root, "${") { // the client did not expand its entry: that names nothing
		root = ""
	}
	c.Project = cmp.Or(project, root)
	c.Named = c.Project != ""
	c.Project = cmp.Or(c.Project, ".")
	c.ModelsDir = cmp.Or(env(ModelsDirVar), filepath.Join(c.DataDir, modelsDirName))
	if err := c.Paths(&c.DataDir, &c.Project, &c.ModelsDir); err != nil {
		return nil, err
	}
	if err := PrivateDir("data directory", c.DataDir); err != nil {
		return nil, err
	}
	c.Legacy = []string{c.DataDir}
	if env(DataDirVar) == "" {
		for _, at := range [][2]string{{"XDG_CONFIG_HOME", ".config"}, {"XDG_DATA_HOME", ".local/share"}} {
			dir := env(at[0])
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(home, at[1])
			}
			c.Legacy = append(c.Legacy, filepath.Join(dir, legacyDirName))
		}
	}
	if c.AutoDownload, err = isOn(DownloadVar, false); err != nil {
		return nil, err
	}
	if c.SyncAccept, err = isOn(AcceptVar, false); err != nil {
		return nil, err
	}
	hooks, err := isOn(HooksVar, true)
	if err != nil {
		return nil, err
	}
	c.HooksOff = !hooks
	if c.Sessions = strings.ToLower(env(SessionsVar)); c.Sessions != "" && !slices.Contains(sessionValues, c.Sessions) {
		return nil, &refusal.HintError{Problem: fmt.Sprintf("%s: %q is not a value", SessionsVar, env(SessionsVar)), Hint: "use full, prompts or off"}
	}
	if level := env(LogVar); level != "" {
		if err := c.LogLevel.UnmarshalText([]byte(level)); err != nil {
			return nil, &refusal.HintError{Problem: fmt.Sprintf("%s: %q is not a level", LogVar, level), Hint: "use debug, info, warn or error"}
		}
	}
	return c, nil
}

// isOn is the value of a variable that is on or off.
func isOn(name string, standard bool) (bool, error) {
	switch value := env(name); strings.ToLower(value) {
	case "":
		return standard, nil
	case "on", "1", "true":
		return true, nil
	case "off", "0", "false":
		return false, nil
	default:
		return false, &refusal.HintError{Problem: fmt.Sprintf("%s: %q is neither on nor off", name, value), Hint: "use on or off"}
	}
}

// Path makes a user's path absolute. ~ is the home directory; a relative path starts at the
// working directory.
func (c *Config) Path(p string) (string, error) {
	if rest, ok := strings.CutPrefix(p, "~"); ok {
		if rest != "" && !os.IsPathSeparator(rest[0]) {
			return "", &refusal.HintError{Problem: p + ": ~ of another user is not supported", Hint: "give the full path"}
		}
		home, err := c.Home()
		if err != nil {
			return "", err
		}
		return filepath.Join(home, rest), nil
	}
	if filepath.IsAbs(p) {
		return filepath.Clean(p), nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("working directory: %w", err)
	}
	if p != "" && os.IsPathSeparator(p[0]) { // on Windows: from the top of the drive
		return filepath.Join(filepath.VolumeName(dir), p), nil
	}
	return filepath.Join(dir, p), nil
}

// Paths makes those of some paths absolute that are given.
func (c *Config) Paths(paths ...*string) (err error) {
	for _, p := range paths {
		if *p != "" && err == nil {
			*p, err = c.Path(*p)
		}
	}
	return err
}

// Home is the user's home directory.
func (c *Config) Home() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no home directory: %w", err)
	}
	if !filepath.IsAbs(home) {
		return "", errors.New("no home directory: it is not an absolute path")
	}
	return home, nil
}

// clientVars are the variables in which clients tell a server or a hook the directories that
// are open in them. Several are a JSON list, or have commas or the system's sign between them.
var clientVars = []string{"CLAUDE_PROJECT_DIR", "WORKSPACE_FOLDER_PATHS", "CURSOR_PROJECT_DIR", "GEMINI_PROJECT_DIR", "QWEN_PROJECT_DIR", "DEVIN_PROJECT_DIR"}

// ClientRoots are the directories that the client says are open in it. A variable that it did
// not expand (${workspaceFolder}) names none.
func ClientRoots() []string {
	for _, name := range clientVars {
		value := env(name)
		if value == "" {
			continue
		}
		var all []string
		if info, err := os.Stat(value); err == nil && info.IsDir() {
			all = []string{value}
		} else if json.Unmarshal([]byte(value), &all) != nil {
			sign := ","
			if !strings.Contains(value, sign) {
				sign = string(filepath.ListSeparator)
			}
			all = strings.Split(value, sign)
		}
		all = slices.DeleteFunc(all, func(dir string) bool { return !filepath.IsAbs(strings.TrimSpace(dir)) })
		for i := range all {
			all[i] = filepath.Clean(strings.TrimSpace(all[i]))
		}
		if len(all) > 0 {
			return all
		}
	}
	return nil
}

// Getenv reads a variable of another program, such as the directory of its files.
func Getenv(name string) string { return os.Getenv(name) }

// Environ is the process's environment for a child process, without the variables above
// and with those of set.
func Environ(set map[string]string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, varPrefix) })
	for _, name := range slices.Sorted(maps.Keys(set)) {
		env = append(env, name+"="+set[name])
	}
	return env
}
