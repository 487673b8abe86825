package fact

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"leanctx/formats"
	"leanctx/knowledge/verdict"
)

// Patterns and gotchas are facts of two rooms. The key of a pattern is its type, and examples stand
// beside its value. The value of a gotcha is what leads to the mistake, an arrow, and what to do
// instead; its severity is a tag.

// The rooms of patterns and gotchas, folded.
const (
	RoomPattern = "pattern"
	RoomGotcha  = "gotcha"
)

// Severities are those of a gotcha, the worst first.
var Severities = []string{"critical", "warning", "info"}

// usualSeverity is that of a gotcha without one.
const usualSeverity = "warning"

// arrow divides the value of a gotcha. There is none in its first part.
const arrow = " → "

// IsPattern reports whether v is a pattern.
func IsPattern(v *Version) bool { return formats.FoldName(v.Category) == RoomPattern }

// IsGotcha reports whether v is a gotcha.
func IsGotcha(v *Version) bool { return formats.FoldName(v.Category) == RoomGotcha }

// Critical reports whether v is a gotcha of the worst kind.
func Critical(v *Version) bool { return IsGotcha(v) && SeverityOf(v) == Severities[0] }

// GotchaValue is the value of a gotcha.
func GotchaValue(trigger, resolution string) string {
	trigger = strings.ReplaceAll(trigger, strings.TrimSpace(arrow), "->")
	if trigger == "" || resolution == "" {
		return trigger + resolution
	}
	return trigger + arrow + resolution
}

// GotchaParts takes the value of a gotcha apart. One that somebody gave without an arrow has no
// resolution.
func GotchaParts(value string) (trigger, resolution string) {
	trigger, resolution, _ = strings.Cut(value, arrow)
	return trigger, resolution
}

// SeverityOf is the severity of a gotcha: one of [Severities].
func SeverityOf(v *Version) string {
	for _, t := range v.Tags {
		if t = strings.ToLower(t); slices.Contains(Severities, t) {
			return t
		}
	}
	return usualSeverity
}

// WorstFirst orders gotchas: what is unconfirmed last, then by severity, then by how often it was
// recorded.
func WorstFirst(a, b *Version) int {
	rank := func(v *Version) int { return slices.Index(Severities, SeverityOf(v)) }
	return cmp.Or(UnconfirmedLast(a, b), cmp.Compare(rank(a), rank(b)), cmp.Compare(b.ConfirmationCount, a.ConfirmationCount), strings.Compare(a.Value, b.Value))
}

// IsSeverity reports whether a tag of a gotcha is its severity.
func IsSeverity(tag string) bool { return slices.Contains(Severities, strings.ToLower(tag)) }

// Text is the value of v with its examples, as people and models read it.
func Text(v *Version) string {
	if len(v.Examples) == 0 {
		return v.Value
	}
	return v.Value + " (e.g. " + strings.Join(v.Examples, ", ") + ")"
}

// GotchaNamed is the name of the gotcha with a trigger. If there is none yet, the name is a free one.
func GotchaNamed(trigger string, versions func(ID) []*Version) (category, key string) {
	trigger, _ = GotchaParts(GotchaValue(trigger, ""))
	same := func(v *Version) bool {
		t, _ := GotchaParts(v.Value)
		return formats.FoldName(t) == formats.FoldName(trigger)
	}
	for key := range numbered(Slug(trigger)) {
		vs := versions(IDOf(RoomGotcha, key))
		if len(vs) == 0 {
			return RoomGotcha, key
		}
		if slices.ContainsFunc(vs, same) {
			return vs[0].Category, vs[0].Key
		}
	}
	return RoomGotcha, ""
}

// # Former forms
//
// Former versions of the program kept patterns and gotchas apart from the facts, each without a
// history. A fact file still has them like that beside its facts, for other programs.

// The beginnings of the ids of versions that were made of a former form.
const (
	formerPattern = "p-"
	formerGotcha  = "g-"
)

// former reports whether v is as a former version of the program recorded it.
func former(v *Version) bool {
	return len(v.Sources) <= 1 && (strings.HasPrefix(v.ID, formerPattern) || strings.HasPrefix(v.ID, formerGotcha))
}

// Former reports whether versions are all as a former version of the program recorded them.
func Former(vs []*Version) bool {
	return !slices.ContainsFunc(vs, func(v *Version) bool { return !former(v) })
}

