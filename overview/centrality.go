package overview

import (
	"math"
	"path"
	"slices"
	"strings"

	"leanctx/overview/source"
)

// The weights of a score without a task. Each part is 0 to 1.
const (
	centralSays   = 0.60 // how much it defines
	centralEntry  = 0.55 // a reader or the program starts here
	centralRecent = 0.10
	centralTest   = 0.15 // factor for a test
	centralNext   = 0.85 // factor for each better file in its directory

	definesNothing = 0.2 // definitions that a file without any counts for
)

// central scores the files of a project without a task: files that define much come first, and
// those where a reader or a program starts.
func (r *ranking) central(named []float64) {
	says := make([]float64, len(r.entries))
	prose := !slices.ContainsFunc(r.entries, func(e *entry) bool { return e.Language.Code() })
	for i, e := range r.entries {
		if e.Language.Code() || prose && e.Language != "" { // in a project without code, other text counts
			says[i] = math.Log1p(public(e) + definesNothing)
		}
	}
	scale(says)
	programs := r.programs()
	for i := range r.entries {
		r.score[i] = centralSays*says[i]*r.shape(i) + centralEntry*r.entrance(i, programs) + weighNamed*named[i]
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
		out[i].test = isTest(e.Path)
		for part := range strings.SplitSeq(strings.ToLower(path.Dir(e.Path)), "/") {
			out[i].example, out[i].built = out[i].example || examples[part], out[i].built || built[part]
		}
	}
	return out
}

// isTest reports whether a file is a test by its name or place.
func isTest(name string) bool {
	stem := stemOf(name)
	if strings.HasSuffix(stem, "_test") || strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec") || strings.HasSuffix(stem, "_spec") {
		return true
	}
	for _, end := range []string{"Test.java", "Tests.cs", "Test.php", "Test.kt"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		switch strings.ToLower(part) {
		case "test", "tests", "__tests__", "spec", "specs", "testdata", "fixtures", "__snapshots__":
			return true
		}
	}
	return false
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
	slices.SortFunc(order, r.better)
	before := map[string]int{}
	for _, i := range order {
		dir := path.Dir(r.entries[i].Path)
		r.score[i] *= math.Pow(centralNext, float64(before[dir]))
		before[dir]++
	}
}
