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

// priorPrompts is added to the number of prompts, as package recall adds to the number of facts: what a few hundred
// prompts do not hold is rare, but how rare they cannot tell.
const priorPrompts = 300

// PromptWeight is how rare a stem is among prompts: ln((prompts + 301) / (those that hold it + 1)).
func PromptWeight(stem string) float64 {
	f := counted()
	return math.Log(float64(f.prompts+priorPrompts+1) / float64(f.of[stem]+1))
}
