package ledger

import (
	"strings"
	"time"

	"leanctx/formats"
	"leanctx/knowledge/fact"
)

// The categories that lessons are found by and removed with.
const (
	RoomPattern = "pattern"
	RoomGotcha  = "gotcha"
)

// Lessons are the patterns and gotchas as versions, so that they are found,
// listed and shown like facts.
func (b *Beside) Lessons() []*fact.Version {
	out := make([]*fact.Version, 0, len(b.Patterns)+len(b.Gotchas))
	for i := range b.Patterns {
		out = append(out, PatternVersion(&b.Patterns[i]))
	}
	for i := range b.Gotchas {
		out = append(out, GotchaVersion(&b.Gotchas[i]))
	}
	return out
}

// PatternVersion is a pattern as a version: its type is the key, and its
// examples stand in the value.
func PatternVersion(p *formats.Pattern) *fact.Version {
	value := p.Description
	if len(p.Examples) > 0 {
		value += " (e.g. " + strings.Join(p.Examples, ", ") + ")"
	}
	return &fact.Version{
		ID: "p-" + formats.VersionID(RoomPattern, p.Type, p.Description, time.Time{}, 0)[2:], Category: RoomPattern, Key: p.Type, Value: value,
		Confidence: 1, ConfirmationCount: 1, CreatedAt: p.CreatedAt, LastConfirmed: p.CreatedAt, ValidFrom: p.CreatedAt,
		RecordedFrom: p.CreatedAt, Archetype: "pattern", Privacy: fact.PrivacyShared,
	}
}

// GotchaVersion is a gotcha as a version: its key is made of what leads to it,
// and each occurrence confirmed it.
func GotchaVersion(g *formats.Gotcha) *fact.Version {
	return &fact.Version{
		ID: "g-" + strings.TrimPrefix(g.ID, "g-"), Category: RoomGotcha, Key: fact.Slug(g.Trigger), Value: g.Trigger + " → " + g.Resolution,
		Confidence: g.Confidence, ConfirmationCount: max(g.Occurrences, 1), CreatedAt: g.FirstSeen, LastConfirmed: g.LastSeen,
		ValidFrom: g.FirstSeen, RecordedFrom: g.FirstSeen, Archetype: "gotcha", Privacy: fact.PrivacyShared, Tags: []string{g.Severity},
	}
}
