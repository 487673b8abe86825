package knowledge_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "leanctx/knowledge"
	"leanctx/knowledge/advice"
	"leanctx/knowledge/history"
	"leanctx/knowledge/listing"
)

func (s *story) rename(t *testing.T, a NewName) Renamed {
	t.Helper()
	return must[Renamed](t)(Rename(t.Context(), s.Store, a))
}

// rows are the lines of a fact's timeline.
func (s *story) rows(t *testing.T, category, key string) string {
	t.Helper()
	r := must[history.VersionList](t)(history.Timeline(t.Context(), s.Store, history.TimelineQuery{Category: category, Key: key}))
	_, rows, _ := strings.Cut(r.Text(), "\n")
	return rows
}

// A fact takes its history and its links to its new name. Memory and files agree on it, also
// where the facts are read from the index.
func TestRenameMovesAFactWhole(t *testing.T) {
	for _, cold := range []bool{false, true} {
		s := testStore(t, nil)
		s.remember(t, Assertion{Category: "db", Key: "engine", Value: "MySQL"})
		s.remember(t, Assertion{Category: "db", Key: "host", Value: "db1"})
		s.days(5)
		s.remember(t, Assertion{Category: "db", Key: "engine", Value: "PostgreSQL", Aliases: []string{"database"}})
		must[Linked](t)(Relate(t.Context(), s.Store, Link{Category: "db", Key: "host", Target: "db/engine", Kind: "depends_on"}))
		must[advice.Judged](t)(advice.Judge(t.Context(), s.Store, advice.Verdict{Category: "db", Key: "engine", Target: "db/host", Verdict: "compatible"}))
		user := must[Remembered](t)(s.As(Actor{Kind: KindUser}).Remember(t.Context(), Assertion{Category: "db", Key: "host", Value: "db2"}))
		disputed := s.remember(t, Assertion{Category: "db", Key: "host", Value: "db3"})
		if user.Outcome == Disputed || disputed.Outcome != Disputed {
			t.Fatal(disputed.Text())
		}
		if cold {
			if err := s.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			again := &story{dir: s.dir, now: s.now}
			again.open(t, nil)
			s = again
		}
		if got := s.rename(t, NewName{Category: "DB", Key: "Engine", To: "storage/SQL/main"}).Text(); got != "Renamed [db] engine to [storage] SQL/main (2 versions)" {
			t.Error(got)
		}
		must[Renamed](t)(Rename(t.Context(), s.As(Actor{Kind: KindUser}), NewName{Category: "db", Key: "host", To: "server"}))
		if got := s.rows(t, "storage", "sql/main"); strings.Count(got, "\n") != 1 || !strings.Contains(got, "PostgreSQL [CURRENT]") {
			t.Error(got)
		}
		for _, q := range []Question{{Key: "database"}, {Category: "storage"}, {Query: "PostgreSQL"}} {
			if r := s.recall(t, q); len(r.Facts) != 1 || r.Facts[0].Category != "storage" {
				t.Errorf("%+v: %s", q, r.Text())
			}
		}
		if r := s.recall(t, Question{Key: "engine"}); len(r.Facts) != 0 {
			t.Errorf("the old name: %s", r.Text())
		}
		if r := must[listing.RelationList](t)(listing.Relations(t.Context(), s.Store, listing.RelationQuery{})); !strings.Contains(r.Text(), "db/server depends_on storage/SQL/main") {
			t.Error(r.Text())
		}
		text := s.whole(t)
		for _, want := range []string{`"key_a": "storage/SQL/main"`, `"key_b": "db/server"`} {
			if !strings.Contains(text, want) {
				t.Errorf("no %s", want)
			}
		}
		if r := must[listing.DisputeList](t)(listing.Disputes(t.Context(), s.Store, listing.DisputeQuery{})); r.Total != 1 || r.Disputes[0].Key != "server" {
			t.Error(r.Text())
		}
		if diff := cmp.Diff(text, reopened(t, s)); diff != "" {
			t.Errorf("(-memory +files):\n%s", diff)
		}
		if r := s.remember(t, Assertion{Category: "db", Key: "engine", Value: "another"}); r.Outcome != Created {
			t.Errorf("the name is free: %s", r.Text())
		}
	}
}

// Two facts become one only when that is asked for, and both histories are kept.
func TestRenameOntoAnotherFactMerges(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "c", Key: "a", Value: "one", ValidFrom: "2025-01-01"})
	s.remember(t, Assertion{Category: "c", Key: "a", Value: "three", ValidFrom: "2025-03-01"})
	s.remember(t, Assertion{Category: "c", Key: "b", Value: "two", ValidFrom: "2025-02-01"})
	s.remember(t, Assertion{Category: "c", Key: "b", Value: "Three.", ValidFrom: "2025-04-01"})
	_, err := Rename(t.Context(), s.Store, NewName{Category: "c", Key: "a", To: "c/b"})
	if e, ok := errors.AsType[*ArgumentError](err); !ok || e.Argument != "merge" {
		t.Errorf("%v", err)
	}
	if got := s.rename(t, NewName{Category: "c", Key: "a", To: "b", Merge: "true"}).Text(); got != "Merged [c] a into [c] b (4 versions)" {
		t.Error(got)
	}
	want := strings.TrimPrefix(`
  b = one [archived] (2025-01-01 → 2025-02-01) conf=80% x1
  b = two [archived] (2025-02-01 → 2025-03-01) conf=80% x1
  b = three [CURRENT] (2025-03-01 → now) conf=80% x2
  b = Three. [corrected] (2025-04-01 → now) conf=80% x1`, "\n")
	if diff := cmp.Diff(want, s.rows(t, "c", "b")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(s.whole(t), reopened(t, s)); diff != "" {
		t.Errorf("(-memory +files):\n%s", diff)
	}
}

