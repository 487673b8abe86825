package config

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"leanctx/internal/refusal"
)

// dirs is where the process of a test is: in work, with the home directory home. Both are
// below root.
type dirs struct{ root, home, work string }

// at puts the process there, with the variables of env and no others of ours.
func at(t *testing.T, env map[string]string) dirs {
	t.Helper()
	root := t.TempDir()
	p := dirs{root, filepath.Join(root, "h"), filepath.Join(root, "w")}
	for _, dir := range []string{p.home, p.work} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(p.work)
	for _, name := range []string{DataDirVar, ProjectVar, AgentVar, LogVar, ModelsDirVar, HooksVar, DownloadVar, "XDG_CONFIG_HOME", "XDG_DATA_HOME"} {
		t.Setenv(name, env[name])
	}
	t.Setenv("HOME", p.home)
	t.Setenv("USERPROFILE", p.home)
	return p
}

// path is a path of a table: /h and /w are the two directories.
func (p dirs) path(s string) string {
	if top, _, _ := strings.Cut(strings.TrimPrefix(s, "/"), "/"); top == "h" || top == "w" {
		return filepath.Join(p.root, filepath.FromSlash(s))
	}
	return filepath.FromSlash(s)
}

func TestLoad(t *testing.T) {
	for _, tt := range []struct {
		name                      string
		env                       map[string]string
		projectFlag, agentFlag    string
		data, project, agent, log string
	}{
		{"nothing set", nil, "", "", "/h/.lean-ctx", "/w", "", "WARN"},
		{"set to nothing", map[string]string{DataDirVar: "  ", ProjectVar: " ", AgentVar: "\t", LogVar: ""}, "", "", "/h/.lean-ctx", "/w", "", "WARN"},
		{"environment", map[string]string{DataDirVar: "/d", ProjectVar: "/p", AgentVar: "cursor-a3f8", LogVar: "debug"}, "", "", "/d", "/p", "cursor-a3f8", "DEBUG"},
		{"data directory alone", map[string]string{DataDirVar: "/d"}, "", "", "/d", "/w", "", "WARN"},
		{"flags before environment", map[string]string{ProjectVar: "/p", AgentVar: "cursor-a3f8"}, "/q", "claude-1111", "/h/.lean-ctx", "/q", "claude-1111", "WARN"},
		{"relative", map[string]string{ProjectVar: "../h"}, "", "", "/h/.lean-ctx", "/h", "", "WARN"},
		{"not expanded by the client", map[string]string{ProjectVar: "${workspaceFolder}"}, "", "", "/h/.lean-ctx", "/w", "", "WARN"},
		{"home", map[string]string{DataDirVar: "~/d", ProjectVar: "~/p/"}, "", "", "/h/d", "/h/p", "", "WARN"},
		{"a tilde inside is a letter", map[string]string{DataDirVar: "/d/~/x"}, "", "", "/d/~/x", "/w", "", "WARN"},
		{"white space around", map[string]string{DataDirVar: " /d ", AgentVar: " a-1 "}, "", "", "/d", "/w", "a-1", "WARN"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := at(t, tt.env)
			c, err := Load(tt.projectFlag, tt.agentFlag)
			if err != nil {
				t.Fatal(err)
			}
			if c.DataDir != p.path(tt.data) || c.Project != p.path(tt.project) {
				t.Errorf("got %s and %s, want %s and %s", c.DataDir, c.Project, tt.data, tt.project)
			}
			if c.Agent != tt.agent || c.LogLevel.String() != tt.log {
				t.Errorf("agent %q, log %v, want %q, %s", c.Agent, c.LogLevel, tt.agent, tt.log)
			}
		})
	}
}

// withoutHome takes the home directory from the process.
func withoutHome(t *testing.T) {
	t.Setenv("HOME", "")
	t.Setenv("USERPROFILE", "")
}

