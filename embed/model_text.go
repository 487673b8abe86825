package embed

import (
	"strings"
	"unicode"
)

// maxBytes bounds how much of a text is looked at: 128 words, the most that can
// count, are far shorter unless they are no words.
const maxBytes = 16 << 10

// words gives the first words of a text, cleaned, at most n: punctuation marks
// and ideographs are words of their own.
func words(text string, n int) []string {
	var apart strings.Builder
	for _, r := range clean(cut(text, maxBytes)) {
		if alone := ideograph(r) || punctuation(r); alone {
			apart.WriteByte(' ')
			apart.WriteRune(r)
			apart.WriteByte(' ')
		} else {
			apart.WriteRune(r)
		}
	}
	all := strings.Fields(apart.String())
	return all[:min(len(all), n)]
}

// cut gives the whole runes within the first n bytes.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && text[n]&0xC0 == 0x80 {
		n--
	}
	return text[:n]
}

// ideograph reports whether a rune is a word of its own to BERT: Chinese
// characters, not kana and not Hangul.
func ideograph(r rune) bool {
	return r >= 0x3400 && unicode.In(r, ideographs)
}

var ideographs = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x3400, Hi: 0x4DBF, Stride: 1}, {Lo: 0x4E00, Hi: 0x9FFF, Stride: 1}, {Lo: 0xF900, Hi: 0xFAFF, Stride: 1}},
	R32: []unicode.Range32{
		{Lo: 0x20000, Hi: 0x2A6DF, Stride: 1}, {Lo: 0x2A700, Hi: 0x2B73F, Stride: 1}, {Lo: 0x2B740, Hi: 0x2B81F, Stride: 1},
		{Lo: 0x2B820, Hi: 0x2CEAF, Stride: 1}, {Lo: 0x2F800, Hi: 0x2FA1F, Stride: 1},
	},
}
