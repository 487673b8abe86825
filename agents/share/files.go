package share

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"leanctx/internal/args"
	"leanctx/internal/atomicfile"
	"leanctx/internal/journal"
	"leanctx/internal/prose"
	"leanctx/internal/refusal"
)

// Limits of a push.
const (
	MaxFile    = 1 << 20 // bytes of a file
	MaxShare   = 4 << 20 // bytes of all files together
	MaxFiles   = 100
	MaxMessage = 64 << 10 // bytes
)

// source is a project file that was read.
type source struct {
	path string // relative to the project, with slashes
	data []byte
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// project opens the project's files.
func (s *core) project() (*os.Root, error) {
	if s.opts.ProjectRoot == "" {
		return nil, refusal.Argument("project", "no project whose files could be shared: give project")
	}
	return os.OpenRoot(s.opts.ProjectRoot)
}

// sources reads the files of an offer: all of them, or none.
func (s *core) sources(ctx context.Context, o Offer) ([]source, error) {
	root, err := s.project()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var out []source
	var refused []string
	private, err := s.private(ctx, o)
	if err != nil {
		return nil, err
	}
	size := 0
	for _, given := range o.Paths {
		if given = strings.TrimSpace(given); given == "" {
			continue
		}
		path, err := s.named(given)
		if slices.ContainsFunc(out, func(x source) bool { return err == nil && x.path == path }) {
			continue
		}
		x := source{path: path}
		if err == nil && !o.Person {
			err = s.forPerson(given, path, private)
		}
		if err == nil {
			x.data, err = readSource(root, filepath.FromSlash(path))
		}
		if err != nil {
			shown, _ := s.secrets.Clean(given)
			refused = append(refused, prose.Line(prose.Clip(shown, 80)+" "+err.Error()))
			continue
		}
		if size += len(x.data); size > MaxShare || len(out) >= MaxFiles {
			return nil, refusal.Argument("paths", "nothing was shared: more than %d MiB or %d files at once; share them in parts", MaxShare>>20, MaxFiles)
		}
		out = append(out, x)
	}
	if len(refused) > 0 {
		const maxShown = 10
		list := strings.Join(refused[:min(len(refused), maxShown)], "; ")
		if n := len(refused) - maxShown; n > 0 {
			list += fmt.Sprintf("; and %d more", n)
		}
		return nil, refusal.Argument("paths", "nothing was shared: %s", list)
	}
	if len(out) == 0 {
		return nil, refusal.Missing("paths", "")
	}
	return out, nil
}

// private are the files of an offer that git's rules ignore.
func (s *core) private(ctx context.Context, o Offer) (ignored []string, err error) {
	if o.Person || s.opts.Ignored == nil {
		return nil, nil
	}
	var names []string
	for _, given := range o.Paths {
		if name, err := args.Path(s.opts.ProjectRoot, strings.TrimSpace(given)); err == nil && name != "." { // what is wrong with it is said later
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	if ignored, err = s.opts.Ignored(ctx, s.opts.ProjectRoot, names); err != nil && ctx.Err() == nil {
		s.opts.Logger.Debug("git did not say which files it ignores", "error", err)
		ignored, err = slices.DeleteFunc(names, func(name string) bool { return !strings.Contains("/"+name, "/.") }), nil
	}
	return ignored, err
}

// forPerson refuses a file that only a person may share: one that git ignores, or whose name
// says that it holds a secret.
func (s *core) forPerson(given, path string, ignored []string) error {
	const how = ": a person may share it at a terminal"
	if slices.Contains(ignored, path) {
		return errors.New("is ignored by git" + how)
	}
	for _, name := range []string{given, filepath.Join(s.opts.ProjectRoot, filepath.FromSlash(path))} {
		if holdsSecrets(filepath.ToSlash(name)) {
			return errors.New("holds a secret, by its name" + how)
		}
	}
	return nil
}

// holdsSecrets reports whether programs keep keys and passwords in files of this name.
func holdsSecrets(name string) bool {
	parts := strings.Split(strings.ToLower(name), "/")
	base := parts[len(parts)-1]
	for _, dir := range parts[:len(parts)-1] {
		if slices.Contains([]string{".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker"}, dir) {
			return true
		}
	}
	if base == ".env" || strings.HasPrefix(base, ".env.") {
		return !slices.Contains([]string{".env.example", ".env.sample", ".env.template", ".env.dist"}, base)
	}
	if strings.HasPrefix(base, "id_") && path.Ext(base) == "" {
		return true
	}
	switch base {
	case ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".git-credentials", ".htpasswd", ".dockercfg", "credentials", "credentials.json", "kubeconfig":
		return true
	}
	return slices.Contains([]string{".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".gpg"}, path.Ext(base))
}

// named is the name of a file in the project, after symbolic links. It refuses Git's own files,
// and names that match a secret rule, by the given name and by the real one. A link made after
// that cannot lead out of the project, because the file is opened through an os.Root.
func (s *core) named(given string) (path string, err error) {
	if path, err = args.Path(s.opts.ProjectRoot, given); err != nil {
		return "", err
	}
	if prose.Line(path) != path {
		return "", errors.New("has control characters in its name")
	}
	given = filepath.Clean(given)
	if inside, err := filepath.Rel(s.opts.ProjectRoot, given); err == nil { // it is absolute
		given = inside
	}
	for _, name := range []string{filepath.ToSlash(given), path} {
		if slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.EqualFold(part, ".git") }) {
			return "", errors.New("belongs to Git: its files hold addresses and credentials")
		}
		if _, rules := s.secrets.Clean(name); len(rules) > 0 {
			return "", errors.New("is sensitive (" + strings.Join(rules, ", ") + ")")
		}
	}
	return path, nil
}

// readSource reads a text file of at most MaxFile bytes.
func readSource(root *os.Root, path string) ([]byte, error) {
	info, err := root.Stat(path)
	if err == nil && info.Mode().IsRegular() && info.Size() <= MaxFile {
		return readText(root, path)
	}
	switch {
	case err != nil:
		return nil, plain(err)
	case info.IsDir():
		return nil, errors.New("is a directory: name its files")
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	}
	return nil, tooBig(info.Size())
}

func tooBig(size int64) error {
	return fmt.Errorf("is too big: %.1f MiB, at most %d", float64(size)/(1<<20), MaxFile>>20)
}

func readText(root *os.Root, path string) ([]byte, error) {
	f, err := root.Open(path)
	if err != nil {
		return nil, plain(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	switch {
	case err != nil:
		return nil, plain(err)
	case len(data) > MaxFile: // it grew after the check
		return nil, tooBig(int64(len(data)))
	case bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data):
		return nil, errors.New("is binary: only UTF-8 text is shared")
	}
	return data, nil
}

var errGone = errors.New("does not exist")

// plain is the error without the path. It wraps what kept a file from being read.
func plain(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errGone
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return fmt.Errorf("cannot be read: %w", err)
}

// The states of a shared file.
const (
	stateSame       = ""
	stateStale      = "stale"
	stateGone       = "gone"
	stateUnreadable = "unreadable"
	stateDamaged    = "damaged"
)

// compare is the state of a shared file in the project.
func compare(root *os.Root, x stored) string {
	data, err := readSource(root, filepath.FromSlash(x.Path))
	switch {
	case err == nil && hash(data) == x.Source:
		return stateSame
	case errors.Is(err, errGone):
		return stateGone
	case errors.Unwrap(err) != nil:
		return stateUnreadable
	}
	return stateStale // also one that could not be shared now
}

const (
	filesDir    = "files"
	orphanAfter = time.Hour // longer than any push takes
)

// writeContents writes the contents of a new share. Files and names are synced before it
// returns, so a power cut cannot lose contents that the following commit names.
func (s *core) writeContents(id string, texts map[string]string) error {
	dir := filepath.Join(s.dir, filesDir, id)
	root, err := journal.OpenDir(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for name, text := range texts {
		if err := s.opts.Fault("write", name); err != nil {
			return err
		}
		if err := atomicfile.WriteFile(filepath.Join(dir, name), []byte(text), atomicfile.Options{Sync: true}); err != nil {
			return err
		}
	}
	return nil
}

// contents reads a stored file, which may be with the team only. ok is false if it is not
// what was shared.
func (s *core) contents(ctx context.Context, id string, x stored) (text string, ok bool) {
	data, err := s.readContents(id, x.Hash)
	if err != nil && s.opts.Contents != nil {
		data, err = s.opts.Contents.Fetch(ctx, x.Hash)
	}
	return string(data), err == nil && hash(data) == x.Hash
}

func (s *core) readContents(id, name string) ([]byte, error) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.ReadFile(path.Join(filesDir, id, name))
}

// drop removes the contents of deleted shares. sweep removes later what cannot be removed
// now.
func (s *core) drop(ids ...string) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return
	}
	defer root.Close()
	for _, id := range ids {
		name := path.Join(filesDir, id)
		err := s.opts.Fault("remove", name)
		if err == nil {
			err = root.RemoveAll(name)
		}
		if err != nil {
			s.opts.Logger.Debug("shared files were not removed", "share", id, "error", err)
		}
	}
}

// sweep removes contents of shares that a killed process never committed.
func (s *core) sweep(known map[string]*shared) {
	entries, err := os.ReadDir(filepath.Join(s.dir, filesDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.opts.Logger.Debug("shared files were not looked through", "error", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && known[e.Name()] == nil && time.Since(info.ModTime()) > orphanAfter {
			s.drop(e.Name())
		}
	}
}
