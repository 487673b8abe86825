package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leanctx/internal/refusal"
)

// twins makes a repository e that is known, and a clone of it with the same remote.
func twins(t *testing.T) (*bench, *Registry, Project) {
	t.Helper()
	b := newBench(t)
	p := b.open(nil)
	b.repo("e")
	b.git("e", "remote", "add", "origin", "https://h/e")
	e := b.resolve(p, "e")
	b.clone("e", "eclone")
	return b, p, e
}

func (b *bench) clone(from, to string) {
	b.Helper()
	b.git(".", "clone", "-q", from, to)
	b.git(to, "remote", "set-url", "origin", "https://h/e")
}

// copied copies a directory with its times, as a backup does.
func (b *bench) copied(from, to string) {
	b.Helper()
	if err := os.CopyFS(b.path(to), os.DirFS(b.path(from))); err != nil {
		b.Fatal(err)
	}
	if err := filepath.WalkDir(b.path(from), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(b.path(from), name)
		if err != nil {
			return err
		}
		return os.Chtimes(filepath.Join(b.path(to), rel), info.ModTime(), info.ModTime())
	}); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) quiet(p Project) {
	b.Helper()
	if len(p.Notices) != 0 {
		b.Errorf("notices %q", p.Notices)
	}
}

func TestAKnownCloneIsNeverSwitched(t *testing.T) {
	b, p, e := twins(t)
	eclone := b.resolve(p, "eclone")
	b.different("clones", e, eclone)
	b.says(eclone, "looks like project "+e.Hash+" .*which is still there.*lean-ctx project link "+e.Hash)
	b.move("e", "e-moved")
	b.same("the other vanished", eclone, b.resolve(p, "eclone"), b.lookup(p, "eclone"))
	b.same("moved", e, b.resolve(p, "e-moved"))
	b.quiet(b.resolve(p, "eclone"))
	b.remove("e-moved")
	b.same("the other is gone", eclone, b.resolve(p, "eclone"))
	b.move("eclone", "again")
	b.same("both are gone, one moved", eclone, b.resolve(p, "again"))
}

func TestACloneDoesNotTakeOverWhatWasRenamed(t *testing.T) {
	b, p, e := twins(t)
	b.says(b.lookup(p, "eclone"), "which is still there")
	b.move("e", "e-moved")
	for range 2 {
		seen := b.lookup(p, "eclone")
		b.different("a reader", e, seen)
		b.says(seen, "looks like project "+e.Hash+" .*which is now at .*/e-moved.*lean-ctx project link "+e.Hash)
	}
	b.different("a writer", e, b.resolve(p, "eclone"))
	moved := b.resolve(p, "e-moved")
	b.same("moved", e, moved)
	b.says(moved, "moved from .*/e, which is gone")
}

func TestACloneInPlaceOfADeletedOneIsFollowedUntilTheOldOneTurnsUp(t *testing.T) {
	b, p, e := twins(t)
	b.mkdir("far/away")
	b.move("e", "far/away/e")
	b.same("a reader", e, b.lookup(p, "eclone"))
	eclone := b.resolve(p, "eclone")
	b.same("taken for it", e, eclone)
	b.says(eclone, "moved from .*/e, which is gone .same first commit and remote.; .*lean-ctx project unlink .*/eclone")
	b.says(b.lookup(p, "far/away/e"), "lean-ctx project unlink .*/eclone")
	back := b.resolve(p, "far/away/e")
	b.same("it is the one", e, back)
	b.says(back, "this is project "+e.Hash+" again; .*/eclone was taken.*lean-ctx project unlink .*/eclone")
	if len(back.Places) != 2 {
		t.Errorf("places %+v", back.Places)
	}
	b.quiet(b.resolve(p, "far/away/e"))
	if _, err := p.Unlink(t.Context(), b.path("eclone")); err != nil {
		t.Fatal(err)
	}
	parted := b.resolve(p, "eclone")
	b.different("parted", e, parted)
	b.move("eclone", "elsewhere")
	b.same("stays parted", parted, b.resolve(p, "elsewhere"))
	b.move("far/away/e", "e")
	b.same("home again", e, b.resolve(p, "e"))
}

