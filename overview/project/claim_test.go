package project

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// victim makes a project with a secret, an identity and a remote, as an attacker may know it.
func victim(t *testing.T) (*bench, *Registry, Project) {
	t.Helper()
	b := newBench(t)
	p := b.open(nil)
	b.repo("victim")
	b.git("victim", "remote", "add", "origin", "https://h/victim")
	b.write("victim/.lean-ctx-id", "acme/victim")
	b.mkdir("plain-victim")
	b.write("plain-victim/.lean-ctx-id", "acme/plain")
	b.resolve(p, "plain-victim")
	return b, p, b.resolve(p, "victim")
}

// hostile makes a repository with a commit of its own.
func (b *bench) hostile() {
	b.repo("evil")
	b.mkdir("evil/sub")
}

// A repository must not choose whose memory it gets.
func TestRepositoryDoesNotChooseItsMemory(t *testing.T) {
	t.Parallel()
	link := func(b *bench, to, name string) {
		if err := os.Symlink(to, b.path(name)); err != nil {
			b.Skip(err)
		}
	}
	bare := func(b *bench, commondir string) { // looks like a git directory, and git can check it out
		for _, dir := range []string{"objects", "refs"} {
			b.mkdir("evil/sub/" + dir)
		}
		b.write("evil/sub/HEAD", "ref: refs/heads/main\n")
		b.write("evil/sub/config", "[core]\n\tbare = true\n")
		b.write("evil/sub/commondir", commondir+"\n")
	}
	for name, attack := range map[string]func(b *bench){
		"the victim's id":         func(b *bench) { b.write("evil/.lean-ctx-id", "acme/victim") },
		"the id of a plain one":   func(b *bench) { b.write("evil/.lean-ctx-id", "acme/plain"); b.remove("plain-victim") },
		"in a subdirectory":       func(b *bench) { b.write("evil/sub/.lean-ctx-id", "acme/victim") },
		"a linked id":             func(b *bench) { link(b, b.path("victim/.lean-ctx-id"), "evil/.lean-ctx-id") },
		"a linked id inside":      func(b *bench) { link(b, "../../victim/.lean-ctx-id", "evil/sub/.lean-ctx-id") },
		"a bare repository":       func(b *bench) { bare(b, b.path("victim/.git")) },
		"a bare one, relative":    func(b *bench) { bare(b, "../../victim/.git") },
		"a .git file":             func(b *bench) { b.remove("evil/.git"); b.write("evil/.git", "gitdir: ../victim/.git\n") },
		"a .git file in sub":      func(b *bench) { b.write("evil/sub/.git", "gitdir: "+b.path("victim/.git")+"\n") },
		"a .git link":             func(b *bench) { b.remove("evil/.git"); link(b, b.path("victim/.git"), "evil/.git") },
		"a .git link in sub":      func(b *bench) { link(b, "../../victim/.git", "evil/sub/.git") },
		"commondir of an archive": func(b *bench) { b.write("evil/.git/commondir", b.path("victim/.git")+"\n") },
		"a linked secret":         func(b *bench) { link(b, b.path("victim/.git/"+secretFile), "evil/.git/"+secretFile) },
		"a linked work tree's": func(b *bench) {
			b.git("victim", "worktree", "add", "-q", "../side")
			b.remove("evil/.git")
			b.write("evil/.git", "gitdir: "+b.path("victim/.git/worktrees/side")+"\n")
		},
		"a separate git directory that names another tree": func(b *bench) {
			b.remove("evil/.git")
			b.git("victim", "config", "core.worktree", b.path("victim"))
			b.write("evil/.git", "gitdir: "+b.path("victim/.git")+"\n")
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			b, p, v := victim(t)
			b.hostile()
			attack(b)
			plain, err := p.Show(t.Context(), "acme/plain")
			if err != nil {
				t.Fatal(err)
			}
			for _, away := range []bool{false, true} {
				if away {
					b.mkdir("unmounted")
					b.move("victim", "unmounted/victim")
				}
				for _, dir := range []string{"evil", "evil/sub"} {
					seen, err := p.Lookup(t.Context(), b.path(dir))
					if err != nil {
						continue // it names nobody's memory
					}
					b.different(dir, v, plain, seen)
					if away {
						b.different(dir, v, plain, b.resolve(p, dir))
					}
				}
			}
			b.move("unmounted/victim", "victim")
			b.same("the victim's own", v, b.resolve(p, "victim"))
		})
	}
}

