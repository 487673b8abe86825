package search

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func open(t testing.TB, docs ...Doc) *Index {
	t.Helper()
	x := mustOpen(t, "")
	mustAdd(t, x, docs...)
	return x
}

func ids(t testing.TB, x *Index, query string) []string {
	t.Helper()
	return idsOf(t, x, query)
}

// project is what a project of a few facts remembers.
func project() []Doc {
	return []Doc{
		{ID: "auth", Category: "architecture", Key: "auth", Value: "JWT RS256 tokens"},
		{ID: "refresh", Category: "decision", Key: "token-refresh", Value: "auth refreshes every hour"},
		{ID: "db", Category: "architecture", Key: "database", Value: "PostgreSQL 16 with pgvector", Aliases: []string{"primary store"}},
		{ID: "cache", Category: "architecture", Key: "cache", Value: "the database is cached in Redis"},
		{ID: "ci", Category: "deployment", Key: "ci", Value: "GitHub Actions runs getUserName in src/auth/user_name.go"},
		{ID: "ru", Category: "решения", Key: "очередь", Value: "Сообщения хранятся в очередях RabbitMQ"},
		{ID: "ja", Category: "設計", Key: "データベース", Value: "主データベースは東京リージョンにあります"},
		{ID: "ar", Category: "فريق", Key: "قاعدة", Value: "نستخدم قاعدة بيانات موزعة"},
		{ID: "ship", Category: "team", Key: "release", Value: "releases go out with a 🚀 on Fridays"},
		{ID: "lang", Category: "team", Key: "language", Value: "the parser is C++, the service C#"},
	}
}

func TestRank(t *testing.T) {
	x := open(t, project()...)
	for _, tt := range []struct {
		promise, query string
		want           []string
	}{
		{"a key beats a value", "auth", []string{"auth", "refresh", "ci"}},
		{"category and key name a fact", "architecture/auth", []string{"auth", "refresh", "cache", "db", "ci"}},
		{"a key beats an alias, an alias a value", "database", []string{"db", "cache"}},
		{"a key in other words", "Token Refresh", []string{"refresh", "auth"}},
		{"a key in camel case", "tokenRefresh", []string{"refresh", "auth"}},
		{"an alias is a name", "Primary Store", []string{"db"}},
		{"a prefix when the word is nowhere", "postgres", []string{"db"}},
		{"a swap of letters", "postgers", []string{"db"}},
		{"a letter left out", "pgvectr", []string{"db"}},
		{"what is short for the word when the word is nowhere", "authentication", []string{"auth", "refresh", "ci"}},
		{"that beside a word that is there", "authentication redis", []string{"cache", "auth", "refresh", "ci"}},
		{"a prefix does not compete with the word", "cache", []string{"cache"}},
		{"parts of an identifier", "user name", []string{"ci"}},
		{"the whole of an identifier", "getusername", []string{"ci"}},
		{"a path", "auth/user_name.go", []string{"ci", "auth", "refresh", "ship"}},
		{"an English stem", "caching", []string{"cache"}},
		{"a Russian stem", "очередей", []string{"ru"}},
		{"a Russian question", "где хранить сообщения", []string{"ru"}},
		{"Japanese", "データベース", []string{"ja"}},
		{"one ideograph inside a run", "東", []string{"ja"}},
		{"Arabic with vowel points", "قَاعِدَة", []string{"ar"}},
		{"an emoji", "🚀", []string{"ship"}},
		{"C++ is not C#", "c++", []string{"lang"}},
		{"stop words alone are words", "the", []string{"lang", "cache"}},
		{"a question", "what database do we use?", []string{"db", "cache"}},
	} {
		if diff := cmp.Diff(tt.want, ids(t, x, tt.query)); diff != "" {
			t.Errorf("%s: %q (-want +got):\n%s", tt.promise, tt.query, diff)
		}
	}
}

func TestLimitsAndTotal(t *testing.T) {
	var docs []Doc
	for i := range 300 {
		docs = append(docs, Doc{ID: fmt.Sprintf("%03d", i), Category: "c", Key: fmt.Sprintf("k%03d", 299-i), Value: "token of a kind"})
	}
	x := open(t, docs...)
	odd := func(id string) bool { return (id[2]-'0')%2 == 1 }
	for _, tt := range []struct {
		limit int
		keep  func(string) bool
		want  int
		total int
	}{
		{0, nil, 10, 300}, {-1, nil, 10, 300}, {1, nil, 1, 300}, {300, nil, 300, 300}, {math.MaxInt, nil, 300, 300},
		{7, odd, 7, 150}, {1e9, odd, 150, 150}, {10, func(string) bool { return false }, 0, 0},
		{10, func(id string) bool { return id == "123" }, 1, 1},
	} {
		hits, total, err := x.Search(t.Context(), Query{Text: "token", Limit: tt.limit}, tt.keep)
		if err != nil || len(hits) != tt.want || total != tt.total {
			t.Errorf("limit %d: %d hits of %d, %v; want %d of %d", tt.limit, len(hits), total, err, tt.want, tt.total)
		}
		// All score alike, so the keys decide: the greatest id has the least key.
		if !slices.IsSortedFunc(hits, func(a, b Hit) int { return strings.Compare(b.ID, a.ID) }) {
			t.Errorf("limit %d: not in the order of keys", tt.limit)
		}
	}
}

