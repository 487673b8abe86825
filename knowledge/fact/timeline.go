package fact

import (
	"slices"
	"time"

	"leanctx/knowledge/verdict"
)

// Held is a believed version with its valid period.
type Held struct {
	*Version
	Period Period
}

// Timeline lists the believed versions of a fact, oldest first, as they are for
// questions about now and later. It is the one place that turns stored periods
// into believed ones. No two of its periods overlap, unless they are those of
// several values.
//
// A boundary that nobody gave is the clock's: a version began, or ended, when it
// was recorded. Such a boundary after now was recorded by a clock that was ahead.
// It counts as just before now, and several keep their order. So what that clock
// recorded has begun, and what it superseded or retracted has ended. A version
// that has begun like this runs to the start of the next one.
func Timeline(vs []*Version, now time.Time) []Held {
	moved := misdated(vs, now)
	held := make([]Held, 0, len(vs))
	for _, v := range vs {
		if Believed(v) {
			held = append(held, Held{v, moved.period(v, now)})
		}
	}
	if len(moved) > 0 {
		held = Separate(held)
	}
	return held
}

// Separate puts versions in the order of their beginnings and ends each where the
// next one of its line begins. Of several values each is a line of its own. A
// version of which nothing is left is not in the result.
func Separate(held []Held) []Held {
	held = slices.DeleteFunc(held, Held.empty)
	slices.SortStableFunc(held, func(a, b Held) int {
		if c := a.Period.From.Compare(b.Period.From); c != 0 {
			return c
		}
		return a.RecordedFrom.Compare(b.RecordedFrom)
	})
	for i := range held {
		for j := i + 1; j < len(held) && Before(held[j].Period.From, held[i].Period.Until); j++ {
			if sameLine(held[i], held[j]) {
				held[i].Period.Until = EarlierEnd(held[i].Period.Until, &held[j].Period.From)
				break
			}
		}
	}
	return slices.DeleteFunc(held, Held.empty)
}

// sameLine reports whether only one of two versions holds at a time.
func sameLine(a, b Held) bool {
	return !a.Also && !b.Also || verdict.Compare(a.Key, a.Value, b.Value) == verdict.Equal
}

func (h Held) empty() bool { return !Before(h.Period.From, h.Period.Until) }

// instants are boundaries of a fact's periods, in order.
type instants []time.Time

// misdated lists the boundaries after now that a clock gave.
func misdated(vs []*Version, now time.Time) (out instants) {
	for _, v := range vs {
		if end := v.ValidUntil; !v.ValidFrom.After(now) && (end == nil || !end.After(now)) || !RecordedAfter(v, now) {
			continue
		}
		if (v.ValidFrom.Equal(v.RecordedFrom) || v.ValidFrom.Equal(v.CreatedAt)) && v.ValidFrom.After(now) {
			out = append(out, v.ValidFrom)
		}
		if end := v.ValidUntil; end != nil && end.After(now) && slices.ContainsFunc(v.Beliefs, func(b Belief) bool { return b.RecordedUntil.Equal(*end) }) {
			out = append(out, *end)
		}
	}
	slices.SortFunc(out, time.Time.Compare)
	return slices.CompactFunc(out, time.Time.Equal)
}

// RecordedAfter reports whether any of v was recorded after an instant.
func RecordedAfter(v *Version, t time.Time) bool {
	n := len(v.Beliefs)
	return v.RecordedFrom.After(t) || n > 0 && v.Beliefs[n-1].RecordedUntil.After(t)
}

// period is that of v with the instants in x counted as just before now.
func (x instants) period(v *Version, now time.Time) Period {
	p := PeriodOf(v)
	if len(x) == 0 {
		return p
	}
	p.From = x.move(p.From, now)
	if p.Until != nil {
		p.Until = new(x.move(*p.Until, now))
	}
	return p
}

func (x instants) move(t, now time.Time) time.Time {
	i := slices.IndexFunc(x, t.Equal)
	if i < 0 {
		return t
	}
	return now.Add(time.Duration(i - len(x)))
}

// PeriodNow is the valid period of v, one of the versions vs of a fact, for questions about now
// and later. See [Timeline]. ok is false where v is not believed.
func PeriodNow(v *Version, vs []*Version, now time.Time) (p Period, ok bool) {
	if !Believed(v) {
		return Period{}, false
	}
	if !RecordedAfter(v, now) {
		return PeriodOf(v), true
	}
	if WithID(vs, v.ID) == nil {
		vs = []*Version{v}
	}
	for _, h := range Timeline(vs, now) {
		if h.ID == v.ID {
			return h.Period, true
		}
	}
	return Period{}, false
}

// HoldsAt reports whether v, one of the versions vs of a fact, is believed to be
// valid at an instant, which is now.
func HoldsAt(v *Version, vs []*Version, now time.Time) bool {
	p, ok := PeriodNow(v, vs, now)
	return ok && p.Contains(now)
}

// Current returns the version of a fact that is believed to be valid now: see
// [Timeline].
func Current(vs []*Version, now time.Time) *Version {
	if !slices.ContainsFunc(vs, func(v *Version) bool { return RecordedAfter(v, now) }) {
		return CurrentAt(vs, now)
	}
	for _, h := range Timeline(vs, now) {
		if h.Period.Contains(now) {
			return h.Version
		}
	}
	return nil
}

// AllCurrent returns the versions of a fact that are believed to be valid now, the
// oldest first: one, or each of several values.
func AllCurrent(vs []*Version, now time.Time) (out []*Version) {
	if !slices.ContainsFunc(vs, func(v *Version) bool { return RecordedAfter(v, now) }) {
		return AllCurrentAt(vs, now)
	}
	for _, h := range Timeline(vs, now) {
		if h.Period.Contains(now) {
			out = append(out, h.Version)
		}
	}
	return out
}

// Settle gives the versions of a fact the periods that [Timeline] says they have at an instant.
// What is recorded next then finds them as they are believed. changed are the versions that
// differ from those stored. now is the recorded time.
func Settle(vs []*Version, present, now time.Time) (settled, changed []*Version) {
	settled = slices.Clone(vs)
	if len(misdated(vs, present)) == 0 {
		return settled, nil
	}
	held := Timeline(vs, present)
	for i, v := range vs {
		if !Believed(v) {
			continue
		}
		w := Disbelieve(v, now)
		if at := slices.IndexFunc(held, func(h Held) bool { return h.ID == v.ID }); at >= 0 {
			if held[at].Period.Equal(PeriodOf(v)) {
				continue
			}
			w = Reperiod(v, held[at].Period, now)
			w.Retraction = v.Retraction
		}
		settled[i], changed = w, append(changed, w)
	}
	return settled, changed
}

// LastEnded is the believed version of a fact that ended last, nil if none has ended.
func LastEnded(vs []*Version, now time.Time) (last *Version) {
	for _, v := range vs {
		if Believed(v) && !Before(now, v.ValidUntil) && (last == nil || v.ValidUntil.After(*last.ValidUntil)) {
			last = v
		}
	}
	return last
}
