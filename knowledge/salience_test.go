package knowledge

import (
	"math"
	"testing"
	"time"
)

func TestEffectiveConfidence(t *testing.T) {
	day0 := at(1)
	after := func(days float64) time.Time { return day0.Add(time.Duration(days * 24 * float64(time.Hour))) }
	fact := &Version{Confidence: .8, LastConfirmed: day0, Archetype: "fact"}
	arch := &Version{Confidence: .8, LastConfirmed: day0, Archetype: "architecture"}
	for _, tt := range []struct {
		name string
		v    *Version
		at   time.Time
		r    retrievals
		want float64
	}{
		{"at once", fact, day0, retrievals{}, .8},
		{"a clock set back", fact, after(-3), retrievals{}, .8},
		{"nine days", fact, after(9), retrievals{}, .7464},
		{"a half-life", fact, after(90), retrievals{}, .4},
		{"architecture fades slower", arch, after(135), retrievals{}, .4},
		{"read often, fades slower", fact, after(270), retrievals{count: 15}, .4},
		{"the floor", fact, after(5000), retrievals{}, .05},
		{"never above what was given", &Version{Confidence: .02, LastConfirmed: day0}, after(5000), retrievals{}, .02},
	} {
		if got := effectiveConfidence(tt.v, tt.at, tt.r); math.Abs(got-tt.want) > .0005 {
			t.Errorf("%s: %.4f, want %.4f", tt.name, got, tt.want)
		}
	}
}

// A thousand unrelated writes on the same day leave a fact's confidence alone.
func TestDecayDoesNotCompound(t *testing.T) {
	s := testStore(t, nil)
	s.remember(t, Assertion{Category: "c", Key: "old", Value: "A"})
	s.now = s.now.AddDate(0, 0, 9)
	before := s.only(t, "c", "old").Effective
	for range 1000 {
		s.remember(t, Assertion{Category: "c", Key: "busy", Value: "B"})
	}
	if after := s.only(t, "c", "old").Effective; math.Abs(after-before) > 1e-9 || math.Abs(after-.7464) > .0005 {
		t.Errorf("effective confidence went from %v to %v", before, after)
	}
}

func TestSalience(t *testing.T) {
	day0 := at(1)
	plain := Version{Confidence: .8, LastConfirmed: day0, ConfirmationCount: 1, Archetype: "fact"}
	confirmed, voted, structural := plain, plain, plain
	confirmed.ConfirmationCount = 3
	voted.FeedbackDown = 4
	structural.Archetype = "architecture"
	base := salience(&plain, day0, retrievals{})
	if base != 42 {
		t.Errorf("a new plain fact has salience %v, want 40·0.8 + 10", base)
	}
	if salience(&confirmed, day0, retrievals{}) <= base || salience(&structural, day0, retrievals{}) <= base {
		t.Error("confirmations and archetype should count")
	}
	if salience(&voted, day0, retrievals{}) >= base || salience(&plain, day0.AddDate(0, 0, 60), retrievals{}) >= base {
		t.Error("votes against and age should count")
	}
	best := Version{Confidence: 1, LastConfirmed: day0, ConfirmationCount: 1 << 30, Archetype: "architecture", FeedbackUp: 1 << 30}
	if got := salience(&best, day0, retrievals{count: 1 << 30}); got > 100 || got < 99.9 {
		t.Errorf("the most is %v, want 100", got)
	}
}

func TestArchivable(t *testing.T) {
	day0 := at(1)
	plain := Version{Confidence: .9, LastConfirmed: day0, RecordedFrom: day0, ValidFrom: day0, ConfirmationCount: 1, Archetype: "fact"}
	with := func(change func(*Version)) *Version { v := plain; change(&v); return &v }
	later, long := day0.AddDate(0, 0, 100), 200*24*time.Hour
	for _, tt := range []struct {
		name    string
		v       *Version
		r       retrievals
		covered time.Duration
		want    bool
	}{
		{"idle for 100 days", &plain, retrievals{}, long, true},
		{"no record of retrievals counts as read", &plain, retrievals{}, 0, false},
		{"a record that is too young counts as read", &plain, retrievals{}, 10 * 24 * time.Hour, false},
		{"read lately", &plain, retrievals{count: 1, last: later.AddDate(0, 0, -1)}, long, false},
		{"confirmed twice", with(func(v *Version) { v.ConfirmationCount = 2 }), retrievals{}, long, false},
		{"recorded here lately", with(func(v *Version) { v.RecordedFrom = later }), retrievals{}, long, false},
		{"faded under 30%", with(func(v *Version) { v.Confidence = .5; v.ConfirmationCount = 5 }), retrievals{}, 0, true},
		{"pinned", with(func(v *Version) { v.Pinned = true; v.Confidence = .1 }), retrievals{}, long, false},
		{"structural", with(func(v *Version) { v.Archetype = "convention"; v.Confidence = .1 }), retrievals{}, long, false},
		{"gotcha", with(func(v *Version) { v.Archetype = "gotcha"; v.Confidence = .1 }), retrievals{}, long, false},
		{"history is left alone", with(func(v *Version) { v.ValidUntil = new(day0.AddDate(0, 0, 5)) }), retrievals{}, long, false},
	} {
		if got := archivable(tt.v, later, tt.r, tt.covered); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
