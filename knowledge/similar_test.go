package knowledge

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// A likely duplicate or conflict under another key is named, once the index is
// open, and nothing is done about it. What has only a word or two in common,
// the fact itself, superseded values and settled pairs are not.
func TestSimilarUnderAnotherKey(t *testing.T) {
	s := testStore(t, nil)
	for i := range 300 {
		s.remember(t, Assertion{Category: "api", Key: fmt.Sprint("route ", i), Value: fmt.Sprintf("route %d is served by handler %d of the gateway", i, i*7)})
	}
	s.remember(t, Assertion{Category: "architecture", Key: "auth", Value: "JWT RS256 tokens signed with the staging keypair"})
	if _, err := s.Recall(t.Context(), Question{Query: "keypair"}); err != nil { // opens the index
		t.Fatal(err)
	}
	for _, x := range []struct{ category, key, value, want string }{
		{"security", "tokens", "Tokens are JWT RS256, signed with the staging keypair", "auth"},
		{"security", "signing", "JWT HS256 tokens signed with the staging keypair", "auth"},
		{"security", "other", "the staging keypair is rotated by hand every quarter", ""},
		{"api", "route 1000", "route 1000 is served by handler 7000 of the gateway", ""},
		{"architecture", "auth", "JWT RS256 tokens signed with the staging keypair, rotated", ""},
	} {
		near := <-s.look(x.value)
		r := s.remember(t, Assertion{Category: x.category, Key: x.key, Value: x.value})
		r.Similar = s.alike(t.Context(), near, r) // a remember does not wait for it
		switch {
		case x.want == "" && len(r.Similar) > 0:
			t.Errorf("%s: %+v", x.value, r.Similar)
		case x.want != "" && (len(r.Similar) != 1 || r.Similar[0].Key != x.want || r.Similar[0].Relevance < similarFloor || r.Similar[0].Relevance > 1.001):
			t.Errorf("%s: %+v, want %s", x.value, r.Similar, x.want)
		}
	}
	value := "JWT RS256 tokens signed with the staging keypair"
	near := <-s.look(value)
	for _, similar := range s.alike(t.Context(), near, s.remember(t, Assertion{Category: "x", Key: "y", Value: value})) {
		if similar.Key == "auth" {
			t.Errorf("a superseded value was named: %+v", similar)
		}
	}
	if len(near.IDs) == 0 {
		t.Error("the superseded value was not met")
	}
}

// Looks for facts alike take a small part of the time: after one there is a rest, and one ends before another begins.
func TestLooksRest(t *testing.T) {
	s := testStore(t, nil)
	value := "JWT RS256 tokens signed with the staging keypair"
	s.remember(t, Assertion{Category: "architecture", Key: "auth", Value: value})
	if g := s.glance(value); g != nil {
		t.Error("a look without an index")
	}
	if _, err := s.Recall(t.Context(), Question{Query: "keypair"}); err != nil { // opens the index
		t.Fatal(err)
	}
	g := s.glance(value)
	if g == nil {
		t.Fatal("no look at first")
	}
	if a := <-g; len(a.IDs) != 1 {
		t.Errorf("it saw %v", a.IDs)
	}
	s.rest.Store(math.MaxInt64)
	if s.glance(value) != nil {
		t.Error("a look while it is time to rest")
	}
	s.rest.Store(0)
	if s.glance(value) == nil {
		t.Error("no look after the rest")
	}
}

// In a stream looks take a hundredth of the time, and one that was slow does not silence those after it for long.
func TestHowLongLooksRest(t *testing.T) {
	for took, rest := range map[time.Duration]time.Duration{
		0:                      0,
		100 * time.Microsecond: 10 * time.Millisecond,
		10 * time.Millisecond:  time.Second,
		40 * time.Millisecond:  time.Second,
		100 * time.Millisecond: 2 * time.Second,
	} {
		if got := resting(took); got != rest {
			t.Errorf("after a look of %v there is a rest of %v, want %v", took, got, rest)
		}
	}
}
