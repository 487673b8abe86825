package overview

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"leanctx/internal/proctest"
	"leanctx/overview/source"
	"leanctx/overview/tree"
)

// fetched runs a package manager's command in a new directory. What cannot be had
// is said and skipped: there may be no network.
func fetched(t *testing.T, name string, args ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: packages are not fetched with -short")
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: no real tree to look at: %s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return dir
}

// unpacked unpacks the one file of a directory that a pattern names.
func unpacked(t *testing.T, dir, pattern string, command ...string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) != 1 {
		t.Fatalf("%s in %s: %q %v", pattern, dir, files, err)
	}
	for i := range command {
		command[i] = strings.ReplaceAll(command[i], "FILE", files[0])
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: %q: %v\n%s", command, err, out)
	}
}

// looks are the files of a tree as a map sees them, by path, and what each
// imports directly.
func looks(t *testing.T, root string) (map[string]*entry, func(from, to string) bool) {
	t.Helper()
	found, err := tree.List(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	open, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	s := &scanner{root: open, now: time.Now, maxTotal: maxTotal}
	entries, _, err := s.scan(t.Context(), found.Files, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &ranking{entries: entries}
	at, seen := map[string]int{}, map[string]*entry{}
	for i, e := range entries {
		at[e.Path], seen[e.Path] = i, e
	}
	return seen, func(from, to string) bool {
		return seen[to] != nil && r.neighbors([]int{at[from]})[at[to]]
	}
}

// A package of TypeScript, as it is published with its sources.
func TestRealTypeScript(t *testing.T) {
	dir := fetched(t, "npm", "pack", "--silent", "zod@4.6.7")
	unpacked(t, dir, "zod-*.tgz", "tar", "xzf", "FILE")
	root := filepath.Join(dir, "package")
	// What is compiled from src, and its tests and languages, are half as much again and the same sort of text.
	for _, more := range []string{"v3", "v4", "src/v3/tests", "src/v3/benchmarks", "src/v4/classic/tests", "src/v4/core/tests", "src/v4/mini/tests", "src/v4/locales"} {
		if err := os.RemoveAll(filepath.Join(root, more)); err != nil {
			t.Fatal(err)
		}
	}
	for _, trap := range []string{"node_modules/trap/index.ts", "vendor/trap.ts"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, trap)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, trap), []byte("export function safeParse() {}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if proctest.Raced { // expressions take ten times as long: the beginnings of files are enough
		if err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if info, gone := d.Info(); err == nil && gone == nil && info.Mode().IsRegular() && info.Size() > 8<<10 {
				err = os.Truncate(name, 8<<10)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	files, imports := looks(t, root)
	for name, want := range map[string][]string{
		"src/v4/core/parse.ts":  {"_parse", "parse", "_parseAsync", "_safeParse", "safeParse"},
		"src/v4/core/errors.ts": {"ZodIssueBase"},
		"src/v3/ZodError.ts":    {"ZodError", "quotelessJson"},
	} {
		e := files[name]
		if e == nil {
			t.Errorf("%s is not listed", name)
			continue
		}
		for _, w := range want {
			hash := source.Query(w)[0]
			if !slices.Contains(e.Names, w) && e.termWeight(hash) == 0 {
				t.Errorf("%s: no %s in %q", name, w, e.Names)
			}
		}
	}
	for _, pair := range [][2]string{
		{"src/v4/classic/schemas.ts", "src/v4/core/index.ts"}, {"src/v4/classic/schemas.ts", "src/v4/core/checks.ts"},
		{"src/v3/types.ts", "src/v3/helpers/util.ts"}, {"src/index.ts", "src/v4/classic/external.ts"},
	} {
		if !imports(pair[0], pair[1]) {
			t.Errorf("%s does not lead to %s: %q", pair[0], pair[1], files[pair[0]].Imports)
		}
	}
	if files["node_modules/trap/index.ts"] != nil {
		t.Error("node_modules was looked into")
	}
	o, err := NewMap(root, nil).Overview(t.Context(), Inquiry{Task: "safeParse returns the issues of an error"})
	if err != nil {
		t.Fatal(err)
	}
	best := listedPaths(o.Critical, o.Important)
	if slices.ContainsFunc(best, func(p string) bool { return strings.Contains(p, "trap") }) || !slices.Contains(best, "src/v4/core/parse.ts") {
		t.Error(o.Text())
	}
}

// judged is what Python's own parser finds in files: imports, functions and classes at any
// depth, and what is assigned at the top.
const judged = `
import ast, json, sys
out = {}
for path in sys.argv[1:]:
    tree = ast.parse(open(path, encoding="utf-8").read())
    names, imports = [], []
    for n in ast.walk(tree):
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)): names.append(n.name)
        if isinstance(n, ast.Import): imports += [a.name for a in n.names]
        if isinstance(n, ast.ImportFrom):
            module = "." * n.level + (n.module or "")
            imports += [module] + [module + ":" + a.name for a in n.names if a.name != "*"]
    for n in tree.body:
        if isinstance(n, ast.Assign): names += [x.id for x in n.targets[:1] if isinstance(x, ast.Name)]
    out[path] = {"names": sorted(set(names) - {"_"}), "imports": sorted(set(imports))}
print(json.dumps(out))
`

// A package of Python: what is read of each file is what Python's own parser
// finds, and its imports lead to its own files.
func TestRealPython(t *testing.T) {
	dir := fetched(t, "apt-get", "download", "python3-requests")
	unpacked(t, dir, "python3-requests*.deb", "dpkg", "-x", "FILE", dir)
	root := filepath.Join(dir, "usr", "lib", "python3", "dist-packages")
	names, err := filepath.Glob(filepath.Join(root, "requests", "*.py"))
	if err != nil || len(names) < 10 {
		t.Fatal(names, err)
	}
	files, imports := looks(t, root)
	for from, to := range map[string]string{"requests/sessions.py": "requests/adapters.py", "requests/api.py": "requests/sessions.py", "requests/models.py": "requests/structures.py", "requests/__init__.py": "requests/utils.py"} {
		if !imports(from, to) {
			t.Errorf("%s does not lead to %s: %q", from, to, files[from].Imports)
		}
	}
	out, err := exec.Command("python3", append([]string{"-c", judged}, names...)...).Output()
	if err != nil {
		t.Skipf("SKIPPED: there is no Python to judge by: %v", err)
	}
	var want map[string]struct{ Names, Imports []string }
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	whole := 0
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got := source.Read(name, string(data), nil)
		if len(want[name].Names) > len(got.Names)+got.More { // methods of the same name count each
			t.Errorf("%s: %d definitions, not %d", name, len(got.Names)+got.More, len(want[name].Names))
		}
		if got.More == 0 {
			whole++
			if d := cmp.Diff(want[name].Names, append([]string{}, slices.Sorted(slices.Values(got.Names))...)); d != "" {
				t.Errorf("%s: names: %s", name, d)
			}
		}
		if d := cmp.Diff(want[name].Imports, append([]string{}, slices.Sorted(slices.Values(got.Imports))...)); d != "" {
			t.Errorf("%s: imports: %s", name, d)
		}
	}
	t.Logf("%d files, %d of them compared whole", len(names), whole)
}
