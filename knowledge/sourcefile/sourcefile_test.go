package sourcefile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leanctx/formats"
)

// project makes a project with a file of 20 lines.
func project(t *testing.T) (dir string, f *Files) {
	t.Helper()
	dir = t.TempDir()
	var b strings.Builder
	for n := range 20 {
		fmt.Fprintf(&b, "line %d\n", n+1)
	}
	write(t, dir, "src/auth.ts", b.String())
	return dir, New(dir, "", nil)
}

// write gives a file a text and a time of its own.
var written = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	written = written.Add(time.Minute)
	if err := os.Chtimes(path, written, written); err != nil {
		t.Fatal(err)
	}
}

func readState(t *testing.T, f *Files, ref string) formats.FileState {
	t.Helper()
	_, st, err := f.Read(ref)
	if err != nil || st == nil {
		t.Fatalf("Read(%q) = %v, %v", ref, st, err)
	}
	return *st
}

// A source names a file from the root of the project, by whatever path it was given.
func TestAbsoluteSourceBecomesRelative(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "project")
	if err := os.MkdirAll(filepath.Join(root, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "src", "a.go"), []byte("package a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(root, link); err != nil {
		t.Skip(err)
	}
	for _, from := range []string{root, link} {
		f := New(from, "", nil)
		for given, want := range map[string]string{
			filepath.Join(root, "src", "a.go"):        "src/a.go",
			filepath.Join(root, "src", "a.go") + ":1": "src/a.go:1",
			filepath.Join(link, "src", "a.go") + ":1": "src/a.go:1",
			filepath.Join(root, "src", "gone.go"):     "src/gone.go",
			filepath.Join(base, "elsewhere", "a.go"):  filepath.Join(base, "elsewhere", "a.go"),
			"src/a.go:1":                              "src/a.go:1",
			"a talk with Ann":                         "a talk with Ann",
		} {
			if got := f.Relative(given); got != want {
				t.Errorf("%s: %s becomes %s", from, given, got)
			}
		}
		if _, st, err := f.Read(filepath.Join(link, "src", "a.go") + ":1"); err != nil || st == nil || st.Ref != "src/a.go:1" {
			t.Errorf("%s: through a link it is %+v %v", from, st, err)
		}
	}
}

func TestOnlyTheNamedLinesCount(t *testing.T) {
	dir, f := project(t)
	some, one, whole := readState(t, f, "src/auth.ts:3-5"), readState(t, f, "src/auth.ts:4"), readState(t, f, "src/auth.ts")
	data, err := os.ReadFile(filepath.Join(dir, "src/auth.ts"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text       string
		some, one, whole State
	}{
		{"touched", string(data), Same, Same, Same},
		{"another line", strings.Replace(string(data), "line 9\n", "line nine\n", 1), Same, Same, Changed},
		{"a line at the end", string(data) + "more\n", Same, Same, Changed},
		{"other line ends", strings.ReplaceAll(string(data), "\n", "\r\n"), Same, Same, Changed},
		{"the third line", strings.Replace(string(data), "line 3\n", "line III\n", 1), Changed, Same, Changed},
		{"a line before them", "first\n" + string(data), Changed, Changed, Changed},
		{"cut before them", "line 1\n", Changed, Changed, Changed},
		{"emptied", "", Changed, Changed, Changed},
	} {
		write(t, dir, "src/auth.ts", c.text)
		for range 2 { // also from memory
			if got := [3]State{f.Compare(some), f.Compare(one), f.Compare(whole)}; got != [3]State{c.some, c.one, c.whole} {
				t.Errorf("%s: %q, want %q", c.name, got, [3]State{c.some, c.one, c.whole})
			}
		}
	}
	if err := os.Remove(filepath.Join(dir, "src/auth.ts")); err != nil {
		t.Fatal(err)
	}
	if got := f.Compare(one); got != Gone {
		t.Errorf("a removed file is %q", got)
	}
}

func TestFileIsReadOnlyIfSizeOrTimeChanged(t *testing.T) {
	dir, f := project(t)
	was := readState(t, f, "src/auth.ts")
	path := filepath.Join(dir, "src/auth.ts")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[0] = 'L'
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, was.Modified, was.Modified); err != nil {
		t.Fatal(err)
	}
	if got := f.Compare(was); got != Same {
		t.Errorf("a file of the same size and time was read: %q", got)
	}
}

