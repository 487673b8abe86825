package state

import (
	"slices"

	"leanctx/formats"
	"leanctx/knowledge/fact"
)

// What a member of a team may say. It may write any commit, also one that this program would not:
// what its events may do is decided here, not by who wrote them.

// Others is [journal.Wary.Others]. Whole facts and lists are set only by a sync with the project's
// repository, on the machine that it is of: a project in a team has none. So history stays. Nobody
// says for another machine which replica it is and whom it trusts.
//
// That an agent of a member ends what a user said is for the member's program to refuse: an author's kind does
// not tell whose word the commit passes on (source=user), and whoever writes another commit writes any kind.
func (machine) Others(events []Event) []Event {
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
	return out
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
