package state

import (
	"maps"
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/knowledge/fact"
)

// What a member of a team may say. It may write any commit, also one that this program would not:
// what its events may do is decided here, not by who wrote them.

// Others is [journal.Wary.Others]. Whole facts and lists are set only by a sync with the project's
// repository, on the machine that it is of: a project in a team has none. So history stays. Nobody
// says for another machine which replica it is and whom it trusts. What a user said is ended, unpinned,
// renamed and erased by a user alone.
func (machine) Others(s *State, at time.Time, events []Event) []Event {
	out := events[:0]
	for _, e := range events {
		switch {
		case e.Replica != nil:
			continue
		case e.Replace != nil && e.Replace.Renames == nil:
			continue
		case e.Replace != nil: // an import brings which names its facts had
			e.Replace = &Replacement{Renames: e.Replace.Renames}
		}
		e.others = true
		e.bound()
		out = append(out, e)
	}
	if slices.ContainsFunc(out, Event.ofUser) {
		return out
	}
	lost := takenFromUser(s, at, out)
	for _, n := range s.takenBack(out) {
		delete(lost, n)
	}
	return slices.DeleteFunc(out, func(e Event) bool {
		return slices.ContainsFunc(e.facts(), func(n fact.ID) bool { return lost[n] })
	})
}

// ofUser reports whether an event says that its commit is a user's, or an import: that has decided about
// each fact by who said it.
func (e Event) ofUser() bool {
	return e.Author != nil && e.Author.Kind == fact.KindUser || e.Note != nil && e.Note.Kind == NoteImport
}

// takenBack are the facts of the commit that some events take back: an author may undo its own last one.
func (s *State) takenBack(events []Event) []fact.ID {
	for _, e := range events {
		if a := e.Author; a != nil && a.Undo {
			c, _ := s.LastCommit(a.By, a.Kind, a.Clock)
			return TouchedFacts(c)
		} else if a != nil && a.Import != "" {
			c, _ := s.ImportCommit(a.Import, a.Clock)
			return TouchedFacts(c)
		}
	}
	return nil
}

// facts are those whose versions an event changes.
func (e Event) facts() []fact.ID {
	switch {
	case e.Put != nil:
		return []fact.ID{fact.IDOf(e.Put.Category, e.Put.Key)}
	case e.Confirm != nil:
		return []fact.ID{fact.IDOf(e.Confirm.Category, e.Confirm.Key)}
	case e.Erase != nil:
		return []fact.ID{fact.IDOf(e.Erase.Category, e.Erase.Key)}
	case e.Rename != nil:
		return []fact.ID{fact.IDOf(e.Rename.From.Category, e.Rename.From.Key), fact.IDOf(e.Rename.To.Category, e.Rename.To.Key)}
	}
	return nil
}

// takenFromUser are the facts of which some events take what only a user may: see [fact.UsersAlone]. It
// looks at what the events lead to, not at each: an agent's assertion may join a version of the user
// with others of the same value.
func takenFromUser(s *State, at time.Time, events []Event) (lost map[fact.ID]bool) {
	before, after := map[fact.ID][]*fact.Version{}, New()
	for _, e := range events {
		for _, n := range e.facts() {
			if _, known := before[n]; known {
				continue
			}
			vs := s.Versions(n)
			after.facts[n] = vs
			for _, v := range vs {
				after.names[v.ID] = n
			}
			before[n] = usersNow(vs, at)
		}
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(before)), func(vs []*fact.Version) bool { return len(vs) > 0 }) {
		return nil
	}
	for _, e := range events {
		if e.facts() != nil {
			e.kind().fold(after)
		}
	}
	lost = map[fact.ID]bool{}
	for n, said := range before {
		for _, v := range said {
			lost[n] = lost[n] || !stands(v, s.Versions(n), after.Versions(n), at)
		}
	}
	return lost
}

// usersNow are the versions that hold now or later and are for a user alone to change.
func usersNow(vs []*fact.Version, at time.Time) (out []*fact.Version) {
	for _, v := range vs {
		if fact.UsersAlone(v) && fact.Believed(v) && fact.Before(at, v.ValidUntil) {
			out = append(out, v)
		}
	}
	return out
}

// stands reports whether what a version says still holds as long, pinned as before, and nothing new holds
// in its place.
func stands(v *fact.Version, before, after []*fact.Version, at time.Time) bool {
	there := slices.ContainsFunc(usersNow(after, at), func(w *fact.Version) bool {
		longer := w.ValidUntil == nil || v.ValidUntil != nil && !w.ValidUntil.Before(*v.ValidUntil)
		return (w.ID == v.ID || w.Value == v.Value) && longer && (w.Pinned || !v.Pinned)
	})
	return there && !slices.ContainsFunc(after, func(w *fact.Version) bool {
		return w.Value != v.Value && fact.WithID(before, w.ID) == nil && fact.Believed(w) && !w.Also && !v.Also && fact.PeriodOf(w).Overlaps(fact.PeriodOf(v))
	})
}

// maxCount is the most that a count of a member is taken for. Nobody confirms a fact so often, and the
// next confirmation must not make a negative number of it.
const maxCount = 1_000_000

// bound puts the numbers of a member's event between their limits.
func (e *Event) bound() {
	count := func(all ...*int) {
		for _, n := range all {
			*n = min(max(*n, 0), maxCount)
		}
	}
	sure := func(all ...*float64) {
		for _, x := range all {
			*x = min(max(*x, 0), 1)
		}
	}
	sources := func(all []formats.Source) {
		for i := range all {
			sure(&all[i].Confidence)
			for j := range all[i].Files {
				all[i].Files[j].Size = max(all[i].Files[j].Size, 0)
			}
		}
	}
	if v := e.Put; v != nil {
		count(&v.RetrievalCount, &v.ConfirmationCount, &v.FeedbackUp, &v.FeedbackDown, &v.RevisionCount)
		sure(&v.Confidence)
		sources(v.Sources)
	}
	if c := e.Confirm; c != nil {
		sure(&c.Confidence, &c.Source.Confidence)
	}
	if g := e.Gotcha; g != nil {
		count(&g.Occurrences)
		sure(&g.Confidence)
	}
	for _, r := range []*formats.Relation{e.Relate, e.Unrelate} {
		if r != nil {
			count(&r.Count)
		}
	}
	if d := e.Dispute; d != nil {
		sure(&d.Confidence, &d.Source.Confidence)
	}
}

// OthersState is [journal.WaryOfStates.OthersState].
func (machine) OthersState(s *State) *State {
	s.Replica = nil
	return s
}

// kept is the version v that another machine puts in the place of old, with what nothing changes:
// what was said, when it was recorded, and who said it first.
func kept(old, v *fact.Version) *fact.Version {
	w := *v
	w.Value, w.RecordedFrom, w.CreatedAt = old.Value, old.RecordedFrom, old.CreatedAt
	if len(old.Sources) > 0 {
		first := old.Sources[0]
		same := func(x formats.Source) bool { return x.Kind == first.Kind && x.By == first.By && x.At.Equal(first.At) }
		if len(v.Sources) == 0 || !same(v.Sources[0]) {
			w.Sources = append([]formats.Source{first}, slices.DeleteFunc(slices.Clone(v.Sources), same)...)
		}
	}
	return &w
}
