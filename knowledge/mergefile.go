package knowledge

import (
	"fmt"
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/ledger"
)

// clean redacts everything a file brings and takes out what cannot be stored.
func (m *merger) clean(p *formats.Parsed) {
	for _, bad := range p.Bad {
		m.r.Bad = append(m.r.Bad, BadLine{bad.Line, bad.Err.Error()})
	}
	if d := p.Document; d != nil {
		m.cleanDocument(d)
	}
	good, lines := p.Records[:0], p.Lines[:0]
	for i, r := range p.Records {
		m.text(&r.Category, &r.Key, &r.Value, &r.Source)
		if _, err := m.claim(r); err != nil {
			m.r.Bad = append(m.r.Bad, BadLine{p.Lines[i], err.Error()})
			continue
		}
		good, lines = append(good, r), append(lines, p.Lines[i])
	}
	p.Records, p.Lines = good, lines
	slices.SortStableFunc(m.r.Bad, func(a, b BadLine) int { return a.Line - b.Line })
}

func (m *merger) text(texts ...*string) {
	for _, s := range texts {
		clean, found := m.store.redact(*s)
		*s, m.r.Redacted = clean, m.r.Redacted+len(found)
	}
}

func (m *merger) texts(list []string) {
	for i := range list {
		m.text(&list[i])
	}
}

func (m *merger) cleanDocument(d *formats.Document) {
	d.Facts = slices.DeleteFunc(d.Facts, func(v *fact.Version) bool {
		m.text(&v.Category, &v.Key, &v.Value)
		m.texts(v.Tags)
		m.texts(v.Aliases)
		for i := range v.Sources {
			m.text(&v.Sources[i].Ref)
		}
		return !m.whole && m.refused(v)
	})
	for i := range d.Patterns {
		m.text(&d.Patterns[i].Type, &d.Patterns[i].Description)
		m.texts(d.Patterns[i].Examples)
	}
	for i := range d.Gotchas {
		m.text(&d.Gotchas[i].Trigger, &d.Gotchas[i].Resolution)
	}
	for i := range d.Reminders {
		m.text(&d.Reminders[i].Text, &d.Reminders[i].Keyword, &d.Reminders[i].Path)
	}
	for i := range d.History {
		m.text(&d.History[i].Summary)
	}
}

// refused reports whether a version of a fact file breaks a rule that every
// assertion obeys. Such a file has no lines to name; the fact is named.
func (m *merger) refused(v *fact.Version) bool {
	c := claim{category: v.Category, key: v.Key, value: v.Value, confidence: v.Confidence}
	err := c.check()
	if err == nil {
		err = checkName("key", v.Key)
	}
	if err != nil {
		m.r.Bad = append(m.r.Bad, BadLine{Problem: fmt.Sprintf("[%s/%s]: %v", prose.Line(prose.Clip(v.Category, 40)), prose.Line(prose.Clip(v.Key, 40)), err)})
	}
	return err != nil
}

// claim is a record as an assertion, checked like any other.
func (m *merger) claim(r formats.Record) (claim, error) {
	c, err := m.store.claim(Assertion{Category: r.Category, Key: r.Key, Value: r.Value, Confidence: r.Confidence, Privacy: r.Privacy})
	if err != nil {
		return c, err
	}
	c.source.Kind, c.source.Ref = KindImport, r.Source
	c.from, c.until = r.ValidFrom, r.ValidUntil
	if c.from == nil {
		c.from = r.Timestamp
	}
	if c.from != nil && c.until != nil && !c.from.Before(*c.until) {
		return c, refusal.Argument("valid_until", "valid_until %s is not after valid_from %s", c.until.Format(time.RFC3339), c.from.Format(time.RFC3339))
	}
	if c.from == nil && c.until != nil && !m.store.clock().Before(*c.until) {
		return c, refusal.Argument("valid_until", "valid_until %s is over, and there is no valid_from", c.until.Format(time.RFC3339))
	}
	return c, nil
}

