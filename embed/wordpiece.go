package embed

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestWord is the longest word, in runes, that WordPiece takes apart; the
// reference tokenizer gives up there too.
const longestWord = 100

// wordPieces takes texts apart into the entries of a vocabulary, as the uncased
// BERT tokenizer does: words, single punctuation marks and single ideographs,
// each cut into the longest entries that fit, from the left. Entries that go on
// a word begin with ## in the vocabulary.
//
// The entries are found in a table of their hashes, made when it is loaded: no
// string is copied, and the hashes of all beginnings of a word are had in one
// pass.
type wordPieces struct {
	vocab string   // one entry a line
	begin []uint32 // where each line begins, and the end of the last one
	slots []uint16 // id + 1 of the entry with a hash, open addressing
}

// The parameters of FNV-1a, 32 bits.
const (
	fnvOffset = 2166136261
	fnvPrime  = 16777619
)

// fnvGoesOn is the hash of "##".
const fnvGoesOn = ((fnvOffset^'#')*fnvPrime&0xffffffff ^ '#') * fnvPrime & 0xffffffff

// newWordPieces indexes a vocabulary of at most 65,534 lines.
func newWordPieces(vocab string) *wordPieces {
	n := strings.Count(vocab, "\n")
	w := &wordPieces{vocab: vocab, begin: make([]uint32, 1, n+1), slots: make([]uint16, 1<<16)}
	hash := uint32(fnvOffset)
	for i := range len(vocab) {
		if c := vocab[i]; c != '\n' {
			hash = (hash ^ uint32(c)) * fnvPrime
			continue
		}
		at := slot(hash)
		for w.slots[at] != 0 {
			at++
		}
		w.slots[at] = uint16(len(w.begin))
		w.begin = append(w.begin, uint32(i+1))
		hash = fnvOffset
	}
	return w
}

// slot is where the search for a hash begins. The upper half is mixed in, since
// FNV spreads its last byte badly over the low bits.
func slot(hash uint32) uint16 { return uint16(hash ^ hash>>15) }

// id finds the entry that is a word's beginning, or with goesOn ## and what
// stands there.
func (w *wordPieces) id(piece string, hash uint32, goesOn bool) (int32, bool) {
	for at := slot(hash); w.slots[at] != 0; at++ {
		id := uint32(w.slots[at] - 1)
		entry := w.vocab[w.begin[id] : w.begin[id+1]-1]
		if goesOn {
			var more bool
			if entry, more = strings.CutPrefix(entry, "##"); !more {
				continue
			}
		}
		if entry == piece {
			return int32(id), true
		}
	}
	return 0, false
}

// ids appends to dst the ids of a clean text. A word that no entries make up
// gives none: it says nothing to a table, and [UNK] would say the same of every
// such word.
func (w *wordPieces) ids(dst []int32, text string) []int32 {
	start := -1 // where the word being read begins
	for i, r := range text {
		alone := ideograph(r) || punctuation(r)
		if !alone && r != ' ' {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			dst = w.word(dst, text[start:i])
			start = -1
		}
		if alone {
			dst = w.word(dst, text[i:i+utf8.RuneLen(r)])
		}
	}
	if start >= 0 {
		dst = w.word(dst, text[start:])
	}
	return dst
}

// word appends the ids of one word, none when it cannot be made up of entries.
func (w *wordPieces) word(dst []int32, word string) []int32 {
	if len(word) > longestWord && utf8.RuneCountInString(word) > longestWord {
		return dst
	}
	had := len(dst)
	var hashes [longestWord * utf8.UTFMax]uint32 // of word[at:at+i+1]
	for at := 0; at < len(word); {
		hash := uint32(fnvOffset)
		if at > 0 {
			hash = fnvGoesOn
		}
		for i := range len(word) - at {
			hash = (hash ^ uint32(word[at+i])) * fnvPrime
			hashes[i] = hash
		}
		end := len(word)
		for ; end > at; end-- {
			if id, ok := w.id(word[at:end], hashes[end-at-1], at > 0); ok {
				dst = append(dst, id)
				break
			}
		}
		if end == at {
			return dst[:had]
		}
		at = end
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
