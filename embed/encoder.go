package embed

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
	// Name tells vectors of one encoder from those of another: model, size and
	// a part of the checksum of its weights. Vectors of two names must never
	// meet in one cosine.
	Name() string
	// Dim is the number of values of a vector.
	Dim() int
}
