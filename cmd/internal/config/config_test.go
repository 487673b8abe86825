package config

import (
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// at is a process in /w with the home directory /h.
func at(env map[string]string, more ...func(*Options)) *Options {
	o := &Options{
		Getenv:  func(name string) string { return env[name] },
		HomeDir: func() (string, error) { return filepath.FromSlash("/h"), nil },
		WorkDir: func() (string, error) { return filepath.FromSlash("/w"), nil },
	}
	for _, f := range more {
		f(o)
	}
	return o
}

func TestLoad(t *testing.T) {
	flags := func(project, agent string) func(*Options) {
		return func(o *Options) { o.Project, o.Agent = project, agent }
	}
	tests := []struct {
		name                       string
		options                    *Options
		data, project, agent, logs string
	}{
		{"nothing said", at(nil), "/h/.lean-ctx", "/w", "", "WARN"},
		{"set to nothing", at(map[string]string{DataDirVar: "  ", ProjectVar: " ", AgentVar: "\t", LogVar: ""}),
			"/h/.lean-ctx", "/w", "", "WARN"},
		{"environment", at(map[string]string{DataDirVar: "/d", ProjectVar: "/p", AgentVar: "cursor-a3f8", LogVar: "debug"}),
			"/d", "/p", "cursor-a3f8", "DEBUG"},
		{"the configuration lies with the data", at(map[string]string{DataDirVar: "/d"}), "/d", "/w", "", "WARN"},
		{"flags before environment", at(map[string]string{ProjectVar: "/p", AgentVar: "cursor-a3f8"}, flags("/q", "claude-1111")),
			"/h/.lean-ctx", "/q", "claude-1111", "WARN"},
		{"relative", at(map[string]string{DataDirVar: "d/../e", ProjectVar: ".."}), "/w/e", "/", "", "WARN"},
		{"home", at(map[string]string{DataDirVar: "~/d", ProjectVar: "~/p/"}), "/h/d", "/h/p", "", "WARN"},
		{"a tilde inside is a letter", at(map[string]string{DataDirVar: "/d/~/x"}), "/d/~/x", "/w", "", "WARN"},
		{"white space around", at(map[string]string{DataDirVar: " /d ", AgentVar: " a-1 "}), "/d", "/w", "a-1", "WARN"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Load(tt.options)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range [][2]string{{c.DataDir, tt.data}, {c.Project, tt.project}} {
				if p[0] != filepath.FromSlash(p[1]) {
					t.Errorf("got %s, want %s", p[0], p[1])
				}
			}
			if c.Agent != tt.agent || c.LogLevel.String() != tt.logs {
				t.Errorf("agent %q, log %v, want %q, %s", c.Agent, c.LogLevel, tt.agent, tt.logs)
			}
		})
	}
}

func homeless(o *Options) {
	o.HomeDir = func() (string, error) { return "", errors.New("$HOME is not defined") }
}

func TestLoadWithoutHome(t *testing.T) {
	_, err := Load(at(nil, homeless))
	if e, ok := errors.AsType[*Error](err); !ok || !strings.Contains(e.Hint(), DataDirVar) {
		t.Errorf("got %v, want an error that names %s", err, DataDirVar)
	}
	c, err := Load(at(map[string]string{DataDirVar: "/d"}, homeless))
	if err != nil || c.DataDir != filepath.FromSlash("/d") {
		t.Errorf("a data directory is enough: got %v, %v", c, err)
	}
	if _, err := c.Path("~/x"); err == nil {
		t.Error("~ without a home directory was expanded")
	}
	if _, err := Load(at(nil, func(o *Options) { o.HomeDir = func() (string, error) { return "h", nil } })); err == nil {
		t.Error("a relative home directory was taken")
	}
}

func TestLoadRefuses(t *testing.T) {
	gone := func(o *Options) { o.WorkDir = func() (string, error) { return "", errors.New("gone") } }
	for name, o := range map[string]*Options{
		"another's home":             at(map[string]string{DataDirVar: "~bob/x"}),
		"another's home, project":    at(map[string]string{ProjectVar: "~bob"}),
		"another's home, models":     at(map[string]string{ModelsDirVar: "~bob"}),
		"no such level":              at(map[string]string{LogVar: "loud"}),
		"no working directory":       at(nil, gone),
		"relative without directory": at(map[string]string{DataDirVar: "d"}, gone),
	} {
		if _, err := Load(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	c, err := Load(at(map[string]string{DataDirVar: "/d", ProjectVar: "/p"}, gone, homeless))
	if err != nil || c.LogLevel != slog.LevelWarn {
		t.Errorf("neither home nor working directory is needed when all is said: %v", err)
	}
}

func TestLoadOfTheProcess(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(DataDirVar, dir)
	c, err := Load(nil)
	if err != nil || c.DataDir != dir || !filepath.IsAbs(c.Project) {
		t.Errorf("got %+v, %v", c, err)
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
		c, err := Load(at(tt.env))
		if err != nil {
			t.Fatal(err)
		}
		for i, dir := range tt.want {
			tt.want[i] = filepath.FromSlash(dir)
		}
		if !slices.Equal(c.Legacy, tt.want) {
			t.Errorf("got %v, want %v", c.Legacy, tt.want)
		}
	}
}

// Hooks are switched off by one variable, in the words that people try.
func TestHooksOff(t *testing.T) {
	for value, want := range map[string]bool{"": false, "on": false, "1": false, "off": true, "OFF": true, "0": true, "false": true} {
		c, err := Load(&Options{Getenv: func(name string) string {
			if name == HooksVar {
				return value
			}
			return ""
		}})
		if err != nil || c.HooksOff != want {
			t.Errorf("%q: %v, %v", value, c.HooksOff, err)
		}
	}
	if _, err := Load(&Options{Getenv: func(string) string { return "perhaps" }}); err == nil {
		t.Error("perhaps is neither on nor off")
	}
}
