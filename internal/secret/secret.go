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

// Redactor finds secrets and takes them out. It is safe for concurrent use.
type Redactor struct {
	rules      []matcher
	filter     prefilter
	repository func() []RepositoryRule // nil: none
}

// marker is the expression of what replaces a secret; its group is a rule's ID.
var marker = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[REDACTED:([a-z0-9][a-z0-9._-]{0,63})\]`)
})

// New makes a Redactor with the built-in rules and the extra ones. It compiles only the extra
// rules. The error names the rule that is wrong. Its ID may be bad or repeated, its expression
// may not compile or may match the empty text, or its group may be missing.
func New(extra []Rule) (*Redactor, error) {
	r := &Redactor{rules: make([]matcher, 0, len(ownRules)+len(gitleaksRules)+len(extra))}
	for _, table := range [][]rule{ownRules[:], gitleaksRules[:]} {
		for i := range table {
			r.rules = append(r.rules, matcher{rule: &table[i]})
		}
	}
	for _, e := range extra {
		from, err := r.own(e)
		if err != nil {
			return nil, fmt.Errorf("redaction rule %q: %w", e.ID, err)
		}
		r.rules = append(r.rules, matcher{rule: &from})
		r.rules[len(r.rules)-1].expression() // so that the first text does not pay for it
	}
	r.filter.triggers = make([]trigger, 0, 2*len(r.rules))
	for i := range r.rules {
		r.filter.add(i, r.rules[i].triggers)
	}
	return r, nil
}

// has reports whether there is a rule of an ID.
func (r *Redactor) has(id string) bool {
	for i := range r.rules {
		if r.rules[i].id == id {
			return true
		}
	}
	return false
}

// own checks a rule of the user's.
func (r *Redactor) own(e Rule) (rule, error) {
	if mark := "[REDACTED:" + e.ID + "]"; marker().FindString(mark) != mark {
		return rule{}, fmt.Errorf("its id must be 1 to 64 of a-z, 0-9, '-', '_' and '.', and begin with a letter or digit")
	}
	if r.has(e.ID) {
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

// Clean returns the text with every secret in it replaced by [REDACTED:<rule>], and the rules
// of the secrets, one for each. A text without secrets is returned as it is. What Clean
// returned it returns unchanged.
func (r *Redactor) Clean(text string) (clean string, rules []string) {
	// Taking one secret out can bring a rule to match that did not before. Go on until none
	// does: each round takes away text that is no marker, so there is a last one.
	for {
		spans := r.find(text)
		if len(spans) == 0 {
			return text, rules
		}
		var b strings.Builder
		at := 0
		for _, s := range merge(spans) {
			b.WriteString(text[at:s.start] + "[REDACTED:" + s.rule.id + "]")
			rules = append(rules, s.rule.id)
			at = s.end
		}
		text = b.String() + text[at:]
	}
}

// CleanNamed is [Redactor.Clean] for a text that is the value of a fact: that of aws/api-key can be
// a secret although no name is in it.
func (r *Redactor) CleanNamed(category, key, text string) (clean string, rules []string) {
	if clean, rules = r.Clean(text); len(rules) > 0 || len(text) < minRandom {
		return clean, rules
	}
	head := category + " " + key + ": "
	if named, found := r.Clean(head + text); len(found) > 0 {
		if rest, ok := strings.CutPrefix(named, head); ok {
			return rest, found
		}
	}
	return clean, rules
}

// find returns the secrets of a text in no particular order; they can overlap. It looks at the text as it is
// stored and as it is shown.
func (r *Redactor) find(text string) []span {
	spans := r.findIn(text)
	if s, ok := shown(text); ok {
		for _, x := range r.findIn(s.text) {
			spans = append(spans, span{s.at[x.start], s.at[x.end], x.rule})
		}
	}
	return spans
}

// findIn returns the secrets that stand in a text letter by letter.
func (r *Redactor) findIn(text string) (spans []span) {
	low := lowerASCII(text)
	tried := r.filter.rules(low, len(r.rules))
	for i := range r.rules {
		if m := &r.rules[i]; tried[i] || len(m.triggers) == 0 {
			spans = m.find(text, low, spans)
		}
	}
	if r.repository != nil {
		for _, rule := range r.repository() {
			spans = rule.find(text, low, spans)
		}
	}
	if len(spans) == 0 {
		return nil
	}
	marks := marker().FindAllStringSubmatchIndex(text, -1)
	marks = slices.DeleteFunc(marks, func(m []int) bool {
		id := text[m[2]:m[3]]
		return id != ofRepository.id && !r.has(id)
	})
	return slices.DeleteFunc(spans, func(s span) bool { // part of a marker, or nothing but markers
		at, _ := slices.BinarySearchFunc(marks, s.start, func(m []int, start int) int { return m[1] - start - 1 })
		for ; at < len(marks) && marks[at][0] <= s.start; at++ {
			s.start = marks[at][1] // markers can follow each other
		}
		return s.start >= s.end
	})
}

// WithRepository is the Redactor with rules that a repository brings. They are asked for when a text
// is first cleaned.
func (r *Redactor) WithRepository(rules func() []RepositoryRule) *Redactor {
	return &Redactor{rules: r.rules, filter: r.filter, repository: sync.OnceValue(rules)}
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

// lowerASCII is a text with its ASCII letters in lower case, so that offsets stay.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lower(c)
	}
	return string(b)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c > 127 })
}
