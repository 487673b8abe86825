package hook

import (
	"bytes"
	"cmp"
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
	client   string
	scope    Scope
	path     string
	format   format
	keys     []string  // the path of our server's entry
	entry    string    // as JSON; empty: the file has hooks only
	version  bool      // the file needs one beside our hooks
	events   []ownHook // one for each event
	text     string    // of a whole file
	private  bool      // a new file is one that only the user may read
	secret   bool      // it gets a token: only the user may read it, and nobody may commit it
	root     string    // the directory of others below which no link is followed; empty: none
	protects string    // of a lineOfFile: the file with a token
	program  bool      // it is executable
	note     string    // what the user must do or know when the file was changed
}

// ownHook is our hook for an event of the client.
type ownHook struct{ event, entry, line, powerShell string }

// edits are the edits for a client in a scope: the server's file first, then those of hooks
// and rules. There are none in a scope that the client lacks. Nor are there for a project that
// is the home directory, because its files are the user's settings.
func (c *client) edits(m Machine, scope Scope) []edit {
	if c.servers[scope] == "" || scope == Project && sameDir(m.Root, m.Home) {
		return nil
	}
	command := m.Command
	if scope == Project {
		command = m.sharedCommand()
	}
	vars := c.vars(m, scope)
	member := ""
	if len(vars) > 0 {
		member = fmt.Sprintf(", %q: %s", cmp.Or(c.env, "env"), encoded(vars))
	}
	line, power := commandLine, powerShellLine
	if c.hooks.powerShell && m.system() == "windows" {
		line = power
	}
	fill := func(template string, e event) string {
		text := line(command, c.name, e.name)
		if !c.hooks.programs {
			text = encoded(text)
		}
		return strings.NewReplacer("COMMAND", encoded(command), "PSLINE", encoded(power(command, c.name, e.name)), "LINE", text, "VARS", encoded(vars), "ENV", member, "MATCHER", encoded(e.matcher), "SECONDS", strconv.Itoa(e.seconds)).Replace(template)
	}
	base := edit{client: c.name, scope: scope, private: scope != Project, note: c.note}
	at := func(location string) edit {
		e := base
		if e.path = m.path(location); inProject(location) {
			e.root = m.Root
		}
		return e
	}
	first := at(c.servers[scope])
	first.format, first.entry, first.keys = c.format, fill(c.entry, event{}), []string{c.key, server}
	if scope == Local { // Claude Code keeps it under the project's path
		first.keys = []string{"projects", filepath.ToSlash(m.Root), c.key, server}
	}
	all := []edit{first}
	if file := c.hooks.files[scope]; file != "" {
		h := at(file)
		h.version, h.program = c.hooks.versioned, c.hooks.programs
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
				h.events = append(h.events, ownHook{e.clientName, fill(entry, e), line(command, c.name, e.name), power(command, c.name, e.name)})
			}
			if h.path == first.path {
				all[0].version, all[0].events = h.version, h.events
			} else {
				all = append(all, h)
			}
		}
	}
	if c.rule != "" && scope == Project {
		r := at(c.rule)
		r.format = ownFile
		r.text = fmt.Sprintf("---\n%s\n---\n<!-- %s %s --scope project`, removed by `lean-ctx disconnect`. -->\n%s\n", c.front, madeBy, c.name, strings.TrimSpace(ruleText))
		all = append(all, r)
	}
	return all
}

// vars are the variables that an entry gives to the server. What only this user has is not written
// into files that others share.
func (c *client) vars(m Machine, scope Scope) map[string]string {
	vars := map[string]string{}
	if scope != Project {
		maps.Copy(vars, m.Env)
	}
	if folder := c.folder[scope]; folder != "" {
		vars[foldersVar] = folder
	}
	return vars
}

// put returns the file with the edit made. It is the same file if nothing is missing.
func (e edit) put(data []byte) ([]byte, error) {
	if e.format == lineOfFile {
		return withLine(data, e.text), nil
	}
	if e.format == ownFile {
		if string(data) != e.text && !isBlank(data) && !isOurs(data) {
			return nil, &FileError{Problem: "exists, and lean-ctx did not write it"}
		}
		return []byte(e.text), nil
	}
	return e.write(data, false, func(have any) (string, bool) {
		entry := e.wanted(have)
		return entry, entry != ""
	})
}

// write returns the file with our hooks, or without. For the entry that is there, or nil, decide
// returns one to put in its place, as JSON, or an empty one to remove it; or false to leave it.
func (e edit) write(data []byte, remove bool, decide func(have any) (entry string, change bool)) (after []byte, err error) {
	body, marked := bytes.CutPrefix(data, []byte(bom))
	if e.format == jsonc {
		after, err = e.writeJSON(body, remove, decide)
	} else {
		after, err = textFile{e.format, e.keys[0], body}.write(decide)
	}
	if marked {
		after = slices.Concat([]byte(bom), after)
	}
	return after, err
}

