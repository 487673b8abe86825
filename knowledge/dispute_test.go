package knowledge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"leanctx/formats"
	. "leanctx/knowledge"
	"leanctx/knowledge/advice"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/history"
	"leanctx/knowledge/listing"
	"leanctx/knowledge/state"
)

var (
	user   = Source{Kind: KindUser}
	passed = Source{Kind: KindUser, By: "codex-1acc"}
	file   = Source{Kind: KindFile, By: "claude-a3f8"}
	tool   = Source{Kind: KindTool}
	claude = Source{Kind: KindAgent, By: "claude-a3f8"}
	codex  = Source{Kind: KindAgent, By: "codex-1acc"}
	loaded = Source{Kind: KindImport}
)

func claim(value string, by Source, confidence float64) Checked {
	by.Confidence = confidence
	return Checked{Category: "c", Key: "k", Value: value, Confidence: confidence, Source: by}
}

// assert folds an assertion and returns its outcome.
func assert(t *testing.T, st *state.Overlay, c Checked, day int) Remembered {
	t.Helper()
	events, r, err := Assert(st, c, at(day))
	if err != nil {
		t.Fatal(err)
	}
	st.Fold(events...)
	return r
}

func TestAuthority(t *testing.T) {
	for _, x := range []struct {
		old  Source
		conf float64
		pin  bool
		by   Source
		sure float64
		want Outcome
	}{
		{user, 1, false, codex, .9, Disputed},
		{user, 1, false, tool, .9, Disputed},
		{user, 1, false, file, .9, Disputed},
		{user, 1, false, loaded, .9, Disputed},
		{user, .8, false, user, .9, Superseded},
		{user, 1, false, passed, .9, Superseded},
		{tool, .8, false, codex, .9, Disputed},
		{tool, .8, false, file, .9, Superseded},
		{file, .8, false, codex, .9, Superseded},
		{codex, .8, false, claude, .8, Superseded},
		{codex, .8, false, loaded, .8, Disputed},
		{loaded, .8, false, codex, .8, Superseded},
		{codex, .8, true, claude, .8, Disputed},
		{codex, .8, true, codex, .8, Disputed},
		{codex, .8, true, user, .8, Superseded},
		{codex, .8, false, claude, .49, Disputed},
		{codex, .8, false, codex, .49, Superseded},
		{codex, .79, false, claude, .1, Superseded},
		{codex, .8, false, user, .1, Disputed},
	} {
		name := fmt.Sprintf("%s %v pinned=%v, then %s %v", x.old.Kind+x.old.By, x.conf, x.pin, x.by.Kind+x.by.By, x.sure)
		for what, change := range map[string]func(*Checked){
			"change": func(*Checked) {}, "correct": func(c *Checked) { c.Correct = true }, "backdated": func(c *Checked) { c.From = new(at(2)) },
			"planned": func(c *Checked) { c.From = new(at(30)) },
		} {
			st := state.NewOverlay(state.New(), nil)
			first := claim("A", x.old, x.conf)
			first.Pinned = &x.pin
			assert(t, st, first, 1)
			second := claim("B", x.by, x.sure)
			change(&second)
			r := assert(t, st, second, 5)
			if got := r.Outcome == Disputed; got != (x.want == Disputed) {
				t.Errorf("%s (%s): %s", name, what, r.Outcome)
			}
			if v := fact.CurrentAt(st.Versions(fact.IDOf("c", "k")), at(40)); r.Outcome == Disputed && v.Value != "A" || v.Pinned != x.pin {
				t.Errorf("%s (%s): %s is believed, pinned %v", name, what, v.Value, v.Pinned)
			}
			if c := assert(t, st, claim("a.", codex, .1), 41); r.Outcome == Disputed && c.Outcome != Confirmed {
				t.Errorf("%s: confirming it is %s", name, c.Outcome)
			}
		}
	}
}

