package index_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"leanctx/knowledge/index"
)

// largeDoc is made of words drawn with a Zipf law: the same for the same n and round.
func largeDoc(n, round int) index.Doc {
	r := rand.New(rand.NewPCG(uint64(round), uint64(n)))
	zipf := rand.NewZipf(r, 1.1, 4, 20_000)
	words := make([]string, 5+r.IntN(25))
	for i := range words {
		words[i] = word(zipf.Uint64())
	}
	category := []string{"architecture", "decision", "deployment", "testing"}[n%4]
	key := fmt.Sprintf("%s-%s-%d", words[0], words[1], n)
	value := strings.Join(words, " ")
	return index.Doc{
		ID: category + "/" + key, Category: category, Key: key, Room: category, Value: []string{value}, Hashes: []string{fmt.Sprintf("%016x", r.Uint64())},
		JSON: fmt.Appendf(nil, `{"id":"%016x%016x","category":%q,"key":%q,"value":%q,"confidence":0.9,"valid_from":"2026-01-02T03:04:05Z","recorded_at":"2026-01-02T03:04:05.000000001Z","source":{"agent":"claude-code","session":"0123456789abcdef"}}`,
			r.Uint64(), r.Uint64(), category, key, value),
	}
}

// word spells a number in syllables.
func word(n uint64) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var b strings.Builder
	for n += 200; n > 0; n /= uint64(len(consonants) * len(vowels)) {
		k := n % uint64(len(consonants)*len(vowels))
		b.WriteByte(consonants[k/uint64(len(vowels))])
		b.WriteByte(vowels[k%uint64(len(vowels))])
	}
	return b.String()
}

func largeDocs(n int) func(func(index.Doc) bool) {
	return func(yield func(index.Doc) bool) {
		for i := range n {
			if !yield(largeDoc(i, 0)) {
				return
			}
		}
	}
}
