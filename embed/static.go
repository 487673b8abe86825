package embed

import (
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"sync"

	"leanctx/embed/vectors"
)

// unit brings a vector to length 1; a vector of zeros stays.
//
// Products are rounded by a conversion before they are added, here as in add:
// a compiler may otherwise fuse the two on some machines and not on others.
func unit(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(float64(x) * float64(x))
	}
	if sum == 0 {
		return
	}
	norm := math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) / norm)
	}
}

//go:embed table/vocab.txt
var vocabulary30k string

//go:embed table/table.bin
var table256 string

// StaticEncoder is the built-in encoder. Each token has a vector in a table, and a
// text's vector is the sum of its tokens' vectors, scaled to length 1. Order and
// context are lost, which costs some precision. It is ten thousand times as fast as
// the transformer whose outputs the table was trained on.
type StaticEncoder struct {
	words *wordPieces
	rows  *table
	name  string
}

// Static gives the encoder that is built in. It needs no file and no download,
// takes some microseconds a text, and may be used by any number of goroutines.
// Equal texts give equal vectors, to the bit, on every machine.
//
// A text's first 64 KiB count. Tokens are weighed in the table: the rarer, the
// more. Tokens without meaning to it are skipped; a text of nothing else, and
// the empty text, give the zero vector, whose cosine to everything is 0.
func Static() *StaticEncoder { return loadStatic() }

// loadStatic is done once, by the first who needs it: indexing the vocabulary
// takes some milliseconds, the table is read in place.
var loadStatic = sync.OnceValue(func() *StaticEncoder {
	s, err := newStatic(vocabulary30k, table256)
	if err != nil {
		panic(err) // the program was built of other files than its tests
	}
	return s
})

// newStatic makes an encoder of a vocabulary, one token a line, and a table
// with as many rows.
func newStatic(vocab, data string) (*StaticEncoder, error) {
	rows, err := openTable(data)
	if err != nil {
		return nil, err
	}
	words := newWordPieces(vocab)
	if words.size() != rows.n {
		return nil, errors.New("token table: it has not one row for each token of the vocabulary")
	}
	return &StaticEncoder{words: words, rows: rows, name: "static-minilm-256@" + rows.sum}, nil
}

// Name is the model's with the first 8 hex digits of the table's checksum.
func (s *StaticEncoder) Name() string { return s.name }

// Dim is 256.
func (s *StaticEncoder) Dim() int { return s.rows.dim }

// Encode gives one vector a text. See [Static].
func (s *StaticEncoder) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	return s.EncodeIn(ctx, texts, nil)
}

// EncodeIn implements [vectors.SpaceEncoder].
func (s *StaticEncoder) EncodeIn(ctx context.Context, texts []string, in *vectors.Space) ([][]float32, error) {
	all := make([][]float32, len(texts))
	var ids []int32
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v := in.Vector(s.rows.dim)
		ids = s.words.ids(ids[:0], clean(cut(text, longestText)))
		for _, id := range ids {
			s.rows.add(v, id)
		}
		unit(v)
		all[i] = v
	}
	return all, nil
}

// Knows reports whether a text has a word of three letters or more that is in the
// vocabulary. A word that is only composed of word pieces (a made-up name, another
// language) has a vector that means almost nothing, though some vector is always near.
func (s *StaticEncoder) Knows(text string) bool {
	for word := range strings.FieldsSeq(clean(cut(text, longestText))) {
		word = strings.TrimFunc(word, punctuation)
		if _, ok := s.words.id(word, false); ok && len(word) >= 3 {
			return true
		}
	}
	return false
}

// longestText is how much of a text counts, in bytes: as much as a fact may hold.
const longestText = 64 << 10

// # The file of a token table
//
// All numbers are little endian.
//
//	0   8 bytes   "lctable1"
//	8   uint32    rows
//	12  uint32    values a row
//	16  32 bytes  sha256 of all that follows the head
//	48  16 bytes  zero
//	64  float32   the scale of each row; the weight of its token is in it
//	    int8      the values, row by row; a value times its row's scale is meant
const (
	tableMagic = "lctable1"
	tableHead  = 64
)

// table is a token table, read where it lies.
type table struct {
	n, dim int
	sum    string // the first 8 hex digits of its checksum
	scales string // 4 bytes a row
	values string // dim bytes a row
}

// openTable checks the head and the length. The checksum over 8 MB is left to
// tests: the data is part of the program.
func openTable(data string) (*table, error) {
	if len(data) < tableHead || data[:len(tableMagic)] != tableMagic {
		return nil, errors.New("token table: it does not begin with " + tableMagic)
	}
	head := []byte(data[:tableHead])
	n, dim := int64(binary.LittleEndian.Uint32(head[8:])), int64(binary.LittleEndian.Uint32(head[12:]))
	if n == 0 || dim == 0 || n > 1<<20 || dim > 1<<12 || int64(len(data)) != tableHead+n*(4+dim) {
		return nil, errors.New("token table: its length is not that of its rows")
	}
	body := data[tableHead:]
	return &table{
		n:      int(n),
		dim:    int(dim),
		sum:    hex.EncodeToString(head[16:20]),
		scales: body[:4*n],
		values: body[4*n:],
	}, nil
}

// add adds the vector of a token, which must be below n, to v, of dim values.
func (t *table) add(v []float32, id int32) {
	at := int(id)
	s := t.scales[4*at : 4*at+4]
	scale := math.Float32frombits(uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24)
	row := t.values[at*t.dim : (at+1)*t.dim]
	v = v[:len(row)]
	for i := range v {
		v[i] += float32(float32(int8(row[i])) * scale)
	}
}