// Nobody takes from a user's fact what protects it, and ends it, by the way.
func TestNoWayRoundTheUser(t *testing.T) {
	st := state.NewOverlay(state.New(), nil)
	first := claim("never", user, 1)
	first.Pinned, first.Privacy = new(true), PrivacyProjectOnly
	assert(t, st, first, 1)
	n := fact.IDOf("c", "k")
	again := claim("never", codex, .8)
	again.Pinned, again.Privacy = new(false), PrivacyShared
	for _, from := range []*time.Time{nil, new(at(2))} {
		again.From = from
		assert(t, st, again, 3)
	}
	ending := claim("never", codex, .8)
	ending.Correct, ending.Until = true, new(at(6))
	assert(t, st, ending, 4)
	if events, x := End(st, n, Removal("", codex), at(5), at(5)); !x.Warned() || len(events) != 1 {
		t.Errorf("removed: %v", events)
	} else {
		st.Fold(events...)
	}
	v := fact.CurrentAt(st.Versions(n), at(90))
	if v == nil || !v.Pinned || v.Privacy != PrivacyProjectOnly || v.ConfirmationCount != 3 {
		t.Errorf("%+v", v)
	}
	if d := st.Disputes(n); len(d) != 2 || !d[1].Removal || d[0].ID == d[1].ID {
		t.Errorf("%+v", d)
	}
	// Said again it is the same dispute.
	if events, _ := End(st, n, Removal("", codex), at(6), at(6)); len(events) != 0 {
		t.Errorf("%v", events)
	}
}

// Who may judge a dispute, and what is believed then.
func TestJudged(t *testing.T) {
	type verdict struct {
		by     Source
		accept bool
		fails  bool
	}
	for _, x := range []struct {
		name     string
		old      Source
		removal  bool
		correct  bool
		verdicts []verdict
		want     string // what is believed then, and the state
	}{
		{"accepted by the user", user, false, false, []verdict{{user, true, false}}, "B from 5, accepted"},
		{"the user's word passed on", user, false, false, []verdict{{passed, true, false}}, "B from 5, accepted"},
		{"accepted by an agent", user, false, false, []verdict{{codex, true, true}, {tool, true, true}}, "A from 1, open"},
		{"a tool's fact, by a tool", tool, false, false, []verdict{{codex, true, true}, {tool, true, false}}, "B from 5, accepted"},
		{"rejected", user, false, false, []verdict{{codex, false, false}}, "A from 1, rejected"},
		{"rejected by less than the claim", user, false, false, []verdict{{loaded, false, true}}, "A from 1, open"},
		{"twice the same", user, false, false, []verdict{{user, true, false}, {user, true, false}}, "B from 5, accepted"},
		{"rejected, then accepted", user, false, false, []verdict{{user, false, false}, {user, true, false}}, "B from 5, accepted"},
		{"accepted, then rejected", user, false, false, []verdict{{user, true, false}, {user, false, false}}, "A from 1, rejected"},
		{"back and forth", user, false, false, []verdict{{user, true, false}, {user, false, false}, {user, true, false}}, "B from 5, accepted"},
		{"an agent on a user's verdict", user, false, false, []verdict{{user, true, false}, {codex, false, true}}, "B from 5, accepted"},
		{"a correction", user, false, true, []verdict{{user, true, false}}, "B from 1, accepted"},
		{"a correction taken back", user, false, true, []verdict{{user, true, false}, {user, false, false}}, "A from 1, rejected"},
		{"a removal", user, true, false, []verdict{{codex, true, true}, {user, true, false}}, "nothing, accepted"},
		{"a removal taken back", user, true, false, []verdict{{user, true, false}, {user, false, false}}, "A from 7, rejected"},
	} {
		t.Run(x.name, func(t *testing.T) {
			st, n := state.NewOverlay(state.New(), nil), fact.IDOf("c", "k")
			assert(t, st, claim("A", x.old, 1), 1)
			if x.removal {
				events, _ := End(st, n, Removal("", codex), at(5), at(5))
				st.Fold(events...)
			} else {
				c := claim("B", codex, .3)
				c.Correct = x.correct
				assert(t, st, c, 5)
			}
			d := st.Disputes(n)[0]
			for i, v := range x.verdicts {
				events, err := Settle(st, d, v.accept, v.by, "", at(7+i), at(7+i))
				if (err != nil) != v.fails {
					t.Fatalf("verdict %d: %v", i, err)
				}
				for _, e := range events {
					if e.Dispute != nil {
						d = *e.Dispute
					}
				}
				st.Fold(events...)
				wellFormed(t, st.Versions(n))
			}
			got := "nothing"
			if v := fact.CurrentAt(st.Versions(n), at(30)); v != nil {
				got = fmt.Sprintf("%s from %d", v.Value, v.ValidFrom.YearDay())
			}
			if got += ", " + state.DisputeState(st, d, at(30)); got != x.want {
				t.Errorf("got %s, want %s", got, x.want)
			}
		})
	}
}

