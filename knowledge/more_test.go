package knowledge_test

import (
	"fmt"
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
