package tree

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// yard is a directory to make trees in.
type yard struct {
	*testing.T
	root string
}

func newYard(t *testing.T) *yard {
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &yard{t, root}
}

func (y *yard) write(name, content string) {
	y.Helper()
	full := filepath.Join(y.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		y.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		y.Fatal(err)
	}
}

func (y *yard) git(dir string, args ...string) string {
	y.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		y.Skip("git is not there")
	}
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = filepath.Join(y.root, filepath.FromSlash(dir))
	out, err := cmd.CombinedOutput()
	if err != nil {
		y.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (y *yard) list(dir string, o *Options) *Tree {
	y.Helper()
	tree, err := List(y.Context(), filepath.Join(y.root, filepath.FromSlash(dir)), o)
	if err != nil {
		y.Fatal(err)
	}
	return tree
}

func paths(t *Tree) []string {
	out := []string{}
	for _, f := range t.Files {
		out = append(out, f.Path)
	}
	return out
}

// noGit makes List walk, and ignore nothing.
var noGit = &Options{Git: "there-is-no-such-git"}

func TestBothWaysGiveTheSame(t *testing.T) {
	y := newYard(t)
	files := []string{
		"a.go", "b.log", "keep.log", "sub/x.log", "sub/keep.log", "sub/deep/y.tmp", "sub/deep/z.go", "build/out.o", "src/build/in.go", "docs/build", "logs/a.txt",
		"space name.txt", "trail ", "#hash", "!bang", "a[b].txt", "q1.c", "q22.c", "abc", "adc", "foo/bar/baz.txt", "foo/x/y/bar/k.txt", "only/this/one.txt", "only/other.txt",
		"nested/.hidden", "nested/a.gen.go", "nested/in/b.gen.go", "foobar/z", "foo/bar/deep/er.txt", "x1y", "x/1/y", "star/a/b/c.txt", "back\\slash",
	}
	if runtime.GOOS == "windows" {
		files = slices.DeleteFunc(files, func(f string) bool { return strings.ContainsAny(f, `\ `) })
	}
	for _, f := range files {
		y.write(f, "x")
	}
	y.write(".gitignore", "*.log\n!keep.log\n/build/\nlogs/\n# comment\n\\#hash\n\\!bang\ntrail\\ \na\\[b\\].txt\nq?.c\na[!b]c\nfoo/**/k.txt\n/only/*\n!/only/this\r\nx*y\nstar/**\nfoo**/z\n\nback\\\\slash\n")
	y.write("sub/.gitignore", "!x.log\n*.tmp\n/deep/q\n")
	y.write("nested/.gitignore", "*\n!.gitignore\n!*.gen.go\n")
	y.write("foo/.gitignore", "bar/*\n!bar/baz.txt\n")
	y.git(".", "init", "-q")
	y.write(".git/info/exclude", "docs/build\nsub/keep.log\n")

	asked := y.list(".", nil)
	if !asked.Git || len(asked.Files) < 12 {
		t.Fatalf("%+v", asked)
	}
	exclude := filepath.Join(y.root, ".git", "info", "exclude")
	text, err := os.ReadFile(exclude)
	if err != nil || os.RemoveAll(filepath.Join(y.root, ".git")) != nil {
		t.Fatal(err)
	}
	y.write(".git/info/exclude", string(text))
	walked := y.list(".", nil)
	if d := cmp.Diff(paths(asked), paths(walked)); d != "" || walked.Git || walked.Note != "" {
		t.Errorf("git has -, the walk has +, %q:\n%s", walked.Note, d)
	}
	alone := y.list(".", noGit)
	if got := paths(alone); len(got) <= len(paths(asked)) || slices.Contains(got, "nested/.hidden") || !strings.Contains(alone.Note, ".gitignore is not read") {
		t.Errorf("without git: %q, %q", got, alone.Note)
	}
}

func TestNamesThatAreNoText(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("this system has no such names")
	}
	y := newYard(t)
	want := []string{":(bad)x", ":!b", "a\nb.go", "bad\xff.go", "tab\t\"quote\".go", "ünï.go"}
	for _, n := range want {
		y.write(n, "package a")
	}
	slices.Sort(want)
	if walked := y.list(".", nil); !slices.Equal(want, paths(walked)) || walked.Note != "" {
		t.Errorf("%q, %s", paths(walked), walked.Note)
	}
	y.git(".", "init", "-q")
	for _, o := range []*Options{nil, noGit} {
		if d := cmp.Diff(want, paths(y.list(".", o))); d != "" {
			t.Error(d)
		}
	}
}

