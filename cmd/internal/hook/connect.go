package hook

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
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
			return nil, &refusal.HintError{Problem: fmt.Sprintf("unknown client %q", name), Hint: "known clients: " + strings.Join(Names(), ", ")}
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// wanted are the edits for the chosen clients, with a note for each client that lacks the scope.
// If such a client was named, that is an error too, and the others have their edits.
func (m Machine) wanted(o ConnectOptions) (all []edit, notes []string, err error) {
	scope := cmp.Or(o.Scope, User)
	if o.Remote.URL != "" {
		if scope = Project; cmp.Or(o.Scope, Project) != Project {
			return nil, nil, &refusal.HintError{Problem: fmt.Sprintf("--url writes to scope project, not %s", o.Scope), Hint: "leave --scope out"}
		}
	}
	chosen, err := choose(o.Clients, m.has)
	if err == nil && len(chosen) == 0 {
		notes = []string{"No client was found. Name one: lean-ctx connect " + strings.Join(Names(), " | ")}
	}
	lacks, advice := fmt.Sprintf("no scope %s", scope), ""
	if scope == Project && sameDir(m.Root, m.Home) {
		lacks, advice = lacks+" in the home directory, where the files are the user's", "use --scope user, or go to a project"
	} else if o.Remote.URL != "" {
		advice = "leave --url out"
	}
	var lacking []string
	for _, c := range chosen {
		edits := c.edits(m, scope)
		if o.Remote.URL != "" {
			edits = c.byURL(edits, o.Remote)
		}
		if all = append(all, edits...); len(edits) == 0 {
			lacking = append(lacking, c.name)
			notes = append(notes, fmt.Sprintf("%s: left out, it has %s", c.name, lacks))
			advice = cmp.Or(advice, "use "+strings.Join(scopesOf(c), " or "))
		}
	}
	if len(lacking) > 0 && len(o.Clients) > 0 {
		err = &refusal.HintError{Problem: lacks + ": " + strings.Join(lacking, ", "), Hint: advice}
	}
	return all, notes, err
}

// scopesOf lists the scopes of a client.
func scopesOf(c client) (names []string) {
	for _, s := range scopes {
		if c.servers[s] != "" {
			names = append(names, string(s))
		}
	}
	return names
}

// Connect writes the entries of clients. If a file cannot be edited, or a client lacks the scope,
// the report says so, and the other files are edited. For a named client that lacks the scope the
// error is an [*refusal.HintError].
func (m Machine) Connect(o ConnectOptions) (Report, error) {
	r := Report{Files: []FileReport{}}
	edits, notes, lacking := m.wanted(o)
	if len(edits) == 0 && lacking != nil {
		return r, lacking
	}
	rec, err := m.readRecord()
	if err != nil {
		return r, err
	}
	r.Notes = notes
	for _, e := range edits {
		if e.secret { // first it is kept from being committed
			f, err := m.protect(e, rec, o.DryRun)
			if err != nil {
				return r, err
			}
			if f.Outcome != unchanged {
				r.Files = append(r.Files, f)
			}
			if f.Outcome == refused {
				continue
			}
		}
		f, err := m.connect(e, rec, o.DryRun)
		if err != nil {
			return r, err
		}
		r.Files = append(r.Files, f)
		if changed := f.Outcome == connected || f.Outcome == wouldChange; changed && e.note != "" && !slices.Contains(r.Notes, e.note) {
			r.Notes = append(r.Notes, e.note)
		}
	}
	return r, lacking
}

// protect keeps a file that gets a token from being committed. Its report is refused if that is
// not possible.
func (m Machine) protect(e edit, rec *record, dry bool) (FileReport, error) {
	x, err := m.uncommitted(e)
	switch {
	case err != nil:
		return e.refused(err), nil
	case x == nil:
		return e.report(unchanged), nil
	}
	f, err := m.connect(*x, rec, dry)
	f.Snippet = ""
	return f, err
}

