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
	b.same("its secret says which it is", eclone, b.lookup(p, "again"))
}

// A forged first commit and the same remote are easily made, and the real directory may only be
// away: a clone brings no secret, so it is a hint to the person and no more.
func TestACloneIsNoMove(t *testing.T) {
	b, p, e := twins(t)
	b.mkdir("far/away")
	b.move("e", "far/away/e")
	b.different("a reader", e, b.lookup(p, "eclone"))
	eclone := b.resolve(p, "eclone")
	b.different("a clone while the real one is away", e, eclone)
	b.says(eclone, "looks like project "+e.Hash+" .*/e.*which is gone.*lean-ctx project link "+e.Hash)
	b.same("the real one turns up", e, b.resolve(p, "far/away/e"))
	b.move("far/away/e", "e")
	b.same("home again", e, b.resolve(p, "e"))
	if _, err := p.Link(t.Context(), b.path("eclone"), e.Hash); err != nil {
		t.Fatal(err)
	}
	b.same("linked by a person", e, b.resolve(p, "eclone"))
	b.remove("e")
	b.move("eclone", "elsewhere")
	b.same("a linked clone moves too", e, b.resolve(p, "elsewhere"))
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
	b.move("e-moved", "e-again")
	b.same("linked and moved", e, linked, b.resolve(p, "e-again"))
	b.move("e-again", "e")
	b.different("to the place that was unlinked", e, b.lookup(p, "e"))
}

// Neither a commit nor a remote is needed, and a history that was rewritten is the same project.
func TestEveryRepositoryIsFollowed(t *testing.T) {
	commit := []string{"commit", "-q", "--allow-empty", "-m", "one"}
	for name, c := range map[string]struct{ before, after []string }{
		"without a commit": {[]string{"status"}, []string{"status"}},
		"remote changed":   {commit, []string{"remote", "add", "origin", "https://h/f"}},
		"another history":  {commit, []string{"commit", "-q", "--allow-empty", "--amend", "-m", "two"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			p := b.open(nil)
			b.mkdir("e")
			b.git("e", "init", "-q")
			b.git("e", c.before...)
			e := b.resolve(p, "e")
			b.git("e", c.after...)
			b.same("at its place", e, b.lookup(p, "e"))
			b.move("e", "moved")
			b.same("moved", e, b.lookup(p, "moved"))
		})
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
}

func TestRepositoriesThatChangePlaces(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.repo("a")
	b.repo("b")
	one, two := b.resolve(p, "a"), b.resolve(p, "b")
	b.move("a", "c")
	b.move("b", "a")
	b.move("c", "b")
	got := b.resolve(p, "a")
	b.different("nobody gets the memory of another", one, got)
	b.says(got, "another repository used to be at .*/a: its memory stays in project "+one.Hash+".*project link "+one.Hash)
	b.says(got, "looks like project "+two.Hash)
	b.same("a is at b", one, b.resolve(p, "b"))
	b.quiet(b.resolve(p, "b"))
}

func TestANewCloneWhereTheOldOneWas(t *testing.T) {
	b, p, e := twins(t)
	b.move("e", "e-moved")
	b.move("eclone", "e")
	b.same("by its first commit", e, b.resolve(p, "e"))
	b.says(b.lookup(p, "e-moved"), "looks like project "+e.Hash+" .*still there")
}

func TestAnIdentityFileThatCameOrWentWithTheMove(t *testing.T) {
	b, p, e := twins(t)
	b.write("e/.lean-ctx-id", "acme/e")
	b.move("e", "moved")
	b.same("came", e, b.resolve(p, "moved"))
	b.remove("moved/.lean-ctx-id")
	b.same("went", e, b.resolve(p, "moved"))
	b.remove("moved")
	b.says(b.resolve(p, "eclone"), "looks like project "+e.Hash+" .*which is gone")
	b.copied("eclone", "named")
	b.write("named/.lean-ctx-id", "acme/named")
	named := b.resolve(p, "named")
	b.different("another identity", e, b.resolve(p, "eclone"), named)
}

// A directory that has nothing but its path is another project under another name, until it is
// linked. With an identity file it is followed, once the old place is gone.
func TestARenamedPlainDirectoryIsNotFollowed(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.mkdir("notes")
	notes := b.resolve(p, "notes")
	b.move("notes", "renamed")
	seen := b.lookup(p, "renamed")
	b.different("not followed", notes, seen)
	if directoryID(b.path("renamed")) != "" {
		b.says(seen, "looks like project "+notes.Hash+" .*/notes.*which is gone.*lean-ctx project link "+notes.Hash)
		if err := os.Chtimes(b.path("renamed"), time.Time{}, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		b.quiet(b.lookup(p, "renamed")) // a new directory may have the number of one that is gone
	}
	linked, err := p.Link(t.Context(), b.path("renamed"), notes.Hash)
	if err != nil {
		t.Fatal(err)
	}
	b.same("linked", notes, linked, b.resolve(p, "renamed"))

	b.mkdir("plain/sub")
	b.write("plain/.lean-ctx-id", "plain")
	plain := b.resolve(p, "plain")
	b.copied("plain", "copy")
	b.different("a copy", plain, b.lookup(p, "copy"))
	b.says(b.lookup(p, "copy"), "looks like project "+plain.Hash+" .*which is still there")
	b.remove("copy")
	b.move("plain", "other")
	moved := b.resolve(p, "other/sub")
	b.same("moved with its identity", plain, moved)
	b.says(moved, "moved from .*/plain, which is gone")
	b.mkdir("far")
	b.move("other", "far/x")
	b.remove("far/x/.lean-ctx-id")
	b.different("without", plain, b.lookup(p, "far/x"))
	b.move("far/x", "far/other")
	b.says(b.lookup(p, "far/other"), "looks like project "+plain.Hash+" .*which is gone")
}

func TestAFileIsNoProject(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.repo("app")
	for _, name := range []string{"app/README", "app/README/deeper"} {
		_, err := resolveAt(t.Context(), p, b.path(name))
		bad, ok := errors.AsType[*refusal.ArgumentError](err)
		if !ok || bad.Argument != "project" || !strings.Contains(err.Error(), b.path(name)+" is not a directory") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if list, err := p.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%+v %v", list, err)
	}
}
