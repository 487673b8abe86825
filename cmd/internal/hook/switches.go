package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
)

// toggle is a switch of a client that turns us off. Of several files, separated by |, the first one
// that has the value decides.
type toggle struct {
	file  string
	keys  []string
	off   any   // the value that turns us off; for a list see lists
	lists bool  // a list that names us turns us off
	lacks bool  // a list that does not name us turns us off
	hooks bool  // it is about the hooks, not about the server
	scope Scope // for entries of this scope alone; empty: all
}

// is says whether a value turns off the server or the hooks of our name.
func (t toggle) is(value any, names []string) bool {
	list, isList := value.([]any)
	switch {
	case t.lists || t.lacks:
		named := slices.ContainsFunc(list, func(x any) bool {
			if m, ok := x.(map[string]any); ok {
				x = m["serverName"]
			}
			name, _ := x.(string)
			return slices.Contains(names, name) || t.hooks && ownCommand().MatchString(name)
		})
		return isList && named == t.lists
	default:
		return value == t.off
	}
}

// name is how the switch is written in its file.
func (t toggle) name() string { return strings.Join(t.keys, ".") }

// turnedOff says which switches of a client turn off its server in a scope, or its hooks.
func (m Machine) turnedOff(c *client, scope Scope, hooks bool) (found []string) {
	for _, t := range c.toggles {
		if t.hooks != hooks || t.scope != "" && t.scope != scope {
			continue
		}
		keys := slices.Clone(t.keys)
		for i, k := range keys {
			keys[i] = strings.ReplaceAll(k, "{project}", filepath.ToSlash(m.Root))
		}
		for file := range strings.SplitSeq(t.file, "|") {
			path := m.expand(file)
			value, ok := m.setting(path, keys)
			if !ok {
				continue
			}
			names := []string{server}
			if t.lacks {
				names = append(names, "*")
			}
			if t.is(value, names) {
				found = append(found, fmt.Sprintf("%s in %s", toggle{keys: keys}.name(), path))
			}
			if !t.lists {
				break
			}
		}
	}
	return found
}

// setting is a value of a client's file.
func (m Machine) setting(path string, keys []string) (value any, ok bool) {
	f, err := readFile(path)
	if err != nil || f.new {
		return nil, false
	}
	kind := jsonc
	if filepath.Ext(path) == ".toml" {
		kind = toml
	}
	if kind == jsonc && len(keys) > 0 {
		file, err := parseJSON(bytes.TrimPrefix(f.data, []byte(bom)))
		if err != nil {
			return nil, false
		}
		value = file.entry(keys)
		return value, value != nil
	}
	all, err := decode(kind, f.data)
	if err != nil {
		return nil, false
	}
	value = all
	for _, k := range keys {
		in, _ := value.(map[string]any)
		if value, ok = in[k]; !ok {
			return nil, false
		}
	}
	return value, true
}

// offInEntry says which member of our own entry turns the server off, or nothing.
func offInEntry(entry map[string]any) string {
	switch {
	case entry["enabled"] == false:
		return "enabled = false"
	case entry["disabled"] == true:
		return "disabled = true"
	}
	return ""
}

// lastRuns is when each hook of a client last ran in any project, of the last 30 days.
func (m Machine) lastRuns() map[string]map[string]time.Time {
	runs := map[string]map[string]time.Time{}
	paths, _ := logPaths(m.Data, "") // what cannot be listed did not run as far as we know
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		for line := range bytes.Lines(text) {
			var x struct {
				At     time.Time `json:"at"`
				Client string    `json:"client"`
				Event  string    `json:"event"`
			}
			if json.Unmarshal(line, &x) != nil {
				continue
			}
			if runs[x.Client] == nil {
				runs[x.Client] = map[string]time.Time{}
			}
			if x.At.After(runs[x.Client][x.Event]) {
				runs[x.Client][x.Event] = x.At
			}
		}
	}
	return runs
}

// ran says when each hook of a client last ran, the latest first.
func (x *examiner) ran(c *client) string {
	runs := x.runs[c.name]
	if len(runs) == 0 {
		return fmt.Sprintf("none has run in the last %d days", logDays)
	}
	names := slices.SortedFunc(maps.Keys(runs), func(a, b string) int { return runs[b].Compare(runs[a]) })
	for i, name := range names {
		names[i] = prose.ShortLine(name) + " " + runs[name].UTC().Format("2006-01-02 15:04")
	}
	return "last run: " + strings.Join(names, ", ")
}

// maxTail is how much of the end of a log is looked at, in bytes.
const maxTail = 8 << 10

// lastFailure is the last line of the log of hooks, or empty.
func lastFailure(path string) string {
	f, err := openLog(path, os.O_RDONLY)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	tail := make([]byte, min(info.Size(), maxTail))
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(tail)), "\n")
	return prose.ShortLine(lines[len(lines)-1])
}

// codexTrust says whether Codex skips the hooks of a file, because nobody approved them.
func codexTrust(m Machine, hooks string) string {
	state, _ := m.setting(m.expand("{codex}/config.toml"), []string{"hooks", "state"})
	all, _ := state.(map[string]any)
	for key, value := range all {
		entry, _ := value.(map[string]any)
		if strings.HasPrefix(key, hooks+":") && entry["trusted_hash"] != nil {
			return ""
		}
	}
	return "Codex skips them until you approve them"
}
