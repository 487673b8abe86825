//go:build !race

package search

// sample is of how many questions one is asked where many are: all are.
const sample = 1
