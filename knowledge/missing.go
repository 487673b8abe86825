package knowledge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/internal/prose"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/recall"
	"leanctx/knowledge/state"
)

// Missing is a fact that a question names and that has no current value, with what
// became of it.
type Missing struct {
	Category string    `json:"category"`
	Key      string    `json:"key"`
	Value    string    `json:"value,omitempty"` // the last one that it had; none if it is only planned
	Removed  bool      `json:"removed,omitempty"`
	At       time.Time `json:"at,omitzero"` // when it was removed, or ended
	By       string    `json:"by,omitempty"`
	Reason   string    `json:"reason,omitempty"` // why it was removed, as given
	Planned  *Plan     `json:"planned,omitempty"`
	Now      string    `json:"now,omitempty"` // where the fact has another value now
	fact.Trust
}

// Plan is what a fact will become.
type Plan struct {
	From  time.Time `json:"from"`
	Value string    `json:"value,omitempty"` // none: it ends then
	By    string    `json:"by,omitempty"`
	fact.Trust
}

// maxMissing is how many missing facts an answer tells of.
const maxMissing = 3

// MissingOf tells what became of a fact; ok is false if it has a value now, or never
// was believed.
func MissingOf(vs []*fact.Version, now time.Time) (m Missing, ok bool) {
	if fact.Current(vs, now) != nil {
		return m, false
	}
	var last *fact.Version // the last to end
	for _, v := range vs {
		at := v.RetractedAt
		if fact.EndGiven(v) {
			if at = v.ValidUntil; at.After(now) {
				continue // it is planned
			}
		}
		if at != nil && at.After(m.At) {
			last, m.At = v, *at
		}
	}
	for _, h := range fact.Timeline(vs, now) {
		if end := h.Period.Until; h.RetractedAt == nil && end != nil && !end.After(now) && end.After(m.At) {
			last, m.At = h.Version, *end
		}
	}
	m.Planned = planOf(vs, now)
	if last == nil && m.Planned == nil {
		return m, false
	}
	m.Category, m.Key = vs[0].Category, vs[0].Key
	if last != nil {
		m.Value, m.By, m.Reason, m.Trust = last.Value, fact.RetractedBy(last), last.RetractedReason, fact.TrustIn(last)
		m.Removed = last.RetractedAt != nil && !fact.EndGiven(last)
	}
	return m, true
}

// planOf is the first change of a fact that is planned, nil if there is none.
func planOf(vs []*fact.Version, now time.Time) (plan *Plan) {
	for _, h := range fact.Timeline(vs, now) {
		p := h.Period
		if p.From.After(now) && (plan == nil || !p.From.After(plan.From)) {
			plan = &Plan{From: p.From, Value: h.Value, By: AuthorOf(h.Version), Trust: fact.TrustIn(h.Version)}
		}
		if p.Contains(now) && p.Until != nil && !h.Also && (plan == nil || p.Until.Before(plan.From)) {
			plan = &Plan{From: *p.Until}
		}
	}
	return plan
}

// missingNamed adds the facts without a current value that go by a key.
func (r *Recalled) missingNamed(k state.Reader) {
	f := &r.query
	for _, n := range k.Named(f.Key) {
		vs := k.Versions(n)
		if slices.ContainsFunc(vs, func(v *fact.Version) bool { return fact.GoesBy(v, f.Key) }) {
			r.addMissing(vs)
		}
	}
}

// missingIn adds the facts without a current value that a question in words names.
func (r *Recalled) missingIn(parsed *recall.Question, valueless [][]*fact.Version) {
	for _, vs := range valueless {
		v := vs[len(vs)-1]
		if slices.ContainsFunc(append([]string{v.Key}, v.Aliases...), func(name string) bool { return parsed.Names(v.Category, name) }) {
			r.addMissing(vs)
		}
	}
}

func (r *Recalled) addMissing(vs []*fact.Version) {
	f := &r.query
	if f.hasTime || f.Prompt || f.archived || len(r.Missing) == maxMissing || f.Category != "" && fact.IDOf(f.Category, "") != fact.IDOf(vs[0].Category, "") {
		return
	}
	if m, ok := MissingOf(vs, f.now); ok {
		r.Missing = append(r.Missing, m)
	}
}

// Line says what became of the fact.
func (m Missing) Line() string {
	var parts []string
	if !m.At.IsZero() {
		what := "ended "
		if m.Removed {
			what = "removed "
		}
		was := "was " + m.Quote(m.Value)
		if m.Now != "" {
			was += ", now '" + prose.Brief(m.Now) + "'"
		}
		if m.Reason != "" {
			was += ", reason: '" + prose.Brief(m.Reason) + "'"
		}
		parts = append(parts, what+fact.Day(m.At)+by(m.By)+" ("+was+")")
	}
	if m.Planned != nil {
		parts = append(parts, m.Planned.text())
	}
	return fmt.Sprintf("No current fact [%s/%s]: %s.", prose.Name(m.Category), prose.Name(m.Key), strings.Join(parts, ", "))
}

func (p *Plan) text() string {
	if p.Value == "" {
		return "ends " + fact.Day(p.From)
	}
	return "planned from " + fact.Day(p.From) + ": " + p.Quote(p.Value) + by(p.By)
}

func by(author string) string {
	if author == "" {
		return ""
	}
	return " by " + prose.Name(author)
}
