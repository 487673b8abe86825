package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"leanctx/internal/atomicfile"
	"leanctx/internal/journal"
	"leanctx/internal/refusal"
	"leanctx/overview/tree"
)

const (
	idFileName = ".lean-ctx-id"
	maxID      = 256 // characters of an identity
	smallFile  = 4 << 10
	gitConfig  = 1 << 20 // bytes of git's configuration that are read
)

// observe looks at a path without running git. refused are directories whose git directory git
// does not accept.
func (p *Registry) observe(path string, refused ...string) (*observation, error) {
	dir, err := startDir(path)
	if err != nil {
		return nil, err
	}
	s := &observation{path: path, refused: refused, root: dir, home: p.home, now: p.o.Now(), stats: stats{}}
	s.Root = dir
	for at := dir; ; {
		last, err := s.mark(at)
		if err != nil {
			return nil, err
		}
		up := filepath.Dir(at)
		if last || up == at {
			break
		}
		at = up
	}
	s.secrets, s.Claim = p.texts.secrets(s.secretDir), s.ID
	s.root, s.Root = slashed(s.root), slashed(s.Root)
	if s.common != "" {
		s.Remote, s.hasCommit = p.texts.remote(s.common, s.stats), p.texts.hasCommit(s.GitDir, s.common, s.stats)
	}
	return s, nil
}

// place is the observation with its place as this registry records it: where work trees share a
// project, that of the repository's main one.
func (p *Registry) place(s *observation) *observation {
	placed := *s
	s = &placed
	if s.common == "" {
		s.Birth = directoryID(filepath.FromSlash(s.Root))
		return s
	}
	if p.o.Worktrees == "share" {
		s.GitDir = s.common
		if root := mainTree(s.common); root != "" {
			s.Root = slashed(root)
		}
	}
	s.Birth = birth(s.GitDir, s.stats)
	s.GitDir = slashed(s.GitDir)
	return s
}

