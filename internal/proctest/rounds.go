package proctest

// Rounds is how many of n equal rounds a test does: each [Stride]-th, and one at least.
func Rounds(n int) int { return max(1, n/Stride) }