// settle makes the versions of a file's fact obey our rule that no two
// overlap: the later one ends the earlier. What is in order stays as it is.
func (m *merger) settle(vs []*fact.Version, foreign bool) []*fact.Version {
	out := slices.Clone(vs)
	slices.SortStableFunc(out, fact.ByPeriod)
	last := -1
	for i, v := range out {
		if foreign {
			v = m.adopted(v)
			out[i] = v
		}
		if !fact.Believed(v) {
			continue
		}
		if v.ValidUntil != nil && !v.ValidFrom.Before(*v.ValidUntil) {
			out[i] = fact.Disbelieve(v, m.now)
			continue
		}
		if last >= 0 && fact.Before(v.ValidFrom, out[last].ValidUntil) {
			w := *out[last]
			w.ValidUntil = &v.ValidFrom
			if !w.ValidFrom.Before(v.ValidFrom) {
				w = *fact.Disbelieve(out[last], m.now)
			}
			out[last] = &w
		}
		last = i
	}
	return out
}

// adopted gives a version of the existing program what ours have beside.
func (m *merger) adopted(v *fact.Version) *fact.Version {
	w := *v
	if w.Privacy == PrivacyProjectOnly && !m.in.KeepPrivacy {
		w.Privacy = PrivacyShared
	}
	if len(w.Sources) == 0 {
		w.Sources = []Source{{Kind: KindImport, By: w.SourceSession, At: w.RecordedFrom, Confidence: w.Confidence}}
	}
	return &w
}

// tombstones come before the facts: a name that was erased may have been
// remembered again since.
func (m *merger) tombstones(d *formats.Document) {
	for _, t := range d.Tombstones {
		n := fact.IDOf(t.Category, t.Key)
		if _, erased := m.st.Erased(n); !erased && len(m.st.Versions(n)) == 0 {
			m.events = append(m.events, ledger.Event{Erase: &t})
		}
	}
}

// lessons merges the rest of a fact file: what is there already stays, unless
// merge is replace.
func (m *merger) lessons(d *formats.Document) {
	add := func(e ledger.Event) func(there, equal bool) {
		return func(there, equal bool) {
			if !there || !equal && m.in.Merge == mergeReplace {
				m.events = append(m.events, e)
			}
			if !there {
				m.r.Lessons++
			}
		}
	}
	for _, p := range d.Patterns {
		add(ledger.Event{Pattern: &p})(known(m.st.Patterns, p, ledger.SamePattern))
	}
	for _, g := range d.Gotchas {
		add(ledger.Event{Gotcha: &g})(known(m.st.Gotchas, g, func(a, b formats.Gotcha) bool {
			return ledger.SameGotcha(a, b) || formats.FoldName(a.Trigger) == formats.FoldName(b.Trigger)
		}))
	}
	for _, x := range d.Relations {
		add(ledger.Event{Relate: &x})(known(m.st.Relations, x, ledger.SameRelation))
	}
	for _, x := range d.Reminders {
		add(ledger.Event{Remind: &x})(known(m.st.Reminders, x, ledger.SameReminder))
	}
}

// log merges verdicts, notes and members we do not know. They are records of
// what happened: there is nothing to replace.
func (m *merger) log(d *formats.Document) {
	for _, p := range d.JudgedPairs {
		if _, equal := known(m.st.Judged, p, func(a, b formats.JudgedPair) bool { return identical(a, b) }); !equal {
			m.events = append(m.events, ledger.Event{Judge: &p})
		}
	}
	for _, h := range d.History {
		if _, equal := known(m.st.History, h, func(a, b formats.Insight) bool { return identical(a, b) }); !equal {
			m.events = append(m.events, ledger.Event{Note: &h})
		}
	}
	if len(d.Extra) > 0 && len(m.st.Extra) == 0 && d.Schema > 0 {
		m.events = append(m.events, ledger.Event{Extra: d.Extra})
	}
}
