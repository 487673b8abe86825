package fact

import (
	"math"
	"slices"
	"testing"
	"time"

	"leanctx/formats"
)

func TestEffectiveConfidence(t *testing.T) {
	day0 := at(1)
	after := func(days float64) time.Time { return day0.Add(time.Duration(days * 24 * float64(time.Hour))) }
	fact := func(category string, kinds ...string) *Version {
		v := &Version{Category: category, Confidence: .8, LastConfirmed: day0}
		for _, kind := range kinds {
			v.Sources = append(v.Sources, formats.Source{Kind: kind, At: day0})
		}
		return v
	}
	pinned := fact("status")
	pinned.Pinned = true
	for _, tt := range []struct {
		name string
		v    *Version
		at   time.Time
		r    Retrievals
		want float64
	}{
		{"at once", fact("db"), day0, Retrievals{}, .8},
		{"a clock set back", fact("db"), after(-3), Retrievals{}, .8},
		{"a rule lasts a year", fact("convention", KindAgent), after(365), Retrievals{}, .4},
		{"any other category too", fact("zebra", KindAgent), after(365), Retrievals{}, .4},
		{"a status lasts a month", fact("Status", KindAgent), after(30), Retrievals{}, .4},
		{"blockers too", fact("blockers", KindAgent), after(30), Retrievals{}, .4},
		{"read often, it lasts longer", fact("bug"), after(90), Retrievals{Count: 15}, .4},
		{"what a user said stays", fact("workflow", KindAgent, KindUser), after(4000), Retrievals{}, .8},
		{"a user's status does not", fact("status", KindUser), after(30), Retrievals{}, .4},
		{"pinned", pinned, after(4000), Retrievals{}, .8},
		{"a gotcha", fact("gotcha", KindAgent), after(4000), Retrievals{}, .8},
		{"a pattern", fact("pattern", KindAgent), after(4000), Retrievals{}, .8},
		{"the floor", fact("bug"), after(5000), Retrievals{}, .05},
		{"never above what was given", &Version{Confidence: .02, LastConfirmed: day0}, after(50000), Retrievals{}, .02},
	} {
		if got := EffectiveConfidence(tt.v, tt.at, tt.r); math.Abs(got-tt.want) > .0005 {
			t.Errorf("%s: %.4f, want %.4f", tt.name, got, tt.want)
		}
	}
}

func TestSalience(t *testing.T) {
	day0 := at(1)
	plain := Version{Confidence: .8, LastConfirmed: day0, ConfirmationCount: 1, Archetype: "fact"}
	confirmed, voted, structural := plain, plain, plain
	confirmed.Sources = []formats.Source{{Kind: KindAgent, By: "a", At: day0}, {Kind: KindAgent, By: "b", At: day0}}
	repeated := plain
	repeated.ConfirmationCount = 9
	repeated.Sources = slices.Repeat([]formats.Source{{Kind: KindAgent, By: "a", At: day0}}, 9)
	voted.FeedbackDown = 4
	structural.Archetype = "architecture"
	base := Salience(&plain, day0, Retrievals{})
	if base != 42 {
		t.Errorf("a new plain fact has salience %v, want 40·0.8 + 10", base)
	}
	if got := Salience(&repeated, day0, Retrievals{}); got != base {
		t.Errorf("one author who repeats himself raises salience from %v to %v", base, got)
	}
	if Salience(&confirmed, day0, Retrievals{}) <= base || Salience(&structural, day0, Retrievals{}) <= base {
		t.Error("confirmations and archetype should count")
	}
	if Salience(&voted, day0, Retrievals{}) >= base || Salience(&plain, day0.AddDate(0, 0, 60), Retrievals{}) >= base {
		t.Error("votes against and age should count")
	}
	best := Version{Confidence: 1, LastConfirmed: day0, ConfirmationCount: 1 << 30, Archetype: "architecture", FeedbackUp: 1 << 30}
	if got := Salience(&best, day0, Retrievals{Count: 1 << 30}); got > 100 || got < 98.9 {
		t.Errorf("the most is %v, want 100", got)
	}
}
