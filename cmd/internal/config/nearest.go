package config

import "strings"

// nearest finds the name that was probably meant: at most two edits away, and at most a
// third of its length away.
func nearest(name string, names []string) (string, bool) {
	best, at := "", 3
	for _, n := range names {
		d := distance(strings.ToLower(name), strings.ToLower(n))
		if d < at && 3*d <= max(len(n), 3) {
			best, at = n, d
		}
	}
	return best, best != ""
}

// distance is the optimal string alignment distance: letters inserted, deleted, replaced
// or swapped with their neighbour.
func distance(a, b string) int {
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