// directoryID tells a directory from others while it exists, also after it has moved within its file
// system. It is empty where the system has no such thing.
func directoryID(dir string) string {
	info, err := os.Lstat(dir)
	if err != nil {
		return ""
	}
	return fileID(info)
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

// mark reports whether nothing above a directory matters, and records the evidence in it: an
// identity file, a git directory. A .git that is not taken for one is the end too. What is above
// belongs to somebody else.
func (s *observation) mark(dir string) (last bool, err error) {
	if s.ID == "" {
		if s.ID, err = readID(dir); err != nil {
			s.refusal = err.Error() // anybody may have put it there: it says nothing
		}
		if s.ID != "" {
			s.root, s.Root = dir, dir
		}
	}
	g, err := gitMarkOf(dir, s.stats)
	if err != nil {
		if s.ID == "" {
			return false, err
		}
		return true, nil
	}
	top := dir
	if filepath.Base(g.dir) == ".git" && filepath.Dir(g.dir) != dir && within(dir, g.dir) {
		top = filepath.Dir(g.dir) // dir is inside of the git directory itself
	}
	if g.bare && top == dir && (slices.Contains(s.refused, top) || inWorkTree(dir)) {
		return false, nil // these are files of a project above
	}
	if g.dir != "" && slices.Contains(s.refused, top) {
		g.why = "git does not accept it"
	}
	switch {
	case g.why != "" && g.foreign: // what another user puts above a directory is not even the end
		s.refusal = refusedBy(dir, g.why)
		return false, nil
	case g.why != "":
		if s.ID == "" {
			s.root, s.Root = dir, dir
		}
		s.refusal, s.ended = refusedBy(dir, g.why), true
		return true, nil
	case g.dir == "":
		return false, nil
	}
	s.gitRoot, s.secretDir, s.foreign = top, g.common, g.foreign
	if s.ID == "" || s.Root == dir {
		s.root, s.Root = top, top
		s.GitDir, s.common = g.dir, g.common
	}
	return true, nil
}

// inWorkTree reports whether something above a directory looks like the top of a work tree. What looks like a
// bare repository in one came with it: any clone can bring one, whose configuration leads git elsewhere.
func inWorkTree(dir string) bool {
	for up := filepath.Dir(dir); up != dir; dir, up = up, filepath.Dir(up) {
		if _, err := os.Lstat(filepath.Join(up, ".git")); err == nil {
			return true
		}
	}
	return false
}

func refusedBy(dir, why string) string {
	return fmt.Sprintf("the repository at %s is not used: %s", slashed(dir), why)
}

func within(dir, parent string) bool {
	return dir == parent || strings.HasPrefix(dir, parent+string(filepath.Separator))
}

// readID reads the identity file of a directory. An identity is any text of one line. The error says
// why a file is not taken for one.
func readID(dir string) (string, error) {
	name := filepath.Join(dir, idFileName)
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || isNotDir(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if !atomicfile.Owned(info) || info.Mode()&fs.ModeSymlink != 0 {
		return "", nil // somebody else's word, or a link to it
	}
	bad := func(what string) (string, error) {
		return "", fmt.Errorf("%s %s: it must hold one line, 1 to %d characters, that names the project; it is not used", slashed(name), what, maxID)
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
func readSmall(name string) (string, error) { return readUpTo(name, smallFile) }

// readUpTo reads the first bytes of a regular file.
func readUpTo(name string, most int64) (string, error) {
	f, err := openRegular(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most))
	return string(data), err
}

// openRegular opens a regular file. Anybody may have made it, so nothing waits for a pipe.
func openRegular(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, f.Close(), fmt.Errorf("%s is no regular file", name))
	}
	return f, nil
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
func birth(gitDir string, at stats) string {
	for _, name := range []string{"description", "commondir", "objects/info", "config"} {
		if info, err := at.of(filepath.Join(gitDir, name)); err == nil {
			return info.ModTime().UTC().Format(time.RFC3339Nano)
		}
	}
	return ""
}

// askGit has git say whether it accepts the repository, and then which its first commits are.
// What it does not accept, by safe.directory, safe.bareRepository or else, is no repository.
func (p *Registry) askGit(ctx context.Context, s *observation) error {
	s.ranGit = true
	if s.gitRoot == "" {
		return ctx.Err()
	}
	if !p.accepts(ctx, s) {
		seen, err := p.observe(s.path, append(s.refused, s.gitRoot)...)
		if err != nil {
			return err
		}
		seen.learn = s.learn
		*s = *p.place(seen)
		return ctx.Err()
	}
	if s.foreign = false; s.common != "" && s.hasCommit {
		// For a hint the list may be as old as the process.
		known := !s.learn
		if known {
			var list any
			list, known = p.answers.Load("commits " + s.key() + s.Birth)
			s.firstCommits, _ = list.([]string)
		}
		if !known {
			s.firstCommits = p.firstCommits(ctx, s.gitRoot, s.common, p.listTime(ctx, s.learn))
			p.answers.Store("commits "+s.key()+s.Birth, s.firstCommits)
		}
	}
	return ctx.Err()
}

// accepts reports whether git works in the work tree of an observation. git is asked once.
// Without git, or without an answer, the files must do; but another user's are not taken then.
func (p *Registry) accepts(ctx context.Context, s *observation) bool {
	key := "accepts " + s.gitRoot + "\x00" + s.secretDir + birth(s.secretDir, stats{})
	if known, asked := p.answers.Load(key); asked {
		return known == true
	}
	limited, cancel := context.WithTimeout(ctx, p.o.GitTimeout)
	defer cancel()
	out, err := p.git(limited, s.gitRoot, "rev-parse", "--git-common-dir")
	accepted := err == nil && isFile(s.secretDir, pathIn(s.gitRoot, strings.TrimRight(string(out), "\r\n")))
	if err != nil {
		_, refused := errors.AsType[*exec.ExitError](err)
		accepted = !s.foreign && (!refused || limited.Err() != nil)
	}
	p.answers.Store(key, accepted)
	return accepted
}

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// gitMark is what marks the top of a repository.
type gitMark struct {
	dir     string // the git directory; empty: none
	common  string // what its work trees share
	bare    bool   // the parts of a git directory are in the directory itself
	foreign bool   // another user's: only git's safe.directory can allow it
	why     string // why it is not used; empty: it is
}

// gitMarkOf looks for the git directory of a work tree, or of a bare repository, whose top is
// dir, a path without links. A clone can bring files that look like one, and an archive can bring a whole .git. So a
// git directory elsewhere counts only if it names this work tree, and a link does not count.
func gitMarkOf(dir string, at stats) (gitMark, error) {
	dot := filepath.Join(dir, ".git")
	info, err := os.Lstat(dot)
	var g gitMark
	switch {
	case err == nil && !info.IsDir() && !atomicfile.Owned(info):
		g.why, g.foreign = ".git is another user's", true
		return g, nil
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		g.why = ".git is a symbolic link"
		return g, nil
	case err == nil && info.IsDir() && isGitDir(dot, at):
		g.dir = dot // dir has no links, and this is none
		if runtime.GOOS == "windows" {
			g.dir = resolved(dot)
		}
	case err == nil && info.Mode().IsRegular():
		if g.dir, g.why, err = followGitFile(dir, dot); err != nil || g.dir == "" {
			return g, err
		}
		info, err = os.Lstat(g.dir)
	case isGitDir(dir, at): // the rest of the tests is for a bare repository alone
		g.dir, g.bare = dir, true
		info, err = os.Lstat(dir)
	default:
		return g, nil
	}
	if err != nil {
		return gitMark{}, err
	}
	g.foreign = !atomicfile.Owned(info)
	if name := irregular(g.dir, at); name != "" {
		return gitMark{why: name + " in its git directory is no regular file"}, nil
	}
	g.common = commonDir(g.dir, at)
	if g.common != g.dir && filepath.Dir(g.dir) != filepath.Join(g.common, "worktrees") {
		return gitMark{why: "its git directory leads to " + slashed(g.common) + ", which does not name it"}, nil
	}
	return g, nil
}

// followGitFile reads "gitdir: path", the .git file of a linked work tree or a submodule. The
// directory there must be in this work tree, or name it.
func followGitFile(dir, dot string) (gitDir, why string, err error) {
	text, err := readSmall(dot)
	if err != nil {
		return "", "", err
	}
	to, ok := strings.CutPrefix(strings.TrimSpace(text), "gitdir:")
	if !ok {
		return "", "", nil // not git's
	}
	to = filepath.FromSlash(strings.TrimSpace(to))
	if !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	if _, err := os.Stat(filepath.Join(to, "HEAD")); err != nil {
		return "", "", fmt.Errorf("%s points to %s, which is not a git directory: `git worktree repair` repairs it: %w", slashed(dot), slashed(to), err)
	}
	to = resolved(to)
	if within(to, dir) || isFile(dot, pathIn(to, readLine(filepath.Join(to, "gitdir")))) || isFile(dir, pathIn(to, workTreeOf(to))) {
		return to, "", nil
	}
	return "", fmt.Sprintf("its .git leads to %s, which does not name this directory (`git worktree repair`, or git config core.worktree there)", slashed(to)), nil
}

// readLine is the text of a small file without white space around it.
func readLine(name string) string {
	text, _ := readSmall(name) // a file that cannot be read says nothing
	return strings.TrimSpace(text)
}

// pathIn is a path that a file of a git directory names.
func pathIn(gitDir, name string) string {
	if name = filepath.FromSlash(name); name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(gitDir, name)
}

// isFile reports whether a path is the same file as another one.
func isFile(a, b string) bool {
	if b == "" {
		return false
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// workTreeOf is the work tree that the configuration of a git directory names.
func workTreeOf(gitDir string) (tree string) {
	config, _ := readUpTo(filepath.Join(gitDir, "config"), gitConfig) // what cannot be read says nothing
	eachSetting(config, func(section, key, value string) {
		if section == "[core]" && key == "worktree" {
			tree = value
		}
	})
	return tree
}

// irregular is what git would read in a git directory and wait for: a pipe, a device.
func irregular(gitDir string, at stats) string {
	for _, name := range []string{"HEAD", "config", "commondir"} {
		if info, err := at.of(filepath.Join(gitDir, name)); err == nil && !info.Mode().IsRegular() {
			return name
		}
	}
	return ""
}

// isGitDir makes the same checks as git.
func isGitDir(dir string, at stats) bool {
	head := filepath.Join(dir, "HEAD")
	if _, err := at.of(head); err != nil { // a link that leads nowhere is one too
		if _, err := os.Lstat(head); err != nil {
			return false
		}
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := at.of(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// commonDir is the directory of a repository that its work trees share.
func commonDir(gitDir string, at stats) string {
	name := filepath.Join(gitDir, "commondir")
	if _, err := at.of(name); errors.Is(err, fs.ErrNotExist) {
		return gitDir
	}
	text, err := readSmall(name)
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

// remote is the URL of origin in a common directory, else the first remote's, as remoteName has it.
func (t *texts) remote(common string, at stats) string {
	name := filepath.Join(common, "config")
	info, err := at.of(name)
	if err != nil {
		return ""
	}
	config, _ := t.of(name, info, func() (string, error) { return readUpTo(name, gitConfig) }) // what cannot be read says nothing
	first, origin := "", ""
	eachSetting(config, func(section, key, value string) {
		if key != "url" || !strings.HasPrefix(section, "[remote ") {
			return
		}
		value = remoteName(value)
		first = cmp.Or(first, value)
		if section == `[remote "origin"]` {
			origin = cmp.Or(origin, value)
		}
	})
	return cmp.Or(origin, first)
}

// eachSetting takes a configuration of git apart. Keys are in lower case.
func eachSetting(config string, tell func(section, key, value string)) {
	section := ""
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
		} else if key, value, ok := strings.Cut(line, "="); ok {
			tell(section, strings.ToLower(strings.TrimSpace(key)), strings.Trim(strings.TrimSpace(value), `"`))
		}
	}
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
func (t *texts) hasCommit(gitDir, common string, at stats) bool {
	name := filepath.Join(gitDir, "HEAD")
	info, err := at.of(name)
	if err != nil {
		return false
	}
	head, err := t.of(name, info, func() (string, error) { return readSmall(name) })
	if err != nil {
		return false
	}
	ref, symbolic := strings.CutPrefix(strings.TrimSpace(head), "ref: ")
	if !symbolic {
		return true
	}
	if _, err := at.of(filepath.Join(common, filepath.FromSlash(ref))); err == nil {
		return true
	}
	for _, name := range []string{"packed-refs", "reftable"} {
		if _, err := at.of(filepath.Join(common, name)); err == nil {
			return true
		}
	}
	return false
}

// hintTime is how long git may list the first commits for an operation that only reads.
const hintTime = 100 * time.Millisecond

// listTime is how long git may list the first commits: it walks the whole history, and anybody can
// make a long one. Where they are only for a hint, an answer does not wait for them. A hook has
// little time, and is a new process each time.
func (p *Registry) listTime(ctx context.Context, learn bool) time.Duration {
	most, share := min(hintTime, p.o.GitTimeout), time.Duration(50)
	if learn {
		most, share = p.o.GitTimeout, 10
	}
	if until, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(until)/share)
	}
	return most
}

// firstCommits asks git for the commits without parents that HEAD and the branches go back to. None if there
// is no git, no commit, a history cut short (then they are not the first), or no time.
func (p *Registry) firstCommits(ctx context.Context, root, common string, most time.Duration) []string {
	if _, err := os.Stat(filepath.Join(common, "shallow")); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	out, err := p.git(ctx, root, "rev-list", "--max-parents=0", "--branches", "HEAD")
	if err != nil && ctx.Err() == nil { // a HEAD without a commit
		out, err = p.git(ctx, root, "rev-list", "--max-parents=0", "--branches")
	}
	if err != nil {
		if p.o.Logger != nil {
			p.o.Logger.Debug("git does not know the first commit", "root", root, "error", err)
		}
		return nil
	}
	commits := strings.Fields(string(out))
	slices.Sort(commits)
	return commits[:min(len(commits), 16)]
}

// git runs git in a work tree, as a person does there: so its rules on whose repositories it
// accepts hold.
func (p *Registry) git(ctx context.Context, root string, args ...string) ([]byte, error) {
	return tree.Git(ctx, p.o.Git, root, "", append([]string{"--no-replace-objects"}, args...)...)
}

// WorkTrees lists the roots of the other work trees of the project at a root: those of its repository,
// where they share the project, and its other places. Only trees that name the repository count.
func (p *Registry) WorkTrees(ctx context.Context, root string) (trees []string) {
	s, err := p.placed(root)
	if err != nil {
		return nil
	}
	add := func(tree string) {
		if tree = filepath.FromSlash(tree); tree != filepath.FromSlash(slashed(root)) && !slices.Contains(trees, tree) {
			trees = append(trees, tree)
		}
	}
	if s.common != "" && p.o.Worktrees == "share" {
		for _, tree := range treesOf(s.common) {
			add(tree)
		}
	}
	_ = p.log.View(ctx, func(a *registry, _ journal.Head) error { // without the map there is the repository
		if r, _ := a.at(s); r != nil {
			for _, place := range r.Places {
				if info, err := os.Stat(place.Root); err == nil && info.IsDir() {
					add(place.Root)
				}
			}
		}
		return nil
	})
	return trees
}

// treesOf are the work trees of a repository, by its common directory.
func treesOf(common string) (trees []string) {
	add := func(tree string) {
		tree = resolved(tree)
		if g, err := gitMarkOf(tree, stats{}); err == nil && g.why == "" && g.common == common && !g.bare && !g.foreign {
			trees = append(trees, tree)
		}
	}
	add(mainTree(common))
	linked, _ := os.ReadDir(filepath.Join(common, "worktrees")) // mostly there is none
	for _, entry := range linked {
		dir := filepath.Join(common, "worktrees", entry.Name())
		if dot := pathIn(dir, readLine(filepath.Join(dir, "gitdir"))); filepath.Base(dot) == ".git" {
			add(filepath.Dir(dot))
		}
	}
	return trees
}
