package session

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"leanctx/internal/atomicfile"
)

// Consent says that sessions may be kept on this machine. Without it nothing is: an installation that was connected by
// a version that did not say so has none.
type Consent struct {
	Since time.Time `json:"since"`
	By    string    `json:"by"` // connect, session on

	// Folders are where clients keep their transcripts, as the environment of who agreed named them. What a later
	// environment names is not asked: an agent's shell sets its variables as it likes.
	Folders map[string][]string `json:"folders,omitempty"`
}

const consentName = "consent.json"

// ConsentIn reads the consent of a data directory. A file that cannot be read, or is none, is no consent.
func ConsentIn(data string) (c Consent, given bool) {
	f, size, err := openRegular(filepath.Join(data, folder, consentName))
	if err != nil || size > 64<<10 {
		return c, false
	}
	defer f.Close()
	err = json.NewDecoder(f).Decode(&c)
	return c, err == nil && !c.Since.IsZero()
}

// Consenting writes the consent, unless there is one. folders are where the clients keep their transcripts: they are added
// for a person, and for whoever gives the first consent.
func Consenting(data, by string, now time.Time, folders map[string]string, person bool) (fresh bool, err error) {
	c, given := ConsentIn(data)
	if !given {
		c = Consent{Since: now.UTC().Truncate(time.Second), By: by}
	}
	added := !given
	for client, path := range folders {
		if path == "" || slices.Contains(c.Folders[client], path) || given && !person {
			continue
		}
		if c.Folders == nil {
			c.Folders = map[string][]string{}
		}
		c.Folders[client], added = append(c.Folders[client], path), true
	}
	if !added {
		return false, nil
	}
	dir := filepath.Join(data, folder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return false, err
	}
	return !given, atomicfile.WriteFile(filepath.Join(dir, consentName), append(text, '\n'), atomicfile.Options{})
}

// Withdraw removes the consent that was given in a way, and the folder if nothing else is in it. What was kept stays.
func Withdraw(data, by string) error {
	if c, given := ConsentIn(data); !given || c.By != by {
		return nil
	}
	dir := filepath.Join(data, folder)
	if err := os.Remove(filepath.Join(dir, consentName)); err != nil {
		return err
	}
	_ = os.Remove(dir) // unless sessions are in it
	return nil
}

// offName is the file that switches sessions off for a project.
const offName = "off"

// Off reports whether sessions were switched off for the project.
func (s *Store) Off() bool {
	_, err := os.Lstat(filepath.Join(s.dir, offName))
	return !errors.Is(err, fs.ErrNotExist)
}

// Switch switches sessions off for the project, or on again. What was kept stays.
func (s *Store) Switch(off bool) error {
	path := filepath.Join(s.dir, offName)
	info, err := os.Lstat(path)
	switch there := err == nil; {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case there == off:
		return nil
	case off:
		if err := os.MkdirAll(s.dir, 0o700); err != nil {
			return err
		}
		return os.WriteFile(path, nil, 0o600)
	}
	// The pause is noted first: nothing of it may be taken in.
	if err := note(filepath.Dir(s.dir), pause{Project: filepath.Base(s.dir), Off: info.ModTime().UTC(), On: s.options.Now().UTC()}); err != nil {
		return err
	}
	return os.Remove(path)
}
