package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"leanctx/internal/args"
	"leanctx/internal/atomicfile"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/internal/secret"
)

// The values of "worktrees".
const (
	Share   = "share"   // work trees of one repository share one memory
	Isolate = "isolate" // each has its own
)

// The values of "sessions", the narrowest last.
const (
	SessionsFull    = "full"    // what was said and done is kept, once somebody has said so
	SessionsPrompts = "prompts" // only what users said
	SessionsOff     = "off"     // nothing
)

var sessionValues = []string{SessionsFull, SessionsPrompts, SessionsOff}

// Settings are the settings for one project. The members of a configuration file have these
// names. What a file leaves out keeps its value.
type Settings struct {
	Worktrees          string        `json:"worktrees"`
	CrossProjectSearch bool          `json:"cross_project_search"`
	CrossProjectWrite  bool          `json:"cross_project_write"` // an agent may write into a project that it names
	AutoDiary          bool          `json:"auto_diary"`          // hooks may end a session with a diary entry
	Hooks              bool          `json:"hooks"`               // hooks may say something
	Sessions           string        `json:"sessions"`            // what is kept of clients' sessions
	SessionsDays       int           `json:"sessions_days"`       // for how many days a session is kept; 0: until it is erased
	Sensitive          []secret.Rule `json:"sensitive"`           // the user's
	Brought            []secret.Rule `json:"-"`                   // the project's; which of them count is found out when they are needed
	Warnings           []string      `json:"-"`                   // unknown keys of the user's file
	Repository         []string      `json:"-"`                   // what the project's file says beside its rules that does not count

	broughtBy string // the project's file; empty: there is none

	// Changes is what the project's file switches off, or adds to what is redacted: for a person too.
	Changes []string `json:"-"`
}

const sensitiveKey = "sensitive"

// wants says what the value of each key must be.
var wants = map[string]string{
	"worktrees":            `must be "share" or "isolate"`,
	"cross_project_search": "must be true or false",
	"cross_project_write":  "must be true or false",
	"auto_diary":           "must be true or false",
	"hooks":                "must be true or false",
	"sessions":             `must be "full", "prompts" or "off"`,
	"sessions_days":        "must be a number of days, 0 for ever",
	sensitiveKey:           `must be a list of {"id": …, "pattern": …}`,
}

// narrow has a member of a project's settings be no wider than the user's: a clone cannot open what
// the user closed. It says what the project's file cannot do; empty: nothing. The rules of
// "sensitive" are added to the user's.
var narrow = map[string]func(project *Settings, user Settings) (opens string){
	"worktrees": func(s *Settings, user Settings) string {
		if s.Worktrees == Isolate || user.Worktrees == Share {
			return ""
		}
		s.Worktrees = user.Worktrees
		return `cannot be "share"`
	},
	"cross_project_search": switched(func(s *Settings) *bool { return &s.CrossProjectSearch }),
	"cross_project_write":  switched(func(s *Settings) *bool { return &s.CrossProjectWrite }),
	"auto_diary":           switched(func(s *Settings) *bool { return &s.AutoDiary }),
	"hooks":                switched(func(s *Settings) *bool { return &s.Hooks }),
	"sessions": func(s *Settings, user Settings) string {
		if slices.Index(sessionValues, s.Sessions) >= slices.Index(sessionValues, user.Sessions) {
			return ""
		}
		wider := s.Sessions
		s.Sessions = user.Sessions
		return fmt.Sprintf("cannot be %q", wider)
	},
	// A clone does not remove what was said here.
	"sessions_days": func(s *Settings, user Settings) string {
		if s.SessionsDays == user.SessionsDays {
			return ""
		}
		s.SessionsDays = user.SessionsDays
		return "is for the user's configuration"
	},
}

// switched is the rule of a member that a project can only switch off.
func switched(of func(*Settings) *bool) func(*Settings, Settings) string {
	return func(s *Settings, user Settings) string {
		if on := of(s); *on && !*of(&user) {
			*on = false
			return "cannot be switched on"
		}
		return ""
	}
}

