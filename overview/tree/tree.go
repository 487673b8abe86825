// Package tree lists the files of a project: those that git tracks or would track, without
// ignored ones.
//
// # Two ways
//
// In a git work tree we ask git (`git ls-files`), which is right by definition and fast. If
// there is no repository, or git refuses, we walk the directories and ask git which of the
// files its rules ignore (`git check-ignore`). Both ways give the same list: a test compares
// them. Without git, names that begin with a dot are left out, and a note says that nothing
// else is ignored.
//
// We do not read .gitignore ourselves. Libraries were rejected too: go-git is a whole git with
// twenty modules, and the others have had no commit since 2021.
//
// # What is not listed
//
// Symbolic links, so that nothing is listed twice and no loop is walked. Devices and sockets.
// Repositories within the project, and submodules: they are separate projects. The contents
// of a git directory. A bare repository has no files.
package tree

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"leanctx/internal/args"
)

// Options are the settings of List; nil and the zero value work.
type Options struct {
	Git        string        // the git program; default "git"
	GitTimeout time.Duration // for one run of git; default 30 s
	MaxFiles   int           // files to list; default 500,000
	Logger     *slog.Logger
}

// File is one regular file.
type File struct {
	Path    string // relative to the root, with slashes; any bytes but NUL
	Size    int64  // in bytes
	ModTime int64  // nanoseconds since 1970
}

// Tree is the files of a project, sorted by path.
type Tree struct {
	Files    []File
	Separate []string // directories that were skipped, with a slash at the end: other repositories, installed packages
	Git      bool     // git listed the files
	Head     string   // the commit that is checked out; empty if there is none
	Note     string   // a sentence on why there are no files, or not all; without a full stop
}

// List lists the files under root, which must be a directory.
func List(ctx context.Context, root string, o *Options) (*Tree, error) {
	l := &lister{root: root, seen: map[string]bool{}}
	if o != nil {
		l.o = *o
	}
	l.o.Git = cmp.Or(l.o.Git, "git")
	l.o.GitTimeout = cmp.Or(l.o.GitTimeout, 30*time.Second)
	l.o.MaxFiles = cmp.Or(l.o.MaxFiles, 500_000)
	l.o.Logger = cmp.Or(l.o.Logger, slog.New(slog.DiscardHandler))
	info, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "list", Path: root, Err: errors.New("not a directory")}
	}
	if err := l.list(ctx); err != nil {
		return nil, err
	}
	slices.SortFunc(l.out.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(l.out.Separate)
	return &l.out, nil
}

type lister struct {
	o    Options
	root string
	out  Tree
	seen map[string]bool
}

