package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
	"leanctx/knowledge/verdict"
)

// Lesson is a convention of the project.
type Lesson struct {
	Type      string   `json:"pattern_type" jsonschema:"what the convention is about, e.g. naming"`
	Value     string   `json:"value" arg:"1" jsonschema:"the convention"`
	Examples  []string `json:"examples,omitempty" jsonschema:"examples of it"`
	Questions string   `json:"questions,omitempty" jsonschema:"up to three short questions that this answers, in other words than the value, separated by ;"`
}

// Learned is what became of a [Lesson] or a [Mistake].
type Learned struct {
	Room  string `json:"room"` // pattern or gotcha
	Key   string `json:"key"`
	Value string `json:"value"`
	Times int    `json:"times"`         // how often it was recorded; a pattern counts once
	Known bool   `json:"known"`         // it was there already and was added to
	Was   string `json:"was,omitempty"` // the resolution that a new one took the place of

	Redacted []string `json:"redacted,omitempty"`

	label string
}

// Text gives the answer's line.
func (l Learned) Text() string {
	text := l.line()
	if l.Was != "" {
		text += fmt.Sprintf("\n  The resolution was: %s", prose.Brief(l.Was))
	}
	return text + prose.Redacted(l.Redacted)
}

func (l Learned) line() string {
	if l.Room == state.RoomGotcha {
		verb := "recorded"
		switch {
		case l.Was != "":
			verb = "updated"
		case l.Known:
			verb = fmt.Sprintf("confirmed %dx", l.Times)
		}
		return fmt.Sprintf("Gotcha %s: [%s] %s", verb, l.label, prose.Brief(l.Value))
	}
	verb := "added"
	if l.Known {
		verb = "updated"
	}
	return fmt.Sprintf("Pattern [%s] %s: %s", prose.Line(l.label), verb, prose.Brief(l.Value))
}

// Pattern records a convention. The same one again adds its examples.
func Pattern(ctx context.Context, s *Store, a Lesson) (Learned, error) {
	in := input{secrets: s.secrets}
	kind, description, questions, examples := in.value("pattern_type", a.Type), in.value("value", a.Value), in.questions(a.Questions), in.names("examples", a.Examples)
	if in.err != nil {
		return Learned{}, in.err
	}
	var r Learned
	err := s.UpdateSome(ctx, func(st state.Reader, now time.Time) ([]state.Event, error) {
		p := formats.Pattern{Type: kind, Description: description, Examples: []string{}, SourceSession: s.actor.Session, CreatedAt: now}
		if known, ok := state.Patterns.Find(st.Lists, p); ok {
			p, r.Known = known, true
		}
		p.Examples = merge(p.Examples, examples)
		if questions != nil {
			p.Questions = questions
		}
		p.AssertedBy = cmp.Or(s.actor.Agent, p.AssertedBy)
		r = Learned{Room: state.RoomPattern, Key: p.Type, Value: p.Description, Times: 1, Known: r.Known, Redacted: in.redacted, label: p.Type}
		return []state.Event{{Pattern: &p}}, nil
	})
	return r, err
}

// Mistake is something that went wrong and how to do it right.
type Mistake struct {
	Trigger    string `json:"trigger" arg:"1" jsonschema:"what leads to it"`
	Resolution string `json:"resolution" arg:"2" jsonschema:"what to do instead"`
	Severity   string `json:"severity,omitempty" enum:"critical,warning,info" jsonschema:"how bad it is (default warning)"`
	Questions  string `json:"questions,omitempty" jsonschema:"up to three short questions that this answers, in other words than the value, separated by ;"`
}

// Gotcha records a mistake not to repeat. The same trigger again counts as one
// occurrence more. Another resolution takes the place of the old one, which the
// answer tells.
func Gotcha(ctx context.Context, s *Store, m Mistake) (Learned, error) {
	in := input{secrets: s.secrets}
	trigger, resolution, questions := in.value("trigger", m.Trigger), in.value("resolution", m.Resolution), in.questions(m.Questions)
	if in.err != nil {
		return Learned{}, in.err
	}
	if m.Severity == "" {
		m.Severity = "warning"
	}
	if !slices.Contains([]string{"critical", "warning", "info"}, m.Severity) {
		return Learned{}, refusal.Argument("severity", "severity %q is none of critical, warning, info", prose.Clip(m.Severity, 40))
	}
	var r Learned
	err := s.UpdateSome(ctx, func(st state.Reader, now time.Time) ([]state.Event, error) {
		was := ""
		g := formats.Gotcha{
			ID: "g-" + formats.VersionID(state.RoomGotcha, "", formats.FoldName(trigger), time.Time{}, 0)[2:], Category: "Convention",
			Trigger: trigger, FirstSeen: now, Confidence: 0.9, Source: "AgentReported",
		}
		i := slices.IndexFunc(st.Gotchas, func(h formats.Gotcha) bool { return formats.FoldName(h.Trigger) == formats.FoldName(trigger) })
		if i >= 0 {
			g = st.Gotchas[i]
			if verdict.Compare("", g.Resolution, resolution) != verdict.Equal {
				was, g.Questions = g.Resolution, nil
			}
		}
		g.Resolution, g.Severity, g.LastSeen = resolution, m.Severity, now
		g.Occurrences++
		if questions != nil {
			g.Questions = questions
		}
		g.AssertedBy = cmp.Or(s.actor.Agent, g.AssertedBy)
		r = Learned{Room: state.RoomGotcha, Key: fact.Slug(g.Trigger), Value: g.Trigger + " → " + g.Resolution, Times: g.Occurrences, Known: i >= 0, Was: was, Redacted: in.redacted, label: g.Severity}
		return []state.Event{{Gotcha: &g}}, nil
	})
	return r, err
}

// lessonEvents removes the lessons that go by a key; those with a value, if one
// is named.
func lessonEvents(st state.Reader, w Withdrawal) []state.Event {
	var out []state.Event
	category, key, k := w.Category, w.Key, formats.FoldName(w.Key)
	equal := func(a, b string) bool { return verdict.Compare("", a, b) == verdict.Equal }
	other := func(value string) bool { return w.Value != "" && !equal(value, w.Value) }
	for i, p := range st.Patterns {
		if formats.FoldName(category) == state.RoomPattern && (k == formats.FoldName(p.Type) || equal(key, p.Description)) && !other(p.Description) {
			out = append(out, state.Event{Unpattern: &st.Patterns[i]})
		}
	}
	for _, g := range st.Gotchas {
		if formats.FoldName(category) == state.RoomGotcha && (k == g.ID || k == fact.Slug(g.Trigger) || k == fact.FirstWords(g.Trigger) || equal(key, g.Trigger)) && !other(g.Resolution) {
			out = append(out, state.Event{Ungotcha: g.ID})
		}
	}
	return out
}
