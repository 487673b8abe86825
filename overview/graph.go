package overview

import (
	"path"
	"strings"
)

// graph says which files belong together. Its nodes are the entries, by their
// number, and behind them groups: a Go package, a namespace, a directory.
// Going through groups keeps it small: a package of a hundred files that a
// thousand import has 1,100 edges, not 100,000.
type graph struct {
	files  int
	groups map[string]int32
	from   []int32
	to     []int32
	weight []float64
}

// How much edges count.
const (
	weighImport  = 1.0
	weighTest    = 1.0 // a test and what it tests
	weighSibling = 0.3 // files of one directory
	backward     = 0.6 // from what is imported to who imports it, for a task
)

func newGraph(entries []*entry) *graph {
	g := &graph{files: len(entries), groups: map[string]int32{}}
	r := newResolver(g, entries)
	for i, e := range entries {
		if e.class != ordinary || e.language == "" {
			continue
		}
		r.place(int32(i), e)
	}
	for i, e := range entries {
		if e.class == ordinary && len(e.imports) > 0 {
			r.resolve(int32(i), e)
		}
	}
	return g
}

func (g *graph) edge(from, to int32, weight float64) {
	if from == to {
		return
	}
	g.from, g.to, g.weight = append(g.from, from), append(g.to, to), append(g.weight, weight)
}

// group is the node of a group; it is made if make is set, else -1 where there is none.
func (g *graph) group(name string, create bool) int32 {
	n, ok := g.groups[name]
	if !ok && create {
		n = int32(g.files + len(g.groups))
		g.groups[name] = n
		return n
	}
	if !ok {
		return -1
	}
	return n
}

// spread lets weight flow over the edges: personalised PageRank. seed is what
// each file has of its own, back how much flows against the direction of
// imports, and damping how much goes on at each of so many steps. The result is scaled so
// that the largest is 1.
func (g *graph) spread(seed []float64, back, damping float64, steps int) []float64 {
	n := g.files + len(g.groups)
	total := make([]float64, n)
	for i := range g.from {
		total[g.from[i]] += g.weight[i]
		total[g.to[i]] += back * g.weight[i]
	}
	sum := 0.0
	for _, s := range seed {
		sum += s
	}
	if sum == 0 {
		return make([]float64, g.files)
	}
	rank, next := make([]float64, n), make([]float64, n)
	for i, s := range seed {
		rank[i] = s / sum
	}
	for range steps {
		clear(next)
		for i := range g.from {
			a, b, w := g.from[i], g.to[i], g.weight[i]
			next[b] += damping * rank[a] * w / total[a]
			next[a] += damping * rank[b] * back * w / total[b]
		}
		for i, s := range seed {
			next[i] += (1 - damping) * s / sum
		}
		rank, next = next, rank
	}
	return scaled(rank[:g.files])
}

// scaled divides by the largest.
func scaled(list []float64) []float64 {
	most := 0.0
	for _, x := range list {
		most = max(most, x)
	}
	if most > 0 {
		for i := range list {
			list[i] /= most
		}
	}
	return list
}

// isTest reports whether a file is a test by its name or place.
func isTest(name string) bool {
	base := strings.ToLower(strings.TrimSuffix(path.Base(name), path.Ext(name)))
	if strings.HasSuffix(base, "_test") || strings.HasPrefix(base, "test_") || strings.HasSuffix(base, ".test") || strings.HasSuffix(base, ".spec") || strings.HasSuffix(base, "_spec") {
		return true
	}
	if b := path.Base(name); strings.HasSuffix(b, "Test.java") || strings.HasSuffix(b, "Tests.cs") || strings.HasSuffix(b, "Test.php") || strings.HasSuffix(b, "Test.kt") {
		return true
	}
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		switch strings.ToLower(part) {
		case "test", "tests", "__tests__", "spec", "specs", "testdata", "fixtures", "__snapshots__":
			return true
		}
	}
	return false
}

// tested are the names without extension that a test's name may speak of.
func tested(name string) string {
	base := strings.TrimSuffix(path.Base(name), path.Ext(name))
	for _, end := range []string{"_test", ".test", ".spec", "_spec", "Tests", "Test"} {
		if s, ok := strings.CutSuffix(base, end); ok {
			return s
		}
	}
	if s, ok := strings.CutPrefix(base, "test_"); ok {
		return s
	}
	return ""
}
