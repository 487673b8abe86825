package knowledge

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Lesson is a convention of the project.
type Lesson struct {
	Type      string   `json:"pattern_type,omitempty" jsonschema:"what the convention is about, e.g. naming; made from its first words when missing"`
	Value     string   `json:"value" arg:"1" long:"true" jsonschema:"the convention"`
	Examples  []string `json:"examples,omitempty" long:"true" jsonschema:"examples of it"`
	Source    string   `json:"source,omitempty" jsonschema:"where it comes from, e.g. src/auth.ts:12 or user"`
	Also      bool     `json:"also,omitempty" jsonschema:"add this convention and keep the others of its type"`
	Questions string   `json:"questions,omitempty" jsonschema:"up to three short questions that this answers, in other words than the value, separated by ;"`
}

// Mistake is something that went wrong and how to do it right.
type Mistake struct {
	Trigger    string `json:"trigger" arg:"1" long:"true" jsonschema:"what leads to it"`
	Resolution string `json:"resolution" arg:"2" long:"true" jsonschema:"what to do instead"`
	Severity   string `json:"severity,omitempty" enum:"critical,warning,info" jsonschema:"how bad it is (default warning, or what it was)"`
	Source     string `json:"source,omitempty" jsonschema:"where it comes from, e.g. src/auth.ts:12 or user"`
	Questions  string `json:"questions,omitempty" jsonschema:"up to three short questions that this answers, in other words than the value, separated by ;"`
}

// Learned is what became of a [Lesson] or a [Mistake], which is an assertion like any other.
type Learned struct {
	Remembered
	Severity string `json:"severity,omitempty"` // of a gotcha
}

// Text gives the answer's lines.
func (l Learned) Text() string { return l.TextIn(prose.MCP) }

// TextIn gives the answer's lines in the caller's syntax.
func (l Learned) TextIn(call prose.Syntax) string {
	if l.Outcome == Disputed {
		return l.Remembered.TextIn(call)
	}
	var b strings.Builder
	what, label, verb := "Pattern", l.Key, map[Outcome]string{Created: "added", Added: "added", Planned: "added"}[l.Outcome]
	if l.Severity != "" {
		what, label = "Gotcha", l.Severity
	}
	switch {
	case l.Outcome == Confirmed:
		verb = fmt.Sprintf("confirmed %dx", l.Confirmations)
	case verb == "":
		verb = "updated"
	case l.Severity != "":
		verb = "recorded"
	}
	if l.Severity != "" {
		fmt.Fprintf(&b, "%s %s: [%s] %s", what, verb, label, prose.Brief(l.Value))
	} else {
		fmt.Fprintf(&b, "%s [%s] %s: %s", what, prose.Name(label), verb, prose.Brief(l.Value))
	}
	if l.Outcome == Added {
		b.WriteString(" (" + countValues(l.held) + ")")
	}
	l.details(&b, call)
	return b.String()
}

// Pattern records a convention. The same one again confirms it and adds its examples. Another one of
// the same type is judged like any other change of a fact.
func Pattern(ctx context.Context, s *Store, a Lesson) (Learned, error) {
	if err := refusal.Required("value", a.Value); err != nil {
		return Learned{}, err
	}
	c, err := s.Check(Assertion{
		Category: fact.RoomPattern, Key: a.Type, Value: a.Value, Examples: a.Examples, Source: a.Source, Also: a.Also, Questions: a.Questions,
	})
	if err != nil {
		return Learned{}, renamed(err, "key", "pattern_type")
	}
	r, err := s.assert(ctx, c, nil)
	return Learned{Remembered: r}, err
}

// renamed is an error about an argument, as the caller knows it.
func renamed(err error, argument, as string) error {
	if e, ok := errors.AsType[*refusal.ArgumentError](err); ok && e.Argument == argument {
		x := *e
		x.Argument, x.Problem = as, strings.Replace(e.Problem, argument, as, 1)
		return &x
	}
	return err
}

// Gotcha records a mistake not to repeat. The same one again confirms it. Another resolution for its
// trigger is judged like any other change of a fact.
func Gotcha(ctx context.Context, s *Store, m Mistake) (Learned, error) {
	in := input{secrets: s.secrets}
	trigger, resolution := in.value("trigger", m.Trigger), in.value("resolution", m.Resolution)
	if in.err != nil {
		return Learned{}, in.err
	}
	severity := strings.ToLower(strings.TrimSpace(m.Severity))
	if severity != "" && !fact.IsSeverity(severity) {
		return Learned{}, refusal.Argument("severity", "severity %q is none of %s", prose.Clip(m.Severity, 40), strings.Join(fact.Severities, ", "))
	}
	a := Assertion{Category: fact.RoomGotcha, Value: fact.GotchaValue(trigger, resolution), Source: m.Source, Questions: m.Questions}
	if severity != "" {
		a.Tags = []string{severity}
	}
	c, err := s.Check(a)
	if err != nil {
		return Learned{}, renamed(err, "value", "resolution")
	}
	c.Redacted = append(in.redacted, c.Redacted...)
	var l Learned
	l.Remembered, err = s.assert(ctx, c, func(st state.Reader, c *Checked) {
		c.Category, c.Key = fact.GotchaNamed(trigger, st.Versions)
		vs := st.Versions(fact.IDOf(c.Category, c.Key))
		if len(vs) == 0 && len(c.Tags) == 0 {
			c.Tags = []string{fact.Severities[1]}
		}
		v := &fact.Version{Tags: c.Tags}
		if len(vs) > 0 && len(c.Tags) == 0 {
			v = vs[len(vs)-1]
		}
		l.Severity = fact.SeverityOf(v)
	})
	return l, err
}
