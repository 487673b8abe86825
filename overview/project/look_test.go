package project

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// An identity file is a claim. It opens a project where that is known already, in the same
// repository, or after a person has linked it.
func TestIdentityFile(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.repo("one")
	b.mkdir("one/part/deep")
	b.mkdir("two/sub")
	b.repo("three")
	b.write("one/.lean-ctx-id", "acme/app\n")
	b.write("one/part/.lean-ctx-id", "проект 1")
	b.write("two/.lean-ctx-id", "  acme/app\r\n")
	one := b.resolve(p, "one")
	if one.ID != "acme/app" {
		t.Errorf("%+v", one)
	}
	part := b.resolve(p, "one/part/deep")
	b.different("the nearest decides", one, part)
	b.mkdir("one/again")
	b.write("one/again/.lean-ctx-id", "acme/app")
	b.same("in the same repository", one, b.lookup(p, "one/again"))

	two := b.lookup(p, "two/sub")
	b.different("a claim from elsewhere", one, two)
	b.says(two, "looks like project "+one.Hash+" .*which is still there.*lean-ctx project link "+one.Hash)
	linked, err := p.Link(t.Context(), b.path("two"), one.Hash)
	if err != nil {
		t.Fatal(err)
	}
	b.same("linked by a person", one, linked, b.resolve(p, "two/sub"))
	b.quiet(b.resolve(p, "two/sub"))

	three := b.resolve(p, "three")
	b.write("three/.lean-ctx-id", "acme/app")
	claims := b.resolve(p, "three")
	b.same("a known place keeps its memory", three, claims)
	b.says(claims, "says that this is project "+one.Hash+" .*only you can confirm: .lean-ctx project link "+one.Hash)
	b.quiet(b.resolve(p, "three"))
	b.write("one/.lean-ctx-id", "acme/other")
	b.same("a changed identity", one, b.resolve(p, "one"))
	if _, err := p.Unlink(t.Context(), b.path("one")); err != nil {
		t.Fatal(err)
	}
	b.different("unlinked by a person", one, b.resolve(p, "one"))
	b.write("two/.lean-ctx-id", "../../etc/passwd")
	if odd := b.resolve(p, "two"); !validHash(odd.Hash) {
		t.Errorf("%+v", odd)
	}
}

// What is no identity says nothing, and is named: anybody who writes into a repository can put it there.
func TestBadIdentityFiles(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.mkdir("app/sub")
	for text, says := range map[string]string{
		"":                               "is empty",
		" \n":                            "is empty",
		"one\ntwo\n":                     "more than one line",
		"a\x00b":                         "control characters",
		"a\x1b[31m":                      "control characters",
		"\xff\xfe":                       "not UTF-8",
		strings.Repeat("ж", 257):         "too long",
		strings.Repeat("x", 1<<20):       "too long",
		"x" + strings.Repeat(" ", 1<<16): "too long",
	} {
		b.write("app/.lean-ctx-id", text)
		b.says(b.lookup(p, "app/sub"), "app/.lean-ctx-id .*"+says)
	}
	b.write("app/.lean-ctx-id", strings.Repeat("ж", 256))
	b.resolve(p, "app")
	b.remove("app/.lean-ctx-id")
	b.mkdir("app/.lean-ctx-id")
	b.says(b.lookup(p, "app"), "app/.lean-ctx-id is not a file")
}

func TestBadPaths(t *testing.T) {
	b := newBench(t)
	p := b.open(nil)
	b.mkdir("app")
	b.write("app/.git", "gitdir: ../nowhere\n")
	for name, says := range map[string]string{"nowhere": "there is no directory", "app": "points to .*/nowhere, which is not a git directory"} {
		if _, err := resolveAt(t.Context(), p, b.path(name)); err == nil || !regexp.MustCompile(says).MatchString(err.Error()) {
			t.Errorf("%s: %v, not %q", name, err, says)
		}
	}
	b.write("app/.git", "no git file\n")
	b.resolve(p, "app")
	b.remove("app/.git")
	b.mkdir("app/.git") // empty: git takes it for nothing too
	b.resolve(p, "app")
	if _, err := os.Stat(b.path("nowhere")); !os.IsNotExist(err) {
		t.Error(err)
	}
	if os.Getuid() != 0 && runtime.GOOS != "windows" {
		b.mkdir("closed/in")
		os.Chmod(b.path("closed"), 0)
		defer os.Chmod(b.path("closed"), 0o755)
		if _, err := resolveAt(t.Context(), p, b.path("closed/in")); err == nil {
			t.Error("a path without permission was resolved")
		}
	}
}

