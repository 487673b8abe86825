package secret

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Rule is a rule of the user's own, beside the built-in ones.
type Rule struct {
	ID       string   `json:"id"`                 // names it in the marker: lower-case letters, digits, '-', '_' and '.', at most 64
	Pattern  string   `json:"pattern"`            // an RE2 expression; what its group (or else the whole of it) matches is the secret
	Keywords []string `json:"keywords,omitempty"` // one of them, in any case, is in every text that can match; none: always tried
	Group    int      `json:"group,omitempty"`    // the capture group that is the secret; 0: the first that took part, or the whole match
	Entropy  float64  `json:"entropy,omitempty"`  // bits per character that the secret must exceed; 0: any
}

// Finding is a secret found in a text: its rule and the bytes [Start, End) it took there.
// Secrets that overlap are one finding, under the most specific of their rules.
type Finding struct {
	Rule       string
	Start, End int
}

// Redactor finds secrets and takes them out. It is safe for concurrent use.
type Redactor struct {
	rules    []*matcher
	triggers triggers
	always   []uint16 // rules without a keyword
}

// isRuleID reports whether an ID may be in a marker: at most 64 small letters, digits and,
// except as the first, the signs . _ -
func isRuleID(id string) bool {
	other := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }
	return id != "" && len(id) <= 64 && !other(rune(id[0])) &&
		!strings.ContainsFunc(id, func(r rune) bool { return other(r) && !strings.ContainsRune("._-", r) })
}

// New makes a Redactor with the built-in rules and the extra ones. It compiles only the extra
// rules. The error names the rule that is wrong. Its ID may be bad or repeated, its expression
// may not compile or may match the empty text, or its group may be missing.
func New(extra []Rule) (*Redactor, error) {
	n := len(gitleaksRules) + len(ownRules) + len(extra)
	r := &Redactor{rules: make([]*matcher, 0, n)}
	block := make([]matcher, n)
	add := func(from rule) *matcher {
		m := &block[len(r.rules)]
		m.rule = from
		r.rules = append(r.rules, m)
		return m
	}
	for i := range ownRules {
		add(ownRules[i])
	}
	for i := range gitleaksRules {
		add(gitleaksRules[i])
	}
	for _, e := range extra {
		from, err := r.own(e)
		if err != nil {
			return nil, fmt.Errorf("redaction rule %q: %w", e.ID, err)
		}
		m := add(from)
		m.expressions() // so that the first text does not pay for it
		if len(from.triggers) == 0 {
			r.always = append(r.always, uint16(len(r.rules)-1))
		}
	}
	r.triggers.build(r.rules)
	return r, nil
}

// own checks a rule of the user's.
func (r *Redactor) own(e Rule) (rule, error) {
	if !isRuleID(e.ID) {
		return rule{}, fmt.Errorf("its id must be 1 to 64 of a-z, 0-9, '-', '_' and '.', and begin with a letter or digit")
	}
	if slices.ContainsFunc(r.rules, func(m *matcher) bool { return m.id == e.ID }) {
		return rule{}, fmt.Errorf("there is already a rule of that id")
	}
	re, err := regexp.Compile(e.Pattern)
	if err != nil {
		return rule{}, err
	}
	if e.Pattern == "" || re.MatchString("") {
		return rule{}, fmt.Errorf("its pattern matches the empty text")
	}
	if e.Group < 0 || e.Group > re.NumSubexp() {
		return rule{}, fmt.Errorf("its pattern has %d groups, not %d", re.NumSubexp(), e.Group)
	}
	words := make([]string, 0, len(e.Keywords))
	for _, k := range e.Keywords {
		if k = strings.ToLower(strings.TrimSpace(k)); len(k) < 2 || !ascii(k) {
			return rule{}, fmt.Errorf("keyword %q: two ASCII characters at least", k)
		}
		words = append(words, k)
	}
	return rule{id: e.ID, form: anywhere, triggers: words, body: e.Pattern, group: e.Group, entropy: e.Entropy}, nil
}

// Redact returns the text with every secret in it replaced by [REDACTED:<rule>], and where
// they stood, in order. A text without secrets is returned as it is. What Redact returned
// it returns unchanged.
func (r *Redactor) Redact(text string) (clean string, found []Finding) {
	spans := r.find(text)
	if len(spans) == 0 {
		return text, nil
	}
	// Taking one secret out can bring a rule to match that did not before. Go on until none
	// does: each round takes away text that is no marker, so there is a last one.
	spans = merge(spans)
	for {
		clean = render(text, spans)
		more := r.find(clean)
		if len(more) == 0 {
			break
		}
		for _, m := range more {
			m.start, m.end = origin(spans, m.start, false), origin(spans, m.end, true)
			spans = append(spans, m)
		}
		spans = merge(spans)
	}
	found = make([]Finding, len(spans))
	for i, s := range spans {
		found[i] = Finding{Rule: s.rule.id, Start: s.start, End: s.end}
	}
	return clean, found
}

// Clean is [Redactor.Redact] for those who need only the rules that matched, one for each find.
func (r *Redactor) Clean(text string) (clean string, rules []string) {
	clean, found := r.Redact(text)
	for _, f := range found {
		rules = append(rules, f.Rule)
	}
	return clean, rules
}

// BuiltIn has the built-in rules alone.
func BuiltIn() *Redactor { return builtIn() }

var builtIn = sync.OnceValue(func() *Redactor {
	r, err := New(nil)
	if err != nil {
		panic(err) // only a user's rule can be wrong
	}
	return r
})

const markerStart, markerEnd = "[REDACTED:", "]"

// span is a secret at [start, end) of a text.
type span struct {
	start, end int
	rule       *rule
}

// merge sorts the spans and joins those that overlap.
func merge(spans []span) []span {
	slices.SortStableFunc(spans, func(a, b span) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
	out := spans[:1]
	for _, s := range spans[1:] {
		last := &out[len(out)-1]
		if s.start >= last.end {
			out = append(out, s)
			continue
		}
		last.end = max(last.end, s.end)
		if s.rule.broad < last.rule.broad {
			last.rule = s.rule
		}
	}
	return out
}

func render(text string, spans []span) string {
	var b strings.Builder
	b.Grow(len(text))
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.start])
		b.WriteString(markerStart)
		b.WriteString(s.rule.id)
		b.WriteString(markerEnd)
		at = s.end
	}
	b.WriteString(text[at:])
	return b.String()
}

// origin maps an offset of the rendered text back to the text. An offset inside a marker
// becomes the beginning of the text that the marker replaced. If it is the end of a span, it
// becomes the end of that text.
func origin(spans []span, offset int, end bool) int {
	shift := 0 // rendered offset - original offset, after the spans passed so far
	for _, s := range spans {
		from := s.start + shift
		to := from + len(markerStart) + len(s.rule.id) + len(markerEnd)
		if offset <= from {
			break
		}
		if end && offset <= to {
			return s.end
		}
		if offset < to {
			return s.start
		}
		shift = to - s.end
	}
	return offset - shift
}

// marker returns the length of the marker of a known rule at the beginning of the text, or 0.
func (r *Redactor) marker(text string) int {
	rest, ok := strings.CutPrefix(text, markerStart)
	if !ok {
		return 0
	}
	id, _, ok := strings.Cut(rest[:min(len(rest), 66)], markerEnd)
	if !ok || !slices.ContainsFunc(r.rules, func(m *matcher) bool { return m.id == id }) {
		return 0
	}
	return len(markerStart) + len(id) + len(markerEnd)
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c > 127 })
}
