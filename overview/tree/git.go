package tree

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// place is where a directory stands, as git sees it.
type place struct {
	bare   bool
	inside bool // in a git directory
	tree   bool // in a work tree
	head   string
}

// place asks git about the root; not known if there is no git, no repository, or git refuses to speak of it.
func (l *lister) place(ctx context.Context) (place, bool) {
	out, err := git(ctx, l.root, &l.o, "rev-parse", "--is-bare-repository", "--is-inside-git-dir", "--is-inside-work-tree", "--verify", "-q", "HEAD")
	lines := strings.Fields(string(out))
	if len(lines) < 3 { // before the first commit the three answers come with an error
		l.o.Logger.Debug("git does not know the directory", "root", l.root, "error", err)
		return place{}, false
	}
	p := place{bare: lines[0] == "true", inside: lines[1] == "true", tree: lines[2] == "true"}
	if len(lines) > 3 {
		p.head = lines[3]
	}
	p.bare = p.bare && !p.tree
	return p, true
}

// lsFiles are the names of what git keeps and of what it would, each once.
func (l *lister) lsFiles(ctx context.Context) ([]string, error) {
	out, err := git(ctx, l.root, &l.o, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, bytes.Count(out, []byte{0}))
	for name := range strings.SplitSeq(string(out), "\x00") {
		switch {
		case name == "":
		case strings.HasSuffix(name, "/"): // an untracked repository within
			l.out.Apart = append(l.out.Apart, name)
		default:
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names) // unmerged ones stand there three times
	return l.withoutModules(names), nil
}

// withoutModules takes submodules out of the names. Git lists them like
// files; they are directories.
func (l *lister) withoutModules(names []string) []string {
	data, err := os.ReadFile(filepath.Join(l.root, ".gitmodules"))
	if err != nil {
		return names
	}
	for line := range strings.Lines(string(data)) {
		key, value, ok := strings.Cut(line, "=")
		if !ok || strings.TrimSpace(key) != "path" {
			continue
		}
		module := strings.Trim(strings.TrimSpace(value), `"`)
		if i, found := slices.BinarySearch(names, module); found {
			names = slices.Delete(names, i, i+1)
			l.out.Apart = append(l.out.Apart, module+"/")
		}
	}
	return names
}

// excludesFile is the user's own excludes file, as git has it configured.
func (l *lister) excludesFile(ctx context.Context) string {
	if l.o.Excludes != "" {
		return l.o.Excludes
	}
	out, err := git(ctx, l.root, &l.o, "config", "--get", "--type=path", "core.excludesFile")
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(out), "\n")
}

// History is what the last commits say.
type History struct {
	Touched map[string]int // files, and how many commits ago: 0 for those of the newest commit, 1 for the one before, and so on
	Commits []Commit       // the newest first, without those of more than togetherMost files
}

// Commit is what one commit did.
type Commit struct {
	Subject string   // the first line of what it says
	Files   []string // that it touched
}

// togetherMost is how many files a commit may touch for it to tell which belong
// together: a larger one renames, formats or imports.
const togetherMost = 30

// Recent tells what the last commits touched, at most so many back from head.
// Names are relative to root. It takes two seconds at most; what git does not tell
// in that time is not known.
func Recent(ctx context.Context, root, head string, commits int, o *Options) (History, error) {
	settings := Options{}
	if o != nil {
		settings = *o
	}
	if settings.Git == "" {
		settings.Git = "git"
	}
	settings.GitTimeout = 2 * time.Second
	out, err := git(ctx, root, &settings, "log", "-z", "-n", strconv.Itoa(commits), "--no-merges", "--no-renames", "--relative", "--name-only", "--format=%x01%s", head)
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
		if len(files) > 0 && len(files) <= togetherMost {
			h.Commits = append(h.Commits, Commit{subject, files})
		}
		n++
	}
	return h, nil
}

// git runs git in dir, as a reader that asks nobody, fetches nothing and runs
// nothing that the repository's configuration names.
func git(ctx context.Context, dir string, o *Options, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, o.GitTimeout)
	defer cancel()
	fixed := []string{"--no-pager", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "log.showSignature=false"}
	cmd := exec.CommandContext(ctx, o.Git, append(fixed, args...)...)
	cmd.Dir = dir
	cmd.Env = append(withoutGit(os.Environ()), "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	cmd.WaitDelay = time.Second
	return cmd.Output()
}

// withoutGit leaves out what would point git at another repository, as inside
// of a git hook. Where its configuration stands is the user's word and stays.
func withoutGit(env []string) []string {
	return slices.DeleteFunc(env, func(v string) bool {
		return strings.HasPrefix(v, "GIT_") && !strings.HasPrefix(v, "GIT_CONFIG_") && !strings.HasPrefix(v, "GIT_CEILING_")
	})
}