// A name that cannot be given is refused, and nothing changes.
func TestRenameRefuses(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "c", Key: "a", Value: "v"})
	s.remember(t, Assertion{Category: "c", Key: "gone", Value: "v"})
	must[Withdrawn](t)(s.Remove(t.Context(), Withdrawal{Category: "c", Key: "gone", Erase: true}))
	before := s.whole(t)
	for name, x := range map[string]struct {
		a    NewName
		want string // the argument
	}{
		"itself":          {NewName{Category: "c", Key: "a", To: "c/a"}, "to"},
		"itself, short":   {NewName{Category: "C", Key: "A", To: "a"}, "to"},
		"erased":          {NewName{Category: "c", Key: "a", To: "c/gone"}, "to"},
		"no category":     {NewName{Category: "c", Key: "a", To: "/b"}, "to"},
		"no key":          {NewName{Category: "c", Key: "a", To: "d/"}, "to"},
		"a line break":    {NewName{Category: "c", Key: "a", To: "d/x\ny"}, "to"},
		"too long":        {NewName{Category: "c", Key: "a", To: strings.Repeat("x", MaxName+1)}, "to"},
		"nothing":         {NewName{Category: "c", Key: "a"}, "to"},
		"of nothing":      {NewName{Category: "c", Key: "nosuch", To: "b"}, ""},
		"of what is gone": {NewName{Category: "c", Key: "gone", To: "b"}, ""},
	} {
		_, err := Rename(t.Context(), s.Store, x.a)
		if e, ok := errors.AsType[*ArgumentError](err); x.want != "" && (!ok || e.Argument != x.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, ok := errors.AsType[*NotFoundError](err); x.want == "" && !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if diff := cmp.Diff(before, s.whole(t)); diff != "" {
		t.Error(diff)
	}
	for _, to := range []string{"b", "d/c", "c/a", "A"} { // in a circle, and to another spelling
		from := s.recall(t, Question{}).Facts[0]
		s.rename(t, NewName{Category: from.Category, Key: from.Key, To: to})
	}
	if got := s.rows(t, "c", "a"); !strings.Contains(got, "A = v [CURRENT]") {
		t.Error(got)
	}
}

// An agent does not rename what the user said: it opens a dispute, which the user
// settles.
func TestRenameOfAUsersFactIsDisputed(t *testing.T) {
	s := testStore(t, nil)
	user := s.As(Actor{Kind: KindUser})
	must[Remembered](t)(user.Remember(t.Context(), Assertion{Category: "user", Key: "pref", Value: "tabs"}))
	r := s.rename(t, NewName{Category: "user", Key: "pref", To: "style/indent"})
	if r.Dispute == nil || !strings.Contains(r.Text(), "its renaming to [style/indent] is recorded as "+r.Dispute.ID+", not done") {
		t.Fatal(r.Text())
	}
	if again := s.rename(t, NewName{Category: "user", Key: "pref", To: "style/indent"}); again.Dispute.ID != r.Dispute.ID {
		t.Errorf("recorded twice: %s", again.Text())
	}
	list := must[listing.DisputeList](t)(listing.Disputes(t.Context(), s.Store, listing.DisputeQuery{}))
	if list.Total != 1 || !strings.Contains(list.Text(), "its renaming to [style/indent]") {
		t.Error(list.Text())
	}
	v := advice.Verdict{Category: "user", Key: "pref", Target: r.Dispute.ID, Verdict: "accept"}
	if _, err := advice.Judge(t.Context(), s.Store, v); err == nil {
		t.Error("an agent accepted it")
	}
	must[advice.Judged](t)(advice.Judge(t.Context(), user, v))
	if got := s.rows(t, "style", "indent"); !strings.Contains(got, "indent = tabs [CURRENT]") {
		t.Error(got)
	}
	if list := must[listing.DisputeList](t)(listing.Disputes(t.Context(), s.Store, listing.DisputeQuery{State: "accepted"})); list.Total != 1 || list.Disputes[0].Category != "style" {
		t.Error(list.Text())
	}
}

// Nor does an agent merge its fact into the user's: that is disputed, and the user's
// acceptance merges the two.
func TestMergeIntoAUsersFactIsDisputed(t *testing.T) {
	s := testStore(t, nil)
	user := s.As(Actor{Kind: KindUser})
	must[Remembered](t)(user.Remember(t.Context(), Assertion{Category: "style", Key: "indent", Value: "tabs"}))
	s.days(1)
	s.remember(t, Assertion{Category: "c", Key: "mine", Value: "spaces"})
	before := s.rows(t, "style", "indent") + s.rows(t, "c", "mine")
	merge := NewName{Category: "c", Key: "mine", To: "style/indent", Merge: "true"}
	r := s.rename(t, merge)
	if r.Dispute == nil || r.Merged || !strings.Contains(r.Text(), "its renaming to [style/indent] is recorded as "+r.Dispute.ID+", not done") {
		t.Fatalf("%+v %s", r, r.Text())
	}
	if again := s.rename(t, merge); again.Dispute.ID != r.Dispute.ID {
		t.Errorf("recorded twice: %s", again.Text())
	}
	if after := s.rows(t, "style", "indent") + s.rows(t, "c", "mine"); after != before {
		t.Errorf("%s\nwas\n%s", after, before)
	}
	v := advice.Verdict{Category: "c", Key: "mine", Target: r.Dispute.ID, Verdict: "accept"}
	if _, err := advice.Judge(t.Context(), s.Store, v); err == nil {
		t.Error("an agent accepted it")
	}
	must[advice.Judged](t)(advice.Judge(t.Context(), user, v))
	if got := s.rows(t, "style", "indent"); !strings.Contains(got, "indent = tabs [archived]") || !strings.Contains(got, "indent = spaces [CURRENT]") {
		t.Error(got)
	}
	// Where nothing of the agent's fact holds any more there is nothing to dispute.
	must[Remembered](t)(user.Remember(t.Context(), Assertion{Category: "style", Key: "quotes", Value: "single", ValidFrom: "2025-01-01"}))
	s.remember(t, Assertion{Category: "c", Key: "old", Value: "double", ValidFrom: "2025-02-01", ValidUntil: "2025-03-01"})
	_, err := Rename(t.Context(), s.Store, NewName{Category: "c", Key: "old", To: "style/quotes", Merge: "true"})
	if e, ok := errors.AsType[*ArgumentError](err); !ok || e.Argument != "source" {
		t.Errorf("%v", err)
	}
}

// A dispute that names a rival follows the rival to its new name, and closes with it.
func TestRivalOfADisputeFollowsARename(t *testing.T) {
	s := testStore(t, nil)
	user := s.As(Actor{Kind: KindUser})
	must[Remembered](t)(user.Remember(t.Context(), Assertion{Category: "db", Key: "engine", Value: "MySQL"}))
	s.remember(t, Assertion{Category: "infra", Key: "store", Value: "PostgreSQL"})
	link := must[Linked](t)(Relate(t.Context(), s.Store, Link{Category: "infra", Key: "store", Target: "db/engine", Kind: "supersedes"}))
	if link.Dispute == nil {
		t.Fatal(link.Text())
	}
	s.rename(t, NewName{Category: "infra", Key: "store", To: "data/database"})
	open := must[listing.DisputeList](t)(listing.Disputes(t.Context(), s.Store, listing.DisputeQuery{}))
	if open.Total != 1 || !strings.Contains(open.Text(), "data/database") || strings.Contains(open.Text(), "infra/store") {
		t.Fatalf("%s", open.Text())
	}
	if diff := cmp.Diff(s.whole(t), reopened(t, s)); diff != "" {
		t.Errorf("(-memory +files):\n%s", diff)
	}
	must[advice.Judged](t)(advice.Judge(t.Context(), user, advice.Verdict{Category: "db", Key: "engine", Target: link.Dispute.ID, Verdict: "accept"}))
	if got := s.rows(t, "db", "engine"); strings.Contains(got, "CURRENT") {
		t.Error(got)
	}
}

// A fact whose past a user told keeps its name for an agent: under another one nobody would find what the user said.
func TestAgentRenamesNothingThatAUserSaid(t *testing.T) {
	for _, now := range []string{"", "freezes are decided by Ann"} { // what an agent says after it, if anything
		s, err := Open(t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		user, agent := s.As(Actor{Kind: KindUser}), s.As(Actor{Agent: "codex-1", Kind: KindAgent})
		if _, err := user.Remember(t.Context(), Assertion{Category: "ops", Key: "freeze", Value: "no deploys", ValidFrom: "2025-11-01", ValidUntil: "2025-11-20"}); err != nil {
			t.Fatal(err)
		}
		if now != "" {
			if _, err := agent.Remember(t.Context(), Assertion{Category: "ops", Key: "freeze", Value: now}); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Rename(t.Context(), agent, NewName{Category: "ops", Key: "freeze", To: "zzz/x"})
		if err == nil && !r.Warned() {
			t.Errorf("%q: %s", now, r.Text())
		}
		if r, err := Rename(t.Context(), user, NewName{Category: "ops", Key: "freeze", To: "zzz/x"}); err != nil || r.Warned() {
			t.Errorf("%q: the user: %s, %v", now, r.Text(), err)
		}
	}
}
