package knowledge

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What words found is good for the state in which they found it, and for none
// after it.
func TestWordsAreLookedForAnewAfterAChange(t *testing.T) {
	s, err := Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	remember := func(key, value string) {
		t.Helper()
		if _, err := s.Remember(t.Context(), Assertion{Category: "fact", Key: key, Value: value}); err != nil {
			t.Fatal(err)
		}
	}
	a := asked{Question: Question{Query: "postgres", Limit: 10}, words: &worded{}}
	names := func() (out []string) {
		t.Helper()
		r, err := s.rankedBy(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Facts {
			out = append(out, f.Key+"="+f.Value)
		}
		return out
	}
	remember("db", "postgres")
	first := names()
	if diff := cmp.Diff([]string{"db=postgres"}, first); diff != "" {
		t.Fatal(diff)
	}
	kept := a.words.of
	if diff := cmp.Diff(first, names()); diff != "" || a.words.of != kept {
		t.Errorf("asked twice: %s", diff)
	}
	remember("db", "postgres sixteen")
	if diff := cmp.Diff([]string{"db=postgres sixteen"}, names()); diff != "" || a.words.of == kept {
		t.Errorf("after a change: %s", diff)
	}
}
