package history

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/state"
)

// Subject names a fact.
type Subject struct {
	Category string `json:"category" arg:"1" short:"c" jsonschema:"the room"`
	Key      string `json:"key" arg:"2" short:"k" jsonschema:"the fact"`

	// Asserted, if set, finds the turns of sessions in which the fact was asserted or changed. Text of one is the action.
	Asserted func(ctx context.Context, category, key string) []knowledge.Said `json:"-"`
}

// Provenance is everything behind a fact: its versions, newest first, each
// with every assertion.
type Provenance struct {
	Category string              `json:"category"`
	Key      string              `json:"key"`
	Versions []VersionProvenance `json:"versions"`
	Erased   string              `json:"erased,omitempty"`

	Disputes []knowledge.DisputeInfo `json:"disputes,omitempty"` // the open ones
	Renames  []formats.Rename        `json:"renames,omitempty"`  // that led to its name, the last one first

	Sessions []knowledge.Said `json:"sessions,omitempty"` // turns in which it was asserted or changed, the earliest first
}

// VersionProvenance is one version and who asserted it.
type VersionProvenance struct {
	Entry
	Category  string            `json:"category"`
	Replaced  string            `json:"replaced,omitempty"` // the value it took the place of
	Why       *knowledge.Reason `json:"why,omitempty"`      // why it did, where somebody said so
	Imported  string            `json:"imported_from,omitempty"`
	Sources   []formats.Source  `json:"sources"`
	Questions []string          `json:"questions,omitempty"` // that were stored with it

	SourceState string `json:"source_state,omitempty"` // changed or gone: the file that its source names is not what it was

	Earlier []formats.Belief `json:"earlier_periods,omitempty"` // as its valid period was held before

	Kind     string `json:"kind"`                // see [fact.KindOf]
	Standing bool   `json:"standing"`            // a rule that every task needs, see [fact.Standing]
	HalfLife int    `json:"half_life,omitempty"` // of its confidence, in days; 0: it does not fall

	Salience float64 `json:"salience"` // 0..100, see [fact.Salience]

	version  *fact.Version
	old      *fact.Version // what it took the place of
	replaced fact.Trust    // in that
	ended    bool          // it was given an end, see [fact.EndGiven]
}

// Why lists every assertion of a fact: who made it, when, from which source, how often,
// and what it replaced.
func Why(ctx context.Context, s *knowledge.Store, q Subject) (r Provenance, err error) {
	if err := refusal.Required("category", q.Category, "key", q.Key); err != nil {
		return r, err
	}
	retrievals := s.Retrievals()
	err = s.View(ctx, func(st *state.State, now time.Time) error {
		ok := false
		if r, ok = why(st, q, now, s, retrievals); !ok {
			return knowledge.NotFound(q.Category, q.Key)
		}
		return nil
	})
	explained := 0
	for i := range r.Versions {
		if v := &r.Versions[i]; v.old != nil && explained < maxExplained {
			v.Why = knowledge.ReasonOf(ctx, s, v.version, v.old, v.version.ValidFrom)
			explained++
		}
	}
	if err == nil && q.Asserted != nil {
		r.Sessions = q.Asserted(ctx, r.Category, r.Key)
	}
	return r, err
}

// why is false where there never was such a fact.
func why(st *state.State, q Subject, now time.Time, s *knowledge.Store, retrievals func(*fact.Version) fact.Retrievals) (Provenance, bool) {
	q.Category, q.Key = knowledge.Present(st, q.Category, q.Key)
	r := Provenance{Category: q.Category, Key: q.Key}
	vs := st.Versions(fact.IDOf(q.Category, q.Key))
	if t, erased := st.Erased(fact.IDOf(q.Category, q.Key)); len(vs) == 0 && erased {
		r.Erased = fact.Day(t.ErasedAt)
		return r, true
	}
	if len(vs) == 0 {
		return r, false
	}
	r.Category, r.Key = vs[0].Category, vs[0].Key
	r.Renames = st.Trail(fact.IDOf(r.Category, r.Key))
	for _, d := range state.OpenDisputes(st, st.Disputes(fact.IDOf(r.Category, r.Key)), now) {
		r.Disputes = append(r.Disputes, knowledge.DisputeInfoOf(st, d, now))
	}
	for _, v := range slices.Backward(vs) {
		b := VersionProvenance{ended: fact.EndGiven(v), SourceState: s.SourceState(v, now), Salience: fact.Salience(v, now, retrievals(v)), Entry: entry(v, vs, now), Category: v.Category, Imported: string(v.ImportedFrom), Sources: s.Located(v).Sources, Questions: v.Questions, Earlier: v.Beliefs, Kind: fact.KindOf(v).Name, Standing: fact.Standing(v)}
		if fact.Decays(v) {
			b.HalfLife = int(fact.KindOf(v).HalfLife.Hours() / 24)
		}
		if old := st.ByID(string(v.Supersedes)); old != nil && v.Outcome != "resumed" {
			b.Replaced, b.replaced, b.version, b.old = old.Value, fact.TrustIn(old), v, old
		}
		r.Versions = append(r.Versions, b)
	}
	return r, true
}

