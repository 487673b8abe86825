package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// edit is what one client wants of one file.
type edit struct {
	client  string
	scope   Scope
	path    string
	format  format
	keys    []string  // the path of our server's entry
	entry   string    // as JSON; empty: the file has hooks only
	version bool      // the file needs one beside our hooks
	events  []ownHook // one for each event
	text    string    // of a whole file
	private bool      // only the user may read it
	program bool      // it is executable
	note    string    // what the user must do or know when the file was changed
}

// ownHook is our hook for an event of the client.
type ownHook struct{ event, entry, line string }

// document is a file in a format in which we write our server's entry.
type document interface {
	// entry is the decoded entry, or nil.
	entry(keys []string) (any, error)
	// set puts an entry, given as JSON, in the place of the one that is there, or adds it.
	set(keys []string, value string) error
	// unset removes the entry, and what is empty around it then.
	unset(keys []string) error
	bytes() []byte
}

var (
	_ document = (*jsonFile)(nil)
	_ document = (*textFile)(nil)
)

func (e edit) open(data []byte) (document, error) {
	if e.format == jsonc {
		return parseJSON(data)
	}
	return parseText(e.format, data)
}

// edits are the edits for a client in a scope: the server's file first, then those of hooks
// and rules. There are none in a scope that the client lacks. Nor are there for a project that
// is the home directory, because its files are the user's settings.
func (c *client) edits(m Machine, scope Scope) []edit {
	if c.servers[scope] == "" || scope == Project && sameDir(m.Root, m.Home) {
		return nil
	}
	fill := func(template string, e event) string {
		line := commandLine(m.Command, c.name, e.name)
		if !c.hooks.programs {
			line = encoded(line)
		}
		return strings.NewReplacer("COMMAND", encoded(m.Command), "LINE", line, "MATCHER", encoded(e.matcher), "SECONDS", strconv.Itoa(e.seconds)).Replace(template)
	}
	base := edit{client: c.name, scope: scope, private: scope != Project, note: c.note}
	first := base
	first.path, first.format, first.entry, first.keys = m.path(c.servers[scope]), c.format, fill(c.entry, event{}), []string{c.key, server}
	if scope == Local { // Claude Code keeps it under the project's path
		first.keys = []string{"projects", filepath.ToSlash(m.Root), c.key, server}
	}
	all := []edit{first}
	if file := c.hooks.files[scope]; file != "" {
		h := base
		h.path, h.version, h.program = m.path(file), c.hooks.versioned, c.hooks.programs
		switch {
		case h.program && m.system() == "windows": // it cannot run these scripts
		case h.program:
			for _, e := range c.hooks.events {
				one := h
				one.format, one.path, one.text = ownFile, filepath.Join(h.path, e.clientName), fill(c.hooks.text, e)
				all = append(all, one)
			}
		case c.hooks.text != "":
			h.format, h.text = ownFile, fill(c.hooks.text, event{})
			all = append(all, h)
		default:
			for _, e := range c.hooks.events {
				entry := c.hooks.entry
				switch {
				case c.hooks.grouped && e.matcher != "":
					entry = `{"matcher": MATCHER, "hooks": [` + entry + `]}`
				case c.hooks.grouped:
					entry = `{"hooks": [` + entry + `]}`
				}
				h.events = append(h.events, ownHook{e.clientName, fill(entry, e), commandLine(m.Command, c.name, e.name)})
			}
			if h.path == first.path {
				all[0].version, all[0].events = h.version, h.events
			} else {
				all = append(all, h)
			}
		}
	}
	if c.rule != "" && scope == Project {
		r := base
		r.path, r.format = m.path(c.rule), ownFile
		r.text = fmt.Sprintf("---\n%s\n---\n<!-- %s %s --scope project`, removed by `lean-ctx disconnect`. -->\n%s\n", c.front, madeBy, c.name, strings.TrimSpace(ruleText))
		all = append(all, r)
	}
	return all
}

// put returns the file with the edit made. It is the same file if nothing is missing.
func (e edit) put(data []byte) ([]byte, error) {
	if e.format == ownFile {
		if string(data) != e.text && !isBlank(data) && !isOurs(data) {
			return nil, &FileError{Problem: "exists, and lean-ctx did not write it"}
		}
		return []byte(e.text), nil
	}
	d, err := e.open(data)
	if err != nil {
		return nil, err
	}
	if e.entry != "" {
		if err := e.putEntry(d); err != nil {
			return nil, err
		}
	}
	if f, ok := d.(*jsonFile); ok {
		if e.version && find(&f.root, "version") < 0 {
			err = f.set([]string{"version"}, "1")
		}
		for _, h := range e.events {
			if err == nil {
				err = f.addHook(h.event, h.entry, h.line)
			}
		}
	}
	return d.bytes(), err
}

// applied reads the file, and makes the edit on what it read.
func (e edit) applied() (f file, after []byte, err error) {
	if f, err = readFile(e.path); err == nil {
		after, err = e.put(f.data)
	}
	return f, after, err
}

