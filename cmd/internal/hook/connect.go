package hook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	r := Report{Files: []Touched{}}
	chosen, err := choose(w.Clients, p.found)
	if err != nil {
		return r, err
	}
	if len(w.Clients) > 0 {
		if err := p.allHave(chosen, scope); err != nil {
			return r, err
		}
	}
	log, err := p.record()
	if err != nil {
		return r, err
	}
	for _, c := range chosen {
		steps := c.steps(p, scope)
		if !serves(steps) {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: left out, it has no scope %s", c.name, scope))
			continue
		}
		did := false
		for _, s := range steps {
			f, err := p.connect(s, log, w.DryRun)
			if err != nil {
				return r, err
			}
			r.Files = append(r.Files, f)
			did = did || f.Outcome == connected || f.Outcome == wouldChange
		}
		if c.note != "" && did {
			r.Notes = append(r.Notes, c.note)
		}
	}
	if len(chosen) == 0 {
		r.Notes = append(r.Notes, "No client was found. Name one: lean-ctx connect "+strings.Join(Names(), " | "))
	}
	return r, nil
}

// allHave fails if a client does not have a scope.
func (p Place) allHave(chosen []client, scope Scope) error {
	for _, c := range chosen {
		if serves(c.steps(p, scope)) {
			continue
		}
		if serves(c.every(p, scope)) {
			return &UnknownError{fmt.Sprintf("%s has no scope %s in the home directory: its file there is the user's", c.name, scope), "use --scope user, or go to a project"}
		}
		return &UnknownError{fmt.Sprintf("%s has no scope %s", c.name, scope), "use " + strings.Join(scopesOf(c), " or ")}
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
	for _, s := range []Scope{User, Project, Local} {
		if _, ok := c.servers[s]; ok {
			names = append(names, string(s))
		}
	}
	return names
}

// connect does one step. How to undo it is written first: an entry that nobody
// knows to take out again is worse than none. The error is that this cannot be
// written; what is wrong with the client's file stands in the answer.
func (p Place) connect(s step, log *record, dry bool) (Touched, error) {
	r := Touched{Client: s.client, Scope: s.scope, Path: s.path, Outcome: unchanged, program: s.run}
	f, err := readFile(s.path)
	if err != nil {
		return s.refuse(r, err), nil
	}
	t := &text{data: slices.Clone(f.data)}
	changed, err := s.put(t)
	if err == nil && changed {
		err = s.leavesAlone(f.data, t.data)
	}
	switch {
	case err != nil:
		return s.refuse(r, err), nil
	case !changed:
		return r, nil
	}
	if s.theirs(f.data) != "" {
		r.Note = fmt.Sprintf("An entry %q that starts something else was there: it is replaced, and disconnect puts it back.", server)
	}
	if dry {
		r.Outcome, r.Diff = wouldChange, linediff.Show(f.data, t.data)
		return r, nil
	}
	if fatal, err := p.write(s, log, f, t); err != nil {
		if r.Note = ""; fatal {
			return r, err
		}
		return s.refuse(r, err), nil
	}
	r.Outcome = connected
	return r, nil
}

// write notes a change and makes it. The error is fatal if it cannot be noted:
// then no other can.
func (p Place) write(s step, log *record, f found, t *text) (fatal bool, err error) {
	if f.new {
		f.mode = s.mode(0o600, 0o644)
	}
	dirs, err := directories(f.path, s.mode(0o700, 0o755))
	defer func() {
		if err != nil {
			dropDirectories(dirs)
		}
	}()
	if err != nil {
		return false, err
	}
	before := slices.Clone(log.Files)
	log.note(s, f, t, dirs)
	if err = p.save(log); err != nil {
		return true, fmt.Errorf("%s is left as it is, since how to undo a change cannot be written: %w", f.path, err)
	}
	if err = f.write(t.data); err != nil {
		log.Files = before
		err = errors.Join(err, p.save(log))
	}
	return false, err
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
// record only tells what we made, and what of theirs we replaced.
func (r *record) note(s step, f found, t *text, dirs []string) {
	c := change{Path: s.path, Client: s.client, Scope: s.scope, New: f.new, Edits: t.done, Made: t.made, Dirs: dirs, After: sum(t.data)}
	if !f.new {
		c.Before = sum(f.data)
	}
	ours := s
	if c.Theirs = s.theirs(f.data); c.Theirs != "" {
		ours = s.beside()
	}
	had, err := ours.take(&text{data: slices.Clone(f.data)})
	back := err == nil && !had && !(s.format == whole && isOurs(f.data))
	if old := r.of(s); old != nil && !f.new && old.Before != c.Before { // else it is what it was before us
		c.New = old.New
		c.Made = append(slices.Clone(old.Made), c.Made...)
		c.Dirs = append(slices.Clone(old.Dirs), c.Dirs...)
		if old.Theirs != "" {
			c.Theirs = old.Theirs
		}
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