func TestRepositories(t *testing.T) {
	y := newYard(t)
	y.write("lib/lib.go", "package lib")
	y.git("lib", "init", "-q")
	y.git("lib", "add", ".")
	y.git("lib", "commit", "-q", "-m", "first")
	y.write("app/main.go", "package main")
	y.write("app/gone.go", "package main")
	y.git("app", "init", "-q")
	y.git("app", "submodule", "-q", "add", filepath.Join(y.root, "lib"), "third/lib")
	y.git("app", "add", ".")
	y.git("app", "commit", "-q", "-m", "first")
	y.write("app/inner/x.go", "package x")
	y.git("app/inner", "init", "-q")
	y.git("app", "worktree", "add", "-q", "../tree")
	y.git(".", "clone", "-q", "--bare", "app", "app.git")
	if err := os.Remove(filepath.Join(y.root, "app", "gone.go")); err != nil {
		t.Fatal(err)
	}
	for _, o := range []*Options{nil, noGit} {
		app := y.list("app", o)
		named := func(t *Tree) []string {
			return slices.DeleteFunc(paths(t), func(name string) bool { return name == ".gitmodules" }) // without git it is left out
		}
		if d := cmp.Diff([]string{"main.go"}, named(app)); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]string{"inner/", "third/lib/"}, app.Separate); d != "" {
			t.Error(d)
		}
		if got := paths(y.list("app/third/lib", o)); !slices.Equal(got, []string{"lib.go"}) {
			t.Errorf("a submodule: %q", got)
		}
		if got := named(y.list("tree", o)); !slices.Equal(got, []string{"gone.go", "main.go"}) {
			t.Errorf("a work tree: %q", got)
		}
	}
	if bare := y.list("app.git", nil); len(bare.Files) != 0 || !strings.Contains(bare.Note, "bare") {
		t.Errorf("a bare repository: %+v", bare)
	}
	if in := y.list("app/.git", nil); len(in.Files) != 0 || in.Note == "" {
		t.Errorf("a git directory: %+v", in)
	}
	if app := y.list("app", nil); app.Head == "" {
		t.Errorf("%+v", app)
	}
}

