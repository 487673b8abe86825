package embed

import (
	"context"
	"math"
)

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
