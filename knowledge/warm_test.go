package knowledge

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"leanctx/knowledge/fact"
	"leanctx/knowledge/recall"
	"leanctx/knowledge/state"
)

// The caches of a server: bounded whatever is stored, of no influence on an answer, and empty of what
// was erased.

// shownBy is what an answer shows, in order.
func shownBy(r Recalled) (list []string) {
	for _, f := range r.Facts {
		list = append(list, fmt.Sprintf("%s/%s %s %.6f %v", f.Category, f.Key, f.Value, f.Score, f.Maybe))
	}
	return list
}

// What is kept of 100,000 versions takes less than its limits, of whatever length their texts are, and of
// near duplicates as of different ones.
func TestTheCachesAreBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for what, value := range map[string]func(i int) string{
		"different words":  func(i int) string { return fmt.Sprintf("word%d word%d word%d", rng.IntN(1e6), rng.IntN(1e6), i) },
		"near duplicates":  func(i int) string { return fmt.Sprint("the queue of the shop retries every order after a minute ", i) },
		"one word":         func(i int) string { return strings.Repeat("x", i%2_000) },
		"10,000 lines":     func(i int) string { return strings.Repeat("line\n", 10_000*(i%1000/999)) },
		"64 KiB of letter": func(i int) string { return strings.Repeat("a", (64<<10)*(i%2000/1999)) },
	} {
		t.Run(what, func(t *testing.T) {
			var c caches
			c.init()
			readings := 0
			for i := range 100_000 {
				v := &fact.Version{ID: fmt.Sprint("f-", i), Category: "c", Key: fmt.Sprint("k", i), Value: value(i)}
				c.readings.of(v)
				if c.reader.Load().Size() > maxReadings/2 { // as follow does before each question
					c.reader.Store(recall.NewReader())
					c.readings.drop()
				}
				if i%20 == 0 {
					c.forms.of(v)
				}
			}
			for _, kept := range []map[*fact.Version]*reading{c.readings.recent, c.readings.older} {
				for _, r := range kept {
					readings += inMap + r.Size() + len(r.name)
				}
			}
			if readings > maxReadings || c.reader.Load().Size() > maxReadings {
				t.Errorf("the readings take %d KB, their words %d KB, of at most %d", readings>>10, c.reader.Load().Size()>>10, maxReadings>>10)
			}
			forms := 0
			for _, kept := range []map[*fact.Version]bool{keysOf(c.forms.recent), keysOf(c.forms.older)} {
				for v := range kept {
					forms += inForm * textSize(v)
				}
			}
			if forms > maxForms {
				t.Errorf("the forms take %d KB of at most %d", forms>>10, maxForms>>10)
			}
		})
	}
}

func keysOf[V any](m map[*fact.Version]V) map[*fact.Version]bool {
	keys := map[*fact.Version]bool{}
	for v := range m {
		keys[v] = true
	}
	return keys
}

