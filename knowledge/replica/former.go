package replica

import (
	"leanctx/formats"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Former versions of the program wrote patterns and gotchas as lines of their own, each with the whole
// entry. They are about the fact that the entry is now. While the fact has no history but theirs they
// set it, so that it is as the store that wrote them has it; else they are assertions like any other. So
// they are if somebody outside wrote them.

// ofFormer is such an operation: on patterns, or on gotchas.
func ofFormer(gotcha, set bool) operation {
	name := func(l *Line) formats.Name {
		v := l.entry()
		return formats.Name{Category: v.Category, Key: v.Key}
	}
	return operation{
		sound: func(l *Line) bool {
			return (l.Gotcha != nil) == gotcha && (l.Pattern != nil) != gotcha && soundFormer(l.entry())
		},
		facts: func(l *Line) []formats.Name { return []formats.Name{name(l)} },
		about: func(l *Line) string { return factKey(name(l)) },
		rule:  byPolicy,
		apply: func(f *Folded, l *Line) {
			if set {
				f.setFormer(l, l.entry())
			} else {
				f.unsetFormer(l, l.entry())
			}
		},
	}
}

func soundFormer(v *fact.Version) bool {
	c := knowledge.Restated(v)
	c.From, c.Until = nil, nil
	return v.ID != "" && c.Key != "" && (v.Value == "" || c.Validate() == nil)
}

// entry is the pattern or gotcha of a line as a version; nil: it has none.
func (l *Line) entry() *fact.Version {
	switch {
	case l.Pattern != nil:
		return fact.FromPattern(l.Pattern)
	case l.Gotcha != nil:
		return fact.FromGotcha(l.Gotcha)
	}
	return nil
}

// nameOf is the name that the fact of a former line has now.
func (f *Folded) nameOf(l *Line, v *fact.Version) formats.Name {
	n := formats.Name{Category: v.Category, Key: v.Key}
	if l.Gotcha != nil {
		n.Category, n.Key = fact.GotchaNamed(l.Gotcha.Trigger, f.State.Versions)
	}
	return f.nameNow(l, n)
}

func (f *Folded) setFormer(l *Line, v *fact.Version) {
	n := f.nameOf(l, v)
	id := fact.IDOf(n.Category, n.Key)
	vs := f.State.Versions(id)
	if !l.inner() || !fact.Former(vs) || id.Category != v.Category {
		c := knowledge.Restated(v)
		c.Category, c.Key, c.From, c.Tags, c.Source.Kind = n.Category, n.Key, nil, v.Tags, knowledge.KindAgent
		if !l.inner() {
			c.Confidence = proposedConfidence(c.Confidence)
		}
		f.asserted(l, c)
		return
	}
	e := state.Event{Pattern: l.Pattern, Gotcha: l.Gotcha}
	if old := fact.WithID(vs, v.ID); old != nil && l.apart(f.linesAbout[factKey(n)]) {
		e = joined(l, old) // the two were written apart
	}
	f.commit(l, e)
	f.versionLines[v.ID] = append(f.versionLines[v.ID], l.ref())
	f.spoken[spoken{v.ID, v.Sources[0].At.UnixNano()}] = l.writer
}

// joined is what holds of two entries: the later one, with the examples of both and one occurrence more.
func joined(l *Line, old *fact.Version) state.Event {
	if l.Pattern != nil {
		p := *l.Pattern
		p.Examples = union(old.Examples, p.Examples)
		return state.Event{Pattern: &p}
	}
	g := *l.Gotcha
	g.Occurrences = max(g.Occurrences, old.ConfirmationCount+1)
	return state.Event{Gotcha: &g}
}

// unsetFormer drops an entry, unless it was set by a line that the writer had not seen.
func (f *Folded) unsetFormer(l *Line, v *fact.Version) {
	there := f.State.ByID(v.ID)
	if !l.apart(f.versionLines[v.ID]) && (there == nil || knowledge.MayReplace(portableFacts{f.State}, l.by(), there)) {
		e := state.Event{Unpattern: l.Pattern}
		if l.Gotcha != nil {
			e.Ungotcha = l.Gotcha.ID
		}
		f.commit(l, e)
	}
}
