package bench

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// made is the JSON lines of n facts.
func made(t *testing.T, seed uint64, n int) (string, []fact, *corpus) {
	t.Helper()
	var b bytes.Buffer
	c := newCorpus(seed, n)
	facts := make([]fact, n)
	for i := range facts {
		facts[i] = c.next()
		if err := facts[i].write(&b); err != nil {
			t.Fatal(err)
		}
	}
	return b.String(), facts, c
}

func TestSameSeedSameBytes(t *testing.T) {
	one, facts, c := made(t, 7, 3000)
	again, factsAgain, d := made(t, 7, 3000)
	if one != again {
		t.Error("the same seed gave other facts")
	}
	same := cmp.AllowUnexported(questions{}, fact{})
	if diff := cmp.Diff(c.ask(facts), d.ask(factsAgain), same); diff != "" {
		t.Errorf("the same seed asked otherwise: %s", diff)
	}
	if other, _, _ := made(t, 8, 3000); one == other {
		t.Error("another seed gave the same facts")
	}
	// The first line as it always was: a figure of last year must be one of the
	// same facts.
	const want = `{"category":"deployment","key":"kutodo-log","value":"Bidiwe process package not `
	if line, _, _ := strings.Cut(one, "\n"); !strings.HasPrefix(line, want) {
		t.Errorf("the generator has changed, so that older figures are of other facts: %s", line)
	}
}

func TestVocabulary(t *testing.T) {
	v := newVocabulary(20_000)
	if len(v.words) != 20_000 || len(v.sums) != 20_000 {
		t.Fatalf("%d words, %d weights", len(v.words), len(v.sums))
	}
	seen := map[string]bool{}
	for _, w := range v.words {
		if seen[w] {
			t.Fatalf("%q comes twice", w)
		}
		seen[w] = true
	}
	if !strings.Contains(functionWords, v.words[v.content-1]) || v.words[v.content] != "service" {
		t.Errorf("meaning begins at %q after %q", v.words[v.content], v.words[v.content-1])
	}
	// Zipf: twice as far back, half as often, once the shift no longer matters.
	weight := func(r int) float64 { return float64(v.sums[r] - v.sums[r-1]) }
	for _, r := range []int{100, 1000, 9000} {
		if ratio := weight(r) / weight(2*r); ratio < 1.9 || ratio > 2.1 {
			t.Errorf("rank %d comes %.2f times as often as %d", r, ratio, 2*r)
		}
	}
}

func TestFactsLookReal(t *testing.T) {
	const n = 4000
	_, facts, c := made(t, 1, n)
	styles := map[string]*regexp.Regexp{
		"camel": regexp.MustCompile(`^[a-z]+([A-Z][a-z]+)+\d*$`), "snake": regexp.MustCompile(`^[a-z]+(_[a-z]+)+\d*$`),
		"kebab": regexp.MustCompile(`^[a-z]+(-[a-z]+)+\d*$`),
	}
	count := map[string]int{}
	names := map[string]bool{}
	for _, f := range facts {
		name := f.Category + "/" + strings.ToLower(f.Key)
		if names[name] {
			t.Fatalf("%s comes twice", name)
		}
		names[name] = true
		if w := len(strings.Fields(f.Value)); w < 5 || w > 40 {
			t.Errorf("a value of %d words: %s", w, f.Value)
		}
		for style, re := range styles {
			if re.MatchString(f.Key) {
				count[style]++
			}
		}
		for what, ok := range map[string]bool{
			"superseded": f.was != "", "confirmed": f.Confirmations > 1, "aliases": f.aliases != nil, "tags": f.tags != nil, "source": f.Source != "",
		} {
			if ok {
				count[what]++
			}
		}
		count["room "+f.Category]++
	}
	for what, share := range map[string][2]float64{
		"camel": {.15, .35}, "snake": {.15, .35}, "kebab": {.4, .6}, "superseded": {.03, .07}, "confirmed": {.07, .13},
		"aliases": {.003, .02}, "tags": {.003, .02}, "source": {.25, .35}, "room architecture": {.06, .1}, "room glossary": {.0001, .01},
	} {
		if got := float64(count[what]) / n; got < share[0] || got > share[1] {
			t.Errorf("%s: %.3f, want %v", what, got, share)
		}
	}
	if most := c.counts[c.words.words[0]]; most < n/2 {
		t.Errorf("%q comes %d times in %d facts", c.words.words[0], most, n)
	}
}

func TestQuestions(t *testing.T) {
	_, facts, c := made(t, 1, 2000)
	q := c.ask(facts)
	holding := func(word string) (n int) {
		for _, f := range facts {
			if strings.Contains(" "+strings.ToLower(f.Value)+" ", " "+word+" ") {
				n++
			}
		}
		return n
	}
	for _, w := range q.rare {
		if n := holding(w); n < 1 || n > 3 {
			t.Errorf("the rare word %q is in %d facts", w, n)
		}
	}
	for _, w := range q.common {
		if n := holding(w); n < 50 {
			t.Errorf("the common word %q is in %d facts", w, n)
		}
	}
	for _, w := range q.missing {
		if n := holding(w); n > 0 {
			t.Errorf("the missing word %q is in %d facts", w, n)
		}
	}
	if len(q.rare) != questionsMost || len(q.several) != questionsMost || len(q.keys) != questionsMost {
		t.Errorf("%d rare, %d several, %d keys", len(q.rare), len(q.several), len(q.keys))
	}
}
