package knowledge

import (
	"strings"
	"time"
	"unicode/utf8"

	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/assertion"
	"leanctx/knowledge/fact"
)

// The limits of an assertion.
const (
	MaxValue = assertion.MaxValue // bytes of a value
	MaxName  = assertion.MaxName  // bytes of a category, key, tag or alias
	MaxNames = assertion.MaxNames // tags or aliases of a fact
)

const defaultConfidence = 0.8

// claim checks an assertion. Every error is an [ArgumentError].
func (s *Store) claim(a Assertion) (assertion.Claim, error) {
	c := assertion.Claim{Confidence: defaultConfidence, Correct: a.Correct, Pinned: a.Pinned, Session: s.actor.Session}
	c.Source = Source{Kind: s.actor.kind(), By: s.actor.Agent, Ref: strings.TrimSpace(a.Source)}
	if c.Source.Ref == KindUser || c.Source.Ref == KindTool || c.Source.Ref == KindAgent {
		c.Source.Kind, c.Source.Ref = c.Source.Ref, ""
	}
	var err error
	text := func(argument, v string) string {
		v, found := s.redact(v)
		c.Redacted = append(c.Redacted, found...)
		if err == nil && !utf8.ValidString(v) {
			err = refusal.Argument(argument, "%s is not valid UTF-8", argument)
		}
		return v
	}
	c.Value = strings.TrimSpace(text("value", a.Value))
	c.Category, c.Key = text("category", strings.TrimSpace(a.Category)), text("key", strings.TrimSpace(a.Key))
	c.Source.Ref = text("source", c.Source.Ref)
	c.Tags, c.Aliases = names("tags", a.Tags, text), names("aliases", a.Aliases, text)
	if err != nil {
		return c, err
	}
	c.Source.Confidence = c.Confidence
	if a.Confidence != nil {
		c.Confidence, c.Source.Confidence = *a.Confidence, *a.Confidence
	}
	if err := c.Check(); err != nil {
		return c, err
	}
	if c.Privacy, err = parsePrivacy(a.Privacy); err != nil {
		return c, err
	}
	err = parsePeriod(&c, a, s.clock())
	return c, err
}

// names trims a list and drops what is empty or there already.
func names(argument string, list []string, clean func(argument, v string) string) []string {
	var out []string
	for _, name := range list {
		if name = strings.TrimSpace(clean(argument, name)); name != "" {
			out = fact.MergeNames(out, []string{name})
		}
	}
	return out
}

func parsePrivacy(text string) (string, error) {
	switch text {
	case "", PrivacyShared, PrivacyProjectOnly:
		return text, nil
	}
	return "", refusal.Argument("privacy", "privacy %q is neither shared nor project_only", prose.Clip(text, 40))
}

func parsePeriod(c *assertion.Claim, a Assertion, now time.Time) error {
	for _, p := range []struct {
		argument, text string
		to             **time.Time
	}{{"valid_from", a.ValidFrom, &c.From}, {"valid_until", a.ValidUntil, &c.Until}} {
		if strings.TrimSpace(p.text) == "" {
			continue
		}
		t, err := fact.ParseInstant(p.argument, p.text, now, false)
		if err != nil {
			return err
		}
		*p.to = &t.Time
	}
	if c.From != nil && c.Until != nil && !c.From.Before(*c.Until) {
		return refusal.Argument("valid_until", "valid_until %s is not after valid_from %s", a.ValidUntil, a.ValidFrom)
	}
	return nil
}