// FromPattern is a pattern as a version.
func FromPattern(p *formats.Pattern) *Version {
	v := &Version{
		ID: formerPattern + formats.VersionID(RoomPattern, p.Type, p.Description, time.Time{}, 0)[2:], Category: RoomPattern,
		Key: nameOf(p.Type), Value: p.Description, Examples: p.Examples, Questions: p.Questions, SourceSession: p.SourceSession,
		Confidence: 1, ConfirmationCount: 1, CreatedAt: p.CreatedAt, LastConfirmed: p.CreatedAt, Tags: []string{}, Extra: formats.Unowned[formats.Fact](p.Extra),
	}
	if v.Key == "" {
		v.Key = Slug(p.Description)
	}
	return fromFormer(v, p.AssertedBy)
}

// FromGotcha is a gotcha as a version. Each occurrence is a confirmation.
func FromGotcha(g *formats.Gotcha) *Version {
	v := &Version{
		ID: formerGotcha + strings.TrimPrefix(g.ID, formerGotcha), Category: RoomGotcha, Key: Slug(g.Trigger),
		Value: GotchaValue(g.Trigger, g.Resolution), Questions: g.Questions, Confidence: g.Confidence,
		ConfirmationCount: max(g.Occurrences, 1), CreatedAt: g.FirstSeen, LastConfirmed: g.LastSeen, Tags: []string{}, Extra: formats.Unowned[formats.Fact](g.Extra),
	}
	var rest gotchaRest
	if IsSeverity(g.Severity) {
		v.Tags = []string{strings.ToLower(g.Severity)}
	} else {
		rest.Severity = g.Severity
	}
	if v.ID != g.ID {
		rest.ID = g.ID
	}
	if g.Category != usualCategory {
		rest.Category = g.Category
	}
	if g.Source != usualSource {
		rest.Source = g.Source
	}
	v.Extra = rest.in(v.Extra)
	return fromFormer(v, g.AssertedBy)
}

// fromFormer gives v what its former form does not say. Nobody noted the kind of its author.
func fromFormer(v *Version, by string) *Version {
	v.ValidFrom, v.RecordedFrom, v.RevisionCount = v.CreatedAt, v.CreatedAt, 1
	v.AssertedBy, v.Archetype, v.Privacy, v.Outcome = by, v.Category, PrivacyShared, "created"
	v.Sources = []formats.Source{{Kind: KindAgent, By: by, At: v.CreatedAt, Confidence: v.Confidence}}
	v.Aliases = []string{}
	return v
}

// nameOf makes a key of a text that was not checked.
func nameOf(text string) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, text))
	const most = 256
	if len(text) > most {
		text = strings.TrimSpace(strings.ToValidUTF8(text[:most], ""))
	}
	return text
}

// What a gotcha of a fact file says beside, and what it says if nobody gave it.
type gotchaRest struct {
	ID       string `json:"id,omitempty"`
	Category string `json:"category,omitempty"`
	Severity string `json:"severity,omitempty"`
	Source   string `json:"source,omitempty"`
}

const (
	usualCategory = "Convention"
	usualSource   = "AgentReported"

	// restMember is the member of a version's unknown ones that holds a gotchaRest.
	restMember = "gotcha"
)

// in adds the rest to the unknown members of a version.
func (r gotchaRest) in(extra formats.Unknown) formats.Unknown {
	if r == (gotchaRest{}) {
		return extra
	}
	text, err := json.Marshal(r)
	if err != nil {
		return extra // it holds nothing but texts
	}
	all := formats.Unknown{restMember: formats.Raw(text)}
	for name, x := range extra {
		if name != restMember {
			all[name] = x
		}
	}
	return all
}

// restOf takes the rest out of the unknown members of a version.
func restOf(v *Version) (r gotchaRest, extra formats.Unknown) {
	text, ok := v.Extra[restMember]
	if !ok {
		return r, v.Extra
	}
	_ = json.Unmarshal(text, &r) // another program's member of that name says nothing
	for name, x := range v.Extra {
		if name != restMember {
			if extra == nil {
				extra = formats.Unknown{}
			}
			extra[name] = x
		}
	}
	return r, extra
}

// patternOf is the form of a pattern in a fact file.
func patternOf(v *Version) formats.Pattern {
	p := formats.Pattern{
		Type: v.Key, Description: v.Value, Examples: v.Examples, Questions: v.Questions, SourceSession: v.SourceSession,
		CreatedAt: v.CreatedAt, AssertedBy: v.AssertedBy, Extra: formats.Unowned[formats.Pattern](v.Extra),
	}
	if p.Examples == nil {
		p.Examples = []string{}
	}
	return p
}

