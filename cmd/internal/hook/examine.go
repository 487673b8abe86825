package hook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"leanctx/cmd/internal/hook/probe"
)

// How much a finding matters.
const (
	Fine    = "ok"
	Remark  = "note"
	Problem = "problem"
)

// Finding is one thing that was looked at.
type Finding struct {
	Level   string `json:"level"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
	Fix     string `json:"fix,omitempty"` // what to do
	client  string // that connecting again would mend
	scope   Scope
}

// Examination is what was found.
type Examination struct {
	Findings []Finding `json:"findings"`
}

// Problems counts what has to be mended.
func (e Examination) Problems() (n int) {
	for _, f := range e.Findings {
		if f.Level == Problem {
			n++
		}
	}
	return n
}

// Text gives the answer's lines.
func (e Examination) Text() string {
	var b strings.Builder
	for _, f := range e.Findings {
		fmt.Fprintf(&b, "%-7s  %s: %s\n", f.Level, f.Subject, f.Text)
		if f.Fix != "" {
			fmt.Fprintf(&b, "         → %s\n", f.Fix)
		}
	}
	switch n := e.Problems(); n {
	case 0:
		b.WriteString("No problems.")
	case 1:
		b.WriteString("1 problem.")
	default:
		fmt.Fprintf(&b, "%d problems.", n)
	}
	return b.String()
}

// Mend connects again what an examination found to be not as it should be, and
// takes the data directory from other people.
func (p Place) Mend(e Examination) (Report, error) {
	r := Report{Files: []Touched{}}
	if info, err := os.Stat(p.Data); err == nil && info.IsDir() && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		if err := os.Chmod(p.Data, 0o700); err != nil {
			return r, err
		}
		r.Notes = append(r.Notes, p.Data+": others cannot read it any more")
	}
	var done []string
	for _, f := range e.Findings {
		if key := f.client + " " + string(f.scope); f.client != "" && !slices.Contains(done, key) {
			done = append(done, key)
			again, err := p.Connect(Wish{Clients: []string{f.client}, Scope: f.scope})
			if err != nil {
				return r, err
			}
			r.Files, r.Notes = append(r.Files, again.Files...), append(r.Notes, again.Notes...)
		}
	}
	return r, nil
}

// Examine looks at every client's files, in every scope, and starts what they
// name. version is this program's.
func (p Place) Examine(ctx context.Context, version string) Examination {
	x := examiner{p: p, version: version, asked: map[string]Finding{}}
	x.program()
	x.data()
	for _, c := range clients() {
		x.client(ctx, &c)
	}
	return x.Examination
}

type examiner struct {
	Examination
	p       Place
	version string
	asked   map[string]Finding // by command line: each is started once
}

func (x *examiner) add(f Finding) { x.Findings = append(x.Findings, f) }

func (x *examiner) program() {
	f := Finding{Level: Fine, Subject: "program", Text: fmt.Sprintf("version %s, started as %s", x.version, x.p.Command)}
	if x.p.Command != server {
		f.Level, f.Fix = Remark, "put it on PATH as lean-ctx; clients are given the whole path until then"
	}
	x.add(f)
}

// data looks at the data directory: what is in it is nobody else's.
func (x *examiner) data() {
	f := Finding{Level: Fine, Subject: "data directory", Text: x.p.Data}
	info, err := os.Stat(x.p.Data)
	switch {
	case errors.Is(err, os.ErrNotExist):
		f.Text += ", not made yet"
	case err != nil:
		f.Level, f.Text = Problem, err.Error()
	case !info.IsDir():
		f.Level, f.Text, f.Fix = Problem, x.p.Data+" is no directory", "move it away, or set LEAN_CTX_DATA_DIR"
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		f.Level, f.Text = Problem, fmt.Sprintf("%s can be read by others (%o)", x.p.Data, info.Mode().Perm())
		f.Fix = "chmod 700 " + x.p.Data
	default:
		tmp, err := os.CreateTemp(x.p.Data, ".doctor-*")
		if err != nil {
			f.Level, f.Text, f.Fix = Problem, "cannot be written: "+err.Error(), "make it yours: ls -ld "+x.p.Data
			break
		}
		_ = tmp.Close()           // nothing was written
		_ = os.Remove(tmp.Name()) // it is ours
		if shut := closed(x.p.Data); shut != "" {
			f.Level, f.Text, f.Fix = Problem, shut+" cannot be read and written", "make it yours: ls -ld "+shut
		}
	}
	x.add(f)
	if log := filepath.Join(x.p.Data, "logs", "hook.log"); exists(log) {
		x.add(Finding{Level: Remark, Subject: "hooks", Text: "something once went wrong in one", Fix: "look into " + log})
	}
}

// closed is the first file or directory below dir that we may not read and
// write: one that was made by another user, or that a backup brought back.
func closed(dir string) (path string) {
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var f *os.File
			if f, err = os.OpenFile(p, os.O_RDWR, 0); err == nil {
				err = f.Close()
			}
		} else if err == nil && p == filepath.Join(dir, "models") {
			return fs.SkipDir // read only, and put there from elsewhere
		} else if err == nil && d.IsDir() {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil && info.Mode().Perm()&0o300 != 0o300 {
				err = fs.ErrPermission
			}
		}
		if errors.Is(err, fs.ErrPermission) {
			path = p
			return fs.SkipAll
		}
		return nil // what goes meanwhile is no fault
	})
	return path
}

func (x *examiner) client(ctx context.Context, c *client) {
	entries := false
	for _, scope := range []Scope{User, Project, Local} {
		steps := c.steps(x.p, scope)
		if !serves(steps) {
			continue
		}
		if x.scope(ctx, c, steps) {
			entries = true
		}
	}
	if !entries && x.p.found(c) && !slices.ContainsFunc(x.Findings, func(f Finding) bool { return f.Subject == c.name }) {
		x.add(Finding{Level: Remark, Subject: c.name, Text: "is here, and not connected", Fix: "lean-ctx connect " + c.name})
	}
}

// scope looks at the files of one client in one scope, and reports whether
// there is an entry of ours.
func (x *examiner) scope(ctx context.Context, c *client, steps []step) bool {
	first := steps[0]
	again := fmt.Sprintf("lean-ctx connect %s --scope %s", c.name, first.scope)
	f, err := readFile(first.path)
	var entry map[string]any
	if err == nil && !f.new {
		entry, err = first.entry(f.data)
	}
	if err != nil {
		refusedAs := first.refuse(Touched{}, err)
		x.add(Finding{Level: Problem, Subject: c.name, Text: refusedAs.Problem, Fix: "mend the file; then " + again})
		return false
	}
	if entry == nil {
		return false
	}
	s, ok := probe.Of(entry)
	if !ok {
		x.add(Finding{Level: Problem, Subject: c.name, Text: first.path + ": the entry names no command", Fix: again, client: c.name, scope: first.scope})
		return true
	}
	found := x.start(ctx, s)
	found.Subject = c.name
	found.Text = fmt.Sprintf("%s (%s): %s", first.path, first.scope, found.Text)
	if found.Level == Problem {
		found.Fix, found.client, found.scope = again, c.name, first.scope
	}
	x.add(found)
	if found.Level == Problem {
		steps = steps[1:] // of its file that is enough
	}
	hooks := Finding{}
	for _, s := range steps {
		if x.current(c, s, again) && s.hooks {
			hooks = Finding{Level: Fine, Subject: c.name, Text: x.p.path(c.hooks.files[s.scope]) + ": hooks are there"}
		}
	}
	if hooks.Text != "" {
		if c.note != "" {
			hooks.Level, hooks.Fix = Remark, c.note
		}
		x.add(hooks)
	}
	return true
}

// start starts a server, once for each command line.
func (x *examiner) start(ctx context.Context, s probe.Start) Finding {
	key := fmt.Sprint(s.String(), s.Env)
	f, ok := x.asked[key]
	if ok {
		return f
	}
	a, err := s.Ask(ctx, x.p.Root)
	switch {
	case err != nil:
		f = Finding{Level: Problem, Text: fmt.Sprintf("%q does not start: %v", s, err)}
	case !slices.Contains(a.Tools, "ctx_knowledge"):
		f = Finding{Level: Problem, Text: fmt.Sprintf("%q is no server of ours", s)}
	case a.Version != x.version:
		f = Finding{Level: Remark, Text: fmt.Sprintf("%q starts, %d tools; it is version %s, this is %s", s, len(a.Tools), a.Version, x.version)}
	default:
		f = Finding{Level: Fine, Text: fmt.Sprintf("%q starts, %d tools", s, len(a.Tools))}
	}
	x.asked[key] = f
	return f
}

// current tells whether a file is what connect would make of it, and says so
// where it is not.
func (x *examiner) current(c *client, s step, again string) bool {
	f, err := readFile(s.path)
	changed := false
	if err == nil {
		changed, err = s.put(&text{data: slices.Clone(f.data)})
	}
	switch {
	case err != nil:
		x.add(Finding{Level: Problem, Subject: c.name, Text: s.refuse(Touched{}, err).Problem, Fix: "mend the file; then " + again})
	case changed:
		x.add(Finding{Level: Problem, Subject: c.name, Text: s.path + ": not as this version writes it", Fix: again, client: c.name, scope: s.scope})
	}
	return err == nil && !changed
}