func TestAWorkingDirectoryThatIsGone(t *testing.T) {
	b := newBench(t)
	dir := b.mkdir("gone")
	cmd := exec.Command("sh", "-c", `rm -r "$PWD" && exec "$0"`, os.Args[0])
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "OVERVIEW_TEST_DATA="+b.data)
	out, err := cmd.CombinedOutput()
	if err == nil || !regexp.MustCompile("the working directory is gone|there is no directory").Match(out) {
		t.Errorf("%v: %s", err, out)
	}
}

func TestProcessesAgreeOnAHash(t *testing.T) {
	b := newBench(t)
	b.repo("app")
	const n = 6
	type answer struct {
		out []byte
		err error
	}
	answers := make(chan answer, n)
	for range n {
		go func() {
			cmd := exec.Command(os.Args[0])
			cmd.Dir = b.path("app")
			cmd.Env = append(os.Environ(), "OVERVIEW_TEST_DATA="+b.data)
			out, err := cmd.Output()
			answers <- answer{out, err}
		}()
	}
	hashes := map[string]int{}
	for range n {
		a := <-answers
		if a.err != nil {
			t.Error(a.err)
		}
		hashes[strings.TrimSpace(string(a.out))]++
	}
	if len(hashes) != 1 {
		t.Errorf("%v", hashes)
	}
	if list, err := b.open(nil).List(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%+v %v", list, err)
	}
}

func TestProjectsFileIsPlain(t *testing.T) {
	b := newBench(t)
	b.repo("app")
	app := b.resolve(b.open(nil), "app")
	data, err := os.ReadFile(filepath.Join(b.data, "projects.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Schema   int
		Projects []struct {
			Hash         string
			FirstCommits []string `json:"first_commits"`
			Places       []Place
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if file.Schema != 1 || len(file.Projects) != 1 || file.Projects[0].Hash != app.Hash || file.Projects[0].Places[0].Root != app.Root || len(file.Projects[0].FirstCommits) != 1 {
		t.Errorf("%s", data)
	}
	if !strings.HasPrefix(string(data), "{\n  \"schema\": 1,\n") {
		t.Errorf("%s", data)
	}
	info, err := os.Stat(filepath.Join(b.data, "projects.json"))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != fs.FileMode(0o600) {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func BenchmarkResolveKnown(b *testing.B) {
	for _, n := range []int{1, 30, 300} {
		b.Run(fmt.Sprintf("projects=%d", n), func(b *testing.B) {
			h := newBench(b)
			p := h.open(nil)
			for i := range n - 1 {
				h.mkdir(fmt.Sprintf("p%d", i))
				h.resolve(p, fmt.Sprintf("p%d", i))
			}
			h.repo("app")
			h.mkdir("app/a/b/c")
			h.resolve(p, "app")
			at := h.path("app/a/b/c")
			b.Run("warm", func(b *testing.B) {
				for b.Loop() {
					if _, err := resolveAt(b.Context(), p, at); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("cold", func(b *testing.B) {
				for b.Loop() {
					p, err := Open(h.data, nil)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := resolveAt(b.Context(), p, at); err != nil {
						b.Fatal(err)
					}
					p.Close()
				}
			})
		})
	}
}

// The whole history has to be walked for its first commits, and anybody can make a long one. A hook
// waits for a hint no more than for anything else, and neither does a person.
func TestNobodyWaitsForALongHistory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the git that is slow is a shell script")
	}
	b := newBench(t)
	b.repo("long")
	slow := "#!/bin/sh\ncase \"$*\" in *rev-list*) exec sleep 20;; esac\nexec git \"$@\"\n"
	if err := os.WriteFile(b.path("slow-git"), []byte(slow), 0o755); err != nil {
		t.Fatal(err)
	}
	p := b.open(&Options{Git: b.path("slow-git"), GitTimeout: 10 * time.Second})
	for _, c := range []struct {
		name  string
		limit time.Duration // of the call; 0: none
		most  time.Duration
		call  func(context.Context, string) (Project, error)
	}{
		{"a hook reads", 4 * time.Second, 2 * time.Second, p.Lookup},
		{"a command reads", 0, 3 * time.Second, p.Lookup},
		{"a hook writes", 8 * time.Second, 5 * time.Second, func(ctx context.Context, path string) (Project, error) { return resolveAt(ctx, p, path) }},
	} {
		ctx := t.Context()
		if c.limit > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, c.limit)
			defer cancel()
		}
		start := time.Now()
		if _, err := c.call(ctx, b.path("long")); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if d := time.Since(start); d > c.most {
			t.Errorf("%s: %v", c.name, d)
		}
	}
}
