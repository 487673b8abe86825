package main

import (
	"math"

	"leanctx/embed/tinybert/onnx"
)

// linear multiplies by a matrix of weights and adds a bias.
func (b *bert) linear(name, x string, in, out int64) string {
	weights := b.normal(int(in*out), 0.5/math.Sqrt(float64(in)))
	bias := b.Floats(name+".bias", b.normal(int(out), 0.02), out)
	var product string
	if b.quantised {
		product = b.product(name, x, weights, in, out)
	} else {
		product = b.Node("MatMul", []string{x, b.Floats(name+".weight", weights, in, out)})
	}
	return b.Node("Add", []string{product, bias})
}

// product is a matrix product in eight bits, as the quantiser of ONNX Runtime
// writes it: the input is scaled while the model runs.
func (b *bert) product(name, x string, weights []float32, in, out int64) string {
	data, scale := quantise(weights)
	w := b.Bytes(name+".weight_quantized", onnx.Int8, data, in, out)
	b.Floats(name+".weight_scale", []float32{scale})
	b.Bytes(name+".weight_zero_point", onnx.Int8, []byte{0})
	q := b.Nodes("DynamicQuantizeLinear", []string{x}, 3)
	whole := b.Node("MatMulInteger", []string{q[0], w, q[2], name + ".weight_zero_point"})
	whole = b.Node("Cast", []string{whole}, onnx.Attr{Name: "to", Value: int64(onnx.Float)})
	return b.Node("Mul", []string{whole, b.Node("Mul", []string{q[1], name + ".weight_scale"})})
}

// quantise gives numbers of eight bits and what one of them is worth.
func quantise(data []float32) ([]byte, float32) {
	var most float32
	for _, x := range data {
		most = max(most, max(x, -x))
	}
	scale := most / 127
	out := make([]byte, len(data))
	for i, x := range data {
		out[i] = byte(int8(math.Round(float64(x) / float64(scale))))
	}
	return out, scale
}

// table is rows to look up, kept in eight bits in the quantised model.
type table struct{ name, scale, zero string }

func (b *bert) table(name string, data []float32, rows int) table {
	if !b.quantised {
		return table{name: b.Floats(name, data, int64(rows), hidden)}
	}
	whole, scale := quantise(data)
	return table{
		name:  b.Bytes(name+"_quantized", onnx.Int8, whole, int64(rows), hidden),
		scale: b.Floats(name+"_scale", []float32{scale}),
		zero:  b.Bytes(name+"_zero_point", onnx.Int8, []byte{0}),
	}
}

func (b *bert) lookUp(t table, ids string) string {
	rows := b.Node("Gather", []string{t.name, ids}, onnx.Attr{Name: "axis", Value: int64(0)})
	if t.scale == "" {
		return rows
	}
	return b.Node("DequantizeLinear", []string{rows, t.scale, t.zero})
}
