package page

import (
	"slices"
	"testing"
)

// What one of two values says more is marked.
func TestSpans(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want []span
	}{
		{"uses JWT RS256 now", "uses  OAuth2 now", []span{{"uses", false}, {"JWT RS256", true}, {"now", false}}},
		{"MySQL 8", "PostgreSQL", []span{{"MySQL 8", false}}},
		{"", "x", nil},
	} {
		if got := spans(c.a, c.b); !slices.Equal(got, c.want) {
			t.Errorf("%q beside %q: %v", c.a, c.b, got)
		}
	}
}
