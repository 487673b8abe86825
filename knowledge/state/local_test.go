package state

import (
	"testing"
	"time"

	"leanctx/formats"
	"leanctx/knowledge/fact"
)

// What names a local fact, or says something local, is not among what others may know.
func TestWhatNamesALocalFactStays(t *testing.T) {
	s, now := New(), time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	version := func(id, key, privacy string) *fact.Version {
		return &fact.Version{ID: id, Category: "a", Key: key, Value: "v", Privacy: privacy, ValidFrom: now, RecordedFrom: now}
	}
	s.Commit(now, Event{Put: version("f-1", "shared", fact.PrivacyShared)}, Event{Put: version("f-2", "mine", fact.PrivacyLocal)}, Event{Put: version("f-3", "both", fact.PrivacyShared)}, Event{Put: version("f-4", "both", fact.PrivacyLocal)})
	shared, mine, both := formats.Name{Category: "A", Key: "Shared"}, formats.Name{Category: "A", Key: "Mine"}, formats.Name{Category: "a", Key: "both"}
	of := func(n formats.Name, d formats.Dispute) formats.Dispute {
		d.Category, d.Key = n.Category, n.Key
		return d
	}
	for name, d := range map[string]formats.Dispute{
		"its value":     of(shared, formats.Dispute{Against: "f-1", Privacy: fact.PrivacyLocal}),
		"its opponent":  of(both, formats.Dispute{Against: "f-4"}),
		"its fact":      of(mine, formats.Dispute{Against: "f-0"}),
		"its rival":     of(shared, formats.Dispute{Against: "f-1", Rival: &mine}),
		"its new name":  of(shared, formats.Dispute{Against: "f-1", Rename: &mine}),
		"none of these": of(shared, formats.Dispute{Against: "f-1", Rival: &both, Rename: &both}),
	} {
		others, here := Disputes.Part(s, []formats.Dispute{d})
		if local := name != "none of these"; len(here) == 1 != local || len(others) == 1 == local {
			t.Errorf("%s is local: %v here, %v for others", name, here, others)
		}
	}
	link := func(from, to formats.Name) formats.Relation {
		return formats.Relation{From: formats.RelationEnd{Name: from}, To: formats.RelationEnd{Name: to}}
	}
	relations := []formats.Relation{link(shared, mine), link(mine, shared), link(shared, both)}
	if others, here := Relations.Part(s, relations); len(others) != 1 || others[0].To.Name != both || len(here) != 2 {
		t.Errorf("relations: %v here, %v for others", here, others)
	}
	pairs := []formats.JudgedPair{{KeyA: "a/shared", KeyB: "a/mine"}, {KeyA: "a/shared", KeyB: "a/both"}}
	if others, here := Judged.Part(s, pairs); len(others) != 1 || others[0].KeyB != "a/both" || len(here) != 1 {
		t.Errorf("verdicts: %v here, %v for others", here, others)
	}
}
