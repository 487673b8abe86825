package language

import (
	"slices"
	"unicode/utf8"
)

// OneEditApart reports whether one insertion, deletion, change or swap of neighbours makes b of a. The first
// letter must agree: slips are rare there, and it spares most of the dictionary.
func OneEditApart(a, b string) bool {
	if len(a)-len(b) > utf8.UTFMax || len(b)-len(a) > utf8.UTFMax || a == "" || b == "" || a[0] != b[0] {
		return false
	}
	x, y := []rune(a), []rune(b)
	if x[0] != y[0] {
		return false
	}
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(y)-len(x) > 1 {
		return false
	}
	i := 0
	for i < len(x) && x[i] == y[i] {
		i++
	}
	if i == len(x) {
		return true
	}
	if len(x) < len(y) {
		return slices.Equal(x[i:], y[i+1:])
	}
	if slices.Equal(x[i+1:], y[i+1:]) {
		return true
	}
	return i+1 < len(x) && x[i] == y[i+1] && x[i+1] == y[i] && slices.Equal(x[i+2:], y[i+2:])
}
