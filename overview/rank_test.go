package overview

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What commits say that touched a file finds it, by words that are not in it;
// a commit of many files says little of each.
func TestWhatCommitsSay(t *testing.T) {
	l := newLand(t)
	names := []string{"a/alpha.go", "b/beta.go", "c/gamma.go"}
	l.git("init", "-q")
	for _, name := range names {
		l.write(name, "package x\n")
	}
	l.git("add", ".")
	l.git("commit", "-q", "-m", "all: zebras and giraffes")
	l.write("b/beta.go", "package x\n\nfunc F() {}\n")
	l.git("add", ".")
	l.git("commit", "-q", "-m", "the zebra keeps its stripes")
	for range 2 { // read anew, and from the cache
		o := l.see(Inquiry{Task: "stripes of zebras"}, nil)
		if got := listedPaths(o.Critical, o.Important); len(got) == 0 || got[0] != "b/beta.go" || o.Note != "" {
			t.Error(o.Text())
		}
		o = l.see(Inquiry{Task: "giraffes"}, nil)
		got := listedPaths(o.Critical, o.Important)
		slices.Sort(got)
		if d := cmp.Diff(names, got); d != "" {
			t.Error(d)
		}
	}
}

// A word of the task finds files whose names have its short form.
func TestShortFormsInPaths(t *testing.T) {
	l := newLand(t)
	for _, name := range []string{"src/auth.ts", "src/auth/session.ts", "lib/config.go", "lib/import.go", "lib/repo.go", "lib/author.go", "web/perf/run.go"} {
		l.write(name, "package x\n")
	}
	for i := range 9 {
		l.write(fmt.Sprintf("docs/n%d.md", i), "# Note\n")
	}
	for task, want := range map[string][]string{
		"Fix authentication": {"src/auth.ts", "src/auth/session.ts"}, "configuration": {"lib/config.go"}, "the repository": {"lib/repo.go"},
		"performance": {"web/perf/run.go"}, "AUTHENTICATION middleware": {"src/auth.ts", "src/auth/session.ts"},
	} {
		o := l.see(Inquiry{Task: task}, nil)
		got := listedPaths(o.Critical, o.Important)
		slices.Sort(got)
		if !cmp.Equal(got, want) {
			t.Errorf("%s: %q, want %q\n%s", task, got, want, o.Text())
		}
	}
}

// Without a task a file counts by what is public in it. A package of one small file does not come
// before the large one that the project is about, though all import it.
func TestWhatDefinesMuchComesFirst(t *testing.T) {
	l := newLand(t)
	l.write("go.mod", "module m\n")
	l.write("leaf/leaf.go", "package leaf\n\nfunc Quote() {}\n")
	l.write("store/store.go", "package store\n\nimport _ \"m/leaf\"\n\ntype Store struct{}\n\nfunc Open() {}\nfunc Close() {}\nfunc Read() {}\n")
	for _, name := range []string{"b", "c", "d", "e"} {
		l.write("store/"+name+".go", "package store\n\nimport _ \"m/leaf\"\n\nfunc "+name+"() {}\n")
	}
	l.write("cmd/m/main.go", "package main\n\nimport _ \"m/store\"\n\nfunc main() {}\n")
	o := l.see(Inquiry{}, nil)
	got := listedPaths(o.Critical, o.Important, o.Reference)
	if slices.Index(got, "store/store.go") > slices.Index(got, "leaf/leaf.go") || slices.Index(got, "store/store.go") > slices.Index(got, "store/b.go") {
		t.Errorf("%q", got)
	}
}

// What the files of a task import, and what imports them, is the third tier, also in a project of
// many files, of which all others are far better known than they are.
func TestImportsAreReference(t *testing.T) {
	l := newLand(t)
	l.write("src/auth.ts", "// JWT logic\nimport {pool} from './pool';\nexport function sign() {}\n")
	l.write("src/server.ts", "import {sign} from './auth';\nexport function listen() {}\n")
	l.write("src/pool.ts", "export const pool = {};\n")
	for i := range 12 {
		l.write(fmt.Sprintf("src/feature%d/page.ts", i), fmt.Sprintf("import {sign} from '../auth';\nexport function page%d() {}\n", i))
	}
	for i := range 40 {
		l.write(fmt.Sprintf("docs/note%d.md", i), "# A note on the JWT\n")
		l.write(fmt.Sprintf("tools/t%d.ts", i), "export const x = 1;\n")
	}
	for _, budget := range []int{0, 8000} {
		o := l.see(Inquiry{Task: "refresh the JWT", Budget: budget}, nil)
		for _, name := range []string{"src/pool.ts", "src/server.ts"} {
			if budget > 0 && !slices.Contains(listedPaths(o.Reference), name) {
				t.Errorf("%s is not in REFERENCE:\n%s", name, o.Text())
			}
		}
		if len(o.Reference) == 0 {
			t.Errorf("there is no REFERENCE:\n%s", o.Text())
		}
		for _, p := range listedPaths(o.Critical, o.Important, o.Reference) {
			if strings.HasPrefix(p, "tools/") {
				t.Errorf("%s has nothing to do with the task", p)
			}
		}
		for _, p := range listedPaths(o.Critical, o.Important) {
			if strings.Contains(p, "feature") {
				t.Errorf("%s is above REFERENCE, and only imports a file of the task", p)
			}
		}
	}
}

// Where nobody writes code, other text is the project; and a directory that is
// not looked into says so.
func TestNoCodeAndNotLookedInto(t *testing.T) {
	l := newLand(t)
	l.write("plans.md", "# Plans\n")
	l.write("a/ideas.md", "# Ideas of May\n")
	l.write("a/odd", "x\n")
	l.write("node_modules/x/i.js", "x\n")
	o := l.see(Inquiry{}, nil)
	got := listedPaths(o.Critical, o.Important, o.Reference)
	slices.Sort(got)
	if d := cmp.Diff([]string{"a/ideas.md", "plans.md"}, got); d != "" {
		t.Error(d)
	}
	for _, p := range []string{"node_modules", "node_modules/x"} {
		o = l.see(Inquiry{Path: p}, nil)
		if !strings.Contains(o.Note, "not looked into") || o.Files != 0 {
			t.Error(o.Text())
		}
	}
	o = l.see(Inquiry{Task: "ideas"}, nil)
	if text := o.Text(); !strings.HasSuffix(text, "  SKIP (2 files):\n    node_modules/") {
		t.Error(text)
	}
}
