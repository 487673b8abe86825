package project

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"leanctx/internal/refusal"
	"leanctx/overview/tree"
)

const (
	idFileName = ".lean-ctx-id"
	maxID      = 256 // characters of an identity
	smallFile  = 4 << 10
)

// observe looks at a path without running git.
func (p *Registry) observe(path string) (*observation, error) {
	dir, err := startDir(path)
	if err != nil {
		return nil, err
	}
	s := &observation{root: dir, now: p.o.Now()}
	s.Root = dir
	for at := dir; ; {
		found, err := s.mark(at)
		if err != nil {
			return nil, err
		}
		up := filepath.Dir(at)
		if found || up == at {
			break
		}
		at = up
	}
	s.root, s.Root = slashed(s.root), slashed(s.Root)
	if s.common == "" {
		return s, nil
	}
	s.head, s.Remote, s.hasCommit = s.GitDir, readRemote(s.common), hasCommit(s.GitDir, s.common)
	if p.o.Worktrees == "share" {
		s.GitDir = s.common
		if root := mainTree(s.common); root != "" {
			s.Root = slashed(root)
		}
	}
	s.Birth = birth(s.GitDir)
	s.GitDir = slashed(s.GitDir)
	return s, nil
}

// startDir is the directory where the search upwards starts, with symbolic links resolved.
func startDir(path string) (string, error) {
	if path == "" {
		path = "."
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("the working directory is gone; change to one that exists or name the project: %w", err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no directory %s: %w", abs, err)
	}
	if isNotDir(err) {
		return "", noDirectory(abs)
	}
	if err != nil {
		return "", fmt.Errorf("which project %s belongs to cannot be found out: %w", abs, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", fmt.Errorf("which project %s belongs to cannot be found out: %w", abs, err)
	}
	if !info.IsDir() {
		return "", noDirectory(abs)
	}
	return real, nil
}

// noDirectory refuses a file, since its directory may be any directory, such as /etc.
func noDirectory(name string) error {
	return refusal.Argument("project", "%s is not a directory: a project is named by a directory in it", name)
}

// mark reports whether a project begins at a directory, and records the evidence.
func (s *observation) mark(dir string) (bool, error) {
	id, err := readID(dir)
	if err != nil {
		return false, err
	}
	gitDir, err := gitDirOf(dir)
	if err != nil && id == "" {
		return false, err
	}
	if id == "" && gitDir == "" {
		return false, nil
	}
	s.ID, s.root, s.Root = id, dir, dir
	if gitDir == "" {
		return true, nil
	}
	if filepath.Base(gitDir) == ".git" && filepath.Dir(gitDir) != dir && within(dir, gitDir) {
		s.root, s.Root = filepath.Dir(gitDir), filepath.Dir(gitDir) // inside of the git directory itself
	}
	s.GitDir, s.common = gitDir, commonDir(gitDir)
	return true, nil
}

func within(dir, parent string) bool {
	return dir == parent || strings.HasPrefix(dir, parent+string(filepath.Separator))
}

// readID reads the identity file of a directory. An identity is any text of one line.
func readID(dir string) (string, error) {
	name := filepath.Join(dir, idFileName)
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || isNotDir(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	bad := func(what string) (string, error) {
		return "", fmt.Errorf("%s %s: it must hold one line, 1 to %d characters, that names the project; fix or remove it", slashed(name), what, maxID)
	}
	if !info.Mode().IsRegular() {
		return bad("is not a file")
	}
	text, err := readSmall(name)
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	switch {
	case id == "":
		return bad("is empty")
	case len(text) >= smallFile, utf8.RuneCountInString(id) > maxID:
		return bad("is too long")
	case !utf8.ValidString(id):
		return bad("is not UTF-8")
	case strings.ContainsAny(id, "\r\n"):
		return bad("has more than one line")
	case strings.ContainsFunc(id, func(c rune) bool { return unicode.IsControl(c) || c == '\u2028' || c == '\u2029' }):
		return bad("has control characters")
	}
	return id, nil
}

func (s *observation) idFile() string { return s.root + "/" + idFileName }

// readSmall reads the first few KiB of a regular file.
func readSmall(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, smallFile))
	return string(data), err
}

// absolute is a path as it is recorded, whether it exists or not.
func absolute(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	} else if real, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(real, filepath.Base(abs))
	}
	return slashed(abs), nil
}

