package tree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file differs from its commit, or does not, as git status says; no program that the repository names runs.
func TestUncommitted(t *testing.T) {
	y := newYard(t)
	y.write("r/src/a.go", "package a\n")
	y.write("r/[b] c.go", "package b\n")
	y.write("r/crlf.txt", "one\ntwo\n")
	y.write("r/.gitignore", "*.log\n")
	y.git("r", "init", "-q")
	if Uncommitted(t.Context(), y.root, "r/src/a.go") {
		t.Error("there is no repository")
	}
	root := filepath.Join(y.root, "r")
	if !Uncommitted(t.Context(), root, "src/a.go") {
		t.Error("there is no commit yet")
	}
	y.git("r", "add", ".")
	y.git("r", "commit", "-qm", "x")
	y.write("r/.gitattributes", "* filter=evil diff=evil merge=evil\n")
	ran := filepath.Join(y.root, "ran")
	config, err := os.OpenFile(filepath.Join(root, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	run := "touch " + filepath.ToSlash(ran) + "; cat"
	for _, key := range []string{"filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv", "diff.evil.command", "diff.external", "core.fsmonitor", "core.pager", "core.editor", "core.askPass", "core.sshCommand", "core.alternateRefsCommand", "gpg.program", "credential.helper", "alias.status", "alias.ls-files", "uploadpack.packObjectsHook", "pager.log", "merge.evil.driver", "sequence.editor", "core.hooksPath"} {
		section, name := key[:strings.LastIndex(key, ".")], key[strings.LastIndex(key, ".")+1:]
		if a, b, ok := strings.Cut(section, "."); ok {
			section = a + ` "` + b + `"`
		}
		if _, err := config.WriteString("[" + section + "]\n\t" + name + ` = "` + run + "\"\n"); err != nil {
			t.Fatal(err)
		}
	}
	if err := config.Close(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"src/a.go": false, "[b] c.go": false, "crlf.txt": false, "x.log": false, "new.go": false} {
		if got := Uncommitted(t.Context(), root, name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	y.write("r/src/a.go", "package a // changed\n")
	y.write("r/crlf.txt", "one\r\ntwo\r\n")
	y.write("r/x.log", "x")
	y.write("r/new.go", "package a\n")
	if err := os.Remove(filepath.Join(root, "[b] c.go")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"src/a.go": true, "[b] c.go": true, "crlf.txt": false, "x.log": false, "new.go": true} {
		if got := Uncommitted(t.Context(), root, name); got != want {
			t.Errorf("changed, %s: %v", name, got)
		}
	}
	if _, err := List(t.Context(), root, nil); err != nil {
		t.Error(err)
	}
	if _, err := Recent(t.Context(), root, "HEAD", 10, nil); err != nil {
		t.Error(err)
	}
	for _, args := range [][]string{{"status"}, {"-C", "x", "diff"}, {"add", "."}, {"--version"}} {
		if _, err := Git(t.Context(), "git", root, "", args...); err == nil {
			t.Errorf("git %v was run", args)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of the repository ran")
	}
}
