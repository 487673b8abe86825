package project

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// secretFile is in the common directory of a repository: the secrets of its projects, one on
// each line. It goes with the repository when that is moved, and no clone carries it. So a
// repository cannot claim to be another one that has moved. Several maps of projects may know
// one repository: those of other users, of other data directories. Each adds its own lines.
const secretFile = "lean-ctx-secret"

const maxSecrets = 64 << 10 // bytes

// readSecrets are the secrets in a common directory.
func readSecrets(common string) []string {
	if common == "" {
		return nil
	}
	f, err := openSecrets(common, os.O_RDONLY)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, maxSecrets)) // what can be read is enough
	return strings.Fields(string(data))
}

var errNoSecretFile = errors.New(secretFile + " is not a regular file of this user")

// openSecrets opens the file of the secrets. A link would lead to those of another repository.
func openSecrets(common string, flag int) (*os.File, error) {
	root, err := os.OpenRoot(common)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(secretFile)
	if err == nil && (!info.Mode().IsRegular() || !ownedByUs(info)) {
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
