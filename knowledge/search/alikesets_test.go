package search

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"leanctx/knowledge/search/index"
	"leanctx/knowledge/words"
)

// filled is an index and what it was filled with.
type filled struct {
	*Index
	docs []Doc

	words  map[string]bool     // in any field
	values map[string][]string // the facts that hold a word in their value
}

// read takes the words of the facts.
func (x *filled) read() {
	x.words, x.values = map[string]bool{}, map[string][]string{}
	for _, d := range x.docs {
		for f, text := range d.Texts() {
			for _, w := range Terms(text) {
				x.words[w] = true
				if index.Field(f) == index.FieldValue && !slices.Contains(x.values[w], d.ID) {
					x.values[w] = append(x.values[w], d.ID)
				}
			}
		}
	}
}

// alone are the words of questions, each a question.
func alone(questions []string) []string {
	seen := map[string]bool{}
	for _, q := range questions {
		for _, w := range strings.FieldsFunc(strings.ToLower(q), func(r rune) bool { return !unicode.IsLetter(r) }) {
			seen[w] = seen[w] || len(w) >= 3 && !words.IsStop(w)
		}
	}
	maps.DeleteFunc(seen, func(_ string, asked bool) bool { return !asked })
	return slices.Sorted(maps.Keys(seen))
}

// twisted counts how often a distinctive word of a value finds its fact, two letters short and with two letters
// swapped, where that is no word of the store.
func twisted(t *testing.T, x *filled, stored *Index) (asked, found float64) {
	vocabulary := slices.Sorted(maps.Keys(x.values))
	for i := 0; i < len(vocabulary); i += max(1, len(vocabulary)*sample/200) {
		w := vocabulary[i]
		holders := x.values[w]
		if len(holders) > 3 || len(w) < 6 || len(w) > 14 || strings.ContainsFunc(w, func(r rune) bool { return r > unicode.MaxASCII }) || !possible(words.OneEdit, w, false) {
			continue
		}
		m := len(w) / 2
		for _, q := range []string{w[:len(w)-2], w[:m] + w[m+1:m+2] + w[m:m+1] + w[m+2:]} {
			if terms := Terms(q); x.words[q] || len(terms) != 1 || terms[0] != q {
				continue
			}
			asked++
			if slices.Contains(idsOf(t, stored, q), holders[0]) {
				found++
			}
		}
	}
	return asked, found
}

// large is a store of all that is not LoCoMo's.
func large(t *testing.T, dir string) *filled {
	x := &filled{Index: mustOpen(t, "")}
	add := func(d Doc) { mustAdd(t, x.Index, d); x.docs = append(x.docs, d) }
	for _, d := range loadCollection(t, filepath.Join(dir, "cosqa-dev")).docs {
		add(Doc{ID: d.ID, Key: d.ID, Category: "c", Value: d.Text})
	}
	for i, f := range records[fact](t, filepath.Join(dir, "yago11k/facts.jsonl.gz")) {
		add(Doc{ID: fmt.Sprint("y", i), Key: f.Subject, Category: f.Relation, Value: f.Object})
	}
	for i, f := range records[fact](t, filepath.Join(dir, "factconsolidation/facts_32k.jsonl.gz")) {
		add(Doc{ID: fmt.Sprint("z", i), Key: f.Subject, Category: f.Relation, Value: f.Text})
	}
	return x
}

// TestAlikeQuality: how often a word that is not in the store and comes from another set is answered by one that
// is like it, and how often a word of the store that is cut or misspelt finds it.
func TestAlikeQuality(t *testing.T) {
	dir := evalDir(t)
	facts := loadCollection(t, filepath.Join(dir, "locomo-dev/facts"))
	var locomo []string
	for _, q := range facts.queries {
		locomo = append(locomo, q.Text)
	}
	first := func(c *collection) *filled {
		in := c.fill(t, defaultTuning(), shapes["id"])
		group := slices.Min(slices.Collect(maps.Keys(in)))
		x := &filled{Index: in[group]}
		for _, d := range c.docs {
			if d.Group == group {
				x.docs = append(x.docs, shapes["id"](d))
			}
		}
		return x
	}
	for _, tt := range []struct {
		name            string
		x               *filled
		strange         []string
		answered, found float64
	}{
		{"a conversation's facts", first(facts), strangers(t, dir), .16, .95},
		{"its turns", first(loadCollection(t, filepath.Join(dir, "locomo-dev/turns"))), strangers(t, dir), .20, .90},
		{"CoSQA", first(loadCollection(t, filepath.Join(dir, "cosqa-dev"))), locomo, .08, .85},
		{"24,000 facts", large(t, dir), locomo, .12, .65},
	} {
		tt.x.read()
		stored := mustOpen(t, t.TempDir()) // whose words are in order and quickly looked through
		mustSync(t, stored, 1, tt.x.docs)
		n, answered := 0.0, 0.0
		for i, q := range alone(tt.strange) {
			if i%sample != 0 {
				continue
			}
			if terms := Terms(q); len(terms) == 1 && !tt.x.words[terms[0]] {
				n++
				if len(idsOf(t, stored, q)) > 0 {
					answered++
				}
			}
		}
		asked, found := twisted(t, tt.x, stored)
		t.Logf("%-24s of %3.0f words not there answered %.3f; of %3.0f words twisted found %.3f", tt.name, n, answered/n, asked, found/asked)
		if sample > 1 {
			continue // so few judge nothing
		}
		if answered/n > tt.answered || found/asked < tt.found {
			t.Errorf("%s: want at most %.2f answered and at least %.2f found", tt.name, tt.answered, tt.found)
		}
	}
}
