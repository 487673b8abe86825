package knowledge_test

import (
	"strings"
	"testing"
	"time"

	"leanctx/formats"
	. "leanctx/knowledge"
	"leanctx/knowledge/briefing"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/history"
	"leanctx/knowledge/state"
	"leanctx/knowledge/transfer"
)

// What was removed says who removed it and why, and from when on; wherever it is asked for.
func TestRemovedWithAReason(t *testing.T) {
	s := testStore(t, nil) // 2026-01-15
	codex := s.As(Actor{Agent: "codex-1acc"})
	say := func(key, value string, also bool) {
		t.Helper()
		must[Remembered](t)(codex.Remember(t.Context(), Assertion{Category: "c", Key: key, Value: value, ValidFrom: "2026-01-10", Also: also}))
	}
	say("now", "MySQL 8", false)
	say("past", "Jenkins", false)
	say("ahead", "MIT", false)
	say("many", "Codex", true)
	say("many", "Cursor", true)
	for _, x := range []struct {
		w    Withdrawal
		want string
	}{
		{Withdrawal{Key: "now", Reason: " moved to RDS\n"}, "Removed [c] now"},
		{Withdrawal{Key: "past", Until: "2026-01-12", Reason: "GitHub Actions since then"}, "Ended [c] past on 2026-01-12"},
		{Withdrawal{Key: "ahead", Until: "2026-02-01"}, "Ends [c] ahead on 2026-02-01"},
		{Withdrawal{Key: "many", Value: "cursor", Until: "2026-01-13", Reason: "key AKIAIOSFODNN7ABCDEFG"}, "Ended [c] many on 2026-01-13: Cursor (1 value: Codex)"},
	} {
		x.w.Category = "c"
		if got, _, _ := strings.Cut(must[Withdrawn](t)(codex.Remove(t.Context(), x.w)).Text(), "\n"); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
	ask := func(key, asOf string) string {
		t.Helper()
		return must[Recalled](t)(s.Recall(t.Context(), Question{Category: "c", Key: key, AsOf: asOf})).Text()
	}
	why := func(key string) string {
		t.Helper()
		return must[history.Provenance](t)(history.Why(t.Context(), s.Store, history.Subject{Category: "c", Key: key})).Text()
	}
	timeline := func() string {
		t.Helper()
		return must[history.VersionList](t)(history.Timeline(t.Context(), s.Store, history.TimelineQuery{Category: "c"})).Text()
	}
	holds := func(text string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("no %q in\n%s", w, text)
			}
		}
	}
	if got, want := ask("now", ""), "No current fact [c/now]: removed 2026-01-15 by codex-1acc (was 'MySQL 8', reason: 'moved to RDS')."; got != want {
		t.Errorf("%s", got)
	}
	if got, want := ask("past", ""), "No current fact [c/past]: ended 2026-01-12 by codex-1acc (was 'Jenkins', reason: 'GitHub Actions since then')."; got != want {
		t.Errorf("%s", got)
	}
	holds(ask("past", "2026-01-11"), "Jenkins")
	holds(ask("past", "2026-01-12"), "No facts valid at 2026-01-12")
	holds(ask("ahead", ""), "[c/ahead]: MIT", "; ends 2026-02-01")
	holds(ask("many", ""), "(showing 1/1)", "Codex")
	holds(why("past"), "Jenkins [retracted] (2026-01-10 → 2026-01-12)", " given its end 2026-01-12 by codex-1acc, reason: 'GitHub Actions since then'")
	holds(why("now"), "\n    2026-01-15 ", " removed by codex-1acc, reason: 'moved to RDS'")
	holds(timeline(), "now = MySQL 8 [retracted] (2026-01-10 → 2026-01-15) conf=80% x1, reason: 'moved to RDS'\n", "ahead = MIT [CURRENT] (2026-01-10 → 2026-02-01)", "many = Cursor [retracted]", "REDACTED")
	// A month later the planned end has come.
	s.days(30)
	if got, want := ask("ahead", ""), "No current fact [c/ahead]: ended 2026-02-01 by codex-1acc (was 'MIT')."; got != want {
		t.Errorf("%s", got)
	}
	holds(timeline(), "ahead = MIT [retracted] (2026-01-10 → 2026-02-01)")
	// An export takes reasons and ends along.
	data := must[transfer.Exported](t)(transfer.Export(t.Context(), s.Store, transfer.Outgoing{Format: "json"})).Data
	other := testStore(t, nil)
	must[transfer.Imported](t)(transfer.Import(t.Context(), other.Store, transfer.Incoming{Data: strings.NewReader(data)}))
	other.days(30)
	if got := must[Recalled](t)(other.Recall(t.Context(), Question{Category: "c", Key: "now"})).Text(); !strings.Contains(got, "reason: 'moved to RDS'") {
		t.Errorf("after an import: %s", got)
	}
	if again := must[transfer.Exported](t)(transfer.Export(t.Context(), other.Store, transfer.Outgoing{Format: "json"})).Data; body(t, again) != body(t, data) {
		t.Error("exported, imported and exported again it is another file")
	}
	// Nor does an older export bring back what was given an end.
	back := must[transfer.Imported](t)(transfer.Import(t.Context(), s.Store, transfer.Incoming{Data: strings.NewReader(`{"category":"c","key":"past","value":"Jenkins"}`), Merge: "append"}))
	if back.Added != 0 || back.Removed != 1 {
		t.Errorf("%+v", back)
	}
}

