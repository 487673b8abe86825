package hook

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// edit is what one client wants of one file.
type edit struct {
	client  string
	scope   Scope
	path    string
	format  format
	keys    []string // the path to the list of servers
	entry   object   // nil: the file has hooks only
	root    []pair   // members that the file needs beside our hooks
	events  []pair   // our hook for each event
	text    string   // of a whole file
	private bool     // only the user may read it
	run     bool     // a program
}

// edits are the edits for a client in a scope: the server's file first, then those of hooks
// and rules. There are none in a scope that the client lacks.
func (c *client) edits(m Machine, scope Scope) []edit {
	at, ok := c.servers[scope]
	if !ok {
		return nil
	}
	if scope == Project && sameDir(m.Root, m.Home) {
		m.Root = m.Home
	}
	first := edit{client: c.name, scope: scope, path: m.path(at.file), format: at.format, entry: c.entry(m.Command), private: scope != Project}
	for _, k := range at.keys {
		first.keys = append(first.keys, strings.ReplaceAll(k, "{project}", filepath.ToSlash(m.Root)))
	}
	all := []edit{first}
	if file := c.hooks.files[scope]; file != "" {
		h := edit{client: c.name, scope: scope, path: m.path(file), format: c.hooks.format, root: c.hooks.root, private: first.private, run: c.hooks.run}
		switch {
		case h.run && m.system() == "windows": // it cannot run these scripts
		case h.format == ownFile && !h.run:
			h.text = c.hooks.text(event{}, m.Command)
			all = append(all, h)
		case h.format == ownFile:
			for _, e := range c.hooks.events {
				one := h
				one.path, one.text = filepath.Join(h.path, e.theirs), c.hooks.text(e, m.Command)
				all = append(all, one)
			}
		default:
			for _, e := range c.hooks.events {
				h.events = append(h.events, pair{e.theirs, c.hooks.entry(e, m.Command)})
			}
			if h.path == first.path {
				all[0].root, all[0].events = h.root, h.events
			} else {
				all = append(all, h)
			}
		}
	}
	if c.rule.file != "" && scope == Project {
		all = append(all, edit{client: c.name, scope: scope, path: m.path(c.rule.file), format: ownFile, text: c.rule.text(c.name)})
	}
	if scope != Project {
		return all
	}
	// If the project is the home directory, some files are the user's too. They count
	// as the user's.
	return slices.DeleteFunc(all, func(e edit) bool {
		return slices.ContainsFunc(c.edits(m, User), func(u edit) bool { return u.path == e.path })
	})
}

// serves tells whether the server's file is among the edits.
func serves(edits []edit) bool { return len(edits) > 0 && edits[0].entry != nil }

func (e edit) block() block { return block{e.format, e.keys[0]} }

// put returns the file with the edit made. It is the same file if nothing is missing.
func (e edit) put(data []byte) ([]byte, error) {
	after, err := e.write(data)
	if err != nil {
		return nil, err
	}
	if again, err := e.write(after); err != nil || !bytes.Equal(again, after) {
		return nil, &FileError{Problem: "there is no safe place for our entry"} // a second write did not find it
	}
	return after, nil
}

func (e edit) write(data []byte) ([]byte, error) {
	switch e.format {
	case ownBlock:
		return putAdvice(data), nil
	case ownFile:
		if string(data) != e.text && !isBlank(data) && !isOurs(data) {
			return nil, &FileError{Problem: "is there, and is not ours"}
		}
		return []byte(e.text), nil
	case toml, yaml:
		body, mark := bytes.CutPrefix(data, []byte(bom))
		after, err := e.block().put(body, e.entry)
		if mark && err == nil {
			after = slices.Concat([]byte(bom), after)
		}
		return after, err
	}
	f, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	if e.entry != nil {
		err = f.set(e.keys, server, e.entry)
	}
	for _, p := range e.root {
		if l, _, e := f.lookup(nil); err == nil && (e != nil || l.find(p.key) < 0) {
			err = f.set(nil, p.key, p.value)
		}
	}
	for _, p := range e.events {
		if err == nil {
			err = f.addHook(p.key, p.value.(object))
		}
	}
	return f.bytes(), err
}

// current is the server's entry in a file, decoded, or nil.
func (e edit) current(data []byte) (map[string]any, error) {
	if e.format == jsonc {
		f, err := parseJSON(data)
		if err != nil {
			return nil, err
		}
		l, missing, err := f.lookup(e.keys)
		if err != nil || len(missing) > 0 || l.find(server) < 0 {
			return nil, err
		}
		if entry, ok := decoded(l.member(server)).(map[string]any); ok {
			return entry, nil
		}
		return map[string]any{}, nil
	}
	all, err := decode(e.format, data)
	if err != nil {
		return nil, err
	}
	return e.block().entry(all)
}

