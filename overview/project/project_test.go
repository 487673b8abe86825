package project

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary be a process of its own that resolves a path.
func TestMain(m *testing.M) {
	if data := os.Getenv("OVERVIEW_TEST_DATA"); data != "" {
		p, err := Open(data, nil)
		if err == nil {
			var found Project
			found, err = resolveAt(context.Background(), p, "")
			fmt.Println(found.Hash)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// bench is a data directory and a directory to make projects in.
type bench struct {
	testing.TB
	data, dir string
}

func newBench(tb testing.TB) *bench {
	tb.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		tb.Fatal("these tests need git: ", err)
	}
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	return &bench{TB: tb, data: filepath.Join(tb.TempDir(), "data"), dir: dir}
}

func (b *bench) open(o *Options) *Registry {
	b.Helper()
	p, err := Open(b.data, o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { p.Close() })
	return p
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func (b *bench) git(dir string, args ...string) {
	b.Helper()
	cmd := exec.Command("git", append([]string{"-c", "init.defaultBranch=main", "-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = b.path(dir)
	own := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	cmd.Env = append(own, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (b *bench) mkdir(name string) string {
	b.Helper()
	if err := os.MkdirAll(b.path(name), 0o755); err != nil {
		b.Fatal(err)
	}
	return b.path(name)
}

// repo makes a repository with a commit that no other has.
func (b *bench) repo(name string) string {
	b.Helper()
	b.mkdir(name)
	b.git(name, "init", "-q")
	b.write(name+"/README", name)
	b.git(name, "add", ".")
	b.git(name, "commit", "-q", "-m", "first of "+name)
	return b.path(name)
}

func (b *bench) write(name, text string) {
	b.Helper()
	if err := os.WriteFile(b.path(name), []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) move(from, to string) {
	b.Helper()
	if err := os.Rename(b.path(from), b.path(to)); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) remove(name string) {
	b.Helper()
	if err := os.RemoveAll(b.path(name)); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) resolve(p *Registry, name string) Project {
	b.Helper()
	found, err := resolveAt(b.Context(), p, b.path(name))
	if err != nil {
		b.Fatalf("%s: %v", name, err)
	}
	if !validHash(found.Hash) || !found.Known {
		b.Fatalf("%s: %+v", name, found)
	}
	return found
}

func (b *bench) lookup(p *Registry, name string) Project {
	b.Helper()
	found, err := p.Lookup(b.Context(), b.path(name))
	if err != nil {
		b.Fatalf("%s: %v", name, err)
	}
	return found
}

func (b *bench) same(what string, one Project, others ...Project) {
	b.Helper()
	for _, o := range others {
		if o.Hash != one.Hash {
			b.Errorf("%s: %s (%s) is not %s (%s)", what, o.Hash, o.Root, one.Hash, one.Root)
		}
	}
}

func (b *bench) different(what string, list ...Project) {
	b.Helper()
	seen := map[string]Project{}
	for _, p := range list {
		if o, ok := seen[p.Hash]; ok {
			b.Errorf("%s: %s and %s are both %s", what, o.Root, p.Root, p.Hash)
		}
		seen[p.Hash] = p
	}
}

func (b *bench) says(p Project, pattern string) {
	b.Helper()
	if all := strings.Join(p.Notices, "\n"); !regexp.MustCompile(pattern).MatchString(all) {
		b.Errorf("notices %q, not %q", all, pattern)
	}
}

func TestAnywhereInAProjectIsTheProject(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.repo("app")
	b.mkdir("app/src/deep")
	b.mkdir("plain/sub")
	if err := os.Symlink(b.path("app/src"), b.path("link")); err != nil {
		t.Fatal(err)
	}
	app := b.resolve(p, "app")
	b.same("in the work tree", app, b.resolve(p, "app/src/deep"), b.resolve(p, "link"),
		b.resolve(p, "app/"), b.resolve(p, "app/.git"), b.resolve(p, "app/.git/objects"))
	if app.Name != "app" || app.Root != filepath.ToSlash(b.path("app")) || !app.Known {
		t.Errorf("%+v", app)
	}
	b.different("no repository", app, b.resolve(p, "plain/sub"), b.resolve(p, "plain"), b.resolve(p, "."))
	b.mkdir("plain/other/deep")
	plain := b.resolve(p, "plain")
	b.same("below a known directory without a repository", plain, b.resolve(p, "plain/other/deep"), b.lookup(p, "plain/other"))
	if deep := b.lookup(p, "plain/other/deep"); deep.Root != plain.Root || !deep.Known {
		t.Errorf("%+v", deep)
	}
}

// The home directory and what is above it are no projects of what lies in them.
func TestHomeIsNoProjectOfWhatIsBelow(t *testing.T) {
	b := newBench(t)
	b.mkdir("me/notes/deep")
	p := b.open(&Options{Home: b.path("me")})
	me, all := b.resolve(p, "me"), b.resolve(p, ".")
	b.different("below the home directory", me, all, b.lookup(p, "me/notes"))
	b.same("named itself", me, b.lookup(p, "me"))
	notes := b.resolve(p, "me/notes")
	b.same("below another directory", notes, b.lookup(p, "me/notes/deep"))
}

func TestLookupRecordsNothing(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.repo("app")
	before := b.lookup(p, "app")
	if before.Known || !validHash(before.Hash) {
		t.Errorf("%+v", before)
	}
	if _, err := os.Stat(b.data); !os.IsNotExist(err) {
		t.Errorf("a lookup made the data directory: %v", err)
	}
	b.same("the hash that was foretold", before, b.resolve(p, "app"), b.lookup(p, "app"))
	if after := b.lookup(p, "app"); !after.Known {
		t.Errorf("%+v", after)
	}
}

func TestWorkTrees(t *testing.T) {
	b := newBench(t)
	b.repo("app")
	b.git("app", "worktree", "add", "-q", "../side")
	b.mkdir("side/sub")
	share := b.open(nil)
	app := b.resolve(share, "app")
	b.same("shared", app, b.resolve(share, "side/sub"))
	if side := b.resolve(share, "side"); side.Name != "side" || len(side.Places) != 1 || side.Places[0].Root != app.Root {
		t.Errorf("%+v", side)
	}
	split := b.open(&Options{Worktrees: "isolate"})
	b.same("the first work tree stays", app, b.resolve(split, "app"))
	side := b.resolve(split, "side/sub")
	b.different("isolated", app, side)
	b.git("app", "worktree", "move", "../side", "../elsewhere")
	b.same("a moved work tree", side, b.resolve(split, "elsewhere"))
	b.git("app", "worktree", "remove", "../elsewhere")
	b.git("app", "worktree", "add", "-q", "../third")
	b.different("another work tree", app, side, b.resolve(split, "third"))
	if _, err := Open(b.data, &Options{Worktrees: "both"}); err == nil {
		t.Error("worktrees = both was taken")
	}
}

func TestSubmodulesAndBareRepositories(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.repo("lib")
	b.repo("app")
	b.git("app", "submodule", "--quiet", "add", "../lib", "lib")
	b.git(".", "clone", "-q", "--bare", "app", "app.git")
	b.git("app.git", "worktree", "add", "-q", "../from-bare", "main")
	b.mkdir("wrapped")
	b.git(".", "clone", "-q", "--bare", "app", "wrapped/.bare")
	b.write("wrapped/.git", "gitdir: ./.bare\n")
	app, bare := b.resolve(p, "app"), b.resolve(p, "app.git")
	b.different("four repositories", app, b.resolve(p, "app/lib"), b.resolve(p, "lib"), bare, b.resolve(p, "wrapped"))
	b.same("of the bare one", bare, b.resolve(p, "from-bare"), b.resolve(p, "app.git/refs"))
	if bare.Name != "app" {
		t.Errorf("%+v", bare)
	}
}

// A clone can bring what looks like a bare repository, whose configuration leads git elsewhere. In a work tree
// it is none, and git is not asked about it.
func TestBareRepositoryInAWorkTreeIsNone(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.repo("app")
	app := b.resolve(p, "app")
	for name, text := range map[string]string{
		"HEAD": "ref: refs/heads/main\n", "objects/.keep": "", "refs/.keep": "", "src/a.go": "package a\n",
		"config": "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[include]\n\tpath = /dev/ptmx\n",
	} {
		b.mkdir(path.Dir("app/fake/" + name))
		b.write("app/fake/"+name, text)
	}
	begin := time.Now()
	b.same("what looks like a bare repository", app, b.resolve(b.open(nil), "app/fake"), b.resolve(b.open(nil), "app/fake/src"))
	if took := time.Since(begin); took > 1500*time.Millisecond { // git would have been waited for, 2 s each
		t.Errorf("it took %v", took)
	}
}

func TestWhatDoesNotChangeAProject(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.repo("app")
	b.write("app/package.json", `{"name": "old"}`)
	app := b.resolve(p, "app")
	b.git("app", "remote", "add", "origin", "https://me:"+"pw@GitHub.com/acme/app.git")
	withRemote := b.resolve(p, "app")
	b.same("a remote", app, withRemote)
	if withRemote.Remote != "github.com/acme/app" {
		t.Errorf("remote %q", withRemote.Remote)
	}
	b.write("app/package.json", `{"name": "new"}`)
	b.git("app", "checkout", "-q", "-b", "other")
	b.git("app", "gc", "-q")
	b.same("name, branch, gc", app, b.resolve(p, "app"))
	b.git("app", "checkout", "-q", "--orphan", "empty")
	b.same("an orphan branch", app, b.resolve(p, "app"))
	b.git("app", "remote", "set-url", "origin", "git@gitlab.com:acme/app")
	b.same("another remote", app, b.resolve(p, "app"))
	b.write("app/.lean-ctx-id", "acme/app\n")
	b.same("an identity file", app, b.resolve(p, "app"))
	b.remove("app/.lean-ctx-id")
	b.same("no identity file", app, b.resolve(p, "app"))
	b.remove("app/.git")
	b.same("no repository", app, b.resolve(p, "app"))

	plain := b.mkdir("plain")
	first := b.resolve(p, "plain")
	b.git("plain", "init", "-q")
	b.same("a repository made of a directory", first, b.resolve(p, "plain"))
	b.write("plain/a", "a")
	b.git("plain", "add", ".")
	b.git("plain", "commit", "-q", "-m", "first")
	later := b.open(&Options{Now: func() time.Time { return time.Now().Add(48 * time.Hour) }})
	if got := b.resolve(later, "plain"); len(got.FirstCommits) != 1 || got.Hash != first.Hash {
		t.Errorf("%s: %+v", plain, got)
	}
}

// resolveAt looks at a path and finds its project.
func resolveAt(ctx context.Context, p *Registry, path string) (Project, error) {
	l, err := p.Look(path)
	if err != nil {
		return Project{}, err
	}
	return p.Resolve(ctx, l)
}
