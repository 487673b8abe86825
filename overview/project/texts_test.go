package project

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A registry that keeps what it read of a repository answers as one that reads it anew, whatever changes
// between two looks: also what is no longer ours, or became a link.
func TestAKeptTextIsReadAgainWhenItsFileChanges(t *testing.T) {
	b := newBench(t)
	b.repo("app")
	kept, old := b.open(nil), time.Now().Add(-time.Hour)
	b.resolve(kept, "app") // it has a secret now
	age := func() {
		for _, name := range []string{"config", "HEAD", secretFile} {
			_ = os.Chtimes(b.path("app/.git/"+name), old, old) // one is missing
		}
	}
	secret := b.path("app/.git/" + secretFile)
	text, err := os.ReadFile(secret)
	if err != nil {
		t.Fatal(err)
	}
	changes := map[string]func(){
		"1 nothing":             func() {},
		"2 a remote":            func() { b.git("app", "remote", "add", "origin", "https://example.com/one.git") },
		"3 another of one size": func() { b.git("app", "remote", "set-url", "origin", "https://example.com/two.git") },
		"4 a branch":            func() { b.git("app", "symbolic-ref", "HEAD", "refs/heads/none") },
		"5 a secret more":       func() { b.write("app/.git/"+secretFile, string(text)+"another\n") },
		"6 no secret":           func() { b.remove("app/.git/" + secretFile) },
		"7 a link": func() {
			b.write("elsewhere", string(text))
			if err := os.Symlink(b.path("elsewhere"), secret); err != nil {
				t.Skip("NOT PROVEN: no links here:", err)
			}
		},
	}
	for _, what := range slices.Sorted(maps.Keys(changes)) {
		change := changes[what]
		t.Run(what, func(t *testing.T) {
			age()
			if _, err := kept.Look(b.path("app")); err != nil { // it has all in memory
				t.Fatal(err)
			}
			change()
			for range 2 {
				got, err := kept.observe(b.path("app"))
				if err != nil {
					t.Fatal(err)
				}
				want, err := b.open(nil).observe(b.path("app"))
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff([]any{want.Remote, want.hasCommit, want.secrets}, []any{got.Remote, got.hasCommit, got.secrets}); d != "" {
					t.Errorf("what is kept differs from the files (-files +kept):\n%s", d)
				}
			}
		})
	}
}

// Of a look, each file is asked once.
func TestALookLooksOnce(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	at := stats{}
	if _, err := at.of(name); !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := at.of(name); !os.IsNotExist(err) {
		t.Error("two answers of one look differ")
	}
}

// How many system calls a look costs shows in its time; that the texts are kept at all shows here.
func TestAnUnchangedTextIsReadOnce(t *testing.T) {
	var kept texts
	name := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(name, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	reads := 0
	read := func() {
		t.Helper()
		info, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := kept.of(name, info, func() (string, error) {
			reads++
			data, err := os.ReadFile(name)
			return string(data), err
		}); err != nil || text != "text" {
			t.Fatal(text, err)
		}
	}
	read()
	read()
	if reads != 2 {
		t.Errorf("a file written just now was read %d times, want 2: another write might have its time", reads)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(name, old, old); err != nil {
		t.Fatal(err)
	}
	read()
	read()
	if reads != 3 {
		t.Errorf("an old file was read %d times, want once more", reads)
	}
}
