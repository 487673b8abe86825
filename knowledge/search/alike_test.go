package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// language makes words that grow in number as a store does: the usual ones, and names of syllables, the more
// seldom the longer.
type language struct {
	*rand.Rand
	zipf *rand.Zipf
}

func newLanguage(n int) *language {
	r := rand.New(rand.NewPCG(11, uint64(n)))
	names := 20 * uint64(math.Sqrt(float64(n))) // as Heaps found: with the root of the text's length
	return &language{r, rand.NewZipf(r, 1.1, 8, uint64(len(vocabulary))+names)}
}

var syllables = strings.Fields("ba cor den fi gam hel jo kra lum mor nex pol qui ras sto tri ul ver wen zo")

func (l *language) word() string {
	n := int(l.zipf.Uint64())
	if n < len(vocabulary) {
		return vocabulary[n]
	}
	n -= len(vocabulary)
	var s strings.Builder
	for n = n*7 + 400; n > 0; n /= len(syllables) {
		s.WriteString(syllables[n%len(syllables)])
	}
	return s.String()
}

func (l *language) words(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = l.word()
	}
	return strings.Join(out, " ")
}

// needles are facts of which each has words that no other has.
func needles() []Doc {
	return []Doc{
		{ID: "pg", Category: "architecture", Key: "postgresql", Value: "version 16 with three replicas"},
		{ID: "k8s", Category: "deployment", Key: "kubernetes-cluster", Value: "three nodes in Frankfurt"},
		{ID: "search", Category: "architecture", Key: "fulltext", Value: "Elasticsearch 8 behind the gateway"},
		{ID: "bill", Category: "billing", Key: "invoice", Value: "Stripe, never a homemade one", Aliases: []string{"subscription"}},
		{ID: "sign", Category: "security", Key: "config", Value: "JWT RS256"},
		{ID: "code", Category: "code", Key: "repo", Value: "a single one"},
		{ID: "shop", Category: "shopfront", Key: "app", Value: "a thin shell"},
		{ID: "port", Category: "network", Key: "port", Value: "8080"},
		{ID: "book", Category: "team", Key: "bookkeeping", Value: "on Thursdays"},
		{ID: "ru", Category: "команда", Key: "мониторинг", Value: "дежурство по неделям"},
	}
}

// store is a store of n facts, the needles among them.
func store(t testing.TB, n int) *Index {
	t.Helper()
	x := mustOpen(t, "")
	for docs := range slices.Chunk(spoken(n), 1000) {
		mustAdd(t, x, docs...)
	}
	return x
}

// spoken is n facts, the needles among them.
func spoken(n int) []Doc {
	l := newLanguage(n)
	docs := needles()
	for i := len(docs); i < n; i++ {
		docs = append(docs, Doc{
			ID: fmt.Sprint("f-", i), Category: vocabulary[l.IntN(12)],
			Key: fmt.Sprintf("%s-%s-%d", l.word(), l.word(), i), Value: l.words(4 + l.IntN(10)),
		})
	}
	return docs
}

// A word that is only like one of the store is found however large the store.
func TestAlikeInLargeStores(t *testing.T) {
	for _, n := range []int{20_000, 100_000, 1_000_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			if n > 20_000 && os.Getenv("LEAN_CTX_LARGE") == "" {
				t.Skip("LARGE STORES NOT TESTED: LEAN_CTX_LARGE is not set")
			}
			x := store(t, n)
			for query, want := range map[string]string{
				"postgresq":               "pg",  // the beginning of a key
				"postgrseql":              "pg",  // a slip
				"kubernetse":              "k8s", //
				"kubern":                  "k8s", //
				"elastic":                 "search",
				"elasticsaerch":           "search",
				"subscript":               "bill", // of an alias
				"subscriptoin":            "bill",
				"configuration":           "sign", // what the key is short for
				"repository":              "code",
				"application":             "shop",
				"bookkeper":               "book",
				"мониторин":               "ru",
				"postgresq replicas":      "pg",
				"which postgresq version": "pg",
			} {
				if got := ids(t, x, query); !slices.Contains(got, want) {
					t.Errorf("%q found %v, want %s", query, got, want)
				}
			}
			for _, query := range []string{
				"portfolio", "aplication of paint", "author of a novel", "book", "citizens", "postage", "kuben",
				"borscht recipes", "reposition", "bookshelf", "subtle", "elapsed",
			} {
				if got := ids(t, x, query); got != nil {
					t.Errorf("%q found %v", query, got)
				}
			}
		})
	}
}
