package embed

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	currentFile  = "current"
	stagedPrefix = ".tmp-"
	oldPrefix    = ".old-"
)

// ErrNoModel says that no model is installed, or none is in use.
var ErrNoModel = errors.New("no model is installed")

// Current gives the folder and the manifest of the model in use. ErrNoModel
// says that there is none; a *ModelError that its files are not what was
// installed, as far as their sizes tell. It costs some file calls and may stand
// in a cold command's way.
func Current(modelsDir string) (dir string, m *Manifest, err error) {
	data, err := os.ReadFile(filepath.Join(modelsDir, currentFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, ErrNoModel
	}
	if err != nil {
		return "", nil, err
	}
	name := strings.TrimSpace(string(data))
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

// List gives the installed models by name; one that is damaged is not among
// them.
func List(modelsDir string) ([]Manifest, error) {
	entries, err := os.ReadDir(modelsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Manifest
	for _, e := range entries {
		if !e.IsDir() || !validName(e.Name()) {
			continue
		}
		if m, err := readManifest(filepath.Join(modelsDir, e.Name())); err == nil && m.Name == e.Name() && !m.Tested.IsZero() {
			all = append(all, *m)
		}
	}
	return all, nil
}

// Named gives the installed model that a name is of: a whole one, or one without
// its @ and what follows where that is of one model only. A name that is of none,
// or of several, is an error that tells the names there are, fs.ErrNotExist in the
// first case.
func Named(modelsDir, name string) (string, error) {
	if _, err := os.Lstat(filepath.Join(modelsDir, name)); err == nil && validName(name) {
		return name, nil
	}
	entries, err := os.ReadDir(modelsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var all, called []string
	for _, e := range entries {
		if !e.IsDir() || !validName(e.Name()) {
			continue
		}
		all = append(all, e.Name())
		if short, _, _ := strings.Cut(e.Name(), "@"); short == name {
			called = append(called, e.Name())
		}
	}
	switch {
	case len(called) == 1:
		return called[0], nil
	case len(called) > 1:
		return "", fmt.Errorf("model %s: is one of several: %s", cut(name, 80), strings.Join(called, ", "))
	case len(all) > 0:
		return "", fmt.Errorf("model %s: is not installed, there is %s: %w", cut(name, 80), strings.Join(all, ", "), fs.ErrNotExist)
	}
	return "", fmt.Errorf("model %s: is not installed, and no other is: %w", cut(name, 80), fs.ErrNotExist)
}

// Use makes an installed model the current one.
func Use(modelsDir, name string) error {
	if !validName(name) {
		return fmt.Errorf("model %s: is not installed: %w", name, fs.ErrNotExist)
	}
	dir := filepath.Join(modelsDir, name)
	m, err := readManifest(dir)
	if err != nil {
		return err
	}
	if err := m.verify(dir); err != nil {
		return err
	}
	return setCurrent(modelsDir, name)
}

// Remove deletes an installed model, damaged ones too. When it was the one in
// use, none is from then on. Whoever has it open keeps it.
func Remove(modelsDir, name string) error {
	dir := filepath.Join(modelsDir, name)
	if _, err := os.Lstat(dir); !validName(name) || errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("model %s: is not installed: %w", name, fs.ErrNotExist)
	}
	if data, err := os.ReadFile(filepath.Join(modelsDir, currentFile)); err == nil && strings.TrimSpace(string(data)) == name {
		if err := os.Remove(filepath.Join(modelsDir, currentFile)); err != nil {
			return err
		}
	}
	return discard(modelsDir, dir)
}

// activate renames a tested model into place and makes it the current one. A
// model of that name that is whole is the same one, byte for byte, and stays.
func activate(modelsDir, staged string, m *Manifest) (string, error) {
	dir := filepath.Join(modelsDir, m.Name)
	if old, err := readManifest(dir); err == nil && old.verify(dir) == nil && !old.Tested.IsZero() && sameFiles(old, m) {
		return dir, setCurrent(modelsDir, m.Name)
	}
	if _, err := os.Lstat(dir); err == nil {
		if err := discard(modelsDir, dir); err != nil {
			return "", err
		}
	}
	// The files were synced one by one; their names and the folder's are next.
	if err := syncDir(staged); err != nil {
		return "", err
	}
	if err := os.Rename(staged, dir); err != nil {
		// Two installations of one model at once: the first one's will do.
		if old, missing := readManifest(dir); missing != nil || !sameFiles(old, m) {
			return "", err
		}
	}
	if err := syncDir(modelsDir); err != nil {
		return "", err
	}
	return dir, setCurrent(modelsDir, m.Name)
}

func sameFiles(a, b *Manifest) bool {
	return a.Files[modelFile] == b.Files[modelFile] && a.Files[tokensFile] == b.Files[tokensFile] && a.Pooling == b.Pooling
}

// setCurrent replaces the file current by a rename, so that a reader finds the
// old name or the new one.
func setCurrent(modelsDir, name string) error {
	dir, err := os.MkdirTemp(modelsDir, stagedPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	next := filepath.Join(dir, currentFile)
	if err := writeSynced(next, []byte(name+"\n")); err != nil {
		return err
	}
	if err := os.Rename(next, filepath.Join(modelsDir, currentFile)); err != nil {
		return err
	}
	return syncDir(modelsDir)
}

// discard takes a folder out of the way by a rename first, so that no reader
// finds half of it.
func discard(modelsDir, dir string) error {
	away, err := os.MkdirTemp(modelsDir, oldPrefix)
	if err != nil {
		return err
	}
	if err := os.Rename(dir, filepath.Join(away, "model")); err != nil {
		return errors.Join(err, os.Remove(away))
	}
	return os.RemoveAll(away)
}

// sweepModels deletes what installations that did not end left behind, once they are
// an hour old.
func sweepModels(modelsDir string, now time.Time) {
	entries, _ := os.ReadDir(modelsDir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), stagedPrefix) && !strings.HasPrefix(e.Name(), oldPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(filepath.Join(modelsDir, e.Name()))
		}
	}
}

// validName reports whether a name can be a model's folder.
func validName(name string) bool {
	return name != "" && len(name) <= 100 && name[0] != '.' && filepath.IsLocal(name) &&
		strings.IndexFunc(name, func(r rune) bool { return r != '@' && nameRune(r) != r }) < 0
}
