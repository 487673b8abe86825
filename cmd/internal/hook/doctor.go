package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
)

// The levels of a finding.
const (
	Fine    = "ok"
	Remark  = "note"
	Problem = "problem"
)

// Finding is the state of one thing.
type Finding struct {
	Level   string `json:"level"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
	Fix     string `json:"fix,omitempty"` // what to do
	client  string // connecting it again would help
	scope   Scope
}

// Examination is what was found.
type Examination struct {
	Findings []Finding `json:"findings"`
}

// Problems counts what has to be fixed.
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
	if n := e.Problems(); n > 0 {
		return b.String() + prose.Count(n, "problem") + "."
	}
	return b.String() + "No problems."
}

// Fix connects again what an examination found wrong, and closes the data
// directory to other people.
func (m Machine) Fix(e Examination) (Report, error) {
	r := Report{Files: []FileReport{}}
	if info, err := os.Stat(m.Data); err == nil && info.IsDir() && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		if err := os.Chmod(m.Data, 0o700); err != nil {
			return r, err
		}
		r.Notes = append(r.Notes, m.Data+": others cannot read it any more")
	}
	var done []string
	for _, f := range e.Findings {
		if key := f.client + " " + string(f.scope); f.client != "" && !slices.Contains(done, key) {
			done = append(done, key)
			again, err := m.Connect(ConnectOptions{Clients: []string{f.client}, Scope: f.scope})
			if err != nil {
				return r, err
			}
			r.Files, r.Notes = append(r.Files, again.Files...), append(r.Notes, again.Notes...)
		}
	}
	return r, nil
}

// Examine looks at every client's files, in every scope. It starts the servers of the user's own
// files and those that connect wrote. What else a project's file names it starts only if a person
// agrees: see MayStart. version is this program's.
func (m Machine) Examine(ctx context.Context, version string) Examination {
	x := examiner{m: m, version: version, started: map[string]Finding{}, named: map[string][]string{}, runs: m.lastRuns()}
	x.program()
	x.data()
	for _, c := range clients() {
		x.client(ctx, &c)
	}
	return x.Examination
}

type examiner struct {
	Examination
	m       Machine
	version string
	started map[string]Finding              // by command line: each is started once
	named   map[string][]string             // entries that are as good as connect's, by client and scope
	runs    map[string]map[string]time.Time // when each hook last ran, by client
}

func (x *examiner) add(f Finding) { x.Findings = append(x.Findings, f) }

func (x *examiner) program() {
	f := Finding{Level: Fine, Subject: "program", Text: fmt.Sprintf("version %s, started as %s", x.version, x.m.Command)}
	if x.m.Command != server {
		f.Level, f.Fix = Remark, "put it on PATH as lean-ctx; clients are given the whole path until then"
	}
	x.add(f)
}

// data looks at the data directory, which must be the user's alone.
func (x *examiner) data() {
	f := Finding{Level: Fine, Subject: "data directory", Text: x.m.Data}
	info, err := os.Stat(x.m.Data)
	switch {
	case errors.Is(err, os.ErrNotExist):
		f.Text += ", not made yet"
	case err != nil:
		f.Level, f.Text = Problem, err.Error()
	case !info.IsDir():
		f.Level, f.Text, f.Fix = Problem, x.m.Data+" is not a directory", "move it away, or set LEAN_CTX_DATA_DIR"
	default:
		if err := tryWriting(x.m.Data); err != nil {
			f.Level, f.Text, f.Fix = Problem, "cannot be written: "+err.Error(), "make room on its disk, or make it yours: ls -ld "+x.m.Data
		} else if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			f.Level, f.Text = Problem, fmt.Sprintf("%s can be read by others (%o)", x.m.Data, info.Mode().Perm())
			f.Fix = "chmod 700 " + x.m.Data
		}
	}
	x.add(f)
	switch log := filepath.Join(x.m.Data, "logs", "hook.log"); {
	case !exists(log):
	case logProblem(log) != nil:
		x.add(Finding{Level: Problem, Subject: "hooks", Text: logProblem(log).Error() + ": hooks write no log", Fix: "remove it: rm " + log})
	default:
		x.add(Finding{Level: Remark, Subject: "hooks", Text: "a hook has failed before: " + lastFailure(log), Fix: "look into " + log})
	}
}

// client looks at all files of one client.
func (x *examiner) client(ctx context.Context, c *client) {
	n := len(x.Findings)
	for _, scope := range scopes {
		if edits := c.edits(x.m, scope); len(edits) > 0 {
			byName := x.m
			byName.Command = x.m.sharedCommand()
			alternatives := c.edits(byName, scope)
			x.named[c.name+string(scope)] = []string{alternatives[0].entry}
			x.scope(ctx, c, edits, alternatives)
		}
	}
	if len(x.Findings) == n && x.m.has(c) {
		x.add(Finding{Level: Remark, Subject: c.name, Text: "is installed, and not connected", Fix: "lean-ctx connect " + c.name})
	}
}

// scope looks at the files of one client in one scope. It finds nothing if there is no entry
// of ours. alternatives are the same edits with the name of the program, where edits have its path.
func (x *examiner) scope(ctx context.Context, c *client, edits, alternatives []edit) {
	first := edits[0]
	again := fmt.Sprintf("lean-ctx connect %s --scope %s", c.name, first.scope)
	unreadable := func(e edit, err error) {
		x.add(Finding{Level: Problem, Subject: c.name, Text: e.refused(err).Problem, Fix: "fix the file; then " + again})
	}
	outdated := func(text string) {
		x.add(Finding{Level: Problem, Subject: c.name, Text: text, Fix: again + "; with --dry-run it shows the change", client: c.name, scope: first.scope})
	}
	var have any
	f, err := first.read()
	if err == nil {
		have, err = first.current(f.data)
	}
	if err != nil {
		unreadable(first, err)
	}
	if err != nil || have == nil {
		return
	}
	entry, _ := have.(map[string]any)
	found := Finding{Level: Problem, Text: "the entry names no command"}
	line, env := commandOf(entry)
	if address := addressOf(entry); address != "" {
		found = Finding{Level: Fine, Text: fmt.Sprintf("goes to %s, where lean-ctx serve must be running", address)}
		if problem := x.m.exposed(first, f, entry); problem != "" {
			x.add(Finding{Level: Problem, Subject: c.name, Text: first.path + ": " + problem, Fix: "lean-ctx connect " + c.name + " --url " + address})
			return
		}
		edits = nil
	} else if len(line) > 0 && !x.mayStart(first, line, env) {
		fix := fmt.Sprintf("look at it; %s replaces it", again)
		if x.m.Person {
			fix += fmt.Sprintf(", lean-ctx doctor --start %s starts it", c.name)
		}
		x.add(Finding{Level: Problem, Subject: c.name, Text: fmt.Sprintf("%s (%s): names %q, which is not what connect writes. A project's program is not started", first.path, first.scope, strings.Join(append(env, line...), " ")),
			Fix: fix})
		return
	} else if len(line) > 0 {
		found = x.startServer(ctx, line, env)
	}
	off := x.m.turnedOff(c, first.scope, false)
	if member := offInEntry(entry); member != "" {
		off = append(off, member+" in "+first.path)
	}
	if len(off) > 0 {
		x.add(Finding{Level: Problem, Subject: c.name, Text: "the server is switched off: " + strings.Join(off, "; "), Fix: "take it out of there, or leave it so if you mean it"})
	}
	found.Subject, found.Text = c.name, fmt.Sprintf("%s (%s): %s", first.path, first.scope, found.Text)
	if found.Level == Problem {
		outdated(found.Text)
		edits = edits[1:] // one problem of that file is enough
	} else {
		x.add(found)
	}
	hooks := x.m.path(c.hooks.files[first.scope])
	current := false
	for i, e := range edits {
		f, after, err := e.applied()
		if other := alternatives[len(alternatives)-len(edits)+i]; err == nil && !bytes.Equal(after, f.data) {
			if g, same, err := other.applied(); err == nil && bytes.Equal(same, g.data) {
				after = same
			}
		}
		switch {
		case err != nil:
			unreadable(e, err)
		case f.new || !bytes.Equal(after, f.data):
			outdated(e.path + ": " + e.difference(f, after, x.m.Command))
		default:
			current = current || e.events != nil || e.program || e.path == hooks
		}
	}
	if current {
		x.hooks(c, first.scope, hooks)
	}
}

// hooks says whether hooks that are written run.
func (x *examiner) hooks(c *client, scope Scope, file string) {
	f := Finding{Level: Fine, Subject: c.name, Text: fmt.Sprintf("%s: hooks are there, %s", file, x.ran(c))}
	if len(x.runs[c.name]) == 0 {
		f.Level, f.Fix = Remark, c.note
	}
	if c.untrusted != nil {
		if text := c.untrusted(x.m, file); text != "" {
			f.Level, f.Text, f.Fix = Remark, f.Text+"; "+text, c.note
		}
	}
	if off := x.m.turnedOff(c, scope, true); len(off) > 0 {
		f.Level, f.Text = Problem, f.Text+"; they are switched off: "+strings.Join(off, "; ")
		f.Fix = "take it out of there, or leave it so if you mean it"
	}
	x.add(f)
}

// difference says in what a file differs from what connect would write.
func (e edit) difference(f file, after []byte, command string) string {
	lineOf := func(data []byte) string {
		entry, _ := e.current(data)
		own, _ := entry.(map[string]any)
		line, _ := commandOf(own)
		return strings.Join(line, " ")
	}
	switch has, wanted := lineOf(f.data), lineOf(after); {
	case f.new:
		return "is missing"
	case e.format == ownFile:
		return "was changed, or another version of lean-ctx wrote it"
	case e.keys != nil && has != wanted:
		return fmt.Sprintf("starts %q, and connect would make it %q", has, wanted)
	}
	if have, _ := e.current(f.data); e.root != "" && have != nil {
		if names := e.strange(have); len(names) > 0 {
			return "the entry has more or something else than connect writes: " + prose.ShortLine(strings.Join(names, ", "))
		}
	}
	return fmt.Sprintf("a hook or a setting is missing, or a hook calls another program than %q", command)
}

// tryWriting makes a file in dir, as long as the longest value, and removes it.
func tryWriting(dir string) error {
	tmp, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(make([]byte, 64<<10))
	return errors.Join(err, tmp.Close(), os.Remove(tmp.Name()))
}
