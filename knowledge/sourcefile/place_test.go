package sourcefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// trees is a project with two more work trees, one of them inside the first, a link to the first, and a
// home directory above all. Each has files of its own.
func workTrees(t *testing.T) (home string, f *Files) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"proj/top.go", "proj/sub/a.go", "proj/sub/top.go", "proj/my notes/b.md", "proj/app/(auth)/page.tsx",
		"proj/.trees/inner/top.go", "proj/.trees/inner/only.go", "other tree/only2.go", "other tree/sub/a.go",
		"proj2/top.go", "elsewhere/proj/top.go",
	} {
		write(t, home, name, "1\n2\n3\n")
	}
	if err := os.Symlink(filepath.Join(home, "proj"), filepath.Join(home, "link")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	return home, New(filepath.Join(home, "proj"), home, func() []string {
		return []string{filepath.Join(home, "proj/.trees/inner"), filepath.Join(home, "other tree")}
	})
}

// However a path in the project is written, it is kept from the root of its work tree. A text keeps
// all else that it says.
func TestPathsInASourceBecomeRelative(t *testing.T) {
	home, f := workTrees(t)
	for given, want := range map[string]string{
		"HOME/proj/top.go":                                 "top.go",
		"HOME/proj/top.go:3":                               "top.go:3",
		"HOME/proj/sub/../top.go:1-2":                      "top.go:1-2",
		"HOME/proj/my notes/b.md:2":                        "my notes/b.md:2",
		"HOME/proj":                                        ".",
		"HOME/proj/gone/x.go:4":                            "gone/x.go:4",
		"HOME/link/sub/a.go:1":                             "sub/a.go:1",
		"HOME/link/gone/deep/x.go":                         "gone/deep/x.go",
		"HOME/proj/.trees/inner/only.go:1":                 "only.go:1",
		"HOME/link/.trees/inner/only.go:1":                 "only.go:1",
		"HOME/other tree/only2.go:1":                       "only2.go:1",
		"~/proj/sub/a.go:1":                                "sub/a.go:1",
		"file://HOME/proj/top.go":                          "top.go",
		"see HOME/proj/sub/a.go:2":                         "see sub/a.go:2",
		"see HOME/proj/sub/a.go:2, and HOME/link/top.go.":  "see sub/a.go:2, and top.go.",
		"(HOME/proj/app/(auth)/page.tsx)":                  "(app/(auth)/page.tsx)",
		"'HOME/proj/my notes/b.md' says it":                "'my notes/b.md' says it",
		"said in HOME/other tree/sub/a.go:3":               "said in sub/a.go:3",
		"in HOME/proj/.trees/inner/top.go":                 "in top.go",
		"in ~/proj/top.go: see there":                      "in top.go: see there",
		"see file://HOME/proj/top.go":                      "see top.go",
		"vscode://fileHOME/proj/top.go:3":                  "vscode://file/top.go:3",
		"見HOME/proj/top.go":                                "見top.go",
		"run in HOME/proj":                                 "run in .",
		"run in HOME/proj/.":                               "run in ./.",
		"source:HOME/proj/top.go":                          "source:top.go",
		"at HOME/proj/sub/../../proj2/top.go":              "at HOME/proj/sub/../../proj2/top.go",
		"at HOME/proj/sub/../top.go and HOME/proj2/top.go": "at top.go and HOME/proj2/top.go",
		"HOME/proj2/top.go:1":                              "HOME/proj2/top.go:1",
		"HOME/proj-old/top.go":                             "HOME/proj-old/top.go",
		"/mnt/HOME/proj/top.go":                            "/mnt/HOME/proj/top.go",
		"HOME/elsewhere/proj/top.go":                       "HOME/elsewhere/proj/top.go",
		"https://example.com/proj/top.go":                  "https://example.com/proj/top.go",
		"either/or, 1/2, //x, a talk":                      "either/or, 1/2, //x, a talk",
		"sub/a.go:1":                                       "sub/a.go:1",
		"/":                                                "/",
		"":                                                 "",
	} {
		in := strings.NewReplacer("/mnt/HOME", "/mnt"+home, "HOME", home)
		if got, want := f.Relative(in.Replace(given)), in.Replace(want); got != want {
			t.Errorf("%s becomes %q, want %q", given, got, want)
		}
		if got := f.Relative(f.Relative(in.Replace(given))); got != in.Replace(want) {
			t.Errorf("%s becomes %q when it is read again", given, got)
		}
	}
}

