package language

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
	"sync"
)

// frequenciesText is a stem and the number of prompts that hold it, a line each. The first line is the number of prompts.
//
//go:embed frequencies.txt
var frequenciesText string

type frequencies struct {
	prompts int
	of      map[string]int
}

var counted = sync.OnceValue(func() frequencies {
	f := frequencies{of: make(map[string]int, strings.Count(frequenciesText, "\n"))}
	for line := range strings.Lines(frequenciesText) {
		stem, n, _ := strings.Cut(strings.TrimSpace(line), " ")
		count, _ := strconv.Atoi(n) // a test reads the file
		if stem == "prompts" {
			f.prompts = count
			continue
		}
		f.of[stem] = count
	}
	return f
})

// PromptWeight is how rare a stem is among prompts: ln((prompts + 1) / (those that hold it + .5)). The half tells a word of one
// prompt from one of none: the prompts are few.
func PromptWeight(stem string) float64 {
	f := counted()
	return math.Log(float64(f.prompts+1) / (float64(f.of[stem]) + .5))
}
