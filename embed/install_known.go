package embed

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
)

// knownModel is a line of the table of weights that were tried.
type knownModel struct {
	name    string
	licence string
	pooling string
}

// The vocabulary that BERT's uncased English models share, by its fingerprint.
const bertUncased = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"

// known tells weights by their SHA-256. A model that is not in it is installed
// too, with a note.
func known(sum string) (knownModel, bool) {
	switch sum {
	case "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1":
		return knownModel{"all-MiniLM-L6-v2-q8", "Apache-2.0", poolMean}, true
	case "759c3cd2b7fe7e93933ad23c4c9181b7396442a2ed746ec7c1d46192c469c46e":
		return knownModel{"all-MiniLM-L6-v2", "Apache-2.0", poolMean}, true
	case "398a29991324e0b383afa13375d681ced3079c83e097fb1ebd9290d7498523b3":
		return knownModel{"gte-small", "MIT", poolMean}, true
	}
	return knownModel{}, false
}

// describeModel fills the parts of a manifest that follow from the files: what
// the model is called, whether it is known, and how it is pooled.
func (m *Manifest) describeModel(source string, p picked, s sides, vocab *vocabulary) {
	weights := m.Files[modelFile].SHA256
	line, ok := known(weights)
	m.Known = ok && vocab.fingerprint == bertUncased
	m.Licence = line.licence
	m.Pooling = poolMean
	if s.FirstToken && !s.MeanTokens || line.pooling == poolFirst {
		m.Pooling = poolFirst
	}
	m.MaxTokens = maxTokens
	if s.MaxPositions > 0 {
		m.MaxTokens = min(maxTokens, s.MaxPositions)
	}
	name, sum := line.name, weights
	if name == "" {
		name = guessName(source, p, s)
	}
	if !m.Known {
		// Vectors also depend on these, so the name must.
		both := sha256.Sum256([]byte(weights + vocab.fingerprint + m.Pooling))
		sum = hex.EncodeToString(both[:])
	}
	m.Name = name + "@" + sum[:8]
}

// guessName makes a name of the model's own, of its folder's or of the
// source's, whichever says most.
func guessName(source string, p picked, s sides) string {
	for _, ending := range []string{".tgz", ".tar.gz", ".zip"} {
		source = strings.TrimSuffix(source, ending)
	}
	for _, name := range []string{s.NameOrPath, p.folder, source} {
		name = strings.Trim(strings.Map(nameRune, path.Base(name)), "-.")
		if len(name) > 1 && name != "package" && name != "onnx" && name != "model" {
			return cut(name, 60)
		}
	}
	return "model"
}

// nameRune gives what stands for a rune in a name, which is a folder's too.
func nameRune(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
		return r
	}
	return '-'
}