// A relative path starts where the caller works if there is such a file, else at the root. A file of the
// caller's work tree comes first, and one that any other work tree has is not gone.
func TestSourceIsNamedFromWhereTheCallerWorks(t *testing.T) {
	home, f := workTrees(t)
	for _, x := range []struct{ dir, given, want string }{
		{"proj", "top.go:1", "top.go:1"},
		{"proj", "./top.go:1", "top.go:1"},
		{"proj", "sub/../top.go:1", "top.go:1"},
		{"proj/sub", "a.go:1", "sub/a.go:1"},
		{"proj/sub", "top.go:1", "sub/top.go:1"},
		{"proj/sub", "../top.go:1", "top.go:1"},
		{"proj/sub", "sub/a.go:1", "sub/a.go:1"},
		{"proj/sub", "HOME/proj/top.go:1", "top.go:1"},
		{"link/sub", "a.go:1", "sub/a.go:1"},
		{"link", "sub/a.go:1", "sub/a.go:1"},
		{"proj/.trees/inner", "only.go:1", "only.go:1"},
		{"proj/.trees/inner", "../../sub/a.go:1", "sub/a.go:1"},
		{"proj/sub", "only.go:1", "only.go:1"},
		{"proj/sub", "only2.go:1", "only2.go:1"},
		{"other tree/sub", "a.go:2", "sub/a.go:2"},
		{"proj2", "top.go:1", "top.go:1"}, // outside: at the root
		{"", "top.go:1", "top.go:1"},
		{"proj/sub", "HOME/other tree/only2.go", "only2.go"},
	} {
		in := strings.NewReplacer("HOME", home)
		dir := ""
		if x.dir != "" {
			dir = filepath.Join(home, x.dir)
		}
		name, st, err := f.At(dir).Read(in.Replace(x.given))
		if err != nil || st == nil || name != x.want || st.Ref != x.want {
			t.Errorf("from %q %s is %q, %+v, %v", x.dir, x.given, name, st, err)
			continue
		}
		for _, from := range []string{"", "proj", "proj/sub", "other tree", "proj/.trees/inner"} {
			if now := f.At(filepath.Join(home, from)).Compare(*st); now == Gone {
				t.Errorf("%s, named from %q, is gone from %q", x.given, x.dir, from)
			}
		}
	}
	for _, x := range []struct{ dir, given, name, reason string }{
		{"proj/sub", "nope.go:1", "nope.go:1", "does not exist"},
		{"proj/sub", "../nope.go:1", "nope.go:1", "does not exist"},
		{"proj/sub", "../../proj2/top.go:1", "../../proj2/top.go:1", "is outside the project"},
		{"proj/sub", "HOME/proj/nope.go:1", "nope.go:1", "does not exist"},
		{"proj/sub", "a.go:7", "sub/a.go:7", "ends at line 3"},
	} {
		name, st, err := f.At(filepath.Join(home, x.dir)).Read(strings.ReplaceAll(x.given, "HOME", home))
		if st != nil || err == nil || name != x.name || !strings.Contains(err.Error(), x.reason) {
			t.Errorf("from %q %s is %q, %v", x.dir, x.given, name, err)
		}
	}
	_, st, err := f.Read("only.go:1")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(home, "proj/.trees/inner/only.go")); err != nil {
		t.Fatal(err)
	}
	if f.Compare(*st) != Gone {
		t.Error("a file that no work tree has is not gone")
	}
}

// A source costs what its length does, whatever it is full of: it is made relative when it is stored and shown.
func TestSourceOfSeparatorsIsNoWork(t *testing.T) {
	home, f := workTrees(t)
	for _, part := range []string{"*/", "/", `\`, "*\\", ":", " /", "/*", "a/", "/a", "../", "/../", "é/", "/é", "://", "file://", "*file:///", " ~/", " ~/a/*", "./", " " + home + "/", "*" + home + "/x", " /" + strings.Repeat("a/", 300), "*/" + strings.Repeat("a/", 900)} {
		text := strings.Repeat(part, 16<<10/len(part))
		begun := time.Now()
		for range 3 {
			f.Relative(text)
		}
		if took := time.Since(begun) / 3; took > 20*time.Second {
			t.Errorf("%.20q takes %v", part, took)
		}
	}
	if got := f.Relative(strings.Repeat("*/", 100) + " " + filepath.Join(home, "proj", "a.go")); !strings.HasSuffix(got, " a.go") {
		t.Errorf("behind them the project is named: %.300s", got)
	}
}
