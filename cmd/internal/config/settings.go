package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"leanctx/internal/prose"
	"leanctx/internal/secret"
)

// The values of "worktrees".
const (
	Share   = "share"   // work trees of one repository share one memory
	Isolate = "isolate" // each has its own
)

// Settings are the settings for one project. The members of a configuration file have these
// names. What a file leaves out keeps its value.
type Settings struct {
	Worktrees          string
	CrossProjectSearch bool
	AutoDiary          bool          // hooks may end a session with a diary entry
	Hooks              bool          // hooks may say something
	Sensitive          []secret.Rule // the user's, then the project's
	Warnings           []string      // unknown keys, and settings a project's file may not have
}

// file is a configuration file. A nil member is not set.
type file struct {
	Worktrees          *string       `json:"worktrees"`
	CrossProjectSearch *bool         `json:"cross_project_search"`
	AutoDiary          *bool         `json:"auto_diary"`
	Hooks              *bool         `json:"hooks"`
	Sensitive          []secret.Rule `json:"sensitive"`
}

const (
	crossKey     = "cross_project_search"
	sensitiveKey = "sensitive"
)

// wants says what the value of each key must be.
var wants = map[string]string{
	"worktrees":  `must be "share" or "isolate"`,
	crossKey:     "must be true or false",
	"auto_diary": "must be true or false",
	"hooks":      "must be true or false",
	sensitiveKey: `must be a list of {"id": …, "pattern": …}`,
}

// For reads the settings for the project that contains dir, from the user's and the
// project's file. A missing file sets nothing. A malformed file is an error, because a
// wrong guess could leak data.
func (c *Config) For(dir string) (Settings, error) {
	s := Settings{Worktrees: Share, CrossProjectSearch: true, AutoDiary: true, Hooks: true}
	user, err := s.read(c.UserFile())
	if err != nil {
		return s, err
	}
	project, err := s.project(dir, user, c.UserFile())
	if err != nil {
		return s, err
	}
	for _, f := range []file{user, project} {
		if f.Worktrees != nil {
			s.Worktrees = *f.Worktrees
		}
		if f.CrossProjectSearch != nil {
			s.CrossProjectSearch = *f.CrossProjectSearch
		}
		if f.AutoDiary != nil {
			s.AutoDiary = s.AutoDiary && *f.AutoDiary // either file can switch it off
		}
		if f.Hooks != nil {
			s.Hooks = s.Hooks && *f.Hooks
		}
	}
	s.Sensitive = append(user.Sensitive, project.Sensitive...)
	return s, nil
}

// UserFile is the path of the user's configuration file.
func (c *Config) UserFile() string { return filepath.Join(c.DataDir, userFileName) }

func (s *Settings) warn(path, format string, args ...any) {
	s.Warnings = append(s.Warnings, path+": "+fmt.Sprintf(format, args...))
}

// project reads the project's file and drops what a cloned file may not set.
func (s *Settings) project(dir string, user file, userFile string) (file, error) {
	path := findProjectFile(dir)
	if path == "" {
		return file{}, nil
	}
	f, err := s.read(path)
	if err != nil {
		return f, err
	}
	if on, allowed := f.CrossProjectSearch, user.CrossProjectSearch; on != nil && *on && allowed != nil && !*allowed {
		s.warn(path, "%s was switched off in %s and cannot be switched on here", crossKey, userFile)
		f.CrossProjectSearch = nil
	}
	f.Sensitive = slices.DeleteFunc(f.Sensitive, func(r secret.Rule) bool {
		twice := slices.ContainsFunc(user.Sensitive, func(u secret.Rule) bool { return u.ID == r.ID })
		if twice {
			s.warn(path, "the rule %q of %s counts", r.ID, userFile)
		}
		return twice
	})
	return f, nil
}

func (s *Settings) read(path string) (file, error) {
	f, members, err := readFile(path)
	known := slices.Sorted(maps.Keys(wants))
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if slices.Contains(known, key) {
			continue
		}
		if near, ok := prose.Nearest(key, known); ok {
			s.warn(path, "unknown key %q, did you mean %q?", key, near)
		} else {
			s.warn(path, "unknown key %q", key)
		}
	}
	return f, err
}

// readFile reads a file, and its members without decoding them. A missing file is an empty
// object.
func readFile(path string) (f file, members map[string]json.RawMessage, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil, nil
	}
	if err != nil {
		return f, nil, fmt.Errorf("configuration: %w", err)
	}
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	if len(data) == 0 {
		return f, nil, nil
	}
	if err := json.Unmarshal(data, &members); err != nil {
		return f, nil, &Error{What: path, Problem: "not a JSON object: " + place(data, err), Advice: "fix the file or move it away"}
	}
	if err := json.Unmarshal(data, &f); err != nil {
		problem := err.Error()
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			key, _, _ := strings.Cut(wrong.Field, ".")
			problem = key + " " + wants[key]
		}
		return f, nil, &Error{What: path, Problem: problem, Advice: "fix the file"}
	}
	if w := f.Worktrees; w != nil && *w != Share && *w != Isolate {
		return f, nil, &Error{What: path, Problem: fmt.Sprintf("worktrees %s, not %q", wants["worktrees"], *w), Advice: "fix the file"}
	}
	return f, members, check(path, f.Sensitive)
}

// place adds the line number to a JSON error.
func place(data []byte, err error) string {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return err.Error()
	}
	line := 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
	return fmt.Sprintf("line %d: %v", line, err)
}

// check refuses invalid rules and rules that would redact everything.
func check(path string, rules []secret.Rule) error {
	if len(rules) == 0 {
		return nil
	}
	if _, err := secret.New(rules); err != nil {
		return &Error{What: path, Problem: err.Error(), Advice: "patterns are Go regular expressions (RE2)"}
	}
	return nil
}

// findProjectFile looks in dir and its parents, up to the root of the Git work tree.
// Outside of one it looks only in dir: a parent does not belong to the project.
func findProjectFile(dir string) string {
	dir = filepath.Clean(dir)
	found := ""
	for at := dir; ; at = filepath.Dir(at) {
		path := filepath.Join(at, projectFile)
		if info, err := os.Stat(path); found == "" && err == nil && info.Mode().IsRegular() {
			found = path
		}
		if _, err := os.Lstat(filepath.Join(at, gitMarkerName)); err == nil {
			return found
		}
		if filepath.Dir(at) == at {
			break
		}
	}
	if filepath.Dir(found) != dir {
		return ""
	}
	return found
}
