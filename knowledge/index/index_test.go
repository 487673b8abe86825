package index_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"leanctx/knowledge/index"
	"leanctx/knowledge/words"
)

// doc is a fact with a value of its own.
func doc(category, key, value string) index.Doc {
	return index.Doc{ID: category + "/" + key, Category: category, Key: key, Room: category, Value: []string{value},
		Hashes: []string{"h" + value}, JSON: fmt.Appendf(nil, `{"key":%q,"value":%q}`, key, value)}
}

func position(seq uint64) index.Position {
	return index.Position{Seq: seq, Checksum: "0badc0de", Epoch: "e"}
}

func terms(text string) (out []index.Term) {
	for _, t := range words.Terms(text) {
		out = append(out, index.Term{Text: t})
	}
	return out
}

func open(t testing.TB, dir string, o *index.Options) *index.Index {
	t.Helper()
	x, err := index.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

func build(t testing.TB, dir string, seq uint64, docs ...index.Doc) {
	t.Helper()
	if err := index.Build(t.Context(), dir, position(seq), slices.Values(docs), []byte("extra"), nil); err != nil {
		t.Fatal(err)
	}
}

func found(t testing.TB, x *index.Index, q index.Query) []index.Hit {
	t.Helper()
	hits, err := x.Search(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

// vocabulary makes facts of few words, so that they have some in common.
var vocabulary = strings.Fields("database cache redis postgres region deploy server token login session queue worker retry timeout budget")

func randomDoc(r *rand.Rand, n int) index.Doc {
	pick := func(most int) string {
		out := make([]string, 1+r.IntN(most))
		for i := range out {
			out[i] = vocabulary[int(float64(len(vocabulary))*math.Pow(r.Float64(), 2))]
		}
		return strings.Join(out, " ")
	}
	d := doc([]string{"architecture", "decision", "testing"}[n%3], fmt.Sprintf("%s-%d", pick(2), n), pick(20))
	d.Tags = []string{vocabulary[n%3]}
	if n%4 == 0 {
		d.Aliases, d.Questions, d.Former = []string{pick(2)}, []string{pick(6)}, []string{pick(9)}
	}
	return d
}

// A fact has the same score wherever it is held.
func TestScoreOfDiskAndMemoryAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	docs := make([]index.Doc, 300)
	for i := range docs {
		docs[i] = randomDoc(r, i)
	}
	dir := filepath.Join(t.TempDir(), "index")
	build(t, dir, 7, docs...)
	disk := open(t, dir, nil)
	memory := open(t, "", nil)
	if err := memory.Apply(position(7), docs, nil); err != nil {
		t.Fatal(err)
	}
	for _, q := range []index.Query{
		{Terms: terms("redis")},
		{Terms: terms("budget timeout nothing")},
		{Terms: terms("which region is the postgres database in"), Limit: 50},
		{Terms: terms("redis cache"), Category: "decision"},
		{Terms: terms("redis cache"), Tags: []string{"cache"}},
		{Terms: []index.Term{{Text: "redi", Weight: .5}, {Text: "worker", Weight: 2}}, Boosts: index.Boosts{index.Value: 1, index.Former: .5, index.Key: 2.5}},
	} {
		q.Limit = 1000
		a, b := found(t, disk, q), found(t, memory, q)
		if len(a) != len(b) || len(a) == 0 {
			t.Errorf("%v: %d hits on disk, %d in memory", q, len(a), len(b))
			continue
		}
		scores := map[string]float64{}
		for _, h := range b {
			scores[h.ID] = h.Score
		}
		for _, h := range a {
			if m := scores[h.ID]; math.Abs(m-h.Score) > 1e-5*h.Score {
				t.Errorf("%v: %s scores %v on disk, %v in memory", q, h.ID, h.Score, m)
				break
			}
		}
	}
}
