package embed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
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

// Model is a sentence transformer. Several goroutines may use it; their texts are encoded one
// after another. It needs 100 to 500 MB, and 0.2 to 2 s a text. So it belongs in a long-lived
// process, and is closed when idle.
type Model struct {
	name  string
	dim   int
	vocab *vocabulary

	turn   chan struct{} // holds one token: whoever has it uses the engine
	engine *engine       // nil: closed
}

// OpenModel loads the model that Install made in a folder. A missing folder
// gives an error that fs.ErrNotExist matches; a model that is not what was
// installed, or that never passed its self-test, a *ModelError.
func OpenModel(dir string) (*Model, error) {
	manifest, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	if manifest.Tested.IsZero() {
		return nil, &ModelError{manifest.Name, "its self-test was not passed: install it again"}
	}
	if err := manifest.verify(dir); err != nil {
		return nil, err
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
	return &Model{turn: turn, name: manifest.Name, dim: e.dim, vocab: vocab, engine: e}, nil
}

// Name is the model's name and eight digits of its checksum, as
// "all-MiniLM-L6-v2@afdb6f1a".
func (m *Model) Name() string { return m.name }

// Dim is the number of values of a vector.
func (m *Model) Dim() int { return m.dim }

// Knows is always true: a transformer makes something of every text.
func (m *Model) Knows(string) bool { return true }

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
	ids, meaning := m.vocab.ids(text, maxTokens)
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

// vocabulary is what a tokenizer.json says about its tokens.
type vocabulary struct {
	pieces      *wordPieces
	size        int
	unknown     int32
	begin, end  int32
	fingerprint string // SHA-256 of the tokens in the order of their ids, a line each
}

// maxBytes bounds how much of a text is looked at: 128 words, the most that can
// count, are far shorter unless they are no words.
const maxBytes = 16 << 10

// ids gives the ids of a text, marks included, at most n: what is too long
// loses its end, not the mark behind it. meaning reports whether a word of it
// is in the vocabulary.
//
// The tokenizer that hugot loads is never run. It took accents for unknown
// words, panicked on one random text in four and ended the process on others.
func (v *vocabulary) ids(text string, n int) (ids []int32, meaning bool) {
	ids = append(ids, v.begin)
	for word := range split(clean(cut(text, maxBytes))) {
		had := len(ids)
		if had >= n {
			break
		}
		if ids = v.pieces.word(ids, word); len(ids) == had {
			ids = append(ids, v.unknown)
		} else {
			meaning = true
		}
	}
	ids = append(ids[:min(len(ids), n-1)], v.end)
	return ids, meaning
}

// tokenizerFile is the part of a tokenizer.json that is looked at.
type tokenizerFile struct {
	Normalizer *struct {
		Type      string `json:"type"`
		Lowercase bool   `json:"lowercase"`
	} `json:"normalizer"`
	PreTokenizer  json.RawMessage `json:"pre_tokenizer"`
	PostProcessor json.RawMessage `json:"post_processor"`
	Model         struct {
		Type         string         `json:"type"`
		InsidePrefix *string        `json:"continuing_subword_prefix"`
		Vocab        map[string]int `json:"vocab"`
	} `json:"model"`
}

// readVocabulary reads and checks dir/tokenizer.json. Only uncased WordPiece
// vocabularies, those of BERT and its kin, are let through: texts are taken
// apart here, in the way that fits these.
func readVocabulary(dir string) (*vocabulary, error) {
	data, err := os.ReadFile(filepath.Join(dir, tokensFile))
	if err != nil {
		return nil, err
	}
	if problem := notAFile(data); problem != "" {
		return nil, fmt.Errorf("%s %s", tokensFile, problem)
	}
	var file tokenizerFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s is no tokenizer: %w", tokensFile, err)
	}
	if err := file.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", tokensFile, err)
	}
	return file.vocabulary()
}

func (f *tokenizerFile) check() error {
	switch {
	case f.Model.Type != "WordPiece" && f.Model.Type != "" || len(f.Model.Vocab) == 0:
		return fmt.Errorf("holds no WordPiece vocabulary (model type %q): only BERT's kind of tokenizer is supported", f.Model.Type)
	case len(f.Model.Vocab) > maxVocabulary:
		return fmt.Errorf("has %d tokens: only vocabularies of up to %d are supported", len(f.Model.Vocab), maxVocabulary)
	case f.Model.InsidePrefix != nil && *f.Model.InsidePrefix != "##":
		return fmt.Errorf("marks the inside of words with %q: only BERT's ## is supported", *f.Model.InsidePrefix)
	case f.Normalizer == nil || f.Normalizer.Type != "BertNormalizer" || !f.Normalizer.Lowercase:
		return errors.New("does not lower the case of texts as BERT does: only uncased vocabularies are supported")
	case !isObject(f.PreTokenizer):
		return errors.New("has no pre_tokenizer")
	case !isObject(f.PostProcessor):
		return errors.New("has no post_processor")
	}
	return nil
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

func (f *tokenizerFile) vocabulary() (*vocabulary, error) {
	tokens := make([]string, len(f.Model.Vocab))
	for token, id := range f.Model.Vocab {
		if id < 0 || id >= len(tokens) || tokens[id] != "" || token == "" || strings.Contains(token, "\n") {
			return nil, fmt.Errorf("%s: the ids of its %d tokens are not 0 to %d", tokensFile, len(tokens), len(tokens)-1)
		}
		tokens[id] = token
	}
	v := &vocabulary{size: len(tokens)}
	for mark, at := range map[string]*int32{"[UNK]": &v.unknown, "[CLS]": &v.begin, "[SEP]": &v.end} {
		id, ok := f.Model.Vocab[mark]
		if !ok {
			return nil, fmt.Errorf("%s: has no token %s", tokensFile, mark)
		}
		*at = int32(id)
	}
	lines := strings.Join(tokens, "\n") + "\n"
	sum := sha256.Sum256([]byte(lines))
	v.pieces, v.fingerprint = newWordPieces(lines), hex.EncodeToString(sum[:])
	return v, nil
}