// A dispute closes when its value becomes believed or its opponent ends; what
// was rejected opens nothing when it is said again.
func TestDisputesClose(t *testing.T) {
	for name, x := range map[string]struct {
		then Checked
		want string
	}{
		"believed":    {claim("b", user, 1), formats.DisputeClosed},
		"another":     {claim("C", user, 1), formats.DisputeClosed},
		"confirmed":   {claim("A", user, 1), formats.DisputeOpen},
		"said again":  {claim("B.", codex, .8), formats.DisputeOpen},
		"another one": {claim("D", codex, .8), formats.DisputeOpen},
	} {
		st, n := state.NewOverlay(state.New(), nil), fact.IDOf("c", "k")
		assert(t, st, claim("A", user, 1), 1)
		assert(t, st, claim("B", codex, .8), 5)
		assert(t, st, x.then, 6)
		if got := state.DisputeState(st, st.Disputes(n)[0], at(7)); got != x.want {
			t.Errorf("%s: %s, want %s", name, got, x.want)
		}
	}
	st, n := state.NewOverlay(state.New(), nil), fact.IDOf("c", "k")
	assert(t, st, claim("A", user, 1), 1)
	assert(t, st, claim("B", codex, .8), 5)
	events, err := Settle(st, st.Disputes(n)[0], false, user, "", at(6), at(6))
	if err != nil {
		t.Fatal(err)
	}
	st.Fold(events...)
	r := assert(t, st, claim("B", codex, .8), 8)
	if text := r.Text(); len(st.Disputes(n)) != 1 || !strings.Contains(text, "'B' was rejected as d-") || strings.Contains(text, "accept") {
		t.Errorf("%s", text)
	}
}