func (l *lister) list(ctx context.Context) error {
	// Before the first commit the first answer comes with an error.
	out, err := run(ctx, l.root, &l.o, "", "rev-parse", "--is-inside-work-tree", "--verify", "-q", "HEAD")
	answers := strings.Fields(string(out))
	switch {
	case len(answers) > 0 && answers[0] == "false":
		l.out.Note = "a bare repository or a git directory: no files are checked out here"
		return nil
	case len(answers) > 0:
		var names []string
		if names, err = l.lsFiles(ctx); err == nil {
			l.out.Git, l.out.Head = true, strings.Join(answers[1:], "")
			return l.stat(ctx, l.first(names))
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.o.Logger.Debug("git did not list the files", "root", l.root, "error", err) // there is none, no repository, or it refuses
	return l.walk(ctx)
}

// stat adds the named files. It leaves out those that are gone or not regular. A name that git
// gives for a directory is a submodule's, or that of a file which a directory has replaced.
func (l *lister) stat(ctx context.Context, names []string) error {
	l.out.Files = make([]File, 0, len(names))
	for _, name := range names {
		info, err := os.Lstat(l.root + "/" + name)
		switch {
		case err != nil:
		case info.IsDir():
			if i, _ := slices.BinarySearch(names, name+"/"); i == len(names) || !strings.HasPrefix(names[i], name+"/") {
				l.out.Separate = append(l.out.Separate, name+"/")
			}
		case info.Mode().IsRegular():
			l.out.Files = append(l.out.Files, File{name, info.Size(), info.ModTime().UnixNano()})
		}
	}
	return ctx.Err()
}

// first are the names that are looked at.
func (l *lister) first(names []string) []string {
	if len(names) > l.o.MaxFiles {
		names = names[:l.o.MaxFiles]
		l.note(fmt.Sprintf("more files than are looked at: only the first %d are listed", l.o.MaxFiles))
	}
	return names
}

func (l *lister) note(text string) {
	l.out.Note = strings.TrimPrefix(l.out.Note+"; "+text, "; ")
}

// Vendored reports whether a file is third-party code inside the project. dir is the
// directory that shows it, with a slash at the end.
func Vendored(name string) (dir string, ok bool) {
	for from := 0; ; {
		i := strings.IndexByte(name[from:], '/')
		if i < 0 {
			return "", false
		}
		if part := name[from : from+i]; vendors[part] || installed[part] {
			return name[:from+i+1], true
		}
		from += i + 1
	}
}

// vendors are directories of third-party code that is kept with the project.
var vendors = map[string]bool{"vendor": true, "third_party": true, "thirdparty": true, "3rdparty": true, "Godeps": true, "_vendor": true}

// installed are directories that a package manager fills. A walk skips them.
var installed = map[string]bool{
	"node_modules": true, "bower_components": true, "jspm_packages": true, ".venv": true, "site-packages": true, "__pycache__": true,
	".tox": true, ".nox": true, ".mypy_cache": true, ".pytest_cache": true, ".ruff_cache": true, "Pods": true, "Carthage": true, ".gradle": true, ".yarn": true,
}

// caches are directories of a home directory. They count only at the top of a walk.
var caches = map[string]bool{
	".cache": true, ".npm": true, ".cargo": true, ".rustup": true, ".pyenv": true, ".nvm": true, ".m2": true, ".local": true, ".bun": true, ".deno": true, ".Trash": true,
}

// walk lists the files without git, and leaves out what git ignores. What cannot be read is left out.
func (l *lister) walk(ctx context.Context) error {
	var names []string
	top := l.root + string(filepath.Separator) // a link is followed then
	err := filepath.WalkDir(top, func(full string, e fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(l.root, full)
		name := filepath.ToSlash(rel)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil || relErr != nil:
			l.o.Logger.Debug("a directory is left out", "directory", full, "error", errors.Join(err, relErr))
		case e.IsDir() && name != ".":
			return l.enter(full, name)
		case e.Type().IsRegular() && e.Name() != ".git":
			names = append(names, name)
		}
		if len(names) > l.o.MaxFiles {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return err
	}
	names = l.first(names)
	files, err := l.notIgnored(ctx, names)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		l.o.Logger.Debug("git did not say what is ignored", "root", l.root, "error", err)
		l.note("git did not answer: .gitignore is not read, and names that begin with a dot are left out")
		files = slices.DeleteFunc(names, func(name string) bool { return strings.Contains("/"+name, "/.") })
	}
	return l.stat(ctx, files)
}

// enter says whether a walk goes into a directory below the root: not into git's own, into other
// repositories, and into what programs fill.
func (l *lister) enter(full, name string) error {
	base := path.Base(name)
	if base == ".git" {
		return fs.SkipDir
	}
	_, err := os.Lstat(filepath.Join(full, ".git"))
	if err == nil || installed[base] || caches[name] || name == "go/pkg" {
		l.out.Separate = append(l.out.Separate, name+"/")
		return fs.SkipDir
	}
	return nil
}

// notIgnored are the names that git's rules do not ignore. git wants a repository even for that: it
// gets an empty one beside.
func (l *lister) notIgnored(ctx context.Context, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "lean-ctx-git-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for _, part := range []string{"objects", "refs", "info"} {
		if err := os.Mkdir(filepath.Join(dir, part), 0o700); err != nil {
			return nil, err
		}
	}
	exclude, _ := args.File("", filepath.Join(l.root, ".git", "info", "exclude"), 1<<20) // mostly there is none
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600), os.WriteFile(filepath.Join(dir, "info", "exclude"), exclude, 0o600)); err != nil {
		return nil, err
	}
	const here = "./" // else a name that begins with a colon is a pattern
	out, err := run(ctx, l.root, &l.o, here+strings.Join(names, "\x00"+here), "--git-dir="+dir, "--work-tree="+l.root, "check-ignore", "--no-index", "--stdin", "-z")
	if e, none := errors.AsType[*exec.ExitError](err); none && e.ExitCode() == 1 {
		err = nil
	}
	ignored := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		ignored[strings.TrimPrefix(name, here)] = true
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return ignored[name] }), err
}

// Ignored are the names, relative to root, of files that git's rules ignore. git wants no
// repository for that: a .gitignore counts without one too.
func Ignored(ctx context.Context, root string, names []string, o *Options) ([]string, error) {
	l := &lister{root: root}
	if o != nil {
		l.o = *o
	}
	l.o.Git = cmp.Or(l.o.Git, "git")
	l.o.GitTimeout = cmp.Or(l.o.GitTimeout, 5*time.Second)
	const here = "./"
	out, err := run(ctx, root, &l.o, here+strings.Join(names, "\x00"+here), "check-ignore", "--stdin", "-z")
	e, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		var ignored []string
		for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
			ignored = append(ignored, strings.TrimPrefix(name, here))
		}
		return ignored, nil
	case failed && e.ExitCode() == 1:
		return nil, nil
	}
	kept, err := l.notIgnored(ctx, names) // no repository, or git refuses it
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(kept, name) }), err
}