// Any clone has the first commit, and any attacker can set the remote.
func TestForgedHistory(t *testing.T) {
	b, p, v := victim(t)
	b.git(".", "clone", "-q", "victim", "evil")
	b.git("evil", "remote", "set-url", "origin", "https://h/victim")
	b.move("victim", "away")
	seen := b.resolve(p, "evil")
	b.different("a forged history", v, seen)
	b.says(seen, "looks like project "+v.Hash+" .*which is gone.*lean-ctx project link "+v.Hash)
	b.same("the real one", v, b.resolve(p, "away"))
}

// Whose projects were known before there were secrets keep their memory where it is, and get
// their secret there.
func TestProjectOfAFormerVersion(t *testing.T) {
	b := newBench(t)
	b.repo("app")
	b.mkdir("other")
	const hash, byID = "0123456789abcdef", "fedcba9876543210"
	root := func(name string) string { return filepath.ToSlash(b.path(name)) }
	former := b.open(nil)
	if err := former.update(t.Context(), func(*registry, time.Time) ([]change, error) {
		return []change{
			{Put: &record{Hash: hash, Places: []Place{{Root: root("app"), GitDir: root("app/.git"), Birth: birth(b.path("app/.git"), stats{})}}}},
			{Put: &record{Hash: byID, ID: "acme", Places: []Place{{Root: root("one")}, {Root: root("other")}}}},
		}, nil
	}); err != nil {
		t.Fatal(err)
	}
	b.write("other/.lean-ctx-id", "acme")
	p := b.open(nil)
	if app := b.resolve(p, "app"); app.Hash != hash {
		t.Fatalf("%+v", app)
	}
	if other := b.resolve(p, "other"); other.Hash != byID {
		t.Errorf("a place that its identity led to: %+v", other)
	}
	if len(new(texts).secrets(b.path("app/.git"))) != 1 {
		t.Error("no secret was written")
	}
	b.move("app", "moved")
	if moved := b.resolve(b.open(nil), "moved"); moved.Hash != hash {
		t.Errorf("%+v", moved)
	}
}

// Two data directories know one repository, and each finds its own project after a move.
func TestSecretsOfTwoDataDirectories(t *testing.T) {
	b := newBench(t)
	other := &bench{TB: b.TB, data: filepath.Join(t.TempDir(), "data"), dir: b.dir}
	p, q := b.open(nil), other.open(nil)
	b.repo("app")
	mine, theirs := b.resolve(p, "app"), b.resolve(q, "app")
	b.same("again", mine, b.resolve(p, "app"))
	if info, err := os.Stat(b.path("app/.git/" + secretFile)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if secrets := new(texts).secrets(b.path("app/.git")); len(secrets) != 2 {
		t.Errorf("%q", secrets)
	}
	b.move("app", "moved")
	b.same("mine", mine, b.resolve(p, "moved"))
	b.same("theirs", theirs, b.resolve(q, "moved"))
}

// What git does not accept is no repository for us either.
func TestGitMustAccept(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.repo("app")
	b.mkdir("plain")
	b.git(".", "clone", "-q", "--bare", "app", "plain/inner.git")
	plain := b.resolve(p, "plain")
	b.different("a bare repository", plain, b.lookup(p, "plain/inner.git"))
	config := filepath.Join(t.TempDir(), "gitconfig")
	if err := os.WriteFile(config, []byte("[safe]\n\tbareRepository = explicit\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	p = b.open(nil) // git is asked once in a process
	b.same("a bare repository that git does not accept", plain, b.lookup(p, "plain/inner.git"), b.lookup(p, "plain/inner.git/refs"))
	b.repo("broken")
	b.write("broken/.git/config", "[core]\n\trepositoryformatversion = 99\n")
	broken := b.resolve(p, "broken")
	b.says(broken, "broken is not used: git does not accept it")
}

// The disk of a project without a repository is away, and an archive brings its identity.
func TestAnIdentityOpensNothingWhileADiskIsAway(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.mkdir("disk/notes")
	b.mkdir("unmounted")
	b.write("disk/notes/.lean-ctx-id", "notes")
	notes := b.resolve(p, "disk/notes")
	b.mkdir("archive")
	b.write("archive/.lean-ctx-id", "notes")
	for _, away := range []string{"disk", "disk/notes"} {
		b.move(away, "unmounted/it")
		seen := b.lookup(p, "archive")
		b.different("an archive", notes, seen)
		b.says(seen, "looks like project "+notes.Hash)
		b.move("unmounted/it", away)
		b.same("the disk is back", notes, b.resolve(p, "disk/notes"))
	}
	b.different("an archive that is written to", notes, b.resolve(p, "archive"))
	b.move("disk", "elsewhere")
	b.same("moved with what is above", notes, b.resolve(p, "elsewhere/notes"))
}
