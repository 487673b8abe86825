package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"leanctx/internal/atomicfile"
)

// recordName is the file of the data directory that keeps the former files.
const recordName = "connect.json"

const recordSchema = 2

// record lists the changes that disconnect has not undone yet.
type record struct {
	Schema int      `json:"schema"`
	Files  []change `json:"files"`
	Dirs   []string `json:"dirs,omitempty"` // that were made for the record
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

	Mode fs.FileMode `json:"mode,omitempty"` // the file's former one, if we closed it to others

	// Of a line in a list of ignored files: the line, the file with a token that it protects, and
	// the directory below which no link is followed.
	Line     string `json:"line,omitempty"`
	Protects string `json:"protects,omitempty"`
	Root     string `json:"root,omitempty"`
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
	switch {
	case r.Schema > recordSchema:
		return nil, &FileError{Path: path, Problem: "is of a newer version of lean-ctx"}
	case r.Schema < recordSchema: // it did not have the former files
		return &record{Schema: recordSchema}, nil
	}
	return r, nil
}

// save writes the record, or removes it when there is nothing in it.
func (m Machine) save(r *record) error {
	path := filepath.Join(m.Data, recordName)
	if len(r.Files) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		removeDirs(r.Dirs)
		return nil
	}
	r.Dirs = append(r.Dirs, missingDirs(path)...)
	if err := os.MkdirAll(m.Data, 0o700); err != nil {
		return err
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(path, append(data, '\n'), atomicfile.Options{Sync: true})
}

// of returns the change of an edit, or nil.
func (r *record) of(e edit) *change {
	if i := slices.IndexFunc(r.Files, e.matches); i >= 0 {
		return &r.Files[i]
	}
	return nil
}

// protection is the edit that keeps the file of another from being committed, if we made one.
func (r *record) protection(e edit) (edit, bool) {
	for _, c := range r.Files {
		if c.Protects == e.path && c.Client == e.client && c.Scope == e.scope {
			return edit{client: c.Client, scope: c.Scope, path: c.Path, format: lineOfFile, text: c.Line, protects: c.Protects, root: c.Root}, true
		}
	}
	return edit{}, false
}

// removeDirs removes directories that are empty. The changes in the others may leave them empty.
func (r *record) removeDirs(dirs []string) {
	removeDirs(dirs)
	for _, d := range slices.Backward(dirs) {
		for i := range r.Files {
			if c := &r.Files[i]; exists(d) && strings.HasPrefix(c.Path, d+string(filepath.Separator)) {
				c.Dirs = append([]string{d}, c.Dirs...)
			}
		}
	}
}

func (r *record) forget(e edit) { r.Files = slices.DeleteFunc(r.Files, e.matches) }

// matches reports whether a change belongs to an edit.
func (e edit) matches(c change) bool {
	return c.Path == e.path && c.Client == e.client && c.Scope == e.scope && c.Protects == e.protects
}

// add records a change. The former file is the one before our first change, as long as
// nobody else writes the file. If somebody has, and it still has an entry of ours, the
// former file can no longer be restored whole. Then it only tells which entry ours replaced.
func (r *record) add(e edit, f file, after string, dirs []string) {
	c := change{Path: e.path, Client: e.client, Scope: e.scope, Former: f.data, New: f.new, After: after, Dirs: dirs}
	if e.format == lineOfFile {
		c.Line, c.Protects, c.Root = e.text, e.protects, e.root
	}
	old := r.of(e)
	if old != nil {
		c.Dirs, c.Mode = append(slices.Clone(old.Dirs), dirs...), old.Mode
	}
	if !f.new && e.isIn(f.data) {
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

// isIn reports whether a file contains something of ours.
func (e edit) isIn(data []byte) bool {
	if e.format == ownFile {
		return isOurs(data)
	}
	remaining, err := e.without(data, nil)
	return err == nil && !bytes.Equal(remaining, data)
}
