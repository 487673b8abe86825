package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"leanctx/knowledge/words"
)

// sieve tells by the bytes of a fact whether it has a query's words, at a fiftieth of what taking the fact apart
// costs: only what begins like one of them is taken apart. Where an ending is written in an odd way it drops a few.
type sieve struct {
	words   []asked
	terms   map[string]int // the words by their terms
	lexicon *words.Lexicon
	met     map[string]uint64 // what was taken apart, and which of the words it has
	needles []needle
	starts  [1 << 16]uint16 // by a needle's first two bytes: its list, from 1
	lists   [][]needle
	like    uint64 // words of which those alike are let through too, a bit each
	short   [maxTerms][]string
	folded  string // the query as a name

	buf []byte
}

// needle is what every spelling of a word begins with.
type needle struct {
	text   string
	word   int
	inside bool // it may stand anywhere: its script has no spaces
}

// trace is where a fact may have the words of a query, a bit each.
type trace struct{ name, value uint64 }

func newSieve(q *parsed) *sieve {
	s := &sieve{
		words: q.terms[:min(len(q.terms), maxTerms)], terms: map[string]int{}, folded: q.folded,
		lexicon: words.NewLexicon(), met: map[string]uint64{},
	}
	byStart := map[uint16][]needle{}
	put := func(first, second byte, n needle) {
		at := pair(first, second)
		byStart[at] = append(byStart[at], n)
	}
	for i, t := range s.words {
		n := needle{text: beginning(t), word: i}
		first, _ := utf8.DecodeRuneInString(n.text)
		n.inside = words.Unspaced(first) || words.Symbol(first) || first == '.'
		s.needles, s.terms[t.term] = append(s.needles, n), i
		if len(n.text) == 1 {
			for second := range 256 {
				put(n.text[0], byte(second), n)
			}
			continue
		}
		put(n.text[0], n.text[1], n)
		for _, c := range []byte("-_") {
			if n.text[1] != c {
				put(n.text[0], c, n)
			}
		}
	}
	for at, list := range byStart {
		s.lists = append(s.lists, list)
		s.starts[at] = uint16(len(s.lists))
	}
	return s
}

func pair(a, b byte) uint16 { return uint16(a) | uint16(b)<<8 }

// beginning is what the words of one stem begin with: what the stem has in common with the word as it was written,
// without a last vowel that other endings change (city, cities).
func beginning(t asked) string {
	n := len(t.term)
	if t.said != "" {
		for n = 0; n < min(len(t.term), len(t.said)) && t.term[n] == t.said[n]; n++ {
		}
		for n > 0 && n < len(t.term) && !utf8.RuneStart(t.term[n]) {
			n--
		}
	}
	if n > 3 && strings.ContainsRune("eiy", rune(t.term[n-1])) {
		n--
	}
	if n == 0 {
		return t.term
	}
	return t.term[:n]
}

// widen lets facts through that have words like these, a bit each, too.
func (s *sieve) widen(missing uint64) {
	s.like |= missing
	for i, t := range s.words {
		if missing&(1<<i) != 0 {
			s.short[i] = nil
			words.Shortened(t.term, t.said, func(w string) { s.short[i] = append(s.short[i], w) })
		}
	}
}

// trace looks at a fact.
func (s *sieve) trace(d *Doc) trace {
	var t trace
	t.name = s.text(d.Key) | s.text(d.Category)
	for _, a := range d.Aliases {
		t.name |= s.text(a)
	}
	t.value = s.text(d.Value)
	return t
}

// named reports whether the query is one of the fact's names.
func (s *sieve) named(d *Doc) bool {
	if s.folded == "" {
		return false
	}
	same := strings.EqualFold(d.Key, s.folded)
	for _, a := range d.Aliases {
		same = same || strings.EqualFold(a, s.folded)
	}
	if n := len(d.Category); !same && len(s.folded) == n+1+len(d.Key) && s.folded[n] == '/' {
		same = strings.EqualFold(d.Category, s.folded[:n]) && strings.EqualFold(d.Key, s.folded[n+1:])
	}
	return same
}

