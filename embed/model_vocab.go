package embed

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// vocabulary is what a tokenizer.json says about its tokens.
type vocabulary struct {
	pieces      *wordPieces
	size        int
	unknown     int32
	begin, end  int32
	fingerprint string // SHA-256 of the tokens in the order of their ids, a line each
}

// ids gives the ids of a text, marks included, at most n: what is too long
// loses its end, not the mark behind it. meaning reports whether a word of it
// is in the vocabulary.
//
// The tokenizer that hugot loads is never run. It took accents for unknown
// words, panicked on one random text in four and ended the process on others.
func (v *vocabulary) ids(text string, n int) (ids []int32, meaning bool) {
	ids = append(ids, v.begin)
	for _, word := range words(text, n) {
		had := len(ids)
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
		Type   string         `json:"type"`
		GoesOn *string        `json:"continuing_subword_prefix"`
		Vocab  map[string]int `json:"vocab"`
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

// maxVocabulary is what a wordPieces can hold.
const maxVocabulary = 65_534

func (f *tokenizerFile) check() error {
	switch {
	case f.Model.Type != "WordPiece" && f.Model.Type != "" || len(f.Model.Vocab) == 0:
		return fmt.Errorf("holds no WordPiece vocabulary (model type %q): only BERT's kind of tokenizer is supported", f.Model.Type)
	case len(f.Model.Vocab) > maxVocabulary:
		return fmt.Errorf("has %d tokens: only vocabularies of up to %d are supported", len(f.Model.Vocab), maxVocabulary)
	case f.Model.GoesOn != nil && *f.Model.GoesOn != "##":
		return fmt.Errorf("marks the inside of words with %q: only BERT's ## is supported", *f.Model.GoesOn)
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
