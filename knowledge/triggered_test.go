package knowledge_test

import (
	"slices"
	"strings"
	"testing"

	"leanctx/knowledge"
)

// A reminder shows up for the files that its path means, and for no others.
func TestTriggered(t *testing.T) {
	for _, c := range []struct {
		glob string
		yes  []string
		no   []string
	}{
		{"src/auth/**", []string{"src/auth/a.go", "src/auth/x/y.go", "./src/auth/a.go", `src\auth\a.go`}, []string{"src/a.go", "a/src/auth/b", "../src/auth/a.go"}},
		{"**/*.proto", []string{"a.proto", "x/y/a.proto"}, []string{"a.go"}},
		{"src/**/test/*.ts", []string{"src/test/a.ts", "src/x/test/y/test/a.ts"}, []string{"src/test/x/a.ts"}},
		{"*.sql", []string{"a.sql", "db/a.sql"}, []string{"a.sql.bak"}},
		{"src/*.go", []string{"src/a.go"}, []string{"src/x/a.go", "src"}},
		{"docs", []string{"docs", "docs/a/b.md"}, []string{"docs2/a.md"}},
		{"docs/", []string{"docs/a/b.md"}, []string{"docs2/a.md"}},
		{"src/a.go", []string{"src/a.go"}, []string{"src/a.go2", "b/src/a.go"}},
		{"**/**/**/**/**/**/x", []string{"a/b/c/d/e/f/g/x"}, []string{strings.Repeat("a/", 200) + "y"}},
	} {
		s, err := knowledge.Open(t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }() // a cache at most
		if _, err := s.Remind(t.Context(), knowledge.Intention{Value: "mind " + c.glob, Path: c.glob}); err != nil {
			t.Fatal(err)
		}
		for _, file := range append(c.yes, c.no...) {
			got, err := s.Triggered(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			if want := slices.Contains(c.yes, file); (len(got) == 1) != want {
				t.Errorf("%s, %s: got %v, want %v", c.glob, file, got, want)
			}
		}
	}
}

// What is done, or waits for something else, stays silent; so does a store
// that is not there.
func TestTriggeredOpenOnly(t *testing.T) {
	s, err := knowledge.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // a cache at most
	if got, err := s.Triggered(t.Context(), "a.go"); err != nil || len(got) != 0 {
		t.Fatal(got, err)
	}
	r, err := s.Remind(t.Context(), knowledge.Intention{Value: "x", Path: "*.go"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remind(t.Context(), knowledge.Intention{Value: "y", Keyword: "go"}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Triggered(t.Context(), "a.go"); err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	if _, err := s.RemindDone(t.Context(), knowledge.Done{ID: r.Reminder.ID}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Triggered(t.Context(), "a.go"); err != nil || len(got) != 0 {
		t.Fatal(got, err)
	}
}