// Two authors who change a fact back and forth three times within 14 days open a
// dispute. The newest value stays.
func TestFlipFlop(t *testing.T) {
	type say struct {
		by    Source
		value string
		day   int
	}
	third := Source{Kind: KindAgent, By: "gemini-b7e2"}
	for name, x := range map[string]struct {
		says    []say
		correct bool
		want    string // the open dispute: who says what
	}{
		"three changes":           {[]say{{claude, "A", 1}, {codex, "B", 2}, {claude, "A", 3}, {codex, "B", 4}}, false, "claude-a3f8: A"},
		"by correcting":           {[]say{{claude, "A", 1}, {codex, "B", 2}, {claude, "A", 3}, {codex, "B", 4}}, true, "claude-a3f8: A"},
		"confirmed between":       {[]say{{claude, "A", 1}, {codex, "B", 2}, {codex, "b.", 3}, {claude, "A", 4}, {claude, "A", 5}, {codex, "B", 6}}, false, "claude-a3f8: A"},
		"what was there is old":   {[]say{{claude, "A", 1}, {codex, "B", 100}, {claude, "A", 101}, {codex, "B", 114}}, false, "claude-a3f8: A"},
		"someone else began":      {[]say{{third, "A", 1}, {codex, "B", 2}, {claude, "A", 3}, {codex, "B", 4}}, false, "claude-a3f8: A"},
		"two changes":             {[]say{{claude, "A", 1}, {codex, "B", 2}, {claude, "A", 3}}, false, ""},
		"in more than 14 days":    {[]say{{claude, "A", 1}, {codex, "B", 2}, {claude, "A", 3}, {codex, "B", 17}}, false, ""},
		"one author":              {[]say{{claude, "A", 1}, {claude, "B", 2}, {claude, "A", 3}, {claude, "B", 4}}, false, ""},
		"three authors":           {[]say{{claude, "A", 1}, {codex, "B", 2}, {claude, "A", 3}, {third, "B", 4}}, false, ""},
		"three values":            {[]say{{claude, "A", 1}, {codex, "B", 2}, {claude, "C", 3}, {codex, "B", 4}}, false, ""},
		"each time another value": {[]say{{claude, "A", 1}, {codex, "B", 2}, {claude, "C", 3}, {codex, "D", 4}}, false, ""},
		"a fourth change":         {[]say{{claude, "A", 1}, {codex, "B", 2}, {claude, "A", 3}, {codex, "B", 4}, {claude, "A", 5}}, false, "codex-1acc: B"},
	} {
		st, n := state.NewOverlay(state.New(), nil), fact.IDOf("c", "k")
		var last Remembered
		for _, s := range x.says {
			c := claim(s.value, s.by, .8)
			c.Correct = x.correct
			last = assert(t, st, c, s.day)
		}
		now := at(x.says[len(x.says)-1].day)
		var got strings.Builder
		for _, d := range state.OpenDisputes(st, st.Disputes(n), now) {
			got.WriteString(d.Source.By + ": " + d.Value)
		}
		current := fact.CurrentAt(st.Versions(n), now)
		if got.String() != x.want || current.Value != last.Value || last.Outcome == Disputed || last.Warned() != (x.want != "") {
			t.Errorf("%s: %q, want %q; %s is believed, the answer is %s", name, got.String(), x.want, current.Value, last.Text())
		}
		if x.want != "" && !strings.Contains(last.Text(), "\n  Changed back and forth 3 times within 14 days: '"+x.want[len(x.want)-1:]+"' is recorded as d-") {
			t.Errorf("%s: %s", name, last.Text())
		}
	}
}

// Once a user has judged it, neither author changes the value again.
func TestFlipFlopJudged(t *testing.T) {
	for _, accept := range []bool{true, false} {
		st, n := state.NewOverlay(state.New(), nil), fact.IDOf("c", "k")
		for i, by := range []Source{claude, codex, claude, codex} {
			assert(t, st, claim("AB"[i%2:i%2+1], by, .8), i+1)
		}
		events, err := Settle(st, st.Disputes(n)[0], accept, user, "", at(5), at(5))
		if err != nil {
			t.Fatal(err)
		}
		st.Fold(events...)
		wellFormed(t, st.Versions(n))
		want, loser, by := "B", "A", claude
		if accept {
			want, loser, by = "A", "B", codex
		}
		r := assert(t, st, claim(loser, by, .9), 6)
		v := fact.CurrentAt(st.Versions(n), at(7))
		if r.Outcome != Disputed || v.Value != want || AuthorOf(v) != "user" {
			t.Errorf("accepted %v: %s is believed of %s; %s", accept, v.Value, AuthorOf(v), r.Text())
		}
		if !accept && (!strings.Contains(r.Text(), "was rejected as d-") || len(st.Disputes(n)) != 1) {
			t.Errorf("%s", r.Text())
		}
	}
}

// A fact has so many open disputes at most. What is settled makes room.
func TestDisputesDoNotFlood(t *testing.T) {
	st, n := state.NewOverlay(state.New(), nil), fact.IDOf("c", "k")
	assert(t, st, claim("right", user, 1), 1)
	var r Remembered
	for i := range MaxDisputes + 3 {
		r = assert(t, st, claim(fmt.Sprintf("wrong %d", i), codex, .8), 2)
	}
	if got := len(st.Disputes(n)); got != MaxDisputes || r.Outcome != Disputed || !strings.Contains(r.Text(), "is not recorded: 20 disputes about this fact are open") {
		t.Errorf("%d disputes; %s", got, r.Text())
	}
	events, err := Settle(st, st.Disputes(n)[3], false, user, "", at(3), at(3))
	if err != nil {
		t.Fatal(err)
	}
	st.Fold(events...)
	if r := assert(t, st, claim("wrong 21", codex, .8), 4); !strings.Contains(r.Text(), "is recorded as d-") {
		t.Errorf("%s", r.Text())
	}
}

