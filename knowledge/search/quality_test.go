package search

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// evalDir is the folder of the evaluation sets; without it the test is skipped, loudly.
func evalDir(t testing.TB) string {
	dir := os.Getenv("LEAN_CTX_EVAL_DIR")
	if dir == "" {
		t.Skip("NO QUALITY MEASURED: LEAN_CTX_EVAL_DIR is not set")
	}
	return dir
}

// quality is what is measured over the queries of a set.
type quality struct{ n, r5, r10, mrr, ndcg, empty float64 }

func (q quality) String() string {
	return fmt.Sprintf("n=%4.0f R@5 %.3f R@10 %.3f MRR@10 %.3f nDCG@10 %.3f nothing %.3f",
		q.n, q.r5/q.n, q.r10/q.n, q.mrr/q.n, q.ndcg/q.n, q.empty/q.n)
}

func (q *quality) add(got []string, right map[string]bool) {
	q.n++
	if len(got) == 0 {
		q.empty++
	}
	found, first, dcg, ideal := 0.0, 0, 0.0, 0.0
	for i, id := range got[:min(10, len(got))] {
		if right[id] {
			found++
			dcg += 1 / math.Log2(float64(i)+2)
			if first == 0 {
				first = i + 1
				q.mrr += 1 / float64(first)
			}
		}
		if i == 4 {
			q.r5 += found / float64(len(right))
		}
	}
	if len(got) < 5 {
		q.r5 += found / float64(len(right))
	}
	q.r10 += found / float64(len(right))
	for i := range min(10, len(right)) {
		ideal += 1 / math.Log2(float64(i)+2)
	}
	q.ndcg += dcg / ideal
}

func (c *collection) measure(t testing.TB, in map[string]*Index) quality {
	var q quality
	for _, query := range c.queries {
		if len(c.right[query.ID]) == 0 {
			continue
		}
		q.add(idsOf(t, in[query.Group], query.Text), c.right[query.ID])
	}
	return q
}