func defaults() Settings {
	return Settings{Worktrees: Share, CrossProjectSearch: true, AutoDiary: true, Hooks: true, Sessions: SessionsFull}
}

// UserFile is the path of the user's configuration file.
func (c *Config) UserFile() string { return filepath.Join(c.DataDir, userFileName) }

// For reads the settings for dir, from the user's file and the project's. That is the nearest one
// in dir or above it, up to root, the top of the project; none if root is empty. It must be a
// regular file of this user or root: anybody can put one into a directory that is shared. A
// missing file sets nothing. A malformed file of the user's is an error, because a wrong guess could
// leak data; one of a project closes what it can.
func (c *Config) For(dir, root string) (Settings, error) {
	user, err := c.User()
	if err != nil {
		return user, err
	}
	path := findProjectFile(dir, root)
	if path == "" {
		return user, nil
	}
	s := user
	s.Sensitive, s.Warnings = nil, nil
	if _, err := s.read(c, path, brought); err != nil {
		// Anybody could stop the whole program with such a file. It counts as one that closes what it can.
		s = user
		s.CrossProjectSearch, s.CrossProjectWrite, s.AutoDiary, s.Sessions = false, false, false, SessionsOff
		s.broughtBy, s.Repository = path, []string{prose.Line(prose.Clip(err.Error(), maxProblem)) + ": until it is mended this project's sessions are not kept, and nothing crosses projects"}
		return s, nil
	}
	for _, key := range slices.Sorted(maps.Keys(narrow)) {
		if opens := narrow[key](&s, user); opens != "" {
			s.warn(path, "%s %s here, only in %s", key, opens, c.UserFile())
		}
	}
	s.Changes = changed(path, &s, &user)
	s.Brought, s.Sensitive = s.Sensitive, user.Sensitive
	s.broughtBy, s.Repository, s.Warnings = path, s.Warnings, user.Warnings
	return s, nil
}

// maxProblem is how much of what is wrong with a project's file is told.
const maxProblem = 300

// changed is what a project's file makes of the user's settings.
func changed(path string, project, user *Settings) (changes []string) {
	for _, x := range []struct {
		key           string
		project, user bool
	}{
		{"hooks", project.Hooks, user.Hooks}, {"auto_diary", project.AutoDiary, user.AutoDiary},
		{"cross_project_search", project.CrossProjectSearch, user.CrossProjectSearch}, {"cross_project_write", project.CrossProjectWrite, user.CrossProjectWrite},
	} {
		if x.user && !x.project {
			changes = append(changes, fmt.Sprintf("%s switches off %s", path, x.key))
		}
	}
	if project.Worktrees != user.Worktrees {
		changes = append(changes, fmt.Sprintf("%s gives each work tree a memory of its own (worktrees)", path))
	}
	if project.Sessions != user.Sessions {
		changes = append(changes, fmt.Sprintf("%s keeps less of sessions (sessions: %s)", path, project.Sessions))
	}
	if n := len(project.Sensitive); n > 0 {
		changes = append(changes, fmt.Sprintf("%s has %s for what is redacted (sensitive)", path, prose.Count(n, "rule")))
	}
	return changes
}

// User are the user's own settings, whatever a project says.
func (c *Config) User() (Settings, error) {
	user := defaults()
	_, err := user.read(c, c.UserFile(), own)
	if c.Sessions != "" {
		user.Sessions = c.Sessions
	}
	return user, err
}

// The two kinds of files.
const (
	own     = false // the user's
	brought = true  // that of a project, which came with its repository
)

// maxTold is how much is told of a project's file.
const maxTold = 10

func tooMuch(path, most string) error {
	return &refusal.HintError{Problem: path + ": has more than " + most, Hint: "make it smaller, or move it away"}
}

func (s *Settings) warn(path, format string, args ...any) {
	s.Warnings = append(s.Warnings, path+": "+fmt.Sprintf(format, args...))
}

