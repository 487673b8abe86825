package project

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"leanctx/internal/atomicfile"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// secretFile is in the common directory of a repository: the secrets of its projects, one on
// each line. It goes with the repository when that is moved, and no clone carries it. So a
// repository cannot claim to be another one that has moved. Several maps of projects may know
// one repository: those of other users, of other data directories. Each adds its own lines.
const secretFile = "lean-ctx-secret"

const maxSecrets = 64 << 10 // bytes

// secrets are those in a common directory.
func (t *texts) secrets(common string) []string {
	if common == "" {
		return nil
	}
	info, err := os.Lstat(filepath.Join(common, secretFile))
	if err != nil || !secretIsOurs(info) {
		return nil
	}
	text, _ := t.of(filepath.Join(common, secretFile), info, func() (string, error) {
		f, err := openSecrets(common, os.O_RDONLY)
		if err != nil {
			return "", err
		}
		defer f.Close()
		data, err := io.ReadAll(io.LimitReader(f, maxSecrets))
		return string(data), err // what can be read is enough
	})
	return strings.Fields(text)
}

func secretIsOurs(info fs.FileInfo) bool { return info.Mode().IsRegular() && atomicfile.Owned(info) }

var errNoSecretFile = errors.New(secretFile + " is not a regular file of this user")

// openSecrets opens the file of the secrets. A link would lead to those of another repository.
func openSecrets(common string, flag int) (*os.File, error) {
	root, err := os.OpenRoot(common)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(secretFile)
	if err == nil && !secretIsOurs(info) {
		return nil, errNoSecretFile
	}
	if err != nil && (flag&os.O_CREATE == 0 || !errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	return root.OpenFile(secretFile, flag, 0o600)
}

// writeSecret adds the secret of a project to its repository.
func (s *observation) writeSecret(secret string) error {
	if s.secretDir == "" || secret == "" || slices.Contains(s.secrets, secret) {
		return nil
	}
	f, err := openSecrets(s.secretDir, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	_, err = f.WriteString(secret + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		s.secrets = append(s.secrets, secret)
	}
	return err
}

// newSecret is a secret that nobody can guess.
func newSecret() string { return rand.Text() }
