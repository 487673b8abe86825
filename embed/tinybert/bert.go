package main

import (
	"math"
	"math/rand/v2"
	"strconv"

	"leanctx/embed/tinybert/onnx"
)

const (
	layers    = 2
	hidden    = 32
	heads     = 2
	inner     = 64
	positions = 128
)

// bert builds the model: the weights are the same for each form of it.
type bert struct {
	onnx.Graph
	group     []int
	quantised bool
	random    *rand.Rand
}

func newBert(group []int, quantised bool) *bert {
	return &bert{group: group, quantised: quantised, random: rand.New(rand.NewPCG(1, 2))}
}

// build gives the file.
func (b *bert) build() []byte {
	for _, name := range []string{"input_ids", "attention_mask", "token_type_ids"} {
		b.Input(name, onnx.Int64, 0, 0)
	}
	b.constants()
	x := b.embeddings()
	mask := b.mask()
	for layer := range layers {
		x = b.layer("layer"+strconv.Itoa(layer)+".", x, mask)
	}
	b.Rename(x, "last_hidden_state")
	b.Output("last_hidden_state", onnx.Float, 0, 0, hidden)
	return b.Model("tinybert", 11)
}

func (b *bert) constants() {
	b.Ints("zero", []int64{0}, 1)
	b.Ints("one", []int64{1}, 1)
	b.Ints("index1", []int64{1}, 1)
	b.Ints("shape", []int64{0, 0, heads, hidden / heads}, 4)
	b.Ints("unshape", []int64{0, 0, hidden}, 3)
	for _, c := range []struct {
		name string
		x    float32
	}{{"f0.5", 0.5}, {"f1", 1}, {"f2", 2}, {"eps", 1e-12}, {"sqrt2", math.Sqrt2}, {"far", -10000}, {"scale", float32(math.Sqrt(hidden / heads))}} {
		b.Floats(c.name, []float32{c.x})
	}
}

// embeddings looks up words, positions and types, adds them up and scales
// them.
func (b *bert) embeddings() string {
	words := b.table("word_embeddings", b.words(), len(b.group))
	types := b.table("token_type_embeddings", b.normal(2*hidden, 0.02), 2)
	places := b.table("position_embeddings", b.normal(positions*hidden, 0.05), positions)

	ids := make([]int64, positions)
	for i := range ids {
		ids[i] = int64(i)
	}
	b.Ints("position_ids", ids, 1, positions)
	length := b.Node("Gather", []string{b.Node("Shape", []string{"input_ids"}), "index1"}, onnx.Attr{Name: "axis", Value: int64(0)})
	upTo := b.Node("Slice", []string{"position_ids", "zero", length, "one"})

	x := b.lookUp(words, "input_ids")
	x = b.Node("Add", []string{x, b.lookUp(types, "token_type_ids")})
	x = b.Node("Add", []string{x, b.lookUp(places, upTo)})
	return b.norm("embeddings.", x)
}

// words gives each token's row: its group's direction and a little of its own.
func (b *bert) words() []float32 {
	directions := make([][]float32, 0)
	for _, g := range b.group {
		for g >= len(directions) {
			directions = append(directions, b.normal(hidden, 1))
		}
	}
	rows := b.normal(len(b.group)*hidden, 0.3)
	for token, g := range b.group {
		if g < 0 {
			continue
		}
		for i, x := range directions[g] {
			rows[token*hidden+i] += x
		}
	}
	return rows
}

// layer is attention and a network of two layers, each added to what came in.
func (b *bert) layer(name, x, mask string) string {
	q := b.split(b.linear(name+"query", x, hidden, hidden), []int64{0, 2, 1, 3})
	k := b.split(b.linear(name+"key", x, hidden, hidden), []int64{0, 2, 3, 1})
	v := b.split(b.linear(name+"value", x, hidden, hidden), []int64{0, 2, 1, 3})
	scores := b.Node("Div", []string{b.Node("MatMul", []string{q, k}), "scale"})
	scores = b.Node("Softmax", []string{b.Node("Add", []string{scores, mask})}, onnx.Attr{Name: "axis", Value: int64(3)})
	mixed := b.Node("Transpose", []string{b.Node("MatMul", []string{scores, v})}, onnx.Attr{Name: "perm", Value: []int64{0, 2, 1, 3}})
	mixed = b.Node("Reshape", []string{mixed, "unshape"})
	x = b.norm(name+"attention.", b.Node("Add", []string{b.linear(name+"dense", mixed, hidden, hidden), x}))

	wide := b.gelu(b.linear(name+"up", x, hidden, inner))
	return b.norm(name+"output.", b.Node("Add", []string{b.linear(name+"down", wide, inner, hidden), x}))
}

func (b *bert) split(x string, perm []int64) string {
	return b.Node("Transpose", []string{b.Node("Reshape", []string{x, "shape"})}, onnx.Attr{Name: "perm", Value: perm})
}

// mask is 0 where a token counts and -10000 where it does not.
func (b *bert) mask() string {
	m := b.Node("Unsqueeze", []string{"attention_mask"}, onnx.Attr{Name: "axes", Value: []int64{1, 2}})
	m = b.Node("Cast", []string{m}, onnx.Attr{Name: "to", Value: int64(onnx.Float)})
	return b.Node("Mul", []string{b.Node("Sub", []string{"f1", m}), "far"})
}

// norm is a layer norm in its parts.
func (b *bert) norm(name, x string) string {
	last := onnx.Attr{Name: "axes", Value: []int64{-1}}
	off := b.Node("Sub", []string{x, b.Node("ReduceMean", []string{x}, last)})
	variance := b.Node("ReduceMean", []string{b.Node("Pow", []string{off, "f2"})}, last)
	off = b.Node("Div", []string{off, b.Node("Sqrt", []string{b.Node("Add", []string{variance, "eps"})})})
	gain := b.normal(hidden, 0.05)
	for i := range gain {
		gain[i]++
	}
	scaled := b.Node("Mul", []string{off, b.Floats(name+"gain", gain, hidden)})
	return b.Node("Add", []string{scaled, b.Floats(name+"bias", b.normal(hidden, 0.02), hidden)})
}

// gelu is x·(1+erf(x/√2))/2.
func (b *bert) gelu(x string) string {
	half := b.Node("Add", []string{b.Node("Erf", []string{b.Node("Div", []string{x, "sqrt2"})}), "f1"})
	return b.Node("Mul", []string{b.Node("Mul", []string{x, half}), "f0.5"})
}

// normal gives n random numbers of a deviation. One rounding a number, so that
// every machine makes the same file.
func (b *bert) normal(n int, deviation float64) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(b.random.NormFloat64() * deviation)
	}
	return out
}
