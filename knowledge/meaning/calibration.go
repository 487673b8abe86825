package meaning

import "math"

// Calibration says what the cosines of an encoder are worth. All of it was
// measured: see the package's document.
type Calibration struct {
	Words float64 // the weight of words beside meaning
	floor float64 // the cosine in a store of 250 facts at which strangers are turned away
	asked float64 // the same where the caller asked for meaning
	rise  float64 // that of asked with the logarithm of a store of more
}

// Calibrated is that of the built-in table, or of sentence transformers.
func Calibrated(e Encoding) Calibration {
	if e.Instant {
		return Calibration{Words: .7, floor: .38, asked: .30, rise: .045}
	}
	return Calibration{Words: .65, floor: .38, asked: .30, rise: .03}
}

// slope is how a floor rises with the logarithm of the store, between the
// smallest and the largest that were looked at.
const (
	slope    = .03
	smallest = 20
	usual    = 250
	largest  = 100_000
)

// Least is the cosine under which nothing is said to be near, in a store of so
// many versions: chance comes nearer where there are more.
func (c Calibration) Least(asked bool, versions int) float64 {
	folds := math.Log(float64(min(max(versions, smallest), largest)) / usual)
	least := c.floor + slope*folds
	if asked {
		least = min(least, c.asked+max(slope*folds, c.rise*folds)) // folds may be below 0
	}
	return least
}

// Alike is a cosine as a relevance: the floor is that of words, and a cosine
// of 1 is 1.
func Alike(cosine, least float64) float64 {
	return min(1, max(0, .3+.7*(cosine-least)/(1-least)))
}
