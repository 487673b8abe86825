package embed

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// graphInfo is what can be said of an ONNX file without running it.
type graphInfo struct {
	inputs []string
	rows   int // of the table that input_ids look up; 0: not found
}

// The numbers of the fields of ONNX's messages that are looked at.
const (
	modelGraph       = 7
	graphNode        = 1
	graphInitializer = 5
	graphInput       = 11
	nodeInput        = 1
	nodeOp           = 4
	tensorDims       = 1
	tensorName       = 8
	tensorExternal   = 14
	valueName        = 1
)

// knownInputs are those that hugot can fill.
var knownInputs = []string{"input_ids", "attention_mask", "token_type_ids", "position_ids"}

// notAFile names the usual things that lie where a file should be.
func notAFile(data []byte) string {
	head := bytes.ToLower(bytes.TrimSpace(data[:min(len(data), 512)]))
	switch {
	case len(data) == 0:
		return "is empty"
	case bytes.HasPrefix(head, []byte("version https://git-lfs")):
		return "is a Git LFS pointer and not the file itself: fetch it with git lfs pull"
	case bytes.HasPrefix(head, []byte("<!doctype")), bytes.HasPrefix(head, []byte("<html")):
		return "is a web page and not the file itself: download it again"
	}
	return ""
}

// readGraph checks that dir/model.onnx is a whole ONNX model that can take a
// text, so that what is cut off, or no model at all, is named before anything
// runs it.
func readGraph(dir string) (graphInfo, error) {
	data, err := os.ReadFile(filepath.Join(dir, modelFile))
	if err != nil {
		return graphInfo{}, err
	}
	if problem := notAFile(data); problem != "" {
		return graphInfo{}, fmt.Errorf("the .onnx file %s", problem)
	}
	g, err := parseGraph(data)
	if err != nil {
		return graphInfo{}, fmt.Errorf("the .onnx file %w", err)
	}
	if !slices.Contains(g.inputs, "input_ids") {
		return graphInfo{}, fmt.Errorf("the .onnx file takes %q and no input_ids: it is no text model", g.inputs)
	}
	for _, input := range g.inputs {
		if !slices.Contains(knownInputs, input) {
			return graphInfo{}, fmt.Errorf("the .onnx file takes %q, which is not supported", input)
		}
	}
	return g, nil
}

func parseGraph(data []byte) (g graphInfo, err error) {
	var graph []byte
	whole := fields(data, func(number protowire.Number, value []byte) {
		if number == modelGraph {
			graph = value
		}
	})
	if !whole || graph == nil {
		return g, errors.New("is not a model, or is cut off: install it anew from a whole file")
	}
	rows := make(map[string]int) // of each tensor
	external, tables := false, []string(nil)
	whole = fields(graph, func(number protowire.Number, value []byte) {
		switch number {
		case graphInput:
			g.inputs = append(g.inputs, string(field(value, valueName)))
		case graphInitializer:
			rows[string(field(value, tensorName))] = firstDim(value)
			external = external || len(field(value, tensorExternal)) > 0
		case graphNode:
			if table := lookedUp(value); table != "" {
				tables = append(tables, table)
			}
		}
	})
	switch {
	case !whole:
		return g, errors.New("is damaged: install it anew from a whole file")
	case external:
		return g, errors.New("keeps its weights in another file, which is not supported")
	}
	// Old exports name each tensor among the inputs too.
	g.inputs = slices.DeleteFunc(g.inputs, func(name string) bool { _, ok := rows[name]; return ok })
	for _, table := range tables {
		g.rows = max(g.rows, rows[table])
	}
	return g, nil
}

// lookedUp gives the table of a node that looks up input_ids in it.
func lookedUp(node []byte) string {
	if string(field(node, nodeOp)) != "Gather" {
		return ""
	}
	var inputs []string
	fields(node, func(number protowire.Number, value []byte) {
		if number == nodeInput {
			inputs = append(inputs, string(value))
		}
	})
	if len(inputs) == 2 && inputs[1] == "input_ids" {
		return inputs[0]
	}
	return ""
}

// firstDim gives a tensor's first dimension, be the list packed or not.
func firstDim(tensor []byte) int {
	for len(tensor) > 0 {
		number, kind, n := protowire.ConsumeTag(tensor)
		if n < 0 {
			return 0
		}
		tensor = tensor[n:]
		if number == tensorDims {
			if kind == protowire.BytesType {
				tensor, _ = protowire.ConsumeBytes(tensor)
			}
			dim, _ := protowire.ConsumeVarint(tensor)
			return int(dim)
		}
		if n = protowire.ConsumeFieldValue(number, kind, tensor); n < 0 {
			return 0
		}
		tensor = tensor[n:]
	}
	return 0
}

// field gives the last value of a message's field of bytes.
func field(message []byte, want protowire.Number) (found []byte) {
	fields(message, func(number protowire.Number, value []byte) {
		if number == want {
			found = value
		}
	})
	return found
}

// fields calls visit with each field of bytes of a message, and reports
// whether the message was whole.
func fields(message []byte, visit func(number protowire.Number, value []byte)) bool {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return false
		}
		message = message[n:]
		if n = protowire.ConsumeFieldValue(number, kind, message); n < 0 {
			return false
		}
		if kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(message)
			visit(number, value)
		}
		message = message[n:]
	}
	return true
}
