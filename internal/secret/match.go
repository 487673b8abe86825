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
	anywhere form = iota // in all of a text that has a trigger
	inLine               // in each line that has a trigger
	prefixed             // at each trigger: the match begins with it
	assigned             // at each trigger: it begins an identifier; an operator and the secret follow
	named                // at each trigger: it is part of a name; see [matcher.named]
	dotted               // where two dots stand with six characters between them: from the beginning of the word
)

// rule is a row of a table.
type rule struct {
	id       string
	form     form
	triggers []string // lower-case ASCII; one of them is in every text that can match
	head     string   // assigned: expression of the identifier
	body     string   // assigned: expression of the secret; else of the whole match
	start    bool     // the trigger must begin a word
	command  string   // expression of the name of a command that must be called before the trigger
	entropy  float64  // bits per character that the secret must exceed
	group    int      // that is the secret; 0: the first that took part, or the whole match
	allow    string   // no secret if it matches this
	allowAll string   // no secret if the whole match matches this
	broad    int      // of overlapping rules the least broad gives the name
	is       func(secret string) bool
}

// matcher is a rule with its expressions.
type matcher struct {
	*rule
	whole, called, allowed, allowedAll expression
}

// expression is one that is compiled when it is first needed.
type expression struct {
	once sync.Once
	*regexp.Regexp
}

func (e *expression) of(text string) *regexp.Regexp {
	e.once.Do(func() { e.Regexp = regexp.MustCompile(text) })
	return e.Regexp
}

// The text between an identifier and its value, and after the value. The first three are
// gitleaks'. After a value gitleaks wants a blank, quote or semicolon. Prose also has
// commas, brackets and full stops.
const (
	gap       = `[ \t\w.-]{0,20}[\s'"]{0,3}`
	operator  = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)`
	opening   = "[\\x60'\"\\s=]{0,5}"
	following = "(?:[\\x60'\"\\s;,)\\]}>&|]|\\.(?:\\s|$)|\\\\[nr]|$)"
)

// expression is that of the whole match.
func (m *matcher) expression() *regexp.Regexp {
	switch m.form {
	case assigned:
		return m.whole.of(`\A` + m.head + gap + operator + opening + `(` + m.body + `)` + following)
	case prefixed, dotted:
		return m.whole.of(`\A(?:` + m.body + `)`)
	}
	return m.whole.of(m.body)
}

// prefilter finds, in one pass over a text, the rules that have a trigger in it.
type prefilter struct {
	first    [1 << 13]uint32 // by the hash of three bytes: the last trigger that begins with them, counted from 1
	triggers []trigger
	short    []trigger // of two bytes
}

// trigger is a word that makes a rule be tried.
type trigger struct {
	word string
	rule int
	next uint32 // the trigger before it with the same hash; 0: none
}

func hash(a, b, c byte) uint32 {
	return (uint32(a) | uint32(b)<<8 | uint32(c)<<16) * 0x9E3779B1 >> 19
}

// add enters the triggers of a rule.
func (p *prefilter) add(rule int, words []string) {
	for _, w := range words {
		if len(w) < 3 {
			p.short = append(p.short, trigger{word: w, rule: rule})
			continue
		}
		at := &p.first[hash(w[0], w[1], w[2])]
		p.triggers = append(p.triggers, trigger{w, rule, *at})
		*at = uint32(len(p.triggers))
	}
}

// rules tells for each of n rules whether one of its triggers is in a text, which is in lower case.
func (p *prefilter) rules(low string, n int) []bool {
	found := make([]bool, n)
	for i := 0; i+3 <= len(low); i++ {
		for next := p.first[hash(low[i], low[i+1], low[i+2])]; next > 0; {
			t := &p.triggers[next-1]
			if !found[t.rule] && strings.HasPrefix(low[i:], t.word) {
				found[t.rule] = true
			}
			next = t.next
		}
	}
	for _, t := range p.short {
		found[t.rule] = found[t.rule] || strings.Contains(low, t.word)
	}
	return found
}

// find adds the secrets of a text to spans. low is the text in lower case. It has a trigger.
func (m *matcher) find(text, low string, spans []span) []span {
	keep := func(loc []int, at int) {
		if s, ok := m.secret(text, loc, at); ok {
			spans = append(spans, s)
		}
	}
	switch m.form {
	case anywhere:
		for _, loc := range m.expression().FindAllStringSubmatchIndex(text, -1) {
			keep(loc, 0)
		}
		return spans
	case inLine:
		next := make([]int, len(m.triggers)) // where each trigger stands next
		for at := 0; at < len(text); {
			first := len(low)
			for i, w := range m.triggers {
				if next[i] < at || at == 0 {
					next[i] = len(low)
					if n := strings.Index(low[at:], w); n >= 0 {
						next[i] = at + n
					}
				}
				first = min(first, next[i])
			}
			if first == len(low) {
				break
			}
			from, to := strings.LastIndexByte(text[:first], '\n')+1, len(text)
			if n := strings.IndexByte(text[first:], '\n'); n >= 0 {
				to = first + n
			}
			for _, loc := range m.expression().FindAllStringSubmatchIndex(text[from:to], -1) {
				keep(loc, from)
			}
			at = to
		}
		return spans
	case dotted:
		for at := 0; ; at++ {
			i := strings.IndexByte(text[at:], '.')
			if i < 0 || at+i+7 >= len(text) {
				return spans
			}
			if at += i; text[at+7] != '.' {
				continue
			}
			from := at
			for from > 0 && at-from < 32 && (word(text[from-1]) || text[from-1] == '-') {
				from--
			}
			if loc := m.match(text, from); loc != nil {
				keep(loc, from)
			}
		}
	case named:
		for _, w := range m.triggers {
			for at := 0; at < len(text); {
				i := strings.Index(low[at:], w)
				if i < 0 {
					break
				}
				next := at + i + len(w)
				if spans, at = m.named(text, low, at+i, w, spans); at < next {
					at = next
				}
			}
		}
		return spans
	}
	for _, w := range m.triggers {
		for at := 0; at < len(text); {
			i := strings.Index(low[at:], w)
			if i < 0 {
				break
			}
			at += i
			if m.start && at > 0 && word(text[at-1]) || m.command != "" && !m.commanded(text, at) {
				at++
			} else if m.form == assigned && !assigns(text[at+len(w):]) {
				at++
			} else if loc := m.match(text, at); loc != nil {
				keep(loc, at)
				at += loc[1]
			} else {
				at++
			}
		}
	}
	return spans
}

// commanded reports whether a flag stands at an offset, and the rule's command before it.
func (m *matcher) commanded(text string, at int) bool {
	if at == 0 || text[at-1] > ' ' && strings.IndexByte("\"'`", text[at-1]) < 0 {
		return false
	}
	before := text[max(0, at-1024):at]
	for end := len(before); ; {
		end = strings.LastIndexByte(before[:end], '\n')
		if end < 0 {
			break
		}
		if !continued(before[:end], text[at-len(before)+end+1:at+2]) {
			before = before[end+1:]
			break
		}
	}
	// A name can also follow what JSON makes of a line's end.
	return m.called.of(`(?:^|[^\w.-]|\\[nrt])` + m.command + `(?:\.exe)?["'\x60)]*\s`).MatchString(before)
}

