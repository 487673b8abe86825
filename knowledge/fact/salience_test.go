package fact

import (
	"math"
	"testing"
	"time"
)

func TestEffectiveConfidence(t *testing.T) {
	day0 := at(1)
	after := func(days float64) time.Time { return day0.Add(time.Duration(days * 24 * float64(time.Hour))) }
	plain := &Version{Confidence: .8, LastConfirmed: day0, Archetype: "fact"}
	arch := &Version{Confidence: .8, LastConfirmed: day0, Archetype: "architecture"}
	for _, tt := range []struct {
		name string
		v    *Version
		at   time.Time
		r    Retrievals
		want float64
	}{
		{"at once", plain, day0, Retrievals{}, .8},
		{"a clock set back", plain, after(-3), Retrievals{}, .8},
		{"nine days", plain, after(9), Retrievals{}, .7464},
		{"a half-life", plain, after(90), Retrievals{}, .4},
		{"architecture fades slower", arch, after(135), Retrievals{}, .4},
		{"read often, fades slower", plain, after(270), Retrievals{Count: 15}, .4},
		{"the floor", plain, after(5000), Retrievals{}, .05},
		{"never above what was given", &Version{Confidence: .02, LastConfirmed: day0}, after(5000), Retrievals{}, .02},
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
	confirmed.ConfirmationCount = 3
	voted.FeedbackDown = 4
	structural.Archetype = "architecture"
	base := Salience(&plain, day0, Retrievals{})
	if base != 42 {
		t.Errorf("a new plain fact has salience %v, want 40·0.8 + 10", base)
	}
	if Salience(&confirmed, day0, Retrievals{}) <= base || Salience(&structural, day0, Retrievals{}) <= base {
		t.Error("confirmations and archetype should count")
	}
	if Salience(&voted, day0, Retrievals{}) >= base || Salience(&plain, day0.AddDate(0, 0, 60), Retrievals{}) >= base {
		t.Error("votes against and age should count")
	}
	best := Version{Confidence: 1, LastConfirmed: day0, ConfirmationCount: 1 << 30, Archetype: "architecture", FeedbackUp: 1 << 30}
	if got := Salience(&best, day0, Retrievals{Count: 1 << 30}); got > 100 || got < 99.9 {
		t.Errorf("the most is %v, want 100", got)
	}
}
