package hook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"leanctx/cmd/internal/hook/linediff"
)

// Wish says which clients are to be connected, or disconnected.
type Wish struct {
	Clients []string // none: those that are found, or those that are connected
	Scope   Scope    // empty: user
	DryRun  bool     // tell what would be done
}

// What became of a file.
const (
	connected = "connected"
	unchanged = "unchanged"
	removed   = "removed"
	nothing   = "nothing of ours"
	refused   = "refused"
)

// Touched is a file and what became of it.
type Touched struct {
	Client  string `json:"client"`
	Scope   Scope  `json:"scope"`
	Path    string `json:"path"`
	Outcome string `json:"outcome"`
	Diff    string `json:"diff,omitempty"`    // of a dry run
	Problem string `json:"problem,omitempty"` // why it was refused
	Snippet string `json:"snippet,omitempty"` // what to paste then
	program bool   // one of several beside each other
}

// plain tells whether there is nothing to say of a file but its outcome.
func (f Touched) plain() bool { return f.Diff == "" && f.Problem == "" && f.Snippet == "" }

// Report is what became of all files.
type Report struct {
	Files []Touched `json:"files"`
	Notes []string  `json:"notes,omitempty"`
	dry   bool
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
		if r.dry && f.Diff != "" {
			outcome = "would be " + map[string]string{connected: "changed", removed: "restored"}[outcome]
		}
		fmt.Fprintf(&b, "%s: %s: %s\n", f.Client, f.Path, outcome)
		if f.Problem != "" {
			fmt.Fprintf(&b, "  %s\n", f.Problem)
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

// UnknownError says that there is no such client or scope, or not together.
type UnknownError struct{ What, Advice string }

func (e *UnknownError) Error() string { return e.What }

// Hint is what to do about it.
func (e *UnknownError) Hint() string { return e.Advice }

// choose gives the rows of the clients that were named. If none was, it gives
// those of which given is true.
func choose(names []string, given func(*client) bool) ([]client, error) {
	all := clients()
	if len(names) == 0 {
		return slices.DeleteFunc(all, func(c client) bool { return !given(&c) }), nil
	}
	var chosen []client
	for _, name := range names {
		i := slices.IndexFunc(all, func(c client) bool { return strings.EqualFold(c.name, strings.TrimSpace(name)) })
		if i < 0 {
			return nil, &UnknownError{fmt.Sprintf("%q is no client that is known", name), "known are " + strings.Join(Names(), ", ")}
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// Connect writes the entries of clients. A file that cannot be edited is
// refused with a reason and the others are done all the same.
func (p Place) Connect(w Wish) (Report, error) {
	scope := orUser(w.Scope)
	chosen, err := choose(w.Clients, p.found)
	if err != nil {
		return Report{}, err
	}
	r := Report{Files: []Touched{}, dry: w.DryRun}
	log, err := p.record()
	if err != nil {
		return r, err
	}
	for _, c := range chosen {
		steps := c.steps(p, scope)
		if len(steps) == 0 {
			if len(w.Clients) > 0 {
				return r, &UnknownError{fmt.Sprintf("%s has no scope %s", c.name, scope), "use " + strings.Join(scopesOf(c), " or ")}
			}
			r.Notes = append(r.Notes, fmt.Sprintf("%s: left out, it has no scope %s", c.name, scope))
			continue
		}
		before := len(r.Files)
		for _, s := range steps {
			f := s.connect(log, w.DryRun)
			if r.Files = append(r.Files, f); f.Outcome == connected && !w.DryRun {
				if err := p.save(log); err != nil {
					return r, fmt.Errorf("%s was connected, but how to undo it could not be written: %w", f.Path, err)
				}
			}
		}
		if c.note != "" && slices.ContainsFunc(r.Files[before:], func(f Touched) bool { return f.Outcome == connected }) {
			r.Notes = append(r.Notes, c.note)
		}
	}
	if len(chosen) == 0 {
		r.Notes = append(r.Notes, "No client was found. Name one: lean-ctx connect "+strings.Join(Names(), " | "))
	}
	return r, nil
}

func orUser(s Scope) Scope {
	if s == "" {
		return User
	}
	return s
}

func scopesOf(c client) (names []string) {
	for _, s := range []Scope{User, Project, Local} {
		if _, ok := c.servers[s]; ok {
			names = append(names, string(s))
		}
	}
	return names
}

// connect does one step and notes in the record how to undo it.
func (s step) connect(log *record, dry bool) Touched {
	r := Touched{Client: s.client, Scope: s.scope, Path: s.path, Outcome: unchanged, program: s.run}
	f, err := readFile(s.path)
	if err != nil {
		return s.refuse(r, err)
	}
	t := &text{data: slices.Clone(f.data)}
	changed, err := s.put(t)
	if err == nil && changed {
		err = s.leavesAlone(f.data, t.data)
	}
	switch {
	case err != nil:
		return s.refuse(r, err)
	case !changed:
		return r
	}
	r.Outcome = connected
	if dry {
		r.Diff = linediff.Show(f.data, t.data)
		return r
	}
	if f.new {
		f.mode = s.mode(0o600, 0o644)
	}
	dirs, err := directories(f.path, s.mode(0o700, 0o755))
	if err == nil {
		err = f.write(t.data)
	}
	if err != nil {
		dropDirectories(dirs)
		return s.refuse(r, err)
	}
	log.note(s, f, t, dirs)
	return r
}

// mode is that of what a step makes. A program can be run by whoever reads it.
func (s step) mode(private, shared fs.FileMode) fs.FileMode {
	m := shared
	if s.secret {
		m = private
	}
	if s.run {
		m |= m >> 2 & 0o111
	}
	return m
}

// note records a change. It goes on from what was noted of the file if nobody
// else has written it since. Where somebody has, or where something of ours was
// there that nobody noted, what was before is not to be had back: then the
// record only tells what we made.
func (r *record) note(s step, f found, t *text, dirs []string) {
	c := change{Path: s.path, Client: s.client, Scope: s.scope, New: f.new, Edits: t.done, Made: t.made, Dirs: dirs, After: sum(t.data)}
	if !f.new {
		c.Before = sum(f.data)
	}
	had, err := s.take(&text{data: slices.Clone(f.data)})
	back := err == nil && !had && !(s.format == whole && isOurs(f.data))
	if old := r.of(s); old != nil && !f.new {
		c.New = old.New
		c.Made = append(slices.Clone(old.Made), c.Made...)
		c.Dirs = append(slices.Clone(old.Dirs), c.Dirs...)
		if back = old.After == c.Before; back {
			c.Before, c.Edits = old.Before, append(slices.Clone(old.Edits), c.Edits...)
		}
	}
	if !back {
		c.After, c.Edits = "", nil
	}
	r.forget(s)
	r.Files = append(r.Files, c)
}

func dropDirectories(dirs []string) {
	for _, d := range slices.Backward(dirs) {
		if os.Remove(d) != nil {
			return // something is in it
		}
	}
}

// refuse words why a file was left alone.
func (s step) refuse(r Touched, err error) Touched {
	r.Outcome = refused
	r.Problem = err.Error()
	if e, ok := errors.AsType[*FileError](err); ok {
		placed := *e
		if placed.Path == "" {
			placed.Path = s.path
		}
		r.Problem = placed.Error()
	} else if errors.Is(err, fs.ErrPermission) {
		r.Problem += ": make it writable, or put the entry there yourself"
	}
	r.Snippet = s.snippet()
	return r
}
