package briefing

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"

	"leanctx/formats"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// by says who asserted a fact.
func by(v *fact.Version, kind string) *fact.Version {
	v.Sources = []formats.Source{{Kind: kind, By: "somebody", At: v.RecordedFrom}}
	return v
}

// keys are those of a briefing, in its order.
func keys(s Selection) (out []string) {
	for _, x := range s.Chosen {
		out = append(out, x.Key)
	}
	return out
}

// A user's rules come before what agents noted, however salient that is.
func TestAUsersRulesComeFirst(t *testing.T) {
	facts := []*fact.Version{
		by(version(0, "workflow", "commits", "Commits are signed."), fact.KindUser),
		by(version(1, "decision", "database", "We keep PostgreSQL."), fact.KindUser),
		by(version(2, "testing", "race", "Tests run with -race."), fact.KindAgent),
	}
	for i := range 40 {
		v := by(version(10+i, "architecture", fmt.Sprint("note-", i), strings.Repeat("a note on the layers ", 5)), fact.KindAgent)
		v.Confidence, v.ConfirmationCount = 1, 9
		facts = append(facts, v)
	}
	with(t, facts, func(st *state.State) {
		got := new(Inputs).at(st, &held)
		if k := keys(got); len(k) < 4 || strings.Join(k[:3], " ") != "commits database race" {
			t.Errorf("%v", k)
		}
		text := got.Text()
		if !strings.Contains(text, "commits=Commits are signed.★★★u\n") || !strings.Contains(text, "\n+") || !strings.Contains(text, " more: architecture ") {
			t.Errorf("%s", text)
		}
	})
}

// Of many rules of one room some are told, and those of other rooms too: no room takes all the place.
func TestRoomsTakeTurns(t *testing.T) {
	var facts []*fact.Version
	for i := range 60 {
		facts = append(facts, by(version(i, "testing", fmt.Sprint("t", i), "Each kind of test has a place of its own in the tree, and nobody moves it."), fact.KindUser))
	}
	facts = append(facts, by(version(0, "workflow", "w0", "Commits are signed."), fact.KindUser), by(version(1, "workflow", "w1", "One topic a branch."), fact.KindUser))
	with(t, facts, func(st *state.State) {
		if k := keys(new(Inputs).at(st, &held)); !slices.Contains(k, "t59") || !slices.Contains(k, "w1") || !slices.Contains(k, "w0") {
			t.Errorf("%v", k)
		}
		few := slices.Concat(facts[:5], facts[60:])
		with(t, few, func(st *state.State) { // all fit: rooms in turn, the last confirmed first
			if k := keys(new(Inputs).at(st, &held)); strings.Join(k, " ") != "t4 w1 t3 w0 t2 t1 t0" {
				t.Errorf("%v", k)
			}
		})
	})
}

// Where a user's rules do not all fit, those that demand something come before those that only tell how something is.
func TestOfTooManyRulesThoseThatDemandComeFirst(t *testing.T) {
	var facts []*fact.Version
	for i := range 80 {
		value := "The tests of this part live beside it and take about a minute."
		if i < 10 {
			value = "Never skip the tests of this part, also when they take a minute."
		}
		facts = append(facts, by(version(i, "testing", fmt.Sprint("t", i), value), fact.KindUser))
	}
	with(t, facts, func(st *state.State) {
		got := new(Inputs).at(st, &held)
		if k := keys(got); len(k) < 10 || len(k) == 80 || strings.Join(k[:10], " ") != "t9 t8 t7 t6 t5 t4 t3 t2 t1 t0" {
			t.Errorf("%v", k)
		}
	})
}

// What a user demands in a room whose name tells nothing is a rule too.
func TestRulesOfAnyRoomAreTold(t *testing.T) {
	facts := []*fact.Version{by(version(0, "units", "angles", "Angles are radians everywhere; degrees only in the panel."), fact.KindUser)}
	for i := range 40 {
		facts = append(facts, by(version(1+i, "architecture", fmt.Sprint("a", i), "The layers of this part are named in its package doc and in the tree."), fact.KindUser))
	}
	with(t, facts, func(st *state.State) {
		if k := keys(new(Inputs).at(st, &held)); len(k) == 0 || k[0] != "angles" {
			t.Errorf("%v", k)
		}
	})
}

// Where a user's rules do not all fit, each ends at its first sentence, and counts as not told. Where they fit, none is cut.
func TestRulesAreCutOnlyWhereTheyDoNotFit(t *testing.T) {
	const value = "Each kind of test has a place of its own in the tree, and nobody moves it. The reason is history; ask Ilse."
	for n, cut := range map[int]bool{5: false, 60: true} {
		var facts []*fact.Version
		for i := range n {
			facts = append(facts, by(version(i, "testing", fmt.Sprint("t", i), value), fact.KindUser))
		}
		with(t, facts, func(st *state.State) {
			got := new(Inputs).at(st, &held)
			if strings.Contains(got.Text(), "history") == cut || got.Chosen[0].Whole == cut {
				t.Errorf("%d rules: %+v\n%s", n, got.Chosen[0], got.Text())
			}
		})
	}
}

