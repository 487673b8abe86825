//go:build race

package proctest

// Raced tells that the race detector runs. It is five to twenty times slower and sees a
// race in a few rounds, so a long test then does each Stride-th round only.
const (
	Raced  = true
	Stride = 8
)