// What is no file of the project is not checked, and Read says why.
func TestWhatIsNoFileIsNotChecked(t *testing.T) {
	dir, f := project(t)
	outside := filepath.Join(t.TempDir(), "secret.txt")
	write(t, filepath.Dir(outside), "secret.txt", "secret\n")
	if err := os.Symlink(outside, filepath.Join(dir, "out.txt")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(dir, "outdir")); err != nil {
		t.Fatal(err)
	}
	pipe(t, filepath.Join(dir, "pipe.txt"))
	for ref, want := range map[string]string{
		"src/nope.ts:12":          "does not exist",
		"src/nope.ts":             "does not exist",
		"src":                     "is a directory",
		"src/auth.ts:19-21":       "ends at line 20",
		"src/auth.ts:9-3":         "has no lines 9-3",
		"../secret.txt":           "is outside the project",
		filepath.ToSlash(outside): "is outside the project",
		"out.txt":                 "cannot be read",
		"outdir/secret.txt":       "cannot be read",
		"pipe.txt":                "is not a regular file",
		"pipe.txt:3":              "is not a regular file",
		"src/auth.ts/x.ts":        "cannot be read",
		"src/" + strings.Repeat("x", 5000) + ".ts": "cannot be read",
	} {
		_, st, err := f.Read(ref)
		if st != nil || err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), dir) {
			t.Errorf("Read(%.40q) = %v, %v; want %q", ref, st, err, want)
		}
	}
	for _, ref := range []string{"", " ", "user", "RFC 7519", "the meeting of 2026-03-01", "https://example.com/a.html", "ticket 42", "src/auth.ts:0", "src/auth.ts:999999999999999", "d-3f2a", "…"} {
		if _, st, err := f.Read(ref); st != nil || err != nil {
			t.Errorf("Read(%q) = %v, %v; it names no file", ref, st, err)
		}
	}
	if _, st, err := New("", "", nil).Read("src/auth.ts"); st != nil || err != nil {
		t.Errorf("without a project: %v, %v", st, err)
	}
	if got := readState(t, f, filepath.ToSlash(filepath.Join(dir, "src/auth.ts:3"))).Ref; got != "src/auth.ts:3" {
		t.Errorf("an absolute path in the project is kept as %q", got)
	}
}

// A file that was replaced by something else has changed, and is not read.
func TestReplacedFileHasChanged(t *testing.T) {
	dir, f := project(t)
	was := readState(t, f, "src/auth.ts:2")
	path := filepath.Join(dir, "src/auth.ts")
	outside := t.TempDir()
	write(t, outside, "auth.ts", "line 1\nline 2\n")
	for name, put := range map[string]func() error{
		"a directory":             func() error { return os.Mkdir(path, 0o700) },
		"a pipe":                  func() error { pipe(t, path); return nil },
		"a link out":              func() error { return os.Symlink(filepath.Join(outside, "auth.ts"), path) },
		"a file without the line": func() error { return os.WriteFile(path, []byte("line 1\n"), 0o600) },
	} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := put(); err != nil {
			t.Fatal(err)
		}
		if got := f.Compare(was); got != Changed {
			t.Errorf("%s in its place: %q", name, got)
		}
	}
}

// Of a file of 1 GB, with no data in it, at most 4 MiB are read.
func TestLargeFile(t *testing.T) {
	dir, f := project(t)
	path := filepath.Join(dir, "big.log")
	write(t, dir, "big.log", "first\nsecond\n")
	if err := os.Truncate(path, 1<<30); err != nil {
		t.Skip("no sparse files here:", err)
	}
	line, whole := readState(t, f, "big.log:2"), readState(t, f, "big.log")
	if _, _, err := f.Read("big.log:3"); err == nil || !strings.Contains(err.Error(), "larger than 4 MiB") {
		t.Errorf("a line beyond the limit: %v", err)
	}
	if err := os.Truncate(path, 1<<30+1); err != nil {
		t.Fatal(err)
	}
	if a, b := f.Compare(line), f.Compare(whole); a != Same || b != Changed {
		t.Errorf("after it grew its line is %q and the file %q", a, b)
	}
}

// A checksum always is that of a text with the size that stands beside it.
func TestFileThatChangesWhileItIsRead(t *testing.T) {
	dir, f := project(t)
	write(t, dir, "busy.txt", "")
	file, err := os.OpenFile(filepath.Join(dir, "busy.txt"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	const lines = 5000
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range lines {
			_, _ = file.WriteString("another line\n")
		}
		_ = file.Close()
	}()
	text := []byte(strings.Repeat("another line\n", lines))
	for busy := true; busy; {
		select {
		case <-done:
			busy = false
		default:
		}
		_, st, err := f.Read("busy.txt")
		if err != nil {
			if busy && strings.Contains(err.Error(), "is being changed") {
				continue
			}
			t.Fatal(err)
		}
		if sum := sha256.Sum256(text[:st.Size]); st.Checksum != hex.EncodeToString(sum[:8]) {
			t.Fatalf("the checksum is not that of the first %d bytes", st.Size)
		}
	}
}

// A check of files that nobody touched costs one stat each.
func BenchmarkCompare(b *testing.B) {
	dir := b.TempDir()
	f := New(dir, "", nil)
	var files []formats.FileState
	for n := range 10_000 {
		name := fmt.Sprintf("src/p%d/f%d.go", n%100, n)
		if n < 100 {
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("a\nb\n"), 0o600); err != nil {
			b.Fatal(err)
		}
		_, st, err := f.Read(name + ":2")
		if err != nil {
			b.Fatal(err)
		}
		files = append(files, *st)
	}
	b.Run("10000", func(b *testing.B) {
		for b.Loop() {
			for _, was := range files {
				if f.Compare(was) != Same {
					b.Fatal("changed")
				}
			}
		}
	})
	b.Run("stat", func(b *testing.B) {
		for b.Loop() {
			for _, was := range files {
				if _, err := os.Stat(filepath.Join(dir, was.Ref[:len(was.Ref)-2])); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
