// Package graph joins the files of a project by what they import, and tells
// how what matters in one of them makes others matter.
package graph

import (
	"path"
	"strings"

	"leanctx/overview/source"
)

// File is one file, as far as it is joined to others. The zero File is one
// that is not.
type File struct {
	Path     string // relative to the root, with slashes
	Language source.Language
	Package  string   // as [source.File] has it
	Imports  []string // likewise
}

// Graph says which files belong together. Its nodes are the files, by their
// number, and behind them groups: a Go package, a namespace, a directory.
// Going through groups keeps it small: a package of a hundred files that a
// thousand import has 1,100 edges, not 100,000.
type Graph struct {
	files  int
	groups map[string]int32
	from   []int32
	to     []int32
	weight []float64
}

// Flow is how weight spreads in a graph.
type Flow struct {
	Back    float64 // how much flows from what is imported to who imports it, beside 1 the other way; more than 0
	Damping float64 // how much goes on at each step, 0..1
	Steps   int
}

// How much edges count.
const (
	weighImport  = 1.0
	weighTest    = 1.0 // a test and what it tests
	weighSibling = 0.3 // files of one directory
)

// New joins files.
func New(files []File) *Graph {
	g := &Graph{files: len(files), groups: map[string]int32{}}
	r := newResolver(g, files)
	for i := range files {
		if files[i].Language != "" {
			r.place(int32(i), &files[i])
		}
	}
	for i := range files {
		if len(files[i].Imports) > 0 {
			r.resolve(int32(i), &files[i])
		}
	}
	return g
}

func (g *Graph) edge(from, to int32, weight float64) {
	if from == to {
		return
	}
	g.from, g.to, g.weight = append(g.from, from), append(g.to, to), append(g.weight, weight)
}

// group is the node of a group; it is made if make is set, else -1 where there is none.
func (g *Graph) group(name string, create bool) int32 {
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

// Spread lets weight flow over the edges: personalised PageRank. seed is what
// each file has of its own, 0 or more. The result is scaled so that the largest is 1.
func (g *Graph) Spread(seed []float64, f Flow) []float64 {
	n := g.files + len(g.groups)
	total := make([]float64, n)
	for i := range g.from {
		total[g.from[i]] += g.weight[i]
		total[g.to[i]] += f.Back * g.weight[i]
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
	for range f.Steps {
		clear(next)
		for i := range g.from {
			a, b, w := g.from[i], g.to[i], g.weight[i]
			next[b] += f.Damping * rank[a] * w / total[a]
			next[a] += f.Damping * rank[b] * f.Back * w / total[b]
		}
		for i, s := range seed {
			next[i] += (1 - f.Damping) * s / sum
		}
		rank, next = next, rank
	}
	return Scaled(rank[:g.files])
}

// Scaled divides all by the largest, in place.
func Scaled(list []float64) []float64 {
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

// IsTest reports whether a file is a test by its name or place.
func IsTest(name string) bool {
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

// Tested are the paths of which one may be what a test is of, by its name: the
// likeliest first. Of a file that is no test by its name there are none.
func Tested(name string) (paths []string) {
	dir, base := path.Split(name)
	ext := path.Ext(base)
	stem := tested(strings.TrimSuffix(base, ext))
	above := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(dir, "tests/"), "test/"), "__tests__/")
	for stem != "" {
		if paths = append(paths, dir+stem+ext); above != dir {
			paths = append(paths, above+stem+ext)
		}
		stem = stem[:max(strings.LastIndexByte(stem, '_'), 0)] // lock_windows_test.go may be of lock.go
	}
	return paths
}

// tested is what a test's name without its extension speaks of; empty if it is no test's.
func tested(base string) string {
	for _, end := range []string{"_test", ".test", ".spec", "_spec", "Tests", "Test"} {
		if s, ok := strings.CutSuffix(base, end); ok {
			return s
		}
	}
	s, _ := strings.CutPrefix(base, "test_")
	if s == base {
		return ""
	}
	return s
}
