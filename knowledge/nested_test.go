package knowledge_test

import (
	"errors"
	"strings"
	"testing"

	"leanctx/formats"
	. "leanctx/knowledge"
	"leanctx/knowledge/advice"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/listing"
	"leanctx/knowledge/state"
)

// There are disputes of disputes. One is a claim against what a verdict made believed. Another
// is a verdict on a claim whose opponent was disputed, judged, replaced or renamed meanwhile. No verdict takes away what was asserted after what it is about.
func TestDisputesOfDisputes(t *testing.T) {
	type step struct {
		say    string // an agent's claim, or after "user " the user's word; "-" is a removal
		accept string // the value of the claim that is judged
		reject string
		fails  string // the verdict is refused with this
	}
	for name, x := range map[string]struct {
		steps []step
		want  string // what is believed, and how the claims stand
	}{
		"two claims, one accepted":                  {[]step{{say: "B"}, {say: "C"}, {accept: "B"}, {accept: "C", fails: "has closed"}, {reject: "C", fails: "has closed"}}, "B; B accepted, C closed"},
		"and taken back, the other is open again":   {[]step{{say: "B"}, {say: "C"}, {accept: "B"}, {reject: "B"}, {accept: "C"}}, "C; B rejected, C accepted"},
		"a claim against the accepted value":        {[]step{{say: "B"}, {accept: "B"}, {say: "D"}}, "B; B accepted, D open"},
		"and accepted too":                          {[]step{{say: "B"}, {accept: "B"}, {say: "D"}, {accept: "D"}}, "D; B accepted, D accepted"},
		"then the first is rejected: D stays":       {[]step{{say: "B"}, {accept: "B"}, {say: "D"}, {accept: "D"}, {reject: "B"}}, "D; B rejected, D accepted"},
		"then the second is rejected: B is back":    {[]step{{say: "B"}, {accept: "B"}, {say: "D"}, {accept: "D"}, {reject: "D"}}, "B; B accepted, D rejected"},
		"the old value against the accepted one":    {[]step{{say: "B"}, {accept: "B"}, {say: "A"}, {accept: "A"}}, "A; B accepted, A accepted"},
		"accepted, then replaced by the user":       {[]step{{say: "B"}, {accept: "B"}, {say: "user E"}, {reject: "B"}}, "E; B rejected"},
		"replaced by the user before the verdict":   {[]step{{say: "B"}, {say: "user E"}, {accept: "B", fails: "has closed"}}, "E; B closed"},
		"removed by the user before the verdict":    {[]step{{say: "B"}, {say: "user -"}, {accept: "B", fails: "has closed"}}, "nothing; B closed"},
		"a removal and a value":                     {[]step{{say: "-"}, {say: "B"}, {accept: "B"}, {accept: "-", fails: "has closed"}}, "B; - closed, B accepted"},
		"a removal accepted: the value has closed":  {[]step{{say: "-"}, {say: "B"}, {accept: "-"}, {accept: "B", fails: "has closed"}}, "nothing; - accepted, B closed"},
		"a removal of the accepted value":           {[]step{{say: "B"}, {accept: "B"}, {say: "-"}, {accept: "-"}}, "nothing; B accepted, - accepted"},
		"a rejected claim made against another one": {[]step{{say: "B"}, {reject: "B"}, {say: "user E"}, {say: "B"}, {accept: "B"}}, "B; B rejected, B accepted"},
	} {
		st, n := state.NewOverlay(state.New(), nil), fact.IDOf("c", "k")
		assert(t, st, claim("A", user, 1), 1)
		for i, s := range x.steps {
			day := i + 2
			value, byUser := strings.CutPrefix(s.say, "user ")
			by := codex
			if byUser {
				by = user
			}
			switch {
			case value == "-":
				events, _ := End(st, n, Removal("", by), at(day), at(day))
				st.Fold(events...)
			case value != "":
				assert(t, st, claim(value, by, .9), day)
			default:
				ds := st.Disputes(n)
				for j := len(ds) - 1; j >= 0; j-- {
					if v := s.accept + s.reject; ds[j].Value != v && !(v == "-" && ds[j].Removal) {
						continue
					}
					events, err := Settle(st, ds[j], s.accept != "", user, "", at(day), at(day))
					if s.fails == "" && err != nil || s.fails != "" && (err == nil || !strings.Contains(err.Error(), s.fails)) {
						t.Errorf("%s, step %d: %v, want %q", name, i, err, s.fails)
					}
					st.Fold(events...)
					break
				}
			}
			wellFormed(t, st.Versions(n))
		}
		got := "nothing"
		if v := fact.CurrentAt(st.Versions(n), at(40)); v != nil {
			got = v.Value
		}
		for i, d := range st.Disputes(n) {
			sep := ", "
			if i == 0 {
				sep = "; "
			}
			what := d.Value
			if d.Removal {
				what = "-"
			}
			got += sep + what + " " + state.DisputeState(st, d, at(40))
		}
		if got != x.want {
			t.Errorf("%s: %s, want %s", name, got, x.want)
		}
	}
}

// What is erased takes its disputes along, and there is nothing left to judge. A renamed
// fact keeps them.
func TestDisputesOfWhatIsGone(t *testing.T) {
	s := testStore(t, nil)
	person := s.As(Actor{Kind: KindUser})
	dispute := func(key string) string {
		t.Helper()
		must[Remembered](t)(person.Remember(t.Context(), Assertion{Category: "c", Key: key, Value: "never"}))
		return must[Remembered](t)(s.Remember(t.Context(), Assertion{Category: "c", Key: key, Value: "always, said the secret"})).Dispute.ID
	}
	judge := func(key, id string) error {
		t.Helper()
		_, err := advice.Judge(t.Context(), person, advice.Verdict{Category: "c", Key: key, Target: id, Verdict: "accept"})
		return err
	}
	gone, moved := dispute("gone"), dispute("old name")
	must[Withdrawn](t)(person.Remove(t.Context(), Withdrawal{Category: "c", Key: "gone", Erase: true}))
	if err := judge("gone", gone); err == nil {
		t.Error("a dispute about what was erased was judged")
	} else if _, ok := errors.AsType[*NotFoundError](err); !ok {
		t.Error(err)
	}
	must[Renamed](t)(Rename(t.Context(), person, NewName{Category: "c", Key: "old name", To: "new name"}))
	if err := judge("old name", moved); err == nil {
		t.Error("a dispute was judged under a name that the fact has no more")
	}
	if err := judge("new name", moved); err != nil {
		t.Error(err)
	}
	list := must[listing.DisputeList](t)(listing.Disputes(t.Context(), s.Store, listing.DisputeQuery{State: "all"}))
	if len(list.Disputes) != 1 || list.Disputes[0].State != formats.DisputeAccepted {
		t.Errorf("%s", list.Text())
	}
}
