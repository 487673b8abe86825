package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
)

// start gives the rows before any training: the teacher's vector of each token
// less their mean, in the basis, to length 1, times how much the token says.
func start(tokens []float32, basis []float64) []float32 {
	n := len(tokens) / teacherDim
	mean := make([]float64, teacherDim)
	for i, x := range tokens {
		mean[i%teacherDim] += float64(x) / float64(n)
	}
	centred := make([]float32, len(tokens))
	for i, x := range tokens {
		centred[i] = float32(float64(x) - mean[i%teacherDim])
	}
	rows := project(centred, basis)
	for id := range n {
		row := rows[id*dim : (id+1)*dim]
		scale(row, weight(id, n)/norm(row))
	}
	return rows
}

// weight is the smooth inverse frequency a/(a+p) of Arora and others (2017). The
// vocabulary is in the order of how common its words are, so that p is guessed
// by Zipf's law from the place.
func weight(id, n int) float64 {
	const a = 1e-4
	p := 1 / (float64(id+2) * math.Log(float64(n)))
	return a / (a + p)
}

// schedule is how long and how fast to learn.
type schedule struct {
	epochs int
	rate   float64
}

// batch is how many sentences make one step.
const batch = 256

// learn moves the rows until the mean of a sentence's rows points where the
// teacher's vector of the sentence points: Adam on 1 - cosine. One sentence in
// fifty is held out, to see whether it still helps.
func learn(rows []float32, ids [][]int32, targets []float32, how schedule) {
	a := &adam{rows: rows, grad: make([]float32, len(rows)), m: make([]float32, len(rows)), v: make([]float32, len(rows)), marked: make([]bool, len(rows)/dim)}
	var train, held []int
	for i := range ids {
		if len(ids[i]) == 0 {
			continue
		}
		unitise(targets[i*dim : (i+1)*dim])
		if i%50 == 0 {
			held = append(held, i)
		} else {
			train = append(train, i)
		}
	}
	r := rand.New(rand.NewPCG(7, 11))
	steps := how.epochs * ((len(train) + batch - 1) / batch)
	for epoch := range how.epochs {
		r.Shuffle(len(train), func(i, j int) { train[i], train[j] = train[j], train[i] })
		seen := 0.0
		for at := 0; at < len(train); at += batch {
			for _, i := range train[at:min(at+batch, len(train))] {
				seen += a.sentence(ids[i], targets[i*dim:(i+1)*dim], true)
			}
			a.step(how.rate * (1 - float64(a.steps)/float64(steps)))
		}
		fresh := 0.0
		for _, i := range held {
			fresh += a.sentence(ids[i], targets[i*dim:(i+1)*dim], false)
		}
		fmt.Fprintf(os.Stderr, "epoch %d: mean cosine %.4f, held out %.4f\n", epoch+1, seen/float64(len(train)), fresh/float64(len(held)))
	}
}

// adam is the state of the optimiser (Kingma and Ba, 2015). Only rows that a
// step touched are moved.
type adam struct {
	rows, grad, m, v []float32
	touched          []int32
	marked           []bool
	steps            int
	sum              [dim]float32
}

// sentence gives the cosine of a sentence's mean and the target, and adds the
// loss's gradient when asked to.
func (a *adam) sentence(ids []int32, target []float32, learn bool) float64 {
	clear(a.sum[:])
	for _, id := range ids {
		for i, x := range a.rows[int(id)*dim : (int(id)+1)*dim] {
			a.sum[i] += x
		}
	}
	length := norm(a.sum[:])
	if length == 0 {
		return 0
	}
	dot := 0.0
	for i, x := range a.sum {
		dot += float64(float64(x) * float64(target[i]))
	}
	cos := dot / length
	if !learn {
		return cos
	}
	for i, x := range a.sum { // the gradient, the same for each of its tokens
		a.sum[i] = float32((float64(float64(x)*cos/length) - float64(target[i])) / length)
	}
	for _, id := range ids {
		if !a.marked[id] {
			a.marked[id] = true
			a.touched = append(a.touched, id)
		}
		row := a.grad[int(id)*dim : (int(id)+1)*dim]
		for i, g := range a.sum {
			row[i] += g
		}
	}
	return cos
}

// step moves the rows touched since the last one.
func (a *adam) step(rate float64) {
	const b1, b2, tiny = 0.9, 0.999, 1e-8
	a.steps++
	c1 := float32(1 / (1 - math.Pow(b1, float64(a.steps))))
	c2 := float32(1 / (1 - math.Pow(b2, float64(a.steps))))
	for _, id := range a.touched {
		for i := int(id) * dim; i < (int(id)+1)*dim; i++ {
			g := a.grad[i] / batch
			a.grad[i] = 0
			a.m[i] = float32(b1*a.m[i]) + float32((1-b1)*g)
			a.v[i] = float32(b2*a.v[i]) + float32((1-b2)*float32(g*g))
			a.rows[i] -= float32(rate) * (a.m[i] * c1) / (float32(math.Sqrt(float64(a.v[i]*c2))) + tiny)
		}
		a.marked[id] = false
	}
	a.touched = a.touched[:0]
}

func norm(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(float64(x) * float64(x))
	}
	return math.Sqrt(sum)
}

func scale(v []float32, by float64) {
	for i, x := range v {
		v[i] = float32(float64(x) * by)
	}
}

func unitise(v []float32) {
	if n := norm(v); n > 0 {
		scale(v, 1/n)
	}
}
