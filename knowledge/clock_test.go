package knowledge_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	. "leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Whatever the clock does, no two stored periods of a fact overlap, and what was
// asserted last without a period holds now.
func TestNoPeriodsOverlapWhateverTheClock(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := state.NewOverlay(state.New(), nil)
		clock, recorded := at(1), at(1)
		n := fact.IDOf("c", "k")
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			clock = clock.Add(time.Duration(rapid.IntRange(-100, 120).Draw(rt, "hours"))*time.Hour + time.Duration(rapid.IntRange(1, 99).Draw(rt, "ns")))
			recorded = recorded.Add(time.Nanosecond)
			if clock.After(recorded) {
				recorded = clock
			}
			present := fact.Present(clock, recorded)
			if rapid.IntRange(0, 5).Draw(rt, "op") == 0 {
				events, _ := End(o, n, Removal("", Source{Kind: KindAgent}), recorded, present)
				o.Fold(events...)
				if v := fact.Current(o.Versions(n), present); v != nil {
					rt.Fatalf("removed, and %q holds", v.Value)
				}
			} else {
				c := Checked{Category: "c", Key: "k", Value: rapid.SampledFrom([]string{"A", "B", "C"}).Draw(rt, "value"), Confidence: .8, At: clock, Source: Source{Kind: KindAgent}}
				given := func(name string) *time.Time {
					if rapid.IntRange(0, 2).Draw(rt, name+" given") > 0 {
						return nil
					}
					return new(clock.Add(time.Duration(rapid.IntRange(-150, 150).Draw(rt, name)) * time.Hour))
				}
				c.From, c.Until = given("from"), given("until")
				c.Correct = rapid.IntRange(0, 5).Draw(rt, "correct") == 0
				events, _, err := Assert(o, c, recorded)
				o.Fold(events...)
				if v := fact.Current(o.Versions(n), present); err == nil && c.From == nil && c.Until == nil && (v == nil || v.Value != c.Value) {
					rt.Fatalf("%q was asserted, and %+v holds", c.Value, v)
				}
			}
			var held []fact.Held
			for _, v := range o.Versions(n) {
				for _, h := range held {
					if fact.Believed(v) && h.Period.Overlaps(fact.PeriodOf(v)) {
						rt.Fatalf("%q %v overlaps %q %v", v.Value, fact.PeriodOf(v), h.Value, h.Period)
					}
				}
				if fact.Believed(v) {
					held = append(held, fact.Held{Version: v, Period: fact.PeriodOf(v)})
				}
			}
			for _, d := range []time.Duration{0, time.Hour, 90 * time.Hour, 900 * time.Hour} {
				hold := 0
				for _, h := range fact.Timeline(o.Versions(n), present) {
					if h.Period.Contains(present.Add(d)) {
						hold++
					}
				}
				if hold > 1 {
					rt.Fatalf("%d values hold %v from now", hold, d)
				}
			}
		}
	})
}