// continued reports whether two lines are one command: the first ends with a backslash, or in other
// shells ^ or a backtick, or the second begins with a flag.
func continued(first, second string) bool {
	first, second = strings.TrimRight(first, "\r"), strings.TrimLeft(second, " \t")
	return first != "" && strings.IndexByte("\\^`", first[len(first)-1]) >= 0 ||
		len(second) > 1 && second[0] == '-' && (second[1] == '-' || word(second[1]))
}

// assigns reports whether an operator and a value with a digit can follow the trigger of a rule of
// the form assigned. In most prose none does, and the expression need not be tried.
func assigns(rest string) bool {
	i := 0
	for i < len(rest) && i < 80 && (word(rest[i]) || strings.IndexByte(" \t\n\f\r.-'\"", rest[i]) >= 0) {
		i++ // the rest of the identifier, and the gap
	}
	if i == len(rest) || strings.IndexByte("=>:|?,", rest[i]) < 0 {
		return false
	}
	value := strings.TrimLeft(rest[i:min(len(rest), i+1024)], "=>:|?,`'\" \t\n\f\r")
	if end := strings.IndexAny(value, "`'\" \t\n\f\r"); end >= 0 {
		value = value[:end]
	}
	return strings.ContainsAny(value, "0123456789")
}

// window is how far a rule looks at first; most secrets are shorter.
const window = 4 << 10

// match matches the rule where its trigger stands. The offsets count from there.
func (m *matcher) match(text string, at int) []int {
	// A bounded view keeps a text full of triggers from costing its square.
	for size := window; ; size *= 4 {
		view := text[at:min(len(text), at+size)]
		loc := m.expression().FindStringSubmatchIndex(view)
		if loc == nil || loc[1] < len(view) || at+size >= len(text) {
			return loc
		}
	}
}

// secret picks the secret out of a match, as gitleaks does, and judges it.
func (m *matcher) secret(text string, loc []int, at int) (span, bool) {
	got := loc[2*m.group : 2*m.group+2]
	for g := 2; m.group == 0 && g+1 < len(loc); g += 2 {
		if loc[g] >= 0 && loc[g] < loc[g+1] {
			got = loc[g : g+2]
			break
		}
	}
	if got[0] >= got[1] {
		return span{}, false
	}
	s := span{start: at + got[0], end: at + got[1], rule: m.rule}
	secret := text[s.start:s.end]
	if published(secret) || m.entropy > 0 && entropy(secret) <= m.entropy || m.is != nil && !m.is(secret) || m.allow != "" && m.allowed.of(m.allow).MatchString(secret) {
		return s, false
	}
	switch m.form {
	case prefixed:
		return s, !masked(secret)
	case assigned:
		from := extended(text, at+loc[0])
		if !m.secretValue(strings.ToLower(text[from:s.start]), secret) {
			return s, false
		}
		if m.id == "generic-api-key" && (reference(secret) || toldPublic(strings.ToLower(text[max(0, from-maxGap):s.start]))) {
			return s, false
		}
		return s, m.allowAll == "" || !m.allowedAll.of(m.allowAll).MatchString(text[from:at+loc[1]])
	}
	return s, true
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
