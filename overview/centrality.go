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

// The weights of a score without a task. Each part is 0 to 1. A newcomer should not read
// first what everything depends on: in most projects that is a file of helpers. Better are
// files that are used, use others and define much, and the files where a program starts.
const (
	centralUsed   = 0.30 // files that import it, directly or not
	centralUses   = 0.25 // files that it imports
	centralSays   = 0.35 // how much it defines
	centralEntry  = 0.55 // a reader or the program starts here
	centralRecent = 0.10
	centralTest   = 0.15 // factor for a test
	centralNext   = 0.85 // factor for each better file in its directory
)

// central scores the files of a project without a task.
func (r *ranking) central(g *graph.Graph, named []float64) {
	n := len(r.entries)
	seed, says := make([]float64, n), make([]float64, n)
	prose := !slices.ContainsFunc(r.entries, func(e *entry) bool { return e.Language.Code() })
	for i, e := range r.entries {
		if r.roles[i].test || !e.Language.Code() && (!prose || e.Language == "") {
			continue // in a project without code, other text counts
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
		// The square root, since rank falls so fast that only the first few would count.
		r.score[i] = centralUsed*math.Sqrt(used[i])*(0.25+0.75*says[i]) + centralUses*math.Sqrt(uses[i]) + centralSays*says[i]
		r.score[i] *= r.shape(i)
		r.score[i] += centralEntry*r.entrance(i, programs) + weighNamed*named[i]
		if r.score[i] > 0 {
			r.score[i] += centralRecent * r.touched[i] * r.shape(i)
		}
	}
	r.favourVariety()
}

// public estimates how many of a file's definitions are for others to use. Constants and
// private names count less.
func public(e *entry) float64 {
	const minimum = 0.15 // of the others
	n := 0
	for _, name := range e.Names {
		if private(e.Language, name) == 0 {
			n++
		}
	}
	return float64(len(e.Names)+e.More) * (minimum + (1-minimum)*float64(n)/float64(max(len(e.Names), 1)))
}

// shared gives each file of a Go package the score of the whole package, since an import
// names no file. Else a package of one file would come before a larger one of many.
func (r *ranking) shared(used []float64) {
	sum := map[string]float64{}
	for i, e := range r.entries {
		if e.Language == source.Go {
			sum[path.Dir(e.Path)] += used[i]
		}
	}
	for i, e := range r.entries {
		if e.Language == source.Go && used[i] > 0 {
			used[i] = sum[path.Dir(e.Path)]
		}
	}
	graph.Scaled(used)
}

// shape is a factor for the kind of a file: tests and data count less.
func (r *ranking) shape(i int) float64 {
	switch e, s := r.entries[i], r.roles[i]; {
	case s.test || s.example:
		return centralTest
	case s.built:
		return builtShare
	case !e.Language.Code():
		return 0.3 * r.prior(i)
	}
	return 1
}

// role is the purpose of a file, judged by its place in the tree.
type role struct{ test, example, built bool }

func (r *ranking) roleOfEach() []role {
	out := make([]role, len(r.entries))
	for i, e := range r.entries {
		out[i].test = graph.IsTest(e.Path)
		for part := range strings.SplitSeq(strings.ToLower(path.Dir(e.Path)), "/") {
			out[i].example, out[i].built = out[i].example || examples[part], out[i].built || built[part]
		}
	}
	return out
}

// examples are directories of examples, and built those of build output.
var (
	examples = map[string]bool{"example": true, "examples": true, "demo": true, "demos": true, "benchmark": true, "benchmarks": true, "samples": true}
	built    = map[string]bool{"dist": true, "build": true, "out": true, "cjs": true, "esm": true, "umd": true}
)

// entrance is how good a file is to start with: the project's README, the start of its
// program, the documentation of its packages. Deeper files count less, and so does each of
// many programs.
func (r *ranking) entrance(i, programs int) float64 {
	e := r.entries[i]
	if r.roles[i].test || r.roles[i].example {
		return 0
	}
	inside := strings.TrimPrefix(strings.TrimPrefix(e.Path, r.dir), "/")
	depth := float64(strings.Count(inside, "/"))
	stem := stemOf(e.Path)
	switch {
	case stem == "readme" && (path.Ext(e.Path) == "" || e.Language != ""):
		return 1.6 / (1 + depth*depth)
	case begins(e, stem):
		return 1.2 / (1 + depth/4) * maxPrograms / max(maxPrograms, float64(programs))
	case e.Language == source.Go && strings.HasPrefix(e.Doc, "Package ") || e.Language.Code() && (stem == "index" || stem == "__init__" || stem == "mod") && len(e.Names)+len(e.Imports) > 0:
		return 0.35 / (1 + depth/4)
	}
	return 0
}

// maxPrograms is the number of programs up to which each one counts.
const maxPrograms = 2

// programs counts where programs begin.
func (r *ranking) programs() (n int) {
	for i, e := range r.entries {
		if !r.roles[i].test && !r.roles[i].example && begins(e, stemOf(e.Path)) {
			n++
		}
	}
	return n
}

// stemOf is a file's name in lower case without its extension.
func stemOf(name string) string {
	return strings.ToLower(strings.TrimSuffix(path.Base(name), path.Ext(name)))
}

// begins reports whether a file starts a program or is the public face of a library.
func begins(e *entry, stem string) bool {
	switch e.Language {
	case source.Go:
		near := strings.Count(e.Path, "/") < 2 || strings.HasPrefix(e.Path, "cmd/") || strings.Contains(e.Path, "/cmd/")
		return near && e.Pkg == "main" && slices.Contains(e.Names, "main")
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

// favourVariety puts the best files of each directory before its other files, so that
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
