package embed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime/debug"
)

// The ways to make one vector of a model's vectors of tokens.
const (
	poolMean  = "mean" // their mean
	poolFirst = "cls"  // the first one
)

// ErrClosed is the error of a model that was closed.
var ErrClosed = errors.New("model is closed")

// ModelError says what is wrong with a model, in words for whoever installed
// it.
type ModelError struct {
	Model   string // its name or its folder's
	Problem string
}

func (e *ModelError) Error() string { return fmt.Sprintf("model %s: %s", e.Model, e.Problem) }

// ModelOptions tunes OpenModel. Nil and the zero value work.
type ModelOptions struct {
	// SkipChecksum opens the files without comparing them with the manifest
	// first, which costs some 10 ms for 20 MB. For a folder that was compared
	// a moment ago.
	SkipChecksum bool
}

// Model is a sentence transformer, an Encoder. Several goroutines may use it:
// their texts take turns. It takes from 100 to 500 MB and from 0.2 to 2 s a text, so it
// belongs into a process that lives on, and is closed when idle.
type Model struct {
	name  string
	dim   int
	vocab *vocabulary
	most  int // tokens of a text

	turn   chan struct{} // holds one token: whoever has it uses the engine
	engine *engine       // nil: closed
}

var _ Encoder = (*Model)(nil)

// OpenModel loads the model that Install made in a folder. A missing folder
// gives an error that fs.ErrNotExist matches; a model that is not what was
// installed, or that never passed its self-test, a *ModelError.
func OpenModel(dir string, o *ModelOptions) (*Model, error) {
	manifest, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	if manifest.Tested.IsZero() {
		return nil, &ModelError{manifest.Name, "its self-test was not passed: install it again"}
	}
	if o == nil || !o.SkipChecksum {
		if err := manifest.verify(dir); err != nil {
			return nil, err
		}
	}
	return openModel(dir, manifest)
}

// openModel loads a model without asking whether it was tested.
func openModel(dir string, manifest *Manifest) (*Model, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	vocab, err := readVocabulary(dir)
	if err != nil {
		return nil, &ModelError{manifest.Name, err.Error()}
	}
	e, err := openEngine(dir, modelFile, manifest.Pooling)
	if err != nil {
		return nil, &ModelError{manifest.Name, "cannot be loaded: " + err.Error()}
	}
	if manifest.Dim != 0 && manifest.Dim != e.dim {
		e.close()
		return nil, &ModelError{manifest.Name, fmt.Sprintf("gives vectors of %d values, its manifest says %d", e.dim, manifest.Dim)}
	}
	debug.FreeOSMemory() // loading took three times what the model keeps
	turn := make(chan struct{}, 1)
	turn <- struct{}{}
	return &Model{turn: turn, name: manifest.Name, dim: e.dim, vocab: vocab, most: min(maxTokens, manifest.MaxTokens), engine: e}, nil
}

// Name is the model's name and eight digits of its checksum, as
// "all-MiniLM-L6-v2-q8@afdb6f1a".
func (m *Model) Name() string { return m.name }

// Dim is the number of values of a vector.
func (m *Model) Dim() int { return m.dim }

// Encode runs one text after another: the scale of a quantised model's
// numbers is taken over the whole batch, so that a text's vector would depend
// on what stands beside it. At most 128 tokens of a text count, some 90 words.
// After Close the error is ErrClosed.
func (m *Model) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err // select below may choose the turn
		}
		var err error
		if vectors[i], err = m.encode(ctx, text); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}

func (m *Model) encode(ctx context.Context, text string) ([]float32, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-m.turn:
	}
	defer func() { m.turn <- struct{}{} }()
	if m.engine == nil {
		return nil, ErrClosed
	}
	ids, meaning := m.vocab.ids(text, m.most)
	if !meaning {
		return make([]float32, m.dim), nil
	}
	vector, err := m.engine.run(ids)
	if err != nil {
		return nil, &ModelError{m.name, err.Error()}
	}
	if err := direction(vector, m.dim); err != nil {
		return nil, &ModelError{m.name, err.Error()}
	}
	return vector, nil
}

// Close frees the model once the text that runs is done, and gives its memory
// back to the system. Closing twice does nothing.
func (m *Model) Close() error {
	<-m.turn
	defer func() { m.turn <- struct{}{} }()
	if m.engine != nil {
		m.engine.close()
		m.engine = nil
		debug.FreeOSMemory()
	}
	return nil
}

// direction brings what a model gave to length 1, in place, and says what is
// wrong with it.
func direction(vector []float32, dim int) error {
	if len(vector) != dim {
		return fmt.Errorf("gave %d values instead of %d", len(vector), dim)
	}
	length := math.Sqrt(cosine(vector, vector))
	if math.IsNaN(length) || math.IsInf(length, 0) || length == 0 {
		return errors.New("gave a vector without a direction")
	}
	for i, x := range vector {
		vector[i] = float32(float64(x) / length)
	}
	return nil
}
