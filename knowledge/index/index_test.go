package index_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"leanctx/knowledge/index"
	"leanctx/knowledge/words"
)

// doc is a fact with a value of its own.
func doc(category, key, value string) index.Doc {
	return index.Doc{ID: category + "/" + key, Category: category, Key: key, Summary: []byte("of " + value), Value: []string{value},
		Hashes: hashes("h" + value), Versions: []string{"v" + value}, Stored: fmt.Appendf(nil, `{"key":%q,"value":%q}`, key, value)}
}

// hashes are those of a fact's values.
func hashes(list ...string) func() []string { return func() []string { return list } }

func position(seq uint64) index.Position {
	return index.Position{Seq: seq, Checksum: "0badc0de"}
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

// The average lengths count facts on disk and in memory, and leave stop words out.
func TestLengthCountsDiskAndMemory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	build(t, dir, 1, doc("decision", "a", "the region is frankfurt"), doc("decision", "b", "postgres"))
	x := open(t, dir, nil)
	if got := x.Length(index.Value); got != 1.5 {
		t.Errorf("%v words a value on disk", got)
	}
	if err := x.Apply(position(2), []index.Doc{doc("decision", "c", "redis streams in front of it all day long")}, nil); err != nil {
		t.Fatal(err)
	}
	if got := x.Length(index.Value); got <= 1.5 {
		t.Errorf("%v words a value with a longer one", got)
	}
	if got := open(t, "", nil).Length(index.Value); got != 0 {
		t.Errorf("%v words a value without facts", got)
	}
}

// A build says how far it is.
func TestBuildTellsItsProgress(t *testing.T) {
	var told []int
	docs := func(yield func(index.Doc) bool) {
		for n := range uint64(2500) {
			if !yield(numbered(n)) {
				return
			}
		}
	}
	err := index.Build(t.Context(), filepath.Join(t.TempDir(), "index"), position(1), docs, nil, func(done int) { told = append(told, done) })
	if err != nil || !slices.Equal(told, []int{1000, 2000}) {
		t.Errorf("told %v, %v", told, err)
	}
}

