package knowledge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"leanctx/formats"
	. "leanctx/knowledge"
	"leanctx/knowledge/fact"
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
			st := state.Over(state.New(), nil)
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
	st := state.Over(state.New(), nil)
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
	if events, x := End(st, n, codex, at(5), at(5)); x == nil || len(events) != 1 {
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
	if events, _ := End(st, n, codex, at(6), at(6)); len(events) != 0 {
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
			st, n := state.Over(state.New(), nil), fact.IDOf("c", "k")
			assert(t, st, claim("A", x.old, 1), 1)
			if x.removal {
				events, _ := End(st, n, codex, at(5), at(5))
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
			if got += ", " + state.StandingOf(st, d, at(30)); got != x.want {
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
		st, n := state.Over(state.New(), nil), fact.IDOf("c", "k")
		assert(t, st, claim("A", user, 1), 1)
		assert(t, st, claim("B", codex, .8), 5)
		assert(t, st, x.then, 6)
		if got := state.StandingOf(st, st.Disputes(n)[0], at(7)); got != x.want {
			t.Errorf("%s: %s, want %s", name, got, x.want)
		}
	}
	st, n := state.Over(state.New(), nil), fact.IDOf("c", "k")
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
