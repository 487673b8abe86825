package knowledge

import (
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
	"leanctx/knowledge/verdict"
)

// What has less authority than what is said here
//
// What a stranger wrote about a fact is a proposal until it is confirmed here. Its value may be confirmed,
// refined or replaced. But it shapes nothing of what is said here: neither that the fact has several values,
// nor when a value ends, nor how it is asked for, shown and kept. A plan of somebody with less authority ends
// nothing either: an agent's is withdrawn when the user says what holds. When the user says what an agent has said, only
// the value is the user's: an end, examples and a kind that the agent gave are not.

// setAside gives the events that take the shape of proposals away before something is asserted of the fact. Of
// several values that are proposed now the asserted one stays, else the last. What was planned is withdrawn.
// plans are the plans among them, and bared are those of which something is left out that the answer tells.
func setAside(f state.Facts, a Checked, now, present time.Time) (events []state.Event, plans, bared []*fact.Version) {
	if a.Until != nil && !a.Until.After(present) {
		return nil, nil, nil // it is about the past
	}
	from := present
	if a.From != nil && a.From.After(present) {
		from = *a.From
	}
	vs := f.Versions(fact.IDOf(a.Category, a.Key))
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
		if !fact.Believed(v) || !fact.Before(present, v.ValidUntil) {
			continue
		}
		by := a.Source
		by.Kind = a.kind()
		weak := v.TakenIn || by.Kind == KindUser && authorityOf(f, v) < Authority(KindUser) && MayReplace(f, by, v)
		if planned := v.ValidFrom.After(from) && fact.Before(v.ValidFrom, a.Until); planned && weak && !v.Also && !a.Also && !sameValue(v, a) {
			events, plans = append(events, state.Event{Put: fact.Disbelieve(v, now)}), append(plans, v)
			continue
		}
		if !v.TakenIn {
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
		bare := Bare(w, several)
		if w != v || bare.Also != v.Also || len(v.Tags)-len(bare.Tags)+len(v.Aliases)+len(v.Questions)+len(v.Examples) > 0 || bare.Archetype != v.Archetype {
			events = append(events, state.Event{Put: bare})
		}
	}
	if a.kind() != KindUser {
		return events, plans, nil
	}
	for _, v := range vs {
		if v.TakenIn || !fact.Believed(v) || !fact.PeriodOf(v).Contains(present) || !sameValue(v, a) || !outranks(f, KindUser, v) {
			continue
		}
		bare := *v
		if end := openUntil(vs, plans, v, present); a.Until == nil && v.RetractedBy != KindUser && !fact.SameEnd(v.ValidUntil, end) { // an end that a person gave stays
			bare = *fact.Reperiod(v, fact.Period{From: v.ValidFrom, Until: end}, now)
		}
		bare.Examples, bare.Archetype = nil, formats.Archetype(v.Category)
		if told := len(v.Examples) > 0 || !fact.SameEnd(v.ValidUntil, bare.ValidUntil); told || bare.Archetype != v.Archetype {
			events = append(events, state.Event{Put: &bare})
			if told {
				bared = append(bared, v)
			}
		}
	}
	return events, plans, bared
}

// openUntil is when a present version ends by what others say of the fact: where the next one begins that is not withdrawn.
func openUntil(vs, withdrawn []*fact.Version, v *fact.Version, present time.Time) (end *time.Time) {
	for _, w := range vs {
		if fact.Believed(w) && !w.TakenIn && !v.Also && !w.Also && w.ValidFrom.After(present) && fact.Before(w.ValidFrom, end) && !slices.Contains(withdrawn, w) {
			end = &w.ValidFrom
		}
	}
	return end
}

// outranks reports whether who speaks is the user, and no user has asserted a version.
func outranks(f state.Facts, kind string, v *fact.Version) bool {
	return kind == KindUser && authorityOf(f, v) < Authority(KindUser)
}

// Bare is a proposal without what it would say of how the fact is asked for, shown and kept. Whether the fact
// has several values is not for it to say either.
func Bare(v *fact.Version, several bool) *fact.Version {
	bare := *v
	bare.Also = bare.Also && several
	bare.Tags, bare.Aliases, bare.Questions, bare.QuestionsAt, bare.Examples = []string{}, []string{}, nil, nil, nil
	if fact.IsGotcha(v) {
		bare.Tags = slices.DeleteFunc(slices.Clone(v.Tags), func(tag string) bool { return !fact.IsSeverity(tag) })
	}
	bare.Archetype = formats.Archetype(v.Category)
	return &bare
}

func sameValue(v *fact.Version, a Checked) bool {
	return verdict.Compare(v.Key, v.Value, a.Value) == verdict.Equal
}
