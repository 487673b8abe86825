//go:build !race

package proctest

// Raced tells that the race detector runs. A long test does each Stride-th round only.
const (
	Raced  = false
	Stride = 1
)
