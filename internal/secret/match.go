package secret

import (
	"math"
	"regexp"
	"strings"
	"sync"
)

// form says where a rule looks.
type form uint8

const (
	prefixed   form = iota // the match begins with the trigger
	assigned               // the trigger begins an identifier; an operator and the secret follow
	anywhere               // the trigger is somewhere in the text
	byFunction             // find says, given the trigger's place
)

// rule is a row of a table.
type rule struct {
	id       string
	form     form
	triggers []string // lower-case ASCII; one of them is in every text that can match
	head     string   // assigned: expression of the identifier
	body     string   // assigned: expression of the secret; else of the whole match
	start    bool     // the trigger must begin a word
	after    string   // this must stand before the trigger, within a KiB, and a blank directly
	solid    int      // so many bytes (assigned: of the secret) at least are no white space
	entropy  float64  // bits per character that the secret must exceed
	group    int
	allow    string // no secret if it matches this
	allowAll string // no secret if the whole match matches this
	broad    int    // of overlapping rules the least broad gives the name
	random   bool   // the secret is no name and no placeholder, and has digits and letters
	find     func(text string, at int) (start, end int)
}

// matcher is a rule with its expressions.
type matcher struct {
	rule
	once sync.Once
	compiled
}

type compiled struct{ body, allow, allowAll *regexp.Regexp }

// The text between an identifier and its value, and after the value. The first three are
// gitleaks'. After a value gitleaks wants a blank, quote or semicolon. Prose also has
// commas, brackets and full stops.
const (
	gap       = `[ \t\w.-]{0,20}[\s'"]{0,3}`
	operator  = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)`
	opening   = "[\\x60'\"\\s=]{0,5}"
	following = "(?:[\\x60'\"\\s;,)\\]}>&|]|\\.(?:\\s|$)|\\\\[nr]|$)"
)

func (m *matcher) expressions() *compiled {
	m.once.Do(func() {
		switch m.form {
		case assigned:
			m.compiled.body = regexp.MustCompile(`\A` + m.head + gap + operator + opening + `(` + m.rule.body + `)` + following)
		case prefixed:
			m.compiled.body = regexp.MustCompile(`\A(?:` + m.rule.body + `)`)
		case anywhere:
			m.compiled.body = regexp.MustCompile(m.rule.body)
		case byFunction:
		}
		if m.rule.allow != "" {
			m.compiled.allow = regexp.MustCompile(m.rule.allow)
		}
		if m.rule.allowAll != "" {
			m.compiled.allowAll = regexp.MustCompile(m.rule.allowAll)
		}
	})
	return &m.compiled
}

// promising is what can be said without an expression: it turns nearly all prose away.
func (m *matcher) promising(text string, at, trigger int) bool {
	if m.start && at > 0 && word(text[at-1]) {
		return false
	}
	if m.after != "" && (at == 0 || text[at-1] > ' ' || !strings.Contains(text[max(0, at-1024):at], m.after)) {
		return false
	}
	switch m.form {
	case prefixed:
		if at+m.solid > len(text) {
			return false
		}
		return !strings.ContainsAny(text[at+trigger:max(at+trigger, at+m.solid)], " \t\r\n\v\f")
	case assigned:
		return valueFollows(text, at+trigger, m.solid)
	default:
		return true
	}
}

// valueFollows reports whether after an identifier that begins before at an operator and a
// run of n bytes follow. It says yes too often, never too seldom.
func valueFollows(text string, at, n int) bool {
	i := at
	for i < len(text) && i < at+80 && (word(text[i]) || strings.IndexByte(" \t\r\n\v\f.-'\"", text[i]) >= 0) {
		i++
	}
	if i == len(text) || strings.IndexByte("=>:|?,", text[i]) < 0 {
		return false
	}
	for i < len(text) && strings.IndexByte("=>:|?,`'\" \t\r\n\v\f", text[i]) >= 0 {
		if text[i] == '=' {
			n-- // it may be the value's
		}
		i++
	}
	if i+n > len(text) {
		return false
	}
	return n <= 0 || !strings.ContainsAny(text[i:i+n], " \t\r\n\v\f`'\";")
}

// match is where an expression matched, [from, to), and the secret in it.
type match struct{ from, to, start, end int }

// window is how far a rule looks at first; most secrets are shorter.
const window = 4 << 10

// at matches the rule where its trigger stands.
func (m *matcher) at(text string, at int) (match, bool) {
	if m.form == byFunction {
		start, end := m.find(text, at)
		return match{from: at, to: max(end, at+1), start: start, end: end}, end > start
	}
	re := m.expressions().body
	// A bounded view keeps a text full of triggers from costing its square.
	for size := window; ; size *= 4 {
		view := text[at:min(len(text), at+size)]
		loc := re.FindStringSubmatchIndex(view)
		if loc == nil {
			return match{}, false
		}
		if loc[1] == len(view) && at+size < len(text) {
			continue
		}
		return m.result(loc, at), true
	}
}

// result picks the secret out of the indexes of a match, as gitleaks does.
func (m *matcher) result(loc []int, at int) match {
	got := match{from: at + loc[0], to: at + loc[1], start: at + loc[0], end: at + loc[1]}
	if m.group > 0 {
		if loc[2*m.group] < 0 {
			got.end = got.start
			return got
		}
		got.start, got.end = at+loc[2*m.group], at+loc[2*m.group+1]
		return got
	}
	for g := 2; g+1 < len(loc); g += 2 {
		if loc[g] >= 0 && loc[g] < loc[g+1] {
			got.start, got.end = at+loc[g], at+loc[g+1]
			return got
		}
	}
	return got
}

// accepts says whether what matched is a secret.
func (m *matcher) accepts(text string, got match) bool {
	secret := text[got.start:got.end]
	if m.entropy > 0 && entropy(secret) <= m.entropy {
		return false
	}
	if m.random && !random(secret) {
		return false
	}
	c := m.expressions()
	if c.allow != nil && c.allow.MatchString(secret) {
		return false
	}
	switch m.form {
	case prefixed:
		return !masked(secret)
	case assigned:
		if c.allowAll != nil && c.allowAll.MatchString(text[extended(text, got.from):got.to]) {
			return false
		}
		return m.secretValue(text, got)
	default:
		return true
	}
}

// extended is where gitleaks' expressions would have begun to match: up to fifty bytes of
// the identifier's beginning. Leaving them out of ours makes them ten times as fast.
func extended(text string, at int) int {
	from := at
	for from > 0 && at-from < 50 && (word(text[from-1]) || text[from-1] == '.' || text[from-1] == '-') {
		from--
	}
	return from
}

// entropy is Shannon's, in bits per character, over bytes.
func entropy(s string) float64 {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	sum := 0.0
	for _, n := range counts {
		if n > 0 {
			f := float64(n) / float64(len(s))
			sum -= f * math.Log2(f)
		}
	}
	return sum
}

func word(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' && c < 128
}
