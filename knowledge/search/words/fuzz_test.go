package words

import (
	"strings"
	"testing"
)

// FuzzTerms: any text has words; none is empty or without end, and a memory of words changes nothing.
func FuzzTerms(f *testing.F) {
	for _, s := range []string{"", "auth token", "\xff\xfe\x00", "a_b-c.d/e\\f:g@h'i", "日本語 text", "C++ #", "2.6.1 v1.2", "ＡＢＣ", "'s", "ـ", "كتـاب ـَ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		terms := Terms(text)
		for _, term := range terms {
			if term == "" || len(term) > maxTermBytes+8 {
				t.Fatalf("Terms(%q) has %q", text, term)
			}
		}
		known := NewLexicon()
		for range 2 {
			var again []string
			known.Scan(text, func(tok Token) { again = append(again, tok.Term) })
			if strings.Join(again, "\x00") != strings.Join(terms, "\x00") {
				t.Fatalf("Terms(%q) is %q, with a memory %q", text, terms, again)
			}
		}
	})
}