func idsOf(t testing.TB, x *Index, query string) []string {
	hits, _, err := x.Search(context.Background(), Query{Text: query}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

// The ways in which a passage may have been remembered: ranking must stand all of them.
var shapes = map[string]func(passage) Doc{
	"plain":  func(p passage) Doc { return Doc{ID: p.ID, Value: p.Text} },
	"id":     func(p passage) Doc { return Doc{ID: p.ID, Key: p.ID, Category: "eval", Value: p.Text} },
	"titled": func(p passage) Doc { return Doc{ID: p.ID, Key: p.ID, Category: cmp.Or(p.Title, "eval"), Value: p.Text} },
}

func TestQuality(t *testing.T) {
	dir := evalDir(t)
	for _, tt := range []struct {
		set   string
		floor float64
	}{
		{"locomo-dev/facts", .598},
		{"locomo-dev/turns", .460},
		{"cosqa-dev", .376},
	} {
		c := loadCollection(t, filepath.Join(dir, tt.set))
		for _, name := range []string{"plain", "id", "titled"}[:max(1, 3/sample)] {
			q := c.measure(t, c.fill(t, defaultTuning(), shapes[name]))
			t.Logf("%-17s %-7s %s", tt.set, name, q)
			if got := q.ndcg / q.n; got < tt.floor {
				t.Errorf("%s as %s: nDCG@10 %.3f, want at least %.3f", tt.set, name, got, tt.floor)
			}
		}
	}
}

// strangers are questions about nothing in a store: those of other sets.
func strangers(t testing.TB, dir string) []string {
	var out []string
	for _, q := range records[passage](t, filepath.Join(dir, "cosqa-dev/queries.jsonl.gz"))[:150] {
		out = append(out, q.Text)
	}
	for _, q := range records[question](t, filepath.Join(dir, "factconsolidation/questions_32k.jsonl.gz")) {
		if q.Hops == "single" {
			out = append(out, q.Question)
		}
	}
	return out
}

type question struct {
	Question string   `json:"question"`
	Answers  []string `json:"answers"`
	Hops     string   `json:"hops"`
}

// TestAbstention: how often a question about nothing in the store is answered, and how often one whose
// answer was among the first ten is not.
func TestAbstention(t *testing.T) {
	dir := evalDir(t)
	for _, tt := range []struct {
		set            string
		answered, lost float64 // at most
	}{
		{"locomo-dev/facts", .10, .04},
		{"locomo-dev/turns", .12, .04},
	} {
		c := loadCollection(t, filepath.Join(dir, tt.set))
		in := c.fill(t, defaultTuning(), shapes["id"])
		open := defaultTuning()
		open.floor, open.trail = 0, 0
		all := c.fill(t, open, shapes["id"])
		groups := slices.Sorted(maps.Keys(in))
		answered, lost, n, m := 0.0, 0.0, 0.0, 0.0
		for i, q := range strangers(t, dir) {
			n++
			if len(idsOf(t, in[groups[i%len(groups)]], q)) > 0 {
				answered++
			}
		}
		for _, q := range c.queries {
			right := c.right[q.ID]
			if !slices.ContainsFunc(idsOf(t, all[q.Group], q.Text), func(id string) bool { return right[id] }) {
				continue
			}
			m++
			if len(idsOf(t, in[q.Group], q.Text)) == 0 {
				lost++
			}
		}
		t.Logf("%-17s of %.0f strangers answered %.3f; of %.0f answerable lost %.3f", tt.set, n, answered/n, m, lost/m)
		if answered/n > tt.answered || lost/m > tt.lost {
			t.Errorf("%s: want at most %.2f answered and %.2f lost", tt.set, tt.answered, tt.lost)
		}
	}
}

// TestSupersession: with the superseded masked, the first hit holds the answer that is current.
func TestSupersession(t *testing.T) {
	dir := evalDir(t)
	for _, size := range []string{"6k", "32k"} {
		x, err := Open("", nil)
		if err != nil {
			t.Fatal(err)
		}
		current, facts := map[string]string{}, map[string]fact{}
		for i, f := range records[fact](t, filepath.Join(dir, "factconsolidation/facts_"+size+".jsonl.gz")) {
			id := fmt.Sprint(i)
			if err := x.Add(t.Context(), []Doc{{ID: id, Category: f.Relation, Key: f.Subject, Value: f.Text}}); err != nil {
				t.Fatal(err)
			}
			current[f.Relation+"/"+f.Subject], facts[id] = id, f
		}
		kept := map[string]bool{}
		for _, id := range current {
			kept[id] = true
		}
		n, right := 0, 0
		for _, q := range records[question](t, filepath.Join(dir, "factconsolidation/questions_"+size+".jsonl.gz")) {
			if q.Hops != "single" || !answerable(q, kept, facts) {
				continue
			}
			n++
			hits, _, err := x.Search(t.Context(), Query{Text: q.Question, Limit: 5}, func(id string) bool { return kept[id] })
			if err != nil {
				t.Fatal(err)
			}
			if len(hits) > 0 && holds(facts[hits[0].ID].Text, q.Answers) {
				right++
			} else {
				t.Logf("%s: %q: %d hits", size, q.Question, len(hits))
			}
		}
		t.Logf("factconsolidation %s: R@1 %d of %d", size, right, n)
		if float64(right) < .99*float64(n) {
			t.Errorf("factconsolidation %s: R@1 %d of %d, want at least .99", size, right, n)
		}
	}
}

type fact struct {
	Text, Subject, Relation, Object string
}

// answerable reports whether an answer is what is current of the question's subject.
func answerable(q question, kept map[string]bool, facts map[string]fact) bool {
	for id := range kept {
		if f := facts[id]; strings.Contains(q.Question, f.Subject) && holds(f.Object, q.Answers) {
			return true
		}
	}
	return false
}

func holds(text string, answers []string) bool {
	return slices.ContainsFunc(answers, func(a string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(a)) })
}
