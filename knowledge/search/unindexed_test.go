package search

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// bare is facts without an index.
func bare(docs []Doc) *Unindexed {
	at := map[string]int{}
	for i := range docs {
		at[docs[i].ID] = i
	}
	return &Unindexed{
		Docs: func(yield func(*Doc) bool) {
			for i := range docs {
				if !yield(&docs[i]) {
					return
				}
			}
		},
		Doc: func(id string) (Doc, bool) { return docs[at[id]], true },
	}
}

// said is queries about facts: words of them, some with a slip, some short, and some of no fact at all.
func said(docs []Doc, n int) iter.Seq[string] {
	r := rand.New(rand.NewPCG(3, uint64(n)))
	return func(yield func(string) bool) {
		for i := range n {
			d := docs[r.IntN(len(docs))]
			words := strings.Fields(d.Value + " " + d.Key)
			var q []string
			for range 1 + r.IntN(4) {
				q = append(q, words[r.IntN(len(words))])
			}
			if w := q[0]; i%5 == 0 && len(w) > 5 {
				q[0] = w[:2] + w[3:]
			}
			if i%11 == 0 {
				q = []string{"zyxwv", "unheard" + fmt.Sprint(i)}
			}
			if !yield(strings.Join(q, " ")) {
				return
			}
		}
	}
}

// Facts that are not indexed yet are found nearly as if they were: the same first one, and nothing where there is
// nothing.
func TestUnindexed(t *testing.T) {
	docs := spoken(5000)
	x, u := mustOpen(t, ""), bare(docs)
	mustAdd(t, x, docs...)
	keep := func(id string) bool { return !strings.HasSuffix(id, "7") }
	same, shared, shown, all := 0, 0, 0, 0
	for q := range said(docs, 100) {
		want, wantTotal, err := x.Search(t.Context(), Query{Text: q}, keep)
		if err != nil {
			t.Fatal(err)
		}
		got, total, err := u.Search(t.Context(), Query{Text: q}, keep)
		if err != nil {
			t.Fatal(err)
		}
		all++
		switch {
		case (wantTotal == 0) != (total == 0):
			t.Logf("%q: %d, with an index %d", q, total, wantTotal)
			continue
		case total == 0 || got[0].ID == want[0].ID:
			same++
		default:
			t.Logf("%q: first %s (%.3f), with an index %s (%.3f)", q, got[0].ID, got[0].Score, want[0].ID, want[0].Score)
		}
		for _, h := range got {
			if !keep(h.ID) {
				t.Fatalf("%q found %s, which is refused", q, h.ID)
			}
			shown++
			if slices.ContainsFunc(want, func(w Hit) bool { return w.ID == h.ID }) {
				shared++
			}
		}
	}
	t.Logf("the same first hit %d of %d, %d of %d hits shared", same, all, shared, shown)
	if same < all*95/100 || shared < shown*90/100 {
		t.Error("too far from what the index gives")
	}
}

// A name, a slip, what is short for a word and any script are found without an index too.
func TestUnindexedWords(t *testing.T) {
	docs := append(spoken(3000),
		Doc{ID: "cafe", Category: "team", Key: "Café", Value: "zur Straße"},
		Doc{ID: "cjk", Category: "データ", Key: "数据库", Value: "主数据库在法兰克福"},
		Doc{ID: "camel", Category: "api", Key: "getUserName", Value: "HTTPServer sha256 v2.6.1"},
		Doc{ID: "sig", Category: "lang", Key: "C++", Value: "€ and 🚀"},
		Doc{ID: "mail", Category: "team", Key: "e-mail", Value: "sendInvoice — to accounting"},
	)
	u, x := bare(docs), mustOpen(t, "")
	mustAdd(t, x, docs...)
	for query, want := range map[string]string{
		"postgresql": "pg", "postgresq": "pg", "postgrseql": "pg", "kubernetes-cluster": "k8s", "elasticsaerch": "search",
		"configuration": "sign", "bookkeper": "book", "мониторин": "ru", "дежурства": "ru", "cafe": "cafe", "CAFÉ": "cafe",
		"strasse": "", "数据": "cjk", "user name": "camel", "http": "camel", "2.6.1": "camel",
		"c++": "sig", "🚀": "sig", "€": "sig", "replica": "pg", "email": "mail", "invoice": "mail", "deployment/kubernetes-cluster": "k8s", "borscht recipes": "",
		"": "", "!!!": "", "\xff\xfe": "",
	} {
		hits, _, err := u.Search(t.Context(), Query{Text: query}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if indexed := ids(t, x, query); want != "" && !slices.Contains(indexed, want) {
			t.Errorf("%q found %v with an index, want %s", query, indexed, want)
		}
		switch {
		case want == "" && len(hits) > 0:
			t.Errorf("%q found %v", query, hits)
		case want != "" && !slices.ContainsFunc(hits, func(h Hit) bool { return h.ID == want }):
			t.Errorf("%q found %v, want %s", query, hits, want)
		}
	}
}

// A short word is not drowned by very many that begin alike, and what is counted has the word.
func TestUnindexedShort(t *testing.T) {
	var docs []Doc
	for i := range 3000 {
		docs = append(docs, Doc{ID: fmt.Sprint("c", i), Category: fmt.Sprint("cat", i%30), Key: fmt.Sprintf("key-%04d", i), Value: fmt.Sprint("city, annual, google ", i)})
	}
	docs = append(docs,
		Doc{ID: "ci", Category: "build", Key: "runner", Value: "The pipeline for deployments is built with ci runners on our own hardware in the cellar"},
		Doc{ID: "ann", Category: "team", Key: "owner", Value: "Who to ask about everything that has to do with the search: Ann, on every day but Friday"},
		Doc{ID: "go", Category: "language", Key: "backend", Value: "All that runs on our servers is written in Go, whatever the old documents in the wiki say"},
	)
	u, x := bare(docs), mustOpen(t, "")
	mustAdd(t, x, docs...)
	for query, want := range map[string]string{"ci": "ci", "do we use CI": "ci", "who is Ann": "ann", "go": "go", "key-0123": "c123", "cat5": "c5"} {
		_, wantTotal, err := x.Search(t.Context(), Query{Text: query}, nil)
		if err != nil {
			t.Fatal(err)
		}
		hits, total, err := u.Search(t.Context(), Query{Text: query}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(hits) == 0 || hits[0].ID != want || total != wantTotal {
			t.Errorf("%q: %d hits of %d, want %s and %d", query, len(hits), total, want, wantTotal)
		}
	}
}

// What the answer takes that no index is waited for, beside a scan of all bytes for one word.
func BenchmarkUnindexed(b *testing.B) {
	docs := spoken(100_000)
	u := bare(docs)
	for name, query := range map[string]string{"rare": "postgresql replicas", "common": "token session database", "slip": "elasticsaerch"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := u.Search(b.Context(), Query{Text: query}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			for i := range docs {
				_ = strings.Contains(docs[i].Value, "replicas")
			}
		}
	})
}