func slashed(name string) string { return normalPath(name, runtime.GOOS == "windows") }

// normalPath is the one spelling of an absolute path. It has forward slashes, none at the
// end, a capital drive letter and no \\?\ in front.
func normalPath(name string, windows bool) string {
	if windows {
		name = strings.ReplaceAll(name, `\`, "/")
		if rest, ok := strings.CutPrefix(name, "//?/UNC/"); ok {
			name = "//" + rest
		}
		name = strings.TrimPrefix(name, "//?/")
		if len(name) >= 2 && name[1] == ':' {
			name = strings.ToUpper(name[:1]) + name[1:]
		}
		if len(name) == 3 && name[1] == ':' {
			return name // C:/
		}
	}
	if len(name) > 1 {
		name = strings.TrimRight(name, "/")
	}
	return name
}

// projectName is the last component of a root.
func projectName(root string) string {
	name := strings.TrimSuffix(path.Base(root), ".git")
	if name == "" || name == "." || name == "/" {
		return root
	}
	return name
}

// exists reports whether a recorded place still exists. If that cannot be found out, it
// counts as existing.
func (p Place) exists() bool {
	name := p.GitDir
	if name == "" {
		name = p.Root
	}
	_, err := os.Stat(name)
	return !errors.Is(err, fs.ErrNotExist) && !isNotDir(err)
}

// birth is the time of a file of a git directory that git writes only once. While it is the same, the
// repository is the same, and git need not run. Without templates git writes no such file;
// then it is the time of a directory that only git's maintenance changes. It may be empty.
func birth(gitDir string) string {
	for _, name := range []string{"description", "commondir", "objects/info", "config"} {
		if info, err := os.Stat(filepath.Join(gitDir, name)); err == nil {
			return info.ModTime().UTC().Format(time.RFC3339Nano)
		}
	}
	return ""
}

// listFirstCommits finds the first commits of the repository.
func (p *Registry) listFirstCommits(ctx context.Context, s *observation) error {
	s.ranGit = true
	if s.common != "" && s.hasCommit {
		s.firstCommits = p.firstCommits(ctx, s.common, s.head)
	}
	return ctx.Err()
}

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// gitDirOf is the git directory of a work tree, or of a bare repository, whose top is dir; empty if it is none.
func gitDirOf(dir string) (string, error) {
	dot := filepath.Join(dir, ".git")
	info, err := os.Stat(dot)
	switch {
	case err == nil && info.IsDir():
		if isGitDir(dot) {
			return resolved(dot), nil
		}
	case err == nil && info.Mode().IsRegular():
		return followGitFile(dir, dot)
	}
	// A bare repository has its parts in dir itself; the rest of the tests is for that alone.
	if isGitDir(dir) {
		return dir, nil
	}
	return "", nil
}

// followGitFile reads "gitdir: path", the .git file of a linked work tree or a submodule.
func followGitFile(dir, dot string) (string, error) {
	text, err := readSmall(dot)
	if err != nil {
		return "", err
	}
	to, ok := strings.CutPrefix(strings.TrimSpace(text), "gitdir:")
	if !ok {
		return "", nil // not git's
	}
	to = filepath.FromSlash(strings.TrimSpace(to))
	if !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	if _, err := os.Stat(filepath.Join(to, "HEAD")); err != nil {
		return "", fmt.Errorf("%s points to %s, which is not a git directory: `git worktree repair` repairs it: %w", slashed(dot), slashed(to), err)
	}
	return resolved(to), nil
}

// isGitDir makes the same checks as git.
func isGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// commonDir is the directory of a repository that its work trees share.
func commonDir(gitDir string) string {
	text, err := readSmall(filepath.Join(gitDir, "commondir"))
	to := filepath.FromSlash(strings.TrimSpace(text))
	if err != nil || to == "" {
		return gitDir
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(gitDir, to)
	}
	return resolved(to)
}

func resolved(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	return filepath.Clean(name)
}

// mainTree is the root of a repository's first work tree; of a bare one, its own directory.
func mainTree(common string) string {
	if filepath.Base(common) == ".git" {
		return filepath.Dir(common)
	}
	if strings.HasSuffix(common, ".git") {
		return common
	}
	return ""
}

// readRemote is origin's URL, else the first remote's, as remoteName has it.
func readRemote(common string) string {
	f, err := os.Open(filepath.Join(common, "config"))
	if err != nil {
		return ""
	}
	defer f.Close()
	first, origin, section := "", "", ""
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			section = line
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || !strings.EqualFold(strings.TrimSpace(key), "url") || !strings.HasPrefix(section, "[remote ") {
			continue
		}
		value = remoteName(strings.Trim(strings.TrimSpace(value), `"`))
		if first == "" {
			first = value
		}
		if section == `[remote "origin"]` && origin == "" {
			origin = value
		}
	}
	if origin != "" {
		return origin
	}
	return first
}

// remoteName is a remote's URL without scheme, user, password, port and .git at the end, and
// with the host in lower case. So all URLs of a repository are equal.
func remoteName(url string) string {
	var rest string
	if _, after, ok := strings.Cut(url, "://"); ok {
		rest = after
	} else if host, name, ok := strings.Cut(url, ":"); ok && !strings.ContainsAny(host, `/\`) && len(host) > 1 {
		rest = host + "/" + strings.TrimPrefix(name, "/") // user@host:path
	} else {
		return strings.TrimSuffix(strings.TrimRight(filepath.ToSlash(url), "/"), ".git") // a path
	}
	host, name, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	if colon := strings.LastIndexByte(host, ':'); colon >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:colon]
	}
	return strings.ToLower(host) + "/" + strings.TrimSuffix(strings.TrimRight(name, "/"), ".git")
}

// hasCommit reports whether a repository has a commit at its HEAD, as far as files tell.
func hasCommit(gitDir, common string) bool {
	head, err := readSmall(filepath.Join(gitDir, "HEAD"))
	if err != nil {
		return false
	}
	ref, symbolic := strings.CutPrefix(strings.TrimSpace(head), "ref: ")
	if !symbolic {
		return true
	}
	if _, err := os.Stat(filepath.Join(common, filepath.FromSlash(ref))); err == nil {
		return true
	}
	for _, name := range []string{"packed-refs", "reftable"} {
		if _, err := os.Stat(filepath.Join(common, name)); err == nil {
			return true
		}
	}
	return false
}

// firstCommits asks git for the commits without parents that HEAD and the branches go back to. None if there
// is no git, no commit, a history cut short (then they are not the first), or no time.
func (p *Registry) firstCommits(ctx context.Context, common, head string) []string {
	if _, err := os.Stat(filepath.Join(common, "shallow")); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if head == "" {
		head = common
	}
	ctx, cancel := context.WithTimeout(ctx, p.o.GitTimeout)
	defer cancel()
	out, err := p.git(ctx, head, "rev-list", "--max-parents=0", "--branches", "HEAD")
	if err != nil { // a HEAD without a commit
		out, err = p.git(ctx, head, "rev-list", "--max-parents=0", "--branches")
	}
	if err != nil {
		if p.o.Logger != nil {
			p.o.Logger.Debug("git does not know the first commit", "git_dir", head, "error", err)
		}
		return nil
	}
	commits := strings.Fields(string(out))
	slices.Sort(commits)
	return commits[:min(len(commits), 16)]
}

// git runs git on a git directory.
func (p *Registry) git(ctx context.Context, gitDir string, args ...string) ([]byte, error) {
	return tree.Git(ctx, p.o.Git, gitDir, "", append([]string{"--no-replace-objects", "--git-dir=" + gitDir}, args...)...)
}