// foreign is the text of an entry that has our name and starts another program: somebody
// wrote it by hand. It is empty if there is none.
func (e edit) foreign(data []byte) string {
	if e.entry == nil {
		return ""
	}
	entry, err := e.current(data)
	if err != nil || entry == nil || startsUs(entry) {
		return ""
	}
	if e.format != jsonc {
		_, _, lines, _ := e.block().cut(bytes.TrimPrefix(data, []byte(bom)))
		return lines
	}
	f, _ := parseJSON(data)
	l, _, _ := f.lookup(e.keys)
	v := hujson.Value{Value: l.member(server).Value}
	return string(v.Pack())
}

// startsUs tells whether an entry starts a version of this program, whatever its name and path.
// Then its only argument is ours, or its address is a project's on a server of ours.
func startsUs(entry map[string]any) bool {
	if projectAddress.MatchString(addressOf(entry)) {
		return true
	}
	start, ok := serverCommandOf(entry)
	return ok && len(start.args) == 1 && start.args[0] == "mcp"
}

// without returns a file without our entries. former is the file before our change, if it
// is known. An entry that ours replaced comes back. An entry of our name that we did not
// write stays.
func (e edit) without(data, former []byte, known bool) ([]byte, error) {
	theirs := e.foreign(former)
	leave := !known && e.foreign(data) != ""
	switch e.format {
	case ownBlock:
		return removeAdvice(data), nil
	case toml, yaml:
		body, mark := bytes.CutPrefix(data, []byte(bom))
		var err error
		switch b := e.block(); {
		case isBlank(data) || leave:
			return data, nil
		case theirs != "":
			body, err = b.swap(body, theirs)
		default:
			var cut string
			body, _, cut, err = b.cut(body)
			if m, _ := decode(b.format, former); err == nil && cut != "" && m[b.parent] == nil {
				body = b.dropParent(body)
			}
		}
		if mark && err == nil {
			body = slices.Concat([]byte(bom), body)
		}
		return body, err
	}
	if isBlank(data) {
		return data, nil
	}
	f, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	if l, missing, err := f.lookup(e.keys); e.entry != nil && err == nil && len(missing) == 0 && l.find(server) >= 0 && !leave {
		if theirs != "" {
			err = f.replace(l.member(server), []byte(theirs))
		} else {
			f.unset(e.keys, server)
		}
		if err != nil {
			return nil, err
		}
	}
	if e.events != nil {
		f.removeHooks()
	}
	if bytes.Equal(f.bytes(), data) {
		return data, nil
	}
	before, err := parseJSON(former)
	if err != nil {
		before, _ = parseJSON(nil)
	}
	for _, keys := range e.parents() {
		l, missing, err := before.lookup(keys[:len(keys)-1])
		if err != nil || len(missing) > 0 || l.find(keys[len(keys)-1]) < 0 {
			f.prune(keys)
		}
	}
	return f.bytes(), nil
}

// parents are the objects and lists that contain our entries, the innermost first.
func (e edit) parents() (all [][]string) {
	for _, p := range e.events {
		all = append(all, []string{"hooks", p.key})
	}
	if e.events != nil {
		all = append(all, []string{"hooks"})
	}
	if e.entry != nil {
		for i := len(e.keys); i > 0; i-- {
			all = append(all, e.keys[:i])
		}
	}
	return all
}

// remove returns what disconnect makes of a file. If the file is still as we wrote it, that
// is the former file, to the byte; else it is the file without our entries. gone tells that
// the file should be deleted.
func (e edit) remove(data []byte, was *change) (rest []byte, gone bool, err error) {
	known := was != nil && (was.New || was.Former != nil)
	if known && sum(data) == was.After {
		return was.Former, was.New, nil
	}
	if e.format == ownFile {
		return data, isOurs(data), nil
	}
	var former []byte
	if known {
		former = was.Former
	}
	rest, err = e.without(data, former, known)
	if err != nil || bytes.Equal(rest, data) {
		return data, false, err
	}
	ours := known && was.New || strings.HasPrefix(filepath.Base(e.path), server)
	return rest, ours && e.empty(rest), nil
}

// empty tells whether a file has only the members that its client requires.
func (e edit) empty(data []byte) bool {
	switch {
	case isBlank(data) || e.format == ownBlock:
		return isBlank(data)
	case e.format != jsonc:
		m, err := decode(e.format, data)
		return err == nil && len(m) == 0 && !bytes.Contains(data, []byte("#"))
	}
	f, err := parseJSON(data)
	if err != nil {
		return false
	}
	for _, p := range e.root {
		f.unset(nil, p.key)
	}
	l, _, err := f.lookup(nil)
	return err == nil && l.len() == 0 && !bytes.Contains(f.bytes(), []byte("/"))
}

// snippet is the text to paste if a file cannot be edited.
func (e edit) snippet() string {
	text, err := e.write(nil)
	if err != nil {
		return err.Error() // an empty file can be edited
	}
	return strings.TrimSuffix(string(text), "\n")
}
