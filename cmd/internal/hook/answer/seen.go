package answer

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// doubled is within what time the same event of a session is the same one,
// told by the hooks of two clients.
const doubled = 10 * time.Second

// seenKept is how long it is remembered what a session was told.
const seenKept = 24 * time.Hour

// seen is what a session was told, in small files of logs/hook: made or not
// made, appended to or read whole, so that nobody waits for a lock.
type seen struct {
	dir     string
	session string
	now     time.Time
	sighted map[string][]Sighting // by project: what one event has read
}

func (c Call) seen(in input) *seen {
	s := &seen{dir: filepath.Join(c.Data, "logs", "hook"), session: in.session(), now: time.Now()}
	if c.Now != nil {
		s.now = c.Now()
	}
	return s
}

func short(parts ...string) string {
	h := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(h[:8])
}

// first reports whether an event of the session is not one that was answered
// within ten seconds. The time is cut into pieces of that length; who makes the
// file of a piece is the first in it. Without a session nothing is a double.
func (s *seen) first(event, source string) bool {
	if s.session == "" {
		return true
	}
	piece := s.now.UnixNano() / int64(doubled)
	name := func(piece int64) string {
		return filepath.Join(s.dir, fmt.Sprintf("once-%s-%d", short(s.session, event, source), piece))
	}
	if info, err := os.Stat(name(piece - 1)); err == nil && s.now.Sub(info.ModTime()).Abs() < doubled {
		return false
	}
	f, err := s.make(name(piece), os.O_CREATE|os.O_EXCL|os.O_WRONLY)
	if err != nil {
		return !errors.Is(err, fs.ErrExist) // what cannot be kept in mind is better said twice than not at all
	}
	s.sweep()
	// The file's own clock may be another machine's.
	_ = os.Chtimes(f.Name(), s.now, s.now)
	return f.Close() == nil
}

// make opens a file of the directory, which is made if need be.
func (s *seen) make(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(s.dir, 0o700); err != nil {
			return nil, err
		}
		f, err = os.OpenFile(path, flags, 0o600)
	}
	return f, err
}

// sweep drops what is of no use any more.
func (s *seen) sweep() {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		keep := 6 * doubled
		switch {
		case strings.HasPrefix(e.Name(), "told-"):
			keep = seenKept
		case strings.HasPrefix(e.Name(), sightings):
			keep = sightingKept
		}
		if info, err := e.Info(); err == nil && s.now.Sub(info.ModTime()) > keep {
			_ = os.Remove(filepath.Join(s.dir, e.Name())) // somebody else may have
		}
	}
}

func (s *seen) told() string { return filepath.Join(s.dir, "told-"+short(s.session)) }

// fresh leaves out what the session was told already.
func (s *seen) fresh(list []Told) []Told {
	if s.session == "" || len(list) == 0 {
		return list
	}
	data, err := os.ReadFile(s.told())
	if err != nil {
		return list
	}
	known := strings.Split(string(data), "\n")
	return slices.DeleteFunc(slices.Clone(list), func(t Told) bool { return slices.Contains(known, t.ID) })
}

// tell notes what the session is told now.
func (s *seen) tell(list []Told) {
	if s.session == "" || len(list) == 0 {
		return
	}
	f, err := s.make(s.told(), os.O_CREATE|os.O_APPEND|os.O_WRONLY)
	if err != nil {
		return
	}
	for _, t := range list {
		fmt.Fprintln(f, t.ID)
	}
	_ = f.Close() // at worst it is told again
}

// mostLog is the size from which on a log is set aside.
const mostLog = 1 << 20 // bytes

// logFile is logs/hook.log. It is opened at the first line; where there is no
// data directory nothing is written.
type logFile struct {
	dir string
	f   *os.File
}

func (l *logFile) Write(p []byte) (int, error) {
	if l.f == nil && !l.open() {
		return len(p), nil
	}
	return l.f.Write(p)
}

func (l *logFile) open() bool {
	if _, err := os.Stat(l.dir); err != nil {
		return false
	}
	logs := filepath.Join(l.dir, "logs")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return false
	}
	path := filepath.Join(logs, "hook.log")
	if info, err := os.Stat(path); err == nil && info.Size() > mostLog {
		_ = os.Rename(path, path+".1") // two at once: one of them does it
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	l.f = f
	return err == nil
}

func (l *logFile) close() {
	if l.f != nil {
		_ = l.f.Close() // each line was written by itself
	}
}
