package hook

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// The outcomes for a file.
const (
	connected = "connected"
	unchanged = "unchanged"
	removed   = "removed"
	restored  = "restored" // the file stays, without what connect had written
	notOurs   = "nothing of ours"
	refused   = "refused"
	// Of a dry run.
	wouldChange  = "would be changed"
	wouldRestore = "would be restored"
)

// FileReport is the outcome for one file.
type FileReport struct {
	Client  string `json:"client"`
	Scope   Scope  `json:"scope"`
	Path    string `json:"path"`
	Outcome string `json:"outcome"`
	Diff    string `json:"diff,omitempty"` // of a dry run
	Note    string `json:"note,omitempty"`
	Problem string `json:"problem,omitempty"` // why it was refused
	Snippet string `json:"snippet,omitempty"` // what to paste then
}

// Report is the outcome for all files.
type Report struct {
	Files []FileReport `json:"files"`
	Notes []string     `json:"notes,omitempty"`
}

// Failed counts the files that could not be edited.
func (r Report) Failed() int {
	n := 0
	for _, f := range r.Files {
		if f.Outcome == refused {
			n++
		}
	}
	return n
}

// Text gives the answer's lines.
func (r Report) Text() string {
	var b strings.Builder
	for _, f := range r.Files {
		fmt.Fprintf(&b, "%s: %s: %s\n", f.Client, f.Path, f.Outcome)
		if f.Problem != "" {
			fmt.Fprintf(&b, "  %s\n", f.Problem)
		}
		if f.Note != "" {
			fmt.Fprintf(&b, "  %s\n", f.Note)
		}
		if f.Snippet != "" {
			fmt.Fprintf(&b, "  Put this there by hand:\n%s\n", "    "+strings.ReplaceAll(f.Snippet, "\n", "\n    "))
		}
		b.WriteString(f.Diff)
	}
	for _, n := range r.Notes {
		b.WriteString(n + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// report is the report on the file of an edit.
func (e edit) report(outcome string) FileReport {
	return FileReport{Client: e.client, Scope: e.scope, Path: e.path, Outcome: outcome}
}

// refused says why the file of an edit was left as it is.
func (e edit) refused(err error) FileReport {
	r := e.report(refused)
	if x, ok := errors.AsType[*FileError](err); ok {
		err = &FileError{cmp.Or(x.Path, e.path), x.Line, x.Column, x.Problem}
	}
	r.Problem = err.Error()
	return r
}

// notAdded says also what to add by hand.
func (e edit) notAdded(err error) FileReport {
	r := e.refused(err)
	if errors.Is(err, fs.ErrPermission) {
		r.Problem += ": make it writable, or put the entry there yourself"
	}
	text, _ := e.put(nil) // an empty file can be edited
	r.Snippet = strings.TrimSuffix(string(text), "\n")
	return r
}

// notRemoved says also what of ours may still be there, to remove by hand.
func (e edit) notRemoved(err error) FileReport {
	r := e.refused(err)
	r.Note = fmt.Sprintf("Take out by hand: the entry %q, and hooks that call %q.", server, "hook "+e.client)
	return r
}
