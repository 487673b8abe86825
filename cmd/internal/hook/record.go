package hook

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// recordName is the file of the data directory that tells the way back.
const recordName = "connect.json"

// record is what connect did and disconnect has not undone.
type record struct {
	Schema  int      `json:"schema"`
	MadeDir bool     `json:"made_dir,omitempty"` // the data directory is there because of us
	Files   []change `json:"files"`
}

// change is what was done to one file.
type change struct {
	Path   string     `json:"path"`
	Client string     `json:"client"`
	Scope  Scope      `json:"scope"`
	Before string     `json:"before"` // SHA-256; empty: there was no file
	After  string     `json:"after"`
	New    bool       `json:"new,omitempty"` // the file is there because of us
	Edits  []edit     `json:"edits"`
	Made   [][]string `json:"made,omitempty"` // what holds our entries and was not there before
	Dirs   []string   `json:"dirs,omitempty"` // directories that were made, the outermost first
	// Theirs is the text of an entry of our name that somebody else wrote, and
	// that ours replaced.
	Theirs string `json:"theirs,omitempty"`
}

const recordSchema = 1

func (p Place) record() (*record, error) {
	r := &record{Schema: recordSchema}
	path := filepath.Join(p.Data, recordName)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, &FileError{Path: path, Problem: "cannot be read: move it away; disconnect then edits files by their structure"}
	}
	if r.Schema > recordSchema {
		return nil, &FileError{Path: path, Problem: "is of a newer version of lean-ctx"}
	}
	return r, nil
}

// save writes the record, or takes it away when there is nothing in it.
func (p Place) save(r *record) error {
	path := filepath.Join(p.Data, recordName)
	if len(r.Files) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if r.MadeDir {
			_ = os.Remove(p.Data) // stays if something is in it
		}
		return nil
	}
	if !exists(p.Data) {
		if err := os.MkdirAll(p.Data, 0o700); err != nil {
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
	if f.new {
		f.mode = 0o600
	}
	return f.write(append(data, '\n'))
}

// of is the change that a client's connection made to a file.
func (r *record) of(s step) *change {
	i := slices.IndexFunc(r.Files, s.made)
	if i < 0 {
		return nil
	}
	return &r.Files[i]
}

func (r *record) forget(s step) { r.Files = slices.DeleteFunc(r.Files, s.made) }

// made tells whether a change is the one of a step. A project's file that is the
// user's as well may have been noted as the project's.
func (s step) made(c change) bool {
	return c.Path == s.path && c.Client == s.client && (c.Scope == s.scope || s.scope == User && c.Scope == Project)
}
