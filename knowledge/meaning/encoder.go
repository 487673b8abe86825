package meaning

import "context"

// Semantic compares texts by meaning. Vectors of two encoders are never
// compared: whoever asks names the encoder, by one of [Vectors.Encoders].
type Semantic interface {
	// Encode gives the vector of a question, nil where it holds no word that
	// the encoder knows.
	Encode(ctx context.Context, encoder, text string) ([]float32, error)

	// Near gives what is nearest in meaning, the nearest first.
	Near(ctx context.Context, encoder string, n Nearby) ([]Near, error)

	// Ahead begins to compare a vector with all that is kept, so that Near, asked
	// for all with this as Nearby.Ahead, has the less to do. It is to be closed.
	Ahead(ctx context.Context, encoder string, vector []float32) Ahead

	// Learn makes and keeps the vectors that these texts lack, in their order,
	// and says how many it made. When ctx ends what was made is kept, so that
	// the next call goes on from there.
	Learn(ctx context.Context, encoder string, texts []Meant, progress func(done, missing int)) (int, error)

	// Pairs gives the pairs of texts that are near, the nearest first, by the
	// vectors that are kept.
	Pairs(ctx context.Context, encoder string, p Pairing) ([]Pair, error)

	// Lacking counts those of texts that have no vector of an encoder.
	Lacking(encoder string, texts []Meant) int
}

// Vectors tells about vectors, and takes them away.
type Vectors interface {
	// Encoders are those that can be used now, the best first. wanted: there
	// is a question for them. The last one is instant.
	Encoders(wanted bool) []Encoding

	// Report says what is kept.
	Report() VectorReport

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

// Meant is a text to be encoded, and the version of a fact that it is of.
type Meant struct{ ID, Text string }

// Ahead is a comparison that was begun beside other work; only who began it
// knows more of it.
type Ahead interface{ Close() }

// Nearby asks for what is near a vector.
type Nearby struct {
	Vector  []float32
	Limit   int
	Allowed func(id string) bool // nil: all

	// Among, where it is not nil, is all that is compared: an instant encoder
	// encodes it on the spot, of another one only what is kept is found.
	Among []Meant
	// Tail may have no vectors yet: an instant encoder encodes it on the spot.
	Tail []Meant
	// Ahead is what was begun for this vector, nil if nothing was.
	Ahead Ahead
}

// Pairing asks which of some texts are near each other: each of the first so many
// with all after it.
type Pairing struct {
	Texts []Meant
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

// Near is a version and its cosine, -1 to 1.
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
