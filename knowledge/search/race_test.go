//go:build race

package search

// sample is of how many questions one is asked where many are, to measure how good the answers are: under the race
// detector the figures are not what is looked for.
const sample = 8
