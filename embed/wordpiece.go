package embed

import (
	"hash/maphash"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// longestWord is the longest word, in runes, that WordPiece takes apart; the
// reference tokenizer gives up there too.
const longestWord = 100

// wordPieces takes texts apart into the entries of a vocabulary, as the uncased
// BERT tokenizer does: words, single punctuation marks and single ideographs,
// each cut into the longest entries that fit, from the left. Entries that go on
// a word begin with ## in the vocabulary.
//
// Entries are found by open addressing. A map of strings takes 2 ms more to make,
// in every command that asks by meaning.
type wordPieces struct {
	vocab   string   // one entry a line
	begin   []uint32 // where each line begins, and the end of the last one
	slots   []uint16 // id + 1 of an entry, from the place of its hash on
	seed    maphash.Seed
	longest int // bytes of an entry
}

// maxVocabulary is how many entries there may be: a slot stays empty.
const maxVocabulary = 1<<16 - 2

// newWordPieces indexes a vocabulary, one entry a line.
func newWordPieces(vocab string) *wordPieces {
	w := &wordPieces{vocab: vocab, begin: make([]uint32, 1, strings.Count(vocab, "\n")+1), slots: make([]uint16, 1<<16), seed: maphash.MakeSeed()}
	for line := range strings.Lines(vocab) {
		at := w.slot(strings.CutPrefix(strings.TrimSuffix(line, "\n"), "##"))
		for w.slots[at] != 0 {
			at++
		}
		w.slots[at] = uint16(len(w.begin))
		w.begin = append(w.begin, w.begin[len(w.begin)-1]+uint32(len(line)))
		w.longest = max(w.longest, len(line)-1)
	}
	return w
}

// slot is where the search for an entry begins, of which piece is all but its ##.
func (w *wordPieces) slot(piece string, inside bool) uint16 {
	hash := maphash.String(w.seed, piece)
	if inside {
		hash >>= 16
	}
	return uint16(hash)
}

// id finds the entry that is a word's beginning, or one inside it.
func (w *wordPieces) id(piece string, inside bool) (int32, bool) {
	for at := w.slot(piece, inside); w.slots[at] != 0; at++ {
		id := w.slots[at] - 1
		entry, goesOn := strings.CutPrefix(w.vocab[w.begin[id]:w.begin[id+1]-1], "##")
		if entry == piece && goesOn == inside {
			return int32(id), true
		}
	}
	return 0, false
}

// size is how many entries there are.
func (w *wordPieces) size() int { return len(w.begin) - 1 }

// ids appends to dst the ids of a clean text. A word that no entries make up
// gives none: it says nothing to a table, and [UNK] would say the same of every
// such word.
func (w *wordPieces) ids(dst []int32, text string) []int32 {
	for word := range split(text) {
		dst = w.word(dst, word)
	}
	return dst
}

// split gives the words of a clean text: punctuation marks and ideographs are
// words of their own.
func split(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := -1 // where the word being read begins
		for i, r := range text {
			alone := ideograph(r) || punctuation(r)
			if !alone && r != ' ' {
				if start < 0 {
					start = i
				}
				continue
			}
			if start >= 0 && !yield(text[start:i]) || alone && !yield(text[i:i+utf8.RuneLen(r)]) {
				return
			}
			start = -1
		}
		if start >= 0 {
			yield(text[start:])
		}
	}
}

// word appends the ids of one word, none when it cannot be made up of entries.
func (w *wordPieces) word(dst []int32, word string) []int32 {
	if len(word) > longestWord && utf8.RuneCountInString(word) > longestWord {
		return dst
	}
	had := len(dst)
	for inside := false; word != ""; inside = true {
		end := min(len(word), w.longest)
		for ; end > 0; end-- {
			if id, ok := w.id(word[:end], inside); ok {
				dst = append(dst, id)
				break
			}
		}
		if end == 0 {
			return dst[:had]
		}
		word = word[end:]
	}
	return dst
}

// punctuation reports whether a rune is a word of its own: all of ASCII that is
// neither letter, digit nor space, and what Unicode calls punctuation.
func punctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z' && r < 0x7f
	}
	return unicode.IsPunct(r)
}

// clean gives a text the form that an uncased BERT vocabulary is made for:
// lower case, without accents, control and format characters, and with plain
// spaces. It is the normalizer of the reference tokenizer, done beforehand and
// for both encoders: any string is fine, invalid UTF-8 included, and what comes
// out is valid and stays the same when cleaned again.
//
// The steps, in order: remove invalid bytes; lower case; canonical
// decomposition; remove non-spacing marks (Mn); remove controls, format
// characters, private use and U+FFFD; turn every space into a plain one. The order
// matters: an accent is a separate mark only after decomposition.
func clean(text string) string {
	if plain(text) {
		return text
	}
	if !ascii(text) {
		text = strings.ToValidUTF8(text, "")
		text = norm.NFD.String(strings.Map(unicode.ToLower, text))
	}
	return strings.Map(cleanRune, text)
}

// cleanRune gives a rune of a decomposed text as the vocabulary knows it, -1
// for what is left out.
func cleanRune(r rune) rune {
	switch {
	case r == '\t' || r == '\n' || r == '\r':
		return ' '
	case 'A' <= r && r <= 'Z':
		return r + 'a' - 'A'
	case r >= ' ' && r < 0x7f:
		return r
	case r < 0xa0 || r == utf8.RuneError || unicode.In(r, unicode.Mn, unicode.Cc, unicode.Cf, unicode.Co):
		return -1
	case unicode.In(r, unicode.Z):
		return ' '
	}
	return unicode.ToLower(r) // decomposing gave back a few capitals, such as those of ℃
}

// plain reports whether clean would leave a text as it is: small ASCII.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= 0x7f || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

// ascii reports whether a text has no byte above 0x7f.
func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
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