// text is the words that a text has.
func (s *sieve) text(text string) (found uint64) {
	low, as := s.lower(text)
	for i := 0; i+1 < len(low); i++ {
		if list := s.starts[pair(low[i], low[i+1])]; list > 0 {
			for _, n := range s.lists[list-1] {
				switch {
				case found&(1<<n.word) != 0:
				case n.inside && hasPrefix(low[i:], n.text):
					found |= 1 << n.word
				case !n.inside && begins(as, i) && beginsJoined(low[i:], n.text):
					found |= s.apart(compoundAt(as, i))
				}
			}
		}
	}
	if s.like&^found != 0 {
		found |= s.alike(low, as)
	}
	return found
}

func hasPrefix(b []byte, s string) bool { return len(b) >= len(s) && string(b[:len(s)]) == s }

// beginsJoined is hasPrefix, for parts that are joined to one word too: e-mail begins as email does.
func beginsJoined(b []byte, s string) bool {
	for i := range len(s) {
		for len(b) > 0 && b[0] != s[i] && (b[0] == '-' || b[0] == '_') && i > 0 {
			b = b[1:]
		}
		if len(b) == 0 || b[0] != s[i] {
			return false
		}
		b = b[1:]
	}
	return true
}

// compoundAt is what stands around a place without a space, as far as one word may reach.
func compoundAt(text string, at int) string {
	start, end := at, at
	for start > 0 && at-start < compoundMost && inCompound(text[start-1]) {
		start--
	}
	for end < len(text) && end-at < compoundMost && inCompound(text[end]) {
		end++
	}
	return text[start:end]
}

// compoundMost is how far around a place is looked, in bytes: further than a term is long.
const compoundMost = 128

func inCompound(c byte) bool {
	return c >= utf8.RuneSelf || letter(c) || '0' <= c && c <= '9' || strings.IndexByte(`_-./\:@'+#`, c) >= 0
}

// apart is which of the words a compound has.
func (s *sieve) apart(compound string) uint64 {
	has, ok := s.met[compound]
	if ok {
		return has
	}
	s.lexicon.Scan(compound, func(t words.Token) {
		if i, ok := s.terms[t.Term]; ok {
			has |= 1 << i
		}
	})
	if len(s.met) < metMost {
		s.met[strings.Clone(compound)] = has
	}
	return has
}

// metMost is how many compounds are remembered: texts may be anything.
const metMost = 1 << 16

// lower is a text in lower case with a zero byte after it, and as it was, both of one length.
func (s *sieve) lower(text string) (low []byte, as string) {
	text = words.Level(text)
	s.buf = append(append(s.buf[:0], text...), 0)
	for i, c := range s.buf {
		if 'A' <= c && c <= 'Z' {
			s.buf[i] = c + 'a' - 'A'
		}
	}
	return s.buf, text
}

// begins reports whether a word, or a part of one, begins at a place.
func begins(text string, at int) bool {
	if at == 0 {
		return true
	}
	prev, c := text[at-1], text[at]
	if prev < utf8.RuneSelf {
		return !letter(prev) || !letter(c) || 'A' <= c && c <= 'Z'
	}
	r, _ := utf8.DecodeLastRuneInString(text[:at])
	return utf8.RuneStart(c) && !unicode.IsLetter(r)
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// alike is the words of which a text may have one like them.
func (s *sieve) alike(low []byte, as string) (found uint64) {
	for i := 0; i < len(as); {
		if !begins(as, i) || low[i] < utf8.RuneSelf && !letter(low[i]) {
			i++
			continue
		}
		end := i + 1
		for end < len(as) && (low[end] >= utf8.RuneSelf || letter(low[end])) && !begins(as, end) {
			end++
		}
		for n, t := range s.words {
			if s.like&(1<<n) != 0 && (low[i] == t.term[0] && near(t.term, low[i:end]) || s.shortens(n, low[i:end])) {
				found |= 1 << n
			}
		}
		i = end
	}
	return found
}

// near reports whether a word may be a term with a slip, whatever its ending, or a beginning of it.
func near(term string, word []byte) bool {
	same := 0
	for same < min(len(term), len(word)) && term[same] == word[same] {
		same++
	}
	if same >= 6 && same >= len(word)-3 {
		return true
	}
	for n := len(term) - 1; n <= len(term)+1; n++ {
		if n > 0 && n <= len(word) && n-same < len(term) && words.OneEditApart(term, string(word[:n])) {
			return true
		}
	}
	return false
}

func (s *sieve) shortens(n int, word []byte) bool {
	for _, w := range s.short[n] {
		if hasPrefix(word, w) {
			return true
		}
	}
	return false
}
