package project

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

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

// followGitFile reads "gitdir: path", what a work tree beside the first, or a submodule, has for .git.
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
		return "", fmt.Errorf("%s points to %s, which is no git directory: `git worktree repair` mends it: %w", slashed(dot), slashed(to), err)
	}
	return resolved(to), nil
}

// isGitDir tests for what git itself asks of one.
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

// commonDir is where the repository of a git directory keeps what its work trees share.
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

// remoteName is a remote's URL without what differs between ways to the same repository: scheme,
// user, password, port, and .git at the end; the host in small letters.
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

// born reports whether a repository has a commit at its HEAD, as far as files tell.
func born(gitDir, common string) bool {
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
func (p *Atlas) firstCommits(ctx context.Context, common, head string) []string {
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

// has reports whether one of some commits is in a repository, be it only as what an amended
// one left behind.
func (p *Atlas) has(ctx context.Context, common string, commits []string) bool {
	ctx, cancel := context.WithTimeout(ctx, p.o.GitTimeout)
	defer cancel()
	return slices.ContainsFunc(commits, func(c string) bool {
		_, err := p.git(ctx, common, "cat-file", "-e", c+"^{commit}")
		return err == nil
	})
}

// git runs git on a git directory, as a reader that asks nobody and fetches nothing.
func (p *Atlas) git(ctx context.Context, gitDir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, p.o.Git, append([]string{"--no-pager", "--git-dir=" + gitDir}, args...)...)
	cmd.Env = append(withoutGit(os.Environ()), "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C")
	cmd.Dir = gitDir
	cmd.WaitDelay = p.o.GitTimeout
	return cmd.Output()
}

// withoutGit leaves out what would point git at another repository, as inside of a git hook.
func withoutGit(env []string) []string {
	return slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, "GIT_") })
}
