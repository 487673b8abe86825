package knowledge_test

import (
	"strings"
	"testing"

	. "leanctx/knowledge"
)

// A query of white space asks for nothing: the latest facts are listed as such.
func TestBlankQuery(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "c", Key: "k", Value: "v"})
	for _, query := range []string{" ", "\t\n", "\u3000"} {
		for _, q := range []Question{{Query: query}, {Query: query, Mode: "exact"}, {Query: query, Category: "c"}} {
			want := q
			want.Query = ""
			if got := s.recall(t, q).Text(); got != s.recall(t, want).Text() || strings.Contains(got, "score") {
				t.Errorf("%+v: %s", q, got)
			}
		}
	}
}
