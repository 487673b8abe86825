package prose

import "strings"

// Fold is a name without case, separators and surrounding space, so that
// validFrom, valid-from and valid_from are one.
func Fold(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(strings.TrimSpace(name)))
}

// Nearest is the name that given probably means. That is a name that begins with it, if it has
// three letters, or the name with the fewest edits. There may be one edit for three letters. Of
// equals the first wins.
func Nearest(given string, names []string) (string, bool) {
	g := Fold(given)
	if len(g) > 64 {
		return "", false
	}
	best, least := "", max(1, len([]rune(g))/3)+1
	for _, name := range names {
		n := Fold(name)
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

// edits is the optimal string alignment distance of a and b: the number of letters to
// insert, delete, replace or swap with their neighbour.
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
