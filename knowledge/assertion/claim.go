package assertion

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

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

// Claim is an assertion that has been checked, normalised and redacted.
type Claim struct {
	Category, Key, Value string
	Confidence           float64        // 0..1
	From, Until          *time.Time     // as given; nil when not
	Source               formats.Source // At is set when it is recorded
	Session              string
	Correct              bool // the old value was wrong all along
	Tags, Aliases        []string
	Pinned               *bool    // nil: as it was
	Privacy              string   // empty: as it was
	Redacted             []string // rules that found a secret, for who tells of it
}

// Check refuses a claim that breaks a rule which no state can mend: an empty or
// too long value, a confidence that is none, a name that is none. The refusal
// names the argument.
func (c *Claim) Check() error {
	switch {
	case c.Value == "":
		return refusal.Argument("value", "value is empty")
	case len(c.Value) > MaxValue:
		return refusal.Argument("value", "value has %d bytes, more than %d: keep the text in a file and remember where it is", len(c.Value), MaxValue)
	case math.IsNaN(c.Confidence) || c.Confidence < 0 || c.Confidence > 1:
		return refusal.Argument("confidence", "confidence %v is not between 0 and 1", c.Confidence)
	}
	if err := CheckName("category", c.Category); err != nil {
		return err
	}
	if c.Key != "" {
		if err := CheckName("key", c.Key); err != nil {
			return err
		}
	}
	return checkNames(c.Tags, c.Aliases)
}

// CheckName refuses a category, key, tag or alias that cannot be one.
func CheckName(argument, name string) error {
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
			if err := CheckName(argument, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// dated reports whether the claim says anything about its period.
func (c *Claim) dated() bool { return c.From != nil || c.Until != nil }

// name settles category and key: the first spelling is kept; a missing key is
// made from the value, and one that another value has taken gets a number.
func (c *Claim) name(f ledger.Facts) {
	if room := f.Room(c.Category); room != "" {
		c.Category = room
	}
	if c.Key == "" {
		stem := fact.Slug(c.Value)
		c.Key = stem
		for n := 2; taken(f.Versions(fact.IDOf(c.Category, c.Key)), c.Value); n++ {
			c.Key = stem + "-" + strconv.Itoa(n)
		}
	}
	if vs := f.Versions(fact.IDOf(c.Category, c.Key)); len(vs) > 0 {
		c.Category, c.Key = vs[0].Category, vs[0].Key
	}
}

func taken(vs []*fact.Version, value string) bool {
	return len(vs) > 0 && !slices.ContainsFunc(vs, func(v *fact.Version) bool { return fact.SameValue(v.Value, value) })
}

// describe adds to a version what the claim says of the fact beside its value.
func (c *Claim) describe(v *fact.Version) {
	v.Tags, v.Aliases = fact.MergeNames(v.Tags, c.Tags), fact.MergeNames(v.Aliases, c.Aliases)
	if c.Pinned != nil {
		v.Pinned = *c.Pinned
	}
	if c.Privacy != "" {
		v.Privacy = c.Privacy
	}
}

// checkLists refuses what would take a fact over the limit of names.
func (c *Claim) checkLists(v *fact.Version) error {
	if v == nil {
		return nil
	}
	if n := len(fact.MergeNames(v.Tags, c.Tags)); n > MaxNames {
		return refusal.Argument("tags", "with these the fact would have %d tags, more than %d", n, MaxNames)
	}
	if n := len(fact.MergeNames(v.Aliases, c.Aliases)); n > MaxNames {
		return refusal.Argument("aliases", "with these the fact would have %d aliases, more than %d", n, MaxNames)
	}
	return nil
}