// connect does one edit. It returns an error only if the former file cannot be recorded,
// which stops everything. Problems with the client's file are in the report.
func (m Machine) connect(e edit, rec *record, dry bool) (FileReport, error) {
	r := e.report(unchanged)
	f, after, err := e.applied()
	open := e.secret && f.mode&0o077 != 0 && runtime.GOOS != "windows" // others can read it
	switch {
	case err != nil && e.secret: // a snippet with the token would be pasted into that file
		return e.refused(err), nil
	case err != nil:
		return e.notAdded(err), nil
	case bytes.Equal(after, f.data) && !f.new && !open:
		return r, nil
	case rec.of(e) == nil && e.foreign(f.data) != "":
		r.Note = fmt.Sprintf("An entry %q that starts something else was there: it is replaced, and disconnect puts it back.", server)
	case rec.of(e) == nil || sum(f.data) != rec.of(e).After:
		if have, _ := e.current(f.data); e.root != "" && have != nil {
			if names := e.strange(have); len(names) > 0 {
				r.Note = fmt.Sprintf("The entry %q is written anew. What others had put into it is gone: %s.", server, prose.ShortLine(strings.Join(names, ", ")))
			}
		}
	}
	if dry {
		r.Outcome, r.Diff = wouldChange, difference(f.data, after)
		return r, nil
	}
	// The record comes first, since without it nobody could undo the change.
	before, dirs := slices.Clone(rec.Files), missingDirs(f.path)
	rec.add(e, f, sum(after), dirs)
	if err := m.save(rec); err != nil {
		return r, fmt.Errorf("%s was not changed, because the record for undoing the change cannot be written: %w", f.path, err)
	}
	switch {
	case f.new:
		f.mode = e.mode(0o600, 0o644)
	case open:
		rec.of(e).Mode = f.mode
		if err := m.save(rec); err != nil {
			return r, err
		}
		f.mode &^= 0o077
	}
	if err = os.MkdirAll(filepath.Dir(f.path), e.mode(0o700, 0o755)); err == nil {
		err = f.write(after)
	}
	if err != nil {
		removeDirs(dirs)
		rec.Files = before
		return e.notAdded(errors.Join(err, m.save(rec))), nil
	}
	r.Outcome = connected
	return r, nil
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

// bearer is a token in the header of a client's entry.
var bearer = formats.Regexp(`(Bearer )[\w.-]+`)

// difference is what changes in a file, line by line.
func difference(before, after []byte) string {
	// A dry run is shown around: no token stands in it.
	before, after = bearer().ReplaceAll(before, []byte("$1…")), bearer().ReplaceAll(after, []byte("$1…"))
	_, hunks, _ := strings.Cut(string(diff.Diff("a", before, "b", after)), "\n+++ b\n")
	return "  " + strings.ReplaceAll(strings.TrimSuffix(strings.ReplaceAll(hunks, "\r", ""), "\n"), "\n", "\n  ") + "\n"
}

// Disconnect takes out what is ours.
func (m Machine) Disconnect(o ConnectOptions) (Report, error) {
	r := Report{Files: []FileReport{}}
	chosen, err := choose(o.Clients, func(*client) bool { return true })
	if err != nil {
		return r, err
	}
	rec, err := m.readRecord()
	if err != nil {
		return r, err
	}
	in, where, named := []Scope{o.Scope}, fmt.Sprintf(" in scope %s", o.Scope), o.Scope
	if o.Scope == "" {
		in, where, named = scopes, "", User
	}
	// The last edit first: two edits may have changed the same file.
	for _, scope := range slices.Backward(in) {
		for _, c := range slices.Backward(chosen) {
			for _, e := range slices.Backward(c.edits(m, scope)) {
				if o.Scope == "" && scope != User && rec.of(e) == nil {
					continue // somebody else may have connected the project
				}
				protected, isProtected := rec.protection(e)
				if f := e.disconnect(rec, o.DryRun); f.Outcome != notOurs || len(o.Clients) > 0 && scope == named {
					r.Files = append(r.Files, f)
				}
				if isProtected {
					r.Files = append(r.Files, protected.disconnect(rec, o.DryRun))
				}
			}
		}
	}
	slices.Reverse(r.Files)
	if len(r.Files) == 0 {
		r.Notes = []string{"Nothing is connected" + where + "."}
	}
	if o.DryRun {
		return r, nil
	}
	return r, m.save(rec)
}

// disconnect undoes one edit.
func (e edit) disconnect(rec *record, dry bool) FileReport {
	r, was := e.report(notOurs), rec.of(e)
	f, err := e.read()
	if _, odd := errors.AsType[*FileError](err); odd && was == nil {
		return r // we cannot have written it
	}
	data, gone := f.data, false
	mentions := e.format == lineOfFile || bytes.Contains(f.data, []byte(server)) || bytes.Contains(f.data, []byte(" hook "+e.client))
	if err == nil && (mentions || was != nil && sum(f.data) == was.After) {
		data, gone, err = e.remove(f.data, was)
	}
	changed := gone || !bytes.Equal(data, f.data)
	switch {
	case err != nil || !changed:
	case dry:
		r.Outcome, r.Diff = wouldRestore, difference(f.data, data)
	case gone:
		if err = f.unchanged(); err == nil {
			err = os.Remove(f.path)
		}
	default:
		if was != nil && was.Mode != 0 && f.mode == was.Mode&^0o077 {
			f.mode = was.Mode
		}
		err = f.write(data)
	}
	if err != nil {
		return e.notRemoved(err)
	}
	if dry {
		return r
	}
	switch {
	case changed && gone:
		r.Outcome = removed
	case changed:
		r.Outcome = restored
	}
	if was != nil && (gone || f.new) {
		rec.removeDirs(was.Dirs)
	}
	rec.forget(e)
	return r
}
