package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
)

// teacherDim is the values of the teacher's vectors.
const teacherDim = 384

// sentences are what the teacher read, and made of it.
type sentences struct {
	ids     [][]int32
	vectors []float32 // teacherDim a sentence, of length 1
}

// readSentences joins the teacher's files in their order.
func readSentences(dir string) (*sentences, error) {
	all := &sentences{}
	for shard := 0; ; shard++ {
		name := fmt.Sprintf("%s/sentences-%d", dir, shard)
		vectors, err := readFloats(name + ".f32")
		if errors.Is(err, fs.ErrNotExist) && shard > 0 {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		data, err := os.ReadFile(name + ".ids")
		if err != nil {
			return nil, err
		}
		for len(data) > 0 {
			n := int(binary.LittleEndian.Uint32(data))
			ids := make([]int32, n)
			for i := range ids {
				ids[i] = int32(binary.LittleEndian.Uint32(data[4+4*i:]))
			}
			all.ids = append(all.ids, ids)
			data = data[4+4*n:]
		}
		all.vectors = append(all.vectors, vectors...)
		if len(all.vectors) != len(all.ids)*teacherDim {
			return nil, fmt.Errorf("%s: %d texts and %d values", name, len(all.ids), len(all.vectors))
		}
	}
}

func readFloats(name string) ([]float32, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	out := make([]float32, len(data)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return out, nil
}