func TestAnUnlinkedRepositoryIsNotFollowedWhereverItGoes(t *testing.T) {
	b, p, e := twins(t)
	if _, err := p.Unlink(t.Context(), b.path("e")); err != nil {
		t.Fatal(err)
	}
	b.move("e", "e-moved")
	b.different("unlinked and moved", e, b.resolve(p, "e-moved"))
	linked, err := p.Link(t.Context(), b.path("e-moved"), e.Hash)
	if err != nil {
		t.Fatal(err)
	}
	b.move("e-moved", "e")
	b.same("linked and moved", e, linked, b.resolve(p, "e"))
}

func TestAMoveIsFollowedByTheBirthMark(t *testing.T) {
	commit := []string{"commit", "-q", "--allow-empty", "-m", "one"}
	for name, steps := range map[string]struct{ before, after [][]string }{
		"nothing":                  {},
		"remote added":             {[][]string{commit}, [][]string{{"remote", "add", "origin", "https://h/e"}}},
		"remote changed":           {[][]string{commit, {"remote", "add", "origin", "https://h/e"}}, [][]string{{"remote", "set-url", "origin", "https://h/f"}}},
		"first commit made":        {nil, [][]string{commit}},
		"first commit amended":     {[][]string{commit}, [][]string{{"commit", "-q", "--allow-empty", "--amend", "-m", "two"}}},
		"an orphan branch instead": {[][]string{commit}, [][]string{{"checkout", "-q", "--orphan", "new"}, commit, {"branch", "-q", "-D", "main"}}},
	} {
		for _, template := range []string{"default", "none"} {
			t.Run(name+"/template "+template, func(t *testing.T) {
				b := newBench(t)
				p := b.open(nil)
				b.repo("other")
				b.resolve(p, "other")
				b.mkdir("e")
				if template == "none" {
					b.git("e", "init", "-q", "--template=")
				} else {
					b.git("e", "init", "-q")
				}
				run := func(list [][]string) {
					for _, args := range list {
						b.git("e", args...)
					}
				}
				run(steps.before)
				e := b.resolve(p, "e")
				run(steps.after)
				b.quiet(b.lookup(p, "e"))
				b.move("e", "moved")
				b.same("a reader", e, b.lookup(p, "moved"))
				moved := b.resolve(p, "moved")
				b.same("moved", e, moved)
				b.says(moved, "moved from .*/e, which is gone .same Git directory.")
				if len(moved.Places) != 1 || moved.Former[0] != e.Root {
					t.Errorf("%+v", moved)
				}
			})
		}
	}
}

func TestAFirstCommitIsLearnedSoon(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.repo("other")
	b.resolve(p, "other")
	b.mkdir("e")
	b.git("e", "init", "-q")
	b.resolve(p, "e")
	b.git("e", "commit", "-q", "--allow-empty", "-m", "one")
	if e := b.resolve(p, "e"); len(e.FirstCommits) != 1 {
		t.Errorf("%+v", e)
	}
}

func TestACopyIsNotFollowed(t *testing.T) {
	b, p, e := twins(t)
	b.copied("e", "backup")
	b.says(b.lookup(p, "backup"), "looks like project "+e.Hash+" .*which is still there")
	if _, err := p.Link(t.Context(), b.path("backup"), e.Hash); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Unlink(t.Context(), b.path("backup")); err != nil {
		t.Fatal(err)
	}
	b.quiet(b.lookup(p, "backup")) // settled
	backup := b.resolve(p, "backup")
	b.different("a copy", e, backup)
	b.remove("e")
	b.same("a copy that is known", backup, b.resolve(p, "backup"))
	seen := b.lookup(p, "eclone")
	b.different("a clone while a copy lives", e, seen)
	b.says(seen, e.Hash+" .*which is now at .*/backup")
	b.move("backup", "moved")
	doubt := b.lookup(p, "moved")
	b.different("one mark, two projects", e, backup, doubt)
	b.says(doubt, "looks like project .*; project .*lean-ctx project link HASH")
}

func TestTheSameMarkWithAnotherBeginningIsAnotherProject(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.mkdir("template")
	b.git("template", "init", "-q")
	for _, name := range []string{"one", "two"} {
		b.copied("template", name)
		b.git(name, "commit", "-q", "--allow-empty", "-m", name)
	}
	one := b.resolve(p, "one")
	b.remove("one")
	two := b.resolve(p, "two")
	b.different("made of one template", one, two)
	b.says(two, "looks like project "+one.Hash+" .*began with another commit")
}