// putEntry writes our server's entry. Of an older one of ours it keeps what people add to
// an entry, and chose in it.
func (e edit) putEntry(d document) error {
	have, err := d.entry(e.keys)
	if err != nil {
		return err
	}
	old, ok := have.(map[string]any)
	if !ok || !startsUs(old) {
		return d.set(e.keys, e.entry)
	}
	var want map[string]any
	if err := json.Unmarshal([]byte(e.entry), &want); err != nil {
		return err
	}
	isUsers := func(key string, _ any) bool { return !slices.Contains(ourMembers, key) }
	maps.DeleteFunc(want, isUsers)
	now := maps.Clone(old)
	maps.DeleteFunc(now, func(key string, x any) bool { return !isUsers(key, x) })
	maps.Copy(now, want)
	if fmt.Sprint(now) == fmt.Sprint(old) {
		return nil
	}
	return d.set(e.keys, encoded(now))
}

// ourMembers are the members of an entry that say how the server is reached. People set the
// others for themselves.
var ourMembers = []string{"name", "type", "source", "command", "cmd", "args", "url", "httpUrl", "serverUrl", "headers", "http_headers"}

// foreign is the entry of a file, as JSON, that has our name and starts another program:
// somebody wrote it by hand. It is empty if there is none.
func (e edit) foreign(data []byte) string {
	if e.entry == "" {
		return ""
	}
	d, err := e.open(data)
	if err != nil {
		return ""
	}
	entry, err := d.entry(e.keys)
	if own, ok := entry.(map[string]any); err != nil || entry == nil || ok && startsUs(own) {
		return ""
	}
	return encoded(entry)
}

// startsUs tells whether an entry starts a version of this program, whatever its name and path.
// Then its only argument is ours, or its address is a project's on a server of ours.
func startsUs(entry map[string]any) bool {
	line, _ := commandOf(entry)
	return projectAddress().MatchString(addressOf(entry)) || len(line) == 2 && line[1] == "mcp"
}

// commandOf is the command line of an entry, in the form of any client, and its variables as
// NAME=value. Without a command line the entry starts no program.
func commandOf(entry map[string]any) (line, env []string) {
	for _, key := range []string{"command", "cmd", "args"} {
		switch x := entry[key].(type) {
		case string:
			line = append(line, x)
		case []any:
			for _, word := range x {
				line = append(line, fmt.Sprint(word))
			}
		}
	}
	for _, key := range []string{"env", "envs", "environment"} {
		vars, _ := entry[key].(map[string]any)
		for name, value := range vars {
			env = append(env, name+"="+fmt.Sprint(value))
		}
	}
	slices.Sort(env)
	return line, env
}

// without returns a file without our entries. former is the file before our change, if it
// is known. An entry that ours replaced comes back. An entry of our name that starts
// something else stays.
func (e edit) without(data, former []byte) ([]byte, error) {
	if isBlank(data) {
		return data, nil
	}
	d, err := e.open(data)
	if err != nil {
		return nil, err
	}
	if e.entry != "" {
		before := e.foreign(former)
		have, err := d.entry(e.keys) // after an error there is no entry
		switch {
		case err != nil || have == nil || e.foreign(data) != "":
		case before != "":
			err = d.set(e.keys, before)
		default:
			err = d.unset(e.keys)
		}
		if err != nil && have != nil {
			return nil, err
		}
	}
	if f, ok := d.(*jsonFile); ok && e.events != nil {
		err = f.removeHooks()
	}
	return d.bytes(), err
}

// remove returns what disconnect makes of a file. If the file is still as we wrote it, that
// is the former file, to the byte; else it is the file without our entries. gone tells that
// the file should be deleted.
func (e edit) remove(data []byte, was *change) (rest []byte, gone bool, err error) {
	if was == nil {
		was = new(change)
	}
	switch known := was.New || was.Former != nil; {
	case known && sum(data) == was.After:
		return was.Former, was.New, nil
	case e.format == ownFile:
		return data, isOurs(data), nil
	}
	rest, err = e.without(data, was.Former)
	if err != nil || bytes.Equal(rest, data) {
		return data, false, err
	}
	ours := was.New || strings.HasPrefix(filepath.Base(e.path), server)
	return rest, ours && e.empty(rest), nil
}

// empty tells whether a file has no comment, and no members but those that its client
// requires.
func (e edit) empty(data []byte) bool {
	m, err := decode(e.format, data)
	if e.version {
		delete(m, "version")
	}
	return err == nil && len(m) == 0 && !bytes.ContainsAny(data, "#/")
}

// snippet is the text to paste if a file cannot be edited.
func (e edit) snippet() string {
	text, err := e.put(nil)
	if err != nil {
		return err.Error() // an empty file can be edited
	}
	return strings.TrimSuffix(string(text), "\n")
}