// A server whose caches hold almost nothing gives the answers of one that keeps all.
func TestTheCachesChangeNoAnswer(t *testing.T) {
	dir := t.TempDir()
	words := strings.Fields("auth token refresh postgres redis queue retry backoff deadline lease index vector cache eviction shard replica leader schema rollback deploy canary")
	rng := rand.New(rand.NewPCG(3, 4))
	text := func(n int) string {
		var list []string
		for range n {
			list = append(list, words[rng.IntN(len(words))])
		}
		return strings.Join(list, " ")
	}
	s, err := Open(dir, &Options{LongLived: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 400 {
		if _, err := s.Remember(t.Context(), Assertion{Category: "c", Key: fmt.Sprint(words[i%len(words)], " ", i), Value: text(9)}); err != nil {
			t.Fatal(err)
		}
	}
	small, err := Open(dir, &Options{LongLived: true})
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	small.caches.readings.most, small.caches.forms.most = 2_000, 2_000
	for _, x := range []*Store{s, small} { // both find the same vectors
		if err := derive(t.Context(), x, nil); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(x *Store, q Question) []string {
		r, err := x.Recall(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return shownBy(r)
	}
	for range 60 {
		q := Question{Query: text(3)}
		want := ask(s, q)
		for range 2 {
			if d := cmp.Diff(want, ask(small, q)); d != "" {
				t.Fatalf("%q (-large caches +small):\n%s", q.Query, d)
			}
			if d := cmp.Diff(want, ask(s, q)); d != "" {
				t.Fatalf("%q, asked again:\n%s", q.Query, d)
			}
		}
	}
}

// 64 clients ask and write at once: nothing is lost, and each answer is one that could be given.
func TestSixtyFourClientsAtOnce(t *testing.T) {
	s, err := Open(t.TempDir(), &Options{LongLived: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	const clients, each = 64, 6
	var wg sync.WaitGroup
	errs := make([]error, clients)
	for c := range clients {
		wg.Go(func() {
			by := s.As(Actor{Agent: fmt.Sprint("agent-", c)})
			for i := range each {
				key, value := fmt.Sprintf("client %d item %d", c, i), fmt.Sprintf("the queue of client %d has place %d", c, i)
				if _, err := by.Remember(ctx, Assertion{Category: "c", Key: key, Value: value}); err != nil {
					errs[c] = err
					return
				}
				r, err := by.Recall(ctx, Question{Category: "c", Key: key})
				if err != nil || len(r.Facts) != 1 || r.Facts[0].Value != value {
					errs[c] = fmt.Errorf("%s is not what was just remembered: %v %v", key, shownBy(r), err)
					return
				}
				if _, err := by.Recall(ctx, Question{Query: fmt.Sprintf("queue place %d", i)}); err != nil {
					errs[c] = err
					return
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	n := 0
	if err := s.View(ctx, func(st *state.State, _ time.Time) error {
		for range st.Each() {
			n++
		}
		return nil
	}); err != nil || n != clients*each {
		t.Errorf("%d facts are kept, want %d: %v", n, clients*each, err)
	}
}

// Nothing that was read from an erased text is reachable from the store: no word of it, nor a form.
func TestNoWordOfAnErasedTextStaysInACache(t *testing.T) {
	s, err := Open(t.TempDir(), &Options{LongLived: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 5 {
		word := []string{"telemetry", "quetzalcoatl"}[i/4]
		if _, err := s.Remember(t.Context(), Assertion{Category: "c", Key: fmt.Sprint("probe ", i), Value: "the probe sends " + word}); err != nil {
			t.Fatal(err)
		}
	}
	ask := func() {
		if _, err := s.Recall(t.Context(), Question{Query: "what does the probe send"}); err != nil {
			t.Fatal(err)
		}
	}
	ask()
	reader := s.caches.reader.Load()
	if reader.Size() == 0 || len(s.caches.readings.recent) != 5 {
		t.Fatal("nothing was kept: the test shows nothing")
	}
	if _, err := s.Remove(t.Context(), Withdrawal{Category: "c", Key: "probe 4", Erase: true}); err != nil {
		t.Fatal(err)
	}
	ask()
	if s.caches.reader.Load() == reader {
		t.Error("what has met the words of an erased text is still in use")
	}
	for v := range maps.All(s.caches.readings.recent) {
		if strings.Contains(v.Value, "quetzalcoatl") {
			t.Error("a reading of an erased text is kept")
		}
	}
}

// A fact of 3,000 versions, a tenth of them disputed: it has one value at a time, each dispute is kept, and
// what is open decides.
func TestThousandsOfVersionsWithDisputes(t *testing.T) {
	st, now := state.New(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s, err := Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	disputed, value := 0, ""
	for n := range 3_000 {
		now = now.Add(time.Hour)
		by := s.As(Actor{Kind: KindUser})
		a := Assertion{Category: "c", Key: "k", Value: fmt.Sprint("value ", n), Source: KindUser}
		if n%10 == 9 {
			by, a.Source = s.As(Actor{Agent: "robot", Kind: KindAgent}), ""
		}
		c, err := by.Check(a)
		if err != nil {
			t.Fatal(err)
		}
		c.At = now
		events, r, err := Assert(st, c, now)
		if err != nil {
			t.Fatal(err)
		}
		st.Commit(now, events...)
		if r.Outcome == Disputed {
			disputed++
		} else {
			value = a.Value
		}
		if held := fact.AllCurrent(st.Versions(fact.IDOf("c", "k")), now); len(held) != 1 || held[0].Value != value {
			t.Fatalf("after change %d (%s), %d values are current, want %q", n, r.Outcome, len(held), value)
		}
	}
	vs := st.Versions(fact.IDOf("c", "k"))
	if disputed != 300 || len(vs) != 2_700 {
		t.Errorf("%d disputes and %d versions, want 300 and 2,700", disputed, len(vs))
	}
	if !slices.IsSortedFunc(vs, fact.ByPeriod) {
		t.Error("the versions are not in order")
	}
}