// Facts that changed while a sync ran stay in memory.
func TestChangesDuringASyncAreKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	x := open(t, dir, nil)
	done := make(chan error)
	for n := range uint64(200) {
		if err := x.Apply(position(n+1), []index.Doc{numbered(n)}, nil); err != nil {
			t.Fatal(err)
		}
		if n == 100 {
			go func() { done <- x.Sync(context.Background(), nil) }()
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	at, _ := x.OnDisk()
	if x.Count() != 200 || x.Pending() != 200-int(at.Seq) || at.Seq < 101 {
		t.Errorf("%d facts, %d in memory, the disk at %d", x.Count(), x.Pending(), at.Seq)
	}
	for n := range uint64(200) {
		if text, err := x.Fact(t.Context(), numbered(n).ID); err != nil || len(text) == 0 {
			t.Errorf("fact %d: %q, %v", n, text, err)
		}
	}
}

// A sync writes many segments; they are merged before there are many of them, and replaced facts give up their place.
func TestSyncsDoNotPileUp(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	x := open(t, dir, nil)
	seq := uint64(0)
	most, size := 0, int64(0)
	for range 40 {
		changed := make([]index.Doc, 20)
		for i := range changed {
			changed[i] = numbered(uint64(i))
		}
		seq++
		if err := x.Apply(position(seq), changed, nil); err != nil {
			t.Fatal(err)
		}
		if err := x.Sync(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		segments := 0
		size = 0
		for _, p := range files(t, dir) {
			if filepath.Ext(p) != ".zap" {
				continue
			}
			segments++
			info, err := os.Stat(p)
			if err != nil {
				t.Fatal(err)
			}
			size += info.Size()
		}
		most = max(most, segments)
	}
	if most > 12 || size > 1<<16 || x.Count() != 20 {
		t.Errorf("up to %d segments, %d bytes at the end, %d facts", most, size, x.Count())
	}
}

// Example builds an index, opens it, and asks.
func Example() {
	dir, err := os.MkdirTemp("", "index")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	facts := []index.Doc{
		{ID: "deployment/region", Category: "deployment", Key: "region", Value: []string{"Frankfurt (eu-central-1)"}, Stored: []byte(`{"key":"region"}`)},
		{ID: "decision/cache", Category: "decision", Key: "cache", Value: []string{"Redis in front of PostgreSQL"}, Stored: []byte(`{"key":"cache"}`)},
	}
	ctx := context.Background()
	if err := index.Build(ctx, dir, index.Position{Seq: 2}, slices.Values(facts), nil, nil); err != nil {
		panic(err)
	}
	x, err := index.Open(dir, nil)
	if err != nil {
		panic(err)
	}
	defer x.Close()
	hits, err := x.Search(ctx, index.Query{Terms: []index.Term{{Text: "redi"}, {Text: "cach"}}})
	if err != nil {
		panic(err)
	}
	stored, err := x.Fact(ctx, hits[0].ID)
	fmt.Println(len(hits), hits[0].ID, string(stored), err)
	// Output: 1 decision/cache {"key":"cache"} <nil>
}

// A fork answers as of the generation on disk, whatever is applied to the index it was made of, and after that is
// closed.
func TestForkAnswersAsOfTheDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	if index.Exists(dir) {
		t.Error("there is an index before one was built")
	}
	build(t, dir, 1, doc("decision", "cache", "redis"))
	x, err := index.Open(dir, nil)
	if err != nil || !index.Exists(dir) {
		t.Fatal(err)
	}
	if err := x.Apply(position(2), []index.Doc{doc("decision", "cache", "memcached")}, nil); err != nil {
		t.Fatal(err)
	}
	fork := x.Fork()
	if err := x.Sync(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if hits := found(t, fork, index.Query{Terms: terms("redis")}); len(hits) != 1 || fork.Position().Seq != 1 {
		t.Errorf("at %d: %v", fork.Position().Seq, hits)
	}
	if err := fork.Close(); err != nil {
		t.Error(err)
	}
}

// Words and their frequencies are those of disk and memory together.
func TestWordsOfDiskAndMemory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	build(t, dir, 1, doc("decision", "cache", "redis redis cached"), doc("decision", "queue", "redis"))
	x := open(t, dir, nil)
	if err := x.Apply(position(2), []index.Doc{doc("testing", "redis", "redistribution of caches")}, nil); err != nil {
		t.Fatal(err)
	}
	got, err := x.Words(t.Context(), "redi")
	if want := map[string]int{"redi": 2, "redistribut": 1}; err != nil || !maps.Equal(got, want) {
		t.Errorf("%v for %v, %v", got, want, err)
	}
	counts, err := x.Frequencies(t.Context(), []string{"redi", "redistribut", "cach", "nothing"})
	if want := []int{2, 1, 2, 0}; err != nil || !slices.Equal(counts, want) {
		t.Errorf("%v for %v, %v", counts, want, err)
	}
}

// What is stored of a fact is packed when it is written or asked for, not for a search.
func TestPackedOnlyWhereItIsNeeded(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "index"), nil)
	packed := 0
	d := doc("decision", "cache", "Redis")
	d.Stored, d.Pack = nil, func() ([]byte, error) { packed++; return []byte("packed"), nil }
	if err := x.Apply(index.Position{Seq: 1}, []index.Doc{d}, nil); err != nil {
		t.Fatal(err)
	}
	if hits := found(t, x, index.Query{Terms: terms("redis")}); len(hits) != 1 || packed != 0 {
		t.Errorf("%v, packed %d times", hits, packed)
	}
	if text, err := x.Fact(t.Context(), d.ID); err != nil || string(text) != "packed" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestABriefLookAtTheTail: in memory only the beginning of a value is looked through where that was asked for; what is written
// to disk has all of it, and so have the statistics.
func TestABriefLookAtTheTail(t *testing.T) {
	dir := t.TempDir()
	whole, brief := open(t, t.TempDir(), nil), open(t, dir, &index.Options{Most: 64})
	for i, at := range []*index.Index{whole, brief} {
		if err := at.Apply(position(1), []index.Doc{doc("notes", "long", "beginning "+strings.Repeat("middle ", 20)+"ending")}, nil); err != nil {
			t.Fatal(err)
		}
		for word, want := range map[string]int{"beginning": 1, "ending": 1 - i} {
			if hits, err := at.Search(t.Context(), index.Query{Terms: terms(word)}); err != nil || len(hits) != want {
				t.Errorf("%d: %s is found %d times, not %d: %v", i, word, len(hits), want, err)
			}
		}
		if err := at.Sync(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if err := at.Apply(position(2), []index.Doc{doc("notes", "more", strings.Repeat("middle ", 20)+"finish")}, nil); err != nil {
			t.Fatal(err)
		}
		if err := at.Sync(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, word := range []string{"ending", "finish"} {
		if hits, err := brief.Search(t.Context(), index.Query{Terms: terms(word)}); err != nil || len(hits) != 1 {
			t.Errorf("%s is not on disk: %v %v", word, hits, err)
		}
	}
	if a, b := whole.Length(index.Value), brief.Length(index.Value); a != b {
		t.Errorf("values have %v words on average, not %v", b, a)
	}
}
