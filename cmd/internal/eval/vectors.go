package eval

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
)

// Encoder makes vectors, and says what they are called and how long they are.
// Vectors of two names are never compared, so a name stands for the weights.
type Encoder interface {
	Encode(ctx context.Context, texts []string) ([][]float32, error)
	Name() string
	Dim() int
}

// Kept is an encoder whose vectors are kept in a file, by a hash of the text, so
// that a second run over the same sets takes no time. The file is only ever
// added to, and can be deleted.
type Kept struct {
	Encoder
	frugal bool

	mu   sync.Mutex
	file *os.File
	all  map[textHash][]float32
}

type textHash [16]byte

func hashed(text string) textHash {
	sum := sha256.Sum256([]byte(text))
	return textHash(sum[:])
}

// ErrUnkept says that a frugal encoder was asked for a vector that is not kept.
var ErrUnkept = errors.New("not all of its vectors are kept")

// Keep keeps the vectors of an encoder in a folder, which is made. A frugal one
// gives what is kept and makes nothing: of another text the error is
// [ErrUnkept]. It must be closed.
func Keep(dir string, e Encoder, frugal bool) (*Kept, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, e.Name()+".vectors")
	k := &Kept{Encoder: e, frugal: frugal, all: map[textHash][]float32{}}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	size := len(textHash{}) + 4*e.Dim()
	for ; len(data) >= size; data = data[size:] {
		if v := vectorOf(data[len(textHash{}):size]); v != nil {
			k.all[textHash(data[:len(textHash{})])] = v
		}
	}
	if k.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return nil, err
	}
	if torn := int64(len(data)); torn > 0 { // a run was killed while it wrote
		info, err := k.file.Stat()
		if err == nil {
			err = k.file.Truncate(info.Size() - torn)
		}
		if err != nil {
			return nil, errors.Join(err, k.file.Close())
		}
	}
	return k, nil
}

// vectorOf reads a vector; nil where the bytes are none of length 1 or 0.
func vectorOf(data []byte) []float32 {
	v := make([]float32, len(data)/4)
	sum := 0.0
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		sum += float64(v[i]) * float64(v[i])
	}
	if sum != 0 && !(math.Abs(sum-1) < 1e-3) {
		return nil
	}
	return v
}

// Close closes the file, not the encoder.
func (k *Kept) Close() error { return k.file.Close() }

// Encode gives what is kept, and makes and keeps the rest one text at a time.
func (k *Kept) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		h := hashed(t)
		k.mu.Lock()
		v := k.all[h]
		k.mu.Unlock()
		if v == nil && k.frugal {
			return nil, fmt.Errorf("%s: %w", k.Name(), ErrUnkept)
		}
		if v == nil {
			made, err := k.Encoder.Encode(ctx, []string{t})
			if err != nil {
				return nil, err
			}
			if v = made[0]; len(v) != k.Dim() {
				return nil, fmt.Errorf("%s gave %d values instead of %d", k.Name(), len(v), k.Dim())
			}
			if err := k.add(h, v); err != nil {
				return nil, err
			}
		}
		out[i] = v
	}
	return out, nil
}

// add keeps a vector. It is one write, so that two runs at once do not mix.
func (k *Kept) add(h textHash, v []float32) error {
	line := append(make([]byte, 0, len(h)+4*len(v)), h[:]...)
	for _, x := range v {
		line = binary.LittleEndian.AppendUint32(line, math.Float32bits(x))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all[h] = v
	_, err := k.file.Write(line)
	return err
}
