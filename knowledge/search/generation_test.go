package search

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var vocabulary = strings.Fields(`auth token refresh session postgres database index cache redis queue worker deploy
	region cluster timeout retry gateway login password schema migration backup restore latency budget release branch
	linter coverage fixture parser grammar lexer compiler runtime garbage memory thread mutex channel socket packet`)

// madeUp is a fact of words drawn from the vocabulary: the same for the same n.
func madeUp(n int) Doc {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	pick := func(k int) string {
		out := make([]string, k)
		for i := range out {
			out[i] = vocabulary[r.IntN(len(vocabulary))]
		}
		return strings.Join(out, " ")
	}
	return Doc{
		ID: fmt.Sprintf("f-%06d", n), Category: vocabulary[n%7], Key: strings.ReplaceAll(pick(2), " ", "-") + fmt.Sprint(n),
		Value: pick(6 + r.IntN(12)), Aliases: strings.Fields(pick(r.IntN(2))),
	}
}

func madeUps(from, to int) []Doc {
	var out []Doc
	for n := from; n < to; n++ {
		out = append(out, madeUp(n))
	}
	return out
}

func at(n int) time.Time { return time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC) }

func mustOpen(t testing.TB, dir string) *Index {
	t.Helper()
	x, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func mustAdd(t testing.TB, x *Index, docs ...Doc) {
	t.Helper()
	if err := x.Add(context.Background(), docs); err != nil {
		t.Fatal(err)
	}
}

func mustSync(t testing.TB, x *Index, n int, docs []Doc) {
	t.Helper()
	if err := x.Sync(context.Background(), Generation{At: at(n), Epoch: "e"}, slices.Values(docs)); err != nil {
		t.Fatal(err)
	}
}

// forbidden is for a Sync that must not need all facts.
func forbidden(t testing.TB) iter.Seq[Doc] {
	return func(func(Doc) bool) { t.Error("all facts were indexed anew, where the tail would have done") }
}

func search1(t testing.TB, x *Index, query string) []Hit {
	t.Helper()
	hits, _, err := x.Search(context.Background(), Query{Text: query, Limit: 50, Explain: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

var queries = []string{"auth", "token refresh", "postgres migration timeout", "chanel", "gatew", "retry of the session login", "mutex12", "nothing such", "authentication", "tokenizer of sessions"}

// same fails where two indexes answer differently, down to the last digit of a score.
func same(t testing.TB, want, got *Index) {
	t.Helper()
	for _, q := range queries {
		if diff := cmp.Diff(search1(t, want, q), search1(t, got, q), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", q, diff)
		}
	}
}

func TestGenerationAnswersAsMemory(t *testing.T) {
	dir := t.TempDir()
	docs := madeUps(0, 500)
	memory, x := mustOpen(t, ""), mustOpen(t, dir)
	mustAdd(t, memory, docs...)
	if _, _, ok := x.Since(); ok {
		t.Fatal("a generation in an empty directory")
	}
	mustSync(t, x, 1, docs)
	same(t, memory, x)
	other := mustOpen(t, dir)
	when, epoch, ok := other.Since()
	if !ok || epoch != "e" || !when.Equal(at(1)) {
		t.Errorf("Since() = %v, %q, %v", when, epoch, ok)
	}
	same(t, memory, other)
}

// A model: random adds, replacements, removals, syncs and openings; the index answers as one in memory does.
func TestGenerationModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		all := map[string]Doc{}
		x := mustOpen(t, dir)
		now, synced := 0, map[string]Doc{}
		sorted := func() []Doc {
			var out []Doc
			for _, id := range slices.Sorted(maps.Keys(all)) {
				out = append(out, all[id])
			}
			return out
		}
		rt.Repeat(map[string]func(*rapid.T){
			"add": func(rt *rapid.T) {
				for range rapid.IntRange(1, 20).Draw(rt, "n") {
					d := madeUp(rapid.IntRange(0, 1000).Draw(rt, "fact"))
					d.ID = fmt.Sprint(rapid.IntRange(0, 60).Draw(rt, "id"))
					all[d.ID] = d
					mustAdd(t, x, d)
				}
				now++
			},
			"remove": func(rt *rapid.T) {
				id := fmt.Sprint(rapid.IntRange(0, 60).Draw(rt, "id"))
				delete(all, id)
				if err := x.Remove([]string{id}); err != nil {
					rt.Fatal(err)
				}
				now++
			},
			"sync": func(rt *rapid.T) {
				mustSync(t, x, now, sorted())
				synced = maps.Clone(all)
				if x.Pending() != 0 {
					rt.Fatalf("%d pending after a sync", x.Pending())
				}
			},
			"open": func(rt *rapid.T) {
				x = mustOpen(t, dir)
				for id, d := range all {
					if old, ok := synced[id]; !ok || !cmp.Equal(old, d) {
						mustAdd(t, x, d)
					}
				}
				for id := range synced {
					if _, ok := all[id]; !ok {
						if err := x.Remove([]string{id}); err != nil {
							rt.Fatal(err)
						}
					}
				}
			},
			"compare": func(rt *rapid.T) {
				memory := mustOpen(t, "")
				mustAdd(t, memory, sorted()...)
				same(t, memory, x)
			},
		})
	})
}

func TestSyncOfATail(t *testing.T) {
	dir := t.TempDir()
	x := mustOpen(t, dir)
	mustSync(t, x, 1, madeUps(0, 1000))
	for n := 1; n <= 20; n++ {
		mustAdd(t, x, madeUps(1000+(n-1)*50, 1000+n*50)...)
		if err := x.Sync(t.Context(), Generation{At: at(1 + n), Epoch: "e"}, forbidden(t)); err != nil {
			t.Fatal(err)
		}
		if n := len(segments(t, dir)); n > 8 {
			t.Errorf("%d segments", n)
		}
	}
	memory := mustOpen(t, "")
	mustAdd(t, memory, madeUps(0, 2000)...)
	same(t, memory, mustOpen(t, dir))
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 2 { // the generation and the lock
		t.Errorf("older generations stay: %v", left)
	}
}

func TestSyncOfAnotherEpochBuildsAnew(t *testing.T) {
	dir := t.TempDir()
	mustSync(t, mustOpen(t, dir), 1, madeUps(0, 50))
	x := mustOpen(t, dir)
	if err := x.Sync(t.Context(), Generation{At: at(2), Epoch: "other"}, slices.Values(madeUps(50, 60))); err != nil {
		t.Fatal(err)
	}
	memory := mustOpen(t, "")
	mustAdd(t, memory, madeUps(50, 60)...)
	same(t, memory, x)
	same(t, memory, mustOpen(t, dir))
}

func TestSyncTakesWhatAnotherWrote(t *testing.T) {
	dir := t.TempDir()
	a := mustOpen(t, dir)
	mustSync(t, a, 1, madeUps(0, 50))
	b := mustOpen(t, dir)
	mustAdd(t, a, madeUps(50, 80)...)
	mustAdd(t, b, madeUps(50, 80)...)
	mustSync(t, a, 2, nil)
	if err := b.Sync(t.Context(), Generation{At: at(2), Epoch: "e"}, forbidden(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, generationName(2))); err != nil || b.Pending() != 0 {
		t.Errorf("the second generation: %v, %d pending", err, b.Pending())
	}
	if _, err := os.Stat(filepath.Join(dir, generationName(3))); err == nil {
		t.Error("both wrote a generation")
	}
	same(t, a, b)
}

func TestDrop(t *testing.T) {
	dir := t.TempDir()
	x := mustOpen(t, dir)
	mustSync(t, x, 1, madeUps(0, 100))
	if err := x.Drop(); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := x.Since(); ok {
		t.Error("a generation after Drop")
	}
	if hits := search1(t, x, "token"); len(hits) > 0 {
		t.Errorf("found after Drop: %v", hits)
	}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if !e.IsDir() && e.Name() != lockName {
			t.Errorf("%s stays after Drop", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := mustOpen(t, filepath.Join(dir, "absent")).Drop(); err != nil {
		t.Errorf("Drop of nothing: %v", err)
	}
}

func TestCancelledSync(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	x := mustOpen(t, dir)
	if err := x.Sync(ctx, Generation{At: at(1)}, slices.Values(madeUps(0, 10))); err == nil {
		t.Error("a cancelled Sync gave no error")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, tempPrefix+"*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
