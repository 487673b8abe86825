package words

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"leanctx/internal/proctest"
)

// FuzzTerms: any text has words; none is empty or without end, and a memory of words changes nothing. The work is
// linear. A text gives at most as many tokens as it has bytes, and a token is no longer than the limit. Nothing longer
// than a word reaches a stemmer, so its work on one word is bounded.
func FuzzTerms(f *testing.F) {
	for _, s := range []string{"", "auth token", "\xff\xfe\x00", "a_b-c.d/e\\f:g@h'i", "日本語 text", "C++ #", "2.6.1 v1.2", "ＡＢＣ", "'s", "ـ", "كتـاب ـَ", ".net .NET. .nets"} {
		f.Add(s)
	}
	for _, s := range repeated {
		f.Add(strings.Repeat(s, 300))
	}
	f.Fuzz(func(t *testing.T, text string) {
		var terms []string
		Scan(text, func(tok Token) {
			terms = append(terms, tok.Term)
			if tok.Term == "" || len(tok.Term) > maxTermBytes+8 {
				t.Fatalf("Terms(%q) has %q", text, tok.Term)
			}
			if tok.Kind == Word && longer(tok.Written, maxStemLetters) && tok.Term != clip(tok.Written) {
				t.Fatalf("a word of %d letters was stemmed", utf8.RuneCountInString(tok.Written))
			}
		})
		if most := 18*len(text) + 2; len(terms) > most { // NFKC makes at most 18 characters of one
			t.Fatalf("%d bytes have %d terms", len(text), len(terms))
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

// repeated are beginnings of texts that have cost, or may cost, more than their length.
var repeated = []string{"y", "Y", "yyyyyyyyyyyyy ", "aY", "a1", "1", "a.", "a-", "-", " .a", ".", ".net", ".net ", ".net-- ", "a_B", "'s", "и", "ё", "е\u0308",
	"\u0308", "日", "ー", "日\u0308", "한", "ก้", "שָׁ", "عَ", "ـ", "e\u0301", "ﷺ", "🚀", "\xff", "a++", "a#", "::", "a:", "a:-"}

// TestAnyTextIsCutInLinearTime compares 64 KiB of each kind of text with 64 KiB of prose, in the same run. What was
// quadratic took a thousand times as long and more. The bytes are those after normalization, which makes 33 of ﷺ.
func TestAnyTextIsCutInLinearTime(t *testing.T) {
	const size = 64 << 10
	prose := "The session token of the auth service is kept in Redis for 30 minutes, see src/auth/token_store.go. "
	prose = strings.Repeat(prose, size/len(prose))
	floor := proctest.Best(0, func() { Terms(prose) })
	for _, s := range repeated {
		text := strings.Repeat(s, size/max(len(s), len(compatible(s))))
		if took := proctest.Best(25*floor, func() { Terms(text) }); took > 25*floor {
			t.Errorf("64 KiB of %q took %v, prose %v", s, took, floor)
		} else {
			t.Logf("%-16q %8v (%.1f times prose)", s, took.Round(10*time.Microsecond), float64(took)/float64(floor))
		}
	}
}

func TestLongWordsAreNotStemmed(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{strings.Repeat("y", maxStemLetters-3) + "ing", strings.Repeat("y", maxStemLetters-3)},
		{strings.Repeat("y", maxStemLetters-2) + "ing", strings.Repeat("y", maxStemLetters-2) + "ing"},
		{strings.Repeat("z", 1000), strings.Repeat("z", maxTermBytes)},
	} {
		if got := Terms(tt.text); len(got) != 1 || got[0] != tt.want {
			t.Errorf("Terms of %d letters: %q", len(tt.text), got)
		}
	}
	for _, tt := range []struct{ n, terms int }{{100, 3}, {200, 2}} { // the parts, and the whole of the shorter one
		if got := Terms(strings.Repeat("a", tt.n) + "_" + strings.Repeat("b", tt.n)); len(got) != tt.terms {
			t.Errorf("two words of %d letters: %q", tt.n, got)
		}
	}
}
