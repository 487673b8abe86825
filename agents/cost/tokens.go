package cost

import (
	"iter"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// Tokenizer counts o200k tokens. The zero value is ready; the first count sets
// up the table, which takes some 50 ms and 15 MB once a process. It is safe
// for concurrent use.
type Tokenizer struct {
	once  sync.Once
	codec *codec.Codec
}

// Count returns how many tokens a text is. What is not UTF-8 counts as the
// replacement characters that a model is shown in its place. White space in
// runs of more than maxBlank bytes counts up to one token in each maxBlank too many.
func (t *Tokenizer) Count(text string) int {
	if text == "" {
		return 0
	}
	t.once.Do(func() { t.codec = codec.NewO200kBase() })
	n := 0
	for part := range parts(strings.ToValidUTF8(text, "\uFFFD")) {
		tokens, err := t.codec.Count(part)
		if err != nil {
			tokens = Estimate(len(part)) // a time limit of the splitting expression, and we set none
		}
		n += tokens
	}
	return n
}

// maxBlank is how long a run of white space may be, in bytes. The library looks
// at all of a run with line feeds anew for each of them, so that 64 KiB of them
// take seconds.
const maxBlank = 256

// parts cuts a text where white space is too long.
func parts(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		begin, blank := 0, 0 // of the part, of the run of white space at hand
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

// Estimate is how many tokens a text of so many bytes probably is: a quarter,
// rounded up.
func Estimate(bytes int) int { return (bytes + 3) / 4 }
