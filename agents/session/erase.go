package session

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Erase removes sessions for good: their files, and what the word list has of them. What stays is that they were
// erased, so that they are not taken in again: their names' checksums and those of their turns, no word.
func (s *Store) Erase(ctx context.Context, list []*Record) error {
	if len(list) == 0 {
		return nil
	}
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	f, err := os.OpenFile(filepath.Join(s.dir, erasedName), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(f)
	for _, r := range list {
		x := tombstone{ID: r.ID, At: s.options.Now().UTC()}
		err = s.Each(ctx, r, func(t *Turn) bool {
			k := t.key()
			x.IDs += hex.EncodeToString(k[:])
			return true
		})
		if err != nil {
			break
		}
		if err = enc.Encode(x); err != nil {
			break
		}
		if err = os.Remove(s.path(r.file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			break
		}
		err = nil
	}
	files := map[string]bool{}
	for _, r := range list {
		files[r.file] = true
	}
	return errors.Join(err, f.Close(), s.forgetWords(files))
}

// Expire erases the sessions of which nothing was taken in for as long as they are to be kept.
func (s *Store) Expire(ctx context.Context) error {
	days := s.options.Days
	if days <= 0 {
		return nil
	}
	targets, err := s.targets()
	if err != nil {
		return err
	}
	var old []*Record
	for _, t := range targets {
		if t.modified.After(s.options.Now().AddDate(0, 0, -days)) {
			continue // the usual case: nothing is read
		}
		if r, err := s.read(t.file); err == nil {
			old = append(old, r)
		}
	}
	return s.Erase(ctx, old)
}
