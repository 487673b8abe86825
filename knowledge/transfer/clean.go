package transfer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge"
	"leanctx/knowledge/fact"
)

// What a file brings is redacted and checked before anything is decided on it.

// incoming is what a file says of one fact: versions, or records that are asserted one after the
// other.
type incoming struct {
	versions []*fact.Version
	records  []record
}

// record is a record of a file.
type record struct {
	knowledge.Checked
	confirmations int
	confirmed     *time.Time // when it was last; nil: not said
	at            formats.Position
	labeled       bool // its value is not a whole statement
}

// take takes in what a file brings, without its secrets and what cannot be stored.
func (m *merger) take(ctx context.Context, p formats.Parsed) error {
	for _, bad := range p.Bad {
		m.r.Bad = append(m.r.Bad, badLine(bad.Position, bad.Err.Error()))
	}
	m.facts = map[fact.ID]*incoming{}
	if m.document = p.Document; m.document != nil {
		m.takeDocument(m.document)
	}
	m.all = max(len(m.order), len(p.Records))
	for i, r := range p.Records {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		m.progress(i)
		c, err := m.check(r)
		if err != nil {
			m.r.Bad = append(m.r.Bad, badLine(p.Lines[i], err.Error()))
			continue
		}
		in := m.of(c.Category, c.Key)
		in.records = append(in.records, record{c, r.Confirmations, r.Timestamp, p.Lines[i], m.reading != nil && m.labeled[i]})
	}
	slices.SortStableFunc(m.r.Bad, func(a, b BadLine) int { return cmp.Or(a.Line-b.Line, a.Element-b.Element) })
	m.taken = m.r
	return nil
}

// of is what the file says of a fact so far.
func (m *merger) of(category, key string) *incoming {
	n := fact.IDOf(category, key)
	in := m.facts[n]
	if in == nil {
		in = &incoming{}
		m.facts[n], m.order = in, append(m.order, n)
	}
	return in
}

// text redacts one text of a file, and counts the secrets in it.
func (m *merger) text(s string) string {
	clean, found := m.store.Redact(s)
	m.r.Redacted += len(found)
	return clean
}

func (m *merger) takeDocument(d *formats.Document) {
	formats.Texts(d, m.text)
	fact.TakeLessons(d) // without secrets: keys are made of their texts
	for _, v := range d.Facts {
		clean, found := m.store.RedactValue(v.Category, v.Key, v.Value)
		v.Value, m.r.Redacted = clean, m.r.Redacted+len(found)
		if m.whole || !m.refused(v) {
			in := m.of(v.Category, v.Key)
			in.versions = append(in.versions, m.store.Located(v))
		}
	}
	d.Facts = nil
	for i, x := range d.Disputes {
		d.Disputes[i] = m.store.LocatedDispute(x)
	}
	d.Disputes = slices.DeleteFunc(d.Disputes, m.refusedDispute)
}

// disputeForm is how the ids of disputes look.
var disputeForm = formats.Regexp(`^d-[0-9a-f]{4,32}$`)

// refusedDispute reports whether a dispute of a fact file is none that this
// program writes.
func (m *merger) refusedDispute(x formats.Dispute) bool {
	c := knowledge.Checked{Category: x.Category, Key: x.Key, Value: x.Value, Confidence: x.Confidence}
	if x.Removal && x.Rival == nil || x.Rename != nil {
		c.Value = "-" // it has none
	}
	err := c.Validate()
	kinds := []string{knowledge.KindUser, knowledge.KindFile, knowledge.KindTool, knowledge.KindAgent, knowledge.KindImport}
	judged := x.State == formats.DisputeAccepted || x.State == formats.DisputeRejected
	switch {
	case err != nil:
	case !disputeForm().MatchString(x.ID):
		err = refusal.Argument("id", "%q is no id of a dispute", prose.Clip(x.ID, 40))
	case !judged && x.State != formats.DisputeOpen && x.State != formats.DisputeClosed:
		err = refusal.Argument("state", "state %q is none of a dispute", prose.Clip(x.State, 40))
	case judged != (x.Settled != nil):
		err = refusal.Argument("settled", "a dispute is judged by somebody, or not at all")
	case !slices.Contains(kinds, x.Source.Kind), x.Settled != nil && !slices.Contains(kinds, x.Settled.Kind):
		err = refusal.Argument("source", "its source is of no known kind")
	case x.Rename != nil && (formats.FoldName(x.Rename.Category) == "" || formats.FoldName(x.Rename.Key) == ""):
		err = refusal.Argument("rename", "the name that it asks for is empty")
	case x.Rival != nil && (!x.Removal || formats.FoldName(x.Rival.Category) == "" || formats.FoldName(x.Rival.Key) == ""):
		err = refusal.Argument("rival", "its rival is no fact")
	}
	if err != nil {
		m.r.Bad = append(m.r.Bad, BadLine{Problem: fmt.Sprintf("dispute about [%s/%s]: %v", prose.Name(prose.Clip(x.Category, 40)), prose.Name(prose.Clip(x.Key, 40)), err)})
	}
	return err != nil
}

// refused reports whether a version of a fact file breaks a rule that every
// assertion obeys. Such a file has no lines to name; the fact is named.
func (m *merger) refused(v *fact.Version) bool {
	c := knowledge.Checked{Category: v.Category, Key: v.Key, Value: v.Value, Confidence: v.Confidence, Questions: v.Questions, Examples: v.Examples}
	err := c.Validate()
	if err == nil && formats.FoldName(v.Key) == "" {
		err = refusal.Argument("key", "key is empty")
	}
	if err != nil {
		m.r.Bad = append(m.r.Bad, BadLine{Problem: fmt.Sprintf("[%s/%s]: %v", prose.Name(prose.Clip(v.Category, 40)), prose.Name(prose.Clip(v.Key, 40)), err)})
	}
	return err != nil
}

// check is a record as an assertion, checked like any other.
func (m *merger) check(r formats.Record) (knowledge.Checked, error) {
	c, err := m.store.Check(knowledge.Assertion{Category: r.Category, Key: r.Key, Value: r.Value, Confidence: r.Confidence, Questions: r.Questions, Examples: r.Examples, Privacy: m.text(r.Privacy), Tags: r.Tags})
	m.r.Redacted += len(c.Redacted)
	if err != nil {
		return c, err
	}
	c.Source.Kind, c.Source.Ref, c.Also = knowledge.KindImport, m.store.Relative(m.text(r.Source)), r.Also
	if m.reading != nil && m.reading.short[fileOf(c.Source)] {
		c.Source.Files = m.store.Source(c.Source.Ref, c.Confidence).Files // so that a changed rule is marked
	}
	c.From, c.Until = r.ValidFrom, r.ValidUntil
	if c.From == nil {
		c.From = r.Timestamp
	}
	c.FromDay = c.From != nil && c.From.Equal(fact.StartOfDay(*c.From)) // a record does not tell a day from its first instant
	if c.From != nil && c.Until != nil && !c.From.Before(*c.Until) {
		return c, refusal.Argument("valid_until", "valid_until %s is not after valid_from %s", c.Until.Format(time.RFC3339), c.From.Format(time.RFC3339))
	}
	return c, nil
}