func TestLoopsAndDevices(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	y := newYard(t)
	y.write("a/b/c.go", "package c")
	for link, to := range map[string]string{"a/b/up": "../..", "a/self": "self", "out": "/", "file.go": "a/b/c.go"} {
		if err := os.Symlink(to, filepath.Join(y.root, link)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := exec.LookPath("mkfifo"); err == nil {
		if err := exec.Command("mkfifo", filepath.Join(y.root, "pipe.go")).Run(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(y.root, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	if got := paths(y.list(".", noGit)); !slices.Equal(got, []string{"a/b/c.go"}) {
		t.Errorf("%q", got)
	}
	y.git(".", "init", "-q")
	if got := paths(y.list(".", nil)); !slices.Equal(got, []string{"a/b/c.go"}) {
		t.Errorf("%q", got)
	}
}

func TestRecent(t *testing.T) {
	y := newYard(t)
	y.git(".", "init", "-q")
	for i, name := range []string{"pkg/old.go", "pkg/mid é.go", "new.go"} {
		y.write(name, "x")
		y.git(".", "add", ".")
		y.git(".", "commit", "-q", "-m", fmt.Sprint(i))
	}
	head := y.list(".", nil).Head
	got, err := Recent(t.Context(), y.root, head, 10, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]int{"new.go": 0, "pkg/mid é.go": 1, "pkg/old.go": 2}, got.Touched); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Commit{{"2", []string{"new.go"}}, {"1", []string{"pkg/mid é.go"}}, {"0", []string{"pkg/old.go"}}}, got.Commits); d != "" {
		t.Error(d)
	}
	got, err = Recent(t.Context(), filepath.Join(y.root, "pkg"), head, 10, nil)
	if err != nil || got.Touched["old.go"] == 0 || len(got.Touched) != 2 {
		t.Errorf("%v %v", got, err)
	}
	odd := []string{"a\nb", "\nc"}
	for i := range maxTogether {
		odd = append(odd, fmt.Sprint(i))
	}
	for _, name := range odd {
		y.write(name, "x")
	}
	y.git(".", "add", odd[0], odd[1])
	y.git(".", "commit", "-q", "-m", "", "--allow-empty-message")
	y.git(".", "add", ".")
	y.write("more", "x")
	y.git(".", "add", ".")
	y.git(".", "commit", "-q", "-m", "many files")
	got, err = Recent(t.Context(), y.root, y.list(".", nil).Head, 2, nil)
	if d := cmp.Diff([]Commit{{"", []string{"\nc", "a\nb"}}}, got.Commits); d != "" || err != nil || got.Touched["more"] != 0 || got.Touched["\nc"] != 1 || len(got.Touched) != maxTogether+3 {
		t.Error(d, err, got.Touched)
	}
}

func TestCancelled(t *testing.T) {
	y := newYard(t)
	y.write("a", "a")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := List(ctx, y.root, noGit); err == nil {
		t.Error("no error")
	}
}

func TestTooMany(t *testing.T) {
	y := newYard(t)
	for i := range 20 {
		y.write(fmt.Sprintf("d%d/f", i), "x")
	}
	y.git(".", "init", "-q")
	for _, git := range []string{"", noGit.Git} {
		tree := y.list(".", &Options{Git: git, MaxFiles: 7})
		if len(tree.Files) != 7 || tree.Note == "" {
			t.Errorf("%+v", tree)
		}
	}
}

// The limit counts also what git ignores. Then the list is not whole, and says so.
func TestTooManyIgnored(t *testing.T) {
	y := newYard(t)
	y.git(".", "version") // it decides what is ignored
	y.write(".gitignore", "*.log\n")
	for i := range 20 {
		y.write(fmt.Sprintf("a%d.log", i), "x")
	}
	y.write("b.go", "package b")
	if tree := y.list(".", &Options{MaxFiles: 10}); len(tree.Files) != 1 || strings.Count(tree.Note, "more files") != 1 {
		t.Errorf("%+v", tree)
	}
}

// A directory in the place of a file that git knows is a part of the project.
func TestDirectoryInPlaceOfFile(t *testing.T) {
	y := newYard(t)
	y.write("foo", "x")
	y.git(".", "init", "-q")
	y.git(".", "add", ".")
	if err := os.Remove(filepath.Join(y.root, "foo")); err != nil {
		t.Fatal(err)
	}
	y.write("foo-bar", "x")
	y.write("foo/bar.go", "package foo")
	if tree := y.list(".", nil); len(tree.Separate) > 0 || !slices.Equal(paths(tree), []string{"foo-bar", "foo/bar.go"}) {
		t.Errorf("%+v", tree)
	}
}

// A project may be reached by a link.
func TestLinkToRoot(t *testing.T) {
	y := newYard(t)
	y.write("app/a/b.go", "package b")
	if err := os.Symlink("app", filepath.Join(y.root, "link")); err != nil {
		t.Skip(err)
	}
	for _, o := range []*Options{nil, noGit} {
		if got := paths(y.list("link", o)); !slices.Equal(got, []string{"a/b.go"}) {
			t.Errorf("%q", got)
		}
	}
}

func TestVendored(t *testing.T) {
	for name, want := range map[string]string{"a/vendor/b/c.go": "a/vendor/", "node_modules/x/index.js": "node_modules/", "vendor.go": "", "src/vendors/a.go": ""} {
		if got, _ := Vendored(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// git gets what it needs of the environment, and nothing that has it do something else.
func TestGitGetsWhatItNeeds(t *testing.T) {
	good := []string{"PATH=/bin", "HOME=/h", "XDG_CONFIG_HOME=/h/.config", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CEILING_DIRECTORIES=/h", "SystemRoot=C:\\Windows", "SUDO_UID=1"}
	bad := []string{"LD_PRELOAD=./x.so", "LD_LIBRARY_PATH=.", "DYLD_INSERT_LIBRARIES=x", "DEVELOPER_DIR=/clone", "GIT_DIR=/x", "GIT_EXEC_PATH=/clone", "GIT_EXTERNAL_DIFF=x", "GIT_SSH_COMMAND=x", "PAGER=x", "EDITOR=x", "BASH_ENV=x", "GCONV_PATH=.", "LOCPATH=.", "OPENSSL_CONF=x", "=C:=C:\\"}
	if diff := cmp.Diff(good, gitEnv(slices.Concat(bad, good, bad))); diff != "" {
		t.Error(diff)
	}
}