// What has an end cannot be given any end, and nothing but a fact has one.
func TestBadEnds(t *testing.T) {
	s := testStore(t, nil) // 2026-01-15
	say := func(key, value, from, until string) {
		t.Helper()
		must[Remembered](t)(s.Remember(t.Context(), Assertion{Category: "c", Key: key, Value: value, ValidFrom: from, ValidUntil: until}))
	}
	say("now", "A", "2026-01-10", "")
	say("ends", "A", "2026-01-10", "2026-02-01")
	say("plan", "A", "2026-03-01", "")
	say("two", "A", "2026-01-01", "")
	say("two", "B", "2026-01-10", "")
	must[Learned](t)(Pattern(t.Context(), s.Store, Lesson{Type: "naming", Value: "short"}))
	before := len(exported(t, s.Store))
	for _, x := range []struct {
		w    Withdrawal
		want string
	}{
		{Withdrawal{Key: "now", Until: "2026-01-05"}, "valid_until 2026-01-05T00:00:00Z is not after 'A' began, 2026-01-10T00:00:00Z"},
		{Withdrawal{Key: "now", Until: "2026-01-10"}, "is not after 'A' began"},
		{Withdrawal{Key: "two", Until: "2026-01-05"}, "is not after 'B' began"},
		{Withdrawal{Key: "plan", Until: "2026-02-01"}, "is not after 'A' began"},
		{Withdrawal{Key: "ends", Until: "2026-02-01"}, "'A' ends already, 2026-02-01T00:00:00Z: to move its end, remember it with correct and valid_until"},
		{Withdrawal{Key: "ends", Until: "2026-03-01"}, "'A' ends already"},
		{Withdrawal{Key: "now", Until: "soon"}, `valid_until "soon" is not a time`},
		{Withdrawal{Key: "now", Until: "9999d"}, "is not after 'A' began"},
		{Withdrawal{Key: "now", Until: "2026-01-12", Value: "B"}, "No value 'B' of [c] now"},
		{Withdrawal{Key: "nothing", Until: "2026-01-12"}, "No fact found: [c] nothing"},
		{Withdrawal{Key: "now", Until: "2026-01-12", Erase: true}, "erase takes the fact with its history"},
		{Withdrawal{Key: "now", Reason: "why", Erase: true}, "erase leaves nothing of the fact"},
		{Withdrawal{Key: "now", Reason: strings.Repeat("x", MaxReason+1)}, "has more than 1024 bytes"},
		{Withdrawal{Key: "now", Reason: "\xff"}, "is not valid UTF-8"},
	} {
		if x.w.Category == "" {
			x.w.Category = "c"
		}
		r, err := s.Remove(t.Context(), x.w)
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v, %v; want %s", x.w, r.Text(), err, x.want)
		}
	}
	if after := len(exported(t, s.Store)); after != before {
		t.Error("what was refused changed something")
	}
	// A planned value is ended, or withdrawn whole with what is true before.
	for key, w := range map[string]Withdrawal{"plan": {Until: "2026-04-01"}, "ends": {Until: "2026-01-20"}, "two": {Until: "2026-01-12"}} {
		w.Category, w.Key = "c", key
		if _, err := s.Remove(t.Context(), w); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// An end takes the authority that a removal takes. Who has it judges the claim as it was
// made, and takes the judgement back.
func TestEndsAndAuthority(t *testing.T) {
	n := fact.IDOf("c", "k")
	for _, until := range []int{8, 60} { // the judge speaks on day 10
		st := state.NewOverlay(state.New(), nil)
		assert(t, st, claim("never", user, 1), 1)
		ending := formats.Dispute{Source: codex, Removal: true, ValidUntil: new(at(until)), Reason: "the lawyer said so"}
		events, x := End(st, n, ending, at(9), at(9))
		st.Fold(events...)
		if !x.Warned() || !strings.Contains(x.TextIn(func(string, ...any) string { return "" }), "its end on "+fact.Day(at(until))+" (reason: 'the lawyer said so') is recorded as d-") {
			t.Fatalf("%+v", x)
		}
		now := formats.Dispute{Source: codex, Removal: true}
		if events, _ := End(st, n, now, at(9), at(9)); len(events) != 1 {
			t.Error("an end at another time is taken for the same claim")
		}
		if events, _ := End(st, n, ending, at(9), at(9)); len(events) != 0 {
			t.Error("the same claim was recorded again")
		}
		d := st.Disputes(n)[0]
		settle := func(accept bool, day int) {
			t.Helper()
			events, err := Settle(st, d, accept, user, "", at(day), at(day))
			if err != nil {
				t.Fatal(err)
			}
			st.Fold(events...)
			d = st.Disputes(n)[0]
			wellFormed(t, st.Versions(n))
		}
		holds := func(day int) bool { return fact.CurrentAt(st.Versions(n), at(day)) != nil }
		settle(true, 10)
		if v := st.Versions(n)[0]; !holds(until-1) || holds(until) || v.RetractedReason != ending.Reason || v.RetractedBy != KindUser {
			t.Errorf("until %d: accepted: %+v", until, v)
		}
		settle(false, 11)
		if !holds(until-1) || !holds(until) || !holds(90) {
			t.Errorf("until %d: taken back: %v", until, st.Versions(n))
		}
	}
	// The claim closes when the fact gets that end in another way.
	st := state.NewOverlay(state.New(), nil)
	assert(t, st, claim("never", user, 1), 1)
	ending := formats.Dispute{Source: codex, Removal: true, ValidUntil: new(at(60))}
	events, _ := End(st, n, ending, at(9), at(9))
	st.Fold(events...)
	ending.Source = user
	events, x := End(st, n, ending, at(10), at(10))
	st.Fold(events...)
	if d := st.Disputes(n)[0]; x.Warned() || state.DisputeState(st, d, at(11)) != formats.DisputeClosed {
		t.Errorf("%s", state.DisputeState(st, d, at(11)))
	}
}

// A briefing tells of plans and single values that others took back, and of the ends that
// they gave, also from the index.
func TestBriefingTellsOfPlansTakenBack(t *testing.T) {
	s := testStore(t, nil)
	codex := s.As(Actor{Agent: "codex-1acc"})
	say := func(a Assertion) {
		t.Helper()
		a.Category = "infra"
		must[Remembered](t)(codex.Remember(t.Context(), a))
	}
	say(Assertion{Key: "db", Value: "MySQL 8"})
	say(Assertion{Key: "db", Value: "PostgreSQL 17", ValidFrom: "2026-03-01"})
	say(Assertion{Key: "only plan", Value: "Kafka", ValidFrom: "2026-03-01"})
	say(Assertion{Key: "clients", Value: "Codex", Also: true})
	say(Assertion{Key: "clients", Value: "Cursor", Also: true})
	say(Assertion{Key: "own", Value: "A", Also: true})
	say(Assertion{Key: "own", Value: "B", Also: true})
	say(Assertion{Key: "license", Value: "MIT"})
	s.days(2)
	since := s.now.Format(time.RFC3339)
	for _, x := range []struct {
		by *Store
		w  Withdrawal
	}{
		{codex, Withdrawal{Key: "db", Value: "PostgreSQL 17"}}, {codex, Withdrawal{Key: "only plan"}}, {codex, Withdrawal{Key: "clients", Value: "Codex"}},
		{s.Store, Withdrawal{Key: "own", Value: "A"}}, {codex, Withdrawal{Key: "license", Until: "2026-06-01"}},
	} {
		s.now = s.now.Add(time.Minute)
		x.w.Category = "infra"
		must[Withdrawn](t)(x.by.Remove(t.Context(), x.w))
	}
	s.now = s.now.Add(time.Minute)
	const want = "infra/license ends 2026-06-01, now 'MIT' (codex-1acc)|infra/clients value 'Codex' removed (codex-1acc)|" +
		"infra/only plan removed, was 'Kafka' (codex-1acc)|infra/db plan removed, was 'PostgreSQL 17' from 2026-03-01 (codex-1acc)"
	told := func(by *Store) string {
		t.Helper()
		b := must[briefing.Selection](t)(briefing.Wakeup(t.Context(), by, briefing.Query{Since: since}))
		return strings.Join(b.News, "|")
	}
	fromBoth(t, s, want, told)
	if got := told(codex); got != "infra/own value 'A' removed (cursor-a3f8)" {
		t.Errorf("for the other: %s", got)
	}
}
