package secret

import "strings"

// triggers finds the literals with which a match can begin, in one pass and in any case. A pair
// of bytes selects a short list of them. An automaton for these few hundred literals was
// rejected: it would be larger than the processor's caches.
type triggers struct {
	heads [1024]uint16 // by the low five bits of two bytes: 1 + index of the first word of the list
	words []trigger
}

type trigger struct {
	text string // lower case
	rule uint16
	next uint16 // 1 + index
}

func (t *triggers) build(rules []*matcher) {
	n := 0
	for _, m := range rules {
		n += len(m.triggers)
	}
	t.words = make([]trigger, 0, n)
	for i, m := range rules {
		for _, w := range m.triggers {
			h := &t.heads[pair(w[0], w[1])]
			t.words = append(t.words, trigger{text: w, rule: uint16(i), next: *h})
			*h = uint16(len(t.words))
		}
	}
}

// pair is the same for letters that differ in case only.
func pair(a, b byte) int { return int(a&31)<<5 | int(b&31) }

// hasFold reports whether s begins with the lower-case ASCII prefix, in any case.
func hasFold(s, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if lower(s[i]) != prefix[i] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// search is the state of one pass over a text.
type search struct {
	r     *Redactor
	text  string
	spans []span
	upto  map[uint16]int // a rule's matches do not overlap: where its last one ended
	marks [][2]int       // markers that the text holds already
}

// find returns the secrets of a text in no particular order; they can overlap.
func (r *Redactor) find(text string) []span {
	s := search{r: r, text: text}
	for _, i := range r.always {
		s.searchAll(i)
	}
	for i := 0; i+1 < len(text); i++ {
		for w := r.triggers.heads[pair(text[i], text[i+1])]; w != 0; {
			t := &r.triggers.words[w-1]
			if hasFold(text[i:], t.text) {
				s.try(t, i)
			}
			w = t.next
		}
	}
	return s.spans
}

// try tries the rule of a trigger that stands at i.
func (s *search) try(t *trigger, i int) {
	m := s.r.rules[t.rule]
	if m.form == anywhere {
		s.searchAll(t.rule)
		return
	}
	if !m.promising(s.text, i, len(t.text)) || s.upto[t.rule] > i {
		return
	}
	if got, ok := m.at(s.text, i); ok {
		s.keep(t.rule, got)
	}
}

// searchAll looks for a rule in the whole text, the first time it is called for it.
func (s *search) searchAll(i uint16) {
	if s.upto[i] > 0 {
		return
	}
	m := s.r.rules[i]
	re := m.expressions().body
	for _, loc := range re.FindAllStringSubmatchIndex(s.text, -1) {
		s.keep(i, m.result(loc, 0))
	}
	s.skipTo(i, len(s.text)+1)
}

// keep keeps a match if its secret is one.
func (s *search) keep(i uint16, got match) {
	s.skipTo(i, got.to)
	m := s.r.rules[i]
	if got.start >= got.end || !m.accepts(s.text, got) || s.marked(got.start, got.end) {
		return
	}
	s.spans = append(s.spans, span{start: got.start, end: got.end, rule: &m.rule})
}

func (s *search) skipTo(i uint16, to int) {
	if s.upto == nil {
		s.upto = map[uint16]int{}
	}
	s.upto[i] = to
}

// marked reports whether [start, end) is part of a marker, or nothing but markers.
func (s *search) marked(start, end int) bool {
	if s.marks == nil {
		s.marks = [][2]int{}
		for at := 0; ; {
			k := strings.Index(s.text[at:], markerStart)
			if k < 0 {
				break
			}
			at += k
			n := max(s.r.marker(s.text[at:]), 1)
			if n > 1 {
				s.marks = append(s.marks, [2]int{at, at + n})
			}
			at += n
		}
	}
	for _, m := range s.marks {
		if m[0] <= start && start < m[1] {
			start = m[1] // markers can follow each other
		}
	}
	return start >= end
}