// A dispute that closed by itself is not judged any more: what it was about is
// not believed, or is settled.
func TestClosedDisputesAreNotJudged(t *testing.T) {
	for name, then := range map[string]Checked{"believed": claim("B", user, 1), "another": claim("C", user, 1)} {
		st, n := state.NewOverlay(state.New(), nil), fact.IDOf("c", "k")
		assert(t, st, claim("A", user, 1), 1)
		assert(t, st, claim("B", codex, .8), 2)
		assert(t, st, then, 3)
		for _, accept := range []bool{true, false} {
			if _, err := Settle(st, st.Disputes(n)[0], accept, user, "", at(4), at(4)); err == nil || !strings.Contains(err.Error(), "has closed") {
				t.Errorf("%s, accept %v: %v", name, accept, err)
			}
		}
		// Nor is one that was rejected, once its opponent has ended.
		if name == "another" {
			d := st.Disputes(n)[0]
			d.State = formats.DisputeRejected
			if _, err := Settle(st, d, true, user, "", at(4), at(4)); err == nil {
				t.Error("a rejected claim against what has ended was accepted")
			}
		}
	}
}

// A link that contradicts opens a dispute; one that supersedes ends the target, if
// who says it has the authority.
func TestLinksHaveEffect(t *testing.T) {
	s := testStore(t, nil)
	codex, person := s.As(Actor{Agent: "codex-1acc"}), s.As(Actor{Kind: KindUser})
	say := func(by *Store, key, value string) {
		t.Helper()
		if _, err := by.Remember(t.Context(), Assertion{Category: "c", Key: key, Value: value}); err != nil {
			t.Fatal(err)
		}
	}
	link := func(by *Store, key, target, kind string) string {
		t.Helper()
		r, err := Relate(t.Context(), by, Link{Category: "c", Key: key, Target: "c/" + target, Kind: kind})
		if err != nil {
			return err.Error()
		}
		return r.Text()
	}
	open := func() (out string) {
		t.Helper()
		r, err := listing.Disputes(t.Context(), s.Store, listing.DisputeQuery{})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range r.Disputes {
			out += d.Line()[len(d.ID):] + "\n"
		}
		return out
	}
	judge := func(by *Store, accept bool) error {
		return s.UpdateSome(t.Context(), func(st state.Reader, now time.Time) ([]state.Event, error) {
			d := st.Disputed[len(st.Disputed)-1]
			return Settle(st, d, accept, by.Source("", 1), "", now, now)
		})
	}
	say(person, "db", "PostgreSQL 16")
	say(codex, "store", "MySQL 8")
	say(codex, "old", "SQLite")

	const line = " [c/db] 'MySQL 8' of [c/store] (codex-1acc, 100%, 2026-01-15) against 'PostgreSQL 16' (user, 95%)\n"
	got := link(codex, "store", "db", "contradicts")
	if !strings.HasPrefix(got, "Relation added: c/store -(contradicts)-> c/db\n  'MySQL 8' of [c/store] against 'PostgreSQL 16' is recorded as d-") || open() != line {
		t.Errorf("%s\n%s", got, open())
	}
	if link(codex, "store", "db", "contradicts"); open() != line {
		t.Errorf("said twice: %s", open())
	}
	if _, err := Unrelate(t.Context(), codex, Unlink{Category: "c", Key: "store", Target: "c/db", Kind: "contradicts"}); err != nil || open() != "" {
		t.Errorf("taken back: %v, %s", err, open())
	}
	link(person, "store", "db", "contradicts")
	if _, err := Unrelate(t.Context(), codex, Unlink{Category: "c", Key: "store", Target: "c/db", Kind: "contradicts"}); err == nil || open() == "" {
		t.Errorf("an agent closed what a user disputes: %v, %s", err, open())
	}
	if _, err := Unrelate(t.Context(), codex, Unlink{Category: "c", Key: "store", Target: "c/db", Kind: "contradicts", Source: "user"}); err != nil || open() != "" {
		t.Errorf("the user took it back: %v, %s", err, open())
	}
	link(codex, "store", "db", "contradicts")
	if err := judge(codex, true); err == nil {
		t.Error("an agent ended what a user asserted")
	}
	if say(codex, "store", "MariaDB"); open() != "" {
		t.Errorf("the rival says something else: %s", open())
	}
	if got := link(codex, "store", "db", "supersedes"); !strings.HasPrefix(got, "Disputed [c] db: still 'PostgreSQL 16' (user, confidence: 95%)\n  its end by 'MariaDB' of [c/store] is recorded as d-") {
		t.Error(got)
	}
	if err := judge(person, true); err != nil || open() != "" {
		t.Errorf("%v, %s", err, open())
	}
	if got := s.recall(t, Question{Key: "db"}).Text(); got != "No current fact [c/db]: ended 2026-01-15 (was 'PostgreSQL 16')." {
		t.Error(got)
	}
	if err := judge(person, false); err != nil || !strings.Contains(s.recall(t, Question{Key: "db"}).Text(), "PostgreSQL 16") {
		t.Errorf("%v: judged again it is not back", err)
	}
	if got := link(codex, "store", "old", "supersedes"); got != "Relation added: c/store -(supersedes)-> c/old\n  c/old is no longer current" {
		t.Error(got)
	}
	if got := link(codex, "old", "store", "supersedes"); !strings.Contains(got, "no current value") {
		t.Error(got)
	}
	if got := link(codex, "old", "store", "contradicts"); got != "Relation added: c/old -(contradicts)-> c/store" || open() != "" {
		t.Errorf("%s %s", got, open())
	}
	// What is erased stands in no dispute.
	link(codex, "store", "db", "contradicts")
	if _, err := codex.Remove(t.Context(), Withdrawal{Category: "c", Key: "store", Erase: true}); err != nil || open() != "" {
		t.Errorf("%v, %s", err, open())
	}
}