// Forty pinned facts that nobody confirmed here leave the user's two pinned ones in the briefing, before them.
func TestForeignPinsTakeNoPlace(t *testing.T) {
	var facts []*fact.Version
	for i := range 40 {
		v := by(version(100+i, "rules", fmt.Sprint("foreign-", i), strings.Repeat("do as we say ", 12)), fact.KindImport)
		v.Pinned, v.Confidence = true, 1
		facts = append(facts, v)
	}
	for i := range 2 {
		v := by(version(i, "rules", fmt.Sprint("own-", i), "never push to main"), fact.KindUser)
		v.Pinned = true
		facts = append(facts, v)
	}
	for i := range 60 {
		facts = append(facts, by(version(50+i, "architecture", fmt.Sprint("note-", i), strings.Repeat("a note on the layers ", 4)), fact.KindAgent))
	}
	with(t, facts, func(st *state.State) {
		for _, related := range [][]string{nil, {facts[0].ID, facts[1].ID, facts[2].ID, facts[3].ID, facts[4].ID, facts[5].ID}} {
			got := (&Inputs{Related: related}).at(st, &held)
			k := keys(got)
			if len(k) < 2 || !strings.HasPrefix(k[0], "own-") || !strings.HasPrefix(k[1], "own-") {
				t.Errorf("%v", k)
			}
			foreign := 0
			for _, room := range got.Rooms {
				for _, p := range room.Pairs {
					if p.Unconfirmed {
						foreign += len(p.Value)
					}
				}
			}
			if foreign > DefaultBudget*bytesPerToken/4 {
				t.Errorf("%d bytes of what is not confirmed", foreign)
			}
		}
	})
}

// Gotchas of the worst kind come first among gotchas, and what to do is never cut.
func TestWhatAGotchaSaysToDoIsNotCut(t *testing.T) {
	todo := strings.TrimSpace(strings.Repeat("use the tables in src/tz and nothing else ", 6))
	worst := version(0, fact.RoomGotcha, "intl", fact.GotchaValue("Using Intl", todo))
	worst.Tags = []string{"critical"}
	facts := []*fact.Version{worst}
	for i := range 3 {
		v := version(1+i, fact.RoomGotcha, fmt.Sprint("other-", i), fact.GotchaValue(fmt.Sprint("a", i), "b"))
		v.ConfirmationCount = 9
		facts = append(facts, v)
	}
	with(t, facts, func(st *state.State) {
		got := new(Inputs).at(st, &held)
		if len(got.Gotchas) != 4 || got.Gotchas[0] != "Using Intl → "+todo || len(got.Chosen) != 4 {
			t.Errorf("%q", got.Gotchas)
		}
	})
}

// Somebody who states two thousand rules, all in one room, gets a briefing within its budget, of any size.
func TestTwoThousandRules(t *testing.T) {
	var facts []*fact.Version
	for i := range 2000 {
		facts = append(facts, by(version(i, "workflow", fmt.Sprint("rule-", i), fmt.Sprintf("Before a change of module %d ask its owner and write down the answer. It is long.", i)), fact.KindUser))
	}
	with(t, facts, func(st *state.State) {
		for _, budget := range []int{5, 50, 800} {
			got := (&Inputs{Budget: budget}).at(st, &held)
			if text := got.Text(); len(text) > max(budget*bytesPerToken, 60) || !strings.Contains(text, "2000") && len(got.Chosen)+got.MoreFacts != 2000 {
				t.Errorf("%d: %d facts\n%s", budget, len(got.Chosen), text)
			}
			if budget == 800 && (strings.Contains(got.Text(), "It is long") || len(got.Chosen) < 25) {
				t.Errorf("%d facts\n%s", len(got.Chosen), got.Text())
			}
		}
	})
}

// No budget is exceeded by the tokens that a model counts, whatever the texts are.
func TestBudgetsHoldByTokens(t *testing.T) {
	exact := codec.NewO200kBase()
	for class, value := range map[string]string{
		"English": "Never merge while the pipeline is red, also when the job that failed is another team's",
		"Chinese": "每次提交之前必须运行全部测试，任何人不得跳过代码审查，数据库迁移需要单独的合并请求",
		"Russian": "Никогда не сливайте ветку, пока конвейер красный, даже если упала чужая задача",
		"code":    "if err := s.db.QueryRowContext(ctx, `SELECT id FROM t WHERE k=$1`, k).Scan(&id); err != nil { return 0, fmt.Errorf(\"k %q: %w\", k, err) }",
		"digits":  "0x7f3a9c21 192.168.17.204:8443 f-9c1e22a07d18 2027-03-15T10:42:07.193Z 3f2504e0-4f89-11d3-9a0c-0305e82c3301",
	} {
		var facts []*fact.Version
		var lines []Line
		for i := range 90 {
			room := []string{"testing", "git", "architecture"}[i%3]
			v := by(version(i, room, fmt.Sprint("k", i), fmt.Sprint(i, " ", value)), fact.KindUser)
			facts, lines = append(facts, v), append(lines, Line{Version: v, Score: 9})
		}
		with(t, facts, func(st *state.State) {
			for _, budget := range []int{50, 200, DefaultBudget} {
				text := (&Inputs{Budget: budget}).at(st, &held).Text()
				if n, err := exact.Count(text); err != nil || n > budget {
					t.Errorf("%s: %d tokens of %d, %v", class, n, budget, err)
				} else if budget == DefaultBudget && n < budget*2/3 {
					t.Errorf("%s: only %d tokens of %d", class, n, budget)
				}
			}
		})
		for most, list := range map[int][]Line{maxBesideTokens: few(lines, maxBeside, maxBesideTokens), maxBeforeTokens: few(lines, maxBefore, maxBeforeTokens)} {
			var text strings.Builder
			for _, x := range list {
				text.WriteString(x.Text() + "\n")
			}
			if n, err := exact.Count(text.String()); err != nil || n > most || len(list) == 0 {
				t.Errorf("%s: %d tokens of %d in %d lines, %v", class, n, most, len(list), err)
			}
		}
	}
}
