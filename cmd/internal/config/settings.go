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

	"leanctx/internal/prose"
	"leanctx/internal/secret"
)

// The values of "worktrees".
const (
	Share   = "share"   // work trees of one repository share one memory
	Isolate = "isolate" // each has its own
)

// Settings are the settings for one project.
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
	worktreesKey = "worktrees"
	crossKey     = "cross_project_search"
	diaryKey     = "auto_diary"
	hooksKey     = "hooks"
	sensitiveKey = "sensitive"
)

var knownKeys = [...]string{worktreesKey, crossKey, diaryKey, hooksKey, sensitiveKey}

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
func (c *Config) UserFile() string { return filepath.Join(c.ConfigDir, userFileName) }

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
	members, err := readMembers(path)
	if err != nil {
		return file{}, err
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if slices.Contains(knownKeys[:], key) {
			continue
		}
		if near, ok := prose.Nearest(key, knownKeys[:]); ok {
			s.warn(path, "unknown key %q, did you mean %q?", key, near)
		} else {
			s.warn(path, "unknown key %q", key)
		}
	}
	return parse(path, members)
}

// readMembers reads a JSON object without decoding its members. A missing file is an empty
// object.
func readMembers(path string) (map[string]json.RawMessage, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	if len(data) == 0 {
		return nil, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, &Error{What: path, Problem: "not a JSON object: " + place(data, err), Advice: "fix the file or move it away"}
	}
	return members, nil
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

func parse(path string, members map[string]json.RawMessage) (file, error) {
	var f file
	into := map[string]any{worktreesKey: &f.Worktrees, crossKey: &f.CrossProjectSearch, diaryKey: &f.AutoDiary, hooksKey: &f.Hooks, sensitiveKey: &f.Sensitive}
	wants := map[string]string{
		worktreesKey: `must be "share" or "isolate"`,
		crossKey:     "must be true or false",
		diaryKey:     "must be true or false",
		hooksKey:     "must be true or false",
		sensitiveKey: `must be a list of {"id": …, "pattern": …}`,
	}
	for _, key := range knownKeys {
		raw, ok := members[key]
		if !ok {
			continue
		}
		if err := json.Unmarshal(raw, into[key]); err != nil {
			return f, &Error{What: path, Problem: key + " " + wants[key], Advice: "fix the file"}
		}
	}
	if w := f.Worktrees; w != nil && *w != Share && *w != Isolate {
		return f, &Error{What: path, Problem: fmt.Sprintf("%s %s, not %q", worktreesKey, wants[worktreesKey], *w), Advice: "fix the file"}
	}
	if err := check(path, f.Sensitive); err != nil {
		return f, err
	}
	return f, nil
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
