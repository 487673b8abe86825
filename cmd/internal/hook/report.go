package hook

import (
	"fmt"
	"path/filepath"
	"strings"
)

// What became of a file.
const (
	connected = "connected"
	unchanged = "unchanged"
	removed   = "removed"
	nothing   = "nothing of ours"
	refused   = "refused"
	// Of a dry run.
	wouldChange  = "would be changed"
	wouldRestore = "would be restored"
)

// Touched is a file and what became of it.
type Touched struct {
	Client  string `json:"client"`
	Scope   Scope  `json:"scope"`
	Path    string `json:"path"`
	Outcome string `json:"outcome"`
	Diff    string `json:"diff,omitempty"`    // of a dry run
	Note    string `json:"note,omitempty"`    // what else is to be known of it
	Problem string `json:"problem,omitempty"` // why it was refused
	Snippet string `json:"snippet,omitempty"` // what to paste then
	program bool   // one of several beside each other
}

// plain tells whether there is nothing to say of a file but its outcome.
func (f Touched) plain() bool {
	return f.Diff == "" && f.Note == "" && f.Problem == "" && f.Snippet == ""
}

// Report is what became of all files.
type Report struct {
	Files []Touched `json:"files"`
	Notes []string  `json:"notes,omitempty"`
}

// Failed counts the files that were left as they are although they should not
// have been.
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
	for i := 0; i < len(r.Files); i++ {
		f, outcome := r.Files[i], r.Files[i].Outcome
		if n := r.alike(i); n > 1 {
			fmt.Fprintf(&b, "%s: %s: %d programs %s\n", f.Client, filepath.Dir(f.Path), n, outcome)
			i += n - 1
			continue
		}
		fmt.Fprintf(&b, "%s: %s: %s\n", f.Client, f.Path, outcome)
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

// alike is how many programs from one on became the same, in one directory.
func (r Report) alike(from int) int {
	f, n := r.Files[from], 0
	for _, g := range r.Files[from:] {
		if !g.program || !g.plain() || g.Client != f.Client || g.Outcome != f.Outcome || filepath.Dir(g.Path) != filepath.Dir(f.Path) {
			break
		}
		n++
	}
	return n
}

func indented(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") }