func TestACoarseMarkAloneIsInDoubt(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	second := time.Unix(1_700_000_000, 0)
	for _, name := range []string{"one", "two"} {
		b.mkdir(name)
		b.git(name, "init", "-q")
		if err := os.Chtimes(b.path(name+"/.git/description"), second, second); err != nil {
			t.Fatal(err)
		}
	}
	one := b.resolve(p, "one")
	b.remove("one")
	two := b.resolve(p, "two")
	b.different("of one second", one, two)
	b.says(two, "looks like project "+one.Hash+" .*may be another")
	b.git("two", "commit", "-q", "--allow-empty", "-m", "first")
	b.resolve(p, "two")
	b.move("two", "three")
	b.same("of one second, and the first commit agrees", two, b.resolve(p, "three"))
}

func TestRepositoriesThatChangePlaces(t *testing.T) {
	for _, kind := range []string{"strangers", "clones"} {
		t.Run(kind, func(t *testing.T) {
			b := newBench(t)
			p := b.open(nil)
			b.repo("a")
			if kind == "clones" {
				b.clone("a", "b")
			} else {
				b.repo("b")
			}
			one, two := b.resolve(p, "a"), b.resolve(p, "b")
			b.move("a", "c")
			b.move("b", "a")
			b.move("c", "b")
			got := b.resolve(p, "a")
			b.same("b is at a", two, got)
			b.says(got, "another repository used to be at .*/a: its memory stays in project "+one.Hash)
			b.same("a is at b", one, b.resolve(p, "b"))
			b.same("and again", two, b.resolve(p, "a"))
			b.quiet(b.resolve(p, "b"))
		})
	}
}

func TestANewCloneWhereTheOldOneWas(t *testing.T) {
	for _, first := range []string{"e", "e-moved"} {
		t.Run("first seen "+first, func(t *testing.T) {
			b, p, e := twins(t)
			b.move("e", "e-moved")
			b.move("eclone", "e")
			b.same(first, e, b.resolve(p, first))
			b.same("both", e, b.resolve(p, "e"))
			moved := b.lookup(p, "e-moved")
			b.same("both", e, moved)
			if first == "e" {
				b.says(moved, "lean-ctx project unlink .*/e`")
			}
			b.same("both", e, b.resolve(p, "e-moved"), b.resolve(p, "e"))
			b.quiet(b.resolve(p, "e-moved"))
			b.quiet(b.resolve(p, "e"))
		})
	}
}

func TestAnIdentityFileThatCameOrWentWithTheMove(t *testing.T) {
	b, p, e := twins(t)
	b.write("e/.lean-ctx-id", "acme/e")
	b.move("e", "moved")
	b.same("came", e, b.resolve(p, "moved"))
	b.remove("moved/.lean-ctx-id")
	b.move("moved", "again")
	b.same("went", e, b.resolve(p, "again"))
	b.remove("again")
	b.says(b.resolve(p, "eclone"), "looks like project "+e.Hash+" .*known by the identity acme/e")
	b.copied("eclone", "named")
	b.write("named/.lean-ctx-id", "acme/named")
	named := b.resolve(p, "named")
	b.quiet(named)
	b.different("another identity", e, b.resolve(p, "eclone"), named)
}

func TestARenamedPlainDirectoryIsNotFollowedButNamed(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.mkdir("notes/sub")
	b.mkdir("papers")
	notes := b.resolve(p, "notes")
	b.quiet(b.resolve(p, "papers"))
	b.move("notes", "renamed")
	for range 2 {
		seen := b.lookup(p, "renamed")
		b.different("not followed", notes, seen)
		b.says(seen, "project "+notes.Hash+" was at .*/notes, which is gone: .*lean-ctx project link "+notes.Hash)
	}
	b.quiet(b.lookup(p, "renamed/sub")) // not beside it
	b.quiet(b.lookup(p, "papers"))
	linked, err := p.Link(t.Context(), b.path("renamed"), notes.Hash)
	if err != nil {
		t.Fatal(err)
	}
	b.same("linked", notes, linked, b.resolve(p, "renamed"))
	b.mkdir("third")
	b.quiet(b.lookup(p, "third"))
	b.move("renamed", "gone")
	b.move("papers", "gone too")
	b.quiet(b.lookup(p, "third")) // it could be either
}

func TestAFileIsNoProject(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.repo("app")
	for _, name := range []string{"app/README", "app/README/deeper"} {
		_, err := p.Resolve(t.Context(), b.path(name))
		bad, ok := errors.AsType[*refusal.ArgumentError](err)
		if !ok || bad.Argument != "project" || !strings.Contains(err.Error(), b.path(name)+" is not a directory") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if list, err := p.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%+v %v", list, err)
	}
}
