package search

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzSearch: any text may be asked for; disk and memory give the same answer; a fact is found by itself.
func FuzzSearch(f *testing.F) {
	for _, s := range []string{"", "auth token", "\xff\xfe\x00", "a_b-c.d/e\\f:g@h'i", "日本語 text", "C++ #", "2.6.1 v1.2", "ＡＢＣ", "👩‍👩‍👧", "'s", "x's y’s", "ـ", "كتـاب ـَ"} {
		f.Add(s)
	}
	dir := f.TempDir()
	disk := mustOpen(f, dir)
	mustSync(f, disk, 1, slices.Concat(project(), madeUps(0, 50)))
	memory := open(f, slices.Concat(project(), madeUps(0, 50))...)
	f.Fuzz(func(t *testing.T, text string) {
		q := Query{Text: text, Limit: 5, Explain: true}
		want, n, err := memory.Search(t.Context(), q, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, m, err := disk.Search(t.Context(), q, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" || n != m {
			t.Fatalf("%q: disk and memory differ (%d, %d):\n%s", text, n, m, diff)
		}
		for _, h := range got {
			if !(h.Relevance > 0 && h.Relevance <= 1) || math.IsNaN(h.Score) {
				t.Fatalf("%q: %+v", text, h)
			}
		}
		// A fact is found by itself.
		self := Doc{ID: "self", Category: "fuzz", Key: "fuzz-key", Value: text}
		x := open(t, append(madeUps(0, 20), self)...)
		if len(Terms(text)) > 0 && len(text) < 200 && len(parse(text).terms) < maxTerms {
			if all, _, err := x.Search(t.Context(), Query{Text: text, Limit: 100}, nil); err != nil || !slices.ContainsFunc(all, func(h Hit) bool { return h.ID == "self" }) {
				t.Fatalf("%q does not find itself: %v %v", text, all, err)
			}
		}
	})
}
