package op

import "strings"

// fold is a name without case, separators and surrounding space, so that
// validFrom, valid-from and valid_from are one.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(strings.TrimSpace(name)))
}

// nearest is the one of names that is probably meant by given: one that it
// begins (from three letters), or the least edits away, at most a third of
// its length. The earlier of equals wins.
func nearest(given string, names []string) (string, bool) {
	g := fold(given)
	if len(g) > 64 {
		return "", false
	}
	best, least := "", max(1, len([]rune(g))/3)+1
	for _, name := range names {
		n := fold(name)
		d := edits(g, n)
		if d > 0 && len(g) >= 3 && strings.HasPrefix(n, g) {
			d = 1
		}
		if d < least && d < len(n) {
			best, least = name, d
		}
	}
	return best, best != ""
}

// edits is the number of letters to insert, delete, change or swap with their
// neighbour to make b of a (optimal string alignment).
func edits(a, b string) int {
	x, y := []rune(a), []rune(b)
	two, one, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range one {
		one[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(one[j]+1, row[j-1]+1, one[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], two[j-2]+1)
			}
		}
		two, one, row = one, row, two
	}
	return one[len(y)]
}
