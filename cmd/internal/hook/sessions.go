package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// doubleWindow is the time in which two equal events of a session count as
	// one: the hooks of two clients may report it.
	doubleWindow = 10 * time.Second
	// noticeKept is how long we know what a session was shown.
	noticeKept = 24 * time.Hour
	// sessionKept is how long the record of a session is kept: twice as long as
	// an inactive agent is listed.
	sessionKept = 48 * time.Hour
	// turn is how long a session may work without an event.
	turn = time.Hour
)

// Session is the session of a client in which an event occurred. Records of sessions are
// small files in logs/hook. They are created, appended to or read whole, so they need no
// lock.
type Session struct {
	Client string // of the table
	Dir    string // where it works

	id      string // the client's name of it; may be empty
	files   string // logs/hook
	project string // the one that it was last seen in
	now     time.Time
	mark    string // what to write into its file
	cleared bool   // it goes on where one with a cleared context ended
	seen    map[string][]SeenSession
}

// The lines of a session's file: one for the first time it was seen, one for its end, and
// one if it began again. The file's modification time is the last time it was seen.
const (
	sessionFile = "session-"
	markSeen    = "seen"
	markEnded   = "ended"
	markCleared = "cleared" // ended, and the client's window stays
	nameless    = "nameless"
	noticeFile  = "told-"
)

// byClear is the reason of an end, and the source of the next session, when a user clears
// the context.
const byClear = "clear"

func (c Call) session(in input) *Session {
	s := &Session{Client: c.Client, Dir: c.Dir, id: in.session(), files: filepath.Join(c.Data, "logs", "hook"), now: time.Now(), mark: markSeen, seen: map[string][]SeenSession{}}
	if c.Now != nil {
		s.now = c.Now()
	}
	switch {
	case c.Event == SessionStart:
		s.cleared = in.text("source") == byClear
	case c.Event == SessionEnd && in.text("reason") == byClear:
		s.mark = markCleared
	case c.Event == SessionEnd:
		s.mark = markEnded
	}
	return s
}

func shortHash(parts ...string) string {
	h := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(h[:8])
}

// isFirst reports whether no other hook has answered this event of the session
// within ten seconds. Time is divided into windows; whoever creates the file of
// a window is the first in it. Without a name every event is the first.
func (s *Session) isFirst(event, source string) bool {
	if s.id == "" {
		return true
	}
	window := s.now.UnixNano() / int64(doubleWindow)
	name := func(window int64) string {
		return filepath.Join(s.files, fmt.Sprintf("once-%s-%d", shortHash(s.id, event, source), window))
	}
	if info, err := os.Stat(name(window - 1)); err == nil && s.now.Sub(info.ModTime()).Abs() < doubleWindow {
		return false
	}
	f, err := openFile(name(window), os.O_CREATE|os.O_EXCL|os.O_WRONLY)
	if err != nil {
		return !errors.Is(err, fs.ErrExist) // twice is better than not at all
	}
	s.sweep()
	_ = os.Chtimes(f.Name(), s.now, s.now) // the file's own clock may be another machine's
	return f.Close() == nil
}

// openFile opens a file and makes its directory if need be.
func openFile(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		f, err = os.OpenFile(path, flags, 0o600)
	}
	return f, err
}

// sweep removes files that are too old.
func (s *Session) sweep() {
	entries, err := os.ReadDir(s.files)
	if err != nil {
		return
	}
	for _, e := range entries {
		keep := 6 * doubleWindow
		switch {
		case strings.HasPrefix(e.Name(), noticeFile):
			keep = noticeKept
		case strings.HasPrefix(e.Name(), sessionFile):
			keep = sessionKept
		}
		if info, err := e.Info(); err == nil && s.now.Sub(info.ModTime()) > keep {
			_ = os.Remove(filepath.Join(s.files, e.Name())) // another process may have removed it
		}
	}
}

func (s *Session) noticePath() string { return filepath.Join(s.files, noticeFile+shortHash(s.id)) }

// unshown leaves out notices that the session has seen.
func (s *Session) unshown(list []Notice) []Notice {
	if s.id == "" {
		return slices.DeleteFunc(slices.Clone(list), func(n Notice) bool { return n.Once })
	}
	data, err := os.ReadFile(s.noticePath())
	if err != nil {
		return list
	}
	known := strings.Split(string(data), "\n")
	return slices.DeleteFunc(slices.Clone(list), func(n Notice) bool { return slices.Contains(known, n.ID) })
}

// shown records the notices that the session sees now.
func (s *Session) shown(list []Notice) {
	if s.id == "" || len(list) == 0 {
		return
	}
	f, err := openFile(s.noticePath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY)
	if err != nil {
		return
	}
	for _, n := range list {
		fmt.Fprintln(f, n.ID)
	}
	_ = f.Close() // if this fails, it is shown again
}

