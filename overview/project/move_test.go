package project

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestAMoveIsFollowed(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.repo("app")
	b.repo("other")
	b.git("app", "remote", "add", "origin", "git@github.com:acme/app.git")
	app, other := b.resolve(p, "app"), b.resolve(p, "other")
	b.move("app", "moved")
	if seen := b.lookup(p, "moved"); seen.Hash != app.Hash {
		t.Errorf("a lookup does not follow: %+v", seen)
	}
	moved := b.resolve(p, "moved")
	b.same("moved", app, moved, b.resolve(p, "moved"))
	b.says(moved, `moved from .*/app, which is gone`)
	if again := b.resolve(p, "moved"); len(again.Notices) != 0 || again.Former[0] != app.Root {
		t.Errorf("%+v", again)
	}
	b.move("other", "app")
	b.same("to where another was", other, b.resolve(p, "app"))
	b.different("two", app, other)
	b.git(".", "clone", "-q", "app", "clone")
	b.remove("app")
	clone := b.resolve(p, "clone")
	b.different("a clone has another remote", other, clone)
	b.says(clone, "looks like project "+other.Hash+" .*which is gone")
}

func TestTwoClonesAreTwoProjectsUntilLinked(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.repo("origin")
	b.git(".", "clone", "-q", "origin", "one")
	b.git(".", "clone", "-q", "origin", "two")
	one, two := b.resolve(p, "one"), b.resolve(p, "two")
	b.different("clones", b.resolve(p, "origin"), one, two)
	linked, err := p.Link(t.Context(), b.path("two"), one.Hash[:6])
	if err != nil {
		t.Fatal(err)
	}
	b.says(linked, "stays in project "+two.Hash)
	b.same("linked", one, linked, b.resolve(p, "two"), b.resolve(p, "one"))
	if _, err := p.Unlink(t.Context(), b.path("two")); err != nil {
		t.Fatal(err)
	}
	again := b.resolve(p, "two")
	b.different("unlinked", one, again)
	b.same("what it was before it was linked", two, again, b.resolve(p, "two"))
	b.remove("one")
	b.same("is not followed back", again, b.resolve(p, "two"))
}

// A directory without a repository has nothing but its path to be known by.
func TestUnlinkedDirectoryIsWhatItWasBefore(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.mkdir("one")
	b.mkdir("two")
	one, two := b.resolve(p, "one"), b.resolve(p, "two")
	b.different("two directories", one, two)
	if _, err := p.Link(t.Context(), b.path("two"), one.Hash); err != nil {
		t.Fatal(err)
	}
	b.same("linked", one, b.resolve(p, "two"))
	out, err := p.Unlink(t.Context(), b.path("two"))
	if err != nil {
		t.Fatal(err)
	}
	b.says(out, "is project "+two.Hash+" again")
	b.same("unlinked", two, b.resolve(p, "two"))
	b.same("the project that it left", one, b.resolve(p, "one"))
}

func TestUnlinkedPlacesAreNotFollowed(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.repo("app")
	app := b.resolve(p, "app")
	b.move("app", "moved")
	b.same("followed", app, b.resolve(p, "moved"))
	if _, err := p.Unlink(t.Context(), b.path("moved")); err != nil {
		t.Fatal(err)
	}
	b.different("unlinked", app, b.resolve(p, "moved"))
	linked, err := p.Link(t.Context(), b.path("moved"), app.Hash)
	if err != nil {
		t.Fatal(err)
	}
	b.same("linked again", app, linked, b.resolve(p, "moved"))
	b.remove("moved")
	if _, err := p.Unlink(t.Context(), b.path("moved")); err != nil {
		t.Errorf("a place that is gone: %v", err)
	}
	if _, err := p.Unlink(t.Context(), b.path("nowhere")); err == nil {
		t.Error("a place that never was, was unlinked")
	}
}

func TestAnotherRepositoryInTheSamePlaceIsAnotherProject(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.repo("app")
	app := b.resolve(p, "app")
	b.move("app", "away")
	b.repo("fresh")
	b.move("fresh", "app")
	if seen := b.lookup(p, "app"); seen.Hash == app.Hash || seen.Known {
		t.Errorf("a lookup gives the other's memory: %+v", seen)
	}
	fresh := b.resolve(p, "app")
	b.different("another repository", app, fresh)
	b.says(fresh, "another repository used to be at .*/app: its memory stays in project "+app.Hash)
	b.same("it stays", fresh, b.resolve(p, "app"))
	b.same("the first one is found where it went", app, b.resolve(p, "away"))
	b.remove("app")
	b.git(".", "clone", "-q", "away", "app")
	third := b.resolve(p, "app")
	b.different("a clone of the first in the place of the second", app, fresh, third)
	b.remove("away")
	b.git(".", "clone", "-q", "app", "tmp")
	b.remove("app")
	b.move("tmp", "app")
	b.same("cloned anew in its place", third, b.resolve(p, "app"))
	b.remove("app")
	b.mkdir("app")
	b.git("app", "init", "-q")
	b.different("an empty repository", app, fresh, third, b.resolve(p, "app"))
}

