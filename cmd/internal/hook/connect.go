package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// ConnectOptions says what to connect or disconnect.
type ConnectOptions struct {
	Clients []string // none: those that are installed, or those that are connected
	// Scope is by default the user's to connect, and every scope that was
	// connected from this machine to disconnect.
	Scope  Scope
	Remote Remote // if it has a URL: the server is reached by it, at project scope
	DryRun bool   // say what would be done
}

// scope is where clients are connected.
func (o ConnectOptions) scope() Scope {
	if o.Remote.URL != "" {
		return Project
	}
	return orUser(o.Scope)
}

// edits are what a client wants.
func (o ConnectOptions) edits(c *client, m Machine) []edit {
	if o.Remote.URL != "" {
		return c.byURL(m, o.Remote)
	}
	return c.edits(m, o.scope())
}

// UnknownError is an unknown client or scope, or a scope that a client lacks.
type UnknownError struct{ What, Advice string }

func (e *UnknownError) Error() string { return e.What }

// Hint is what to do about it.
func (e *UnknownError) Hint() string { return e.Advice }

// choose returns the rows of the named clients, or those that standard accepts if none is
// named.
func choose(names []string, standard func(*client) bool) ([]client, error) {
	all := clients()
	if len(names) == 0 {
		return slices.DeleteFunc(all, func(c client) bool { return !standard(&c) }), nil
	}
	var chosen []client
	for _, name := range names {
		i := slices.IndexFunc(all, func(c client) bool { return strings.EqualFold(c.name, strings.TrimSpace(name)) })
		if i < 0 {
			return nil, &UnknownError{fmt.Sprintf("unknown client %q", name), "known clients: " + strings.Join(Names(), ", ")}
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// Connect writes the entries of clients. If a file cannot be edited, the report says why,
// and the other files are edited.
func (m Machine) Connect(o ConnectOptions) (Report, error) {
	scope := o.scope()
	r := Report{Files: []FileReport{}}
	if o.Remote.URL != "" && o.Scope != "" && o.Scope != Project {
		return r, &UnknownError{fmt.Sprintf("--url writes to scope project, not %s", o.Scope), "leave --scope out"}
	}
	chosen, err := choose(o.Clients, m.has)
	if err != nil {
		return r, err
	}
	if len(o.Clients) > 0 {
		if err := m.allHave(chosen, scope); err != nil {
			return r, err
		}
	}
	rec, err := m.readRecord()
	if err != nil {
		return r, err
	}
	for _, c := range chosen {
		edits := o.edits(&c, m)
		if !serves(edits) {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: left out, it has no scope %s", c.name, scope))
			continue
		}
		did := false
		for _, e := range edits {
			f, err := m.connect(e, rec, o.DryRun)
			if err != nil {
				return r, err
			}
			r.Files = append(r.Files, f)
			did = did || f.Outcome == connected || f.Outcome == wouldChange
		}
		if c.note != "" && did && o.Remote.URL == "" {
			r.Notes = append(r.Notes, c.note)
		}
		if did && o.Remote.URL != "" {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %s holds the token of the server. Do not commit it.", c.name, edits[0].path))
			if c.asks != "" {
				r.Notes = append(r.Notes, c.asks)
			}
		}
	}
	if len(chosen) == 0 {
		r.Notes = append(r.Notes, "No client was found. Name one: lean-ctx connect "+strings.Join(Names(), " | "))
	}
	return r, nil
}

// allHave fails if a client does not have a scope.
func (m Machine) allHave(chosen []client, scope Scope) error {
	for _, c := range chosen {
		if c.servers[scope] == "" {
			return &UnknownError{fmt.Sprintf("%s has no scope %s", c.name, scope), "use " + strings.Join(scopesOf(c), " or ")}
		}
		if !serves(c.edits(m, scope)) {
			return &UnknownError{fmt.Sprintf("%s has no scope %s in the home directory: its file there is the user's", c.name, scope), "use --scope user, or go to a project"}
		}
	}
	return nil
}

func orUser(s Scope) Scope {
	if s == "" {
		return User
	}
	return s
}

func scopesOf(c client) (names []string) {
	for _, s := range scopes {
		if c.servers[s] != "" {
			names = append(names, string(s))
		}
	}
	return names
}

// connect does one edit. It returns an error only if the former file cannot be recorded,
// which stops everything. Problems with the client's file are in the report.
func (m Machine) connect(e edit, rec *record, dry bool) (FileReport, error) {
	r := FileReport{Client: e.client, Scope: e.scope, Path: e.path, Outcome: unchanged}
	f, err := readFile(e.path)
	if err != nil {
		return e.refused(r, err), nil
	}
	after, err := e.put(f.data)
	if err != nil {
		return e.refused(r, err), nil
	}
	if bytes.Equal(after, f.data) && !f.new {
		return r, nil
	}
	if rec.of(e) == nil && e.foreign(f.data) != "" {
		r.Note = fmt.Sprintf("An entry %q that starts something else was there: it is replaced, and disconnect puts it back.", server)
	}
	if dry {
		r.Outcome, r.Diff = wouldChange, difference(f.data, after)
		return r, nil
	}
	if fatal, err := m.write(e, rec, f, after); err != nil {
		if r.Note = ""; fatal {
			return r, err
		}
		return e.refused(r, err), nil
	}
	r.Outcome = connected
	return r, nil
}

// difference is what changes in a file, line by line.
func difference(before, after []byte) string {
	_, hunks, _ := strings.Cut(string(diff.Diff("a", before, "b", after)), "\n+++ b\n")
	return "  " + strings.ReplaceAll(strings.TrimSuffix(strings.ReplaceAll(hunks, "\r", ""), "\n"), "\n", "\n  ") + "\n"
}

// write records a change and makes it. The record comes first, since without it nobody
// could undo the change. An error is fatal if the record cannot be written.
func (m Machine) write(e edit, rec *record, f file, after []byte) (fatal bool, err error) {
	if f.new {
		f.mode = e.mode(0o600, 0o644)
	}
	dirs, err := makeDirs(f.path, e.mode(0o700, 0o755))
	defer func() {
		if err != nil {
			removeDirs(dirs)
		}
	}()
	if err != nil {
		return false, err
	}
	before := slices.Clone(rec.Files)
	rec.add(e, f, sum(after), dirs)
	if err = m.save(rec); err != nil {
		return true, fmt.Errorf("%s is left as it is, since how to undo a change cannot be written: %w", f.path, err)
	}
	if err = f.write(after); err != nil {
		rec.Files = before
		err = errors.Join(err, m.save(rec))
	}
	return false, err
}

// mode is the mode of a new file or directory. A program is executable for all who can read it.
func (e edit) mode(private, shared fs.FileMode) fs.FileMode {
	mode := shared
	if e.private {
		mode = private
	}
	if e.program {
		mode |= mode >> 2 & 0o111
	}
	return mode
}

// Disconnect takes out what is ours.
func (m Machine) Disconnect(o ConnectOptions) (Report, error) {
	r := Report{Files: []FileReport{}}
	rec, err := m.readRecord()
	if err != nil {
		return r, err
	}
	chosen, err := choose(o.Clients, func(*client) bool { return true })
	if err != nil {
		return r, err
	}
	in, where := []Scope{o.Scope}, fmt.Sprintf(" in scope %s", o.Scope)
	if o.Scope == "" {
		in, where = scopes, ""
	}
	// The last edit first: two edits may have changed the same file.
	for _, scope := range slices.Backward(in) {
		for _, c := range slices.Backward(chosen) {
			for _, e := range slices.Backward(c.edits(m, scope)) {
				if o.Scope == "" && scope != User && rec.of(e) == nil {
					continue // somebody else may have connected the project
				}
				if f := e.disconnect(rec, o.DryRun); f.Outcome != notOurs || len(o.Clients) > 0 && scope == orUser(o.Scope) {
					r.Files = append(r.Files, f)
				}
			}
		}
	}
	slices.Reverse(r.Files)
	if len(r.Files) == 0 {
		r.Notes = append(r.Notes, "Nothing is connected"+where+".")
	}
	if o.DryRun {
		return r, nil
	}
	return r, m.save(rec)
}

// disconnect undoes one edit.
func (e edit) disconnect(rec *record, dry bool) FileReport {
	r := FileReport{Client: e.client, Scope: e.scope, Path: e.path, Outcome: notOurs}
	was := rec.of(e)
	f, err := readFile(e.path)
	if err != nil {
		if _, odd := errors.AsType[*FileError](err); odd && was == nil {
			return r // we cannot have written it
		}
		return e.stuck(r, err)
	}
	mentions := bytes.Contains(f.data, []byte(server)) || bytes.Contains(f.data, []byte(" hook "+e.client))
	if f.new || (was == nil || sum(f.data) != was.After) && !mentions {
		if f.new && was != nil && !dry {
			removeDirs(was.Dirs)
		}
		rec.forget(e)
		return r
	}
	data, gone, err := e.remove(f.data, was)
	if err != nil {
		return e.stuck(r, err)
	}
	if !gone && bytes.Equal(data, f.data) {
		rec.forget(e)
		return r
	}
	if dry {
		r.Outcome, r.Diff = wouldRestore, difference(f.data, data)
		return r
	}
	r.Outcome = removed
	if gone {
		if err = f.unchanged(); err == nil {
			err = os.Remove(f.path)
		}
	} else {
		err = f.write(data)
	}
	if err != nil {
		return e.stuck(r, err)
	}
	if gone && was != nil {
		removeDirs(was.Dirs)
	}
	rec.forget(e)
	return r
}

// Print returns what connect would write, for users who edit their files themselves.
func (m Machine) Print(o ConnectOptions) (string, error) {
	chosen, err := choose(o.Clients, m.has)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, c := range chosen {
		for _, e := range o.edits(&c, m) {
			fmt.Fprintf(&b, "%s: %s\n%s\n\n", c.name, e.path, indented(e.snippet()))
		}
	}
	return strings.TrimRight(b.String(), "\n"), nil
}

// recordName is the file of the data directory that keeps the former files.
const recordName = "connect.json"

const recordSchema = 2

// record lists the changes that disconnect has not undone yet.
type record struct {
	Schema  int      `json:"schema"`
	MadeDir bool     `json:"made_dir,omitempty"` // the data directory exists because of us
	Files   []change `json:"files"`
}

// change is a change of one file. It contains the whole former file, so only the user may
// read the record.
type change struct {
	Path   string   `json:"path"`
	Client string   `json:"client"`
	Scope  Scope    `json:"scope"`
	Former []byte   `json:"former"`        // the file before us; null: not known, or New
	New    bool     `json:"new,omitempty"` // there was no file
	After  string   `json:"after"`         // SHA-256 of what we wrote; empty: Former must not be restored whole
	Dirs   []string `json:"dirs,omitempty"`
}

func (m Machine) readRecord() (*record, error) {
	r := &record{Schema: recordSchema}
	path := filepath.Join(m.Data, recordName)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, &FileError{Path: path, Problem: "cannot be read. Move it away; disconnect then removes only our entries"}
	}
	if r.Schema > recordSchema {
		return nil, &FileError{Path: path, Problem: "is of a newer version of lean-ctx"}
	}
	r.Schema = recordSchema
	return r, nil
}

// save writes the record, or removes it when there is nothing in it.
func (m Machine) save(r *record) error {
	path := filepath.Join(m.Data, recordName)
	if len(r.Files) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if r.MadeDir {
			_ = os.Remove(m.Data) // fails if it is not empty
		}
		return nil
	}
	if !exists(m.Data) {
		if err := os.MkdirAll(m.Data, 0o700); err != nil {
			return err
		}
		r.MadeDir = true
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	f, err := readFile(path)
	if err != nil {
		return err
	}
	f.mode = 0o600
	return f.write(append(data, '\n'))
}

// of returns the change of an edit, or nil.
func (r *record) of(e edit) *change {
	if i := slices.IndexFunc(r.Files, e.made); i >= 0 {
		return &r.Files[i]
	}
	return nil
}

func (r *record) forget(e edit) { r.Files = slices.DeleteFunc(r.Files, e.made) }

// made tells whether a change belongs to an edit. A file of the user that is also the
// project's may have been recorded as the project's.
func (e edit) made(c change) bool {
	return c.Path == e.path && c.Client == e.client && (c.Scope == e.scope || e.scope == User && c.Scope == Project)
}

// add records a change. The former file is the one before our first change, as long as
// nobody else writes the file. If somebody has, and it still has an entry of ours, the
// former file can no longer be restored whole. Then it only tells which entry ours replaced.
func (r *record) add(e edit, f file, after string, dirs []string) {
	c := change{Path: e.path, Client: e.client, Scope: e.scope, Former: f.data, New: f.new, After: after, Dirs: dirs}
	if c.Former == nil && !f.new {
		c.Former = []byte{}
	}
	if old := r.of(e); old != nil {
		c.Dirs = append(slices.Clone(old.Dirs), dirs...)
	}
	if !f.new && e.isIn(f.data) {
		old := r.of(e)
		if old == nil || old.After != sum(f.data) {
			c.After = ""
		}
		if old != nil {
			c.Former, c.New = old.Former, old.New
		}
	}
	r.forget(e)
	r.Files = append(r.Files, c)
}

// isIn tells whether a file contains something of ours.
func (e edit) isIn(data []byte) bool {
	if e.format == ownFile {
		return isOurs(data)
	}
	rest, err := e.without(data, nil, false)
	return err == nil && !bytes.Equal(rest, data)
}
