package meaning

import (
	"context"
)

// Semantic compares texts by meaning. Vectors of two encoders are never
// compared: whoever asks names the encoder, by one of [Vectors.Encoders].
type Semantic interface {
	// Encode gives the vectors of those questions that hold a word which the
	// encoder knows.
	Encode(ctx context.Context, encoder string, questions []string) ([][]float32, error)

	// Of gives the vectors of facts. An instant encoder makes them, of another one
	// those that are kept are found; nil for one that there is not.
	Of(ctx context.Context, encoder string, texts []Text) ([][]float32, error)

	// Near gives the kept vectors that are nearest to any of these, the nearest
	// first.
	Near(ctx context.Context, encoder string, questions [][]float32, limit int) ([]Near, error)

	// Learn makes and keeps the vectors that these texts lack, in their order,
	// and says how many it made. When ctx ends what was made is kept, so that
	// the next call goes on from there.
	Learn(ctx context.Context, encoder string, texts []Text, progress func(done, missing int)) (int, error)

	// Pairs gives the pairs of texts that are near, the nearest first, by the
	// vectors that are kept.
	Pairs(ctx context.Context, encoder string, p Pairing) ([]Pair, error)

	// Lacking counts those of texts that have no vector of an encoder.
	Lacking(encoder string, texts []Text) int
}

// Vectors tells about vectors, and takes them away.
type Vectors interface {
	// Encoders are those that can be used now, the best first. wanted: there
	// is a question for them. The last one is instant.
	Encoders(wanted bool) []Encoding

	// Report says what is kept.
	Report() VectorReport

	// Facts counts the vectors of an encoder, those of questions aside.
	Facts(encoder string) int

	// Drop takes the vectors of these versions off the disk, all where ids is
	// nil.
	Drop(ids []string) error
}

// Encoding is an encoder that can be used. An instant one takes microseconds a
// text, any other so long that only a server has the time.
type Encoding struct {
	Name    string
	Instant bool
}

// Text is a text to be encoded, and the version of a fact that it is of.
type Text struct{ ID, Text string }

// Pairing asks which of some texts are near each other: each of the first so many
// with all after it.
type Pairing struct {
	Texts []Text
	First int
	Least float64 // the cosine of a pair
	Limit int     // the most pairs that one of the first is given
	// Allowed says whether two texts, by their places, may be a pair. Several
	// goroutines ask.
	Allowed func(i, j int) bool
}

// Pair is two texts, by their places.
type Pair struct {
	A, B   int
	Cosine float64
}

// Near is the id of a [Text] and its cosine, -1 to 1.
type Near struct {
	ID     string
	Cosine float64
}

// VectorReport says what vectors there are.
type VectorReport struct {
	Model        string          // "present", "built-in" or "broken"
	AutoDownload bool            // a model is downloaded when it is first needed
	Path         string          // of the file that describes them
	Entries      []VectorEntries // by encoder
	Why          string          // what is used, and why nothing better
}

// VectorEntries counts the vectors of one encoder.
type VectorEntries struct {
	Encoder string `json:"encoder"`
	Entries int    `json:"entries"`
}
