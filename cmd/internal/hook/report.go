package hook

import (
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

// Changed tells whether the file was written.
func (f FileReport) Changed() bool { return f.Outcome == connected }

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
			fmt.Fprintf(&b, "  Put this there by hand:\n%s\n", indented(f.Snippet))
		}
		b.WriteString(f.Diff)
	}
	for _, n := range r.Notes {
		b.WriteString(n + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func indented(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") }

// report is the report on the file of an edit.
func (e edit) report(outcome string) FileReport {
	return FileReport{Client: e.client, Scope: e.scope, Path: e.path, Outcome: outcome}
}

// refused says why a file was not changed, and what to add by hand.
func (e edit) refused(r FileReport, err error) FileReport {
	r = e.problem(r, err)
	if errors.Is(err, fs.ErrPermission) {
		r.Problem += ": make it writable, or put the entry there yourself"
	}
	r.Snippet = e.text
	if e.format != ownFile {
		r.Snippet = e.snippet()
	}
	return r
}

// notRemoved says why something of ours may still be in a file, and what to remove by hand.
func (e edit) notRemoved(r FileReport, err error) FileReport {
	r = e.problem(r, err)
	r.Note = fmt.Sprintf("Take out by hand: the entry %q, and hooks that call %q.", server, "hook "+e.client)
	return r
}

func (e edit) problem(r FileReport, err error) FileReport {
	r.Outcome, r.Problem = refused, err.Error()
	if x, ok := errors.AsType[*FileError](err); ok {
		placed := *x
		if placed.Path == "" {
			placed.Path = e.path
		}
		r.Problem = placed.Error()
	}
	return r
}
