package knowledge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leanctx/knowledge"
)

// An answer that did not look at all that may match does not claim to know how many there are.
func TestShownOfMore(t *testing.T) {
	for name, c := range map[string]struct {
		facts, bytes int
		more         bool
	}{
		"few":              {9, 20, false},
		"more than read":   {70, 20, true},
		"too much to read": {20, 40_000, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := knowledge.Open(t.TempDir(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for i := range c.facts {
				if _, err := s.Remember(t.Context(), knowledge.Assertion{Category: "data", Key: fmt.Sprintf("database-%d", i), Value: fmt.Sprintf("%d database %s", i, strings.Repeat("x ", c.bytes/2))}); err != nil {
					t.Fatal(err)
				}
			}
			r, err := s.Recall(t.Context(), knowledge.Question{Query: "database"})
			if err != nil {
				t.Fatal(err)
			}
			if text := r.Text(); r.More != c.more || strings.Contains(text, " of more):") != c.more {
				t.Errorf("%v, %d: %.60s", r.More, r.Total, text)
			}
		})
	}
}

// An index is a cache: what stands in its place stops no recall.
func TestFileInPlaceOfTheIndex(t *testing.T) {
	dir := t.TempDir()
	s, err := knowledge.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remember(t.Context(), knowledge.Assertion{Category: "data", Key: "database", Value: "PostgreSQL"}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := os.RemoveAll(filepath.Join(dir, "index")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "index"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err = knowledge.Open(dir, nil); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Recall(t.Context(), knowledge.Question{Query: "database"})
	if err != nil || len(r.Facts) != 1 {
		t.Errorf("%+v, %v", r.Facts, err)
	}
}