// maxExplained is of how many versions, the newest ones, diaries and tasks are looked at for why they came.
const maxExplained = 5

// Text gives the answer's lines.
func (p Provenance) Text() string {
	if p.Erased != "" {
		return fmt.Sprintf("[%s] %s was erased on %s", prose.Name(p.Category), prose.Name(p.Key), p.Erased)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Why [%s] %s (%s):", prose.Name(p.Category), prose.Name(p.Key), prose.Count(len(p.Versions), "version"))
	b.WriteString("\n  Kind: " + p.kind())
	for _, x := range p.Renames {
		fmt.Fprintf(&b, "\n  Renamed from %s on %s", knowledge.Slashed(x.From), fact.Day(x.At))
	}
	const mostSessions = 5 // the last ones; --json and output=json have all
	for _, x := range p.Sessions[max(0, len(p.Sessions)-mostSessions):] {
		fmt.Fprintf(&b, "\n  Via session %s: %s", x.Ref(), prose.Name(x.Text))
	}
	for _, d := range p.Disputes {
		b.WriteString("\n  Disputed: " + d.Line())
	}
	for _, v := range p.Versions {
		fmt.Fprintf(&b, "\n  %s [%s] (%s) conf=%s x%d", v.Line(v.Value), v.Mark, v.period(), prose.Percent(v.Confidence), v.Confirmations)
		if v.SourceState != "" {
			b.WriteString(" [source " + v.SourceState + "]")
		}
		if v.Replaced != "" {
			fmt.Fprintf(&b, "\n    replaced %s", v.replaced.Quote(v.Replaced))
		}
		if v.Why != nil && v.Why.Source != "removal" { // a removal is told with its reason below
			b.WriteString("\n    " + v.Why.Line())
		}
		for _, p := range v.Earlier {
			fmt.Fprintf(&b, "\n    until %s it was held valid %s", p.RecordedUntil.Format(time.DateTime), fact.Period{From: p.ValidFrom, Until: p.ValidUntil})
		}
		if v.Imported != "" {
			fmt.Fprintf(&b, "\n    imported from %s", prose.Name(v.Imported))
		}
		if len(v.Questions) > 0 {
			fmt.Fprintf(&b, "\n    questions: %s", prose.Line(strings.Join(v.Questions, "; ")))
		}
		const maxShown = 20 // of each version; --json and output=json have all
		for _, s := range v.Sources[:min(maxShown, len(v.Sources))] {
			b.WriteString("\n    " + assertedBy(s))
		}
		if more := len(v.Sources) - maxShown; more > 0 {
			fmt.Fprintf(&b, "\n    … %d more (output=json shows all)", more)
		}
		if v.RetractedAt != nil {
			b.WriteString("\n    " + v.retraction())
		}
	}
	return b.String()
}

// kind tells how long the fact's confidence lasts, for its newest version.
func (p Provenance) kind() string {
	v := p.Versions[0]
	lasts := "its confidence does not fall"
	if v.HalfLife > 0 {
		lasts = fmt.Sprintf("half-life %d days", v.HalfLife)
	}
	needed := "topical"
	if v.Standing {
		needed = "standing"
	}
	return fmt.Sprintf("%s, %s, %s, salience %.0f", v.Kind, needed, lasts, v.Salience)
}

// retraction says who took the version back, or gave it an end, and why.
func (b VersionProvenance) retraction() string {
	text := b.RetractedAt.UTC().Format(time.DateTime) + " removed"
	if b.ended {
		text = b.RetractedAt.UTC().Format(time.DateTime) + " given its end " + fact.Day(*b.ValidUntil)
	}
	if b.RetractedBy != "" {
		text += " by " + prose.Name(fact.RetractedBy(&fact.Version{Retraction: b.Retraction}))
	}
	if b.RetractedReason != "" {
		text += ", reason: '" + prose.Brief(b.RetractedReason) + "'"
	}
	return text
}

func assertedBy(s formats.Source) string {
	who := s.Kind
	if person := fact.Person(s.Person); s.Kind == fact.KindUser && person != "" {
		who = person
	}
	text := s.At.UTC().Format(time.DateTime) + " " + prose.Name(who)
	switch {
	case s.By == "":
	case s.Kind == fact.KindUser: // an agent passed the user's word on
		text += " via " + prose.Name(s.By)
	default:
		text += " " + prose.Name(s.By)
	}
	if s.Ref != "" {
		text += " from " + prose.Name(s.Ref)
	}
	if s.Confidence > 0 {
		text += " (" + prose.Percent(s.Confidence) + ")"
	}
	if s.Replica != "" {
		text += ", from replica " + prose.Name(s.Replica)
	}
	return text
}
