package overview

import (
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

// Without a task a package counts as a whole, by what is public in it. A package of one small
// file does not come before the large one that the project is about.
func TestAPackageCountsAsAWhole(t *testing.T) {
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
