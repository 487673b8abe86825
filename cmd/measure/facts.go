package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"
)

// madeFact is a fact of the generator, as a JSON line of an import.
type madeFact struct {
	Category      string  `json:"category"`
	Key           string  `json:"key"`
	Value         string  `json:"value"`
	Confidence    float64 `json:"confidence"`
	Source        string  `json:"source,omitempty"`
	ValidFrom     string  `json:"valid_from"`
	Confirmations int     `json:"confirmations,omitempty"`
	Questions     string  `json:"questions,omitempty"`
}

// generator makes facts such as software projects have: always the same ones
// for a number of facts. Words follow Zipf's law, some 200 of them real and the
// rest made of syllables. One fact of twenty superseded another value, one of
// ten was confirmed several times, and every second one has stored questions.
type generator struct {
	rng     *rand.Rand
	zipf    *rand.Zipf
	words   []string // by rank, the most frequent first
	content int      // the rank of the first word that means something
	counts  map[string]int
	taken   map[string]bool
}

const (
	functionWords = "the to of and in is for with a on by when from as not that are only it all must be"
	projectWords  = "service token database request user config error session queue cache server client test build deploy " +
		"migration index timeout retry header endpoint schema worker job event message table column key value log metric trace " +
		"handler middleware router controller model view component hook state store reducer query mutation cursor page limit " +
		"lock transaction commit branch merge release version package module import export interface type struct field method " +
		"function argument return panic exception stack heap thread process signal port socket proxy gateway balancer cluster " +
		"node replica shard partition leader follower snapshot journal backup restore secret certificate password login logout " +
		"role permission policy audit tenant account billing invoice payment order cart product catalog search filter sort " +
		"upload download stream buffer chunk file path directory template render layout style theme locale currency timezone " +
		"scheduler cron webhook callback notification email feature flag rollout canary staging production container"
)

func newGenerator(n int) *generator {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	g := &generator{rng: rng, counts: map[string]int{}, taken: map[string]bool{}}
	g.words = strings.Fields(functionWords)
	g.content = len(g.words)
	g.words = append(g.words, strings.Fields(projectWords)...)
	// The vocabulary grows with the facts, or there would be no rare words.
	size := min(max(n/2, 20_000), 500_000)
	for i := len(g.words); i < size; i++ {
		g.words = append(g.words, spelled(i))
	}
	g.zipf = rand.NewZipf(rng, 1.05, 3, uint64(size-1))
	return g
}

// spelled is the i-th word of syllables. Neighbours have little in common.
func spelled(i int) string {
	const onsets, vowels = "bdfgklmnprstvzhjcw", "aeiou"
	const syllables = uint64(len(onsets) * len(vowels))
	n := uint64(i) * 48_271 % (syllables * syllables * syllables)
	var word strings.Builder
	for range 3 {
		word.WriteString(string(onsets[n%syllables/uint64(len(vowels))]) + string(vowels[n%uint64(len(vowels))]))
		n /= syllables
	}
	return word.String()
}

func (g *generator) chance(percent int) bool { return g.rng.IntN(100) < percent }

// name is two to four words that mean something, as programs write them.
func (g *generator) name() string {
	var parts []string
	for n := 2 + g.rng.IntN(3); len(parts) < n; {
		if rank := int(g.zipf.Uint64()); rank >= g.content {
			parts = append(parts, g.words[rank])
		}
	}
	return strings.Join(parts, [...]string{"-", "_", "-"}[g.rng.IntN(3)])
}

// value is a sentence of 5 to 40 words, most of them short.
func (g *generator) value() string {
	words := make([]string, 5+min(g.rng.IntN(36), g.rng.IntN(36)))
	for i := range words {
		switch n := g.rng.IntN(100); {
		case n < 3:
			words[i] = fmt.Sprint(1 + g.rng.IntN(9999))
		case n < 5:
			words[i] = fmt.Sprintf("src/%s.go", strings.ReplaceAll(g.name(), "-", "/"))
		case n < 8:
			words[i] = g.name()
		default:
			words[i] = g.words[g.zipf.Uint64()]
		}
	}
	return strings.Join(words, " ")
}

var rooms = strings.Fields("architecture decision convention api database testing deployment security frontend performance dependency workflow " +
	"infrastructure auth billing observability data-model error-handling build integration release documentation team glossary")

// firstDay is before every valid_from, and past for any clock.
var firstDay = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

func (g *generator) fact() madeFact {
	f := madeFact{
		Category:   rooms[min(g.rng.IntN(len(rooms)), g.rng.IntN(len(rooms)))],
		Key:        g.name(),
		Value:      g.value(),
		Confidence: float64(50+g.rng.IntN(50)) / 100,
		ValidFrom:  firstDay.AddDate(0, 0, g.rng.IntN(360)).Format(time.DateOnly),
	}
	for g.taken[f.Category+f.Key] {
		f.Key = g.name() + fmt.Sprint("-", g.rng.IntN(1000))
	}
	g.taken[f.Category+f.Key] = true
	for w := range strings.FieldsSeq(f.Value) {
		g.counts[w]++
	}
	if g.chance(30) {
		f.Source = fmt.Sprintf("src/%s.go:%d", g.name(), 1+g.rng.IntN(400))
	}
	if g.chance(10) {
		f.Confirmations = 2 + g.rng.IntN(5)
	}
	if g.chance(50) {
		f.Questions = fmt.Sprintf("where is the %s; how does %s work; what is %s", g.name(), g.name(), g.name())
	}
	return f
}

// questions are about the facts.
type questions struct {
	rare, common, several []string
	keys                  []name
}

// write makes n facts, writes them as JSON lines and returns questions about them.
func (g *generator) write(path string, n int) (q questions, values []string, err error) {
	f, err := os.Create(path)
	if err != nil {
		return q, nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	out := json.NewEncoder(w)
	for i := range n {
		fact := g.fact()
		if g.chance(5) {
			before := fact
			before.Value, before.ValidFrom = g.value(), firstDay.AddDate(0, -6, 0).Format(time.DateOnly)
			if err := out.Encode(before); err != nil {
				return q, nil, err
			}
		}
		if err := out.Encode(fact); err != nil {
			return q, nil, err
		}
		values = append(values, fact.Category+" "+fact.Key+" "+fact.Value+" "+fact.Questions)
		if i%max(n/64, 1) == 0 {
			q.keys = append(q.keys, name{fact.Category, fact.Key})
			q.several = append(q.several, g.question(fact))
		}
	}
	q.common = g.words[g.content : g.content+16]
	for _, word := range g.words[1000:] {
		if count := g.counts[word]; len(q.rare) < 64 && (count == 1 || count == 2) {
			q.rare = append(q.rare, word)
		}
	}
	return q, values, w.Flush()
}

// question asks about a fact in three of its words.
func (g *generator) question(f madeFact) string {
	var words []string
	for _, w := range append(strings.Fields(f.Value), f.Key, f.Key, f.Key) {
		if len(words) < 3 && !slices.Contains(g.words[:g.content], w) {
			words = append(words, w)
		}
	}
	return fmt.Sprintf("how does the %s work with %s and %s?", words[0], words[1], words[2])
}