// Who asks why a fact is believed is told what stands against it, until that is settled.
func TestWhyNamesOpenDisputes(t *testing.T) {
	s := testStore(t, nil)
	pref := Assertion{Category: "user", Key: "pref", Value: "never force push", Confidence: new(1.), Source: "user"}
	s.remember(t, pref)
	pref.Value, pref.Confidence, pref.Source = "Force push is fine", new(.3), ""
	d := s.remember(t, pref).Dispute
	if d == nil {
		t.Fatal("no dispute")
	}
	why := func() string {
		return must[history.Provenance](t)(history.Why(t.Context(), s.Store, history.Subject{Category: "user", Key: "pref"})).Text()
	}
	want := "\n  Disputed: " + d.ID + " [user/pref] 'Force push is fine' (cursor-a3f8, 30%, 2026-01-15) against 'never force push' (user, 100%)\n"
	if got := why(); !strings.Contains(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	must[advice.Judged](t)(advice.Judge(t.Context(), s.Store, advice.Verdict{Category: "user", Key: "pref", Target: d.ID, Verdict: "reject", Source: "user"}))
	if got := why(); strings.Contains(got, "Disputed") {
		t.Error(got)
	}
}

// A dispute about the period of a value alone tells the period.
func TestDisputedPeriodIsTold(t *testing.T) {
	s := testStore(t, nil)
	license := Assertion{Category: "legal", Key: "license", Value: "MIT", Source: "user"}
	s.remember(t, license)
	license.Source, license.Correct = "", true
	license.ValidUntil = "2026-12-31"
	r := s.remember(t, license)
	if got := r.Text(); !strings.Contains(got, "'MIT' until 2026-12-31 is recorded as d-") {
		t.Fatal(got)
	}
	got := must[listing.DisputeList](t)(listing.Disputes(t.Context(), s.Store, listing.DisputeQuery{})).Text()
	if !strings.Contains(got, "[legal/license] 'MIT' until 2026-12-31 (cursor-a3f8, 80%, 2026-01-15) against 'MIT' (user, ") {
		t.Error(got)
	}
}
