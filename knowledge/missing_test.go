package knowledge_test

import (
	"os"
	"path/filepath"
	"testing"

	. "leanctx/knowledge"
	"leanctx/knowledge/index"
)

// A command answers before it writes any index. There may be none on disk, half of one, or one that only a newer build
// can read. The next command finds what it wrote.
func TestAnsweredBeforeIndexed(t *testing.T) {
	ask := func(t *testing.T, s *Store) string {
		t.Helper()
		return must[Recalled](t)(s.Recall(t.Context(), Question{Query: "service 249", Limit: 5})).Text()
	}
	generations := func(dir string) []string {
		found, _ := filepath.Glob(filepath.Join(dir, "index", "[0-9]*-*"))
		return found
	}
	for name, spoil := range map[string]func(dir string) error{
		"missing": func(dir string) error { return os.RemoveAll(filepath.Join(dir, "index")) },
		"half": func(dir string) error {
			files, err := filepath.Glob(filepath.Join(generations(dir)[0], "store", "*.zap"))
			if err != nil {
				return err
			}
			return os.Remove(files[0])
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filled(t, 100)
			want := ask(t, named(t, dir))
			if len(generations(dir)) != 1 {
				t.Fatalf("%d generations", len(generations(dir)))
			}
			if err := spoil(dir); err != nil {
				t.Fatal(err)
			}
			before := len(generations(dir))
			s, err := Open(dir, &Options{ProjectRoot: "/home/u/my-app", ProjectHash: "14958352f5925e3e"})
			if err != nil {
				t.Fatal(err)
			}
			if got := ask(t, s); got != want {
				t.Errorf("answered\n%s\nwant\n%s", got, want)
			}
			if name != "half" && len(generations(dir)) != before {
				t.Error("written before the answer")
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if !index.Exists(filepath.Join(dir, "index")) {
				t.Error("not written after the answer")
			}
			if got := ask(t, named(t, dir)); got != want {
				t.Errorf("then answered\n%s\nwant\n%s", got, want)
			}
		})
	}
}
