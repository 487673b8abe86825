package knowledge

import (
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
	"leanctx/knowledge/verdict"
)

// What a stranger wrote about a fact is a proposal until it is confirmed here. Its value may be confirmed,
// refined or replaced. But it shapes nothing of what is said here: neither that the fact has several values,
// nor when a value ends, nor how it is asked for, shown and kept.

// setAside gives the events that take the shape of proposals away before something is asserted of the fact. Of
// several values that are proposed now the asserted one stays, else the last. What was planned is withdrawn.
func setAside(f state.Facts, a Checked, now, present time.Time) (events []state.Event) {
	if a.Until != nil && !a.Until.After(present) {
		return nil // it is about the past
	}
	vs := f.Versions(fact.IDOf(a.Category, a.Key))
	if !slices.ContainsFunc(vs, func(v *fact.Version) bool { return v.TakenIn }) {
		return nil
	}
	several := slices.ContainsFunc(vs, func(v *fact.Version) bool {
		return !v.TakenIn && v.Also && fact.Believed(v) && fact.Before(present, v.ValidUntil)
	})
	var held *fact.Version // the proposal that stays
	for _, v := range vs {
		if v.TakenIn && fact.Believed(v) && fact.PeriodOf(v).Contains(present) && (held == nil || !sameValue(held, a) || sameValue(v, a)) {
			held = v
		}
	}
	for _, v := range vs {
		if !v.TakenIn || !fact.Believed(v) || !fact.Before(present, v.ValidUntil) {
			continue
		}
		w := v
		switch {
		case v.ValidFrom.After(present):
			w = fact.Disbelieve(v, now)
		case v != held && !several && v.ValidFrom.Before(present):
			w = fact.Reperiod(v, fact.Period{From: v.ValidFrom, Until: &present}, now)
		case v != held && !several:
			w = fact.Disbelieve(v, now)
		case v.ValidUntil != nil && sameValue(v, a):
			w = fact.Reperiod(v, fact.Period{From: v.ValidFrom}, now)
		}
		bare := *w
		bare.Also = bare.Also && several
		bare.Tags, bare.Aliases, bare.Questions, bare.QuestionsAt, bare.Examples = []string{}, []string{}, nil, nil, nil
		if fact.IsGotcha(v) {
			bare.Tags = slices.DeleteFunc(slices.Clone(v.Tags), func(tag string) bool { return !fact.IsSeverity(tag) })
		}
		bare.Archetype = formats.Archetype(v.Category)
		if w != v || bare.Also != v.Also || len(v.Tags)-len(bare.Tags)+len(v.Aliases)+len(v.Questions)+len(v.Examples) > 0 || bare.Archetype != v.Archetype {
			events = append(events, state.Event{Put: &bare})
		}
	}
	return events
}

func sameValue(v *fact.Version, a Checked) bool {
	return verdict.Compare(v.Key, v.Value, a.Value) == verdict.Equal
}
