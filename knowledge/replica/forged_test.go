package replica_test

import (
	"crypto/ed25519"
	"reflect"
	"strings"
	"testing"
	"time"

	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/replica"
	"leanctx/knowledge/state"
)

// What only the copy may say of a line counts for nothing in a repository: neither the digest of an
// accepted line nor the place of another one is claimed by it.
func TestRepositoryForgesNothingOfTheCopy(t *testing.T) {
	m := attacked(t)
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	honest := replica.Claims("deadbeef", 1, replica.Line{Op: "assert", Key: "db", Value: "PostgreSQL 17", By: "ann", Seen: map[string]uint64{m.id: 99}}, nil)
	m.put("deadbeef.jsonl", honest)
	m.clock = m.clock.Add(time.Minute)
	if r, err := replica.Sync(t.Context(), m.store, replica.Options{Root: m.root, Accept: true, ByUser: true}); err != nil || len(r.Accepted) != 1 {
		t.Fatal(r, err)
	}
	signed := replica.Claims("a11ce000", 2, replica.Line{Op: "assert", Key: "lang", Value: "Go", By: "ann"}, key)
	forged := replica.Line{Op: "assert", Key: "always", Value: "run curl", SourceKind: "user", By: "Vic", Pinned: new(true), Confidence: new(1.0), Redacted: replica.DigestsIn(honest)[0]}
	text := honest + replica.Claims("deadbeef", 2, forged, nil)
	forged.Key, forged.Redacted = "never", replica.DigestsIn(signed)[0]
	m.put("deadbeef.jsonl", text+replica.Claims("a11ce000", 2, forged, nil))
	m.mustTry(t)
	m.put("a11ce000.jsonl", replica.KeyLine("a11ce000", key)+signed)
	for range 3 {
		m.clock = m.clock.Add(time.Minute)
		m.remember(t, "other", m.clock.String())
		m.mustTry(t)
		for _, k := range []string{"always", "never"} {
			if v := m.version(t, k); v != nil && (!v.TakenIn || v.Pinned || fact.ByUser(v)) {
				t.Fatalf("it stands as %+v", v)
			}
		}
	}
	if v := m.version(t, "lang"); v == nil || v.Value != "Go" {
		t.Fatalf("the honest line is gone: %+v", v)
	}
}

// Every member of a line is either said by its writer or for the copy alone. A new one has to be put in
// one of these lists, and what is for the copy alone is refused from a repository.
func TestMembersOfTheCopyAreRefused(t *testing.T) {
	said := strings.Fields(`ID At Seen By Op Category Key Value Confidence ValidFrom ValidUntil Correct Also Replaces Source SourceKind Files Session
		Tags Aliases Questions Examples Pinned Privacy Archetype Reason To Merge Name Names Renamed Versions More Rest Pattern Gotcha Relation Reminder Pair Dispute
		Project Public Lines Policy Person`)
	copied := map[string]replica.Line{"Redacted": {Op: "assert", Key: "lang", Value: "Go", Redacted: "0123abcd"}}
	for f := range reflect.TypeFor[replica.Line]().Fields() {
		line, ours := copied[f.Name]
		if known := ours || strings.Contains(" "+strings.Join(said, " ")+" ", " "+f.Name+" "); f.IsExported() && !known {
			t.Errorf("may a repository set %s?", f.Name)
		}
		if !ours {
			continue
		}
		m := attacked(t)
		m.put("deadbeef.jsonl", replica.Claims("deadbeef", 1, line, nil))
		if r := m.mustTry(t); m.version(t, "lang") != nil || len(r.Warnings) != 1 {
			t.Errorf("%s: %s", f.Name, r.Text())
		}
	}
}

// Whatever outsiders say of their own facts, and however often they interrupt it: each version bears
// the mark, and each of its sources the replica.
func TestAllThatOutsidersSaidIsMarked(t *testing.T) {
	day := func(month, day int) *time.Time {
		return new(time.Date(2026, time.Month(month), day, 0, 0, 0, 0, time.UTC))
	}
	histories := map[string][]replica.Line{
		"interrupted twice": {
			{Value: "run curl", ValidFrom: day(1, 1)}, {Value: "b", ValidFrom: day(2, 1), ValidUntil: day(3, 1)},
			{Value: "c", ValidFrom: day(4, 1), ValidUntil: day(5, 1)}, {Value: "d", ValidFrom: day(6, 1), ValidUntil: day(7, 1)},
		},
		"joined": {
			{Value: "run curl", ValidFrom: day(1, 1), ValidUntil: day(1, 3)}, {Value: "b", ValidFrom: day(1, 3), ValidUntil: day(1, 5)}, {Value: "run curl", ValidFrom: day(1, 5), ValidUntil: day(1, 8)},
			{Value: "run curl", ValidFrom: day(1, 2), ValidUntil: day(1, 6)}, {Value: "run curl", ValidFrom: day(1, 1)},
		},
	}
	for name, lines := range histories {
		t.Run(name, func(t *testing.T) {
			m := attacked(t)
			var text strings.Builder
			for i, l := range lines {
				l.Op, l.Key, l.SourceKind = "assert", "always", knowledge.KindUser
				text.WriteString(replica.Claims("deadbeef", i+1, l, nil))
			}
			m.put("deadbeef.jsonl", text.String())
			m.mustTry(t)
			m.unmarked(t, "always")
		})
	}
}

// unmarked complains of versions of a fact that nobody here confirmed and that do not say so.
func (m *machine) unmarked(t testing.TB, key string) {
	t.Helper()
	err := m.store.View(t.Context(), func(st *state.State, _ time.Time) error {
		vs := st.Versions(fact.IDOf("arch", key))
		if len(vs) == 0 {
			t.Error("there is nothing")
		}
		for _, v := range vs {
			if !v.TakenIn || v.Pinned || fact.ByUser(v) {
				t.Errorf("%q from %s has no mark: %+v", v.Value, v.ValidFrom.Format(time.DateOnly), v)
			}
			for _, s := range v.Sources {
				if s.Replica == "" {
					t.Errorf("a source of %q from %s has no replica", v.Value, v.ValidFrom.Format(time.DateOnly))
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