// read reads a file, and returns its members as they are written. A missing file is an empty
// object.
func (s *Settings) read(c *Config, path string, brought bool) (members map[string]json.RawMessage, err error) {
	most := int64(math.MaxInt64 - 1)
	if brought {
		most = maxProjectFile
	}
	data, err := args.File("", path, most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if errors.Is(err, args.ErrTooLarge) {
		return nil, tooMuch(path, "64 KiB")
	}
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	if len(data) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(data, &members); err != nil {
		problem := err.Error()
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			problem = fmt.Sprintf("line %d: %v", 1+bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n")), err)
		}
		return nil, &refusal.HintError{Problem: path + ": not a JSON object: " + problem, Hint: "fix the file or move it away"}
	}
	known := slices.Sorted(maps.Keys(wants))
	for _, key := range slices.Sorted(maps.Keys(members)) {
		near, ok := prose.Nearest(key, known)
		switch {
		case slices.Contains(known, key):
		case ok:
			s.warn(path, "unknown key %q, did you mean %q?", prose.Line(key), near)
		default:
			s.warn(path, "unknown key %q", prose.Line(prose.Clip(key, 64)))
		}
	}
	if err := json.Unmarshal(data, s); err != nil {
		problem := err.Error()
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			key, _, _ := strings.Cut(wrong.Field, ".")
			problem = key + " " + wants[key]
		}
		return nil, &refusal.HintError{Problem: path + ": " + problem, Hint: "fix the file"}
	}
	if s.Worktrees != Share && s.Worktrees != Isolate {
		return nil, &refusal.HintError{Problem: fmt.Sprintf("%s: worktrees %s, not %q", path, wants["worktrees"], s.Worktrees), Hint: "fix the file"}
	}
	if !slices.Contains(sessionValues, s.Sessions) {
		return nil, &refusal.HintError{Problem: fmt.Sprintf("%s: sessions %s, not %q", path, wants["sessions"], s.Sessions), Hint: "fix the file"}
	}
	if s.SessionsDays < 0 {
		return nil, &refusal.HintError{Problem: fmt.Sprintf("%s: sessions_days %s, not %d", path, wants["sessions_days"], s.SessionsDays), Hint: "fix the file"}
	}
	if brought {
		return members, nil
	}
	return members, check(path, s.Sensitive)
}

// AddRule writes a rule into the user's file. It replaces a rule of the same name and keeps
// everything else.
func (c *Config) AddRule(r secret.Rule) error {
	path := c.UserFile()
	s := defaults()
	members, err := s.read(c, path, own)
	if err != nil {
		return err
	}
	rules := append(slices.DeleteFunc(s.Sensitive, func(old secret.Rule) bool { return old.ID == r.ID }), r)
	if err := check("the rule", rules); err != nil {
		return err
	}
	if members == nil {
		members = map[string]json.RawMessage{}
	}
	if members[sensitiveKey], err = json.Marshal(rules); err != nil {
		return err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(members); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	return atomicfile.WriteFile(path, out.Bytes(), atomicfile.Options{Sync: true})
}

// check refuses invalid rules and rules that would redact everything.
func check(path string, rules []secret.Rule) error {
	if len(rules) == 0 {
		return nil
	}
	if _, err := secret.New(rules); err != nil {
		return &refusal.HintError{Problem: path + ": " + err.Error(), Hint: "a rule has an id and a pattern, which is a Go regular expression (RE2)"}
	}
	return nil
}

// findProjectFile looks in dir and its parents, up to root.
func findProjectFile(dir, root string) string {
	if root == "" {
		return ""
	}
	same := dir == root
	for _, name := range []*string{&root, &dir} {
		if same && name == &dir {
			dir = root
		} else if real, err := filepath.EvalSymlinks(*name); err == nil {
			*name = real
		}
	}
	if rel, err := filepath.Rel(root, dir); err != nil || !filepath.IsLocal(rel) {
		dir = root
	}
	for at := dir; ; at = filepath.Dir(at) {
		path := filepath.Join(at, projectFile)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && atomicfile.Owned(info) {
			return path
		}
		if at == root || filepath.Dir(at) == at {
			return ""
		}
	}
}