// A word that only masked facts hold is as good as missing: the next best is found by its beginning.
func TestMaskedWordsAreMissing(t *testing.T) {
	x := open(t, Doc{ID: "old", Key: "db", Value: "postgres"}, Doc{ID: "new", Key: "db", Value: "postgresql"})
	hits, _, err := x.Search(t.Context(), Query{Text: "postgres"}, func(id string) bool { return id != "old" })
	if err != nil || len(hits) != 1 || hits[0].ID != "new" {
		t.Errorf("found %v, %v", hits, err)
	}
}

func TestReplaceAndRemove(t *testing.T) {
	x := open(t, Doc{ID: "1", Value: "redis"}, Doc{ID: "2", Value: "redis"}, Doc{ID: "1", Value: "memcached"})
	if got := ids(t, x, "redis"); !slices.Equal(got, []string{"2"}) {
		t.Errorf("redis: %v", got)
	}
	if err := x.Remove([]string{"2", "unknown", ""}); err != nil {
		t.Fatal(err)
	}
	if got := ids(t, x, "redis"); got != nil {
		t.Errorf("removed and found: %v", got)
	}
	for _, id := range []string{"", "a\x00b"} {
		if err := x.Add(t.Context(), []Doc{{ID: id}}); err == nil {
			t.Errorf("id %q was taken", id)
		}
	}
}

func TestRelevance(t *testing.T) {
	x := open(t, project()...)
	relevance := func(query, id string) float64 {
		hits, _, err := x.Search(t.Context(), Query{Text: query, Limit: 100}, func(have string) bool { return have == id })
		if err != nil {
			t.Fatal(err)
		}
		if len(hits) == 0 {
			return 0
		}
		return hits[0].Relevance
	}
	for _, tt := range []struct {
		query, id string
		low, high float64
	}{
		{"auth", "auth", 1, 1},
		{"AUTH ", "auth", 1, 1},
		{"primary-store", "db", 1, 1},
		{"postgresql pgvector", "db", .9, 1},
		{"pgvect", "db", Floor, .6},
		{"redis", "cache", .9, 1},
		{"redis cluster topology", "cache", 0, .5},
		{"redis cluster topology of the western region", "cache", 0, 0},
	} {
		if got := relevance(tt.query, tt.id); got < tt.low || got > tt.high {
			t.Errorf("%q of %s: relevance %.3f, want %.2f..%.2f", tt.query, tt.id, got, tt.low, tt.high)
		}
	}
}

func TestExplain(t *testing.T) {
	hits, _, err := open(t, project()...).Search(t.Context(), Query{Text: "database redis", Explain: true}, nil)
	if err != nil || len(hits) == 0 {
		t.Fatal(hits, err)
	}
	sum := 0.0
	for _, s := range hits[0].Parts {
		sum += s
	}
	if math.Abs(sum-hits[0].Score) > 1e-4 {
		t.Errorf("the parts %v do not make the score %v", hits[0].Parts, hits[0].Score)
	}
	for _, part := range []string{"value:databas", "value:redi"} {
		if hits[0].Parts[part] == 0 {
			t.Errorf("no %s in %v", part, hits[0].Parts)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x := open(t, project()...)
	if _, _, err := x.Search(ctx, Query{Text: "auth"}, nil); err == nil {
		t.Error("a cancelled search gave no error")
	}
}

// A name written as one word is found by the name in its words.
func TestWholeCoversItsParts(t *testing.T) {
	x := open(t, Doc{ID: "1", Key: "a", Value: "call getusername twice"}, Doc{ID: "2", Key: "b", Value: "the name of a thing"})
	if got := ids(t, x, "getUserName"); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("found %v", got)
	}
}

// Leaving common words unread for facts that hold no rare one changes no answer.
func TestCommonWordsUnread(t *testing.T) {
	docs := bigFacts(3000)
	for i := range docs {
		docs[i].Value += " common ubiquitous"
	}
	dir := t.TempDir()
	x := mustOpen(t, dir)
	mustSync(t, x, 1, docs)
	thorough := mustOpen(t, dir)
	thorough.tune.trail = 0
	for _, q := range append(slices.Clone(queries), "common token5 handler77", "ubiquitous module13 common", "service55 common auth", "common ubiquitous") {
		got, _, err := x.Search(t.Context(), Query{Text: q, Limit: 5000}, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := thorough.Search(t.Context(), Query{Text: q, Limit: 5000}, nil)
		if err != nil {
			t.Fatal(err)
		}
		want = slices.DeleteFunc(want, func(h Hit) bool { return h.Relevance < Trail })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", q, diff)
		}
	}
}

// The order of adding, and running again, change nothing.
func TestDeterministic(t *testing.T) {
	docs := madeUps(0, 200)
	want := open(t, docs...)
	for range 5 {
		rand.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		same(t, want, open(t, docs...))
	}
}