// gotchaOf is the form of a gotcha in a fact file; first is the first version of its fact.
func gotchaOf(v, first *Version) formats.Gotcha {
	g := formats.Gotcha{
		ID: first.ID, Category: usualCategory, Severity: SeverityOf(v), Questions: v.Questions, Occurrences: v.ConfirmationCount,
		FirstSeen: first.CreatedAt, LastSeen: v.LastConfirmed, Confidence: v.Confidence, Source: usualSource, AssertedBy: v.AssertedBy,
	}
	g.Trigger, g.Resolution = GotchaParts(v.Value)
	if !strings.HasPrefix(g.ID, formerGotcha) {
		g.ID = formerGotcha + formats.VersionID(RoomGotcha, "", formats.FoldName(g.Trigger), time.Time{}, 0)[2:]
	}
	var rest gotchaRest
	rest, g.Extra = restOf(v)
	g.Extra = formats.Unowned[formats.Gotcha](g.Extra)
	for _, x := range []struct {
		to   *string
		from string
	}{{&g.ID, rest.ID}, {&g.Category, rest.Category}, {&g.Source, rest.Source}} {
		if x.from != "" {
			*x.to = x.from
		}
	}
	if rest.Severity != "" && !slices.ContainsFunc(v.Tags, IsSeverity) {
		g.Severity = rest.Severity
	}
	return g
}

// listed reports whether v stands in the lists of a fact file: it is believed, without an end.
func listed(v *Version) bool { return Believed(v) && v.ValidUntil == nil }

// WithPattern are the versions of a fact after a pattern of a former form. Each of several patterns of
// one type is true beside the others, as it was.
func WithPattern(vs []*Version, p *formats.Pattern) []*Version {
	v := FromPattern(p)
	out := slices.Clone(vs)
	i := slices.IndexFunc(out, func(w *Version) bool {
		return w.ID == v.ID || listed(w) && verdict.Compare("", w.Value, v.Value) == verdict.Equal
	})
	switch {
	case i < 0:
		out = append(out, v)
	case former(out[i]) && listed(out[i]):
		v.Category, v.Key, v.Also = out[i].Category, out[i].Key, out[i].Also
		out[i] = v
	default: // it has a history, which the former version of the program did not know
		w := *out[i]
		w.Examples = v.Examples
		out[i] = &w
	}
	markSeveral(out)
	slices.SortStableFunc(out, ByPeriod)
	return out
}

// WithGotcha are the versions of a fact after a gotcha of a former form. The fact has the name that
// [GotchaNamed] gives.
func WithGotcha(category, key string, vs []*Version, g *formats.Gotcha) []*Version {
	v := FromGotcha(g)
	v.Category, v.Key = category, key
	if len(vs) == 0 || len(vs) == 1 && former(vs[0]) && listed(vs[0]) {
		return []*Version{v}
	}
	out := slices.Clone(vs) // they have a history, which the former version of the program did not know
	for i, w := range out {
		if !listed(w) {
			continue
		}
		if w.Value == v.Value {
			x := *w
			x.ConfirmationCount, x.LastConfirmed = max(w.ConfirmationCount, v.ConfirmationCount), v.LastConfirmed
			out[i] = &x
			return out
		}
		out[i] = Reperiod(w, Period{From: w.ValidFrom, Until: &g.LastSeen}, g.LastSeen)
		v.Supersedes = formats.Optional(w.ID)
	}
	v.ID = NewVersionID(v.Category, v.Key, v.Value, g.LastSeen, func(id string) bool { return WithID(out, id) != nil })
	v.ValidFrom, v.RecordedFrom, v.CreatedAt, v.Sources[0].At, v.Outcome = g.LastSeen, g.LastSeen, g.LastSeen, g.LastSeen, "superseded"
	out = append(out, v)
	slices.SortStableFunc(out, ByPeriod)
	return out
}

// Without are the versions of a fact after a former version of the program dropped some of them at an
// instant. It kept nothing of what it dropped. What has a history ends.
func Without(vs []*Version, dropped func(*Version) bool, at time.Time) (out []*Version) {
	for _, v := range vs {
		switch {
		case !dropped(v):
			out = append(out, v)
		case former(v):
		case listed(v) && v.ValidFrom.Before(at):
			v = Reperiod(v, Period{From: v.ValidFrom, Until: &at}, at)
			v.Retraction = formats.Retraction{RetractedAt: &at}
			out = append(out, v)
		default:
			out = append(out, v)
		}
	}
	markSeveral(out)
	return out
}

// markSeveral marks what holds as one of several values, or as the only one.
func markSeveral(vs []*Version) {
	n, all := 0, Former(vs)
	for _, v := range vs {
		if listed(v) {
			n++
		}
	}
	for i, v := range vs {
		if also := n > 1; listed(v) && v.Also != also && (also || all) {
			w := *v
			w.Also = also
			vs[i] = &w
		}
	}
}