// SeenSession is a session of a client that hooks have seen in a project.
type SeenSession struct {
	Own      bool      // the caller's
	Nameless bool      // perhaps several: the client gives no name
	First    time.Time // zero: not known
	Last     time.Time
	Ended    time.Time // zero: not ended, or begun again
}

// SeenIn records that the session was seen in a project, and lists the sessions
// of its client there. It writes nothing if there is no data directory.
func (s *Session) SeenIn(project string) []SeenSession {
	s.project = project
	if list, ok := s.seen[project]; ok {
		return list
	}
	if _, err := os.Stat(filepath.Dir(filepath.Dir(s.files))); err != nil {
		return nil
	}
	kind := sessionFile + shortHash(s.Client, project) + "-"
	own := kind + nameless
	if s.id != "" {
		own = kind + shortHash(s.id)
	}
	if s.cleared {
		s.continueCleared(kind, own)
	}
	s.write(filepath.Join(s.files, own))
	entries, err := os.ReadDir(s.files)
	if err != nil {
		return nil
	}
	var list []SeenSession
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), kind) {
			x := s.read(e)
			x.Nameless = strings.HasSuffix(e.Name(), nameless)
			x.Own = e.Name() == own && !x.Nameless
			list = append(list, x)
		}
	}
	s.seen[project] = list
	return list
}

// continueCleared takes over the file of the session that was cleared within
// the last ten seconds, if there is exactly one.
func (s *Session) continueCleared(kind, own string) {
	entries, err := os.ReadDir(s.files)
	if err != nil || s.id == "" {
		return
	}
	var before []string
	for _, e := range entries {
		if e.Name() == own {
			return
		}
		if !strings.HasPrefix(e.Name(), kind) || strings.HasSuffix(e.Name(), nameless) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(s.files, e.Name()))
		if at, mark := lastMark(string(data)); err == nil && mark == markCleared && s.now.Sub(at).Abs() < doubleWindow {
			before = append(before, e.Name())
		}
	}
	if len(before) == 1 {
		_ = os.Rename(filepath.Join(s.files, before[0]), filepath.Join(s.files, own)) // else its agent has no session
	}
}

// write appends the session's mark to its file, unless it is there.
func (s *Session) write(path string) {
	mark := ""
	if data, err := os.ReadFile(path); err == nil {
		_, mark = lastMark(string(data))
	}
	if mark != s.mark {
		f, err := openFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY)
		if err != nil {
			return
		}
		fmt.Fprintf(f, "%d %s\n", s.now.UnixNano(), s.mark)
		_ = f.Close() // a lost mark makes an owner uncertain
	}
	_ = os.Chtimes(path, s.now, s.now)
}

// read is the session of a file. One that cannot be read has no known beginning.
func (s *Session) read(e fs.DirEntry) (x SeenSession) {
	info, err := e.Info()
	if err != nil {
		return SeenSession{Last: s.now}
	}
	x.Last = info.ModTime()
	data, err := os.ReadFile(filepath.Join(s.files, e.Name()))
	if err != nil {
		return x
	}
	first, _, _ := strings.Cut(string(data), "\n")
	x.First, _ = parseMark(first)
	if at, mark := lastMark(string(data)); mark == markEnded || mark == markCleared {
		x.Ended = at
	}
	return x
}

func lastMark(data string) (at time.Time, mark string) {
	lines := strings.Split(strings.TrimSuffix(data, "\n"), "\n")
	return parseMark(lines[len(lines)-1])
}

func parseMark(line string) (at time.Time, mark string) {
	digits, mark, _ := strings.Cut(line, " ")
	ns, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return time.Time{}, ""
	}
	return time.Unix(0, ns), mark
}

// Owner tells whose session an agent works in.
type Owner int

// The owners.
const (
	Unsure Owner = iota // perhaps the caller's
	Own
	Other // not the caller's
)

// OwnerOf tells in which of a client's sessions an agent of its kind
// registered. It is certain if just one session was there at that time: begun,
// not ended, and seen within the hour before.
//
// We do not compare the parent processes of a server and a hook: several sessions may share
// one, and there are shells in between.
func OwnerOf(list []SeenSession, registered time.Time) Owner {
	there := slices.DeleteFunc(slices.Clone(list), func(s SeenSession) bool {
		return s.First.After(registered) || !s.Ended.IsZero() && s.Ended.Before(registered) || s.Last.Before(registered.Add(-turn))
	})
	switch {
	case len(there) != 1 || there[0].Nameless || there[0].First.IsZero():
		return Unsure
	case there[0].Own:
		return Own
	case !there[0].Ended.IsZero(): // the caller may continue it under another name
		return Unsure
	case slices.ContainsFunc(list, func(s SeenSession) bool { return s.Own }):
		return Other
	}
	return Unsure // a caller without a name may be any of them
}
