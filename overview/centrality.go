package overview

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"

	"leanctx/overview/graph"
	"leanctx/overview/source"
)

// How the parts of a score count where there is no task, each of which is 0 to 1.
// What a newcomer should read is not what all else stands on: that is a file of
// helpers in most projects. It is what is used, uses others and says much, and
// where the program begins.
const (
	centralUsed   = 0.30 // who imports it, and who imports those
	centralUses   = 0.25 // what it brings together
	centralSays   = 0.35 // how much it defines
	centralEntry  = 0.55 // it is where a reader, or the program, begins
	centralRecent = 0.10
	centralTest   = 0.15 // what is left of a test's score
	centralNext   = 0.85 // what is left of the score of a file for each better one beside it
)

// central scores the files of a project for somebody who does not say what for.
func (r *ranking) central(g *graph.Graph, named []float64) {
	n := len(r.entries)
	seed, says := make([]float64, n), make([]float64, n)
	prose := !slices.ContainsFunc(r.entries, func(e *entry) bool { return e.class == ordinary && e.language.Code() })
	for i, e := range r.entries {
		if e.class != ordinary || r.roles[i].test || !e.language.Code() && (!prose || e.language == "") {
			continue // where nobody writes code, all other text counts
		}
		seed[i] = 1
		says[i] = math.Log1p(public(e))
	}
	used := g.Spread(seed, graph.Flow{Back: 0.05, Damping: 0.85, Steps: 30})
	uses := g.Spread(seed, graph.Flow{Back: 3, Damping: 0.6, Steps: 10})
	graph.Scaled(says)
	r.shared(used)
	programs := r.programs()
	for i := range r.entries {
		// The square root: rank falls off so fast that behind the first few nobody counts.
		r.score[i] = centralUsed*math.Sqrt(used[i])*(0.25+0.75*says[i]) + centralUses*math.Sqrt(uses[i]) + centralSays*says[i]
		r.score[i] *= r.shape(i)
		r.score[i] += centralEntry*r.entrance(i, programs) + weighNamed*named[i]
		if r.score[i] > 0 {
			r.score[i] += centralRecent * r.touched[i] * r.shape(i)
		}
	}
	r.favourVariety()
}

// public is about how many of a file's definitions are for others to use: a row of
// constants is less, and so is what a package keeps to itself.
func public(e *entry) float64 {
	const least = 0.15 // of the others
	n := 0
	for _, name := range e.names {
		if private(e.language, name) == 0 {
			n++
		}
	}
	return float64(len(e.names)+e.more) * (least + (1-least)*float64(n)/float64(max(len(e.names), 1)))
}

// shared gives each file of a Go package what is the whole package's. Who imports
// a package means no file of it; a package of one file would else stand before a
// greater one of many.
func (r *ranking) shared(used []float64) {
	sum := map[string]float64{}
	for i, e := range r.entries {
		if e.language == source.Go {
			sum[path.Dir(e.Path)] += used[i]
		}
	}
	for i, e := range r.entries {
		if e.language == source.Go && used[i] > 0 {
			used[i] = sum[path.Dir(e.Path)]
		}
	}
	graph.Scaled(used)
}

// shape is how much a file counts for what it is where nobody asks for tests
// or data.
func (r *ranking) shape(i int) float64 {
	switch e, s := r.entries[i], r.roles[i]; {
	case e.class != ordinary:
		return 0
	case s.test || s.example:
		return centralTest
	case s.built:
		return builtShare
	case !e.language.Code():
		return 0.3 * r.prior(i)
	}
	return 1
}

// role is what a file is for, as its place in the tree tells.
type role struct{ test, example, built bool }

