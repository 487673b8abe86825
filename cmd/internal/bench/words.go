package bench

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// The words that stand first, where a Zipf law puts most of the weight: what
// holds sentences together, and what every software project talks about.
const (
	functionWords = "the to of and in is for with a on by when from as not that are only it all must be"

	projectWords = "service token database request user config error session queue cache server client test build deploy " +
		"migration index timeout retry header endpoint schema worker job event message table column key value log metric trace " +
		"handler middleware router controller model view component hook state store reducer query mutation cursor page limit " +
		"lock transaction commit branch merge release version package module import export interface type struct field method " +
		"function argument return panic exception stack heap thread process signal port socket proxy gateway balancer cluster " +
		"node replica shard partition leader follower snapshot journal backup restore secret certificate password login logout " +
		"role permission policy audit tenant account billing invoice payment order cart product catalog search filter sort " +
		"upload download stream buffer chunk file path directory template render layout style theme locale currency timezone " +
		"scheduler cron webhook callback notification email template feature flag rollout canary staging production container " +
		"image registry pipeline artifact coverage fixture mock snapshot lint format compiler linker runtime garbage collector"
)

// vocabulary is words by their rank, the most frequent first, and how often
// they come. Everything about it is whole numbers, so that a seed gives the
// same words on every machine.
type vocabulary struct {
	words   []string
	content int      // the rank of the first word that has a meaning
	sums    []uint64 // of the weights up to and with each rank
}

// newVocabulary makes size words. Beyond the ones that are built in they are
// made of syllables.
func newVocabulary(size int) *vocabulary {
	function := strings.Fields(functionWords)
	v := &vocabulary{content: len(function)}
	seen := make(map[string]bool, size)
	for _, w := range slices.Concat(function, strings.Fields(projectWords)) {
		if !seen[w] {
			seen[w] = true
			v.words = append(v.words, w)
		}
	}
	for i := 0; len(v.words) < size; i++ {
		if w := spelled(i); !seen[w] {
			v.words = append(v.words, w)
		}
	}
	v.weigh()
	return v
}

// weigh gives rank r the weight 1/(r+3): Zipf's law with Mandelbrot's shift,
// without which one word would be a tenth of every text.
func (v *vocabulary) weigh() {
	sum := uint64(0)
	v.sums = make([]uint64, len(v.words))
	for r := range v.words {
		sum += (1 << 40) / uint64(r+3)
		v.sums[r] = sum
	}
}

// draw gives the rank of a word as often as its weight wants it.
func (v *vocabulary) draw(r *rand.Rand) int {
	at := r.Uint64N(v.sums[len(v.sums)-1])
	rank, _ := slices.BinarySearch(v.sums, at+1)
	return rank
}

// meaningful is draw for a word that has a meaning.
func (v *vocabulary) meaningful(r *rand.Rand) string {
	for {
		if rank := v.draw(r); rank >= v.content {
			return v.words[rank]
		}
	}
}

const (
	onsets = "bdfgklmnprstvzhjcw"
	vowels = "aeiou"
)

// spelled is the i-th word of syllables, another one for each i below 729,000.
// Neighbours have little in common: words that differ in one letter only would
// make a search for near words look slower than it is.
func spelled(i int) string {
	const syllables = uint64(len(onsets) * len(vowels))
	n := uint64(i) * 48_271 % (syllables * syllables * syllables)
	var b strings.Builder
	for range 3 {
		b.WriteByte(onsets[n%syllables/uint64(len(vowels))])
		b.WriteByte(vowels[n%uint64(len(vowels))])
		n /= syllables
	}
	return b.String()
}