func (e edit) writeJSON(data []byte, remove bool, decide func(any) (string, bool)) ([]byte, error) {
	f, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	if remove && len(items(&f.root)) < 2 { // also one of comments alone
		return data, nil
	}
	f.fold(data, append([]string{"hooks", "version"}, e.keys...)...)
	for _, h := range e.events { // before any edit, which would move the place of a problem
		if _, _, err := f.hooksOf(h.event); err != nil && !remove {
			return nil, err
		}
	}
	if e.keys != nil {
		switch entry, change := decide(f.entry(e.keys)); {
		case !change:
		case entry != "":
			err = f.set(e.keys, entry)
		default:
			f.unset(&f.root, e.keys)
		}
	}
	switch {
	case remove && e.events != nil:
		f.removeHooks()
	case !remove && e.version && err == nil:
		if i, _ := find(&f.root, "version"); i < 0 {
			err = f.set([]string{"version"}, "1")
		}
	}
	if e.root != "" && !remove && err == nil && !f.hasExactly(e.events) {
		f.removeHooks()
	}
	for _, h := range e.events {
		if !remove && err == nil {
			err = f.addHook(h)
		}
	}
	return f.bytes(), err
}

// applied reads the file, and makes the edit on what it read.
func (e edit) applied() (f file, after []byte, err error) {
	if f, err = e.read(); err == nil {
		after, err = e.put(f.data)
	}
	return f, after, err
}

// current is the entry of our name in a file, decoded, or nil.
func (e edit) current(data []byte) (entry any, err error) {
	if e.keys == nil {
		return nil, nil
	}
	if e.format == jsonc { // it may be large
		f, err := parseJSON(bytes.TrimPrefix(data, []byte(bom)))
		if err != nil {
			return nil, err
		}
		return f.entry(e.keys), nil
	}
	m, err := decode(e.format, data)
	all, _ := m[e.keys[0]].(map[string]any)
	return all[server], err
}

// wanted is our entry as JSON, or empty if a file has it. Of an older one of ours it keeps what
// people add to an entry, and chose in it; in a file of a repository nothing, since there others
// may have written a variable that loads their code, or leads to another project.
func (e edit) wanted(have any) string {
	if e.root != "" {
		if len(e.strange(have)) == 0 {
			return ""
		}
		return e.entry
	}
	old, ok := have.(map[string]any)
	if !ok || !startsUs(old) {
		return e.entry
	}
	isUsers := func(key string, _ any) bool { return !slices.Contains(ourMembers, key) }
	now := maps.Clone(old)
	maps.DeleteFunc(now, func(key string, x any) bool { return !isUsers(key, x) })
	var ours map[string]any
	_ = json.Unmarshal([]byte(e.entry), &ours) // a row of the table, filled
	for _, key := range envMembers {           // of these both have some
		if vars, _ := ours[key].(map[string]any); len(vars) > 0 {
			theirs, _ := now[key].(map[string]any)
			now[key] = maps.Clone(vars)
			for name, value := range theirs {
				if _, isOurs := vars[name]; !isOurs {
					now[key].(map[string]any)[name] = value
				}
			}
		}
	}
	maps.DeleteFunc(ours, isUsers)
	maps.Copy(now, ours)
	if fmt.Sprint(now) == fmt.Sprint(old) {
		return ""
	}
	return encoded(now)
}

// strange are the names of the members in which an entry differs from ours: all of them if there is
// no entry.
func (e edit) strange(have any) (names []string) {
	var ours map[string]any
	_ = json.Unmarshal([]byte(e.entry), &ours) // a row of the table, filled
	theirs, _ := have.(map[string]any)
	for name, x := range ours {
		if y, ok := theirs[name]; !ok || encoded(x) != encoded(y) {
			names = append(names, name)
		}
	}
	for name := range theirs {
		if _, ok := ours[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// ourMembers are the members of an entry that say how the server is reached. People set the
// others for themselves.
var ourMembers = []string{"name", "type", "source", "command", "cmd", "args", "url", "httpUrl", "serverUrl", "headers", "http_headers"}

// envMembers are the members of an entry with the variables of the server.
var envMembers = []string{"env", "envs", "environment"}

// foreign is the entry of a file, as JSON, that has our name and starts another program:
// somebody wrote it by hand. It is empty if there is none.
func (e edit) foreign(data []byte) string {
	entry, err := e.current(data)
	if err != nil || entry == nil || isOwn(entry) {
		return ""
	}
	return encoded(entry)
}

// isOwn tells whether an entry is one of ours, and not written by hand.
func isOwn(entry any) bool {
	own, ok := entry.(map[string]any)
	return ok && startsUs(own)
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
	for _, key := range envMembers {
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
	if e.format == lineOfFile {
		return withoutLine(data, e.text), nil
	}
	return e.write(data, true, func(have any) (string, bool) {
		if !isOwn(have) {
			return "", false
		}
		return e.foreign(former), true
	})
}

// remove returns what disconnect makes of a file. If the file is still as we wrote it, that
// is the former file, to the byte; else it is the file without our entries. gone tells that
// the file should be deleted.
func (e edit) remove(data []byte, was *change) (remaining []byte, gone bool, err error) {
	if was == nil {
		was = new(change)
	}
	switch known := was.New || was.Former != nil; {
	case known && sum(data) == was.After:
		return was.Former, was.New, nil
	case e.format == ownFile:
		return data, isOurs(data), nil
	}
	remaining, err = e.without(data, was.Former)
	if err != nil || bytes.Equal(remaining, data) {
		return data, false, err
	}
	ours := was.New || strings.HasPrefix(filepath.Base(e.path), server)
	return remaining, ours && e.empty(remaining), nil
}

// empty tells whether a file has no comment, and no members but those that its client
// requires.
func (e edit) empty(data []byte) bool {
	if e.format == lineOfFile {
		return isBlank(data)
	}
	m, err := decode(e.format, data)
	if e.version {
		delete(m, "version")
	}
	return err == nil && len(m) == 0 && !bytes.ContainsAny(data, "#/")
}