func TestForget(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.repo("app")
	app := b.resolve(p, "app")
	gone, err := p.Forget(t.Context(), "app")
	if err != nil || gone.Hash != app.Hash {
		t.Fatal(gone, err)
	}
	if list, err := p.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%+v %v", list, err)
	}
	if _, err := p.Forget(t.Context(), app.Hash); !isNotFound(err) {
		t.Errorf("%v", err)
	}
	b.different("a hash is not given out twice", app, b.lookup(p, "app"))
	b.different("a hash is not given out twice", app, b.resolve(b.open(nil), "app"))
}

// A path where a project was does not name it while another is there: who forgets the project of
// this directory, or links to it, means no other.
func TestPathOfAFormerProject(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.repo("app")
	b.repo("gone")
	app := b.resolve(p, "app")
	b.move("app", "away")
	b.same("moved", app, b.resolve(p, "away"))
	if found, err := p.Show(t.Context(), b.path("app")); err != nil || found.Hash != app.Hash {
		t.Errorf("nothing is there: %+v, %v", found, err)
	}
	b.resolve(p, "gone")
	b.remove("gone")
	b.mkdir("other")
	b.resolve(p, "other")
	for _, name := range []string{"app", "gone"} {
		b.mkdir(name)
		b.git(name, "init", "-q")
		if found, err := p.Forget(t.Context(), b.path(name)); !isNotFound(err) {
			t.Errorf("forgot %+v, %v", found, err)
		}
		if found, err := p.Link(t.Context(), b.path("other"), b.path(name)); !isNotFound(err) {
			t.Errorf("linked to %+v, %v", found, err)
		}
		fresh := b.resolve(p, name)
		if found, err := p.Show(t.Context(), b.path(name)); err != nil || found.Hash != fresh.Hash {
			t.Errorf("%+v, %v", found, err)
		}
	}
}

func TestGitMayBeMissing(t *testing.T) {
	b := newBench(t)
	p := b.open(&Options{Git: b.path("no-git")})
	b.repo("app")
	app := b.resolve(p, "app")
	b.same("without git", app, b.resolve(p, "app"), b.lookup(p, "app"))
	if len(app.FirstCommits) != 0 {
		t.Errorf("%+v", app)
	}
	b.move("app", "moved")
	b.same("its secret says what it was", app, b.resolve(p, "moved"))
}

func TestShallowClonesHaveNoFirstCommit(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.repo("app")
	b.git("app", "commit", "-q", "--allow-empty", "-m", "second")
	b.git(".", "clone", "-q", "--depth=1", "file://"+filepath.ToSlash(b.path("app")), "shallow")
	if got := b.resolve(p, "shallow"); len(got.FirstCommits) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestShowFindsAProjectByWhatAPersonSays(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.repo("x/app")
	b.repo("y/app")
	b.repo("web")
	b.mkdir("web/src")
	b.mkdir("plain")
	b.write("plain/.lean-ctx-id", "acme")
	web, plain := b.resolve(p, "web"), b.resolve(p, "plain")
	x, _ := b.resolve(p, "x/app"), b.resolve(p, "y/app")
	for _, ref := range []string{web.Hash, web.Hash[:4], "web", b.path("web"), b.path("web/src")} {
		if got, err := p.Show(t.Context(), ref); err != nil || got.Hash != web.Hash {
			t.Errorf("%s: %+v %v", ref, got, err)
		}
	}
	if got, err := p.Show(t.Context(), "acme"); err != nil || got.Hash != plain.Hash {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := p.Show(t.Context(), "app"); err == nil || !strings.Contains(err.Error(), x.Hash) {
		t.Errorf("%v", err)
	}
	for _, ref := range []string{"nothing", "", "ffff", "../../etc", b.path("x")} {
		if _, err := p.Show(t.Context(), ref); !isNotFound(err) {
			t.Errorf("%q: %v", ref, err)
		}
	}
	list, err := p.List(t.Context())
	if err != nil || len(list) != 4 || list[0].Name != "app" || list[3].Name != "web" {
		t.Errorf("%+v %v", list, err)
	}
}

func TestGitIsNotWaitedForLong(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the git that hangs is a shell script")
	}
	b := newBench(t)
	b.repo("app")
	b.write("hangs", "#!/bin/sh\nexec tail -f /dev/null\n")
	if err := os.Chmod(b.path("hangs"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := b.open(&Options{Git: b.path("hangs"), GitTimeout: 50 * time.Millisecond})
	app := b.resolve(p, "app")
	if !app.Known || len(app.FirstCommits) != 0 {
		t.Errorf("%+v", app)
	}
	p = b.open(&Options{Git: b.path("hangs"), GitTimeout: time.Hour})
	b.same("a known project is not asked for again", app, b.resolve(p, "app"))
}
