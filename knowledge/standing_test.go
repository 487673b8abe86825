package knowledge_test

import (
	"testing"

	. "leanctx/knowledge"
	"leanctx/knowledge/fact"
)

// An archetype that was given stays with the fact: when it is confirmed, when it changes, and under another name. One that
// the room told is told by the new room.
func TestAnArchetypeThatWasGivenStaysWithTheFact(t *testing.T) {
	s := testStore(t, nil)
	get := func(category, key string) *fact.Version { t.Helper(); return s.only(t, category, key).Version }
	rename := func(n NewName) {
		t.Helper()
		if _, err := Rename(t.Context(), s.Store, n); err != nil {
			t.Fatal(err)
		}
	}
	s.remember(t, Assertion{Category: "team", Key: "colour", Value: "Ilse is asked first"})
	if fact.Standing(get("team", "colour")) {
		t.Error("an owner is standing")
	}
	s.remember(t, Assertion{Category: "team", Key: "colour", Value: "Ilse is asked first", Archetype: "convention"})
	if !fact.Standing(get("team", "colour")) {
		t.Error("the archetype of a confirmation is lost")
	}
	s.remember(t, Assertion{Category: "team", Key: "colour", Value: "Mbali is asked first"})
	if !fact.Standing(get("team", "colour")) {
		t.Error("a change of the value loses the archetype")
	}
	rename(NewName{Category: "team", Key: "colour", To: "people/colour"})
	if !fact.Standing(get("people", "colour")) {
		t.Error("a rename loses the archetype")
	}
	s.remember(t, Assertion{Category: "architecture", Key: "branches", Value: "named after tickets"})
	rename(NewName{Category: "architecture", Key: "branches", To: "workflow/branches"})
	if v := get("workflow", "branches"); !fact.Standing(v) {
		t.Errorf("a renamed fact keeps what its former room told: %q", v.Archetype)
	}
	if _, err := s.Remember(t.Context(), Assertion{Category: "c", Key: "k", Value: "v", Archetype: "legend"}); err == nil {
		t.Error("any archetype will do")
	}
}
