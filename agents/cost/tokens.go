package cost

import (
	"iter"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// Tokenizer counts o200k tokens. The zero value is ready to use. The first count sets up
// the table, about 50 ms and 15 MB once per process. It is safe for concurrent use.
type Tokenizer struct {
	once  sync.Once
	codec *codec.Codec
}

// Count returns the number of tokens of a text. Invalid UTF-8 counts as the replacement
// characters that a model sees instead. In a longer run of white space, each further
// maxBlank bytes count one token extra at most.
func (t *Tokenizer) Count(text string) int {
	if text == "" {
		return 0
	}
	t.once.Do(func() { t.codec = codec.NewO200kBase() })
	n := 0
	for part := range parts(strings.ToValidUTF8(text, "\uFFFD")) {
		tokens, err := t.codec.Count(part)
		if err != nil {
			tokens = Estimate(len(part)) // unreachable: the only error is a time limit, which we do not set
		}
		n += tokens
	}
	return n
}

// maxBlank is the longest run of white space in bytes that is counted in one piece. For
// each line feed in a run the library scans the rest of it again, so 64 KiB of them take
// seconds.
const maxBlank = 256

// parts splits a text inside long runs of white space.
func parts(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		begin, blank := 0, 0 // start of the part, length of the current run of white space
		for i, r := range text {
			switch {
			case !unicode.IsSpace(r):
				blank = i + utf8.RuneLen(r)
			case i-blank >= maxBlank:
				if !yield(text[begin:i]) {
					return
				}
				begin, blank = i, i
			}
		}
		yield(text[begin:])
	}
}

// Estimate is the estimated number of tokens of a text with that many bytes: a quarter,
// rounded up.
func Estimate(bytes int) int { return (bytes + 3) / 4 }