func TestLoadWithoutHome(t *testing.T) {
	at(t, nil)
	withoutHome(t)
	_, err := Load("", "")
	if e, ok := errors.AsType[*refusal.HintError](err); !ok || !strings.Contains(e.Hint, DataDirVar) {
		t.Errorf("got %v, want an error that names %s", err, DataDirVar)
	}
	t.Setenv(DataDirVar, "/d")
	c, err := Load("", "")
	if err != nil || c.DataDir != filepath.FromSlash("/d") {
		t.Errorf("a data directory is enough: got %v, %v", c, err)
	}
	if _, err := c.Path("~/x"); err == nil {
		t.Error("~ without a home directory was expanded")
	}
	at(t, nil)
	t.Setenv("HOME", "h")
	t.Setenv("USERPROFILE", "h")
	if _, err := Load("", ""); err == nil {
		t.Error("a relative home directory was taken")
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"data directory: relative":   {DataDirVar: "mem"},
		"data directory: dots":       {DataDirVar: "../mem"},
		"data directory: a variable": {DataDirVar: "${HOME}/mem"},
		"data directory: $HOME":      {DataDirVar: "$HOME/mem"},
		"data directory: quoted":     {DataDirVar: `"/mem"`},
		"another's home":             {DataDirVar: "~bob/x"},
		"another's home, project":    {ProjectVar: "~bob"},
		"another's home, models":     {ModelsDirVar: "~bob"},
		"no such level":              {LogVar: "loud"},
	} {
		at(t, env)
		if _, err := Load("", ""); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Neither a home nor a working directory is needed if all paths are given.
func TestLoadWithoutWorkingDirectory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a working directory cannot be removed there")
	}
	p := at(t, nil)
	if err := os.Remove(p.work); err != nil {
		t.Fatal(err)
	}
	if _, err := Load("", ""); err == nil {
		t.Error("no working directory: no error")
	}
	t.Setenv(ProjectVar, "/p")
	t.Setenv(DataDirVar, "d")
	if _, err := Load("", ""); err == nil {
		t.Error("relative without a working directory: no error")
	}
	t.Setenv(DataDirVar, "/d")
	withoutHome(t)
	if c, err := Load("", ""); err != nil || c.LogLevel != slog.LevelWarn {
		t.Error(err)
	}
}

func TestEnviron(t *testing.T) {
	t.Setenv(AgentVar, "cursor-a3f8")
	t.Setenv("OTHER", "kept")
	got := Environ(map[string]string{DataDirVar: "/d"})
	var ours []string
	for _, v := range got {
		if strings.HasPrefix(v, varPrefix) {
			ours = append(ours, v)
		}
	}
	if len(ours) != 1 || ours[0] != DataDirVar+"=/d" || !slices.Contains(got, "OTHER=kept") {
		t.Errorf("got %v", got)
	}
}

func TestLegacy(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want []string
	}{
		{nil, []string{"/h/.lean-ctx", "/h/.config/lean-ctx", "/h/.local/share/lean-ctx"}},
		{map[string]string{"XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "relative"}, []string{"/h/.lean-ctx", "/c/lean-ctx", "/h/.local/share/lean-ctx"}},
		{map[string]string{DataDirVar: "/d"}, []string{"/d"}},
	} {
		p := at(t, tt.env)
		c, err := Load("", "")
		if err != nil {
			t.Fatal(err)
		}
		for i, dir := range tt.want {
			tt.want[i] = p.path(dir)
		}
		if !slices.Equal(c.Legacy, tt.want) {
			t.Errorf("got %v, want %v", c.Legacy, tt.want)
		}
	}
}

// Hooks are switched off by one variable, in the words that people try.
func TestHooksOff(t *testing.T) {
	for value, want := range map[string]bool{"": false, "on": false, "1": false, "off": true, "OFF": true, "0": true, "false": true} {
		t.Setenv(HooksVar, value)
		c, err := Load("", "")
		if err != nil || c.HooksOff != want {
			t.Errorf("%q: %v, %v", value, c.HooksOff, err)
		}
	}
	t.Setenv(HooksVar, "perhaps")
	if _, err := Load("", ""); err == nil {
		t.Error("perhaps is neither on nor off")
	}
}

// Clients write several directories in one of three ways.
func TestClientRoots(t *testing.T) {
	p := at(t, nil)
	sign := string(filepath.ListSeparator)
	for _, name := range clientVars {
		t.Setenv(name, "")
	}
	if got := ClientRoots(); got != nil {
		t.Errorf("nothing set: %q", got)
	}
	with := filepath.Join(p.root, "a,b")
	if err := os.Mkdir(with, 0o700); err != nil {
		t.Fatal(err)
	}
	one, two := filepath.Join(p.root, "h"), filepath.Join(p.root, "w")
	for value, want := range map[string][]string{
		one: {one}, one + "," + two: {one, two}, one + sign + two: {one, two}, with: {with},
		`["` + filepath.ToSlash(one) + `","` + filepath.ToSlash(two) + `"]`: {one, two},
		"${workspaceFolder}": nil, "relative": nil, one + ", relative": {one}, "[1]": nil, " ": nil,
	} {
		t.Setenv("WORKSPACE_FOLDER_PATHS", value)
		if got := ClientRoots(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
	t.Setenv("CLAUDE_PROJECT_DIR", two)
	if got := ClientRoots(); !slices.Equal(got, []string{two}) {
		t.Errorf("%q", got)
	}
}
