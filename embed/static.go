package embed

import (
	"context"
	_ "embed"
	"strings"
	"sync"
)

//go:embed table/vocab.txt
var vocabulary30k string

//go:embed table/table.bin
var table256 string

// static is the encoder that is built in: each token has a vector in a table,
// and a text's vector is the sum of its tokens', brought to length 1. Order and
// context are lost, which costs some precision and makes it ten thousand times
// as fast as the transformer whose outputs the table was trained on.
type static struct {
	words *wordPieces
	rows  *table
	name  string
}

// loadStatic is done once, by the first who needs it: indexing the vocabulary
// takes about a millisecond, the table is read in place.
var loadStatic = sync.OnceValues(func() (*static, error) {
	return newStatic(vocabulary30k, table256)
})

// Static gives the encoder that is built in. It needs no file and no download,
// takes some microseconds a text, and may be used by any number of goroutines.
// Equal texts give equal vectors, to the bit, on every machine.
//
// A text's first 64 KiB count. Tokens are weighed in the table: the rarer, the
// more. Tokens without meaning to it are skipped; a text of nothing else, and
// the empty text, give the zero vector, whose cosine to everything is 0.
// The error says that the table built in is damaged.
func Static() (Encoder, error) {
	s, err := loadStatic()
	if err != nil {
		return nil, err
	}
	return s, nil
}

// newStatic makes an encoder of a vocabulary, one token a line, and a table
// with as many rows.
func newStatic(vocab, data string) (*static, error) {
	rows, err := openTable(data)
	if err != nil {
		return nil, err
	}
	words := newWordPieces(vocab)
	if n := len(words.begin) - 1; n != rows.n {
		return nil, &TableError{Problem: "it has not one row for each token of the vocabulary"}
	}
	return &static{words: words, rows: rows, name: "static-minilm-256@" + rows.sum}, nil
}

// Name is the model's with the first 8 hex digits of the table's checksum.
func (s *static) Name() string { return s.name }

// Dim is 256.
func (s *static) Dim() int { return s.rows.dim }

// Encode gives one vector a text. See [Static].
func (s *static) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	space := make([]float32, len(texts)*s.rows.dim)
	var ids []int32
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors[i] = space[i*s.rows.dim : (i+1)*s.rows.dim : (i+1)*s.rows.dim]
		ids = s.words.ids(ids[:0], clean(cut(text, longestText)))
		for _, id := range ids {
			s.rows.add(vectors[i], id)
		}
		unit(vectors[i])
	}
	return vectors, nil
}

// Knows reports whether a text holds a word, of three letters or more, that the
// built-in encoder has whole. Of one that it puts together from syllables only
// (a made-up name, another language) the vector means next to nothing, though
// it is near to something as every vector is.
func Knows(text string) (bool, error) {
	s, err := loadStatic()
	if err != nil {
		return false, err
	}
	for word := range strings.FieldsSeq(clean(cut(text, longestText))) {
		word = strings.TrimFunc(word, punctuation)
		if len(word) < 3 {
			continue
		}
		hash := uint32(fnvOffset)
		for i := range len(word) {
			hash = (hash ^ uint32(word[i])) * fnvPrime
		}
		if _, ok := s.words.id(word, hash, false); ok {
			return true, nil
		}
	}
	return false, nil
}

// longestText is how much of a text counts, in bytes: as much as a fact may hold.
const longestText = 64 << 10
