package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"
)

// fact is one fact that the generator makes, as the interchange form has it,
// and what that form has no place for.
type fact struct {
	Category      string  `json:"category"`
	Key           string  `json:"key"`
	Value         string  `json:"value"`
	Confidence    float64 `json:"confidence"`
	Source        string  `json:"source,omitempty"`
	ValidFrom     string  `json:"valid_from"`
	Confirmations int     `json:"confirmations,omitempty"`

	was     string // the value it superseded, if any
	tags    []string
	aliases []string
}

// corpus makes facts, always the same ones for a seed and a size. It counts
// the words it draws, since questions are made of rare and of common ones.
type corpus struct {
	rng    *rand.Rand
	words  *vocabulary
	counts map[string]int32 // of the words of current values
	taken  map[string]struct{}
	names  []string // identifiers and files that values speak of, over and over
	files  []string
}

// The vocabulary grows with the number of facts, or there would be no rare
// words in many of them.
const fewestWords, mostWords = 20_000, 500_000

func newCorpus(seed uint64, facts int) *corpus {
	v := newVocabulary(min(max(facts/2, fewestWords), mostWords))
	c := &corpus{
		rng: rand.New(rand.NewPCG(seed, uint64(facts))), words: v,
		counts: make(map[string]int32, len(v.words)), taken: make(map[string]struct{}, facts),
	}
	for range max(facts/10, 200) {
		c.names = append(c.names, c.name())
		c.files = append(c.files, c.path())
	}
	return c
}

// rooms are the categories, the largest first.
var rooms = [...]string{
	"architecture", "decision", "convention", "api", "database", "testing", "deployment", "security",
	"frontend", "performance", "dependency", "workflow", "infrastructure", "auth", "billing", "observability",
	"data-model", "error-handling", "build", "integration", "release", "documentation", "team", "glossary",
}

// next makes one more fact.
func (c *corpus) next() fact {
	f := fact{
		Category:   rooms[min(c.rng.IntN(len(rooms)), c.rng.IntN(len(rooms)))],
		Confidence: float64(50+c.rng.IntN(50)) / 100,
		ValidFrom:  firstDay.AddDate(0, 0, c.rng.IntN(360)).Format(time.DateOnly),
	}
	f.Key = c.key(f.Category)
	f.Value = c.value()
	c.count(f.Value)
	if c.chance(30) {
		f.Source = fmt.Sprintf("%s:%d", c.often(c.files), 1+c.rng.IntN(400))
	}
	if c.chance(10) {
		f.Confirmations = 2 + c.rng.IntN(5)
	}
	if c.chance(5) {
		f.was = c.value()
	}
	if c.chance(1) {
		f.aliases = []string{c.name(), c.name()}
	}
	if c.chance(1) {
		f.tags = []string{c.words.meaningful(c.rng), c.words.meaningful(c.rng)}
	}
	return f
}

// firstDay is before every valid_from. It is past for any clock, so that all
// facts are current.
var firstDay = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// chance is true as many times of a hundred.
func (c *corpus) chance(percent int) bool { return c.rng.IntN(100) < percent }

// key is a name that no other fact of the room has.
func (c *corpus) key(room string) string {
	key := c.name()
	for n := 2; ; n++ {
		folded := room + "/" + strings.ToLower(key)
		if _, taken := c.taken[folded]; !taken {
			c.taken[folded] = struct{}{}
			return key
		}
		if key = c.name(); n > 3 {
			key += fmt.Sprint(n)
		}
	}
}

// name is two to four words in one of the ways that programs write them.
func (c *corpus) name() string {
	parts := make([]string, 2+min(c.rng.IntN(3), c.rng.IntN(3)))
	for i := range parts {
		parts[i] = c.words.meaningful(c.rng)
	}
	switch c.rng.IntN(4) {
	case 0:
		for i, p := range parts[1:] {
			parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
		}
		return strings.Join(parts, "")
	case 1:
		return strings.Join(parts, "_")
	}
	return strings.Join(parts, "-")
}

// value is a sentence of 5 to 40 words, most of them short.
func (c *corpus) value() string {
	words := make([]string, 5+min(c.rng.IntN(36), c.rng.IntN(36)))
	for i := range words {
		words[i] = c.word()
	}
	words[0] = strings.ToUpper(words[0][:1]) + words[0][1:]
	return strings.Join(words, " ")
}

// count counts the words of a value. Those of superseded ones do not count:
// they are no answers.
func (c *corpus) count(value string) {
	for w := range strings.FieldsSeq(value) {
		c.counts[strings.ToLower(w)]++
	}
}

// word is one of a sentence: mostly a word, sometimes what else stands in the
// sentences of programmers.
func (c *corpus) word() string {
	switch n := c.rng.IntN(100); {
	case n < 3:
		return fmt.Sprint(1 + c.rng.IntN(9999))
	case n < 5:
		return fmt.Sprintf("v%d.%d", 1+c.rng.IntN(20), c.rng.IntN(40))
	case n < 7:
		return c.often(c.files)
	case n < 11:
		return c.often(c.names)
	}
	return c.words.words[c.words.draw(c.rng)]
}

// often picks from a list, more often near its beginning.
func (c *corpus) often(list []string) string {
	return list[min(c.rng.IntN(len(list)), c.rng.IntN(len(list)), c.rng.IntN(len(list)))]
}

func (c *corpus) path() string {
	ending := [...]string{"go", "ts", "py", "sql", "yaml"}
	return fmt.Sprintf("src/%s/%s.%s", c.words.meaningful(c.rng), c.words.meaningful(c.rng), ending[c.rng.IntN(len(ending))])
}

// write writes a fact as records of JSON lines: the value it superseded first.
func (f fact) write(w io.Writer) error {
	e := json.NewEncoder(w)
	if f.was != "" {
		before := f
		before.Value, before.ValidFrom = f.was, firstDay.AddDate(0, -6, 0).Format(time.DateOnly)
		if err := e.Encode(before); err != nil {
			return err
		}
	}
	return e.Encode(f)
}
