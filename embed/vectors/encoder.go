package vectors

import "context"

// An Encoder turns texts into vectors whose dot product says how close two
// texts are in meaning.
//
// A vector is a function of its text alone: the same text gives the same vector
// whatever stands beside it in the call, and whichever process asks. Texts may
// hold anything, invalid UTF-8 included; a text without meaning to the encoder
// (empty, only unknown characters) gives the zero vector, whose cosine to
// everything is 0.
type Encoder interface {
	// Encode gives one vector a text, in order, each of Dim values and of
	// length 1, or the zero vector. The context is checked between texts; when
	// it ends, its error is given and no vector.
	Encode(ctx context.Context, texts []string) ([][]float32, error)
	// Knows reports whether a text holds a word that means something to the encoder.
	Knows(text string) bool
	// Name tells vectors of one encoder from those of another: model, size and
	// a part of the checksum of its weights. Vectors of two names must never
	// meet in one cosine.
	Name() string
	// Dim is the number of values of a vector.
	Dim() int
}

// A SpaceEncoder also makes vectors that are needed only for a moment.
type SpaceEncoder interface {
	Encoder
	// EncodeIn is Encode. The vectors are in a space.
	EncodeIn(ctx context.Context, texts []string, in *Space) ([][]float32, error)
}

// Encoders are what turns texts into vectors. Vectors of two encoders are never
// compared: whoever asks names the encoder.
type Encoders interface {
	// Usable are those that can be used now, the best first. wanted: there is a
	// question for them. The last one is instant.
	Usable(wanted bool) []Encoding

	// With calls f with the encoder of this name, which is loaded first if necessary.
	With(name string, f func(Encoder) error) error

	// Status tells which model is installed.
	Status() Status
}

// Encoding is an encoder that can be used. An instant one takes microseconds a
// text, any other so long that only a server has the time.
type Encoding struct {
	Name    string
	Instant bool
}

// Status tells which model is installed, and why it is or is not used.
type Status struct {
	Model        string // "present", "built-in" or "broken"
	AutoDownload bool   // a model is downloaded when it is first needed
	Why          string // what is used, and why nothing better
}
