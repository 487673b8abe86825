package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// shortPath is where a client that was started from the desktop looks for programs. A shell's
// PATH has more directories.
func (m Machine) shortPath() []string {
	switch m.system() {
	case "windows": // the desktop has the user's PATH
		return filepath.SplitList(m.Getenv("PATH"))
	case "darwin":
		return []string{"/usr/bin", "/bin", "/usr/sbin", "/sbin"}
	default:
		return []string{"/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"}
	}
}

// OnShortPath finds a program where also a client that was started from the desktop finds it.
func (m Machine) OnShortPath(name string) (path string, found bool) {
	for _, dir := range m.shortPath() {
		path := filepath.Join(dir, name)
		if found, err := exec.LookPath(path); err == nil && filepath.IsAbs(path) {
			return found, true
		}
	}
	return "", false
}

// passedOn are the variables that every client gives to a server.
var passedOn = []string{
	"HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "SHELL", "TERM", "TMPDIR",
	"SYSTEMROOT", "SYSTEMDRIVE", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", "PATHEXT", "COMSPEC", // of Windows
}

// environment is what a server gets from a client that passes on nothing but what its entry says.
// What a client puts in the place of the project's directory is put there.
func (m Machine) environment(entry []string) []string {
	env := []string{"PATH=" + strings.Join(m.shortPath(), string(os.PathListSeparator))}
	for _, name := range passedOn {
		if value := m.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	for _, v := range entry {
		env = append(env, strings.ReplaceAll(v, workspaceFolder, m.Root))
	}
	return env
}

// mayStart says whether doctor starts what an entry names: what stands in a file of the user, what
// connect would write, and what a person agrees to. A repository's file could name any program.
func (x *examiner) mayStart(e edit, line, env []string) bool {
	return e.root == "" || x.ours(e, line, env) || x.m.MayStart != nil && x.m.MayStart(e.client, append(slices.Clone(env), line...))
}

// ours reports whether an entry is one that connect would write.
func (x *examiner) ours(e edit, line, env []string) bool {
	return slices.ContainsFunc(x.written(e), func(entry string) bool {
		var ours map[string]any
		_ = json.Unmarshal([]byte(entry), &ours) // a row of the table, filled
		ourLine, ourEnv := commandOf(ours)
		return slices.Equal(line, ourLine) && slices.Equal(env, ourEnv)
	})
}

// written are the entries that connect writes into the file of an edit: with the program's name,
// or with its path.
func (x *examiner) written(e edit) []string {
	return append([]string{e.entry}, x.named[e.client+string(e.scope)]...)
}

// startServer starts the server of an entry, once for each command line and environment.
func (x *examiner) startServer(ctx context.Context, line, env []string) Finding {
	command := strings.Join(line, " ")
	key := command + "\n" + strings.Join(env, "\n")
	if f, ok := x.started[key]; ok {
		return f
	}
	program, far := line[0], ""
	if filepath.Base(program) == program {
		path, found := x.m.OnShortPath(program)
		if !found {
			if path, _ = exec.LookPath(program); path != "" {
				far = path
			}
		}
		if path != "" {
			program = path
		}
	}
	cmd := exec.Command(program, line[1:]...)
	cmd.Dir, cmd.Env = x.m.Root, x.m.environment(env)
	version, tools, err := x.m.Probe(ctx, cmd)
	f := Finding{Level: Fine, Text: fmt.Sprintf("%q starts, %d tools", command, len(tools))}
	switch {
	case err != nil:
		f = Finding{Level: Problem, Text: fmt.Sprintf("%q does not start: %v", command, err)}
	case !slices.Contains(tools, "ctx_knowledge"):
		f = Finding{Level: Problem, Text: fmt.Sprintf("%q is not a lean-ctx server", command)}
	case version != x.version:
		f.Level = Remark
		f.Text += fmt.Sprintf("; it is version %s, this is %s", version, x.version)
	case far != "":
		f.Level = Remark
		f.Text += fmt.Sprintf("; a client that was started from the desktop may not find it: it is in %s", filepath.Dir(far))
		f.Fix = "lean-ctx connect writes the whole path"
	}
	if data := dataDirOf(env); err == nil && data != "" && filepath.Clean(data) != filepath.Clean(x.m.Data) {
		f.Level = Remark
		f.Text += fmt.Sprintf("; it keeps its facts in %s, and this command in %s", data, x.m.Data)
	}
	x.started[key] = f
	return f
}

// dataDirOf is the data directory that an entry names, or empty.
func dataDirOf(env []string) string {
	for _, v := range env {
		if dir, ok := strings.CutPrefix(v, dataDirVar+"="); ok {
			return dir
		}
	}
	return ""
}
