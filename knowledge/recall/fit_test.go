package recall

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
)

// row is what a regression sees of one case.
type row struct {
	x []float64
	y bool
	w float64
}

// logistic fits weights and, last, a constant by Newton's method with a little ridge.
func logistic(rows []row, n int, ridge float64) []float64 {
	beta := make([]float64, n+1)
	for range 10 {
		g := make([]float64, n+1)
		h := make([][]float64, n+1)
		for i := range h {
			h[i] = make([]float64, n+1)
			h[i][i] = 1e-9
			if i < n {
				h[i][i] += ridge
				g[i] -= ridge * beta[i]
			}
		}
		for _, r := range rows {
			x := append(slices.Clone(r.x), 1)
			z := 0.0
			for i := range x {
				z += beta[i] * x[i]
			}
			p := 1 / (1 + math.Exp(-z))
			y := 0.0
			if r.y {
				y = 1
			}
			for i := range x {
				g[i] += r.w * (y - p) * x[i]
				for j := range x {
					h[i][j] += r.w * p * (1 - p) * x[i] * x[j]
				}
			}
		}
		step := solve(h, g)
		for i := range beta {
			beta[i] += step[i]
		}
	}
	return beta
}

func solve(a [][]float64, b []float64) []float64 {
	n := len(b)
	for i := range n {
		p := i
		for j := i; j < n; j++ {
			if math.Abs(a[j][i]) > math.Abs(a[p][i]) {
				p = j
			}
		}
		a[i], a[p], b[i], b[p] = a[p], a[i], b[p], b[i]
		for j := i + 1; j < n; j++ {
			f := a[j][i] / a[i][i]
			for k := i; k < n; k++ {
				a[j][k] -= f * a[i][k]
			}
			b[j] -= f * b[i]
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = b[i]
		for j := i + 1; j < n; j++ {
			x[i] -= a[i][j] * x[j]
		}
		x[i] /= a[i][i]
	}
	return x
}

// choice is a question and what the candidates have; right are those that answer.
type choice struct {
	x     [][]float64
	right []bool
}

// conditional fits weights by which the right candidates are chosen among all.
func conditional(cs []choice, n int) []float64 {
	beta := make([]float64, n)
	for range 40 {
		g := make([]float64, n)
		h := make([][]float64, n)
		for i := range h {
			h[i] = make([]float64, n)
			h[i][i] = .01
			g[i] -= .01 * beta[i]
		}
		for _, c := range cs {
			var all, right float64
			ma, mr := make([]float64, n), make([]float64, n)
			va := make([][]float64, n)
			for i := range va {
				va[i] = make([]float64, n)
			}
			top := math.Inf(-1)
			z := make([]float64, len(c.x))
			for k, x := range c.x {
				for i := range x {
					z[k] += beta[i] * x[i]
				}
				top = max(top, z[k])
			}
			for k, x := range c.x {
				e := math.Exp(z[k] - top)
				all += e
				for i := range x {
					ma[i] += e * x[i]
					for j := range x {
						va[i][j] += e * x[i] * x[j]
					}
				}
				if c.right[k] {
					right += e
					for i := range x {
						mr[i] += e * x[i]
					}
				}
			}
			for i := range n {
				g[i] += mr[i]/right - ma[i]/all
				for j := range n {
					h[i][j] += va[i][j]/all - ma[i]/all*ma[j]/all
				}
			}
		}
		step, before := solve(h, g), likelihood(cs, beta)
		for scale := 1.0; scale > 1e-6; scale /= 2 {
			next := slices.Clone(beta)
			for i := range next {
				next[i] += scale * step[i]
			}
			if now := likelihood(cs, next); now > before {
				beta = next
				if now-before < 1e-3 {
					return beta
				}
				break
			}
		}
	}
	return beta
}

// likelihood is that of the right ones being chosen.
func likelihood(cs []choice, beta []float64) (sum float64) {
	for _, c := range cs {
		z, top := make([]float64, len(c.x)), math.Inf(-1)
		for k, x := range c.x {
			for i := range x {
				z[k] += beta[i] * x[i]
			}
			top = max(top, z[k])
		}
		var all, right float64
		for k := range c.x {
			e := math.Exp(z[k] - top)
			all += e
			if c.right[k] {
				right += e
			}
		}
		sum += math.Log(max(right/all, 1e-300))
	}
	for _, b := range beta {
		sum -= .005 * b * b
	}
	return sum
}

// TestFit fits the constants of the order and of the probability on three projects and tells what they give on the
// fourth. It prints; [TestProjects] holds the floors.
func TestFit(t *testing.T) {
	projects := readProjects(t)
	var trials []*trial
	for stored := range 2 {
		for _, p := range projects {
			for _, x := range p.questions {
				r := p.put(t, x, stored, false)
				r.stored = stored
				trials = append(trials, r)
				if x.Kind != "stranger" { // its answers taken out, it is a stranger of the same project
					r := p.put(t, x, stored, true)
					r.stored, r.leftOut = stored, true
					trials = append(trials, r)
				}
			}
		}
	}
	three, n := map[string]int{}, map[string]int{}
	var strangers, others [2][]float64
	for _, held := range projects {
		var choices []choice
		for _, r := range trials {
			if r.project == held.name || len(r.expect) == 0 {
				continue
			}
			var c choice
			for i, f := range r.features {
				c.x, c.right = append(c.x, []float64{f.words, f.coverage, f.cosine}), append(c.right, r.expect[i])
			}
			choices = append(choices, c)
		}
		order := conditional(choices, 3)
		sum := func(beta []float64, x ...float64) (z float64) {
			for i := range x {
				z += beta[i] * x[i]
			}
			return z
		}
		var rows []row
		seen := func(r *trial) (at []int, x []float64) {
			at = make([]int, len(r.features))
			for i := range at {
				at[i] = i
			}
			slices.SortStableFunc(at, func(i, j int) int {
				a, b := r.features[i], r.features[j]
				return cmp.Compare(sum(order, b.words, b.coverage, b.cosine), sum(order, a.words, a.coverage, a.cosine))
			})
			f := r.features[at[0]]
			return at, []float64{f.words / max(r.q.mass, 1e-9), f.coverage, f.cosine, math.Log1p(float64(len(r.q.terms)))}
		}
		for _, r := range trials {
			if r.project != held.name {
				at, x := seen(r)
				y := slices.ContainsFunc(at[:min(3, len(at))], func(i int) bool { return r.expect[i] })
				rows = append(rows, row{x, y, map[bool]float64{false: 1, true: .3}[r.leftOut]})
			}
		}
		answer := logistic(rows, 4, .05)
		t.Logf("without %s: order %.2f, answer %.2f", held.name, order, answer)
		for _, r := range trials {
			if r.project != held.name || r.leftOut {
				continue
			}
			at, x := seen(r)
			p := 1 / (1 + math.Exp(-sum(answer, append(x, 1)...)))
			switch r.kind {
			case "stranger":
				strangers[r.stored] = append(strangers[r.stored], p)
				continue
			case "few":
			default:
				others[r.stored] = append(others[r.stored], p)
			}
			key := fmt.Sprint(r.kind, " ", []string{"without", "with"}[r.stored])
			n[key]++
			if slices.ContainsFunc(at[:3], func(i int) bool { return r.expect[i] }) {
				three[key]++
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(n)) {
		t.Logf("%s: among three %.2f, all answered and without superseding", key, float64(three[key])/float64(n[key]))
	}
	for stored, name := range []string{"without", "with"} {
		above, pairs := 0.0, 0.0
		for _, a := range others[stored] {
			for _, b := range strangers[stored] {
				pairs++
				if a > b {
					above++
				}
			}
		}
		t.Logf("%s: questions but for few are above strangers in %.3f of pairs", name, above/pairs)
	}
}
