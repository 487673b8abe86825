package overview

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"

	"leanctx/overview/graph"
	"leanctx/overview/source"
	"leanctx/overview/tree"
)

// ranking sorts the files of a project for one task.
type ranking struct {
	clean   func(string) string // takes secrets out of a text
	entries []*entry            // those that can be listed
	task    string
	touched []float64 // 0 to 1
	commits []tree.Commit
	dir     string
	memory  []string

	tested bool // the task is about tests
	roles  []role
	score  []float64

	matched bool // something of the task is in a file, so that the scores are for the task
}

// The weights of a score. Each part is 0 to 1.
const (
	weighWords   = 0.60 // the task's words in path, names and comments
	weighCommits = 0.50 // the messages of its commits, relative to 1 for its own words
	weighRecent  = 0.12
	weighNamed   = 0.20 // a fact or gotcha names it
)

// BM25's parameters: how fast repetitions of a word lose weight, and how much a long file
// is penalised.
const (
	bmSaturation = 3.0 // weights of terms are larger than counts
	bmLength     = 0.4
)

// rank gives the numbers of the entries that can be listed, best first.
func (r *ranking) rank() (order []int) {
	words, named, commits := r.words(), r.named(), r.commitScores()
	for i := range words {
		words[i] += weighCommits * commits[i]
		r.matched = r.matched || r.task != "" && (words[i] > 0 || named[i] > 0)
	}
	scale(words)
	low := strings.ToLower(r.task)
	r.tested = strings.Contains(low, "test") || strings.Contains(low, "benchmark")
	r.score, r.roles = make([]float64, len(r.entries)), r.roleOfEach()
	if r.matched {
		r.relevant(words, named)
	} else {
		r.central(named)
	}
	for i, e := range r.entries {
		if r.score[i] > 0 && under(e.Path, r.dir) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, r.better)
	return order
}

// better compares two files: the one with the higher score comes first.
func (r *ranking) better(a, b int) int {
	return cmp.Or(cmp.Compare(quantum(r.score[b]), quantum(r.score[a])), strings.Compare(r.entries[a].Path, r.entries[b].Path))
}

// relevant scores the files for a task.
func (r *ranking) relevant(words, named []float64) {
	for i := range r.entries {
		r.score[i] = weighWords*words[i] + weighNamed*named[i]
		if r.score[i] > 0.01 {
			r.score[i] += weighRecent * r.touched[i]
		}
		r.score[i] *= r.prior(i)
	}
}

// workFiles are the files of the work: those below the requested path, or else the best
// files for the task.
func (r *ranking) workFiles(order []int) (files []string) {
	if r.dir != "" {
		for _, e := range r.entries {
			if under(e.Path, r.dir) {
				files = append(files, e.Path)
			}
		}
		return files
	}
	for _, i := range order {
		if !r.matched || len(files) == maxCritical || r.score[i] < criticalFrom*r.score[order[0]] {
			break
		}
		files = append(files, r.entries[i].Path)
	}
	return files
}

// unopened counts the files that were not read.
func (r *ranking) unopened() (n int) {
	for _, e := range r.entries {
		if e.unopened && under(e.Path, r.dir) {
			n++
		}
	}
	return n
}

// nextTo gives the files beside the given ones in the graph of imports, the best and the latest
// first, and what else there is of rest.
func (r *ranking) nextTo(given, rest []int) (near, others []int) {
	beside := r.neighbors(given)
	for _, i := range given {
		beside[i] = false
	}
	for i, e := range r.entries {
		if beside[i] && under(e.Path, r.dir) {
			near = append(near, i)
		}
	}
	recent := func(i int) float64 { return math.Round(100 * r.touched[i] * r.prior(i)) }
	slices.SortFunc(near, func(a, b int) int {
		return cmp.Or(cmp.Compare(quantum(r.score[b]), quantum(r.score[a])), cmp.Compare(recent(b), recent(a)), r.better(a, b))
	})
	return near, slices.DeleteFunc(slices.Clone(rest), func(i int) bool { return beside[i] })
}

// neighbors reports for each file whether one of the given files imports it, or is imported by it.
func (r *ranking) neighbors(given []int) []bool {
	files := make([]graph.File, len(r.entries))
	for i, e := range r.entries {
		files[i] = graph.File{Path: e.Path, Language: e.Language, Package: e.Pkg, Imports: e.Imports}
	}
	return graph.New(files).Near(given)
}

