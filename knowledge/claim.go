package knowledge

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"leanctx/formats"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
	"leanctx/knowledge/fact"
	"leanctx/knowledge/ledger"
)

// The limits of an assertion.
const (
	MaxValue = 64 << 10 // bytes of a value
	MaxName  = 256      // bytes of a category, key, tag or alias
	MaxNames = 20       // tags or aliases of a fact
)

const defaultConfidence = 0.8

// claim is an assertion that has been checked, normalised and redacted.
type claim struct {
	category, key, value string
	confidence           float64
	from, until          *time.Time // as given; nil when not
	source               Source     // At is set when it is recorded
	session              string
	correct              bool
	tags, aliases        []string
	pinned               *bool
	privacy              string
	redacted             []string // rules that found a secret
}

// claim checks an assertion. Every error is an [ArgumentError].
func (s *Store) claim(a Assertion) (claim, error) {
	c := claim{confidence: defaultConfidence, correct: a.Correct, pinned: a.Pinned, session: s.actor.Session}
	c.source = Source{Kind: s.actor.kind(), By: s.actor.Agent, Ref: strings.TrimSpace(a.Source)}
	if c.source.Ref == KindUser || c.source.Ref == KindTool || c.source.Ref == KindAgent {
		c.source.Kind, c.source.Ref = c.source.Ref, ""
	}
	var err error
	text := func(argument, v string) string {
		v, found := s.redact(v)
		c.redacted = append(c.redacted, found...)
		if err == nil && !utf8.ValidString(v) {
			err = refusal.Argument(argument, "%s is not valid UTF-8", argument)
		}
		return v
	}
	c.value = strings.TrimSpace(text("value", a.Value))
	c.category, c.key = text("category", strings.TrimSpace(a.Category)), text("key", strings.TrimSpace(a.Key))
	c.source.Ref = text("source", c.source.Ref)
	c.tags, c.aliases = names("tags", a.Tags, text), names("aliases", a.Aliases, text)
	if err != nil {
		return c, err
	}
	c.source.Confidence = c.confidence
	if a.Confidence != nil {
		c.confidence, c.source.Confidence = *a.Confidence, *a.Confidence
	}
	if err := c.check(); err != nil {
		return c, err
	}
	if c.privacy, err = parsePrivacy(a.Privacy); err != nil {
		return c, err
	}
	return c, c.parsePeriod(a, s.clock())
}

func (c *claim) check() error {
	switch {
	case c.value == "":
		return refusal.Argument("value", "value is empty")
	case len(c.value) > MaxValue:
		return refusal.Argument("value", "value has %d bytes, more than %d: keep the text in a file and remember where it is", len(c.value), MaxValue)
	case math.IsNaN(c.confidence) || c.confidence < 0 || c.confidence > 1:
		return refusal.Argument("confidence", "confidence %v is not between 0 and 1", c.confidence)
	}
	if err := checkName("category", c.category); err != nil {
		return err
	}
	if c.key != "" {
		if err := checkName("key", c.key); err != nil {
			return err
		}
	}
	return checkNames(c.tags, c.aliases)
}

func checkName(argument, name string) error {
	switch {
	case formats.FoldName(name) == "":
		return refusal.Argument(argument, "%s is empty", argument)
	case len(name) > MaxName:
		return refusal.Argument(argument, "%s has %d bytes, more than %d", argument, len(name), MaxName)
	case strings.IndexFunc(name, prose.IsControl) >= 0:
		return refusal.Argument(argument, "%s holds a line break or control character: %q", argument, prose.Clip(name, 40))
	}
	return nil
}

func checkNames(tags, aliases []string) error {
	for argument, list := range map[string][]string{"tags": tags, "aliases": aliases} {
		if len(list) > MaxNames {
			return refusal.Argument(argument, "%d %s, more than %d", len(list), argument, MaxNames)
		}
		for _, name := range list {
			if err := checkName(argument, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// names trims a list and drops what is empty or there already.
func names(argument string, list []string, clean func(argument, v string) string) []string {
	var out []string
	for _, name := range list {
		if name = strings.TrimSpace(clean(argument, name)); name != "" {
			out = merge(out, []string{name})
		}
	}
	return out
}

// merge appends the names of b that a does not have, compared folded.
func merge(a, b []string) []string {
	out := slices.Clip(a)
	for _, name := range b {
		if !slices.ContainsFunc(out, func(x string) bool { return formats.FoldName(x) == formats.FoldName(name) }) {
			out = append(out, name)
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

func (c *claim) parsePeriod(a Assertion, now time.Time) error {
	for _, p := range []struct {
		argument, text string
		to             **time.Time
	}{{"valid_from", a.ValidFrom, &c.from}, {"valid_until", a.ValidUntil, &c.until}} {
		if strings.TrimSpace(p.text) == "" {
			continue
		}
		t, err := fact.ParseInstant(p.argument, p.text, now, false)
		if err != nil {
			return err
		}
		*p.to = &t.Time
	}
	if c.from != nil && c.until != nil && !c.from.Before(*c.until) {
		return refusal.Argument("valid_until", "valid_until %s is not after valid_from %s", a.ValidUntil, a.ValidFrom)
	}
	return nil
}

// dated reports whether the claim says anything about its period.
func (c *claim) dated() bool { return c.from != nil || c.until != nil }

// name settles category and key: the first spelling is kept; a missing key is
// made from the value, and one that another value has taken gets a number.
func (c *claim) name(f ledger.Facts) {
	if room := f.Room(c.category); room != "" {
		c.category = room
	}
	if c.key == "" {
		stem := fact.Slug(c.value)
		c.key = stem
		for n := 2; taken(f.Versions(fact.IDOf(c.category, c.key)), c.value); n++ {
			c.key = stem + "-" + strconv.Itoa(n)
		}
	}
	if vs := f.Versions(fact.IDOf(c.category, c.key)); len(vs) > 0 {
		c.category, c.key = vs[0].Category, vs[0].Key
	}
}

func taken(vs []*fact.Version, value string) bool {
	return len(vs) > 0 && !slices.ContainsFunc(vs, func(v *fact.Version) bool { return fact.SameValue(v.Value, value) })
}

// describe adds to a version what the claim says of the fact beside its value.
func (c *claim) describe(v *fact.Version) {
	v.Tags, v.Aliases = merge(v.Tags, c.tags), merge(v.Aliases, c.aliases)
	if c.pinned != nil {
		v.Pinned = *c.pinned
	}
	if c.privacy != "" {
		v.Privacy = c.privacy
	}
}

// checkLists refuses what would take a fact over the limit of names.
func (c *claim) checkLists(v *fact.Version) error {
	if v == nil {
		return nil
	}
	if n := len(merge(v.Tags, c.tags)); n > MaxNames {
		return refusal.Argument("tags", "with these the fact would have %d tags, more than %d", n, MaxNames)
	}
	if n := len(merge(v.Aliases, c.aliases)); n > MaxNames {
		return refusal.Argument("aliases", "with these the fact would have %d aliases, more than %d", n, MaxNames)
	}
	return nil
}