func (r *ranking) roleOfEach() []role {
	out := make([]role, len(r.entries))
	for i, e := range r.entries {
		dir, ok := e.Path[:max(strings.LastIndexByte(e.Path, '/'), 0)], false
		if i > 0 {
			ok = len(r.entries[i-1].Path) > len(dir) && strings.LastIndexByte(r.entries[i-1].Path, '/') == len(dir) && strings.HasPrefix(r.entries[i-1].Path, dir)
		}
		if out[i].test = graph.IsTest(e.Path); ok { // beside the file before
			out[i].example, out[i].built = out[i-1].example, out[i-1].built
			continue
		}
		for part := range strings.SplitSeq(strings.ToLower(dir), "/") {
			out[i].example, out[i].built = out[i].example || examples[part], out[i].built || built[part]
		}
	}
	return out
}

// examples are directories of what shows how others use the project, built of
// what is made from its sources.
var (
	examples = map[string]bool{"example": true, "examples": true, "demo": true, "demos": true, "benchmark": true, "benchmarks": true, "samples": true}
	built    = map[string]bool{"dist": true, "build": true, "out": true, "cjs": true, "esm": true, "umd": true}
)

// entrance is how much a file is where one begins: what a project says of
// itself, where its program starts, and what its packages say of themselves.
// Deeper ones count less, and so does each of many programs.
func (r *ranking) entrance(i, programs int) float64 {
	e := r.entries[i]
	if e.class != ordinary || r.roles[i].test || r.roles[i].example {
		return 0
	}
	inside := strings.TrimPrefix(strings.TrimPrefix(e.Path, r.below), "/")
	depth := float64(strings.Count(inside, "/"))
	stem := stemOf(e.Path)
	switch {
	case stem == "readme" && (path.Ext(e.Path) == "" || e.language != ""):
		return 1.6 / (1 + depth*depth)
	case begins(e, stem):
		return 1.2 / (1 + depth/4) * programsMost / max(programsMost, float64(programs))
	case e.language == source.Go && strings.HasPrefix(e.doc, "Package ") || e.language.Code() && (stem == "index" || stem == "__init__" || stem == "mod") && len(e.names)+len(e.imports) > 0:
		return 0.35 / (1 + depth/4)
	}
	return 0
}

// programsMost is how many programs a project has of which each is worth looking at.
const programsMost = 2

// programs counts where programs begin.
func (r *ranking) programs() (n int) {
	for i, e := range r.entries {
		if e.class == ordinary && !r.roles[i].test && !r.roles[i].example && begins(e, stemOf(e.Path)) {
			n++
		}
	}
	return n
}

// stemOf is a file's name in lower case without what follows its point.
func stemOf(name string) string {
	return strings.ToLower(strings.TrimSuffix(path.Base(name), path.Ext(name)))
}

// begins reports whether a program, or a library's face, is in a file.
func begins(e *entry, stem string) bool {
	switch e.language {
	case source.Go:
		near := strings.Count(e.Path, "/") < 2 || strings.HasPrefix(e.Path, "cmd/") || strings.Contains(e.Path, "/cmd/")
		return near && e.pkg == "main" && slices.Contains(e.names, "main")
	case source.Rust:
		return stem == "main" || stem == "lib"
	case source.Python:
		return stem == "__main__" || stem == "manage" || stem == "app" || stem == "main" || stem == "cli"
	case source.TypeScript, source.JavaScript:
		return stem == "main" || stem == "index" && strings.Count(e.Path, "/") < 2 || stem == "cli" || stem == "server" || stem == "app"
	case source.Java, source.Kotlin, source.CSharp, source.C, source.CPP, source.PHP, source.Ruby:
		return stem == "main" || stem == "program" || stem == "application" || stem == "app"
	}
	return false
}

// favourVariety lets the best files of each directory stand before the rest of it, so that
// one directory does not fill a tier.
func (r *ranking) favourVariety() {
	order := make([]int, 0, len(r.score))
	for i := range r.score {
		if r.score[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(quantum(r.score[b]), quantum(r.score[a])), strings.Compare(r.entries[a].Path, r.entries[b].Path))
	})
	before := map[string]int{}
	for _, i := range order {
		dir := path.Dir(r.entries[i].Path)
		r.score[i] *= math.Pow(centralNext, float64(before[dir]))
		before[dir]++
	}
}
