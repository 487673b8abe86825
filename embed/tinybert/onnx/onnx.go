// Package onnx writes models in the ONNX format, as much of it as a small
// transformer needs. It serves tests: nothing in the program writes a model.
package onnx

import (
	"encoding/binary"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// Type is the type of a tensor's values, by ONNX's numbers.
type Type int

// The types that are used here.
const (
	Float Type = 1
	Uint8 Type = 2
	Int8  Type = 3
	Int32 Type = 6
	Int64 Type = 7
)

// Graph is a model being written. The zero value is empty.
type Graph struct {
	nodes, initializers, inputs, outputs []byte
	names                                int
}

// Attr is an attribute of a node: an int64, a float32 or a []int64.
type Attr struct {
	Name  string
	Value any
}

// Node adds an operation with one output, whose name it gives.
func (g *Graph) Node(op string, inputs []string, attrs ...Attr) string {
	return g.Nodes(op, inputs, 1, attrs...)[0]
}

// Nodes adds an operation with several outputs.
func (g *Graph) Nodes(op string, inputs []string, outputs int, attrs ...Attr) []string {
	var node []byte
	for _, in := range inputs {
		node = str(node, 1, in)
	}
	names := make([]string, outputs)
	for i := range names {
		names[i] = g.name(op)
		node = str(node, 2, names[i])
	}
	node = str(node, 4, op)
	for _, a := range attrs {
		node = bytes(node, 5, a.encode())
	}
	g.nodes = bytes(g.nodes, 1, node)
	return names
}

// Rename gives the output of a node another name: the model's own.
func (g *Graph) Rename(from, to string) {
	var node []byte
	node = str(node, 1, from)
	node = str(node, 2, to)
	node = str(node, 4, "Identity")
	g.nodes = bytes(g.nodes, 1, node)
}

func (g *Graph) name(op string) string {
	g.names++
	return op + "_" + strconv.Itoa(g.names)
}

// Input adds a value that the model takes. A dimension of 0 is open; it is
// called batch when it is the first one and sequence otherwise.
func (g *Graph) Input(name string, of Type, dims ...int64) {
	g.inputs = bytes(g.inputs, 11, value(name, of, dims))
}

// Output is like Input.
func (g *Graph) Output(name string, of Type, dims ...int64) {
	g.outputs = bytes(g.outputs, 12, value(name, of, dims))
}

// Floats adds a constant of 32-bit floating point numbers and gives its name.
func (g *Graph) Floats(name string, data []float32, dims ...int64) string {
	raw := make([]byte, 0, 4*len(data))
	for _, x := range data {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return g.tensor(name, Float, raw, dims)
}

// Ints adds a constant of 64-bit integers.
func (g *Graph) Ints(name string, data []int64, dims ...int64) string {
	raw := make([]byte, 0, 8*len(data))
	for _, x := range data {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(x))
	}
	return g.tensor(name, Int64, raw, dims)
}

// Bytes adds a constant of 8-bit integers, Uint8 or Int8.
func (g *Graph) Bytes(name string, of Type, data []byte, dims ...int64) string {
	return g.tensor(name, of, data, dims)
}

func (g *Graph) tensor(name string, of Type, raw []byte, dims []int64) string {
	var t []byte
	for _, d := range dims {
		t = varint(t, 1, uint64(d))
	}
	t = varint(t, 2, uint64(of))
	t = str(t, 8, name)
	t = bytes(t, 9, raw)
	g.initializers = bytes(g.initializers, 5, t)
	return name
}

// Model gives the file, for a version of the operator set.
func (g *Graph) Model(producer string, opset uint64) []byte {
	graph := append([]byte(nil), g.nodes...)
	graph = str(graph, 2, producer)
	graph = append(graph, g.initializers...)
	graph = append(graph, g.inputs...)
	graph = append(graph, g.outputs...)
	var model []byte
	model = varint(model, 1, 6) // the version of the format
	model = str(model, 2, producer)
	model = bytes(model, 7, graph)
	return bytes(model, 8, varint(nil, 2, opset))
}

func (a Attr) encode() []byte {
	out := str(nil, 1, a.Name)
	switch v := a.Value.(type) {
	case int64:
		out = varint(varint(out, 3, uint64(v)), 20, 2)
	case float32:
		out = protowire.AppendTag(out, 2, protowire.Fixed32Type)
		out = varint(protowire.AppendFixed32(out, math.Float32bits(v)), 20, 1)
	case []int64:
		for _, n := range v {
			out = varint(out, 8, uint64(n))
		}
		out = varint(out, 20, 7)
	}
	return out
}

func value(name string, of Type, dims []int64) []byte {
	var shape []byte
	for i, d := range dims {
		switch {
		case d > 0:
			shape = bytes(shape, 1, varint(nil, 1, uint64(d)))
		case i == 0:
			shape = bytes(shape, 1, str(nil, 2, "batch"))
		default:
			shape = bytes(shape, 1, str(nil, 2, "sequence"))
		}
	}
	tensor := bytes(varint(nil, 1, uint64(of)), 2, shape)
	return bytes(str(nil, 1, name), 2, bytes(nil, 1, tensor))
}

func str(to []byte, field protowire.Number, s string) []byte { return bytes(to, field, []byte(s)) }

func bytes(to []byte, field protowire.Number, b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, field, protowire.BytesType), b)
}

func varint(to []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(to, field, protowire.VarintType), n)
}