// quantum rounds away the last bits, which differ between machines.
func quantum(x float64) float64 { return math.Round(x * 1e9) }

// scale divides all by the largest, in place.
func scale(list []float64) []float64 {
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

// words scores each file for the task: BM25 over path, definitions and comments, scaled to
// 1.
func (r *ranking) words() []float64 {
	out := make([]float64, len(r.entries))
	query := source.Query(r.task)
	if len(query) == 0 {
		return out
	}
	total, n := 0, len(r.entries)
	for _, e := range r.entries {
		total += e.Weight
	}
	mean := float64(total)/float64(max(n, 1)) + 1
	for _, term := range query {
		var hits []int
		var weights []float64
		for i, e := range r.entries {
			if w := e.termWeight(term); w > 0 {
				hits, weights = append(hits, i), append(weights, float64(w))
			}
		}
		idf := math.Log(1 + (float64(n)-float64(len(hits))+0.5)/(float64(len(hits))+0.5))
		for j, i := range hits {
			long := 1 - bmLength + bmLength*float64(r.entries[i].Weight)/mean
			out[i] += idf * weights[j] * (bmSaturation + 1) / (weights[j] + bmSaturation*long)
		}
	}
	return scale(out)
}

// named is 1 for each file that the task or a text of memory names. It may name the path, the
// end of the path, or a file name that is unique. Directories that are named count a little.
func (r *ranking) named() []float64 {
	out := make([]float64, len(r.entries))
	if r.task == "" && len(r.memory) == 0 {
		return out
	}
	at := map[string][]int{}
	for i, e := range r.entries {
		at[path.Base(e.Path)] = append(at[path.Base(e.Path)], i)
	}
	note := func(text string, weight float64) {
		for token := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune(" \t\n,;()[]{}<>\"'`|", c) }) {
			token = strings.TrimLeft(strings.TrimRight(token, ".:!?"), "./")
			if i := strings.IndexByte(token, ':'); i > 0 { // file.go:12
				token = token[:i]
			}
			if !strings.Contains(token, ".") && !strings.Contains(token, "/") {
				continue
			}
			same := at[path.Base(token)]
			for _, i := range same {
				name := r.entries[i].Path
				if name == token || strings.HasSuffix(name, "/"+token) && (strings.Contains(token, "/") || len(same) == 1) {
					out[i] = max(out[i], weight)
				}
			}
		}
	}
	note(r.task, 1)
	for _, text := range r.memory {
		note(text, 0.6)
	}
	return out
}

// builtShare is the factor for build output, whose sources are usually there too.
const builtShare = 0.6

// testShare is the factor for a test if the task is not about tests.
const testShare = 0.8

// prior is the factor for the kind of a file: code before tests, tests before data.
func (r *ranking) prior(i int) float64 {
	p, e := 1.0, r.entries[i]
	if !e.Language.Code() {
		p = 0.6
		if e.Language == "" {
			p = 0.35
		}
	}
	if r.roles[i].built {
		p *= builtShare
	}
	if r.roles[i].test && !r.tested {
		p *= testShare
		if strings.Contains("/"+e.Path, "/testdata/") || strings.Contains("/"+e.Path, "/fixtures/") {
			p *= 0.5
		}
	}
	return p
}

// commitScores scores each file by the messages of its commits, scaled to 1. A message says
// what a change is for, often in words that the file lacks. The best commit of a file
// counts. A commit of many files counts less for each.
func (r *ranking) commitScores() []float64 {
	out := make([]float64, len(r.entries))
	query := source.Subject(r.task)
	if len(query) == 0 || len(r.commits) == 0 {
		return out
	}
	commits, in := make([][]uint32, len(r.commits)), map[uint32]float64{}
	for i, c := range r.commits {
		commits[i] = source.Subject(c.Subject)
		for _, t := range commits[i] {
			in[t]++
		}
	}
	best := map[string]float64{}
	for i, c := range r.commits {
		score := 0.0
		for _, t := range query {
			if slices.Contains(commits[i], t) {
				score += math.Log1p(float64(len(commits)) / in[t])
			}
		}
		if score == 0 {
			continue
		}
		for _, f := range c.Files {
			best[f] = max(best[f], score/math.Sqrt(float64(len(c.Files))))
		}
	}
	for i, e := range r.entries {
		out[i] = best[e.Path]
	}
	return scale(out)
}