// lsFiles are the names of what git keeps and of what it would, each once.
func (l *lister) lsFiles(ctx context.Context) ([]string, error) {
	out, err := run(ctx, l.root, &l.o, "", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, bytes.Count(out, []byte{0}))
	for name := range strings.SplitSeq(string(out), "\x00") {
		switch {
		case name == "":
		case strings.HasSuffix(name, "/"): // an untracked repository within
			l.out.Separate = append(l.out.Separate, name)
		default:
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil // unmerged files are listed three times
}

// History is what the last commits say.
type History struct {
	Touched map[string]int // files, and how many commits ago: 0 for those of the newest commit, 1 for the one before, and so on
	Commits []Commit       // the newest first, without those of more than maxTogether files
}

// Commit is what one commit did.
type Commit struct {
	Subject string   // the first line of what it says
	Files   []string // that it touched
}

// maxTogether is how many files a commit may touch for it to tell which belong
// together: a larger one renames, formats or imports.
const maxTogether = 30

// Recent tells what the last commits touched, at most n of them back from head.
// Names are relative to root. It takes two seconds at most; what git does not tell
// in that time is not known.
func Recent(ctx context.Context, root, head string, commits int, o *Options) (History, error) {
	settings := Options{}
	if o != nil {
		settings = *o
	}
	settings.Git = cmp.Or(settings.Git, "git")
	settings.GitTimeout = 2 * time.Second
	ctx, cancel := context.WithTimeout(ctx, settings.GitTimeout)
	defer cancel()
	out, err := git(ctx, settings.Git, root, "", historyOutput, []string{historyMemory}, "log", "-z", "-n", strconv.Itoa(commits), "--no-merges", "--no-renames", "--relative", "--name-only", "--format=%x01%s", head)
	if err != nil {
		return History{}, err
	}
	h := History{Touched: map[string]int{}}
	n := 0
	for part := range strings.SplitSeq(string(out), "\x01") {
		subject, rest, _ := strings.Cut(part, "\x00")
		files := strings.FieldsFunc(strings.TrimPrefix(rest, "\n"), func(c rune) bool { return c == 0 })
		if subject == "" && len(files) == 0 {
			continue
		}
		for _, f := range files {
			if _, known := h.Touched[f]; !known {
				h.Touched[f] = n
			}
		}
		if len(files) > 0 && len(files) <= maxTogether {
			h.Commits = append(h.Commits, Commit{subject, files})
		}
		n++
	}
	return h, nil
}

// What git may use to tell of the last commits. A commit of a few KiB can touch any number of files: it
// names one tree many times, on several levels. git keeps them all until it has the last, so its list
// of them must not grow on. The limit is that of one allocation: 2 MiB hold the list of 260,000 files.
const (
	historyMemory = "GIT_ALLOC_LIMIT=2m"
	historyOutput = 32 << 20
)

// run runs git as the options say.
func run(ctx context.Context, dir string, o *Options, input string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, o.GitTimeout)
	defer cancel()
	return Git(ctx, o.Git, dir, input, args...)
}

// Git runs the git program in dir with a standard input. It only reads: it prompts nobody,
// fetches nothing, and runs no program that the repository's configuration names. No protocol
// is allowed, since a git before 2.44 fetches what a partial clone lacks whatever it is told.
func Git(ctx context.Context, program, dir, input string, args ...string) ([]byte, error) {
	return git(ctx, program, dir, input, maxOutput, nil, args...)
}

// maxOutput is the most bytes of an answer of git: the names of two million files.
const maxOutput = 256 << 20

// bounded holds what is written to it, up to some bytes.
type bounded struct {
	bytes.Buffer
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		return 0, fmt.Errorf("git gave more than %d MiB", b.most>>20)
	}
	return b.Buffer.Write(p)
}

// gitCommands are the commands of git that are run. None of them runs a program that the repository's
// configuration or attributes name: status, diff and add run filters.
var gitCommands = []string{"rev-parse", "rev-list", "ls-files", "check-ignore", "log", "config"}

// git is [Git] with variables of its own, and with a limit to the answer.
func git(ctx context.Context, program, dir, input string, most int, env []string, args ...string) ([]byte, error) {
	if i := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") }); i < 0 || !slices.Contains(gitCommands, args[i]) {
		return nil, fmt.Errorf("git %s is not run: it may run programs that a repository names", strings.Join(args, " "))
	}
	fixed := []string{"--no-pager", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "log.showSignature=false"}
	cmd := exec.CommandContext(ctx, program, append(fixed, args...)...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
	cmd.Env = append(gitEnv(os.Environ()), "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	cmd.Env = append(cmd.Env, env...)
	cmd.WaitDelay = time.Second
	endWithUs(cmd)
	out := &bounded{most: most}
	cmd.Stdout = out
	err := cmd.Run()
	return out.Bytes(), err
}

// gitNeeds are the variables that git gets: where programs, the user's configuration and room for files
// are, and who the user is. Others point it at another repository, as they do inside a git hook, or have it
// load a library: an entry of a client that a repository wrote may have set any.
var gitNeeds = []string{
	"PATH", "HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "SUDO_UID", "TMPDIR",
	"USERPROFILE", "HOMEDRIVE", "HOMEPATH", "USERNAME", "USERDOMAIN", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP",
}

// gitEnv is what git gets of an environment, with the variables that say where its configuration is.
func gitEnv(env []string) (out []string) {
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		if name = strings.ToUpper(name); slices.Contains(gitNeeds, name) || strings.HasPrefix(name, "GIT_CONFIG_") || strings.HasPrefix(name, "GIT_CEILING_") {
			out = append(out, v)
		}
	}
	return out
}
