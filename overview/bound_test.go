package overview

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"leanctx/internal/refusal"
)

// Of a project that is too much to read, the first files are read. The answer says how many
// are known by name alone. They are found by their names. What the cache knows
// makes no difference, and what fits again is read.
func TestTooMuchToRead(t *testing.T) {
	l := newLand(t)
	long := strings.Repeat("\n// filler", 100)
	l.write("a.go", "// Package a is at the top.\npackage a\n"+long)
	l.write("sub/deep/zebra.go", "// Package deep draws zebras.\npackage deep\n"+long)
	l.write("a_test.go", "// A test of stripes.\npackage a\n"+long)
	l.write("notes.txt", long)
	ask := func(most int64) string {
		m := NewMap(l.root, &MapOptions{Cache: l.cache})
		if most > 0 {
			m.maxTotal = most
		}
		o, err := m.Overview(t.Context(), Inquiry{Task: "zebra"})
		if err != nil {
			t.Fatal(err)
		}
		return o.Text()
	}
	little := ask(1500)
	if !strings.Contains(little, "too much to read: 3 files known by name alone") || !strings.Contains(little, "sub/deep/zebra.go\n") || strings.Contains(little, "draws zebras") {
		t.Error(little)
	}
	all := ask(0)
	if strings.Contains(all, "too much") || !strings.Contains(all, "zebra.go - Package deep draws zebras") {
		t.Error(all)
	}
	if again := ask(1500); again != little {
		t.Error(again)
	}
}

// What is slow to read does not keep an overview for long: the rest is known by name alone, and is read
// by the next one.
func TestSlowTextIsReadLater(t *testing.T) {
	l := newLand(t)
	for i := range 40 {
		l.write(fmt.Sprintf("f%02d.go", i), fmt.Sprintf("// Package p%d is slow.\npackage p%d\n", i, i))
	}
	m := NewMap(l.root, &MapOptions{Cache: l.cache})
	m.reading = time.Nanosecond
	o, err := m.Overview(t.Context(), Inquiry{})
	if err != nil || !strings.Contains(o.Text(), "files known by name alone") {
		t.Errorf("%v\n%s", err, o.Text())
	}
	if o, err = NewMap(l.root, &MapOptions{Cache: l.cache}).Overview(t.Context(), Inquiry{}); err != nil || strings.Contains(o.Text(), "by name alone") {
		t.Errorf("%v\n%s", err, o.Text())
	}
}

// A file that is written while overviews are made is told as it is once it
// rests, whatever was met meanwhile.
func TestAFileThatChangesWhileItIsRead(t *testing.T) {
	l := newLand(t)
	l.write("still.go", "package a\n")
	name := filepath.Join(l.root, "busy.go")
	stop, done := make(chan bool), make(chan error, 1)
	go func() {
		var err error
		for i := 0; err == nil; i++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
				err = os.WriteFile(name, []byte("package a\n\nfunc Busy() {}\n"+strings.Repeat("// more\n", i%500)), 0o644)
			}
		}
		done <- err
	}()
	for range 30 {
		l.see(Inquiry{Task: "busy"}, nil)
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("// Rests now, at last.\npackage a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := l.see(Inquiry{Task: "busy"}, nil).Text(); !strings.Contains(got, "busy.go - Rests now, at last") {
		t.Error(got)
	}
}

// What may not be read is left out, and the rest is told.
func TestAnUnreadableDirectory(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("everything can be read here")
	}
	l := newLand(t)
	l.write("ok.go", "// Package ok is here.\npackage ok\n")
	l.write("closed/in.go", "package in\n")
	l.write("shut.go", "package shut\n")
	for name, mode := range map[string]os.FileMode{"closed": 0, "shut.go": 0} {
		full := filepath.Join(l.root, name)
		if err := os.Chmod(full, mode); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(full, 0o755)
	}
	o := l.see(Inquiry{}, nil)
	if !slices.Equal(listedPaths(o.Critical, o.Important, o.Reference), []string{"ok.go"}) {
		t.Error(o.Text())
	}
}

// A home directory is no project, but an overview of it ends: what programs keep
// in it for themselves is not looked into.
func TestHomeDirectory(t *testing.T) {
	l := newLand(t)
	for _, name := range []string{".cache/x/a.go", ".npm/b.js", "go/pkg/mod/c@v1/c.go", "work/.cache/kept.go", "work/d.go"} {
		l.write(name, "package x\n")
	}
	l.age("work/d.go", time.Now().Add(-time.Hour))
	o := l.see(Inquiry{}, nil)
	got := listedPaths(o.Critical, o.Important, o.Reference)
	slices.Sort(got)
	if !slices.Equal(got, []string{"work/.cache/kept.go", "work/d.go"}) {
		t.Errorf("%q", got)
	}
	for _, dir := range []string{".cache/", ".npm/", "go/"} {
		if !strings.Contains(o.Text(), dir) {
			t.Errorf("%s is not named: %s", dir, o.Text())
		}
	}
}

// A tree that takes too long, as a whole disk does, ends with what to do.
func TestOverviewEnds(t *testing.T) {
	l := newLand(t)
	m := NewMap(l.root, &MapOptions{Cache: l.cache})
	m.maxTime = time.Nanosecond
	_, err := m.Overview(t.Context(), Inquiry{})
	if e, ok := errors.AsType[*refusal.HintError](err); !ok || !strings.Contains(e.Hint, "name a directory") {
		t.Errorf("%v", err)
	}
}
